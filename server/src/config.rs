//! What a server is told before it starts.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tabla_core::env::Env;
use tabla_core::{Error, Result, Store};

use crate::auth::Credentials;
use crate::host_policy;
use crate::listen::{self, Server};

/// Where a server listens, who may come, and how much it takes at once.
///
/// The defaults suit a laptop and a test: loopback, any credentials, and limits that a program which
/// means well does not meet.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerConfig {
    /// Where it listens; port 0 is any free one.
    pub listen: SocketAddr,
    /// Whose signatures are good. Without them, nobody's are looked at.
    pub credentials: Option<Arc<Credentials>>,
    /// Whether it may listen beyond this machine without looking at signatures.
    pub insecure: bool,
    /// Names of this server besides loopback addresses, `localhost` and the address that it listens
    /// on, without a port: `db.example`. Without keys, a request to another host (`Host`) is
    /// refused with status 403.
    pub hosts: Vec<String>,
    /// Origins whose pages may use the server from a browser, besides those on loopback:
    /// `https://app.example`. Without keys, a request of another origin (`Origin`) is refused with
    /// status 403. With keys, every origin is allowed, as on AWS.
    pub origins: Vec<String>,
    /// How many bytes a request may have, after decompression too.
    pub request_bytes: usize,
    /// How many bytes of requests and large answers are held at once; a request that would take more
    /// is throttled.
    pub held_bytes: usize,
    /// How many requests are worked on at once; one more is throttled.
    pub requests: usize,
    /// How many connections there are at once; one more takes the place of the longest idle one, and
    /// waits while all of them execute requests. Each is an open file of the process, which must be
    /// allowed one more than that, and those of its store.
    pub connections: usize,
    /// How long the head of a request may take, and so how long a connection may idle.
    pub head_time: Duration,
    /// How long the body of a request may take.
    pub body_time: Duration,
    /// How long a client may leave an answer unread.
    pub stall_time: Duration,
    /// How long requests that were taken have to be answered when the server is stopped.
    pub stop_time: Duration,
    /// How long the rest of a body may take when the server is stopped: a request of which a part is
    /// missing was not taken.
    pub grace_time: Duration,
    /// How long tables are `CREATING`, `UPDATING` and `DELETING`. Unless told, only the answer to the
    /// request says so, as the service's does, and the next one finds the work done.
    pub transition: Duration,
    /// The clock by which signatures are judged, and the randomness of request ids.
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
            held_bytes: 256 << 20,
            requests: 1024,
            connections: 4096,
            head_time: Duration::from_secs(60),
            body_time: Duration::from_secs(60),
            stall_time: Duration::from_secs(30),
            stop_time: Duration::from_secs(30),
            // Enough for what is on its way, over a slow line too, and not long for whoever waits for
            // the end because of a client that has stopped sending.
            grace_time: Duration::from_secs(1),
            transition: Duration::ZERO,
            env: Env::system(),
        }
    }
}

/// Methods that set one field each.
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
    /// The defaults: a free port of the loopback address.
    pub fn new() -> Self {
        Self::default()
    }

    /// Listens here.
    #[must_use]
    pub fn with_listen(mut self, address: SocketAddr) -> Self {
        self.listen = address;
        self
    }

    /// Takes only what these keys have signed.
    #[must_use]
    pub fn with_credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = Some(Arc::new(credentials));
        self
    }

    /// May listen beyond this machine although it takes anybody's requests.
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
        /// With this limit on the bytes of a request.
        with_request_bytes: request_bytes: usize,
        /// With this limit on the bytes of requests and large answers that are held at once.
        with_held_bytes: held_bytes: usize,
        /// With this limit on requests in flight.
        with_requests: requests: usize,
        /// With this limit on connections.
        with_connections: connections: usize,
        /// With this time-out for the head of a request.
        with_head_time: head_time: Duration,
        /// With this time-out for the body of a request.
        with_body_time: body_time: Duration,
        /// With this time-out for a client that leaves an answer unread.
        with_stall_time: stall_time: Duration,
        /// With this time for in-flight requests at shutdown.
        with_stop_time: stop_time: Duration,
        /// With this time for bodies that are incomplete at shutdown.
        with_grace_time: grace_time: Duration,
        /// With tables that are `CREATING`, `UPDATING` and `DELETING` for this time.
        with_transition: transition: Duration,
        /// With this clock and this randomness.
        with_env: env: Env,
    }

    /// Starts the server.
    ///
    /// # Errors
    /// The address is taken or not this machine's, or it is open to other machines although nobody
    /// looks at signatures; or a listed host or origin is malformed.
    pub async fn spawn(self, store: Arc<dyn Store>) -> Result<Server> {
        self.spawn_with(async { Ok(store) }).await
    }

    /// Starts the server, and opens the store once the address is its own: where it cannot listen,
    /// no new file is left behind.
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
            "{} can be reached from other machines, and anybody could read and write the store: \
             name the keys that may sign requests, listen on 127.0.0.1, or say that it is meant to \
             be insecure",
            self.listen
        )))
    }
}

/// Checks a name for [`ServerConfig::hosts`].
///
/// # Errors
/// It is not a host name or address, or it has a port.
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

/// Checks an origin for [`ServerConfig::origins`].
///
/// # Errors
/// It is not of the form `scheme://host:port`. `*` and `null` are refused, because the pages of
/// every site can have them.
pub fn check_origin(origin: &str) -> Result<()> {
    if host_policy::canonical_origin(origin).is_some() {
        return Ok(());
    }
    Err(Error::config(format!(
        "'{origin}' is not an origin: give one of the form https://app.example or \
         http://app.example:3000"
    )))
}
