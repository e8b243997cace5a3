//! Text tables with at most 100 characters per line.

use std::fmt;

/// Maximum length of a line, in characters.
pub(crate) const WIDTH: usize = 100;

/// Text table with fixed column widths. A cell that is too long is cut off and ends in `…`.
pub(crate) struct Table<const N: usize> {
    widths: [usize; N],
    /// Number of columns at the end whose cells are aligned to the right.
    figures: usize,
    lines: Vec<String>,
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(heads: [&str; N], widths: [usize; N], figures: usize) -> Self {
        let mut table = Self { widths, figures, lines: Vec::new() };
        table.row(heads);
        let rule = table.widths.iter().map(|width| "─".repeat(*width)).collect::<Vec<_>>();
        table.lines.push(format!("  {}", rule.join("  ")));
        table
    }

    pub(crate) fn row(&mut self, cells: [&str; N]) {
        let cells = cells.iter().zip(self.widths).enumerate().map(|(column, (cell, width))| {
            let cell = cut(cell, width);
            match column >= N - self.figures {
                true => format!("{cell:>width$}"),
                false => format!("{cell:<width$}"),
            }
        });
        let line = format!("  {}", cells.collect::<Vec<_>>().join("  "));
        self.lines.push(line.trim_end().to_owned());
    }

    /// Adds a note under the last row. Its second and later lines are indented by two more.
    pub(crate) fn note(&mut self, text: &str) {
        let mut indent = 2 + self.widths[0] + 2;
        let mut rest = text;
        while !rest.is_empty() {
            let (line, more) = wrapped(rest, WIDTH - indent);
            self.lines.push(format!("{}{line}", " ".repeat(indent)));
            (indent, rest) = (2 + self.widths[0] + 4, more);
        }
    }
}

impl<const N: usize> fmt::Display for Table<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

/// Splits a text at the last space that fits into `width` characters.
fn wrapped(text: &str, width: usize) -> (String, &str) {
    if text.chars().count() <= width {
        return (text.to_owned(), "");
    }
    let end = text.char_indices().nth(width).map_or(text.len(), |(end, _)| end);
    let space = if text[end..].starts_with(' ') { Some(end) } else { text[..end].rfind(' ') };
    match space {
        Some(space) => (text[..space].to_owned(), &text[space + 1..]),
        // The first word alone is too long: it is cut off.
        None => match text.find(' ') {
            Some(space) => (cut(&text[..space], width), &text[space + 1..]),
            None => (cut(text, width), ""),
        },
    }
}

/// Shortens a text to `width` characters, the last of which is then `…`.
fn cut(text: &str, width: usize) -> String {
    match text.chars().count() > width {
        true => text.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noted(text: &str) -> Vec<String> {
        let mut table = Table::new(["", "name"], [4, 20], 0);
        table.note(text);
        table.lines.split_off(2)
    }

    #[test]
    fn long_note_wraps_with_more_indent() {
        assert_eq!(noted("PK = 1"), ["        PK = 1"]);
        let exact = format!("{} b", "a".repeat(90));
        assert_eq!(noted(&exact), [format!("        {exact}")]);
        let words = "äöü ".repeat(60);
        let lines = noted(words.trim_end());
        assert!(lines.len() == 3 && lines[1].starts_with("          äöü"), "{lines:?}");
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH), "{lines:?}");
        let back: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
        assert_eq!(back, ["äöü"; 60]);
    }

    #[test]
    fn word_longer_than_a_line_is_cut_off() {
        let lines = noted(&format!("{} end", "x".repeat(200)));
        assert!(lines[0].ends_with("x…") && lines[0].chars().count() == WIDTH, "{lines:?}");
        assert_eq!(lines[1].trim(), "end");
    }
}
