//! DynamoDB JSON, such as `{"S": "a"}`, and DynamoDB's errors for JSON of the wrong type.
//!
//! Reading is in `encode`, writing in `write`. Requests as JSON belong to the server.

mod encode;
mod type_errors;
mod write;

pub use self::type_errors::{
    ExpectedType, JsonKind, MODEL_PACKAGE, ValueContext, base64, boolean, is_too_deep, malformed,
    mismatch, too_deep,
};

use std::cell::Cell;

use serde_json::Value as Json;

use self::encode::ErrorSlot;
use crate::view::{MapRef, ValueRef};
use crate::{Error, Item, Value, limits};

impl Value {
    /// Converts the value to DynamoDB JSON.
    pub fn to_json(&self) -> Json {
        write::value(self.as_ref())
    }

    /// Reads a value from DynamoDB JSON: an object with exactly one of the type codes.
    ///
    /// # Errors
    ///
    /// DynamoDB's errors: no type or several, an empty set or one with duplicates, a malformed
    /// number, `{"NULL": false}`, nesting beyond the limit. JSON of the wrong type is a
    /// `SerializationException`.
    pub fn from_json(json: &Json) -> Result<Self, Error> {
        refused(|fault| encode::value(json, limits::ATTRIBUTE_DEPTH, fault))
    }

    /// Reads a value of `ExpressionAttributeValues` from DynamoDB JSON text.
    ///
    /// It may be nested one level deeper than an attribute of an item: [`limits::VALUE_DEPTH`].
    ///
    /// # Errors
    ///
    /// The text is not JSON or is nested beyond [`limits::VALUE_DEPTH`], or an error of
    /// [`from_json`](Self::from_json).
    pub fn from_json_slice(text: &[u8]) -> Result<Self, Error> {
        of_text(text, |text, fault| encode::value(text, limits::VALUE_DEPTH, fault))
    }
}

impl ValueRef<'_> {
    /// Converts the value to DynamoDB JSON.
    pub fn to_json(self) -> Json {
        write::value(self)
    }

    /// Appends the value as DynamoDB JSON text.
    pub fn write_json(self, out: &mut Vec<u8>) {
        write::value_text(self, out);
    }
}

impl MapRef<'_> {
    /// Converts the attributes to DynamoDB JSON: an object of names and values.
    pub fn to_json(&self) -> Json {
        write::attributes(*self)
    }

    /// Appends the attributes as DynamoDB JSON text.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        write::attributes_text(*self, out);
    }
}

impl Item {
    /// Converts the item to DynamoDB JSON: an object of names and values.
    pub fn to_json(&self) -> Json {
        self.view().to_json()
    }

    /// Appends the item as DynamoDB JSON text, without a tree in between.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        self.view().write_json(out);
    }

    /// Reads an item from DynamoDB JSON: an object of names and values.
    ///
    /// # Errors
    ///
    /// An error of [`Value::from_json`]. A null in place of a value is an error too.
    pub fn from_json(json: &Json) -> Result<Self, Error> {
        refused(|fault| encode::item(json, fault))
    }

    /// Reads an item from DynamoDB JSON text.
    ///
    /// # Errors
    ///
    /// The text is not JSON, or an error of [`from_json`](Self::from_json).
    pub fn from_json_slice(text: &[u8]) -> Result<Self, Error> {
        of_text(text, |text, fault| encode::item(text, fault))
    }
}

/// Reads a whole JSON text; trailing characters are an error.
fn of_text<T>(
    text: &[u8],
    read: impl FnOnce(&mut Text<'_>, &ErrorSlot) -> serde_json::Result<T>,
) -> Result<T, Error> {
    let mut text = Text::from_slice(text);
    refused(|fault| read(&mut text, fault).and_then(|read| text.end().map(|()| read)))
}

/// Deserializer of a JSON text.
type Text<'a> = serde_json::Deserializer<serde_json::de::SliceRead<'a>>;

/// Reads JSON; converts the error of the parser to DynamoDB's.
fn refused<T>(read: impl FnOnce(&ErrorSlot) -> serde_json::Result<T>) -> Result<T, Error> {
    let fault = Cell::new(None);
    read(&fault).map_err(|error| match fault.take() {
        Some(fault) => fault,
        None if is_too_deep(&error) => too_deep(),
        None => malformed(error.to_string()),
    })
}

/// Item that serde deserializes from DynamoDB JSON, as part of a larger document.
#[derive(Clone, Debug, PartialEq)]
pub struct DynamoJson(
    /// Item that was read.
    pub Item,
);

impl<'de> serde::Deserialize<'de> for DynamoJson {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        encode::item(deserializer, &Cell::new(None)).map(Self)
    }
}

#[cfg(test)]
mod tests;
