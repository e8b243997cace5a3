//! Writing of DynamoDB JSON, as a tree and as text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map as Object, Value as Json};

use crate::view::{MapRef, ValueRef};

pub(super) fn value(value: ValueRef<'_>) -> Json {
    let content = match value {
        ValueRef::S(text) => Json::from(text),
        ValueRef::N(number) => Json::from(number.text().as_str()),
        ValueRef::B(bytes) => Json::from(STANDARD.encode(bytes)),
        ValueRef::Bool(value) => Json::Bool(value),
        ValueRef::Null => Json::Bool(true),
        ValueRef::M(map) => attributes(map),
        ValueRef::L(list) => list.iter().map(self::value).collect(),
        ValueRef::Ss(set) => set.iter().map(Json::from).collect(),
        ValueRef::Ns(set) => set.iter().map(|member| Json::from(member.text().as_str())).collect(),
        ValueRef::Bs(set) => set.iter().map(|member| Json::from(STANDARD.encode(member))).collect(),
    };
    Json::Object(Object::from_iter([(value.type_code().to_owned(), content)]))
}

pub(super) fn attributes(map: MapRef<'_>) -> Json {
    Json::Object(map.iter().map(|(name, value)| (name.to_owned(), self::value(value))).collect())
}

pub(super) fn attributes_text(map: MapRef<'_>, out: &mut Vec<u8>) {
    out.push(b'{');
    separated(map.iter(), out, |(name, value), out| {
        string(name, out);
        out.push(b':');
        value_text(value, out);
    });
    out.push(b'}');
}

pub(super) fn value_text(value: ValueRef<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"");
    out.extend_from_slice(value.type_code().as_bytes());
    out.extend_from_slice(b"\":");
    match value {
        ValueRef::S(text) => string(text, out),
        ValueRef::N(number) => quoted(number.text().as_str().as_bytes(), out),
        ValueRef::B(bytes) => base64(bytes, out),
        ValueRef::Bool(false) => out.extend_from_slice(b"false"),
        ValueRef::Bool(true) | ValueRef::Null => out.extend_from_slice(b"true"),
        ValueRef::M(map) => attributes_text(map, out),
        ValueRef::L(list) => array(list.iter(), out, value_text),
        ValueRef::Ss(set) => array(set.iter(), out, string),
        ValueRef::Ns(set) => array(set.iter(), out, |member, out| {
            quoted(member.text().as_str().as_bytes(), out);
        }),
        ValueRef::Bs(set) => array(set.iter(), out, base64),
    }
    out.push(b'}');
}

fn array<T>(elements: impl Iterator<Item = T>, out: &mut Vec<u8>, write: impl Fn(T, &mut Vec<u8>)) {
    out.push(b'[');
    separated(elements, out, write);
    out.push(b']');
}

fn separated<T>(
    elements: impl Iterator<Item = T>,
    out: &mut Vec<u8>,
    write: impl Fn(T, &mut Vec<u8>),
) {
    for (index, element) in elements.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(element, out);
    }
}

fn string(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("writing to a vector cannot fail");
}

/// Writes a quoted text, which must need no escaping.
fn quoted(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(text);
    out.push(b'"');
}

fn base64(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    STANDARD
        .encode_slice(bytes, &mut out[start..])
        .expect("the buffer has 4 bytes for every 3 bytes of input");
    out.push(b'"');
}
