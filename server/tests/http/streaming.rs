//! The listener with a protocol that streams its bodies.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Body, Frame};
use tabla_server::listener::{
    Authentication, BodyMode, ListenerConfig, Protocol, RequestBody, RequestBodyError,
    ResponseBody, Server,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use crate::client::Client;

/// Protocol of the tests, by the path of the request.
#[derive(Clone, Debug, Default)]
struct Streams(Arc<State>);

#[derive(Debug)]
struct State {
    held: Gauge,
    /// Permits that each request to `/held` adds.
    begun: Semaphore,
    /// Permits for `/held`, which responds when it gets one.
    go_on: Semaphore,
    /// Permits that a dropped body of `/endless` adds.
    dropped: Semaphore,
    connections: AtomicUsize,
}

impl Default for State {
    fn default() -> Self {
        Self {
            held: Gauge::default(),
            begun: Semaphore::new(0),
            go_on: Semaphore::new(0),
            dropped: Semaphore::new(0),
            connections: AtomicUsize::new(0),
        }
    }
}

impl Protocol for Streams {
    async fn respond(&self, request: Request<RequestBody>) -> Response<ResponseBody> {
        let path = request.uri().path().to_owned();
        let body = request.into_body();
        match path.as_str() {
            "/echo" => {
                let length = body.size_hint().exact().expect("the request has a Content-Length");
                let held = self.0.held.clone();
                let body = body.map_frame(move |frame| frame.map_data(|part| held.hold(part)));
                let mut response = Response::new(ResponseBody::streamed(body));
                response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
                response
            }
            "/length" => length(body).await,
            "/whole" => length(body).await,
            "/held" => {
                self.0.begun.add_permits(1);
                self.0.go_on.acquire().await.expect("the semaphore is never closed").forget();
                Response::new(ResponseBody::new("held"))
            }
            "/endless" => Response::new(ResponseBody::streamed(Endless(self.clone()))),
            "/broken" => {
                let parts: [Result<_, std::io::Error>; 2] = [
                    Ok(Frame::data(Bytes::from_static(b"part"))),
                    Err(std::io::Error::other("deliberate")),
                ];
                let parts = StreamBody::new(futures::stream::iter(parts));
                Response::new(ResponseBody::streamed(parts))
            }
            _ => refusal(StatusCode::FORBIDDEN, "refused unread"),
        }
    }

    fn body_mode(&self, head: &http::request::Parts) -> BodyMode {
        match head.uri.path() {
            "/whole" => BodyMode::Whole,
            _ => BodyMode::Streamed,
        }
    }

    fn connection_opened(&self) {
        self.0.connections.fetch_add(1, Ordering::SeqCst);
    }

    fn connection_closed(&self) {
        self.0.connections.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Reads a body and responds with its length.
async fn length(mut body: RequestBody) -> Response<ResponseBody> {
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => length += frame.data_ref().map_or(0, Bytes::len),
            Err(error @ (RequestBodyError::Stalled(_) | RequestBodyError::Late(_))) => {
                return refusal(StatusCode::REQUEST_TIMEOUT, error.to_string());
            }
            Err(error) => return refusal(StatusCode::BAD_REQUEST, error.to_string()),
        }
    }
    Response::new(ResponseBody::new(length.to_string()))
}

fn refusal(status: StatusCode, message: impl Into<Bytes>) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::new(message));
    *response.status_mut() = status;
    response
}

/// Number of bytes that are held in memory, and its maximum.
#[derive(Clone, Debug, Default)]
struct Gauge(Arc<[AtomicUsize; 2]>);

impl Gauge {
    /// Counts bytes until the last reference to them is dropped.
    fn hold(&self, bytes: Bytes) -> Bytes {
        let now = self.0[0].fetch_add(bytes.len(), Ordering::SeqCst) + bytes.len();
        self.0[1].fetch_max(now, Ordering::SeqCst);
        Bytes::from_owner(Held { bytes, gauge: self.clone() })
    }

    fn maximum(&self) -> usize {
        self.0[1].load(Ordering::SeqCst)
    }
}

struct Held {
    bytes: Bytes,
    gauge: Gauge,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.gauge.0[0].fetch_sub(self.bytes.len(), Ordering::SeqCst);
    }
}

/// Response that never ends, and reports when it is dropped.
struct Endless(Streams);

impl Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[7; 64 << 10])))))
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        self.0.0.dropped.add_permits(1);
    }
}

async fn start(config: ListenerConfig) -> (Server, Streams) {
    let protocol = Streams::default();
    let listener = config.bind(Authentication::None).await.expect("a port is free");
    let address = listener.address();
    let server = listener.serve(protocol.clone());
    assert_eq!(server.address(), address);
    (server, protocol)
}

fn head(path: &str, length: usize) -> String {
    format!("PUT {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n")
}

/// Returns a client that has sent the head and a part of a body, which the server has read.
async fn client_with_part_of_a_body(path: &str, length: usize, address: SocketAddr) -> Client {
    let mut client = Client::connect(address).await;
    let expecting = head(path, length).replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n");
    client.send(expecting).await;
    assert_eq!(client.receive().await.expect("the server responds").status, 100);
    client.send("x").await;
    client
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn body_of_64_mb_streams_through_little_memory() {
    const LENGTH: usize = 64 << 20;
    const PART: usize = 100_003;
    let (server, protocol) = start(ListenerConfig::new()).await;
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let (mut reader, mut writer) = stream.into_split();
    let byte = |at: usize| (at % 251) as u8;
    let sent = tokio::spawn(async move {
        writer.write_all(head("/echo", LENGTH).as_bytes()).await.unwrap();
        for start in (0..LENGTH).step_by(PART) {
            let part: Vec<u8> = (start..LENGTH.min(start + PART)).map(byte).collect();
            writer.write_all(&part).await.unwrap();
        }
        writer
    });
    let mut read = Vec::new();
    let end = loop {
        assert_ne!(reader.read_buf(&mut read).await.unwrap(), 0);
        if let Some(end) = read.windows(4).position(|part| part == b"\r\n\r\n") {
            break end;
        }
    };
    let text = String::from_utf8_lossy(&read[..end]).to_lowercase();
    assert!(text.starts_with("http/1.1 200 ok"), "{text}");
    assert!(text.contains(&format!("content-length: {LENGTH}")), "{text}");
    let mut received = 0;
    let mut rest = read.split_off(end + 4);
    loop {
        for (place, found) in rest.iter().enumerate() {
            assert_eq!(*found, byte(received + place), "byte {}", received + place);
        }
        received += rest.len();
        if received == LENGTH {
            break;
        }
        rest.clear();
        assert_ne!(reader.read_buf(&mut rest).await.unwrap(), 0);
    }
    drop(sent.await.unwrap());
    let maximum = protocol.0.held.maximum();
    assert!(maximum > 0 && maximum < 1 << 20, "{maximum} bytes were held");
}

#[tokio::test]
async fn body_without_length_streams_in_chunks() {
    let (server, _) = start(ListenerConfig::new()).await;
    let mut client = Client::connect(server.address()).await;
    client
        .send("PUT /length HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
        .await;
    client.send("5\r\ndefgh\r\n0\r\n\r\n").await;
    assert_eq!(client.receive().await.unwrap().body, b"8");
    client.send(head("/length", 3) + "abc").await;
    assert_eq!(client.receive().await.unwrap().body, b"3", "the connection stays open");
}

#[tokio::test]
async fn stalled_body_fails_after_the_idle_time_out() {
    let short = Duration::from_millis(50);
    let (server, _) = start(ListenerConfig::new().with_body_idle_timeout(short)).await;
    let mut client = client_with_part_of_a_body("/length", 10, server.address()).await;
    let answer = client.receive().await.unwrap();
    assert_eq!((answer.status, answer.header("connection")), (408, Some("close")));
    assert_eq!(answer.body, b"no part of the body of the request arrived for 50ms");
    assert!(client.receive().await.is_none());
}

#[tokio::test]
async fn response_ends_early_if_the_body_that_it_echoes_stalls() {
    let short = Duration::from_millis(50);
    let (server, _) = start(ListenerConfig::new().with_body_idle_timeout(short)).await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all((head("/echo", 10) + "part").as_bytes()).await.unwrap();
    let mut read = Vec::new();
    let _ = stream.read_to_end(&mut read).await;
    assert!(read.ends_with(b"\r\n\r\npart"), "{}", String::from_utf8_lossy(&read));
}

#[tokio::test]
async fn failed_response_body_closes_the_connection() {
    let (server, _) = start(ListenerConfig::new()).await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(head("/broken", 0).as_bytes()).await.unwrap();
    let mut read = Vec::new();
    let _ = stream.read_to_end(&mut read).await;
    let text = String::from_utf8_lossy(&read);
    assert!(!text.ends_with("0\r\n\r\n"), "the response is incomplete: {text}");
}

#[tokio::test]
async fn client_that_does_not_read_its_stream_is_disconnected() {
    let short = Duration::from_millis(50);
    let (server, protocol) = start(ListenerConfig::new().with_write_timeout(short)).await;
    let mut stream = TcpStream::connect(server.address()).await.unwrap();
    stream.write_all(head("/endless", 0).as_bytes()).await.unwrap();
    protocol.0.dropped.acquire().await.unwrap().forget();
}

#[tokio::test]
async fn client_that_expects_100_continue_gets_it_when_the_body_is_read() {
    let (server, _) = start(ListenerConfig::new()).await;
    let mut client = client_with_part_of_a_body("/length", 3, server.address()).await;
    client.send("yz").await;
    let answer = client.receive().await.unwrap();
    assert_eq!((answer.status, &*answer.body), (200, &b"3"[..]));

    let mut refused = Client::connect(server.address()).await;
    refused.send(head("/", 3).replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n")).await;
    let answer = refused.receive().await.unwrap();
    assert_eq!((answer.status, answer.header("connection")), (403, Some("close")));
    assert!(refused.receive().await.is_none());
}

#[tokio::test]
async fn shutdown_finishes_streams_in_flight() {
    let config = ListenerConfig::new().with_body_grace(Duration::from_secs(60));
    let (server, protocol) = start(config).await;
    let mut idle = Client::connect(server.address()).await;
    let mut upload = client_with_part_of_a_body("/length", 3, server.address()).await;
    let mut download = Client::connect(server.address()).await;
    download.send(head("/held", 0)).await;
    protocol.0.begun.acquire().await.unwrap().forget();
    let address = server.address();
    let stopped = tokio::spawn(server.shutdown());
    assert!(idle.receive().await.is_none(), "the shutdown has begun");
    assert!(TcpStream::connect(address).await.is_err(), "no new connection is accepted");
    upload.send("y").await;
    protocol.0.go_on.add_permits(1);
    assert_eq!(download.receive().await.unwrap().body, b"held");
    upload.send("z").await;
    let answer = upload.receive().await.unwrap();
    assert_eq!((&*answer.body, answer.header("connection")), (&b"3"[..], Some("close")));
    stopped.await.unwrap();
    assert_eq!(protocol.0.connections.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn stalled_stream_fails_at_shutdown_after_the_grace() {
    let config = ListenerConfig::new().with_body_grace(Duration::ZERO);
    let (server, _) = start(config).await;
    let mut upload = client_with_part_of_a_body("/length", 3, server.address()).await;
    server.shutdown().await;
    let answer = upload.receive().await.unwrap();
    assert_eq!(answer.status, 400);
    assert!(upload.receive().await.is_none());
}

#[tokio::test]
async fn stream_that_exceeds_the_shutdown_time_out_is_aborted() {
    let config = ListenerConfig::new().with_shutdown_timeout(Duration::from_millis(50));
    let (server, _) = start(config.with_body_grace(Duration::from_secs(60))).await;
    let mut upload = client_with_part_of_a_body("/length", 3, server.address()).await;
    server.shutdown().await;
    assert!(upload.receive().await.is_none());
}

#[tokio::test]
async fn new_connection_does_not_replace_one_that_streams() {
    let (server, protocol) = start(ListenerConfig::new().with_max_connections(2)).await;
    let mut upload = client_with_part_of_a_body("/length", 3, server.address()).await;
    let mut whole = client_with_part_of_a_body("/whole", 3, server.address()).await;
    let mut new = Client::connect(server.address()).await;
    new.send(head("/held", 0)).await;
    assert!(whole.receive().await.is_none(), "a body that is read whole is incomplete, so idle");
    // Both places are taken by requests that execute.
    let mut waiting = Client::connect(server.address()).await;
    waiting.send(head("/length", 0)).await;
    upload.send("yz").await;
    assert_eq!(upload.receive().await.unwrap().body, b"3");
    assert_eq!(waiting.receive().await.unwrap().body, b"0");
    assert!(upload.receive().await.is_none(), "it was idle after its response");
    protocol.0.go_on.add_permits(1);
    assert_eq!(new.receive().await.unwrap().body, b"held");
}
