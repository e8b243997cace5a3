//! Access patterns and the lines of the documents that ask for them.

use tabla::entity::Pattern;

/// Access pattern with the line of the app's document that asks for it.
#[derive(Clone, Debug)]
pub struct Documented {
    /// Access pattern.
    pub pattern: Pattern,
    /// Number of the line in the document, from 1.
    pub line: u32,
}

impl From<Documented> for Pattern {
    fn from(documented: Documented) -> Self {
        documented.pattern
    }
}

/// Adds the line of the document to a pattern.
pub trait AtLine {
    /// Adds the number of the line that asks for the pattern.
    fn at_line(self, line: u32) -> Documented;
}

impl AtLine for Pattern {
    fn at_line(self, line: u32) -> Documented {
        Documented { pattern: self, line }
    }
}
