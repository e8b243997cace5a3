//! The service's words for JSON that stands where something else is expected.
//!
//! They name classes of the service's own, and are what AWS answers (observed 2020 to 2026; the
//! captures of the project dynalite have most of them). DynamoDB Local takes some of this JSON, and
//! answers the rest with an internal error.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use crate::Error;

/// What stands before the name of a class of the API's model.
pub const MODEL_PACKAGE: &str = "com.amazonaws.dynamodb.v20120810.";

/// What is found in JSON. A null is not found: it counts as absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonKind {
    /// An array.
    Array,
    /// An object.
    Object,
    /// `true`.
    True,
    /// `false`.
    False,
    /// A number without fraction and exponent.
    Integer,
    /// Any other number.
    Decimal,
    /// A string.
    Text,
}

/// What is expected in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedType<'a> {
    /// One text, number or truth value, by the simple name of its class in `java.lang`.
    Scalar(&'a str),
    /// Bytes, as base64.
    Binary,
    /// An array.
    List(ValueContext),
    /// An object with names of the caller's, by the class of its values.
    Map(ValueContext, &'a str),
    /// An object with known names, by its class.
    Structure(ValueContext, &'a str),
}

/// Where it is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueContext {
    /// As a member of a structure.
    Member,
    /// In a list or a map.
    Element,
}

impl JsonKind {
    /// A truth value.
    pub fn truth(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }

    fn token(self) -> &'static str {
        match self {
            Self::Array => "START_ARRAY",
            Self::Object => "START_OBJECT",
            Self::True => "TRUE_VALUE",
            Self::False => "FALSE_VALUE",
            Self::Integer => "NUMBER_VALUE",
            Self::Decimal => "DECIMAL_VALUE",
            Self::Text => "STRING_VALUE",
        }
    }
}

/// The answer to a request in which one thing stands in place of another.
pub fn mismatch(expected: ExpectedType<'_>, found: JsonKind) -> Error {
    const BOOLEAN: &str = "Boolean";
    malformed(match (expected, found) {
        (ExpectedType::Scalar(class), JsonKind::Array) => {
            collection(&format!("class java.lang.{class}"))
        }
        (ExpectedType::Binary, JsonKind::Array) => collection("class java.nio.ByteBuffer"),
        (ExpectedType::Map(_, values), JsonKind::Array) => {
            collection(&format!("java.util.Map<java.lang.String, {values}>"))
        }
        (ExpectedType::Structure(_, class), JsonKind::Array) => {
            collection(&format!("class {class}"))
        }
        (_, JsonKind::Object) => "Start of structure or map found where not expected".to_owned(),
        (ExpectedType::Scalar(BOOLEAN), JsonKind::Text) => {
            "Unexpected token received from parser".to_owned()
        }
        (ExpectedType::Scalar(class), found) => {
            format!("{} cannot be converted to {class}", found.token())
        }
        (ExpectedType::Binary, _) => {
            "only base-64-encoded strings are convertible to bytes".to_owned()
        }
        (ExpectedType::Structure(ValueContext::Element, _), _) => {
            "Unexpected value type in payload".to_owned()
        }
        // What the service's reader trips over, and says so.
        (
            ExpectedType::List(ValueContext::Element) | ExpectedType::Map(ValueContext::Element, _),
            _,
        ) => {
            "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to \
             class java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl \
             and java.lang.Class are in module java.base of loader 'bootstrap')"
                .to_owned()
        }
        _ => "Unexpected field type".to_owned(),
    })
}

fn collection(kind: &str) -> String {
    format!("Unrecognized collection type {kind}")
}

/// The truth value that the service takes a text for: it converts a few words.
pub fn boolean(text: &str) -> Option<bool> {
    let is = |words: [&str; 3]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is(["true", "yes", "1"]) {
        Some(true)
    } else if is(["false", "no", "0"]) {
        Some(false)
    } else {
        None
    }
}

/// Reads base64 as the service does: the standard alphabet, with padding, no bits left over.
///
/// # Errors
///
/// The service's, if the text is none.
pub fn base64(text: &str) -> Result<Bytes, Error> {
    if !text.len().is_multiple_of(4) {
        return Err(malformed(format!(
            "Base64 encoded length is expected a multiple of 4 bytes but found: {}",
            text.len()
        )));
    }
    STANDARD.decode(text).map(Bytes::from).map_err(|error| match error {
        base64::DecodeError::InvalidByte(_, byte) if byte != b'=' => {
            malformed(format!("Invalid Base64 character: '{}'", byte.escape_ascii()))
        }
        // The spelling is the service's.
        _ => malformed("Invalid last non-pad Base64 character dectected"),
    })
}

/// Whether a parser gave up because of its own limit on nesting, which lies above DynamoDB's.
pub fn is_too_deep(error: &serde_json::Error) -> bool {
    error.to_string().starts_with("recursion limit exceeded")
}

/// The answer to values that are nested deeper than DynamoDB takes them.
pub fn too_deep() -> Error {
    crate::value::nesting_error()
}

/// JSON of the wrong shape, which the service reports under a name of its own.
pub fn malformed(message: impl Into<String>) -> Error {
    Error::validation(message).with_code("SerializationException")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_words_are_truth_values() {
        for (text, value) in [
            ("true", Some(true)),
            ("YES", Some(true)),
            ("1", Some(true)),
            ("False", Some(false)),
            ("no", Some(false)),
            ("0", Some(false)),
            ("", None),
            ("23", None),
            (" true", None),
        ] {
            assert_eq!(boolean(text), value, "{text}");
        }
    }
}
