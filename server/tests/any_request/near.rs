//! Generator of nearly valid requests.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderName, HeaderValue, Method, Request};
use tabla_server::Operation;

use super::choices::Choices;
use super::json::Json;
use super::seeds;
use super::store::Names;
use super::words::{TEXTS, TOKENS, VALUES, WORDS};

/// Returns a request of an operation, as clients send it.
pub(crate) fn post(target: &str, body: Bytes) -> Request<Bytes> {
    let mut request = Request::new(body);
    *request.method_mut() = Method::POST;
    let headers = request.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-amz-json-1.0"));
    headers.insert(HOST, HeaderValue::from_static("localhost:8000"));
    let target = HeaderValue::from_str(target).expect("a target is a header");
    headers.insert(HeaderName::from_static("x-amz-target"), target);
    request
}

/// Flag of the first byte of a request: add unusual headers.
pub(crate) const ODD_HEADERS: u8 = 0x80;
/// Flag of the first byte of a request: compress the body.
pub(crate) const PACKED: u8 = 0x40;
/// Flag of the first byte of a request: use the following bytes as the body.
pub(crate) const RAW: u8 = 0x20;
/// Flag of the first byte of a request: change single bytes of the body.
pub(crate) const BROKEN: u8 = 0x10;

/// Generates a request: a valid one with changes, or arbitrary bytes; sometimes with
/// unusual headers.
pub(crate) fn request(choices: &mut Choices<'_>, names: &Names) -> Request<Bytes> {
    let mode = choices.byte();
    let operation = choices.pick(Operation::ALL);
    let mut headers: Vec<(HeaderName, HeaderValue)> = Vec::new();
    let mut method = Method::POST;
    if mode & ODD_HEADERS != 0 {
        headers.extend((0..=choices.below(3)).filter_map(|_| header(choices)));
        let methods = [Method::POST, Method::GET, Method::OPTIONS, Method::HEAD, Method::PUT];
        // Nearly all requests are POST.
        method = methods[choices.below(64).saturating_sub(59)].clone();
    }
    let (operation, body) = match mode & RAW {
        0 => near_valid(choices, names, mode & BROKEN != 0),
        _ => (operation, choices.rest().to_vec()),
    };
    let mut request = post(&operation.target(), body.into());
    *request.method_mut() = method;
    if mode & PACKED != 0 {
        let name = if mode & 1 == 0 { "gzip" } else { "deflate" };
        *request.body_mut() = packed(name, request.body()).into();
        request.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(name));
    }
    request.headers_mut().extend(headers);
    request
}

fn header(choices: &mut Choices<'_>) -> Option<(HeaderName, HeaderValue)> {
    let target = HeaderName::from_static("x-amz-target");
    let names = [CONTENT_TYPE, CONTENT_ENCODING, ACCEPT_ENCODING, target, HOST, ORIGIN];
    let values = [
        "",
        "gzip",
        "deflate",
        "br",
        "identity",
        " GZIP ",
        "gzip, deflate",
        "gzip;q=0, deflate;q=1",
        "*;q=0.5",
        "application/json",
        "application/x-amz-json-1.1; charset=utf-8",
        "text/plain",
        "DynamoDB_20120810.",
        "DynamoDB_20120810.GetItem",
        "DynamoDBStreams_20120810.GetItem",
        "DynamoDB_20111205.GetItem",
        ".",
        "http://localhost",
    ];
    let name = names[choices.below(names.len())].clone();
    let value = match choices.below(values.len() + 1).checked_sub(1) {
        Some(place) => HeaderValue::from_static(values[place]),
        None => {
            let length = choices.below(24);
            HeaderValue::from_bytes(choices.bytes(length)).ok()?
        }
    };
    Some((name, value))
}

/// Generates a valid request with some changes. The last change may be one of single bytes.
fn near_valid(choices: &mut Choices<'_>, names: &Names, break_bytes: bool) -> (Operation, Vec<u8>) {
    let (operation, text) = choices.pick(seeds::ALL);
    let mut json = Json::parse(text);
    for _ in 0..8 {
        if choices.is_empty() {
            break;
        }
        let place = choices.below(json.size());
        change(json.part(place), choices);
    }
    let mut body = names.fill(json.to_string()).into_bytes();
    if break_bytes {
        let place = choices.below(body.len() + 1);
        let removed = choices.below(4).min(body.len() - place);
        body.splice(place..place + removed, choices.rest().iter().copied());
    }
    (operation, body)
}

/// Changes one part of a request into something else.
fn change(json: &mut Json, choices: &mut Choices<'_>) {
    match choices.below(12) {
        0 => *json = Json::text(choices.pick(TEXTS)),
        1 => *json = Json::text(&expression(choices)),
        2 => *json = Json::token(choices.pick(TOKENS)),
        3 => *json = Json::token(choices.pick(VALUES)),
        4 => *json = graft(choices),
        5 => {
            let length = choices.below(16);
            *json = Json::text(&String::from_utf8_lossy(choices.bytes(length)));
        }
        6 => match json {
            Json::Array(elements) if !elements.is_empty() => {
                elements.remove(choices.below(elements.len()));
            }
            Json::Object(members) if !members.is_empty() => {
                members.remove(choices.below(members.len()));
            }
            other => *other = Json::token("null"),
        },
        // Repeats the part once, or many times.
        7 => match json {
            Json::Array(elements) if !elements.is_empty() => {
                let element = elements[choices.below(elements.len())].clone();
                let count = choices.below(130);
                elements.extend((0..count).map(|number| element.numbered(number)));
            }
            Json::Object(members) if !members.is_empty() => {
                let member = members[choices.below(members.len())].clone();
                members.push(member);
            }
            other => *other = Json::Array(vec![other.clone(), other.clone()]),
        },
        8 => match json {
            Json::Object(members) if !members.is_empty() => {
                let place = choices.below(members.len());
                members[place].0 = choices.pick(TEXTS).to_owned();
            }
            other => *other = Json::Object(vec![(choices.pick(TEXTS).to_owned(), other.clone())]),
        },
        9 => match json {
            Json::Object(members) => {
                let (name, value) = member(choices);
                members.push((name, value));
            }
            Json::Array(elements) => elements.push(graft(choices)),
            other => *other = Json::Array(vec![other.clone()]),
        },
        10 => {
            let kind = choices.pick(&["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"]);
            *json = Json::Object(vec![(kind.to_owned(), json.clone())]);
        }
        _ => {
            let depth = choices.below(40);
            let is_map = choices.byte() & 1 == 0;
            for _ in 0..depth {
                let inner = std::mem::replace(json, Json::token("null"));
                *json = match is_map {
                    true => {
                        let map = Json::Object(vec![("a".to_owned(), inner)]);
                        Json::Object(vec![("M".to_owned(), map)])
                    }
                    false => Json::Object(vec![("L".to_owned(), Json::Array(vec![inner]))]),
                };
            }
        }
    }
}

/// Returns a part of some valid request.
fn graft(choices: &mut Choices<'_>) -> Json {
    let (_, text) = choices.pick(seeds::ALL);
    let mut json = Json::parse(text);
    let place = choices.below(json.size());
    json.part(place).clone()
}

/// Returns a member of some valid request, or of an object in it.
fn member(choices: &mut Choices<'_>) -> (String, Json) {
    match graft(choices) {
        Json::Object(mut members) if !members.is_empty() => {
            members.swap_remove(choices.below(members.len()))
        }
        other => (choices.pick(TEXTS).to_owned(), other),
    }
}

fn expression(choices: &mut Choices<'_>) -> String {
    (0..=choices.below(20)).map(|_| choices.pick(WORDS)).collect()
}

/// Returns a body, compressed with this coding.
pub(crate) fn packed(name: &str, body: &[u8]) -> Vec<u8> {
    let level = Compression::fast();
    let written = match name {
        "gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), level);
            encoder.write_all(body).and_then(|()| encoder.finish())
        }
        _ => {
            let mut encoder = ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(body).and_then(|()| encoder.finish())
        }
    };
    written.expect("writing to a vector does not fail")
}
