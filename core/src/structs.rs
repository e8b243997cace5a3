//! Rust's own types from and to items and values, through serde.
//!
//! Strings, chars and unit variants become S; integers and floats N; bytes B (with a type that
//! serialises as bytes, such as [`bytes::Bytes`]; a `Vec<u8>` is a list of numbers); `None` and
//! units NULL; sequences and tuples L; structs and maps M. Enums are tagged as in JSON. Numbers
//! are exact both ways: an integer that does not fit is an error, never cut off.
//!
//! [`Number`](crate::Number), [`Set`](crate::Set), [`Value`] and [`Item`] keep their exact type.
//! In other formats a number is text, a set a sequence, and a value what it holds. Where serde
//! itself buffers (`flatten`, untagged and internally tagged enums) it has no place for a set:
//! there a `Set` field is still a set, but a set in a `Value` arrives as a list.

mod de;
mod exact;
mod ser;

use serde::{Deserialize, Serialize};

use crate::limits::ATTRIBUTE_DEPTH;
use crate::{Error, Item, Value, ValueRef};

impl Item {
    /// Makes an item of a struct or a map.
    ///
    /// ```
    /// use tabla::{Item, item};
    ///
    /// #[derive(serde::Serialize)]
    /// struct User<'a> {
    ///     pk: &'a str,
    ///     age: u8,
    /// }
    ///
    /// let item = Item::from_struct(&User { pk: "USER#1", age: 42 })?;
    /// assert_eq!(item, item! { "pk" => "USER#1", "age" => 42 });
    /// # Ok::<(), tabla::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// It is neither, holds a number that DynamoDB cannot, nests more than 31 lists and maps, or
    /// its own code fails.
    pub fn from_struct<T: Serialize + ?Sized>(value: &T) -> Result<Self, Error> {
        match value.serialize(ser::ValueSerializer::new(ATTRIBUTE_DEPTH + 1))? {
            Value::M(map) => Ok(Item::from(map)),
            other => Err(Error::validation(format!(
                "an item is made of a struct or a map, not of a value of type {}",
                other.kind()
            ))),
        }
    }

    /// Makes a struct of the item, straight from however it is held. The struct may borrow.
    ///
    /// ```
    /// #[derive(serde::Deserialize)]
    /// struct User<'a> {
    ///     pk: &'a str,
    ///     age: u8,
    /// }
    ///
    /// let item = tabla::item! { "pk" => "USER#1", "age" => 42 };
    /// let user: User<'_> = item.to_struct()?;
    /// assert_eq!((user.pk, user.age), ("USER#1", 42));
    /// # Ok::<(), tabla::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// An attribute is missing, of another type, or out of the field's range.
    pub fn to_struct<'de, T: Deserialize<'de>>(&'de self) -> Result<T, Error> {
        ValueRef::M(self.view()).to_struct()
    }

    /// The same with more attributes, which the item does not have.
    pub fn to_struct_with<'de, T: Deserialize<'de>>(
        &'de self,
        more: &'de [(&'de str, Value)],
    ) -> Result<T, Error> {
        T::deserialize(de::ItemDeserializer::new(self.view(), more))
    }
}

impl Value {
    /// Makes a value of anything that serialises.
    ///
    /// # Errors
    ///
    /// It holds a number that DynamoDB cannot, nests more than 31 lists and maps, or its own code
    /// fails.
    pub fn from_struct<T: Serialize + ?Sized>(value: &T) -> Result<Self, Error> {
        value.serialize(ser::ValueSerializer::new(ATTRIBUTE_DEPTH))
    }

    /// Makes anything that deserialises of the value.
    ///
    /// # Errors
    ///
    /// The value is of another type, or out of range.
    pub fn to_struct<'de, T: Deserialize<'de>>(&'de self) -> Result<T, Error> {
        self.as_ref().to_struct()
    }
}

impl<'de> ValueRef<'de> {
    /// Makes anything that deserialises of the value, which may borrow from it.
    ///
    /// # Errors
    ///
    /// The value is of another type, or out of range.
    pub fn to_struct<T: Deserialize<'de>>(self) -> Result<T, Error> {
        T::deserialize(de::ValueDeserializer(self))
    }
}

impl serde::ser::Error for Error {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Error::validation(message.to_string())
    }
}

impl serde::de::Error for Error {
    fn custom<T: std::fmt::Display>(message: T) -> Self {
        Error::validation(message.to_string())
    }
}

#[cfg(test)]
mod tests;
