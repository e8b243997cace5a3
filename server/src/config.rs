//! Configuration of a server: address, credentials, limits and time-outs. Enforcement is elsewhere.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tabla_core::env::Env;
use tabla_core::{Error, Result, Store};

use crate::auth::Credentials;
use crate::host_policy;
use crate::listen::{self, Server};

/// Configuration of a server: address, access keys, accepted hosts and origins, limits, time-outs.
///
/// The defaults suit a laptop and tests: a loopback address, no credentials, and limits that
/// ordinary clients do not reach.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerConfig {
    /// Address to listen on (default: 127.0.0.1, port 0). Port 0 means any free port.
    pub listen: SocketAddr,
    /// Access keys, with one of which every request must be signed (default: none). With `None`,
    /// signatures are not verified, and `hosts` and `origins` apply.
    pub credentials: Option<Arc<Credentials>>,
    /// Whether the server may listen beyond loopback without credentials (default: no).
    pub insecure: bool,
    /// Names of this server, without a port, such as `db.example` (default: none). Loopback
    /// addresses, `localhost` and the listen address need not be listed. Without credentials, a
    /// request whose `Host` is another name is refused with status 403. With credentials, every
    /// host is accepted.
    pub hosts: Vec<String>,
    /// Origins of web pages that may use the server, such as `https://app.example` (default: none).
    /// Origins on loopback need not be listed. Without credentials, a request from another `Origin`
    /// is refused with status 403. With credentials, every origin is allowed, as on AWS.
    pub origins: Vec<String>,
    /// Largest body of a request, in bytes, also after decompression (default: 16 MB). A larger one
    /// is refused with status 413.
    pub request_bytes: usize,
    /// Memory for requests and large responses in flight, in bytes (default: 256 MB). A request
    /// that would exceed it is throttled.
    pub memory_bytes: usize,
    /// Limit on requests in flight (default: 1024). Requests beyond it are throttled.
    pub max_requests: usize,
    /// Limit on open connections (default: 4096). At the limit, a new connection replaces the one
    /// that has been idle longest, or waits while all execute requests. Each connection is an open
    /// file. The process's limit of open files must also allow for one more connection, and for the
    /// files of the store.
    pub max_connections: usize,
    /// Time-out for the head of a request, and so for an idle connection (default: 60 s). After it,
    /// the connection is closed.
    pub head_timeout: Duration,
    /// Time-out for the body of a request (default: 60 s). After it, the request is refused with
    /// `RequestTimeoutException` and not executed.
    pub body_timeout: Duration,
    /// Time for which a client may leave a response unread (default: 30 s). After it, the
    /// connection is closed.
    pub write_timeout: Duration,
    /// Time for in-flight requests to finish at shutdown (default: 30 s). After it, they
    /// are aborted.
    pub shutdown_timeout: Duration,
    /// Time for incomplete bodies to arrive at shutdown (default: 1 s). A request whose body is
    /// still incomplete then is not executed.
    pub body_grace: Duration,
    /// Time that tables spend in `CREATING`, `UPDATING` and `DELETING` (default: 0). With 0, the
    /// response to a change reports the state, as on DynamoDB, and the next request finds the
    /// change complete.
    pub table_delay: Duration,
    /// Clock for signatures, and randomness for request ids.
    pub env: Env,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            credentials: None,
            insecure: false,
            hosts: Vec::new(),
            origins: Vec::new(),
            request_bytes: 16 << 20,
            memory_bytes: 256 << 20,
            max_requests: 1024,
            max_connections: 4096,
            head_timeout: Duration::from_secs(60),
            body_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(30),
            // Enough for a body in transit on a slow connection, and short for a client that has
            // stopped sending.
            body_grace: Duration::from_secs(1),
            table_delay: Duration::ZERO,
            env: Env::system(),
        }
    }
}

/// Defines methods that set one field each.
macro_rules! with_setters {
    ($($(#[$doc:meta])* $name:ident: $field:ident: $kind:ty),+ $(,)?) => {
        $(
            $(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $field: $kind) -> Self {
                self.$field = $field;
                self
            }
        )+
    };
}

impl ServerConfig {
    /// Returns the default configuration: a free port of the loopback address, no credentials.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the address to listen on. Port 0 means any free port.
    #[must_use]
    pub fn with_listen(mut self, address: SocketAddr) -> Self {
        self.listen = address;
        self
    }

    /// Requires every request to be signed with one of these credentials.
    #[must_use]
    pub fn with_credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = Some(Arc::new(credentials));
        self
    }

    /// Allows the server to listen beyond loopback without credentials: anyone who reaches it can
    /// read and write the store.
    #[must_use]
    pub fn with_insecure(mut self) -> Self {
        self.insecure = true;
        self
    }

    /// Adds a name of this server to [`hosts`](Self::hosts).
    #[must_use]
    pub fn with_host(mut self, name: impl Into<String>) -> Self {
        self.hosts.push(name.into());
        self
    }

    /// Adds an origin to [`origins`](Self::origins).
    #[must_use]
    pub fn with_origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }

    with_setters! {
        /// Sets the largest body of a request, in bytes.
        with_request_bytes: request_bytes: usize,
        /// Sets the memory for requests and large responses in flight, in bytes.
        with_memory_bytes: memory_bytes: usize,
        /// Sets the limit on requests in flight.
        with_max_requests: max_requests: usize,
        /// Sets the limit on open connections.
        with_max_connections: max_connections: usize,
        /// Sets the time-out for the head of a request.
        with_head_timeout: head_timeout: Duration,
        /// Sets the time-out for the body of a request.
        with_body_timeout: body_timeout: Duration,
        /// Sets the time for which a client may leave a response unread.
        with_write_timeout: write_timeout: Duration,
        /// Sets the time for in-flight requests to finish at shutdown.
        with_shutdown_timeout: shutdown_timeout: Duration,
        /// Sets the time for incomplete bodies to arrive at shutdown.
        with_body_grace: body_grace: Duration,
        /// Sets the time that tables spend in `CREATING`, `UPDATING` and `DELETING`.
        with_table_delay: table_delay: Duration,
        /// Sets the clock for signatures, and the randomness for request ids.
        with_env: env: Env,
    }

    /// Starts the server on the current Tokio runtime.
    ///
    /// # Errors
    /// A configured host or origin is malformed; the address can be reached from other machines,
    /// and neither credentials nor [`with_insecure`](Self::with_insecure) are set; or the address
    /// cannot be bound.
    pub async fn spawn(self, store: Arc<dyn Store>) -> Result<Server> {
        self.spawn_with(async { Ok(store) }).await
    }

    /// Binds the address, awaits the store, and starts the server. If the address is in use, the
    /// store is not opened, and so no new file is created.
    ///
    /// # Errors
    /// Those of [`spawn`](Self::spawn), and those of the store.
    pub async fn spawn_with(
        self,
        store: impl Future<Output = Result<Arc<dyn Store>>>,
    ) -> Result<Server> {
        self.check()?;
        listen::start(self, store).await
    }

    fn check(&self) -> Result<()> {
        for host in &self.hosts {
            check_host(host)?;
        }
        for origin in &self.origins {
            check_origin(origin)?;
        }
        if self.listen.ip().is_loopback() || self.credentials.is_some() || self.insecure {
            return Ok(());
        }
        Err(Error::config(format!(
            "{} can be reached from other machines, and anyone could read and write the store: \
             require credentials, listen on 127.0.0.1, or allow it with \
             ServerConfig::with_insecure",
            self.listen
        )))
    }
}

/// Validates a name for [`ServerConfig::hosts`].
///
/// # Errors
/// The name is not a host name or IP address, or it has a port.
pub fn check_host(name: &str) -> Result<()> {
    let is_bare = !name.contains(':') || name.ends_with(']');
    if is_bare && host_policy::canonical_host(name).is_some() {
        return Ok(());
    }
    Err(Error::config(format!(
        "'{name}' is not a host: give a name or an address without a port, for example db.example \
         or [2001:db8::1]"
    )))
}

/// Validates an origin for [`ServerConfig::origins`].
///
/// # Errors
/// The text is not of the form `scheme://host:port`. `*` and `null` are refused, because the pages
/// of every site can have them.
pub fn check_origin(origin: &str) -> Result<()> {
    if host_policy::canonical_origin(origin).is_some() {
        return Ok(());
    }
    Err(Error::config(format!(
        "'{origin}' is not an origin: give one of the form https://app.example or \
         http://app.example:3000"
    )))
}
