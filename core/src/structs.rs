//! Conversion of Rust types to and from items and values, through serde.
//!
//! Strings, chars and unit variants become S; integers and floats N; bytes B (with a type that
//! serializes as bytes, such as [`bytes::Bytes`]; a `Vec<u8>` is a list of numbers); `None` and
//! units NULL; sequences and tuples L; structs and maps M. Enums are tagged as in JSON. Numbers are
//! exact in both directions: an integer that does not fit is an error, never truncated.
//!
//! [`Number`](crate::Number), [`Set`](crate::Set), [`Value`] and [`Item`] keep their exact type. In
//! other formats, a number is text, a set is a sequence, and a value is its content. Where serde
//! itself buffers (`flatten`, untagged and internally tagged enums), it cannot represent a set.
//! There, a `Set` field is still a set, but a set in a `Value` becomes a list.

mod de;
mod exact;
mod ser;

use serde::{Deserialize, Serialize};

use crate::limits::ATTRIBUTE_DEPTH;
use crate::{Error, Item, Value, ValueRef};

impl Item {
    /// Serializes a struct or a map into an item.
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
    /// The value is neither a struct nor a map, has a number that DynamoDB cannot store, nests more
    /// than 31 lists and maps, or its `Serialize` implementation fails.
    pub fn from_struct<T: Serialize + ?Sized>(value: &T) -> Result<Self, Error> {
        match value.serialize(ser::ValueSerializer::new(ATTRIBUTE_DEPTH + 1))? {
            Value::M(map) => Ok(Item::from(map)),
            other => Err(Error::validation(format!(
                "cannot serialize a value of type {} as an item; use a struct or a map",
                other.kind()
            ))),
        }
    }

    /// Deserializes the item into a struct, which may borrow from the item.
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
    /// An attribute is missing, has another type, or is out of the field's range.
    pub fn to_struct<'de, T: Deserialize<'de>>(&'de self) -> Result<T, Error> {
        ValueRef::M(self.view()).to_struct()
    }

    /// Deserializes the item, with more attributes that the item does not have, into a struct.
    ///
    /// # Errors
    ///
    /// As for [`to_struct`](Self::to_struct).
    pub fn to_struct_with<'de, T: Deserialize<'de>>(
        &'de self,
        more: &'de [(&'de str, Value)],
    ) -> Result<T, Error> {
        T::deserialize(de::ItemDeserializer::new(self.view(), more))
    }
}

impl Value {
    /// Serializes any type into a value.
    ///
    /// # Errors
    ///
    /// The value has a number that DynamoDB cannot store, nests more than 31 lists and maps, or its
    /// `Serialize` implementation fails.
    pub fn from_struct<T: Serialize + ?Sized>(value: &T) -> Result<Self, Error> {
        value.serialize(ser::ValueSerializer::new(ATTRIBUTE_DEPTH))
    }

    /// Deserializes the value into any type, which may borrow from the value.
    ///
    /// # Errors
    ///
    /// The value has another type, or is out of range.
    pub fn to_struct<'de, T: Deserialize<'de>>(&'de self) -> Result<T, Error> {
        self.as_ref().to_struct()
    }
}

impl<'de> ValueRef<'de> {
    /// Deserializes the value into any type, which may borrow from the value.
    ///
    /// # Errors
    ///
    /// The value has another type, or is out of range.
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
