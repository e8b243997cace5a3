//! Addresses of email, as keys have them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tabla::entity::{KeyPart, SEPARATOR};
use tabla::{Error, Result};

/// An address of email in lower case: keys are compared byte by byte, and nobody means another
/// person by other capitals.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Email(String);

impl Email {
    /// The longest address, in bytes (RFC 5321).
    const MAX_LENGTH: usize = 254;

    /// An address of this text.
    ///
    /// # Errors
    /// It is none, or has the character that separates the parts of a key.
    pub fn new(text: impl AsRef<str>) -> Result<Self> {
        let text = text.as_ref().to_lowercase();
        let is_refused =
            |found: char| found == SEPARATOR || found.is_whitespace() || found.is_control();
        let is_address = text.split_once('@').is_some_and(|(name, host)| {
            !name.is_empty() && !host.is_empty() && !host.contains('@')
        });
        if !is_address || text.len() > Self::MAX_LENGTH || text.contains(is_refused) {
            return Err(Error::validation(format!(
                "{text:?} is not an address of email that can be kept"
            )));
        }
        Ok(Self(text))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Email {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::new(text)
    }
}

impl From<&Email> for Email {
    fn from(email: &Email) -> Self {
        email.clone()
    }
}

impl Serialize for Email {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Email {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl KeyPart for Email {
    const SAFE: bool = true;
    const ORDERED: bool = true;

    fn write_key(&self, out: &mut String) -> Result<()> {
        out.push_str(&self.0);
        Ok(())
    }

    fn read_key(text: &str) -> Result<Self> {
        Self::new(text)
    }

    fn example(name: &str) -> Self {
        Self(format!("<{name}>"))
    }
}
