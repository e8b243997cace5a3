//! Properties of the response to any request.

use std::io::Read;

use bytes::Bytes;
use flate2::read::{GzDecoder, ZlibDecoder};
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, HOST, ORIGIN};
use http::{HeaderMap, Method, Request, Response, StatusCode};
use serde_json::{Map, Value};
use tabla_server::Operation::{self, *};
use tabla_server::Service;
use tokio::runtime::{Builder, Runtime};

use super::choices::Choices;
use super::near::{post, request};
use super::seeds::Seed;
use super::store::Fresh;

/// Service on a store that has the same content before every request.
#[derive(Debug)]
pub(crate) struct Subject {
    runtime: Runtime,
    fresh: Fresh,
    /// Content of the store, as a client reads it.
    content: Vec<Bytes>,
}

impl Subject {
    pub(crate) fn new() -> Self {
        let runtime =
            Builder::new_current_thread().enable_time().build().expect("the runtime starts");
        let fresh = runtime.block_on(Fresh::new());
        let content = runtime.block_on(content(&fresh.service));
        Self { runtime, fresh, content }
    }

    /// Returns the operation and the body of a valid request.
    pub(crate) fn seed(&self, (operation, body): Seed) -> (Operation, String) {
        (operation, self.fresh.names.fill(body.to_owned()))
    }

    /// Returns the request that these bytes generate.
    pub(crate) fn request(&self, bytes: &[u8]) -> Request<Bytes> {
        request(&mut Choices::new(bytes), &self.fresh.names)
    }

    /// Executes a request, and checks the form of its response.
    pub(crate) fn ask(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let response = self.call(request);
        match *request.method() {
            Method::POST => check_form(request, &response),
            _ => assert!(!response.status().is_server_error(), "{request:?}: {response:?}"),
        }
        response
    }

    /// Executes a request, and checks all properties of its response.
    pub(crate) fn check(&mut self, request: Request<Bytes>) -> Response<Bytes> {
        let response = self.ask(&request);
        if *request.method() != Method::POST {
            return response;
        }
        let is_refused = response.status() != StatusCode::OK;
        if is_refused || only_reads(&request) {
            let again = self.call(&request);
            assert_eq!(again.status(), response.status(), "{request:?}");
            assert_eq!(again.body(), response.body(), "{request:?}");
            self.check_packed(&request, &response);
        }
        if !only_reads(&request) {
            if is_refused {
                let content = self.runtime.block_on(content(&self.fresh.service));
                assert_eq!(content, self.content, "{request:?} was refused: {response:?}");
            } else {
                self.fresh = self.runtime.block_on(Fresh::new());
            }
        }
        response
    }

    fn call(&self, request: &Request<Bytes>) -> Response<Bytes> {
        self.runtime.block_on(self.fresh.service.call(request.clone()))
    }

    /// Checks that a client that accepts compressed responses receives the same content.
    fn check_packed(&self, request: &Request<Bytes>, response: &Response<Bytes>) {
        if request.headers().contains_key(ACCEPT_ENCODING) || response.body().len() < 1024 {
            return;
        }
        let mut request = request.clone();
        request
            .headers_mut()
            .insert(ACCEPT_ENCODING, "gzip".parse().expect("the value is a valid header"));
        let packed = self.call(&request);
        assert_eq!(packed.status(), response.status(), "{request:?}");
        assert_eq!(unpacked(&packed), response.body()[..], "{request:?}");
    }
}

/// Returns all items, and the descriptions of all tables.
async fn content(service: &Service) -> Vec<Bytes> {
    const BODIES: [(Operation, &str); 7] = [
        (Scan, r#"{"TableName":"things"}"#),
        (Scan, r#"{"TableName":"other"}"#),
        (DescribeTable, r#"{"TableName":"things"}"#),
        (DescribeTable, r#"{"TableName":"other"}"#),
        (DescribeTimeToLive, r#"{"TableName":"other"}"#),
        (ListTagsOfResource, r#"{"ResourceArn":"arn:aws:dynamodb:local:0:table/things"}"#),
        (ListTables, "{}"),
    ];
    let mut content = Vec::new();
    for (operation, body) in BODIES {
        let response = service.call(post(&operation.target(), body.into())).await;
        assert_eq!(response.status(), StatusCode::OK, "{:?}", response.body());
        content.push(response.into_body());
    }
    content
}

fn operation(request: &Request<Bytes>) -> Option<Operation> {
    Operation::from_target(request.headers().get("x-amz-target")?.to_str().ok()?)
}

fn only_reads(request: &Request<Bytes>) -> bool {
    !matches!(
        operation(request),
        Some(
            PutItem
                | UpdateItem
                | DeleteItem
                | BatchWriteItem
                | TransactWriteItems
                | CreateTable
                | UpdateTable
                | DeleteTable
                | UpdateTimeToLive
                | TagResource
                | UntagResource
        )
    )
}

/// Checks that a response has a form that clients of DynamoDB can parse.
fn check_form(request: &Request<Bytes>, response: &Response<Bytes>) {
    let context = || format!("{request:?} has the response {response:?}");
    let headers = response.headers();
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let id = text("x-amzn-requestid").unwrap_or_default();
    assert!(id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{}", context());
    let checksum = crc32fast::hash(response.body()).to_string();
    assert_eq!(text("x-amz-crc32"), Some(&*checksum), "{}", context());
    assert!(text("content-type").is_some_and(|it| it.starts_with("application/")), "{}", context());

    let body = unpacked(response);
    if response.status() == StatusCode::OK {
        let has_answer = !matches!(operation(request), Some(TagResource | UntagResource));
        match has_answer {
            true => drop(object(&body)),
            false => assert!(body.is_empty(), "{}", context()),
        }
        return;
    }
    let body = object(&body);
    let kind = body.get("__type").and_then(Value::as_str).unwrap_or_default();
    assert!(kind.split_once('#').is_some_and(|(_, name)| !name.is_empty()), "{}", context());
    // DynamoDB gives no reason for text that is not JSON.
    let is_silent = kind.ends_with("#SerializationException");
    let message = body.get("message").or_else(|| body.get("Message"));
    assert!(message.map_or(is_silent, Value::is_string), "{}", context());
    match response.status() {
        StatusCode::BAD_REQUEST => {}
        StatusCode::PAYLOAD_TOO_LARGE => assert!(kind.ends_with("TooLargeException"), "{kind}"),
        StatusCode::FORBIDDEN => {
            assert!(kind.ends_with("#AccessDeniedException"), "{kind}");
            assert!(may_be_a_page(request.headers()), "{}", context());
        }
        StatusCode::NOT_FOUND => assert!(!has_content_type(request.headers()), "{}", context()),
        _ => panic!("{}", context()),
    }
}

fn object(body: &[u8]) -> Map<String, Value> {
    serde_json::from_slice(body)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(body)))
}

/// Whether a request names an origin, or a host other than that of valid requests.
fn may_be_a_page(headers: &HeaderMap) -> bool {
    let is_foreign = headers.get_all(HOST).iter().any(|host| host != "localhost:8000");
    is_foreign || headers.contains_key(ORIGIN)
}

fn has_content_type(headers: &HeaderMap) -> bool {
    let kinds = ["application/x-amz-json-1.0", "application/x-amz-json-1.1", "application/json"];
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    given.is_some_and(|given| kinds.contains(&given))
}

fn unpacked(response: &Response<Bytes>) -> Vec<u8> {
    let mut body = Vec::new();
    let read = match response.headers().get(CONTENT_ENCODING).map(|value| value.as_bytes()) {
        None => return response.body().to_vec(),
        Some(b"gzip") => GzDecoder::new(&response.body()[..]).read_to_end(&mut body),
        Some(b"deflate") => ZlibDecoder::new(&response.body()[..]).read_to_end(&mut body),
        Some(other) => panic!("the client does not accept the coding {other:?}"),
    };
    read.expect("the response can be decompressed");
    body
}
