//! The JSON of a request, read along the shape that it should have.
//!
//! What is of the wrong type is found on the way, the first in the text first. What nobody knows is
//! skipped without being built, however deep it is.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use tabla::json::{
    Expected, Found, PACKAGE, Place, base64, boolean, is_too_deep, malformed, mismatch, too_deep,
};
use tabla::{Error, Result};

use super::kinds::ATTRIBUTE_VALUE;
use super::{Shape, Structure};

/// What was read, as far as its shape says more about it than its type.
#[derive(Debug)]
pub(super) enum Node {
    /// A null, which is as good as nothing.
    Absent,
    /// Something of the right type, of which no more is asked.
    Free,
    Text(String),
    Number(i64),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
    /// Members by their numbers in the structure.
    Structure(Vec<(usize, Node)>),
}

/// Reads the text of an object of this shape.
///
/// # Errors
///
/// The service's, if the text is no JSON, or has something of another type in it.
pub(super) fn read(input: &'static Structure, text: &[u8]) -> Result<Node> {
    // The service does not say what is wrong with text like this.
    let unreadable = || malformed("");
    if text.trim_ascii_start().first() != Some(&b'{') {
        return Err(unreadable());
    }
    let fault = Cell::new(None);
    let reader =
        Reader { shape: &Shape::Structure(input), place: Place::Member, keep: true, fault: &fault };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let node = reader.deserialize(&mut deserializer).and_then(|node| {
        deserializer.end()?;
        Ok(node)
    });
    node.map_err(|error| match fault.take() {
        Some(fault) => fault,
        None if is_too_deep(&error) => too_deep(),
        None => unreadable(),
    })
}

/// Reads one thing of a shape.
#[derive(Clone, Copy)]
struct Reader<'a> {
    shape: &'a Shape,
    place: Place,
    /// Whether what is read is asked for more than its type.
    keep: bool,
    /// What was found wrong: a parser's errors are texts, and have no room for it.
    fault: &'a Cell<Option<Error>>,
}

impl<'a> Reader<'a> {
    /// Reads a part of this.
    fn part(self, shape: &'a Shape, place: Place) -> Self {
        Self { shape, place, keep: self.keep && !is_free(shape), ..self }
    }

    fn refuse<E: serde::de::Error>(self, fault: Error) -> E {
        self.fault.set(Some(fault));
        E::custom("")
    }

    fn wrong<E: serde::de::Error>(self, found: Found) -> E {
        let (place, class) = (self.place, class(self.shape));
        let expected = match self.shape {
            Shape::Text { .. } | Shape::Name { .. } | Shape::Choice(_) => {
                Expected::Scalar("String")
            }
            Shape::Integer { .. } => Expected::Scalar("Integer"),
            Shape::Long { .. } => Expected::Scalar("Long"),
            Shape::Time => Expected::Scalar("Date"),
            Shape::Boolean => Expected::Scalar("Boolean"),
            Shape::Binary => Expected::Binary,
            Shape::List { .. } => Expected::List(place),
            Shape::Map { .. } => Expected::Map(place, &class),
            Shape::Value | Shape::Structure(_) => Expected::Structure(place, &class),
        };
        self.refuse(mismatch(expected, found))
    }

    fn number<E: serde::de::Error>(self, number: i64, found: Found) -> Result<Node, E> {
        match self.shape {
            Shape::Integer { .. } | Shape::Long { .. } if self.keep => Ok(Node::Number(number)),
            Shape::Integer { .. } | Shape::Long { .. } | Shape::Time => Ok(Node::Free),
            _ => Err(self.wrong(found)),
        }
    }

    fn members<'de, A: MapAccess<'de>>(
        self,
        structure: &'static Structure,
        mut map: A,
    ) -> Result<Node, A::Error> {
        let mut members: Vec<(usize, Node)> = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            let Some(number) = structure.members.iter().position(|member| member.name == name)
            else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let node =
                map.next_value_seed(self.part(structure.members[number].shape, Place::Member))?;
            if self.keep {
                // Of two members of one name the last counts.
                members.retain(|(other, _)| *other != number);
                members.push((number, node));
            }
        }
        Ok(if self.keep { Node::Structure(members) } else { Node::Free })
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Absent)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Node, E> {
        match self.shape {
            Shape::Boolean => Ok(Node::Free),
            _ => Err(self.wrong(if value { Found::True } else { Found::False })),
        }
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Node, E> {
        self.number(value, Found::Integer)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Node, E> {
        self.number(i64::try_from(value).unwrap_or(i64::MAX), Found::Integer)
    }

    /// The service cuts off what follows the point.
    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Node, E> {
        self.number(value as i64, Found::Decimal)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Node, E> {
        match self.shape {
            Shape::Text { .. } | Shape::Name { .. } | Shape::Choice(_) if self.keep => {
                Ok(Node::Text(text.to_owned()))
            }
            Shape::Text { .. } | Shape::Name { .. } | Shape::Choice(_) => Ok(Node::Free),
            Shape::Boolean if boolean(text).is_some() => Ok(Node::Free),
            Shape::Binary => match base64(text) {
                Ok(_) => Ok(Node::Free),
                Err(fault) => Err(self.refuse(fault)),
            },
            _ => Err(self.wrong(Found::Text)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let Shape::List { of, .. } = self.shape else { return Err(self.wrong(Found::Array)) };
        let part = self.part(of, Place::Element);
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element_seed(part)? {
            if self.keep {
                elements.push(element);
            }
        }
        Ok(if self.keep { Node::List(elements) } else { Node::Free })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let of = match self.shape {
            Shape::Structure(structure) => return self.members(structure, map),
            Shape::Value => return self.members(&ATTRIBUTE_VALUE, map),
            Shape::Map { of, .. } => of,
            _ => return Err(self.wrong(Found::Object)),
        };
        let part = self.part(of, Place::Element);
        let mut entries = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            let node = map.next_value_seed(part)?;
            if self.keep {
                entries.push((name, node));
            }
        }
        Ok(if self.keep { Node::Map(entries) } else { Node::Free })
    }
}

/// The service's name for what is expected, or for the values of a map.
fn class(shape: &Shape) -> String {
    match shape {
        Shape::Text { .. } | Shape::Name { .. } | Shape::Choice(_) => "java.lang.String".to_owned(),
        Shape::Integer { .. } => "java.lang.Integer".to_owned(),
        Shape::Long { .. } => "java.lang.Long".to_owned(),
        Shape::Time => "java.util.Date".to_owned(),
        Shape::Boolean => "java.lang.Boolean".to_owned(),
        Shape::Binary => "java.nio.ByteBuffer".to_owned(),
        Shape::List { of, .. } => format!("java.util.List<{}>", class(of)),
        Shape::Map { of, .. } => class(of),
        Shape::Value => format!("{PACKAGE}{}", ATTRIBUTE_VALUE.class),
        Shape::Structure(structure) => format!("{PACKAGE}{}", structure.class),
    }
}

/// Whether what is of the right type is right.
fn is_free(shape: &Shape) -> bool {
    match *shape {
        Shape::Text { min, max } => (min, max) == (0, usize::MAX),
        Shape::Long { min, max } => (min, max) == (i64::MIN, i64::MAX),
        Shape::Name { .. } | Shape::Choice(_) | Shape::Integer { .. } => false,
        Shape::Time | Shape::Boolean | Shape::Binary | Shape::Value => true,
        Shape::List { of, min, max } => (min, max) == (0, usize::MAX) && is_free(of),
        Shape::Map { of, min, max, names } => {
            (min, max) == (0, usize::MAX) && names.is_none() && is_free(of)
        }
        Shape::Structure(structure) => {
            structure.members.iter().all(|member| !member.need.is_needed() && is_free(member.shape))
        }
    }
}
