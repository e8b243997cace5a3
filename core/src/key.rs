//! Keys: which values may be one, and how they order as bytes.

pub mod encoding;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Error, ValueKind};

/// The type of a key attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum KeyType {
    /// A string, ordered by its UTF-8 bytes.
    S,
    /// A number, ordered by value.
    N,
    /// Binary data, ordered by unsigned bytes.
    B,
}

impl KeyType {
    /// DynamoDB's code, `S`, `N` or `B`.
    pub fn code(self) -> &'static str {
        ValueKind::from(self).code()
    }

    /// The key type of a type of values, if values of that type may be keys.
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

    /// Reads a type code, in capitals.
    fn from_str(code: &str) -> Result<Self, Error> {
        match code {
            "S" => Ok(KeyType::S),
            "N" => Ok(KeyType::N),
            "B" => Ok(KeyType::B),
            _ => Err(Error::validation(format!("unknown key type: {code}"))),
        }
    }
}
