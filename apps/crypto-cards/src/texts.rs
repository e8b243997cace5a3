//! Texts of a fixed form: the hash and the last digits of a card's number.

use std::fmt;

use serde::{Deserialize, Serialize};
use tabla::{Error, Result};

/// SHA-256 hash of a card's number, as 64 lower-case hexadecimal digits. A card's number is refused,
/// so that none is stored by mistake.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CardNumberHash(String);

/// Last four digits of a card's number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LastFour(String);

impl CardNumberHash {
    /// Hash with this text.
    ///
    /// # Errors
    /// The text is not 64 lower-case hexadecimal digits.
    pub fn new(text: impl Into<String>) -> Result<Self> {
        let text = text.into();
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        match text.len() == 64 && text.bytes().all(is_digit) {
            true => Ok(Self(text)),
            // The error does not contain the text, which may be a card's number.
            false => Err(Error::validation(
                "the hash of a card's number has 64 lower-case hexadecimal digits",
            )),
        }
    }
}

impl LastFour {
    /// Digits with this text.
    ///
    /// # Errors
    /// The text is not four digits.
    pub fn new(text: impl Into<String>) -> Result<Self> {
        let text = text.into();
        match text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit()) {
            true => Ok(Self(text)),
            false => Err(Error::validation("the last four digits of a card are four digits")),
        }
    }
}

macro_rules! as_text {
    ($($type:ident)*) => {$(
        impl TryFrom<String> for $type {
            type Error = Error;

            fn try_from(text: String) -> Result<Self> {
                Self::new(text)
            }
        }

        impl From<$type> for String {
            fn from(text: $type) -> Self {
                text.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

as_text! { CardNumberHash LastFour }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn card_number_is_refused_as_a_hash() {
        let hash = "0123456789abcdef".repeat(4);
        assert_eq!(CardNumberHash::new(&hash).unwrap().to_string(), hash);
        for text in ["", "4111111111111111", &hash[1..], &hash.to_uppercase()] {
            let error = CardNumberHash::new(text).unwrap_err();
            assert!(text.is_empty() || !error.message().contains(text), "{error}");
        }
        assert_eq!(LastFour::new("0042").unwrap().to_string(), "0042");
        for text in ["", "42", "00421", "004a", "٠٠٤٢"] {
            assert!(LastFour::new(text).is_err(), "{text}");
        }
    }
}
