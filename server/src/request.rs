//! Parsers of requests, from JSON text to core's request types.
//!
//! The members of a request are kept as text until each is parsed as its type: items are parsed
//! directly into their encoding. Errors have DynamoDB's wording where core has it. Errors in the
//! *structure* of a request are reported by [`shape`](crate::shape), which validates a request
//! whenever a parser fails.

mod batch;
mod cost;
mod item;
mod legacy;
mod page;
mod stream;
mod table;
mod transact;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess,
    Visitor,
};
use serde_json::value::RawValue;
use tabla_core::backend::Placeholders;
use tabla_core::expr::{Names, Values};
use tabla_core::ops::{ReturnConsumedCapacity, ReturnItemCollectionMetrics};
use tabla_core::{Error, Item, Result, Value};

use crate::operation::Operation;
use crate::shape::{Shape, Structure, input};

pub(crate) use batch::{batch_get, batch_write};
pub(crate) use cost::trees;
pub(crate) use item::{delete, get, put, update};
pub(crate) use legacy::reworded;
pub(crate) use page::{query, scan};
pub(crate) use stream::{describe_stream, get_records, get_shard_iterator, list_streams};
pub(crate) use table::{
    create_table, list_tables, list_tags, table_only, tag, untag, update_continuous_backups,
    update_table, update_time_to_live,
};
pub(crate) use transact::{transact_get, transact_write};

/// Members of a JSON object, with their values as text.
#[derive(Debug)]
pub(crate) struct Members<'a> {
    known: Known,
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
}

/// Names that an object may have.
#[derive(Clone, Copy, Debug)]
enum Known {
    /// Members of a structure. Others are skipped.
    Structure(&'static Structure),
    /// Any names, with values of this shape, up to this number.
    Any(&'static Shape, usize),
}

impl Known {
    /// Returns the shape of a member, or `None` if the object cannot have it.
    fn shape(self, name: &str) -> Option<&'static Shape> {
        match self {
            Self::Any(shape, _) => Some(shape),
            Self::Structure(structure) => {
                structure.members.iter().find(|it| it.name == name).map(|it| it.shape)
            }
        }
    }
}

impl<'de> Visitor<'de> for Known {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Vec<(Cow<'_, str>, _)> = Vec::with_capacity(8);
        while let Some(Name(name)) = map.next_key()? {
            if self.shape(&name).is_none() {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let raw = map.next_value()?;
            // If the number of names is limited, a repeated name replaces its value and does not
            // count twice.
            let limit = match self {
                Self::Any(_, limit) => limit,
                Self::Structure(structure) => structure.members.len(),
            };
            if limit == usize::MAX {
                members.push((name, raw));
                continue;
            }
            match members.iter().position(|(found, _)| *found == name) {
                Some(place) => members[place].1 = raw,
                None if members.len() == limit => return Err(A::Error::custom(TOO_MANY)),
                None => members.push((name, raw)),
            }
        }
        Ok(Members { known: self, members })
    }
}

impl<'de> DeserializeSeed<'de> for Known {
    type Value = Members<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

/// Error for an object or array with too many parts. Clients do not see it: `shape` reports the
/// limit in DynamoDB's wording.
const TOO_MANY: &str = "more parts than allowed";

/// Name of a member, borrowed unless it contains escapes.
struct Name<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;

        impl<'de> Visitor<'de> for Text {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Borrowed(name)))
            }

            fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }
        }

        deserializer.deserialize_str(Text)
    }
}

/// Visitor that passes each element of an array, as text, to a function.
struct Elements<F> {
    limit: usize,
    read: F,
}

impl<'de, F: FnMut(&'de RawValue) -> Result<()>> Visitor<'de> for Elements<F> {
    type Value = Result<()>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut outcome = Ok(());
        let mut count = 0;
        while let Some(element) = seq.next_element()? {
            if count == self.limit {
                return Err(A::Error::custom(TOO_MANY));
            }
            count += 1;
            // After an error only the syntax is checked.
            if outcome.is_ok() {
                outcome = (self.read)(element);
            }
        }
        Ok(outcome)
    }
}

impl<'a> Members<'a> {
    /// Parses the members of the request of an operation.
    pub(crate) fn of_request(operation: Operation, body: &'a [u8]) -> Result<Self> {
        let mut deserializer = serde_json::Deserializer::from_slice(body);
        let members = Known::Structure(input(operation)).deserialize(&mut deserializer);
        members
            .and_then(|members| deserializer.end().map(|()| members))
            .map_err(|error| malformed(error.to_string()))
    }

    /// Parses the members of an object of this shape.
    fn of_text(shape: &'static Shape, raw: &'a RawValue) -> Result<Self> {
        let known = match *shape {
            Shape::Structure(structure) => Known::Structure(structure),
            Shape::Map { of, max, .. } => Known::Any(of, max),
            _ => return Err(malformed("Unexpected field type")),
        };
        let mut deserializer = serde_json::Deserializer::from_str(raw.get());
        let members = known.deserialize(&mut deserializer);
        members.map_err(|_| malformed("Unexpected field type"))
    }

    /// Returns a member that is present and not null. Of two members with one name the last
    /// one counts.
    pub(crate) fn find(&self, name: &str) -> Option<&'a RawValue> {
        let (_, raw) = self.members.iter().rev().find(|(found, _)| found == name)?;
        (raw.get() != "null").then_some(*raw)
    }

    fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Returns a required member.
    fn need(&self, name: &str) -> Result<&'a RawValue> {
        self.find(name).ok_or_else(|| missing(name))
    }

    /// Returns a member, parsed by serde.
    fn read<T: Deserialize<'a>>(&self, name: &str) -> Result<Option<T>> {
        self.find(name).map(|raw| read_plain(raw)).transpose()
    }

    fn text(&self, name: &str) -> Result<Option<String>> {
        self.read(name)
    }

    /// Returns a required text.
    fn need_text(&self, name: &str) -> Result<String> {
        read_plain(self.need(name)?)
    }

    fn flag(&self, name: &str) -> Result<bool> {
        Ok(self.boolean(name)?.unwrap_or_default())
    }

    /// Returns a boolean. As DynamoDB does, it accepts some strings as booleans.
    fn boolean(&self, name: &str) -> Result<Option<bool>> {
        let Some(raw) = self.find(name) else { return Ok(None) };
        match raw.get() {
            "true" => Ok(Some(true)),
            "false" => Ok(Some(false)),
            _ => {
                let text: String = read_plain(raw)?;
                let word = tabla_core::backend::json::boolean(&text);
                word.map(Some).ok_or_else(|| malformed("Unexpected token received from parser"))
            }
        }
    }

    /// Returns an integer. DynamoDB truncates fractions; numbers out of range become the nearest
    /// in range.
    fn long(&self, name: &str) -> Result<Option<i64>> {
        let number: Option<serde_json::Number> = self.read(name)?;
        Ok(number.map(|number| match (number.as_i64(), number.as_f64()) {
            (Some(number), _) => number,
            (None, number) => number.unwrap_or(f64::MAX) as i64,
        }))
    }

    fn integer(&self, name: &str) -> Result<Option<i32>> {
        let clamped = |number: i64| number.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        Ok(self.long(name)?.map(clamped))
    }

    /// Returns the shape of a member.
    fn shape(&self, name: &str) -> &'static Shape {
        self.known.shape(name).unwrap_or(&Shape::Value)
    }

    fn object(&self, name: &str) -> Result<Option<Members<'a>>> {
        self.find(name).map(|raw| Members::of_text(self.shape(name), raw)).transpose()
    }

    /// Parses each object of an array.
    fn objects<T>(
        &self,
        name: &str,
        read: impl Fn(&Members<'a>) -> Result<T>,
    ) -> Result<Option<Vec<T>>> {
        let Some(raw) = self.find(name) else { return Ok(None) };
        elements(self.shape(name), raw, |of, raw| read(&Members::of_text(of, raw)?)).map(Some)
    }

    /// Returns the elements of an array, as text.
    fn raws(&self, name: &str) -> Result<Option<Vec<&'a RawValue>>> {
        let Some(raw) = self.find(name) else { return Ok(None) };
        elements(self.shape(name), raw, |_, raw| Ok(raw)).map(Some)
    }

    fn item(&self, name: &str) -> Result<Option<Item>> {
        self.find(name).map(read_item).transpose()
    }

    fn need_item(&self, name: &str) -> Result<Item> {
        read_item(self.need(name)?)
    }

    /// Returns the value of a member that has one of a few names.
    fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<Option<T>> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        match choices.iter().find(|(known, _)| *known == text) {
            Some((_, choice)) => Ok(Some(*choice)),
            None => Err(Error::validation(format!("'{text}' is not a valid {name}"))),
        }
    }

    /// Returns the values of `#…` placeholders. DynamoDB refuses an empty map.
    fn names(&self) -> Result<Names> {
        const NAME: &str = "ExpressionAttributeNames";
        let names: BTreeMap<String, Option<String>> = self.read(NAME)?.unwrap_or_default();
        self.refuse_empty(NAME, names.is_empty())?;
        if let Some((key, _)) = names.iter().find(|(_, name)| name.is_none()) {
            // An invalid key is reported before an invalid name.
            let keys = names.keys().map(|key| (key.clone(), key.clone())).collect();
            Placeholders::new(&keys, &Values::new())?;
            return Err(Error::validation(format!(
                "{NAME} contains invalid value: null for key {key}"
            )));
        }
        Ok(names.into_iter().filter_map(|(key, name)| Some((key, name?))).collect())
    }

    /// Returns the values of `:…` placeholders. DynamoDB refuses an empty map.
    fn values(&self) -> Result<Values> {
        const NAME: &str = "ExpressionAttributeValues";
        let Some(members) = self.object(NAME)? else { return Ok(Values::new()) };
        self.refuse_empty(NAME, members.members.is_empty())?;
        let read = |key: &str, _, raw: &RawValue| {
            read_value(raw).map_err(|error| match error.code() {
                SERIALIZATION => error,
                _ => Error::validation(format!(
                    "{NAME} contains invalid value: {} for key {key}",
                    error.message()
                )),
            })
        };
        let values = members.entries(read).map(|values| values.into_iter().collect());
        if values.is_err() {
            let keys = members.members.iter().map(|(key, _)| (key.to_string(), Value::Null));
            Placeholders::new(&self.names()?, &keys.collect())?;
        }
        values
    }

    /// Refuses a map of placeholders that is given and empty.
    fn refuse_empty(&self, name: &str, is_empty: bool) -> Result<()> {
        if !is_empty || !self.has(name) {
            return Ok(());
        }
        let has_expressions = self.members.iter().any(|(name, _)| name.ends_with("Expression"));
        Err(Error::validation(match has_expressions {
            true => format!("{name} must not be empty"),
            false => format!("{name} can only be specified when using expressions"),
        }))
    }

    fn capacity(&self) -> Result<ReturnConsumedCapacity> {
        let choices = [
            ("NONE", ReturnConsumedCapacity::None),
            ("TOTAL", ReturnConsumedCapacity::Total),
            ("INDEXES", ReturnConsumedCapacity::Indexes),
        ];
        Ok(self.choice("ReturnConsumedCapacity", &choices)?.unwrap_or_default())
    }

    fn metrics(&self) -> Result<ReturnItemCollectionMetrics> {
        let choices = [
            ("NONE", ReturnItemCollectionMetrics::None),
            ("SIZE", ReturnItemCollectionMetrics::Size),
        ];
        Ok(self.choice("ReturnItemCollectionMetrics", &choices)?.unwrap_or_default())
    }

    fn table(&self) -> Result<String> {
        self.need_text("TableName")
    }

    /// Parses every member, in the order of the request. Of two members with one name the last
    /// one counts.
    fn entries<T>(
        &self,
        read: impl Fn(&str, &'static Shape, &'a RawValue) -> Result<T>,
    ) -> Result<Vec<(String, T)>> {
        let last: HashMap<&str, usize> =
            self.members.iter().enumerate().map(|(place, (name, _))| (&**name, place)).collect();
        let entries = self.members.iter().enumerate();
        entries
            .filter(|(place, (name, _))| last[&**name] == *place)
            .map(|(_, (name, raw))| Ok((name.to_string(), read(name, self.shape(name), raw)?)))
            .collect()
    }
}

/// Parses each element of an array of this shape.
fn elements<'a, T>(
    shape: &'static Shape,
    raw: &'a RawValue,
    mut read: impl FnMut(&'static Shape, &'a RawValue) -> Result<T>,
) -> Result<Vec<T>> {
    let Shape::List { of, max, .. } = *shape else {
        return Err(malformed("Unexpected field type"));
    };
    let mut found = Vec::new();
    let read = |raw| {
        found.push(read(of, raw)?);
        Ok(())
    };
    let mut deserializer = serde_json::Deserializer::from_str(raw.get());
    let outcome = deserializer.deserialize_seq(Elements { limit: max, read });
    outcome.map_err(|error| malformed(error.to_string()))??;
    Ok(found)
}

/// Code of the error for JSON with the wrong structure.
pub(crate) const SERIALIZATION: &str = "SerializationException";

fn read_plain<'a, T: Deserialize<'a>>(raw: &'a RawValue) -> Result<T> {
    serde_json::from_str(raw.get()).map_err(|error| malformed(error.to_string()))
}

fn read_item(raw: &RawValue) -> Result<Item> {
    Item::from_json_slice(raw.get().as_bytes())
}

fn read_value(raw: &RawValue) -> Result<Value> {
    Value::from_json_slice(raw.get().as_bytes())
}

fn malformed(message: impl Into<String>) -> Error {
    Error::validation(message).with_code(SERIALIZATION)
}

/// Returns the error for a request without a required member.
fn missing(name: &str) -> Error {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    let member: String = first.into_iter().chain(letters).collect();
    Error::validation(format!(
        "1 validation error detected: Value null at '{member}' failed to satisfy constraint: \
         Member must not be null"
    ))
}
