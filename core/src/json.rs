//! DynamoDB JSON: `{"S": "a"}`, `{"N": "1"}` and so on, and the service's words for JSON that is of
//! the wrong shape.

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
    /// The value as DynamoDB JSON.
    pub fn to_json(&self) -> Json {
        write::value(self.as_ref())
    }

    /// Reads DynamoDB JSON: an object with exactly one of the type codes.
    ///
    /// # Errors
    ///
    /// DynamoDB's own: no type or several, an empty set or one with duplicates, a bad number,
    /// `{"NULL": false}`, nesting beyond the limit, or (as a `SerializationException`) JSON of
    /// the wrong shape.
    pub fn from_json(json: &Json) -> Result<Self, Error> {
        refused(|fault| encode::value(json, limits::ATTRIBUTE_DEPTH, fault))
    }

    /// Reads the DynamoDB JSON text of a value that an expression refers to.
    ///
    /// # Errors
    ///
    /// The text is not JSON, it is nested beyond [`limits::VALUE_DEPTH`],
    /// or as for [`from_json`](Self::from_json).
    pub fn from_json_slice(text: &[u8]) -> Result<Self, Error> {
        of_text(text, |text, fault| encode::value(text, limits::VALUE_DEPTH, fault))
    }
}

impl ValueRef<'_> {
    /// The value as DynamoDB JSON.
    pub fn to_json(self) -> Json {
        write::value(self)
    }

    /// Appends the value as DynamoDB JSON text.
    pub fn write_json(self, out: &mut Vec<u8>) {
        write::value_text(self, out);
    }
}

impl MapRef<'_> {
    /// The attributes as DynamoDB JSON: an object of names and values.
    pub fn to_json(&self) -> Json {
        write::attributes(*self)
    }

    /// Appends the attributes as DynamoDB JSON text.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        write::attributes_text(*self, out);
    }
}

impl Item {
    /// The item as DynamoDB JSON: an object of names and values.
    pub fn to_json(&self) -> Json {
        self.view().to_json()
    }

    /// Appends the item as DynamoDB JSON text, straight from however it is held.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        self.view().write_json(out);
    }

    /// Reads DynamoDB JSON: an object of names and values.
    ///
    /// # Errors
    ///
    /// As for [`Value::from_json`]; a null in place of a value is one too.
    pub fn from_json(json: &Json) -> Result<Self, Error> {
        refused(|fault| encode::item(json, fault))
    }

    /// Reads DynamoDB JSON text.
    ///
    /// # Errors
    ///
    /// The text is not JSON, or as for [`from_json`](Self::from_json).
    pub fn from_json_slice(text: &[u8]) -> Result<Self, Error> {
        of_text(text, |text, fault| encode::item(text, fault))
    }
}

/// Reads a whole text.
fn of_text<T>(
    text: &[u8],
    read: impl FnOnce(&mut Text<'_>, &ErrorSlot) -> serde_json::Result<T>,
) -> Result<T, Error> {
    let mut text = Text::from_slice(text);
    refused(|fault| read(&mut text, fault).and_then(|read| text.end().map(|()| read)))
}

/// JSON text that is being read.
type Text<'a> = serde_json::Deserializer<serde_json::de::SliceRead<'a>>;

/// Reads JSON; the error is the service's for what was found wrong.
fn refused<T>(read: impl FnOnce(&ErrorSlot) -> serde_json::Result<T>) -> Result<T, Error> {
    let fault = Cell::new(None);
    read(&fault).map_err(|error| match fault.take() {
        Some(fault) => fault,
        None if is_too_deep(&error) => too_deep(),
        None => malformed(error.to_string()),
    })
}

/// An item in DynamoDB JSON, as a part of a larger document that serde reads.
#[derive(Clone, Debug, PartialEq)]
pub struct DynamoJson(
    /// The item.
    pub Item,
);

impl<'de> serde::Deserialize<'de> for DynamoJson {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        encode::item(deserializer, &Cell::new(None)).map(Self)
    }
}

#[cfg(test)]
mod tests;
