//! Reading DynamoDB JSON, with the errors that the service answers.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::Value as Json;

use crate::value::{MAX_NESTING, nesting_error};
use crate::{Error, Map, Number, Set, Value};

/// Parses JSON text.
pub(super) fn text(bytes: &[u8]) -> Result<Json, Error> {
    serde_json::from_slice(bytes).map_err(|error| {
        // The parser's own limit of 128 levels lies above DynamoDB's.
        if error.to_string().starts_with("recursion limit exceeded") {
            nesting_error()
        } else {
            malformed(error.to_string())
        }
    })
}

pub(super) fn value(json: &Json) -> Result<Value, Error> {
    read_value(json, MAX_NESTING)?.ok_or_else(|| null_value(None))
}

pub(super) fn attributes(json: &Json) -> Result<Map, Error> {
    read_map(json, MAX_NESTING)
}

/// Reads a value in which `levels` lists and maps may be nested. A JSON null is `None`.
fn read_value(json: &Json, levels: usize) -> Result<Option<Value>, Error> {
    let members = match json {
        Json::Null => return Ok(None),
        Json::Object(members) => members,
        Json::Array(_) => {
            return Err(collection("com.amazonaws.dynamodb.v20120810.AttributeValue"));
        }
        _ => return Err(malformed("Unexpected value type in payload")),
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
    let members = match json {
        Json::Object(members) => members,
        Json::Array(_) => return Err(collection("java.util.Map")),
        _ => return Err(malformed("Unexpected field type")),
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
        Json::Object(_) => Err(structure()),
        _ => Err(malformed("Unexpected field type")),
    }
}

fn read_text(json: &Json) -> Result<&str, Error> {
    match json {
        Json::String(text) => Ok(text),
        _ => Err(wrong_scalar(json, "String")),
    }
}

fn read_bool(json: &Json) -> Result<bool, Error> {
    match json {
        Json::Bool(value) => Ok(*value),
        Json::String(_) => Err(malformed("Unexpected token received from parser")),
        _ => Err(wrong_scalar(json, "Boolean")),
    }
}

fn read_binary(json: &Json) -> Result<Bytes, Error> {
    match json {
        Json::String(text) => base64(text),
        Json::Array(_) => Err(collection("java.nio.ByteBuffer")),
        Json::Object(_) => Err(structure()),
        _ => Err(malformed("only base-64-encoded strings are convertible to bytes")),
    }
}

/// Reads base64 as the service does: the standard alphabet, with padding, no bits left over.
fn base64(text: &str) -> Result<Bytes, Error> {
    if !text.len().is_multiple_of(4) {
        return Err(malformed(format!(
            "Base64 encoded length is expected a multiple of 4 bytes but found: {}",
            text.len()
        )));
    }
    STANDARD.decode(text).map(Bytes::from).map_err(|error| match error {
        base64::DecodeError::InvalidByte(_, byte) if byte != b'=' => {
            malformed(format!("Invalid Base64 character: '{}'", byte.escape_ascii()))
        }
        // The spelling is the service's.
        _ => malformed("Invalid last non-pad Base64 character dectected"),
    })
}

fn wrong_scalar(json: &Json, class: &str) -> Error {
    let token = match json {
        Json::Array(_) => return collection(&format!("java.lang.{class}")),
        Json::Object(_) => return structure(),
        Json::Bool(true) => "TRUE_VALUE",
        Json::Bool(false) => "FALSE_VALUE",
        Json::Number(number) if number.is_f64() => "DECIMAL_VALUE",
        Json::Number(_) => "NUMBER_VALUE",
        Json::String(_) => "STRING_VALUE",
        Json::Null => "NULL_VALUE",
    };
    malformed(format!("{token} cannot be converted to {class}"))
}

fn collection(class: &str) -> Error {
    malformed(format!("Unrecognized collection type class {class}"))
}

fn structure() -> Error {
    malformed("Start of structure or map found where not expected")
}

fn null_value(name: Option<&str>) -> Error {
    const NULL: &str = "The supplied Item contains a null AttributeValue";
    Error::validation(match name {
        Some(name) => format!("{NULL}: {name} is null"),
        None => NULL.to_owned(),
    })
}

/// JSON of the wrong shape, which the service reports under a name of its own.
fn malformed(message: impl Into<String>) -> Error {
    Error::validation(message).with_code("SerializationException")
}
