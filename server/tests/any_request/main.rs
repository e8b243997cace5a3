//! Robustness: every request has a well-formed response, and a refused request changes nothing.
//!
//! The requests are valid ones with a few changes each, and arbitrary bytes. The fuzz target
//! `request` checks the same properties on generated inputs.

mod choices;
mod json;
mod laws;
mod near;
mod seeds;
mod store;
mod words;

use std::collections::HashSet;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Request};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use tabla_core::env::{Clock, SystemClock};
use tabla_server::Operation;

use self::json::Json;
use self::laws::Subject;

/// Time-out for a large request: more than ten times what it takes without optimization, and less
/// than work that grows with the square of the request.
const PATIENCE: Duration = Duration::from_secs(5);

fn post(operation: Operation, body: impl Into<Bytes>) -> Request<Bytes> {
    near::post(&operation.target(), body.into())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nearly_valid_requests_have_a_well_formed_response(bytes in vec(any::<u8>(), 0..120)) {
        let mut subject = Subject::new();
        let request = subject.request(&bytes);
        subject.check(request);
    }

    #[test]
    fn arbitrary_bytes_have_a_well_formed_response(
        operation in select(Operation::ALL),
        body in vec(any::<u8>(), 0..200),
    ) {
        Subject::new().check(post(operation, body));
    }

    #[test]
    fn invalid_utf8_at_any_place_has_a_well_formed_response(
        seed in select(seeds::ALL),
        place in any::<Index>(),
        bytes in vec(0x80_u8.., 1..4),
    ) {
        let mut subject = Subject::new();
        let (operation, body) = subject.seed(seed);
        let mut body = body.into_bytes();
        let place = place.index(body.len() + 1);
        body.splice(place..place, bytes);
        subject.check(post(operation, body));
    }

    #[test]
    fn arbitrary_headers_have_a_well_formed_response(
        seed in select(seeds::ALL),
        name in select(vec![
            "x-amz-target", "content-type", "content-encoding", "accept-encoding", "host",
            "origin", "authorization", "x-amz-date", "content-length", "transfer-encoding",
        ]),
        value in vec(any::<u8>(), 0..40),
    ) {
        let mut subject = Subject::new();
        let (operation, body) = subject.seed(seed);
        let mut request = post(operation, body);
        if let Ok(value) = HeaderValue::from_bytes(&value) {
            request.headers_mut().insert(HeaderName::from_static(name), value);
        }
        subject.check(request);
    }

    #[test]
    fn damaged_compression_has_a_well_formed_response(
        name in select(vec!["gzip", "deflate"]),
        body in vec(any::<u8>(), 0..100),
        place in any::<Index>(),
        flip in any::<u8>(),
    ) {
        let mut packed = near::packed(name, &body);
        let place = place.index(packed.len());
        packed[place] ^= flip;
        let mut request = post(Operation::GetItem, packed);
        request.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(name));
        Subject::new().check(request);
    }
}

/// The other tests would prove nothing if these requests were refused for their form.
#[test]
fn seeds_are_valid_requests() {
    for seed in seeds::ALL {
        let mut subject = Subject::new();
        let (operation, body) = subject.seed(*seed);
        let response = subject.check(post(operation, body.clone()));
        assert_eq!(response.status(), 200, "{operation:?} {body}: {:?}", response.body());
    }
}

#[test]
fn every_operation_has_a_well_formed_response() {
    for operation in Operation::ALL {
        for body in ["", "{}", "null", "[]", "{\"TableName\":\"things\"}"] {
            Subject::new().check(post(*operation, body));
        }
    }
}

#[test]
fn deep_nesting_has_a_well_formed_response() {
    const DEPTH: usize = 100_000;
    let towers = [("[", "]"), ("{\"a\":", "}"), ("{\"L\":[", "]}"), ("{\"M\":{\"a\":", "}}")];
    let towers = towers.map(|(open, close)| {
        Json::Token(format!("{}null{}", open.repeat(DEPTH), close.repeat(DEPTH)))
    });
    for_each_place(|kind, json| *json = towers[kind % towers.len()].clone());
}

#[test]
fn large_requests_have_a_response_in_time() {
    const BYTES: usize = 600_000;
    /// Returns how many parts of a length fit into a request.
    fn count(length: usize) -> usize {
        (BYTES / length.max(1)).min(30_000)
    }
    for_each_place(|_, json| match json {
        Json::Array(elements) => {
            let element = elements.first().cloned().unwrap_or(Json::token("null"));
            let count = count(element.to_string().len());
            elements.extend((0..count).map(|number| element.numbered(number)));
        }
        Json::Object(members) => {
            let (name, value) = members.last().cloned().unwrap_or(("a".into(), Json::token("{}")));
            let count = count(value.to_string().len());
            members.extend((0..count).map(|number| (format!("{name}{number}"), value.clone())));
        }
        Json::Token(token) if token.starts_with('"') => {
            *token = format!("\"{}\"", "a".repeat(BYTES));
        }
        Json::Token(token) => *token = "9".repeat(BYTES),
    });
}

/// Executes all valid requests with each of their parts changed in turn, and checks that the
/// responses arrive in time. Parts of an operation's requests that have the same name are
/// changed once.
fn for_each_place(change: impl Fn(usize, &mut Json)) {
    let mut seen = HashSet::new();
    for seed in seeds::ALL {
        let subject = Subject::new();
        let (operation, body) = subject.seed(*seed);
        let whole = Json::parse(&body);
        for (place, name) in whole.names().into_iter().enumerate() {
            let mut json = whole.clone();
            let part = json.part(place);
            if !seen.insert((operation, name.to_owned(), std::mem::discriminant(part))) {
                continue;
            }
            change(seen.len(), part);
            let request = post(operation, json.to_string());
            let begun = SystemClock.now();
            subject.ask(&request);
            let taken = SystemClock.now().since(begun);
            assert!(taken < PATIENCE, "{operation:?}, {name} of {body}: {taken:?}");
        }
    }
}

#[test]
fn content_type_and_target_are_required() {
    for name in [CONTENT_TYPE, HeaderName::from_static("x-amz-target")] {
        let mut request = post(Operation::ListTables, "{}");
        request.headers_mut().remove(name);
        let response = Subject::new().check(request);
        assert!(response.status().is_client_error());
    }
}
