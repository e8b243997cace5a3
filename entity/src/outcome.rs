//! What became of a write.

/// What became of a write that may lose: a value to match on, not an error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Outcome<E> {
    /// It was made; the entity as it is now, or as it was if it was deleted.
    Done(E),
    /// A condition did not hold, and nothing was written; the entity that stands there, if one
    /// does.
    Lost(Option<E>),
    /// A value that must be unique is another's, and nothing was written.
    Taken {
        /// The field.
        field: &'static str,
    },
}

impl<E> Outcome<E> {
    /// The entity, if the write was made.
    pub fn done(self) -> Option<E> {
        match self {
            Self::Done(entity) => Some(entity),
            Self::Lost(_) | Self::Taken { .. } => None,
        }
    }

    /// Whether the write was made.
    pub fn is_done(&self) -> bool {
        matches!(self, Self::Done(_))
    }
}
