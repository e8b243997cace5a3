//! Configuration of a listener: address, accepted hosts and origins, limits, time-outs.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tabla_core::env::Env;
use tabla_core::{Error, Result};

use crate::host_policy;

/// Configuration of a listener: address, accepted hosts and origins, connection limit, time-outs.
///
/// The defaults suit a laptop and tests: a free port of the loopback address, and limits that
/// ordinary clients do not reach.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListenerConfig {
    /// Address to listen on (default: 127.0.0.1, port 0). Port 0 means any free port.
    pub listen: SocketAddr,
    /// Whether a server that does not require signatures may listen beyond loopback (default: no).
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
    /// Limit on open connections (default: 4096). At the limit, a new connection replaces the one
    /// that has been idle longest, or waits while all execute requests. Each connection is an open
    /// file. The process's limit of open files must also allow for one more connection, and for the
    /// files of the store.
    pub max_connections: usize,
    /// Time-out for the head of a request, and so for an idle connection (default: 60 s). After it,
    /// the connection is closed.
    pub head_timeout: Duration,
    /// Time-out for a body that is read whole ([`BodyMode::Whole`](super::BodyMode::Whole)), from
    /// its first to its last byte (default: 60 s). A DynamoDB request that exceeds it is refused
    /// with `RequestTimeoutException` and not executed.
    pub body_timeout: Duration,
    /// Time for which a client may send no part of a streamed body
    /// ([`BodyMode::Streamed`](super::BodyMode::Streamed)) that the server waits for (default:
    /// 30 s). After it, reading the body fails. DynamoDB requests have no streamed bodies.
    pub body_idle_timeout: Duration,
    /// Time for which a client may leave a response unread (default: 30 s). After it, the
    /// connection is closed.
    pub write_timeout: Duration,
    /// Time for in-flight requests to finish at shutdown (default: 30 s). After it, they
    /// are aborted.
    pub shutdown_timeout: Duration,
    /// Time for incomplete bodies to arrive at shutdown (default: 1 s). A body that is read whole
    /// must be complete within it; a DynamoDB request whose body is still incomplete is refused
    /// and not executed. A streamed body fails after this time without a part: one that keeps
    /// arriving has until the end of `shutdown_timeout`.
    pub body_grace: Duration,
    /// Clock for signatures, and randomness for request ids. Time-outs of sockets are measured by
    /// the system's clock.
    pub env: Env,
}

impl Default for ListenerConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            insecure: false,
            hosts: Vec::new(),
            origins: Vec::new(),
            max_connections: 4096,
            head_timeout: Duration::from_secs(60),
            body_timeout: Duration::from_secs(60),
            body_idle_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(30),
            // Enough for a body in transit on a slow connection, and short for a client that has
            // stopped sending.
            body_grace: Duration::from_secs(1),
            env: Env::system(),
        }
    }
}

/// Defines the setters of a listener's configuration, for [`ListenerConfig`] itself or for a
/// configuration that contains one in a field.
macro_rules! listener_setters {
    ($config:ident $(, $field:ident)?) => {
        impl $config {
            /// Sets the address to listen on. Port 0 means any free port.
            #[must_use]
            pub fn with_listen(mut self, address: std::net::SocketAddr) -> Self {
                self$(.$field)?.listen = address;
                self
            }

            /// Allows the server to listen beyond loopback without credentials: anyone who reaches
            /// it can read and write its data.
            #[must_use]
            pub fn with_insecure(mut self) -> Self {
                self$(.$field)?.insecure = true;
                self
            }

            /// Adds a name of this server to
            /// [`ListenerConfig::hosts`](crate::listener::ListenerConfig::hosts).
            #[must_use]
            pub fn with_host(mut self, name: impl Into<String>) -> Self {
                self$(.$field)?.hosts.push(name.into());
                self
            }

            /// Adds an origin to
            /// [`ListenerConfig::origins`](crate::listener::ListenerConfig::origins).
            #[must_use]
            pub fn with_origin(mut self, origin: impl Into<String>) -> Self {
                self$(.$field)?.origins.push(origin.into());
                self
            }

            /// Sets the limit on open connections.
            #[must_use]
            pub fn with_max_connections(mut self, max_connections: usize) -> Self {
                self$(.$field)?.max_connections = max_connections;
                self
            }

            /// Sets the time-out for the head of a request.
            #[must_use]
            pub fn with_head_timeout(mut self, head_timeout: std::time::Duration) -> Self {
                self$(.$field)?.head_timeout = head_timeout;
                self
            }

            /// Sets the time-out for a body that is read whole.
            #[must_use]
            pub fn with_body_timeout(mut self, body_timeout: std::time::Duration) -> Self {
                self$(.$field)?.body_timeout = body_timeout;
                self
            }

            /// Sets the time for which a client may send no part of a streamed body.
            #[must_use]
            pub fn with_body_idle_timeout(mut self, timeout: std::time::Duration) -> Self {
                self$(.$field)?.body_idle_timeout = timeout;
                self
            }

            /// Sets the time for which a client may leave a response unread.
            #[must_use]
            pub fn with_write_timeout(mut self, write_timeout: std::time::Duration) -> Self {
                self$(.$field)?.write_timeout = write_timeout;
                self
            }

            /// Sets the time for in-flight requests to finish at shutdown.
            #[must_use]
            pub fn with_shutdown_timeout(mut self, timeout: std::time::Duration) -> Self {
                self$(.$field)?.shutdown_timeout = timeout;
                self
            }

            /// Sets the time for incomplete bodies to arrive at shutdown.
            #[must_use]
            pub fn with_body_grace(mut self, body_grace: std::time::Duration) -> Self {
                self$(.$field)?.body_grace = body_grace;
                self
            }

            /// Sets the clock for signatures, and the randomness for request ids.
            #[must_use]
            pub fn with_env(mut self, env: tabla_core::env::Env) -> Self {
                self$(.$field)?.env = env;
                self
            }
        }
    };
}

pub(crate) use listener_setters;

listener_setters!(ListenerConfig);

/// Whether a protocol verifies the signature of every request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authentication {
    /// It does. Clients of every host, origin and machine are accepted: a web page cannot sign a
    /// request without a key.
    Required,
    /// It does not. The server accepts the hosts and origins of its configuration, and listens
    /// beyond loopback only if [`ListenerConfig::insecure`] is set.
    None,
}

impl ListenerConfig {
    /// Returns the default configuration: a free port of the loopback address.
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks hosts, origins and the address.
    pub(super) fn check(&self, authentication: Authentication) -> Result<()> {
        for host in &self.hosts {
            check_host(host)?;
        }
        for origin in &self.origins {
            check_origin(origin)?;
        }
        let is_signed = authentication == Authentication::Required;
        if self.listen.ip().is_loopback() || is_signed || self.insecure {
            return Ok(());
        }
        Err(Error::config(format!(
            "cannot listen on {}: it can be reached from other machines, and anyone could read and \
             write the data; require credentials, listen on 127.0.0.1, or allow it with \
             ListenerConfig::insecure",
            self.listen
        )))
    }
}

/// Validates a name for [`ListenerConfig::hosts`].
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

/// Validates an origin for [`ListenerConfig::origins`].
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
