//! The protocol without sockets, from HTTP request to HTTP response: routing, authentication,
//! admission control, compression, metrics. Operations are in [`dispatch`].

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, HOST, SERVER};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use tabla_core::{Error, ErrorKind, Result, Store};

use crate::admission::{AdmissionControl, WorkingMemory};
use crate::config::ServerConfig;
use crate::error_response::UNKNOWN_OPERATION;
use crate::host_policy::{AllowedOrigin, CorsHeaders, CorsList, HostPolicy};
use crate::metrics::{self, Metrics};
use crate::operation::Operation;
use crate::table_delay::TableDelayStore;
use crate::workers::{BlockingPool, OFFLOAD_BYTES};
use crate::{auth, content_coding, dispatch, error_response, shape};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-amzn-requestid");
const CRC32: HeaderName = HeaderName::from_static("x-amz-crc32");
const TARGET: HeaderName = HeaderName::from_static("x-amz-target");

/// Accepted content types of requests. A response has that of its request.
const CONTENT_TYPES: [&str; 3] =
    ["application/x-amz-json-1.0", "application/x-amz-json-1.1", "application/json"];

/// CORS headers as DynamoDB sends them: it allows the method and the headers that the browser
/// asks for.
static CORS: CorsHeaders = CorsHeaders {
    methods: CorsList::Requested,
    headers: CorsList::Requested,
    exposed: HeaderValue::from_static("x-amzn-requestid, x-amz-crc32"),
    max_age: Duration::from_secs(48 * 60 * 60),
};

/// DynamoDB's wire protocol over a store, without sockets.
///
/// Cheap to clone: clones share the store, the limits and the metrics.
#[derive(Clone, Debug)]
pub struct Service(Arc<Inner>);

/// Status, body and coding of a response.
type EncodedBody = (StatusCode, Bytes, Option<content_coding::ContentCoding>);

/// Error as a response: its code, and its status and body.
struct Failure {
    code: &'static str,
    status: StatusCode,
    body: Bytes,
}

#[derive(Debug)]
struct Inner {
    store: Arc<dyn Store>,
    gate: HostPolicy,
    config: ServerConfig,
    load: AdmissionControl,
    metrics: Metrics,
    workers: BlockingPool,
    connections: AtomicUsize,
    /// First half of all request ids of this service, drawn at random.
    id: u64,
    requests: AtomicU64,
}

impl Service {
    /// Creates a service with the default limits and without credentials.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self::with_config(store, ServerConfig::default())
    }

    /// Creates a service with the credentials, hosts, origins and limits of a configuration. Its
    /// address is not bound, but accepted as a host. A malformed host or origin is ignored.
    pub fn with_config(store: Arc<dyn Store>, config: ServerConfig) -> Self {
        let store = match config.table_delay.is_zero() {
            true => store,
            false => Arc::new(TableDelayStore::new(store, config.table_delay, &config.env)),
        };
        Self(Arc::new(Inner {
            store,
            gate: HostPolicy::new(&config.listener, config.authentication()),
            load: AdmissionControl::new(config.memory_bytes, config.max_requests),
            metrics: Metrics::default(),
            workers: BlockingPool::new(),
            connections: AtomicUsize::new(0),
            id: config.env.random.next_u64(),
            requests: AtomicU64::new(0),
            config,
        }))
    }

    pub(crate) fn config(&self) -> &ServerConfig {
        &self.0.config
    }

    pub(crate) fn load(&self) -> &AdmissionControl {
        &self.0.load
    }

    /// Counts a connection as open.
    pub(crate) fn count_opened(&self) {
        self.0.metrics.connection();
        self.0.connections.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an open connection as closed.
    pub(crate) fn count_closed(&self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }

    /// Executes a request and returns its response, errors included. Without credentials, a request
    /// with a foreign `Host` or `Origin` is refused with status 403.
    ///
    /// The time-outs and the limit on connections are those of a listener, and do not apply here.
    /// Nor does [`ServerConfig::request_bytes`], except to the decompressed length of a
    /// compressed body.
    pub async fn call(&self, request: Request<Bytes>) -> Response<Bytes> {
        let (parts, body) = request.into_parts();
        self.answer(&parts, Ok(body)).await
    }

    /// Executes a request of this process. Its host is not checked, because no web page can have
    /// sent it.
    #[cfg(feature = "sdk")]
    pub(crate) async fn call_in_process(&self, request: Request<Bytes>) -> Response<Bytes> {
        let (parts, body) = request.into_parts();
        self.answer_allowed(&parts, Ok(body), Ok(None)).await
    }

    /// Executes a request, or returns the error in `body` if its body did not arrive.
    pub(crate) async fn answer(&self, parts: &Parts, body: Result<Bytes>) -> Response<Bytes> {
        self.answer_allowed(parts, body, self.0.gate.check(parts)).await
    }

    /// Executes a request unless `allowed` is a refusal, and adds the headers that all
    /// responses have.
    async fn answer_allowed(
        &self,
        parts: &Parts,
        body: Result<Bytes>,
        allowed: Result<Option<AllowedOrigin>>,
    ) -> Response<Bytes> {
        let id = self.next_id();
        let mut response = match (&allowed, &parts.method) {
            (Err(refusal), _) => self.refuse(parts, refusal, &id),
            (_, &Method::POST) => self.answer_operation(parts, body, &id).await,
            (Ok(origin), &Method::OPTIONS) => preflight(&parts.headers, origin.is_some()),
            (_, &Method::GET | &Method::HEAD) => self.answer_get(parts),
            (_, method) => plain(
                StatusCode::METHOD_NOT_ALLOWED,
                format!("the method {method} is not supported: use POST\n"),
            ),
        };
        let headers = response.headers_mut();
        headers.insert(SERVER, HeaderValue::from_static("tabla"));
        if let Ok(id) = HeaderValue::from_str(&id) {
            headers.insert(REQUEST_ID, id);
        }
        if let Ok(Some(origin)) = allowed {
            CORS.allow(&origin, headers);
        }
        response
    }

    /// Returns the response to a request with a foreign host or origin. It has no
    /// `Access-Control-*` header, so that no page can read it.
    fn refuse(&self, parts: &Parts, refusal: &Error, id: &str) -> Response<Bytes> {
        tracing::debug!(id, %refusal, "refused");
        if parts.method != Method::POST {
            return plain(StatusCode::FORBIDDEN, format!("{}\n", refusal.message()));
        }
        let (_, body) = error_response::answer(refusal);
        let content_type = content_type(&parts.headers).unwrap_or(CONTENT_TYPES[0]);
        let response = http_response(content_type, (StatusCode::FORBIDDEN, body.into(), None));
        let bytes = [0, response.body().len()];
        self.0.metrics.request(operation(&parts.headers), refusal.code(), Duration::ZERO, bytes);
        response
    }

    /// Returns an id that no other request of this or another service has.
    fn next_id(&self) -> String {
        let number = self.0.requests.fetch_add(1, Ordering::Relaxed);
        format!("{:016X}{number:016X}", self.0.id)
    }

    async fn answer_operation(
        &self,
        parts: &Parts,
        body: Result<Bytes>,
        id: &str,
    ) -> Response<Bytes> {
        let clock = &self.0.config.env.clock;
        let begun = clock.now();
        let received = body.as_ref().map_or(0, Bytes::len);
        let content_type = content_type(&parts.headers);
        let operation = operation(&parts.headers);
        let outcome = match (content_type, operation) {
            (None, _) => Err(self.failure(&unknown(format!(
                "the Content-Type of a request must be one of {}",
                CONTENT_TYPES.join(", ")
            )))),
            (_, None) => Err(self.failure(&unknown(
                "the header X-Amz-Target of a request must name an operation, for example \
                 DynamoDB_20120810.GetItem",
            ))),
            (Some(_), Some(operation)) => {
                // A panic still produces a response.
                let work = AssertUnwindSafe(self.execute_with_permit(parts, operation, body));
                work.catch_unwind().await.unwrap_or_else(|_| Err(self.panicked()))
            }
        };
        let (code, answer) = match outcome {
            Ok(body) => (metrics::OK, self.compress(&parts.headers, body).await),
            Err(Failure { code, status, body }) => (code, (status, body, None)),
        };
        let mut response = http_response(content_type.unwrap_or(CONTENT_TYPES[0]), answer);
        if content_type.is_none() {
            *response.status_mut() = StatusCode::NOT_FOUND;
        }
        let elapsed = clock.now().since(begun);
        let bytes = [received, response.body().len()];
        self.0.metrics.request(operation, code, elapsed, bytes);
        let operation = operation.map_or("unknown", Operation::as_str);
        let status = response.status().as_u16();
        if response.status().is_server_error() {
            let answer = String::from_utf8_lossy(response.body());
            tracing::error!(id, operation, status, code, ?elapsed, %answer, "failed");
        } else {
            tracing::debug!(id, operation, status, code, ?elapsed, "answered");
        }
        response
    }

    /// Executes an operation, unless too many are in flight, and returns the body of its response.
    async fn execute_with_permit(
        &self,
        parts: &Parts,
        operation: Operation,
        body: Result<Bytes>,
    ) -> Result<Bytes, Failure> {
        let _place = self.0.load.admit().map_err(|error| self.failure(&error))?;
        let sent = body.map_err(|error| self.failure(&error))?;
        if sent.len() < OFFLOAD_BYTES && !parts.headers.contains_key(CONTENT_ENCODING) {
            return self.execute(parts, operation, sent).await;
        }
        // Parsing a long body would keep a thread of the runtime from serving other requests.
        let (service, parts) = (self.clone(), parts.clone());
        let work = async move { service.execute(&parts, operation, sent).await };
        self.0.workers.run(work).await.unwrap_or_else(|| Err(self.panicked()))
    }

    async fn execute(
        &self,
        parts: &Parts,
        operation: Operation,
        sent: Bytes,
    ) -> Result<Bytes, Failure> {
        let load = &self.0.load;
        // Freed at the end, when the items that it stands for are dropped and the body is counted.
        let mut memory = load.working_memory();
        match self.try_execute(parts, operation, sent, &mut memory).await {
            Ok(body) if is_safe_to_retry(operation) => {
                load.reserved_body(body).map_err(|error| self.failure(&error))
            }
            Ok(body) => Ok(load.reserved_body_over_limit(body)),
            Err(error) => Err(self.failure(&error)),
        }
    }

    async fn try_execute(
        &self,
        parts: &Parts,
        operation: Operation,
        sent: Bytes,
        memory: &mut WorkingMemory<'_>,
    ) -> Result<Vec<u8>> {
        if let Some(credentials) = &self.0.config.credentials {
            auth::verify(credentials, parts, &sent, self.0.config.env.clock.now())?;
        }
        let received = sent.len();
        let body = content_coding::decompress(&parts.headers, sent, self.0.config.request_bytes)?;
        // A decompressed body may be much larger than what was reserved on arrival.
        let _unpacked = self.0.load.reserve(body.len().saturating_sub(received))?;
        // DynamoDB validates the shape of a request first. For operations on items the shape is
        // validated only after a failure, because their parsers read every member.
        let is_on_items = operation.is_on_items();
        if !is_on_items {
            shape::validate(operation, &body)?;
        }
        let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = host.unwrap_or("localhost");
        let outcome = dispatch::dispatch(&self.0.store, memory, operation, &body, host);
        let error = match outcome.await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        if is_on_items && matches!(error.kind(), ErrorKind::Validation | ErrorKind::NotFound) {
            shape::validate(operation, &body)?;
        }
        Err(error)
    }

    /// Returns a response, compressed if the client accepts a coding.
    async fn compress(&self, headers: &HeaderMap, body: Bytes) -> EncodedBody {
        let Some(encoding) = content_coding::negotiate(headers, body.len()) else {
            return (StatusCode::OK, body, None);
        };
        let packed = if body.len() < OFFLOAD_BYTES {
            content_coding::compress(encoding, &body)
        } else {
            // The body is counted until the worker has compressed it.
            let work = async move { content_coding::compress(encoding, &body) };
            let packed = self.0.workers.run(work).await;
            packed.expect("compressing into a vector does not fail")
        };
        // It replaces a body that was admitted, and that was usually larger.
        (StatusCode::OK, self.0.load.reserved_body_over_limit(packed), Some(encoding))
    }

    /// Returns the response to a failed request. An error may show many items; if there is no memory
    /// for them, the request is throttled instead, because nothing was executed.
    fn failure(&self, error: &Error) -> Failure {
        let (status, body) = error_response::answer(error);
        match self.0.load.reserved_body(body) {
            Ok(body) => Failure { code: error.code(), status, body },
            Err(throttled) => {
                let (status, body) = error_response::answer(&throttled);
                Failure { code: throttled.code(), status, body: body.into() }
            }
        }
    }

    fn panicked(&self) -> Failure {
        self.failure(&Error::new(
            ErrorKind::Unexpected,
            "the server panicked; report this defect of tabla",
        ))
    }

    /// Serves `GET /` (health) and `GET /metrics`.
    fn answer_get(&self, parts: &Parts) -> Response<Bytes> {
        match parts.uri.path() {
            "/" => {
                let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
                plain(StatusCode::OK, format!("healthy: {}\n", host.unwrap_or("tabla")))
            }
            "/metrics" => {
                let connections = self.0.connections.load(Ordering::Relaxed);
                let text = self.0.metrics.text(self.0.load.requests(), connections);
                let mut response = plain(StatusCode::OK, text);
                let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
                response.headers_mut().insert(CONTENT_TYPE, kind);
                response
            }
            _ => plain(
                StatusCode::NOT_FOUND,
                "not found: this server has GET / and GET /metrics\n".to_owned(),
            ),
        }
    }
}

/// Whether an operation only reads, so that its response can still be throttled.
fn is_safe_to_retry(operation: Operation) -> bool {
    use Operation::*;
    matches!(operation, GetItem | BatchGetItem | TransactGetItems | Query | Scan | GetRecords)
}

/// Returns the HTTP response of an operation, with its checksum.
fn http_response(
    content_type: &'static str,
    (status, body, encoding): EncodedBody,
) -> Response<Bytes> {
    let checksum = crc32fast::hash(&body);
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CRC32, HeaderValue::from(checksum));
    if let Some(encoding) = encoding {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding.as_str()));
    }
    response
}

/// Returns the content type of a request if it is an accepted one.
fn content_type(headers: &HeaderMap) -> Option<&'static str> {
    let given = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let given = given.split(';').next().unwrap_or_default().trim();
    CONTENT_TYPES.into_iter().find(|known| known.eq_ignore_ascii_case(given))
}

fn operation(headers: &HeaderMap) -> Option<Operation> {
    Operation::from_target(headers.get(TARGET)?.to_str().ok()?)
}

fn unknown(message: impl Into<String>) -> Error {
    Error::unsupported(message).with_code(UNKNOWN_OPERATION)
}

/// Returns the response to a CORS preflight. Without an accepted origin it allows nothing.
fn preflight(headers: &HeaderMap, has_origin: bool) -> Response<Bytes> {
    let mut response = plain(StatusCode::OK, String::new());
    if has_origin {
        CORS.allow_preflight(headers, response.headers_mut());
    }
    response
}

fn plain(status: StatusCode, text: String) -> Response<Bytes> {
    let mut response = Response::new(Bytes::from(text));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tabla_conformance::fault::Operation as Called;
    use tabla_conformance::interleave::{CallHook, InterleavingStore};
    use tabla_core::ops::CreateTable;
    use tabla_core::{KeyType, MemoryStore};
    use tokio::sync::Semaphore;

    use super::*;

    /// A throttled request is sent again: if it had been committed, it would be executed twice.
    #[tokio::test]
    async fn throttled_request_writes_nothing() {
        let store = Arc::new(MemoryStore::new());
        let table = CreateTable::new("things").partition_key("pk", KeyType::S);
        store.create_table(table).await.unwrap();
        let config = ServerConfig::new().with_memory_bytes(100 << 10);
        let service = Service::with_config(store, config);
        let ask = async |operation: &str, body: Value| {
            let request = Request::post("/")
                .header(CONTENT_TYPE, CONTENT_TYPES[0])
                .header(TARGET, format!("DynamoDB_20120810.{operation}"))
                .body(Bytes::from(body.to_string()));
            service.call(request.unwrap()).await
        };
        let key = json!({ "pk": { "S": "a" } });
        let item = json!({ "pk": { "S": "a" }, "text": { "S": "x".repeat(90 << 10) } });
        ask("PutItem", json!({ "TableName": "things", "Item": item })).await;
        let get = json!({ "TableName": "things", "Key": key });
        let unread = ask("GetItem", get.clone()).await;
        assert_eq!(unread.status(), StatusCode::OK);

        let throttled = ask("GetItem", get.clone()).await;
        assert_eq!(throttled.status(), StatusCode::BAD_REQUEST);
        let update = json!({
            "TableName": "things",
            "Key": key,
            "UpdateExpression": "ADD n :one",
            "ExpressionAttributeValues": { ":one": { "N": "1" } },
            "ReturnValues": "ALL_NEW",
        });
        let written = ask("UpdateItem", update).await;
        assert_eq!(written.status(), StatusCode::OK, "a committed write is not throttled");
        // An item in an error counts as well. Its request may be throttled, because nothing was
        // executed.
        let refused = json!({
            "TableName": "things",
            "Item": { "pk": { "S": "a" } },
            "ConditionExpression": "attribute_not_exists(pk)",
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        });
        let throttled = ask("PutItem", refused.clone()).await;
        assert!(throttled.body().len() < 1000, "{throttled:?}");
        drop((unread, written));
        assert!(ask("PutItem", refused).await.body().len() > 90 << 10);
        assert_eq!(ask("GetItem", get).await.status(), StatusCode::OK);
    }

    /// A store holds the items of concurrent requests at the same time, such as those of one
    /// write group.
    #[tokio::test]
    async fn requests_wait_for_the_memory_of_the_items_that_they_read() {
        let gate = Arc::new(Semaphore::new(0));
        let begun = Arc::new(AtomicUsize::new(0));
        let hook: CallHook = {
            let (gate, begun) = (Arc::clone(&gate), Arc::clone(&begun));
            Arc::new(move |operation| {
                let (gate, begun) = (Arc::clone(&gate), Arc::clone(&begun));
                Box::pin(async move {
                    if operation == Called::BatchGet {
                        begun.fetch_add(1, Ordering::Relaxed);
                        gate.acquire().await.expect("the semaphore is open").forget();
                    }
                    Ok(())
                })
            })
        };
        let store = MemoryStore::new();
        let table = CreateTable::new("things").partition_key("pk", KeyType::S);
        store.create_table(table).await.unwrap();
        let store = Arc::new(InterleavingStore::new(store).with_hook(hook));
        // Half of it is for items: enough for two batches of the largest size.
        let config = ServerConfig::new().with_memory_bytes(64 << 20);
        let service = Service::with_config(store, config);
        let ask = |operation: &str, body: Value| {
            let request = Request::post("/")
                .header(CONTENT_TYPE, CONTENT_TYPES[0])
                .header(TARGET, format!("DynamoDB_20120810.{operation}"))
                .body(Bytes::from(body.to_string()));
            let service = service.clone();
            Box::pin(async move { service.call(request.unwrap()).await.status() }).fuse()
        };
        let key = |number: usize| json!({ "pk": { "S": number.to_string() } });
        let keys: Vec<Value> = (0..100).map(key).collect();
        let batch = json!({ "RequestItems": { "things": { "Keys": keys } } });
        let mut batches: Vec<_> = (0..4).map(|_| ask("BatchGetItem", batch.clone())).collect();
        for expected in [2, 3, 4, 4, 4] {
            for batch in &mut batches {
                // The store yields before and after each call.
                for _ in 0..3 {
                    let _ = futures::poll!(&mut *batch);
                }
            }
            assert_eq!(begun.load(Ordering::Relaxed), expected);
            gate.add_permits(1);
            let put = json!({ "TableName": "things", "Item": key(0) });
            assert_eq!(ask("PutItem", put).await, StatusCode::OK, "it reads no item");
        }
    }
}
