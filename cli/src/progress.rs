//! How far something is, on a terminal.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar on a terminal; nothing in a log. `template` is what stands before and after it, as
/// `{bar}`.
pub(crate) fn bar(template: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = template.replace("{bar}", "[{bar:40}] {pos}/{len}");
    let style = ProgressStyle::with_template(&template)
        .expect("the template is well formed")
        .progress_chars("=> ");
    ProgressBar::new(0).with_style(style)
}
