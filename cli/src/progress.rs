//! Progress bars on standard error.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// Returns a progress bar, hidden if standard error is not a terminal.
///
/// `template` is one line of text in which `{bar}` is the bar with its position and length.
pub(crate) fn bar(template: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let template = template.replace("{bar}", "[{bar:40}] {pos}/{len}");
    let style = ProgressStyle::with_template(&template)
        .expect("templates are constants and well formed")
        .progress_chars("=> ");
    ProgressBar::new(0).with_style(style)
}
