//! Tables on a terminal of 100 columns.

use std::fmt;

/// The widest line.
pub(crate) const WIDTH: usize = 100;

/// Rows of cells, in columns of these widths; a cell that is too long is cut off. The last `figures`
/// columns stand to the right.
pub(crate) struct Table<const N: usize> {
    widths: [usize; N],
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

    /// A line under the last row.
    pub(crate) fn note(&mut self, text: &str) {
        let indent = 2 + self.widths[0] + 2;
        self.lines.push(format!("{}{}", " ".repeat(indent), cut(text, WIDTH - indent)));
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

/// The beginning of a text, so long.
fn cut(text: &str, width: usize) -> String {
    match text.chars().count() > width {
        true => text.chars().take(width.saturating_sub(1)).chain(['…']).collect(),
        false => text.to_owned(),
    }
}
