//! Deserializer that reads views, without a tree in between.

mod key;

use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer, MapDeserializer};
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use self::key::KeyDeserializer;
use super::exact::{NUMBER, SET, VALUE};
use crate::view::{MapIter, MapRef, ValueRef};
use crate::{Error, Number, Value, ValueKind};

/// Deserializer of one value.
#[derive(Clone, Copy)]
pub(super) struct ValueDeserializer<'de>(pub(super) ValueRef<'de>);

impl<'de> ValueDeserializer<'de> {
    /// Visits a number for a target of unknown type, as an integer or a float if one of these is
    /// exact. Otherwise it visits a map that only [`Number`] and [`Value`] understand. So the
    /// number stays exact where serde buffers, as for `flatten` and untagged enums.
    fn visit_number<V: Visitor<'de>>(number: Number, visitor: V) -> Result<V::Value, Error> {
        if let Some(value) = number.to_u64() {
            return visitor.visit_u64(value);
        }
        if let Some(value) = number.to_i64() {
            return visitor.visit_i64(value);
        }
        let float = number.to_f64();
        if Number::try_from(float).is_ok_and(|read_back| read_back == number) {
            return visitor.visit_f64(float);
        }
        let entry = (NUMBER, number.to_string());
        visitor.visit_map(MapDeserializer::new(std::iter::once(entry)))
    }

    /// Visits a whole number as the first of `u64`, `i64`, `i128` and `u128` that holds it.
    fn visit_integer<V: Visitor<'de>>(number: Number, visitor: V) -> Result<V::Value, Error> {
        if let Some(value) = number.to_u64() {
            visitor.visit_u64(value)
        } else if let Some(value) = number.to_i64() {
            visitor.visit_i64(value)
        } else if let Some(value) = number.to_i128() {
            visitor.visit_i128(value)
        } else if let Some(value) = number.to_u128() {
            visitor.visit_u128(value)
        } else {
            let found = format!("number {number}");
            Err(de::Error::invalid_value(Unexpected::Other(&found), &visitor))
        }
    }
}

macro_rules! deserialize_integers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.0 {
                ValueRef::N(number) => Self::visit_integer(number, visitor),
                _ => self.deserialize_any(visitor),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for ValueDeserializer<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            ValueRef::S(text) => visitor.visit_borrowed_str(text),
            ValueRef::N(number) => Self::visit_number(number, visitor),
            ValueRef::B(bytes) => visitor.visit_borrowed_bytes(bytes),
            ValueRef::Bool(value) => visitor.visit_bool(value),
            ValueRef::Null => visitor.visit_unit(),
            ValueRef::M(map) => visitor.visit_map(Entries::new(map.iter())),
            ValueRef::L(list) => visitor.visit_seq(Elements(list.iter())),
            ValueRef::Ss(set) => visitor.visit_seq(Elements(set.iter().map(ValueRef::S))),
            ValueRef::Ns(set) => visitor.visit_seq(Elements(set.iter().map(ValueRef::N))),
            ValueRef::Bs(set) => visitor.visit_seq(Elements(set.iter().map(ValueRef::B))),
        }
    }

    deserialize_integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            // A conversion through `f64` would round twice.
            ValueRef::N(number) => visitor.visit_f32(
                number.text().as_str().parse().expect("a decimal text parses as a float"),
            ),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            ValueRef::N(number) => visitor.visit_f64(number.to_f64()),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            ValueRef::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        match (name, self.0) {
            (NUMBER, ValueRef::N(number)) => visitor.visit_str(number.text().as_str()),
            (SET, ValueRef::Ss(_) | ValueRef::Ns(_) | ValueRef::Bs(_)) => {
                self.deserialize_any(visitor)
            }
            (NUMBER | SET, other) => {
                let found = format!("value of type {}", other.kind());
                Err(de::Error::invalid_type(Unexpected::Other(&found), &visitor))
            }
            (VALUE, value) => visitor.visit_enum(Typed(value)),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.0 {
            ValueRef::S(variant) => visitor.visit_enum(BorrowedStrDeserializer::new(variant)),
            ValueRef::M(map) if map.len() == 1 => {
                visitor.visit_enum(MapAccessDeserializer::new(Entries::new(map.iter())))
            }
            other => {
                let found = format!("value of type {}", other.kind());
                let expected = "a string, or a map with one entry";
                Err(de::Error::invalid_type(Unexpected::Other(&found), &expected))
            }
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier
    }
}

/// Deserializer of an item's attributes and additional ones.
pub(super) struct ItemDeserializer<'de> {
    item: MapRef<'de>,
    more: &'de [(&'de str, Value)],
}

impl<'de> ItemDeserializer<'de> {
    pub(super) fn new(item: MapRef<'de>, more: &'de [(&'de str, Value)]) -> Self {
        Self { item, more }
    }
}

impl<'de> Deserializer<'de> for ItemDeserializer<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_map(Entries { more: self.more, ..Entries::new(self.item.iter()) })
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 bool char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier
        ignored_any
    }
}

/// Elements of a list or a set.
struct Elements<I>(I);

impl<'de, I: Iterator<Item = ValueRef<'de>>> SeqAccess<'de> for Elements<I> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        self.0.next().map(|value| seed.deserialize(ValueDeserializer(value))).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint().1
    }
}

/// Entries of a map, after additional ones.
struct Entries<'de> {
    /// Entries in addition to those of the map.
    more: &'de [(&'de str, Value)],
    entries: MapIter<'de>,
    /// Value of the entry whose name was read last.
    value: Option<ValueRef<'de>>,
}

impl<'de> Entries<'de> {
    fn new(entries: MapIter<'de>) -> Self {
        Entries { more: &[], entries, value: None }
    }
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let entry = match self.more {
            [(name, value), rest @ ..] => {
                self.more = rest;
                Some((*name, value.as_ref()))
            }
            [] => self.entries.next(),
        };
        let Some((name, value)) = entry else {
            return Ok(None);
        };
        self.value = Some(value);
        seed.deserialize(KeyDeserializer(name)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let value = self
            .value
            .take()
            .ok_or_else(|| Error::validation("the value of a map entry was read before its key"))?;
        seed.deserialize(ValueDeserializer(value))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.more.len() + self.entries.len())
    }
}

/// Value for a target that asks for the exact type: an enum whose variant is the type code.
struct Typed<'de>(ValueRef<'de>);

impl<'de> EnumAccess<'de> for Typed<'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self), Error> {
        let code = BorrowedStrDeserializer::<Error>::new(self.0.type_code());
        let code = seed.deserialize(code)?;
        Ok((code, self))
    }
}

impl<'de> VariantAccess<'de> for Typed<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        match self.0.kind() {
            ValueKind::Null => Ok(()),
            kind => Err(unsuitable(kind)),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(ValueDeserializer(self.0))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Error> {
        Err(unsuitable(self.0.kind()))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        Err(unsuitable(self.0.kind()))
    }
}

fn unsuitable(kind: ValueKind) -> Error {
    Error::validation(format!("a value of type {kind} is not a unit, tuple or struct variant"))
}
