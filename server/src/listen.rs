//! Listener and connections: accepting, time-outs, reading bodies, shutdown. The protocol is in
//! [`service`](crate::service).

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

/// Limit on the head of a request, in bytes. A signature and a few headers take less than a tenth
/// of it.
const HEAD_BYTES: usize = 64 << 10;

/// Initial buffer for a body that arrives in parts, in bytes.
const BODY_BUFFER: usize = 32 << 10;

/// Pause after the system failed to accept a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Running server. Dropping it aborts all requests; [`Server::shutdown`] finishes them.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// Starts a server for a store, on a free port of the loopback address and on the current
/// Tokio runtime.
///
/// # Errors
/// No port can be bound.
pub async fn spawn(store: Arc<dyn Store>) -> Result<Server> {
    ServerConfig::new().spawn(store).await
}

pub(crate) async fn start(
    config: ServerConfig,
    store: impl Future<Output = Result<Arc<dyn Store>>>,
) -> Result<Server> {
    let refuse = |error: io::Error| {
        Error::config(format!(
            "cannot listen on {}: {error}; choose another address or port",
            config.listen
        ))
        .with_source(error)
    };
    let listener = TcpListener::bind(config.listen).await.map_err(refuse)?;
    let address = listener.local_addr().map_err(refuse)?;
    let service = Service::with_config(store.await?, config);
    let (stop, stopping) = watch::channel(false);
    let task = tokio::spawn(accept(listener, service, stopping));
    Ok(Server { address, stop, task })
}

impl Server {
    /// Address that the server listens on. If port 0 was configured, it has the port that the
    /// system has assigned.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// URL of the server, to use as the endpoint of clients.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops accepting connections, and waits until the in-flight requests are finished. A request
    /// whose body is still incomplete after [`ServerConfig::body_grace`] is refused. Requests that
    /// exceed [`ServerConfig::shutdown_timeout`] are aborted.
    pub async fn shutdown(mut self) {
        self.stop.send_replace(true);
        // A panic of the task has ended the server as well.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Accepts connections until shutdown, then waits for the open ones to finish.
async fn accept(listener: TcpListener, service: Service, mut stopping: watch::Receiver<bool>) {
    let connections = Connections::new(service.config().max_connections);
    let mut tasks = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = stopped(&mut stopping) => break,
            accepted = listener.accept() => accepted,
            // Removes finished tasks from the set.
            Some(_) = tasks.join_next() => continue,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Usually the limit of open files: other connections have to end first.
                tracing::warn!(
                    %error,
                    "cannot accept a connection, usually because of the limit of open files \
                     (ulimit -n); retrying in 50 ms"
                );
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
    if timeout(service.config().shutdown_timeout, all).await.is_err() {
        let limit = service.config().shutdown_timeout;
        tracing::warn!("shutdown: aborted the requests that did not finish within {limit:?}");
    }
}

/// Waits for shutdown.
async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // A dropped `Server` counts as shutdown.
    drop(stopping.wait_for(|stop| *stop).await);
}

/// Serves the requests of one connection.
async fn serve(
    stream: TcpStream,
    service: Service,
    mut stopping: watch::Receiver<bool>,
    place: Connection,
) {
    let _counted = service.connected();
    // A response is sent at once: waiting for more data would only delay it.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let config = service.config();
    let io = TokioIo::new(WriteTimeout::new(stream, config.write_timeout, place.handle()));
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(config.head_timeout)
        .max_buf_size(HEAD_BYTES);
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
        // A request that has arrived is served before shutdown is checked.
        biased;
        outcome = connection.as_mut() => outcome,
        () = place.closed() => {
            tracing::debug!("closed an idle connection to make room for a new one");
            return;
        }
        () = stopped(&mut stopping) => {
            // Without this, shutdown would wait for the rest of a first request's head.
            if !is_used.load(Ordering::Relaxed) {
                return;
            }
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(%error, "connection failed");
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
        // The connection is being closed for another one, which also drops this future.
        return std::future::pending().await;
    };
    let is_unread = body.is_err();
    let mut response = service.answer(&parts, body).await;
    drop(held);
    if is_unread {
        // The rest of the body would be read as the next request.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response.map(|body| ResponseBody::new(body, executing))
}

/// Reads the body of a request within its time-out. Returns it with its memory reservation.
async fn receive(
    service: &Service,
    headers: &HeaderMap,
    body: Incoming,
    mut stopping: watch::Receiver<bool>,
) -> Result<(Bytes, Option<Reservation>)> {
    let config = service.config();
    let read = timeout(config.body_timeout, read_body(service, headers, body));
    let grace_is_over = async {
        stopped(&mut stopping).await;
        SystemClock.sleep(config.body_grace).await;
    };
    tokio::select! {
        // The body has usually arrived already, so that the other futures are not polled.
        biased;
        read = read => read.unwrap_or_else(|_| {
            Err(late(&format!(
                "the body of the request did not arrive within {:?}; the request was not executed",
                config.body_timeout
            )))
        }),
        () = grace_is_over => Err(late(
            "the server is shutting down, and the body of the request is incomplete; the request \
             was not executed",
        )),
    }
}

/// Reads the body of a request up to the size limit, and reserves memory for it as it arrives.
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
            // Most bodies arrive as one piece, which is used without copying.
            held = Some(service.load().reserve(data.len())?);
            first = data;
            continue;
        }
        if whole.capacity() < length {
            // Memory is reserved before it is allocated. Beyond BODY_BUFFER it is at most twice
            // what has arrived, because a client may announce more than it sends.
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

/// Returns the error for a request that did not arrive in time. SDKs retry it.
fn late(message: &str) -> Error {
    Error::new(ErrorKind::Validation, message).with_code("RequestTimeoutException")
}
