//! Serde implementations of numbers, sets, values and items, which keep their exact type.
//!
//! Each is a newtype struct with a reserved name. The serializer and deserializer of this crate
//! recognize the name; other formats see the content.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::view::{MapRef, ValueRef};
use crate::{Item, Map, Number, Set, SetMember, Value, ValueKind};

/// Newtype name of [`Number`], with text inside. Also the only key of a map that represents a
/// number where serde buffers values and has no type for it.
pub(super) const NUMBER: &str = "$tabla::Number";

/// Newtype name of [`Set`], with a sequence of members inside.
pub(super) const SET: &str = "$tabla::Set";

/// Newtype name of [`Value`], with the content of the value inside.
pub(super) const VALUE: &str = "$tabla::Value";

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(NUMBER, self.text().as_str())
    }
}

impl<'de> Deserialize<'de> for Number {
    /// Accepts text, and the number types of other formats.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(NUMBER, NumberVisitor)
    }
}

impl<T: SetMember> Serialize for Set<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(SET, &Members(self.iter().map(T::lend)))
    }
}

impl<'de, T: SetMember> Deserialize<'de> for Set<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(SET, SetVisitor(PhantomData))
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_ref().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Value {
    /// Accepts any value of this crate exactly, and the nearest type for values of other formats.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(VALUE, ValueVisitor)
    }
}

impl Serialize for Item {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.view().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Map::deserialize(deserializer).map(Item::from)
    }
}

impl Serialize for MapRef<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (name, value) in self.iter() {
            map.serialize_entry(name, &value)?;
        }
        map.end()
    }
}

impl Serialize for ValueRef<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            ValueRef::S(text) => serializer.serialize_str(text),
            ValueRef::N(number) => number.serialize(serializer),
            ValueRef::B(bytes) => serializer.serialize_bytes(bytes),
            ValueRef::Bool(value) => serializer.serialize_bool(value),
            ValueRef::Null => serializer.serialize_unit(),
            ValueRef::M(map) => map.serialize(serializer),
            ValueRef::L(list) => Members(list.iter()).serialize(serializer),
            ValueRef::Ss(set) => {
                serializer.serialize_newtype_struct(SET, &Members(set.iter().map(ValueRef::S)))
            }
            ValueRef::Ns(set) => {
                serializer.serialize_newtype_struct(SET, &Members(set.iter().map(ValueRef::N)))
            }
            ValueRef::Bs(set) => {
                serializer.serialize_newtype_struct(SET, &Members(set.iter().map(ValueRef::B)))
            }
        }
    }
}

/// Sequence of values to serialize.
struct Members<I>(I);

impl<'a, I: Iterator<Item = ValueRef<'a>> + Clone> Serialize for Members<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = self.0.clone();
        let mut seq = serializer.serialize_seq(members.size_hint().1)?;
        for member in members {
            seq.serialize_element(&member)?;
        }
        seq.end()
    }
}

/// Reader of a number from its newtype, or from a number or text of another format.
struct NumberVisitor;

impl<'de> de::Visitor<'de> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of at most 38 significant digits")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Number, D::Error> {
        if inner.is_human_readable() {
            inner.deserialize_any(self)
        } else {
            inner.deserialize_str(self)
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
        Number::parse(text).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Number, E> {
        Ok(Number::from(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Number, E> {
        Ok(Number::from(value))
    }

    fn visit_i128<E: de::Error>(self, value: i128) -> Result<Number, E> {
        Number::try_from(value).map_err(E::custom)
    }

    fn visit_u128<E: de::Error>(self, value: u128) -> Result<Number, E> {
        Number::try_from(value).map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Number, E> {
        Number::try_from(value).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Number, A::Error> {
        match entries.next_entry::<String, String>()? {
            Some((name, text)) if name == NUMBER => self.visit_str(&text),
            _ => Err(de::Error::invalid_type(de::Unexpected::Map, &self)),
        }
    }
}

/// Reader of a set from its newtype, or from a sequence.
struct SetVisitor<T>(PhantomData<T>);

impl<'de, T: SetMember> de::Visitor<'de> for SetVisitor<T> {
    type Value = Set<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a set")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Set<T>, D::Error> {
        inner.deserialize_seq(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Set<T>, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = seq.next_element_seed(MemberSeed::<T>(PhantomData))? {
            members.push(member);
        }
        Set::new(members).map_err(de::Error::custom)
    }
}

/// Reader of a member of a set, by its type.
struct MemberSeed<T>(PhantomData<T>);

impl<'de, T: SetMember> de::DeserializeSeed<'de> for MemberSeed<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        T::deserialize_member(deserializer)
    }
}

/// Reader of a value. From this crate's deserializer, the type is exact: an enum whose variant is
/// the type code. From other formats, it is the nearest one.
struct ValueVisitor;

impl<'de> de::Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an attribute value")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Value, A::Error> {
        let (code, content) = data.variant::<&str>()?;
        let kind: ValueKind = code.parse().map_err(de::Error::custom)?;
        match kind {
            ValueKind::S => content.newtype_variant().map(Value::S),
            ValueKind::N => content.newtype_variant().map(Value::N),
            ValueKind::B => content.newtype_variant().map(Value::B),
            ValueKind::Bool => content.newtype_variant().map(Value::Bool),
            ValueKind::Null => content.unit_variant().map(|()| Value::Null),
            ValueKind::M => content.newtype_variant().map(Value::M),
            ValueKind::L => content.newtype_variant().map(Value::L),
            ValueKind::Ss => content.newtype_variant().map(Value::Ss),
            ValueKind::Ns => content.newtype_variant().map(Value::Ns),
            ValueKind::Bs => content.newtype_variant().map(Value::Bs),
        }
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Value, D::Error> {
        inner.deserialize_any(self)
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<Value, D::Error> {
        inner.deserialize_any(self)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_string<E: de::Error>(self, text: String) -> Result<Value, E> {
        Ok(Value::S(text))
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Value, E> {
        Ok(Value::from(bytes))
    }

    fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> Result<Value, E> {
        Ok(Value::from(bytes))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i128<E: de::Error>(self, value: i128) -> Result<Value, E> {
        Value::try_from(value).map_err(E::custom)
    }

    fn visit_u128<E: de::Error>(self, value: u128) -> Result<Value, E> {
        Value::try_from(value).map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Value::try_from(value).map_err(E::custom)
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = seq.next_element()? {
            values.push(value);
        }
        Ok(Value::L(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            if name == NUMBER {
                return entries.next_value().map(Value::N);
            }
            map.insert(name, entries.next_value()?);
        }
        Ok(Value::M(map))
    }
}
