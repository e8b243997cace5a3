//! The app as a whole.

use std::sync::Arc;

use tabla::MemoryStore;
use tabla::entity::{Db, lint, listing};
use tabla_conformance::interleave::InterleavingStore;
use tabla_esencia_fest::EsenciaFestApp;
use tabla_kit::App;

/// With paused time, waits between attempts take no time.
#[tokio::test(start_paused = true)]
async fn design_is_sound_and_every_pattern_is_right() {
    let db = Db::new(Arc::new(InterleavingStore::new(MemoryStore::new())));
    let ran =
        tabla_kit::check(&EsenciaFestApp, &db).await.expect("a sound design and right results");
    assert_eq!(ran.len(), EsenciaFestApp.design().patterns.len());
}

#[test]
fn every_finding_is_accepted_and_every_acceptance_has_one() {
    let design = EsenciaFestApp.design();
    let findings = lint::check(&design);
    let open: Vec<_> = findings.iter().filter(|finding| finding.accepted.is_none()).collect();
    assert!(open.is_empty(), "{open:?}");
    assert_eq!(findings.len(), design.accepted.len(), "{findings:?}");
}

#[tokio::test]
async fn second_seed_changes_nothing() {
    let (db, _) = crate::db().await;
    EsenciaFestApp.seed(&db, 1, &|_, _| {}).await.unwrap();
    let once = crate::main_table(&db).await;
    EsenciaFestApp.seed(&db, 1, &|_, _| {}).await.unwrap();
    // The second seed updates the rooms, and the clock advances during waits.
    let unstamped = |mut items: Vec<tabla::Item>| {
        items.iter_mut().for_each(|item| drop(item.remove("updatedAt")));
        items
    };
    assert!(unstamped(once) == unstamped(crate::main_table(&db).await));
}

#[test]
fn readme_lists_patterns() {
    let readme = include_str!("../../README.md");
    let table = listing::markdown(&EsenciaFestApp.design(), 1024).unwrap();
    let start = readme.split("<!-- patterns -->\n").nth(1).unwrap_or_default();
    let listed = start.split("<!-- /patterns -->").next().unwrap_or_default();
    assert!(listed == table, "README.md lacks this table:\n{table}");
}

#[test]
fn every_documented_pattern_is_declared_once() {
    let design = EsenciaFestApp.design();
    for number in 1..=20 {
        let text = number.to_string();
        let same = design.patterns.iter().filter(|pattern| pattern.number == text);
        assert_eq!(same.count(), 1, "pattern {number}");
    }
}
