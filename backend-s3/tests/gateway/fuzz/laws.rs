//! Properties of the response to any request, and of what the request changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use http::{HeaderName, HeaderValue, Method, Uri};
use tabla_core::blobs::rules;
use tabla_core::env::{Env, ManualClock, Timestamp};
use tabla_s3::Buckets;
use tabla_s3::gateway::{self, GatewayConfig};
use tabla_server::Server;
use tabla_server::listener::ListenerConfig;

use super::choices::Choices;
use super::content::Content;
use super::generate::{
    NOW, Sent, Target, decoded_chunks, decoded_path, parameters, request, seed, sign_header,
};
use super::seeds::{self, ORIGIN};
use super::wire::{Connection, End, Response};
use super::xml;
use crate::plain::Plain;
use crate::signer::decoded;

/// Connections that a gateway accepts. The client uses one at a time, so that a connection that is
/// not given back soon blocks it.
const CONNECTIONS: usize = 4;

/// Clock and randomness of the buckets and their gateway. Equal requests have equal responses.
pub(crate) fn env() -> Env {
    Env::test(ManualClock::new(Timestamp::from_secs(NOW.0)), 7)
}

/// Number of responses by status and S3's code. A connection that was closed without a response has
/// the status 0.
pub(crate) type Counts = BTreeMap<(u16, String), u64>;

/// A gateway on buckets with known content.
#[derive(Debug)]
pub(crate) struct Subject {
    pub(crate) buckets: Arc<dyn Buckets>,
    pub(crate) server: Server,
    target: Target,
    connection: Connection,
    content: Content,
    /// Content at the start.
    initial: Content,
    /// Whether a request may still be executing, because its client has vanished.
    is_uncertain: bool,
}

impl Subject {
    /// Starts a gateway on new buckets, and fills them.
    pub(crate) async fn new(buckets: Arc<dyn Buckets>) -> Self {
        let names = seeds::fill(&buckets).await;
        let listener = ListenerConfig::new()
            .with_env(env())
            .with_origin(ORIGIN)
            .with_max_connections(CONNECTIONS);
        let config = GatewayConfig::new().with_listener(listener);
        let server = gateway::spawn(Arc::clone(&buckets), config).await.expect("a gateway");
        let content = Content::read(&*buckets).await;
        let host = server.address().to_string();
        let key = buckets.signing_key().clone();
        Self {
            connection: Connection::new(server.address()),
            target: Target { host, key, names },
            server,
            buckets,
            initial: content.clone(),
            content,
            is_uncertain: false,
        }
    }

    /// Whether a request may have changed the content.
    pub(crate) fn is_used(&self) -> bool {
        self.is_uncertain || self.content != self.initial
    }

    /// Content that does not depend on random ids; `None` if it is not known.
    pub(crate) fn comparable(&self) -> Option<Content> {
        (!self.is_uncertain).then(|| self.content.without_ids())
    }

    /// Executes the request that these choices generate, and checks the laws. Returns the status and
    /// S3's code; `None` if a client that vanishes may get either response.
    pub(crate) async fn step(&mut self, choices: &mut Choices<'_>) -> Option<(u16, String)> {
        let sent = request(choices, &self.target);
        let outcome = self.execute(&sent).await;
        (sent.end != End::Closed).then_some(outcome)
    }

    /// Executes a seed, and checks the laws.
    pub(crate) async fn seed(&mut self, text: &str) -> (u16, String) {
        let plain = sign_header(seed(text, &self.target), &self.target);
        let received = Some(plain.body.clone());
        let bytes = plain.encoded();
        let sent = Sent { plain, bytes, end: End::Open, received, flaw: None, is_raw: false };
        self.execute(&sent).await
    }

    /// Executes a request, and checks the laws.
    pub(crate) async fn execute(&mut self, sent: &Sent) -> (u16, String) {
        let report = Report(sent);
        let method = sent.bytes.split(|byte| *byte == b' ').next().unwrap_or_default();
        let method = String::from_utf8_lossy(method).into_owned();
        let response = self.connection.exchange(&sent.bytes, &method, sent.end).await;
        let after = Content::read(&*self.buckets).await;
        let outcome = match &response {
            Some(response) => {
                let code = check_form(sent, &method, response);
                (response.status, code)
            }
            None => {
                assert!(sent.end == End::Closed, "there is no response");
                (0, String::new())
            }
        };
        let before = std::mem::replace(&mut self.content, after);
        if sent.is_raw {
            let has_head = sent.bytes.windows(4).any(|window| window == b"\r\n\r\n");
            self.is_uncertain |= response.is_none() && has_head;
        } else {
            let response = response.filter(|response| response.status < 400);
            match response {
                Some(response) => self.check_accepted(sent, &before, &response).await,
                None => {
                    let changes = before.changes(&self.content);
                    assert!(changes.is_empty(), "a refused request has changed {changes:?}");
                }
            }
        }
        drop(report);
        outcome
    }

    /// Checks what an accepted request has changed, and what it returns.
    async fn check_accepted(&mut self, sent: &Sent, before: &Content, response: &Response) {
        if let Some(flaw) = sent.flaw {
            panic!("accepted, although {flaw}: {response:?}");
        }
        let plain = &sent.plain;
        if plain.method == "OPTIONS" {
            let changes = before.changes(&self.content);
            assert!(changes.is_empty(), "a preflight has changed {changes:?}");
            return;
        }
        let path = decoded_path(&plain.target).expect("the path of an accepted request is UTF-8");
        let path = path.strip_prefix('/').unwrap_or(&path);
        let (bucket, key) = match path.split_once('/') {
            Some((bucket, key)) if !key.is_empty() => (bucket, Some(key)),
            Some((bucket, _)) => (bucket, None),
            None => (path, None),
        };
        let parameters = parameters(&plain.target);
        let has = |name: &str| parameters.iter().any(|(given, _)| given == name);
        let is_write = matches!(plain.method.as_str(), "PUT" | "POST" | "DELETE");
        for (changed, of_key) in before.changes(&self.content) {
            let is_named = changed == bucket
                && match &of_key {
                    // Deletes of several objects name them in the body.
                    Some(_) if key.is_none() => plain.method == "POST" && has("delete"),
                    Some(changed) => key == Some(changed),
                    None => key.is_none(),
                };
            assert!(is_write && is_named, "{changed}/{of_key:?} has changed: {response:?}");
        }
        let Some(key) = key else {
            if response.body.windows(17).any(|text| text == b"<ListBucketResult") {
                self.check_listing(bucket, &parameters, response);
            }
            return;
        };
        let is_part = has("uploadId") || has("partNumber");
        match plain.method.as_str() {
            "PUT" if is_copy(plain, &parameters) => {}
            "PUT" => {
                let content = content_of(sent, &parameters);
                if is_part {
                    let uploads = &self.content.0[bucket].uploads;
                    let parts = uploads.iter().filter(|((of, _), _)| of == key);
                    let mut parts = parts.flat_map(|(_, parts)| parts);
                    let is_stored = parts.any(|part| part.size == content.len() as u64);
                    assert!(is_stored, "the part is not stored");
                    return;
                }
                let object = self.content.object(bucket, key).expect("the object is stored");
                assert!(object.bytes == content, "other bytes are stored");
                self.check_readable(plain, &content).await;
            }
            "DELETE" if !is_part && !has("versionId") => {
                assert!(self.content.object(bucket, key).is_none(), "the object is still there");
            }
            "GET" | "HEAD" if !is_part && !has("versionId") => {
                let object = before.object(bucket, key).expect("a response has an object");
                let range = response.header("content-range").map(|range| {
                    let range = range.strip_prefix("bytes ").and_then(|it| it.split_once('/'));
                    let (range, size) = range.expect("a range");
                    assert_eq!(size, object.bytes.len().to_string());
                    let (first, last) = range.split_once('-').expect("a range");
                    let [first, last] = [first, last].map(|it| it.parse().expect("a number"));
                    object.bytes.get(first..=last).expect("a range within the object")
                });
                if response.status == 304 {
                    return;
                }
                assert_eq!(response.status == 206, range.is_some());
                let expected = range.unwrap_or(&object.bytes);
                let length = expected.len().to_string();
                assert_eq!(response.header("content-length"), Some(length.as_str()));
                assert!(plain.method == "HEAD" || response.body == expected, "other bytes");
                let etag = format!("\"{}\"", object.info.etag);
                assert_eq!(response.header("etag"), Some(etag.as_str()));
            }
            _ => {}
        }
    }

    /// Reads an object with a request of its own.
    async fn check_readable(&mut self, put: &Plain, content: &[u8]) {
        let path = put.target.split('?').next().unwrap_or_default();
        let get = Plain::new("GET", &format!("{}{path}", self.target.host));
        let get = sign_header(get, &self.target).encoded();
        let found = self.connection.exchange(&get, "GET", End::Open).await;
        let found = found.expect("a complete request has a response");
        assert_eq!(found.status, 200, "the object cannot be read: {found:?}");
        assert!(found.body == content, "other bytes are read");
    }

    /// Checks that a listing contains only keys of the bucket.
    fn check_listing(&self, bucket: &str, parameters: &[(String, String)], response: &Response) {
        let is_url =
            parameters.iter().any(|(name, value)| name == "encoding-type" && value == "url");
        let leaves = xml::leaves(&response.body).expect("its form has been checked");
        for (_, key) in leaves.iter().filter(|(name, _)| name == "Key") {
            let key = match is_url {
                true => String::from_utf8(decoded(key)).expect("a key is UTF-8"),
                false => key.clone(),
            };
            assert!(self.content.object(bucket, &key).is_some(), "{key:?} is listed");
        }
    }
}

/// Whether a request copies an object: the source may be a parameter of a presigned URL.
fn is_copy(plain: &Plain, parameters: &[(String, String)]) -> bool {
    const SOURCE: &str = "x-amz-copy-source";
    plain.headers.iter().any(|(name, _)| name == SOURCE)
        || parameters.iter().any(|(name, _)| name.eq_ignore_ascii_case(SOURCE))
}

/// Content that an accepted request writes.
fn content_of(sent: &Sent, parameters: &[(String, String)]) -> Vec<u8> {
    const KIND: &str = "x-amz-content-sha256";
    let received = sent.received.clone().expect("a malformed body is refused");
    let header = sent.plain.headers.iter().find(|(name, _)| name == KIND);
    let parameter = parameters.iter().find(|(name, _)| name.eq_ignore_ascii_case(KIND));
    match header.or(parameter) {
        Some((_, kind)) if kind.starts_with("STREAMING-") => {
            decoded_chunks(&received).expect("malformed chunks are refused")
        }
        _ => received,
    }
}

/// Checks that a response has a form that clients of S3 can parse. Returns S3's code of an error.
fn check_form(sent: &Sent, method: &str, response: &Response) -> String {
    let context = || {
        let body = String::from_utf8_lossy(&response.body);
        format!("{} {:?} {body}", response.status, response.headers)
    };
    let Some(id) = response.header("x-amz-request-id") else {
        // The response of the HTTP library to bytes that are no HTTP.
        assert!(sent.is_raw || !is_http(&sent.plain), "{}", context());
        assert!(matches!(response.status, 400 | 414 | 431 | 501), "{}", context());
        assert!(response.body.is_empty(), "{}", context());
        return "no HTTP".to_owned();
    };
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{}", context());
    assert_eq!(response.header("server"), Some("tabla"), "{}", context());
    assert!(response.header("date").is_some(), "{}", context());
    let kind = response.header("content-type").unwrap_or_default();
    match response.status {
        204 | 304 => {
            assert!(response.body.is_empty(), "{}", context());
            String::new()
        }
        200 | 206 => {
            let is_document = kind == "application/xml" && response.header("etag").is_none();
            if is_document && method != "HEAD" {
                xml::leaves(&response.body)
                    .unwrap_or_else(|error| panic!("{error}: {}", context()));
            }
            String::new()
        }
        // As on S3.
        400 if response.body.is_empty() && kind.is_empty() && method != "HEAD" => {
            let path = decoded_path(&sent.plain.target).unwrap_or_default();
            assert!(sent.is_raw || leads_above_root(&path), "{}", context());
            "above the root".to_owned()
        }
        400 | 403 | 404 | 405 | 409 | 411 | 412 | 416 | 501 => {
            if method == "HEAD" {
                assert!(response.body.is_empty(), "{}", context());
                return String::new();
            }
            assert_eq!(kind, "application/xml", "{}", context());
            let leaves = xml::leaves(&response.body);
            let leaves = leaves.unwrap_or_else(|error| panic!("{error}: {}", context()));
            assert!(response.body.windows(7).any(|text| text == b"<Error>"), "{}", context());
            let leaf = |name: &str| {
                let found = leaves.iter().find(|(given, _)| given == name);
                found.map(|(_, text)| text.clone()).unwrap_or_default()
            };
            assert!(!leaf("Message").is_empty(), "{}", context());
            let code = leaf("Code");
            let is_name = code.len() > 4 && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
            assert!(is_name && code != "InternalError", "{}", context());
            code
        }
        _ => panic!("{}", context()),
    }
}

/// Whether a path names a key that leads above its root.
fn leads_above_root(path: &str) -> bool {
    let key = path.strip_prefix('/').and_then(|path| path.split_once('/'));
    key.is_some_and(|(_, key)| rules::leads_above_root(key))
}

/// Whether the bytes of a request are valid HTTP, for which the gateway itself responds.
fn is_http(plain: &Plain) -> bool {
    const HEAD_BYTES: usize = 60_000;
    const HEADERS: usize = 100;
    let is_header = |(name, value): &(String, String)| {
        HeaderName::from_bytes(name.as_bytes()).is_ok()
            && HeaderValue::from_bytes(value.as_bytes()).is_ok()
    };
    let is_target = plain.target.starts_with('/') && plain.target.parse::<Uri>().is_ok();
    let length = plain.encoded().len() - plain.body.len();
    let is_framed = !plain.headers.iter().any(|(name, _)| {
        // What may follow from these, the HTTP library decides.
        matches!(name.as_str(), "transfer-encoding" | "upgrade")
    });
    let lengths: Vec<&str> = plain
        .headers
        .iter()
        .filter(|(name, _)| name == "content-length")
        .map(|(_, value)| value.trim())
        .collect();
    // The HTTP library has its own meanings for the two highest numbers.
    let is_length = |text: &&str| {
        text.parse::<u64>().is_ok_and(|length| length < u64::MAX - 1) && !text.starts_with('+')
    };
    Method::from_bytes(plain.method.as_bytes()).is_ok_and(|method| method != Method::CONNECT)
        && is_target
        && plain.headers.iter().all(is_header)
        && plain.headers.len() <= HEADERS
        && length <= HEAD_BYTES
        && is_framed
        && lengths.iter().all(is_length)
        && lengths.windows(2).all(|pair| pair[0] == pair[1])
}

/// Shows the request if a law is broken.
struct Report<'a>(&'a Sent);

impl Drop for Report<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let Sent { bytes, end, flaw, is_raw, .. } = self.0;
            let text: String =
                bytes.iter().take(4000).map(|byte| byte.escape_ascii().to_string()).collect();
            eprintln!(
                "request ({end:?}, raw: {is_raw}, flaw: {flaw:?}, {} bytes):\n{text}",
                bytes.len()
            );
        }
    }
}
