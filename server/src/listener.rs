//! Listener for HTTP protocols: sockets, connections, time-outs, shutdown.
//!
//! ```
//! use http::{Request, Response};
//! use tabla_server::listener::{
//!     Authentication, ListenerConfig, Protocol, RequestBody, ResponseBody,
//! };
//!
//! /// Responds to each request with its body, of any length.
//! #[derive(Clone)]
//! struct Echo;
//!
//! impl Protocol for Echo {
//!     async fn respond(&self, request: Request<RequestBody>) -> Response<ResponseBody> {
//!         Response::new(ResponseBody::streamed(request.into_body()))
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> tabla_core::Result<()> {
//! let listener = ListenerConfig::new().bind(Authentication::None).await?;
//! let server = listener.serve(Echo);
//! println!("listens on {}", server.url());
//! server.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! - [`ListenerConfig::bind`] binds the address, and [`Listener::serve`] starts a [`Server`] for a
//!   [`Protocol`].
//! - A [`Protocol`] maps an HTTP request to an HTTP response. Both bodies may be streams, so that a
//!   request of any length needs little memory. [`Service`](crate::Service) is DynamoDB's protocol.
//! - [`HostPolicy`](crate::host_policy::HostPolicy) is the check of hosts and origins, which a
//!   protocol calls for each request.

mod body;
mod config;
mod connections;
mod linger;
mod write_timeout;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::header::CONNECTION;
use http::request::Parts;
use http::{HeaderValue, Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tabla_core::env::{Clock, SystemClock};
use tabla_core::{Error, Result};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

pub use self::body::{BodyMode, RequestBody, RequestBodyError, ResponseBody};
pub(crate) use self::config::listener_setters;
pub use self::config::{Authentication, ListenerConfig, check_host, check_origin};
use self::connections::{Connection, ConnectionState, Connections, ExecutingBody};
use self::linger::Linger;
use self::write_timeout::WriteTimeout;

/// Limit on the head of a request, in bytes. A signature and a few headers take less than a tenth
/// of it. It is also the limit on one part of a streamed body.
const HEAD_BYTES: usize = 64 << 10;

/// Pause after the system failed to accept a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// HTTP protocol, from request to response.
///
/// It is cloned for each request, so that a clone should be cheap, such as that of an [`Arc`].
pub trait Protocol: Clone + Send + Sync + 'static {
    /// Returns the response to a request, errors included.
    ///
    /// The future is dropped if the client closes the connection, if the shutdown takes too long,
    /// and, for a request in [`BodyMode::Whole`] with an incomplete body, if its connection is
    /// closed to make room for a new one. A panic closes the connection.
    fn respond(
        &self,
        request: Request<RequestBody>,
    ) -> impl Future<Output = Response<ResponseBody>> + Send;

    /// Returns how to receive the body of a request with this head. Default: streamed.
    fn body_mode(&self, head: &Parts) -> BodyMode {
        let _ = head;
        BodyMode::Streamed
    }

    /// Called when a connection is opened, for metrics.
    fn connection_opened(&self) {}

    /// Called once for each opened connection, when it is closed.
    fn connection_closed(&self) {}
}

/// Bound address, which accepts no connections until [`serve`](Self::serve).
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    config: ListenerConfig,
}

/// Running server. Dropping it aborts all requests; [`Server::shutdown`] finishes them.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl ListenerConfig {
    /// Binds the address for a protocol, which requires signatures or not.
    ///
    /// # Errors
    /// A configured host or origin is malformed; the address can be reached from other machines,
    /// and signatures are not required and [`insecure`](Self::insecure) is not set; or the address
    /// cannot be bound.
    pub async fn bind(self, authentication: Authentication) -> Result<Listener> {
        self.check(authentication)?;
        let refuse = |error: io::Error| {
            Error::config(format!(
                "cannot listen on {}: {error}; choose another address or port",
                self.listen
            ))
            .with_source(error)
        };
        let socket = TcpListener::bind(self.listen).await.map_err(refuse)?;
        let address = socket.local_addr().map_err(refuse)?;
        Ok(Listener { socket, address, config: self })
    }
}

impl Listener {
    /// Address that the server listens on. If port 0 was configured, it has the port that the
    /// system has assigned.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Starts to accept connections, on the current Tokio runtime.
    pub fn serve(self, protocol: impl Protocol) -> Server {
        let Self { socket, address, config } = self;
        let (stop, stopping) = watch::channel(false);
        let task = tokio::spawn(accept(socket, protocol, Arc::new(config), stopping));
        Server { address, stop, task }
    }
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

    /// Stops accepting connections, and waits until the in-flight requests are finished, with their
    /// streamed bodies. Bodies that do not arrive within [`ListenerConfig::body_grace`] fail.
    /// Requests that exceed [`ListenerConfig::shutdown_timeout`] are aborted.
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
async fn accept<P: Protocol>(
    socket: TcpListener,
    protocol: P,
    config: Arc<ListenerConfig>,
    mut stopping: watch::Receiver<bool>,
) {
    let connections = Connections::new(config.max_connections);
    let mut tasks = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = stopped(&mut stopping) => break,
            accepted = socket.accept() => accepted,
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
        let (protocol, config) = (protocol.clone(), Arc::clone(&config));
        tasks.spawn(serve(stream, protocol, config, stopping.clone(), connection));
    }
    drop(socket);
    let all = async { while tasks.join_next().await.is_some() {} };
    let limit = config.shutdown_timeout;
    if timeout(limit, all).await.is_err() {
        tracing::warn!("shutdown: aborted the requests that did not finish within {limit:?}");
    }
}

/// Waits for shutdown.
async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // A dropped `Server` counts as shutdown.
    drop(stopping.wait_for(|stop| *stop).await);
}

/// What the requests of a connection share.
struct ConnectionContext {
    config: Arc<ListenerConfig>,
    stopping: watch::Receiver<bool>,
    state: ConnectionState,
    /// Whether a request has arrived.
    is_used: AtomicBool,
}

/// Guard that reports an open connection to the protocol.
struct OpenConnection<P: Protocol>(P);

impl<P: Protocol> OpenConnection<P> {
    fn new(protocol: P) -> Self {
        protocol.connection_opened();
        Self(protocol)
    }
}

impl<P: Protocol> Drop for OpenConnection<P> {
    fn drop(&mut self) {
        self.0.connection_closed();
    }
}

/// Serves the requests of one connection.
async fn serve<P: Protocol>(
    stream: TcpStream,
    protocol: P,
    config: Arc<ListenerConfig>,
    mut stopping: watch::Receiver<bool>,
    place: Connection,
) {
    let _open = OpenConnection::new(protocol.clone());
    // A response is sent at once: waiting for more data would only delay it.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    let stream = WriteTimeout::new(stream, config.write_timeout, place.handle());
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(config.head_timeout)
        .max_buf_size(HEAD_BYTES);
    let context = Arc::new(ConnectionContext {
        config,
        stopping: stopping.clone(),
        state: place.handle(),
        is_used: AtomicBool::new(false),
    });
    let io = TokioIo::new(Linger::new(stream, Arc::clone(&context)));
    let shared = Arc::clone(&context);
    let respond = move |request| {
        shared.is_used.store(true, Ordering::Relaxed);
        let (protocol, context) = (protocol.clone(), Arc::clone(&shared));
        async move { Ok::<_, Infallible>(call_protocol(&protocol, request, context).await) }
    };
    let connection = builder.serve_connection(io, service_fn(respond));
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
            if !context.is_used.load(Ordering::Relaxed) {
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

/// Calls the protocol with a request, and keeps the connection open until the response is written.
async fn call_protocol(
    protocol: &impl Protocol,
    request: Request<Incoming>,
    context: Arc<ConnectionContext>,
) -> Response<ExecutingBody> {
    let (head, body) = request.into_parts();
    let mode = protocol.body_mode(&head);
    // A body that is read whole marks the connection as executing at its end.
    if mode == BodyMode::Streamed && !context.state.begin() {
        return being_closed().await;
    }
    let body = RequestBody::new(body, mode, Arc::clone(&context));
    let mut response = protocol.respond(Request::from_parts(head, body)).await;
    let Some(executing) = context.state.execute() else { return being_closed().await };
    if context.state.has_unread_body() {
        // The rest of the body would be read as the next request.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response.map(|body| ExecutingBody::new(body, executing))
}

/// Waits until the connection, which is being closed for another one, drops this future.
async fn being_closed<T>() -> T {
    std::future::pending().await
}
