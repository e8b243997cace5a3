//! DynamoDB JSON text straight into an item's bytes.
//!
//! This is the way of a well-formed item: no tree of JSON, no tree of values. It says only that
//! something is wrong, not what; [`read`](super::read) knows the service's words for it.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

use crate::codec::{ItemBytes, wire};
use crate::value::MAX_NESTING;
use crate::{Item, Number, Set, SetMember, number};

/// Reads an item: an object of names and values.
pub(super) fn item<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Item, D::Error> {
    let mut bytes = ItemBytes::with_capacity(512);
    let mut size = 0;
    let place = Place { out: bytes.content(), size: &mut size, levels: MAX_NESTING };
    let count = Entries(place).deserialize(deserializer)?;
    Ok(Item::of_bytes(bytes.finish(size, count)))
}

/// Where a value goes.
struct Place<'a> {
    out: &'a mut Vec<u8>,
    /// DynamoDB's size of the item so far.
    size: &'a mut usize,
    /// How many lists and maps may still be nested.
    levels: usize,
}

impl Place<'_> {
    fn lend(&mut self) -> Place<'_> {
        Place { out: self.out, size: self.size, levels: self.levels }
    }

    fn inner<E: serde::de::Error>(&mut self) -> Result<Place<'_>, E> {
        let levels = self.levels.checked_sub(1).ok_or_else(|| E::custom("nested too deeply"))?;
        Ok(Place { out: self.out, size: self.size, levels })
    }

    /// Writes a container whose count is known only after its content.
    fn container<E>(
        &mut self,
        tag: u8,
        content: impl FnOnce(&mut Self) -> Result<usize, E>,
    ) -> Result<usize, E> {
        self.out.push(tag);
        let start = self.out.len();
        // One byte for the length and one for the count: enough for most.
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

/// The entries of an item or a map, in any order; their number.
struct Entries<'a>(Place<'a>);

impl<'de> DeserializeSeed<'de> for Entries<'_> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of attributes")
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
            map.next_value_seed(AnyValue(self.0.lend()))?;
        }
        if !in_order {
            sort(self.0.out, start).ok_or_else(|| A::Error::custom("a name occurs twice"))?;
        }
        Ok(count)
    }
}

/// Sorts the entries that begin at `start` by their names; `None` if a name occurs twice.
fn sort(out: &mut Vec<u8>, start: usize) -> Option<()> {
    let content = out.split_off(start);
    let mut entries = Vec::new();
    let mut rest = content.as_slice();
    while !rest.is_empty() {
        let (name, value) = wire::take_block(rest)?;
        let after = wire::skip_value(value)?;
        entries.push((name, &rest[..rest.len() - after.len()]));
        rest = after;
    }
    entries.sort_unstable_by_key(|(name, _)| *name);
    if entries.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return None;
    }
    for (_, entry) in entries {
        out.extend_from_slice(entry);
    }
    Some(())
}

/// The name of an entry; where its bytes stand.
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
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        wire::put_block(self.0, name.as_bytes());
        Ok(self.0.len() - name.len()..self.0.len())
    }
}

/// A value: an object with one member, named by its type.
struct AnyValue<'a>(Place<'a>);

impl<'de> DeserializeSeed<'de> for AnyValue<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for AnyValue<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an attribute value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some(code) = map.next_key_seed(Code)? else {
            return Err(A::Error::custom("no type"));
        };
        map.next_value_seed(Content { code, place: self.0 })?;
        match map.next_key::<IgnoredAny>()? {
            None => Ok(()),
            Some(_) => Err(A::Error::custom("more than one type")),
        }
    }
}

/// A type's code, as the tag it has in the encoding; truth stands for either.
struct Code;

impl<'de> DeserializeSeed<'de> for Code {
    type Value = u8;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u8, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Code {
    type Value = u8;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the code of a type")
    }

    fn visit_str<E: serde::de::Error>(self, code: &str) -> Result<u8, E> {
        Ok(match code {
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
            _ => return Err(E::custom("an unknown type")),
        })
    }
}

/// What a type holds.
struct Content<'a> {
    code: u8,
    place: Place<'a>,
}

impl<'de> DeserializeSeed<'de> for Content<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.code {
            wire::S | wire::N | wire::B => deserializer.deserialize_str(self),
            wire::TRUE | wire::NULL => deserializer.deserialize_bool(self),
            wire::M => deserializer.deserialize_map(self),
            _ => deserializer.deserialize_seq(self),
        }
    }
}

impl<'de> Visitor<'de> for Content<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("what the type holds")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<(), E> {
        let Place { out, size, .. } = self.place;
        match self.code {
            wire::S => {
                out.push(wire::S);
                wire::put_block(out, text.as_bytes());
                *size += text.len();
            }
            wire::N => {
                let value = Number::parse(text).map_err(E::custom)?;
                out.push(wire::N);
                number::encode(value, out);
                *size += value.size();
            }
            wire::B => {
                let bytes = STANDARD.decode(text).map_err(E::custom)?;
                out.push(wire::B);
                wire::put_block(out, &bytes);
                *size += bytes.len();
            }
            _ => return Err(E::custom("no text is expected")),
        }
        Ok(())
    }

    fn visit_bool<E: serde::de::Error>(self, truth: bool) -> Result<(), E> {
        let tag = match (self.code, truth) {
            (wire::TRUE, true) => wire::TRUE,
            (wire::TRUE, false) => wire::FALSE,
            (wire::NULL, true) => wire::NULL,
            _ => return Err(E::custom("no truth value is expected")),
        };
        self.place.out.push(tag);
        *self.place.size += 1;
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, map: A) -> Result<(), A::Error> {
        if self.code != wire::M {
            return Err(A::Error::custom("no object is expected"));
        }
        let mut inner = self.place.inner()?;
        let count = inner.container(wire::M, |place| Entries(place.lend()).visit_map(map))?;
        *inner.size += 3 + count;
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        match self.code {
            wire::L => {
                let mut inner = self.place.inner()?;
                let count = inner.container(wire::L, |place| {
                    let mut count = 0;
                    while seq.next_element_seed(AnyValue(place.lend()))?.is_some() {
                        count += 1;
                    }
                    Ok(count)
                })?;
                *inner.size += 3 + count;
            }
            wire::SS => {
                let members = members::<A, String, String>(seq, Ok)?;
                self.place.set(wire::SS, &members, |member, out| {
                    wire::put_block(out, member.as_bytes());
                    member.len()
                });
            }
            wire::NS => {
                let members = members::<A, String, Number>(seq, |text| {
                    Number::parse(&text).map_err(A::Error::custom)
                })?;
                self.place.set(wire::NS, &members, |member, out| {
                    number::encode(*member, out);
                    member.size()
                });
            }
            wire::BS => {
                let members = members::<A, String, Bytes>(seq, |text| {
                    STANDARD.decode(text).map(Bytes::from).map_err(A::Error::custom)
                })?;
                self.place.set(wire::BS, &members, |member, out| {
                    wire::put_block(out, member);
                    member.len()
                });
            }
            _ => return Err(A::Error::custom("no array is expected")),
        }
        Ok(())
    }
}

impl Place<'_> {
    fn set<T: SetMember>(
        &mut self,
        tag: u8,
        set: &Set<T>,
        put: impl Fn(&T, &mut Vec<u8>) -> usize,
    ) {
        let written: Result<usize, std::convert::Infallible> = self.container(tag, |place| {
            *place.size += set.iter().map(|member| put(member, place.out)).sum::<usize>();
            Ok(set.len())
        });
        let Ok(_) = written;
    }
}

fn members<'de, A: SeqAccess<'de>, M: serde::Deserialize<'de>, T: SetMember>(
    mut seq: A,
    read: impl Fn(M) -> Result<T, A::Error>,
) -> Result<Set<T>, A::Error> {
    let mut members = Vec::new();
    while let Some(member) = seq.next_element::<M>()? {
        members.push(read(member)?);
    }
    Set::new(members).map_err(A::Error::custom)
}
