//! Reading of DynamoDB JSON directly into an item's bytes, with DynamoDB's errors.
//!
//! No tree of JSON and no tree of values is built, so the memory of an item is bounded by the
//! length of its text, also if the text is rejected.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use bytes::Bytes;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::type_errors::{
    ExpectedType, JsonKind, MODEL_PACKAGE, ValueContext, base64, boolean, mismatch,
};
use crate::codec::{ItemWriter, wire};
use crate::limits::ATTRIBUTE_DEPTH;
use crate::set::SetError;
use crate::value::nesting_error;
use crate::{Error, Item, Number, Value, ValueRef, number};

/// Slot for DynamoDB's error, because the parser's own error holds only a message.
pub(super) type ErrorSlot = Cell<Option<Error>>;

/// Reads an item: an object of names and values.
pub(super) fn item<'de, D: Deserializer<'de>>(
    deserializer: D,
    fault: &ErrorSlot,
) -> Result<Item, D::Error> {
    let mut bytes = ItemWriter::with_capacity(512);
    let mut size = 0;
    let target = Target { out: bytes.content(), size: &mut size, levels: ATTRIBUTE_DEPTH, fault };
    let count = Entries(target).deserialize(deserializer)?;
    Ok(Item::of_bytes(bytes.finish(size, count)))
}

/// Reads a value with at most `levels` nested lists and maps.
pub(super) fn value<'de, D: Deserializer<'de>>(
    deserializer: D,
    levels: usize,
    fault: &ErrorSlot,
) -> Result<Value, D::Error> {
    let mut out = Vec::new();
    let target = Target { out: &mut out, size: &mut 0, levels, fault };
    if !AnyValue(target).deserialize(deserializer)? {
        return Err(refuse(fault, null_value(None)));
    }
    let (value, _) = ValueRef::read(&out).expect("encoded values are readable");
    Ok(value.to_value())
}

fn refuse<E: serde::de::Error>(fault: &ErrorSlot, error: Error) -> E {
    let text = E::custom(error.message());
    fault.set(Some(error));
    text
}

/// Error for a null in place of a value.
fn null_value(name: Option<&str>) -> Error {
    const NULL: &str = "The supplied Item contains a null AttributeValue";
    Error::validation(match name {
        Some(name) => format!("{NULL}: {name} is null"),
        None => NULL.to_owned(),
    })
}

/// DynamoDB's class name of an attribute value, which its errors mention.
fn class() -> String {
    format!("{MODEL_PACKAGE}AttributeValue")
}

/// Destination of a value that is being read.
struct Target<'a> {
    out: &'a mut Vec<u8>,
    /// DynamoDB's size of the item so far, in bytes.
    size: &'a mut usize,
    /// Number of further lists and maps that may be nested.
    levels: usize,
    fault: &'a ErrorSlot,
}

impl Target<'_> {
    fn lend(&mut self) -> Target<'_> {
        Target { out: self.out, size: self.size, levels: self.levels, fault: self.fault }
    }

    fn inner<E: serde::de::Error>(&mut self) -> Result<Target<'_>, E> {
        match self.levels.checked_sub(1) {
            Some(levels) => Ok(Target { levels, ..self.lend() }),
            None => Err(refuse(self.fault, nesting_error())),
        }
    }

    /// Writes a container whose element count is known only after its elements.
    fn container<E>(
        &mut self,
        tag: u8,
        content: impl FnOnce(&mut Self) -> Result<usize, E>,
    ) -> Result<usize, E> {
        self.out.push(tag);
        let start = self.out.len();
        // One byte for the length and one for the count, which is enough for most containers.
        self.out.extend_from_slice(&[0, 0]);
        let count = content(self)?;
        if count < 0x80 {
            self.out[start + 1] = count as u8;
        } else {
            let mut varint = Vec::with_capacity(5);
            wire::put_varint(&mut varint, count);
            self.out.splice(start + 1..=start + 1, varint);
        }
        wire::set_length(self.out, start);
        Ok(count)
    }
}

/// Rejects scalars of the wrong type.
macro_rules! wrong_scalars {
    ($($kind:ident: $type:ty => $found:expr),+) => {
        $(fn $kind<E: serde::de::Error>(self, _: $type) -> Result<Self::Value, E> {
            Err(self.wrong($found))
        })+
    };
}

/// Reader of the entries of an item or a map, in any order; returns their number.
struct Entries<'a>(Target<'a>);

impl Entries<'_> {
    fn wrong<E: serde::de::Error>(self, found: JsonKind) -> E {
        refuse(self.0.fault, mismatch(ExpectedType::Map(ValueContext::Member, &class()), found))
    }
}

impl<'de> DeserializeSeed<'de> for Entries<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of attribute names and values")
    }

    wrong_scalars! {
        visit_i64: i64 => JsonKind::Integer, visit_u64: u64 => JsonKind::Integer,
        visit_f64: f64 => JsonKind::Decimal, visit_str: &str => JsonKind::Text
    }

    fn visit_bool<E: serde::de::Error>(self, truth: bool) -> Result<usize, E> {
        Err(self.wrong(JsonKind::truth(truth)))
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<usize, E> {
        Err(refuse(self.0.fault, null_value(None)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<usize, A::Error> {
        Err(self.wrong(JsonKind::Array))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<usize, A::Error> {
        let start = self.0.out.len();
        let mut count = 0;
        let mut in_order = true;
        let mut previous = 0..0;
        while let Some(name) = map.next_key_seed(Name(self.0.out))? {
            let (before, after) = (&self.0.out[previous], &self.0.out[name.clone()]);
            in_order &= count == 0 || before < after;
            *self.0.size += name.len();
            previous = name;
            count += 1;
            if !map.next_value_seed(AnyValue(self.0.lend()))? {
                let name = String::from_utf8_lossy(&self.0.out[previous]);
                return Err(refuse(self.0.fault, null_value(Some(&name))));
            }
        }
        if !in_order {
            count = sort(self.0, start);
        }
        Ok(count)
    }
}

/// Sorts the entries that begin at `start` by name; returns their number. Of two entries with the
/// same name, the last one counts.
fn sort(target: Target<'_>, start: usize) -> usize {
    let content = target.out.split_off(start);
    let mut entries = Vec::new();
    let mut rest = content.as_slice();
    while let Some((name, value)) = wire::take_block(rest) {
        let after = wire::skip_value(value).expect("encoded values are readable");
        entries.push((name, &rest[..rest.len() - after.len()]));
        rest = after;
    }
    entries.sort_by_key(|(name, _)| *name);
    let mut count = 0;
    for (number, (name, entry)) in entries.iter().enumerate() {
        if entries.get(number + 1).is_some_and(|(next, _)| next == name) {
            let value = wire::take_block(entry).and_then(|(_, value)| ValueRef::read(value));
            *target.size -= name.len() + value.map_or(0, |(value, _)| value.size());
            continue;
        }
        target.out.extend_from_slice(entry);
        count += 1;
    }
    count
}

/// Reader of the name of an entry; returns the range of its bytes in the output.
struct Name<'a>(&'a mut Vec<u8>);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = std::ops::Range<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = std::ops::Range<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an attribute name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        wire::put_block(self.0, name.as_bytes());
        Ok(self.0.len() - name.len()..self.0.len())
    }
}

/// Reader of a value: an object with one member, named by its type. Returns false for a null.
struct AnyValue<'a>(Target<'a>);

impl AnyValue<'_> {
    fn wrong<E: serde::de::Error>(self, found: JsonKind) -> E {
        refuse(
            self.0.fault,
            mismatch(ExpectedType::Structure(ValueContext::Element, &class()), found),
        )
    }
}

impl<'de> DeserializeSeed<'de> for AnyValue<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for AnyValue<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an attribute value")
    }

    wrong_scalars! {
        visit_i64: i64 => JsonKind::Integer, visit_u64: u64 => JsonKind::Integer,
        visit_f64: f64 => JsonKind::Decimal, visit_str: &str => JsonKind::Text
    }

    fn visit_bool<E: serde::de::Error>(self, truth: bool) -> Result<bool, E> {
        Err(self.wrong(JsonKind::truth(truth)))
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<bool, A::Error> {
        Err(self.wrong(JsonKind::Array))
    }

    /// Unknown members and nulls count as absent. The error of a member takes precedence over the
    /// error of several members. Of two members with the same name, the last one counts.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let mut target = self.0;
        let (start, size) = (target.out.len(), *target.size);
        let mut found = None;
        let mut several = false;
        while let Some(code) = map.next_key_seed(Code)? {
            let Some(code) = code else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            // This value replaces the one that was read before, unless it is null.
            let end = target.out.len();
            let before = *target.size;
            if map.next_value_seed(Content { code, target: target.lend() })? {
                several |= found.is_some_and(|other| other != code);
                target.out.drain(start..end);
                *target.size -= before - size;
                found = Some(code);
            }
        }
        if several {
            return Err(refuse(
                target.fault,
                Error::validation(
                    "Supplied AttributeValue has more than one datatypes set, must contain exactly \
                     one of the supported datatypes",
                ),
            ));
        }
        match found {
            Some(_) => Ok(true),
            None => Err(refuse(
                target.fault,
                Error::validation(
                    "Supplied AttributeValue is empty, must contain exactly one of the supported \
                     datatypes",
                ),
            )),
        }
    }
}

/// Reader of a type code; returns the tag of the type in the encoding, or `None` if the code is
/// unknown. `BOOL` is the tag of true, for both truth values.
struct Code;

impl<'de> DeserializeSeed<'de> for Code {
    type Value = Option<u8>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<u8>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Code {
    type Value = Option<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a type code: S, N, B, BOOL, NULL, M, L, SS, NS or BS")
    }

    fn visit_str<E>(self, code: &str) -> Result<Option<u8>, E> {
        Ok(Some(match code {
            "S" => wire::S,
            "N" => wire::N,
            "B" => wire::B,
            "BOOL" => wire::TRUE,
            "NULL" => wire::NULL,
            "M" => wire::M,
            "L" => wire::L,
            "SS" => wire::SS,
            "NS" => wire::NS,
            "BS" => wire::BS,
            _ => return Ok(None),
        }))
    }
}

/// Reader of a value's content, after its type code. Returns false for a null.
struct Content<'a> {
    code: u8,
    target: Target<'a>,
}

impl Content<'_> {
    fn wrong<E: serde::de::Error>(self, found: JsonKind) -> E {
        let class = class();
        let expected = match self.code {
            wire::S | wire::N => ExpectedType::Scalar("String"),
            wire::B => ExpectedType::Binary,
            wire::TRUE | wire::NULL => ExpectedType::Scalar("Boolean"),
            wire::M => ExpectedType::Map(ValueContext::Member, &class),
            _ => ExpectedType::List(ValueContext::Member),
        };
        refuse(self.target.fault, mismatch(expected, found))
    }
}

impl<'de> DeserializeSeed<'de> for Content<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Content<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the content of an attribute value")
    }

    wrong_scalars! {
        visit_i64: i64 => JsonKind::Integer, visit_u64: u64 => JsonKind::Integer,
        visit_f64: f64 => JsonKind::Decimal
    }

    fn visit_unit<E>(self) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<bool, E> {
        let Target { out, size, fault, .. } = self.target;
        match self.code {
            wire::S => {
                out.push(wire::S);
                wire::put_block(out, text.as_bytes());
                *size += text.len();
            }
            wire::N => {
                let value = Number::parse(text).map_err(|error| refuse(fault, error.into()))?;
                out.push(wire::N);
                number::encode(value, out);
                *size += value.size();
            }
            wire::B => {
                let bytes = base64(text).map_err(|error| refuse(fault, error))?;
                out.push(wire::B);
                wire::put_block(out, &bytes);
                *size += bytes.len();
            }
            code => {
                let content = Content { code, target: Target { out, size, ..self.target } };
                return match boolean(text).filter(|_| matches!(code, wire::TRUE | wire::NULL)) {
                    Some(truth) => content.visit_bool(truth),
                    None => Err(content.wrong(JsonKind::Text)),
                };
            }
        }
        Ok(true)
    }

    fn visit_bool<E: serde::de::Error>(self, truth: bool) -> Result<bool, E> {
        let tag = match (self.code, truth) {
            (wire::TRUE, true) => wire::TRUE,
            (wire::TRUE, false) => wire::FALSE,
            (wire::NULL, true) => wire::NULL,
            (wire::NULL, false) => {
                return Err(refuse(
                    self.target.fault,
                    Error::validation(
                        "One or more parameter values were invalid: Null attribute value types \
                         must have the value of true",
                    ),
                ));
            }
            _ => return Err(self.wrong(JsonKind::truth(truth))),
        };
        self.target.out.push(tag);
        *self.target.size += 1;
        Ok(true)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, map: A) -> Result<bool, A::Error> {
        if self.code != wire::M {
            return Err(self.wrong(JsonKind::Object));
        }
        let mut inner = self.target.inner()?;
        let count = inner.container(wire::M, |target| Entries(target.lend()).visit_map(map))?;
        *inner.size += 3 + count;
        Ok(true)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<bool, A::Error> {
        let fault = self.target.fault;
        match self.code {
            wire::L => {
                let mut inner = self.target.inner()?;
                let count = inner.container(wire::L, |target| {
                    let mut count = 0;
                    while let Some(is_there) = seq.next_element_seed(AnyValue(target.lend()))? {
                        if !is_there {
                            return Err(refuse(fault, null_value(None)));
                        }
                        count += 1;
                    }
                    Ok(count)
                })?;
                *inner.size += 3 + count;
                Ok(true)
            }
            wire::SS => {
                let no_null = || {
                    Error::validation(
                        "One or more parameter values were invalid: An string set may not have a \
                         null string as a member",
                    )
                };
                let members = members(self.code, seq, fault, Ok, no_null)?;
                let put = |member: &Cow<'_, str>, out: &mut Vec<u8>| {
                    wire::put_block(out, member.as_bytes());
                    member.len()
                };
                self.target.set(wire::SS, &members, put, SetError::of_strings)
            }
            wire::NS => {
                let parse = |text: &str| Number::parse(text).map_err(Error::from);
                let no_null = || parse("").expect_err("an empty text is not a number");
                let members = members(self.code, seq, fault, |text| parse(&text), no_null)?;
                let put = |member: &Number, out: &mut Vec<u8>| {
                    number::encode(*member, out);
                    member.size()
                };
                self.target.set(wire::NS, &members, put, SetError::of)
            }
            wire::BS => {
                let decode = |text: Cow<'_, str>| base64(&text);
                let members = members(self.code, seq, fault, decode, || null_value(None))?;
                let put = |member: &Bytes, out: &mut Vec<u8>| {
                    wire::put_block(out, member);
                    member.len()
                };
                self.target.set(wire::BS, &members, put, SetError::of)
            }
            _ => Err(self.wrong(JsonKind::Array)),
        }
    }
}

impl Target<'_> {
    /// Writes the members of a set in order.
    fn set<T: Ord, E: serde::de::Error>(
        &mut self,
        tag: u8,
        members: &[T],
        put: impl Fn(&T, &mut Vec<u8>) -> usize,
        no_set: impl FnOnce(&[T]) -> SetError,
    ) -> Result<bool, E> {
        let mut order: Vec<&T> = Vec::new();
        let is_in_order = members.windows(2).all(|pair| pair[0] < pair[1]);
        if !is_in_order {
            order.extend(members);
            order.sort_unstable();
        }
        if members.is_empty() || order.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(refuse(self.fault, no_set(members).into()));
        }
        self.container(tag, |target| {
            *target.size += match is_in_order {
                true => members.iter().map(|member| put(member, target.out)).sum::<usize>(),
                false => order.iter().map(|member| put(member, target.out)).sum::<usize>(),
            };
            Ok(members.len())
        })?;
        Ok(true)
    }
}

/// Reads the members of a set; returns them in the order of the text.
fn members<'de, A: SeqAccess<'de>, T>(
    code: u8,
    mut seq: A,
    fault: &ErrorSlot,
    read: impl Fn(Cow<'de, str>) -> Result<T, Error>,
    null: impl Fn() -> Error,
) -> Result<Vec<T>, A::Error> {
    let mut members = Vec::new();
    while let Some(text) = seq.next_element_seed(Member { code, fault })? {
        let member = text.map_or_else(|| Err(null()), &read);
        members.push(member.map_err(|error| refuse(fault, error))?);
    }
    Ok(members)
}

/// Reader of the text of a set's member; returns `None` for a null.
struct Member<'a> {
    code: u8,
    fault: &'a ErrorSlot,
}

impl Member<'_> {
    fn wrong<E: serde::de::Error>(self, found: JsonKind) -> E {
        let expected = match self.code {
            wire::BS => ExpectedType::Binary,
            _ => ExpectedType::Scalar("String"),
        };
        refuse(self.fault, mismatch(expected, found))
    }
}

impl<'de> DeserializeSeed<'de> for Member<'_> {
    type Value = Option<Cow<'de, str>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Member<'_> {
    type Value = Option<Cow<'de, str>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member of a set")
    }

    wrong_scalars! {
        visit_i64: i64 => JsonKind::Integer, visit_u64: u64 => JsonKind::Integer,
        visit_f64: f64 => JsonKind::Decimal
    }

    fn visit_bool<E: serde::de::Error>(self, truth: bool) -> Result<Self::Value, E> {
        Err(self.wrong(JsonKind::truth(truth)))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Owned(text.to_owned())))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Some(Cow::Borrowed(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
        Err(self.wrong(JsonKind::Array))
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
        Err(self.wrong(JsonKind::Object))
    }
}
