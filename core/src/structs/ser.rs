//! Serializer that creates values.

mod key;

use bytes::Bytes;
use serde::ser::{self, Serialize};

use self::key::KeySerializer;
use super::exact::{NUMBER, SET};
use crate::value::nesting_error;
use crate::{Error, Map, Number, Set, SetMember, Value};

/// Serializer of a value with a limited number of nested lists and maps.
#[derive(Clone, Copy)]
pub(super) struct ValueSerializer {
    levels: usize,
}

impl ValueSerializer {
    pub(super) fn new(levels: usize) -> Self {
        ValueSerializer { levels }
    }

    /// Returns the serializer of the elements of a list or map: one level less.
    fn inner(self) -> Result<Self, Error> {
        self.levels.checked_sub(1).map(Self::new).ok_or_else(nesting_error)
    }
}

/// Serializer of a list, and of the enum variant around it.
pub(super) struct ListSerializer {
    elements: Vec<Value>,
    inner: ValueSerializer,
    variant: Option<&'static str>,
}

/// Serializer of a map, and of the enum variant around it.
pub(super) struct MapSerializer {
    entries: Map,
    /// Key that has been serialized, and whose value comes next.
    name: Option<String>,
    inner: ValueSerializer,
    variant: Option<&'static str>,
}

macro_rules! serialize_numbers {
    ($($method:ident($type:ty);)*) => {$(
        fn $method(self, value: $type) -> Result<Value, Error> {
            Ok(Value::N(Number::try_from(value)?))
        }
    )*};
}

/// Implements serialization of number types of which every value fits a [`Number`].
macro_rules! serialize_small_numbers {
    ($($method:ident($type:ty);)*) => {$(
        fn $method(self, value: $type) -> Result<Value, Error> {
            Ok(Value::from(value))
        }
    )*};
}

impl ser::Serializer for ValueSerializer {
    type Ok = Value;
    type Error = Error;
    type SerializeSeq = ListSerializer;
    type SerializeTuple = ListSerializer;
    type SerializeTupleStruct = ListSerializer;
    type SerializeTupleVariant = ListSerializer;
    type SerializeMap = MapSerializer;
    type SerializeStruct = MapSerializer;
    type SerializeStructVariant = MapSerializer;

    serialize_small_numbers! {
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
    }

    serialize_numbers! {
        serialize_i128(i128);
        serialize_u128(u128);
        serialize_f32(f32);
        serialize_f64(f64);
    }

    fn serialize_bool(self, value: bool) -> Result<Value, Error> {
        Ok(Value::Bool(value))
    }

    fn serialize_char(self, value: char) -> Result<Value, Error> {
        Ok(Value::S(value.to_string()))
    }

    fn serialize_str(self, value: &str) -> Result<Value, Error> {
        Ok(Value::from(value))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<Value, Error> {
        Ok(Value::from(value))
    }

    fn serialize_none(self) -> Result<Value, Error> {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value, Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Value, Error> {
        Ok(Value::Null)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<Value, Error> {
        Ok(Value::Null)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<Value, Error> {
        Ok(Value::from(variant))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<Value, Error> {
        match name {
            NUMBER => to_number(value.serialize(self)?),
            // A set is serialized as a list, but does not count as a nesting level.
            SET => to_set(value.serialize(Self::new(self.levels + 1))?),
            _ => value.serialize(self),
        }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Value, Error> {
        Ok(tagged(variant, value.serialize(self.inner()?)?))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<ListSerializer, Error> {
        // The length is a hint of the caller, so it only limits the first allocation.
        let elements = Vec::with_capacity(len.unwrap_or(0).min(1024));
        Ok(ListSerializer { elements, inner: self.inner()?, variant: None })
    }

    fn serialize_tuple(self, len: usize) -> Result<ListSerializer, Error> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<ListSerializer, Error> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<ListSerializer, Error> {
        let list = self.inner()?.serialize_seq(Some(len))?;
        Ok(ListSerializer { variant: Some(variant), ..list })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<MapSerializer, Error> {
        Ok(MapSerializer { entries: Map::new(), name: None, inner: self.inner()?, variant: None })
    }

    fn serialize_struct(self, _: &'static str, len: usize) -> Result<MapSerializer, Error> {
        self.serialize_map(Some(len))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<MapSerializer, Error> {
        let map = self.inner()?.serialize_map(Some(len))?;
        Ok(MapSerializer { variant: Some(variant), ..map })
    }
}

impl ser::SerializeSeq for ListSerializer {
    type Ok = Value;
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.elements.push(value.serialize(self.inner)?);
        Ok(())
    }

    fn end(self) -> Result<Value, Error> {
        let list = Value::L(self.elements);
        Ok(match self.variant {
            Some(variant) => tagged(variant, list),
            None => list,
        })
    }
}

impl ser::SerializeTuple for ListSerializer {
    type Ok = Value;
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        ser::SerializeSeq::serialize_element(self, value)
    }

    fn end(self) -> Result<Value, Error> {
        ser::SerializeSeq::end(self)
    }
}

impl ser::SerializeTupleStruct for ListSerializer {
    type Ok = Value;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        ser::SerializeSeq::serialize_element(self, value)
    }

    fn end(self) -> Result<Value, Error> {
        ser::SerializeSeq::end(self)
    }
}

impl ser::SerializeTupleVariant for ListSerializer {
    type Ok = Value;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        ser::SerializeSeq::serialize_element(self, value)
    }

    fn end(self) -> Result<Value, Error> {
        ser::SerializeSeq::end(self)
    }
}

impl ser::SerializeMap for MapSerializer {
    type Ok = Value;
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.name = Some(key.serialize(KeySerializer)?);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let name = self.name.take().ok_or_else(|| {
            Error::validation("the value of a map entry was serialized before its key")
        })?;
        self.entries.insert(name, value.serialize(self.inner)?);
        Ok(())
    }

    fn end(self) -> Result<Value, Error> {
        let map = Value::M(self.entries);
        Ok(match self.variant {
            Some(variant) => tagged(variant, map),
            None => map,
        })
    }
}

impl ser::SerializeStruct for MapSerializer {
    type Ok = Value;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.entries.insert(name.to_owned(), value.serialize(self.inner)?);
        Ok(())
    }

    fn end(self) -> Result<Value, Error> {
        ser::SerializeMap::end(self)
    }
}

impl ser::SerializeStructVariant for MapSerializer {
    type Ok = Value;
    type Error = Error;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        ser::SerializeStruct::serialize_field(self, name, value)
    }

    fn end(self) -> Result<Value, Error> {
        ser::SerializeMap::end(self)
    }
}

fn tagged(variant: &str, value: Value) -> Value {
    Value::M(Map::from([(variant.to_owned(), value)]))
}

/// Converts the text of the newtype to a number.
fn to_number(value: Value) -> Result<Value, Error> {
    match value {
        Value::S(text) => Ok(Value::N(Number::parse(&text)?)),
        other => {
            Err(Error::validation(format!("a number must be serialized as text, not as {other:?}")))
        }
    }
}

/// Converts the list of the newtype to a set, by the type of its first member.
fn to_set(value: Value) -> Result<Value, Error> {
    let Value::L(members) = value else {
        return Err(Error::validation(format!(
            "a set must be serialized as a sequence, not as {value:?}"
        )));
    };
    match members.first() {
        Some(Value::N(_)) => set_of(members, |member: Value| member.as_number()).map(Value::Ns),
        Some(Value::B(_)) => set_of(members, |member| match member {
            Value::B(bytes) => Some(bytes),
            _ => None::<Bytes>,
        })
        .map(Value::Bs),
        _ => set_of(members, |member| match member {
            Value::S(text) => Some(text),
            _ => None,
        })
        .map(Value::Ss),
    }
}

fn set_of<T: SetMember>(
    members: Vec<Value>,
    take: impl Fn(Value) -> Option<T>,
) -> Result<Set<T>, Error> {
    let members: Option<Vec<T>> = members.into_iter().map(take).collect();
    let members = members.ok_or_else(|| {
        Error::validation("the members of a set must be all strings, all numbers or all binaries")
    })?;
    Ok(Set::new(members)?)
}
