//! DynamoDB's wire protocol over any [`Store`](tabla_core::Store).
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> tabla_core::Result<()> {
//! use std::sync::Arc;
//! use tabla_core::MemoryStore;
//!
//! let server = tabla_server::spawn(Arc::new(MemoryStore::new())).await?;
//! println!("endpoint for any AWS SDK: {}", server.url());
//! server.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! - [`spawn`] starts a server on a free port of the loopback address. [`ServerConfig`] sets the
//!   address, the access keys, the accepted hosts and origins, and the limits.
//! - Without credentials, the server accepts requests only from programs and pages of this machine:
//!   see [`ListenerConfig::hosts`](listener::ListenerConfig::hosts) and
//!   [`ListenerConfig::origins`](listener::ListenerConfig::origins).
//! - [`Service`] is the protocol without sockets: it maps one HTTP request to one HTTP response.
//! - [`listener`] serves other HTTP protocols, with the limits, time-outs and shutdown of this one.
//! - The feature `sdk` adds `sdk_client`: a client of the AWS SDK whose HTTP layer is the service.
//!   Code that uses the SDK can run its tests on any store, unchanged and without a socket.
//!
//! The semantics of requests are in `tabla-core`. This crate parses a request, calls the store, and
//! writes the response.

mod admission;
mod auth;
mod config;
mod content_coding;
mod dispatch;
mod error_response;
pub mod host_policy;
mod lifecycle;
pub mod listener;
mod metrics;
mod operation;
mod receive;
mod request;
mod response;
#[cfg(feature = "sdk")]
mod sdk;
mod service;
mod shape;
mod table_delay;
mod workers;
mod working_memory;

pub use auth::{AccessKey, Credentials};
pub use config::{ServerConfig, spawn};
pub use listener::{Server, check_host, check_origin};
pub use operation::Operation;
#[cfg(feature = "sdk")]
pub use sdk::{sdk_client, sdk_config, sdk_streams_client};
pub use service::Service;

/// Runs the example of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Runs the Rust example of the guide as a test.
#[cfg(all(doctest, feature = "sdk"))]
#[doc = include_str!("../../docs/serve.md")]
struct Guide;
