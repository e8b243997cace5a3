//! DynamoDB's errors for JSON of another type than expected, in its own wording.
//!
//! The texts name classes of DynamoDB's implementation. They were observed on AWS from 2020 to
//! 2026; the captures of the project dynalite have most of them. DynamoDB Local accepts some of
//! this JSON, and fails with an internal error on the rest.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use crate::Error;

/// Prefix of the class names of the API's model.
pub const MODEL_PACKAGE: &str = "com.amazonaws.dynamodb.v20120810.";

/// Type of a JSON value in a request, without null: a null counts as absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonKind {
    /// JSON array.
    Array,
    /// JSON object.
    Object,
    /// JSON `true`.
    True,
    /// JSON `false`.
    False,
    /// Number without fraction and exponent.
    Integer,
    /// Any other number.
    Decimal,
    /// JSON string.
    Text,
}

/// Type that the API's model requires at a place of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedType<'a> {
    /// Text, number or Boolean, by the simple name of its class in `java.lang`, such as `String`.
    Scalar(&'a str),
    /// Binary data, as base64.
    Binary,
    /// JSON array.
    List(ValueContext),
    /// Object with names that the caller chooses, by the class of its values.
    Map(ValueContext, &'a str),
    /// Object with known member names, by its class.
    Structure(ValueContext, &'a str),
}

/// Place of the expected type in the request; DynamoDB's wording depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueContext {
    /// Member of a structure.
    Member,
    /// Element of a list or a map.
    Element,
}

impl JsonKind {
    /// Returns the type of a JSON Boolean: `True` or `False`.
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

/// Returns DynamoDB's error for a JSON value of the wrong type.
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
        // An internal error of DynamoDB's reader, which it returns as it is.
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

/// Parses the text of a Boolean as DynamoDB does: `true`, `yes`, `1`, `false`, `no` or `0`,
/// regardless of case. `None` for other text.
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

/// Decodes base64 as strictly as DynamoDB: the standard alphabet, with padding, unused bits zero.
///
/// # Errors
///
/// DynamoDB's `SerializationException`, if the text is not base64.
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
        // The misspelling is DynamoDB's.
        _ => malformed("Invalid last non-pad Base64 character dectected"),
    })
}

/// Whether a parser stopped at its own nesting limit, which is above DynamoDB's.
pub fn is_too_deep(error: &serde_json::Error) -> bool {
    error.to_string().starts_with("recursion limit exceeded")
}

/// Returns DynamoDB's error for a value with too many nested lists and maps.
pub fn too_deep() -> Error {
    crate::value::nesting_error()
}

/// Creates a `SerializationException`, the error for malformed JSON or JSON of the wrong type.
pub fn malformed(message: impl Into<String>) -> Error {
    Error::validation(message).with_code("SerializationException")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boolean_accepts_six_words() {
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
