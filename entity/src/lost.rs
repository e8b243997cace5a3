//! What became of a transaction, by the names of its operations.

use std::borrow::Cow;

use super::Entity;
use tabla_core::CancellationCode;
use tabla_core::ops::ConditionCheck;
use tabla_core::{CancellationReason, Result};

/// The name of an operation, as the caller gives it.
pub(super) type Name = Cow<'static, str>;

/// Which operation one of the store's is.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// The one of this name.
    Own(Name),
    /// The guard of a unique field of the one of this name.
    Guard {
        of: Name,
        field: &'static str,
        /// What stands in for the deletion of a guard that turns out to be another entity's: a
        /// check that it is.
        spared: Option<Box<ConditionCheck>>,
    },
}

/// What became of a transaction.
#[derive(Debug)]
#[must_use]
pub enum Transacted {
    /// All of it was done.
    Done,
    /// Nothing of it was done, because of these operations.
    Lost(Lost),
}

/// Why a transaction was lost.
#[derive(Debug)]
pub struct Lost {
    reasons: Vec<(Part, CancellationReason)>,
}

impl Lost {
    /// The reasons of these operations, in their order.
    pub(super) fn of_parts(parts: &[Part], reasons: Vec<CancellationReason>) -> Self {
        Self { reasons: parts.iter().cloned().zip(reasons).collect() }
    }

    fn of(&self, name: &str) -> Option<&CancellationReason> {
        let named = self.reasons.iter().find(|(part, _)| part.is_own(name));
        named.map(|(_, reason)| reason)
    }

    /// Whether the condition of this operation did not hold.
    pub fn is_lost(&self, name: &str) -> bool {
        self.of(name).is_some_and(|reason| reason.code == CancellationCode::ConditionalCheckFailed)
    }

    /// What stands where this operation lost; `None` if nothing does, or it did not lose.
    ///
    /// # Errors
    /// It is of another kind.
    pub fn current<E: Entity>(&self, name: &str) -> Result<Option<E>> {
        let item = self.of(name).and_then(|reason| reason.item.as_ref());
        item.map(E::from_item).transpose()
    }

    /// The unique field of this operation whose value is another's.
    pub fn taken(&self, name: &str) -> Option<&'static str> {
        self.reasons.iter().find_map(|(part, reason)| match part {
            Part::Guard { of, field, .. }
                if of == name && reason.code == CancellationCode::ConditionalCheckFailed =>
            {
                Some(*field)
            }
            _ => None,
        })
    }

    /// The names of the operations that were lost, in order.
    pub fn names(&self) -> Vec<&str> {
        let lost = self.reasons.iter().filter(|(_, reason)| reason.code != CancellationCode::None);
        let mut names = Vec::new();
        for (Part::Own(name) | Part::Guard { of: name, .. }, _) in lost {
            // One may be lost by itself and by its unique values, which come after all others.
            if !names.contains(&&**name) {
                names.push(&**name);
            }
        }
        names.sort_by_key(|name| self.reasons.iter().position(|(part, _)| part.is_own(name)));
        names
    }
}

impl Part {
    pub(super) fn is_own(&self, name: &str) -> bool {
        matches!(self, Self::Own(own) if own == name)
    }
}
