//! Check of the prose in sources and pages: no banned phrase, no doc line of one word.
//!
//! Comments and string literals wrap, so phrases are searched in the text of a file with its line
//! breaks, comment markers and string continuations removed.

mod phrases;
#[cfg(test)]
mod tests;

use std::fs;
use std::process::Command;

use self::phrases::{EXEMPT_FOLDERS, PHRASES, VERBATIM};
use crate::Result;
use crate::steps::output;

/// File extensions of the files that are checked.
const EXTENSIONS: [&str; 5] = [".md", ".rs", ".sh", ".toml", ".yml"];

/// Folder of the list and of the tests, which contain the phrases.
const OWN_FOLDER: &str = "dev/xtask/src/prose/";

/// Checks every file under version control, outside the exempt folders.
pub(crate) fn check() -> Result<()> {
    let files = output(Command::new("git").args(["ls-files", "--cached"]))?;
    let files: Vec<&str> = files.lines().filter(|file| is_checked(file)).collect();
    let mut findings = Vec::new();
    for file in &files {
        // A file can be deleted and still be in the index.
        if let Ok(text) = fs::read_to_string(file) {
            findings.extend(find(&text).into_iter().map(|finding| format!("{file}:{finding}")));
        }
    }
    if findings.is_empty() {
        println!("{} files, none of {} phrases", files.len(), PHRASES.len());
        return Ok(());
    }
    Err(format!(
        "{}\n{} places need other words. docs/glossary.md has the project's terms. A text that \
         must stay verbatim, such as a message of DynamoDB, goes into VERBATIM in {OWN_FOLDER}phrases.rs.",
        findings.join("\n"),
        findings.len(),
    )
    .into())
}

fn is_checked(file: &str) -> bool {
    !file.starts_with(OWN_FOLDER)
        && EXTENSIONS.iter().any(|extension| file.ends_with(extension))
        && !EXEMPT_FOLDERS.iter().any(|folder| file.starts_with(folder))
}

/// All findings in a text, each as `<line>: <reason>`, in the order of the lines.
fn find(text: &str) -> Vec<String> {
    let mut findings: Vec<(usize, String)> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| is_one_word_doc(line))
        .map(|(index, line)| {
            (index + 1, format!("`{}` says one word; name unit, range or purpose", line.trim()))
        })
        .collect();
    let prose = Prose::of(text);
    for (phrase, instead) in PHRASES {
        for at in prose.find(phrase) {
            findings.push((prose.line_at(at), format!("`{phrase}`; {instead}")));
        }
    }
    findings.sort();
    findings.into_iter().map(|(line, reason)| format!("{line}: {reason}")).collect()
}

/// Whether a line is a whole doc comment of one word, such as `/// Keys.`.
fn is_one_word_doc(line: &str) -> bool {
    let Some(word) = line.trim().strip_prefix("/// ").and_then(|line| line.strip_suffix('.'))
    else {
        return false;
    };
    !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// A text in lower case, on one line, without comment markers.
struct Prose {
    text: String,
    /// Offset in `text` at which each line of the file begins.
    lines: Vec<usize>,
}

impl Prose {
    fn of(file: &str) -> Self {
        let mut text = String::with_capacity(file.len());
        let mut lines = Vec::new();
        for line in file.lines() {
            lines.push(text.len());
            let line = line.trim();
            let line = ["///", "//!", "//", "#"]
                .iter()
                .find_map(|marker| line.strip_prefix(marker))
                .unwrap_or(line);
            text.push_str(&line.trim().trim_end_matches('\\').trim_end().to_lowercase());
            text.push(' ');
        }
        for verbatim in VERBATIM {
            let verbatim = verbatim.to_lowercase();
            text = text.replace(&verbatim, &" ".repeat(verbatim.len()));
        }
        Self { text, lines }
    }

    /// Offsets at which a phrase occurs as whole words.
    fn find(&self, phrase: &str) -> Vec<usize> {
        let is_part_of_word = |c: char| c.is_alphanumeric() || c == '_';
        self.text
            .match_indices(phrase)
            .filter(|(at, found)| {
                let before = self.text[..*at].chars().next_back();
                let after = self.text[at + found.len()..].chars().next();
                !before.is_some_and(is_part_of_word) && !after.is_some_and(is_part_of_word)
            })
            .map(|(at, _)| at)
            .collect()
    }

    /// Number of the line that an offset is in, from 1.
    fn line_at(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at)
    }
}
