//! Configuration of a server: credentials and limits of DynamoDB's protocol, and its listener.
//! Enforcement is elsewhere.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use tabla_core::{Result, Store};

use crate::auth::Credentials;
use crate::listener::{Authentication, ListenerConfig, Server, listener_setters};
use crate::service::Service;

/// Configuration of a server: its listener, access keys, and limits of DynamoDB's protocol.
///
/// The defaults suit a laptop and tests: a loopback address, no credentials, and limits that
/// ordinary clients do not reach.
///
/// The settings of the listener are fields of a [`ServerConfig`] as well, which dereferences to its
/// [`ListenerConfig`]: `config.max_connections` is `config.listener.max_connections`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServerConfig {
    /// Address, accepted hosts and origins, connection limit, time-outs, clock.
    pub listener: ListenerConfig,
    /// Access keys, with one of which every request must be signed (default: none). With `None`,
    /// signatures are not verified, and [`ListenerConfig::hosts`] and
    /// [`ListenerConfig::origins`] apply.
    pub credentials: Option<Arc<Credentials>>,
    /// Largest body of a request, in bytes, also after decompression (default: 16 MB). A larger one
    /// is refused with status 413.
    pub request_bytes: usize,
    /// Memory for requests and large responses in flight, in bytes (default: 256 MB). A request
    /// that would exceed it is throttled. The items that requests in flight read take at most half as
    /// much besides; a request waits for it.
    pub memory_bytes: usize,
    /// Limit on requests in flight (default: 1024). Requests beyond it are throttled.
    pub max_requests: usize,
    /// Time that tables spend in `CREATING`, `UPDATING` and `DELETING` (default: 0). With 0, the
    /// response to a change reports the state, as on DynamoDB, and the next request finds the
    /// change complete.
    pub table_delay: Duration,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            listener: ListenerConfig::new(),
            credentials: None,
            request_bytes: 16 << 20,
            memory_bytes: 256 << 20,
            max_requests: 1024,
            table_delay: Duration::ZERO,
        }
    }
}

impl Deref for ServerConfig {
    type Target = ListenerConfig;

    fn deref(&self) -> &ListenerConfig {
        &self.listener
    }
}

impl DerefMut for ServerConfig {
    fn deref_mut(&mut self) -> &mut ListenerConfig {
        &mut self.listener
    }
}

listener_setters!(ServerConfig, listener);

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

    /// Requires every request to be signed with one of these credentials.
    #[must_use]
    pub fn with_credentials(mut self, credentials: impl Into<Arc<Credentials>>) -> Self {
        self.credentials = Some(credentials.into());
        self
    }

    with_setters! {
        /// Sets all settings of the listener.
        with_listener: listener: ListenerConfig,
        /// Sets the largest body of a request, in bytes.
        with_request_bytes: request_bytes: usize,
        /// Sets the memory for requests and large responses in flight, in bytes.
        with_memory_bytes: memory_bytes: usize,
        /// Sets the limit on requests in flight.
        with_max_requests: max_requests: usize,
        /// Sets the time that tables spend in `CREATING`, `UPDATING` and `DELETING`.
        with_table_delay: table_delay: Duration,
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
        let listener = self.listener.clone().bind(self.authentication()).await?;
        Ok(listener.serve(Service::with_config(store.await?, self)))
    }

    pub(crate) fn authentication(&self) -> Authentication {
        match self.credentials {
            Some(_) => Authentication::Required,
            None => Authentication::None,
        }
    }
}

/// Starts a server for a store, on a free port of the loopback address and on the current
/// Tokio runtime.
///
/// # Errors
/// No port can be bound.
pub async fn spawn(store: Arc<dyn Store>) -> Result<Server> {
    ServerConfig::new().spawn(store).await
}
