//! Types of key attributes; the encoding of key values is in [`encoding`].
//!
//! Key schemas are in `schema`, and row keys, which begin with the hash, in `engine`.

pub mod encoding;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Error, ValueKind};

/// Type of a key attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum KeyType {
    /// String, ordered by UTF-8 bytes.
    S,
    /// Number, ordered by value.
    N,
    /// Binary, ordered by unsigned bytes.
    B,
}

impl KeyType {
    /// DynamoDB's type code: `S`, `N` or `B`.
    pub fn code(self) -> &'static str {
        ValueKind::from(self).code()
    }

    /// Key type of a kind of values; `None` if such values cannot be keys.
    pub fn of(kind: ValueKind) -> Option<Self> {
        match kind {
            ValueKind::S => Some(KeyType::S),
            ValueKind::N => Some(KeyType::N),
            ValueKind::B => Some(KeyType::B),
            _ => None,
        }
    }
}

impl From<KeyType> for ValueKind {
    fn from(key: KeyType) -> Self {
        match key {
            KeyType::S => ValueKind::S,
            KeyType::N => ValueKind::N,
            KeyType::B => ValueKind::B,
        }
    }
}

impl fmt::Display for KeyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.code())
    }
}

impl FromStr for KeyType {
    type Err = Error;

    /// Parses a type code: `S`, `N` or `B`.
    fn from_str(code: &str) -> Result<Self, Error> {
        match code {
            "S" => Ok(KeyType::S),
            "N" => Ok(KeyType::N),
            "B" => Ok(KeyType::B),
            _ => Err(Error::validation(format!("unknown key type `{code}`; use S, N or B"))),
        }
    }
}
