//! Texts that keys are made of, each with rules of its own.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tabla::entity::{Id, KeyPart};
use tabla::{Error, Result};

/// The address of a user, which is who they are: in lower case, so that one address is one user.
///
/// An address may have a `#` by the standard; one that does is refused, because it separates the
/// parts of a key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Email(String);

/// The name of a room: any identifier but `STATUS`, whose partition holds the states of all rooms.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoomId(String);

impl Email {
    /// The address of this text.
    ///
    /// # Errors
    /// It is none, or cannot stand in a key.
    pub fn new(text: impl AsRef<str>) -> Result<Self> {
        let text = text.as_ref().to_lowercase();
        let parts: Vec<&str> = text.split('@').collect();
        let is_whole = parts.len() == 2 && parts.iter().all(|part| !part.is_empty());
        if !is_whole || text.contains(char::is_whitespace) {
            return Err(Error::validation(format!("{text:?} is not the address of a user")));
        }
        Ok(Self(Id::new(text)?.into()))
    }

    /// From the `@` on, as lists of domains have it.
    pub fn domain(&self) -> &str {
        self.0.find('@').map_or("", |at| &self.0[at..])
    }
}

impl RoomId {
    /// The room of this name.
    ///
    /// # Errors
    /// No room can have it.
    pub fn new(text: impl Into<String>) -> Result<Self> {
        let text = String::from(Id::new(text)?);
        match text.as_str() {
            "STATUS" => Err(Error::validation("no room is called STATUS: all their states are")),
            _ => Ok(Self(text)),
        }
    }
}

macro_rules! text {
    ($($type:ident)*) => {$(
        impl $type {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $type {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self> {
                Self::new(text)
            }
        }

        impl From<&$type> for $type {
            fn from(other: &$type) -> Self {
                other.clone()
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
            }
        }

        impl KeyPart for $type {
            const SAFE: bool = true;
            const ORDERED: bool = true;

            fn write_key(&self, out: &mut String) -> Result<()> {
                out.push_str(&self.0);
                Ok(())
            }

            /// Only as it is written: an address in capitals is no key.
            fn read_key(text: &str) -> Result<Self> {
                let read = Self::new(text)?;
                match read.0 == text {
                    true => Ok(read),
                    false => Err(Error::validation(format!("{text:?} is not written as keys are"))),
                }
            }

            fn example(name: &str) -> Self {
                Self(format!("<{name}>"))
            }
        }
    )*};
}

text! { Email RoomId }
