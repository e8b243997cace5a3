//! Sockets: who is let in, how long they may take, and how it ends.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{CONNECTION, CONTENT_LENGTH};
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tabla_core::env::{Clock, SystemClock};
use tabla_core::{Error, ErrorKind, Result, Store};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use crate::admission::Reservation;
use crate::config::ServerConfig;
use crate::connections::{Connection, ConnectionState, Connections, ResponseBody};
use crate::content_coding::too_large;
use crate::request::SERIALIZATION;
use crate::service::Service;
use crate::write_timeout::WriteTimeout;

/// The longest head of a request. A signature and a few headers take less than a tenth of it.
const HEAD_BYTES: usize = 64 << 10;

/// The room for a body that comes in parts, at first.
const BODY_BUFFER: usize = 32 << 10;

/// How long to wait after the system would not give a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A server that is running. It stops at once when it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// Starts a server for this store on a free port of the loopback address.
///
/// # Errors
/// There is no such port.
pub async fn spawn(store: Arc<dyn Store>) -> Result<Server> {
    ServerConfig::new().spawn(store).await
}

pub(crate) async fn start(
    config: ServerConfig,
    store: impl Future<Output = Result<Arc<dyn Store>>>,
) -> Result<Server> {
    let refuse = |error: io::Error| {
        Error::config(format!("cannot listen on {}: {error}", config.listen)).with_source(error)
    };
    let listener = TcpListener::bind(config.listen).await.map_err(refuse)?;
    let address = listener.local_addr().map_err(refuse)?;
    let service = Service::with_config(store.await?, config);
    let (stop, stopping) = watch::channel(false);
    let task = tokio::spawn(accept(listener, service, stopping));
    Ok(Server { address, stop, task })
}

impl Server {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it listens, as clients are told.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers what was taken, and ends.
    pub async fn shutdown(mut self) {
        self.stop.send_replace(true);
        // It has ended either way if it panicked.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Takes connections until the server is stopped, then waits for those that it has.
async fn accept(listener: TcpListener, service: Service, mut stopping: watch::Receiver<bool>) {
    let connections = Connections::new(service.config().connections);
    let mut tasks = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = stopped(&mut stopping) => break,
            accepted = listener.accept() => accepted,
            // Those that have ended are forgotten.
            Some(_) = tasks.join_next() => continue,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Mostly too many open files: others have to end first.
                tracing::warn!(%error, "a connection could not be taken");
                SystemClock.sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let connection = tokio::select! {
            () = stopped(&mut stopping) => break,
            connection = connections.acquire() => connection,
        };
        tasks.spawn(serve(stream, service.clone(), stopping.clone(), connection));
    }
    drop(listener);
    let all = async { while tasks.join_next().await.is_some() {} };
    if timeout(service.config().stop_time, all).await.is_err() {
        tracing::warn!("requests were left unanswered: they took too long");
    }
}

/// Waits until the server is stopped.
async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // A server that is gone has stopped, too.
    drop(stopping.wait_for(|stop| *stop).await);
}

/// Answers the requests of one connection.
async fn serve(
    stream: TcpStream,
    service: Service,
    mut stopping: watch::Receiver<bool>,
    place: Connection,
) {
    let _counted = service.connected();
    // An answer is written at once; waiting for more to send would only delay it.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let config = service.config();
    let io = TokioIo::new(WriteTimeout::new(stream, config.stall_time, place.handle()));
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(config.head_time).max_buf_size(HEAD_BYTES);
    let answering = service.clone();
    let is_used = Arc::new(AtomicBool::new(false));
    let used = Arc::clone(&is_used);
    let ending = stopping.clone();
    let handle = place.handle();
    let connection = builder.serve_connection(
        io,
        service_fn(move |request| {
            used.store(true, Ordering::Relaxed);
            let (service, stopping, handle) = (answering.clone(), ending.clone(), handle.clone());
            async move { Ok::<_, Infallible>(answer(&service, request, stopping, &handle).await) }
        }),
    );
    tokio::pin!(connection);
    let outcome = tokio::select! {
        // A request that has come is taken before the end is looked for.
        biased;
        outcome = connection.as_mut() => outcome,
        () = place.closed() => {
            tracing::debug!("an idle connection gave way to a new one");
            return;
        }
        () = stopped(&mut stopping) => {
            // The rest of a first request's head would be waited for.
            if !is_used.load(Ordering::Relaxed) {
                return;
            }
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(%error, "a connection ended");
    }
}

async fn answer(
    service: &Service,
    request: Request<Incoming>,
    stopping: watch::Receiver<bool>,
    connection: &ConnectionState,
) -> Response<ResponseBody> {
    let (parts, body) = request.into_parts();
    let (body, held) = match receive(service, &parts.headers, body, stopping).await {
        Ok((body, held)) => (Ok(body), held),
        Err(error) => (Err(error), None),
    };
    let Some(executing) = connection.execute() else {
        // The connection gives way to another, and this ends with it.
        return std::future::pending().await;
    };
    let is_unread = body.is_err();
    let mut response = service.answer(&parts, body).await;
    drop(held);
    if is_unread {
        // The rest of the body would be taken for the next request.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response.map(|body| ResponseBody::new(body, executing))
}

/// The body of a request, and the room that it takes, if it comes in time.
async fn receive(
    service: &Service,
    headers: &HeaderMap,
    body: Incoming,
    mut stopping: watch::Receiver<bool>,
) -> Result<(Bytes, Option<Reservation>)> {
    let config = service.config();
    let read = timeout(config.body_time, read_body(service, headers, body));
    let grace_is_over = async {
        stopped(&mut stopping).await;
        SystemClock.sleep(config.grace_time).await;
    };
    tokio::select! {
        // Mostly the body is there already, and nothing else is looked at.
        biased;
        read = read => read.unwrap_or_else(|_| {
            Err(late("the body of the request took too long to arrive"))
        }),
        // The client is told, so that it knows that nothing was done.
        () = grace_is_over => Err(late("the server ends before the body of the request has arrived")),
    }
}

/// The body of a request, and the room that it takes.
async fn read_body(
    service: &Service,
    headers: &HeaderMap,
    mut body: Incoming,
) -> Result<(Bytes, Option<Reservation>)> {
    let limit = service.config().request_bytes;
    let announced =
        headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: usize| length > limit) {
        return Err(too_large(limit));
    }
    let mut held: Option<Reservation> = None;
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
        if data.is_empty() {
            continue;
        }
        let length = first.len().max(whole.len()) + data.len();
        if length > limit {
            return Err(too_large(limit));
        }
        if first.is_empty() && whole.is_empty() {
            // Most bodies are one piece, which is taken as it is.
            held = Some(service.load().reserve(data.len())?);
            first = data;
            continue;
        }
        if whole.capacity() < length {
            // Room is counted before it is made. It is twice what has come, at most: what is
            // announced may not come.
            let room =
                announced.unwrap_or(limit).clamp(length, BODY_BUFFER.max(2 * length)).min(limit);
            let more = room - whole.capacity();
            let hold = service.load().reserve(more)?;
            whole.reserve(room - whole.len());
            match &mut held {
                Some(held) => held.merge(hold),
                None => held = Some(hold),
            }
        }
        whole.extend_from_slice(&std::mem::take(&mut first));
        whole.extend_from_slice(&data);
    }
    let body = if whole.is_empty() { first } else { whole.freeze() };
    Ok((body, held))
}

fn broken(error: hyper::Error) -> Error {
    Error::validation(format!("the body of the request ended early: {error}"))
        .with_code(SERIALIZATION)
}

/// SDKs send the request again.
fn late(message: &str) -> Error {
    Error::new(ErrorKind::Validation, message).with_code("RequestTimeoutException")
}
