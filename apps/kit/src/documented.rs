//! Access patterns and the lines of the documents that ask for them.

use tabla::entity::Pattern;

/// An access pattern, and the line of the app's document that asks for it.
#[derive(Clone, Debug)]
pub struct Documented {
    /// The pattern.
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
    /// This pattern, asked for by this line of the document.
    fn at_line(self, line: u32) -> Documented;
}

impl AtLine for Pattern {
    fn at_line(self, line: u32) -> Documented {
        Documented { pattern: self, line }
    }
}
