//! What can stand in a key: parts that are written as text and read back.

use std::any::Any;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use tabla_core::{Error, Result};

/// What separates the parts of a key.
pub const SEPARATOR: char = '#';

/// A type whose values can be parts of keys.
///
/// Distinct values have distinct texts, which are not empty. Enums of unit variants derive it;
/// [`checked_text!`](crate::checked_text) makes one out of text that passes a check of your own.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot stand in a key",
    label = "this has no text in keys",
    note = "derive `tabla::entity::KeyPart` for an enum without data or a struct around a part, or \
            implement it"
)]
pub trait KeyPart: Sized + Any {
    /// Whether no value's text has the [`SEPARATOR`].
    const SAFE: bool;

    /// Whether the texts sort as the values do.
    const ORDERED: bool;

    /// How many values there are, where that is known and they are few: a partition key made of few
    /// values alone makes few partitions.
    const VALUES: Option<u32> = None;

    /// Appends the text.
    ///
    /// # Errors
    /// The value cannot stand in a key.
    fn write_key(&self, out: &mut String) -> Result<()>;

    /// Reads the text back.
    ///
    /// # Errors
    /// It is not one that [`write_key`](Self::write_key) writes.
    fn read_key(text: &str) -> Result<Self>;

    /// A value that shows, in lists of access patterns, where the field of this name goes.
    fn example(name: &str) -> Self;
}

/// The text of an identifier: not empty, without the [`SEPARATOR`] and without control characters.
///
/// ```
/// use tabla::entity::Id;
///
/// assert_eq!(Id::new("ana")?.as_str(), "ana");
/// assert!(Id::new("a#b").is_err());
/// # Ok::<(), tabla::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(String);

impl Id {
    /// The longest identifier, in bytes: several fit into a sort key.
    pub const MAX_LENGTH: usize = 255;

    /// An identifier of this text.
    ///
    /// # Errors
    /// The text is empty, too long, or has a character that it must not have.
    pub fn new(text: impl Into<String>) -> Result<Self> {
        let text = text.into();
        if text.is_empty() {
            return Err(Error::validation("an identifier cannot be empty"));
        }
        if text.len() > Self::MAX_LENGTH {
            return Err(Error::validation(format!(
                "an identifier has at most {} bytes, not {}",
                Self::MAX_LENGTH,
                text.len()
            )));
        }
        if let Some(found) = text.chars().find(|found| *found == SEPARATOR || found.is_control()) {
            return Err(Error::validation(format!(
                "the identifier {text:?} has the character {found:?}, which separates the parts of \
                 a key or cannot be seen"
            )));
        }
        Ok(Self(text))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Id {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::new(text)
    }
}

impl AsRef<str> for Id {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<&Id> for Id {
    fn from(id: &Id) -> Self {
        id.clone()
    }
}

impl From<Id> for String {
    fn from(id: Id) -> Self {
        id.0
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl KeyPart for Id {
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

/// Any text, which a template has to say how to treat: `{name:checked}` or `{name:escaped}`.
impl KeyPart for String {
    const SAFE: bool = false;
    const ORDERED: bool = true;

    fn write_key(&self, out: &mut String) -> Result<()> {
        if self.is_empty() {
            return Err(Error::validation("a part of a key cannot be empty"));
        }
        out.push_str(self);
        Ok(())
    }

    fn read_key(text: &str) -> Result<Self> {
        match text {
            "" => Err(Error::validation("a part of a key cannot be empty")),
            text => Ok(text.to_owned()),
        }
    }

    fn example(name: &str) -> Self {
        format!("<{name}>")
    }
}

macro_rules! unsigned {
    ($($type:ident)*) => {$(
        /// In decimal digits, without leading zeros: a template of a sort key asks for a width.
        impl KeyPart for $type {
            const SAFE: bool = true;
            const ORDERED: bool = false;

            fn write_key(&self, out: &mut String) -> Result<()> {
                out.push_str(&self.to_string());
                Ok(())
            }

            fn read_key(text: &str) -> Result<Self> {
                let value: Self = text.parse().map_err(|_| not_a_number(text))?;
                if value.to_string() == text { Ok(value) } else { Err(not_a_number(text)) }
            }

            fn example(_: &str) -> Self {
                1
            }
        }

        impl Digits for $type {
            fn to_digits(&self) -> u64 {
                u64::from(*self)
            }

            fn from_digits(number: u64) -> Option<Self> {
                Self::try_from(number).ok()
            }
        }
    )*};
}

unsigned! { u8 u16 u32 u64 }

/// Numbers that can be written with a width.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no digits to write into a key",
    note = "`{{field:08}}` and `{{field:desc08}}` are for numbers from u8 to u64, `UtcTime` and \
            `UtcMillis`"
)]
pub trait Digits: Sized {
    /// The number.
    fn to_digits(&self) -> u64;

    /// The value of a number, `None` if it has none.
    fn from_digits(number: u64) -> Option<Self>;
}

fn not_a_number(text: &str) -> Error {
    Error::validation(format!("{text:?} is not a number as keys have them"))
}
