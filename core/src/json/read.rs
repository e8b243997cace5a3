//! Reading DynamoDB JSON, with the errors that the service answers.

use bytes::Bytes;
use serde_json::Value as Json;

use super::words::{
    Expected, Found, PACKAGE, Place, base64, boolean, is_too_deep, malformed, mismatch,
};
use crate::value::{MAX_NESTING, nesting_error};
use crate::{Error, Map, Number, Set, Value, limits};

/// Parses JSON text.
pub(super) fn text(bytes: &[u8]) -> Result<Json, Error> {
    serde_json::from_slice(bytes).map_err(|error| match is_too_deep(&error) {
        true => nesting_error(),
        false => malformed(error.to_string()),
    })
}

pub(super) fn value(json: &Json) -> Result<Value, Error> {
    read_value(json, MAX_NESTING)?.ok_or_else(|| null_value(None))
}

/// A value by itself, as expressions refer to it: it may be nested one level deeper than in an item.
pub(super) fn alone(json: &Json) -> Result<Value, Error> {
    read_value(json, limits::VALUE_DEPTH)?.ok_or_else(|| null_value(None))
}

pub(super) fn attributes(json: &Json) -> Result<Map, Error> {
    read_map(json, MAX_NESTING)
}

/// Reads a value in which `levels` lists and maps may be nested. A JSON null is `None`.
fn read_value(json: &Json, levels: usize) -> Result<Option<Value>, Error> {
    let members = match json {
        Json::Null => return Ok(None),
        Json::Object(members) => members,
        _ => return Err(wrong(Expected::Structure(Place::Element, &class()), json)),
    };
    let mut found = None;
    let mut several = false;
    // Unknown members are ignored, and so are nulls, as if they were absent. A fault in any
    // member goes before there being several.
    for (code, content) in members.iter().filter(|(_, content)| !content.is_null()) {
        if let Some(value) = read_typed(code, content, levels)? {
            several |= found.replace(value).is_some();
        }
    }
    if several {
        return Err(Error::validation(
            "Supplied AttributeValue has more than one datatypes set, must contain exactly one of \
             the supported datatypes",
        ));
    }
    found.map(Some).ok_or_else(|| {
        Error::validation(
            "Supplied AttributeValue is empty, must contain exactly one of the supported datatypes",
        )
    })
}

/// Reads the content of a type, or `None` for a code that is no type.
fn read_typed(code: &str, content: &Json, levels: usize) -> Result<Option<Value>, Error> {
    let value = match code {
        "S" => Value::S(read_text(content)?.to_owned()),
        "N" => Value::N(Number::parse(read_text(content)?)?),
        "B" => Value::B(read_binary(content)?),
        "BOOL" => Value::Bool(read_bool(content)?),
        "NULL" => {
            if !read_bool(content)? {
                return Err(Error::validation(
                    "One or more parameter values were invalid: Null attribute value types must \
                     have the value of true",
                ));
            }
            Value::Null
        }
        "M" => Value::M(read_map(content, levels.checked_sub(1).ok_or_else(nesting_error)?)?),
        "L" => {
            let levels = levels.checked_sub(1).ok_or_else(nesting_error)?;
            let elements = read_array(content)?;
            let read = |element| read_value(element, levels)?.ok_or_else(|| null_value(None));
            Value::L(elements.iter().map(read).collect::<Result<_, Error>>()?)
        }
        "SS" => Value::Ss(Set::new(read_members(content, |member| match member {
            Json::Null => Err(Error::validation(
                "One or more parameter values were invalid: An string set may not have a null \
                 string as a member",
            )),
            _ => read_text(member).map(str::to_owned),
        })?)?),
        "NS" => Value::Ns(Set::new(read_members(content, |member| match member {
            Json::Null => Ok(Number::parse("")?),
            _ => Ok(Number::parse(read_text(member)?)?),
        })?)?),
        "BS" => Value::Bs(Set::new(read_members(content, |member| match member {
            Json::Null => Err(null_value(None)),
            _ => read_binary(member),
        })?)?),
        _ => return Ok(None),
    };
    Ok(Some(value))
}

fn read_map(json: &Json, levels: usize) -> Result<Map, Error> {
    let Json::Object(members) = json else {
        return Err(wrong(Expected::Map(Place::Member, &class()), json));
    };
    let read = |(name, json): (&String, &Json)| {
        let value = read_value(json, levels)?.ok_or_else(|| null_value(Some(name)))?;
        Ok((name.clone(), value))
    };
    members.iter().map(read).collect()
}

fn read_members<T>(json: &Json, read: impl Fn(&Json) -> Result<T, Error>) -> Result<Vec<T>, Error> {
    read_array(json)?.iter().map(read).collect()
}

fn read_array(json: &Json) -> Result<&[Json], Error> {
    match json {
        Json::Array(elements) => Ok(elements),
        _ => Err(wrong(Expected::List(Place::Member), json)),
    }
}

fn read_text(json: &Json) -> Result<&str, Error> {
    match json {
        Json::String(text) => Ok(text),
        _ => Err(wrong(Expected::Scalar("String"), json)),
    }
}

fn read_bool(json: &Json) -> Result<bool, Error> {
    let value = match json {
        Json::Bool(value) => Some(*value),
        Json::String(text) => boolean(text),
        _ => None,
    };
    value.ok_or_else(|| wrong(Expected::Scalar("Boolean"), json))
}

fn read_binary(json: &Json) -> Result<Bytes, Error> {
    match json {
        Json::String(text) => base64(text),
        _ => Err(wrong(Expected::Binary, json)),
    }
}

/// The service's name for what a value is.
fn class() -> String {
    format!("{PACKAGE}AttributeValue")
}

fn wrong(expected: Expected<'_>, json: &Json) -> Error {
    match Found::of(json) {
        Some(found) => mismatch(expected, found),
        None => null_value(None),
    }
}

fn null_value(name: Option<&str>) -> Error {
    const NULL: &str = "The supplied Item contains a null AttributeValue";
    Error::validation(match name {
        Some(name) => format!("{NULL}: {name} is null"),
        None => NULL.to_owned(),
    })
}
