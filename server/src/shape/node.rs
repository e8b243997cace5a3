//! Validation of the JSON text of a request against its shape, in one pass.
//!
//! A value of the wrong type is an error at once: the first in the text is reported. Constraints
//! are collected. The reader keeps only the violations that can be reported, not the values: a list
//! with a million elements takes no memory. Unknown members are skipped at any depth.

use std::cell::{Cell, RefCell};
use std::fmt::{self, Display, Write};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use tabla_core::backend::json::{
    ExpectedType, JsonKind, MODEL_PACKAGE, ValueContext, base64, boolean, is_too_deep, malformed,
    mismatch, too_deep,
};
use tabla_core::backend::schema::Constraints;
use tabla_core::{Error, Result};

use super::common::{ANY, ATTRIBUTE_VALUE};
use super::{Shape, Structure};

/// Longest list that an error message shows, in bytes. The rest is left out.
const SHOWN_BYTES: usize = 64 << 10;

/// Result of reading one value.
#[derive(Debug, Default)]
pub(super) struct CheckedNode {
    /// Constraints that the value and its parts violate, in DynamoDB's order.
    pub(super) found: Constraints,
    /// Bit set of the members of a structure that are present and not null, by index.
    pub(super) given: u64,
    /// Whether the value is null, which counts as absent.
    is_absent: bool,
    /// Whether a list has too few or too many elements.
    is_broken: bool,
    /// Text of the value in error messages, if it was requested.
    shown: String,
}

/// Reads the text of an object of this shape.
///
/// # Errors
///
/// DynamoDB's error, if the text is not JSON, or contains a value of the wrong type.
pub(super) fn read(input: &'static Structure, text: &[u8]) -> Result<CheckedNode> {
    // DynamoDB gives no reason for text that is not JSON.
    let unreadable = || malformed("");
    if text.trim_ascii_start().first() != Some(&b'{') {
        return Err(unreadable());
    }
    let position = PathTracker::default();
    let reader = Reader {
        shape: &Shape::Structure(input),
        place: ValueContext::Member,
        keep: true,
        show: false,
        in_map: false,
        position: &position,
    };
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let seen = reader.deserialize(&mut deserializer).and_then(|seen| {
        deserializer.end()?;
        Ok(seen)
    });
    seen.map_err(|error| match position.fault.take() {
        Some(fault) => fault,
        None if is_too_deep(&error) => too_deep(),
        None => unreadable(),
    })
}

/// Path of the reader, and the error that it found.
#[derive(Default)]
struct PathTracker {
    /// Path of the current value, as DynamoDB writes it.
    path: RefCell<String>,
    /// Error to return. Errors of the JSON parser are texts and cannot hold it.
    fault: Cell<Option<Error>>,
}

impl PathTracker {
    /// Enters a part of the current value. Returns the length of the path to pass to `leave`.
    fn enter(&self, part: impl Display) -> usize {
        let mut path = self.path.borrow_mut();
        let length = path.len();
        let dot = if path.is_empty() { "" } else { "." };
        write!(path, "{dot}{part}").expect("writing to a string does not fail");
        length
    }

    fn leave(&self, length: usize) {
        self.path.borrow_mut().truncate(length);
    }
}

/// Reader of one value of a shape.
#[derive(Clone, Copy)]
struct Reader<'a> {
    shape: &'a Shape,
    place: ValueContext,
    /// Whether constraints are checked, and not only the type.
    keep: bool,
    /// Whether the text of the value is needed for an error message.
    show: bool,
    /// Whether the value is one of a map: errors then report the lengths of its lists.
    in_map: bool,
    position: &'a PathTracker,
}

impl<'a> Reader<'a> {
    /// Returns the reader of a part of this value.
    fn part(self, shape: &'a Shape, place: ValueContext) -> Self {
        Self { shape, place, keep: self.keep && !is_free(shape), in_map: false, ..self }
    }

    fn refuse<E: serde::de::Error>(self, fault: Error) -> E {
        self.position.fault.set(Some(fault));
        E::custom("")
    }

    fn wrong<E: serde::de::Error>(self, found: JsonKind) -> E {
        let (place, class) = (self.place, class(self.shape));
        let expected = match self.shape {
            Shape::Text { .. } | Shape::Name { .. } | Shape::Choice(_) => {
                ExpectedType::Scalar("String")
            }
            Shape::Integer { .. } => ExpectedType::Scalar("Integer"),
            Shape::Long { .. } => ExpectedType::Scalar("Long"),
            Shape::Time => ExpectedType::Scalar("Date"),
            Shape::Boolean => ExpectedType::Scalar("Boolean"),
            Shape::Binary => ExpectedType::Binary,
            Shape::List { .. } => ExpectedType::List(place),
            Shape::Map { .. } => ExpectedType::Map(place, &class),
            Shape::Value | Shape::Structure(_) => ExpectedType::Structure(place, &class),
        };
        self.refuse(mismatch(expected, found))
    }

    fn number<E: serde::de::Error>(self, number: i64, found: JsonKind) -> Result<CheckedNode, E> {
        let mut seen = CheckedNode::default();
        match *self.shape {
            Shape::Integer { min, max } | Shape::Long { min, max } => {
                if self.keep {
                    let path = self.position.path.borrow();
                    seen.found.at_least(number, &*path, min);
                    seen.found.at_most(number, &*path, max);
                }
                Ok(seen)
            }
            Shape::Time => Ok(seen),
            _ => Err(self.wrong(found)),
        }
    }

    fn text(self, text: &str) -> CheckedNode {
        let mut seen = CheckedNode::default();
        if self.keep {
            let path = &*self.position.path.borrow();
            match *self.shape {
                Shape::Text { min, max } => seen.found.length(text, path, min, max),
                Shape::Name { min, max } => seen.found.name(text, path, min, max),
                Shape::Choice(choices) => seen.found.choice(text, path, choices),
                _ => {}
            }
        }
        if self.show {
            text.clone_into(&mut seen.shown);
        }
        seen
    }

    fn members<'de, A: MapAccess<'de>>(
        self,
        structure: &'static Structure,
        mut map: A,
    ) -> Result<CheckedNode, A::Error> {
        let mut members: Vec<(usize, CheckedNode)> = Vec::new();
        while let Some(name) = map.next_key::<String>()? {
            let Some(number) = structure.members.iter().position(|member| member.name == name)
            else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let part = self.part(structure.members[number].shape, ValueContext::Member);
            if !self.keep {
                map.next_value_seed(part)?;
                continue;
            }
            let before = self.position.enter(lower_first(&name));
            let seen = map.next_value_seed(part)?;
            self.position.leave(before);
            // Of two members with one name the last one counts.
            members.retain(|(other, _)| *other != number);
            if !seen.is_absent {
                members.push((number, seen));
            }
        }
        let mut seen = CheckedNode::default();
        if !self.keep {
            return Ok(seen);
        }
        for (number, member) in structure.members.iter().enumerate() {
            let given = members.iter_mut().find(|(other, _)| *other == number);
            let given = given.map(|(_, given)| std::mem::take(given));
            let shown = match given {
                Some(given) => {
                    seen.given |= 1 << number;
                    seen.found.append(given.found);
                    given.shown
                }
                None => {
                    if member.need.is_needed() {
                        let before = self.position.enter(lower_first(member.name));
                        seen.found.missing(&*self.position.path.borrow());
                        self.position.leave(before);
                    }
                    "null".to_owned()
                }
            };
            if self.show {
                let separator = if number == 0 { "" } else { ", " };
                write!(seen.shown, "{separator}{}={shown}", lower_first(member.name))
                    .expect("writing to a string does not fail");
            }
        }
        if self.show {
            seen.shown = format!("{}({})", structure.class, seen.shown);
        }
        Ok(seen)
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = CheckedNode;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<CheckedNode, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = CheckedNode;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<CheckedNode, E> {
        Ok(CheckedNode { is_absent: true, ..CheckedNode::default() })
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<CheckedNode, E> {
        match self.shape {
            Shape::Boolean => Ok(CheckedNode::default()),
            _ => Err(self.wrong(JsonKind::truth(value))),
        }
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<CheckedNode, E> {
        self.number(value, JsonKind::Integer)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<CheckedNode, E> {
        self.number(i64::try_from(value).unwrap_or(i64::MAX), JsonKind::Integer)
    }

    /// Reads a number. DynamoDB truncates fractions.
    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<CheckedNode, E> {
        self.number(value as i64, JsonKind::Decimal)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<CheckedNode, E> {
        match self.shape {
            Shape::Text { .. } | Shape::Name { .. } | Shape::Choice(_) => Ok(self.text(text)),
            Shape::Boolean if boolean(text).is_some() => Ok(CheckedNode::default()),
            Shape::Binary => match base64(text) {
                Ok(_) => Ok(CheckedNode::default()),
                Err(fault) => Err(self.refuse(fault)),
            },
            _ => Err(self.wrong(JsonKind::Text)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<CheckedNode, A::Error> {
        let Shape::List { of, min, max } = *self.shape else {
            return Err(self.wrong(JsonKind::Array));
        };
        let mut part = self.part(of, ValueContext::Element);
        if !self.keep {
            while seq.next_element_seed(part)?.is_some() {}
            return Ok(CheckedNode::default());
        }
        // A list without a limit is reported only if it is empty.
        part.show = max != ANY && is_shown(of);
        let mut count = 0;
        let mut parts = Constraints::default();
        let mut shown = String::new();
        loop {
            let before = self.position.enter(format_args!("{}.member", count + 1));
            let Some(element) = seq.next_element_seed(part)? else {
                self.position.leave(before);
                break;
            };
            // A null in a list of structures is a missing value.
            if element.is_absent && matches!(of, Shape::Structure(_)) {
                parts.missing(&*self.position.path.borrow());
            }
            self.position.leave(before);
            parts.append(element.found);
            part.keep &= !parts.is_full();
            if part.show {
                let separator = if count == 0 { "" } else { ", " };
                let element = if element.is_absent { "null" } else { &element.shown };
                write!(shown, "{separator}{element}").expect("writing to a string does not fail");
                part.show = shown.len() < SHOWN_BYTES;
            }
            count += 1;
        }
        let mut seen = CheckedNode {
            is_broken: !(min..=max).contains(&count),
            is_absent: false,
            ..CheckedNode::default()
        };
        if !self.in_map {
            let path = &*self.position.path.borrow();
            match is_shown(of) {
                true => seen.found.count(count, Some(&format_args!("[{shown}]")), path, min, max),
                false => seen.found.count(count, None, path, min, max),
            }
        }
        seen.found.append(parts);
        Ok(seen)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<CheckedNode, A::Error> {
        let (of, min, max, names) = match *self.shape {
            Shape::Structure(structure) => return self.members(structure, map),
            Shape::Value => return self.members(&ATTRIBUTE_VALUE, map),
            Shape::Map { of, min, max, names } => (of, min, max, names),
            _ => return Err(self.wrong(JsonKind::Object)),
        };
        let mut part = self.part(of, ValueContext::Element);
        if !self.keep {
            while map.next_key::<IgnoredAny>()?.is_some() {
                map.next_value_seed(part)?;
            }
            return Ok(CheckedNode::default());
        }
        part.in_map = true;
        let mut count = 0;
        let mut are_names_broken = false;
        let mut broken_list = None;
        let mut parts = Constraints::default();
        while let Some(name) = map.next_key::<String>()? {
            let before = self.position.enter(format_args!("{name}.member"));
            let entry = map.next_value_seed(part)?;
            self.position.leave(before);
            are_names_broken |= names.is_some_and(|(min, max)| !(min..=max).contains(&name.len()));
            if let Shape::List { min, max, .. } = *of
                && entry.is_broken
            {
                broken_list = Some((min, max));
            }
            // The elements of a list have to be counted even if no more violations can be reported.
            part.keep &= !parts.is_full() || matches!(of, Shape::List { .. });
            parts.append(entry.found);
            count += 1;
        }
        let mut seen = CheckedNode::default();
        let path = &*self.position.path.borrow();
        seen.found.count(count, None, path, min, max);
        if let Some(bounds) = names.filter(|_| are_names_broken) {
            seen.found.violated_unseen(path, each("Map keys", bounds));
        }
        if let Some(bounds) = broken_list {
            seen.found.violated_unseen(path, each("Map value", bounds));
        }
        seen.found.append(parts);
        Ok(seen)
    }
}

/// Returns the rule for the lengths of all names, or of all lists, in a map.
fn each(what: &str, (min, max): (usize, usize)) -> String {
    format!(
        "{what} must satisfy constraint: [Member must have length less than or equal to {max}, \
         Member must have length greater than or equal to {min}]"
    )
}

/// Returns the name of a member with a lower-case first letter, as in DynamoDB's errors.
fn lower_first(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(letters).collect()
}

/// Whether an error shows a list of this shape as its value. Lists that may hold items are
/// not shown.
fn is_shown(of: &Shape) -> bool {
    match of {
        Shape::Text { .. } | Shape::Name { .. } | Shape::Choice(_) => true,
        Shape::Structure(structure) => structure
            .members
            .iter()
            .all(|member| !matches!(member.shape, Shape::Structure(_)) && is_shown(member.shape)),
        _ => false,
    }
}

/// Returns the class of a shape in DynamoDB's errors. For a map, it is that of its values.
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
        Shape::Value => format!("{MODEL_PACKAGE}{}", ATTRIBUTE_VALUE.class),
        Shape::Structure(structure) => format!("{MODEL_PACKAGE}{}", structure.class),
    }
}

/// Whether the shape has no constraints besides its type.
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
