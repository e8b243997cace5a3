//! Table of the patterns in the README.

use tabla::entity::listing;
use tabla_kit::App;
use tabla_rk_pai::RkPaiApp;

#[test]
fn readme_lists_the_patterns() {
    let readme = include_str!("../../README.md");
    let (_, rest) = readme.split_once("<!-- patterns -->\n").unwrap();
    let (listed, _) = rest.split_once("<!-- /patterns -->").unwrap();
    let declared = listing::markdown(&RkPaiApp::default().design(), 1024).unwrap();
    assert_eq!(listed, declared, "the README should have:\n{declared}");
}
