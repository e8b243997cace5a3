//! DynamoDB's wire protocol over any [`Store`](tabla_core::Store).
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> tabla_core::Result<()> {
//! use std::sync::Arc;
//! use tabla_core::MemoryStore;
//!
//! let server = tabla_server::spawn(Arc::new(MemoryStore::new())).await?;
//! println!("any AWS SDK may be pointed at {}", server.url());
//! server.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! - [`spawn`] listens on a free port of the loopback address; [`ServerConfig`] says where else, who
//!   may come, and how much is taken at once.
//! - Without keys it answers only programs and pages of this machine: see [`ServerConfig::hosts`] and
//!   [`ServerConfig::origins`].
//! - [`Service`] is the protocol without sockets: one request in, one answer out.
//! - With the feature `sdk`, `sdk_client` gives a client of the AWS SDK whose HTTP layer is the
//!   service: code that uses the SDK runs its tests on any store, unchanged, without a socket.
//!
//! What a request means is core's; this crate reads it, hands it to the store, and writes the answer.

mod admission;
mod auth;
mod config;
mod connections;
mod content_coding;
mod dispatch;
mod error_response;
mod host_policy;
mod lifecycle;
mod listen;
mod metrics;
mod operation;
mod request;
mod response;
#[cfg(feature = "sdk")]
mod sdk;
mod service;
mod shape;
mod table_delay;
mod workers;
mod write_timeout;

pub use auth::Credentials;
pub use config::{ServerConfig, check_host, check_origin};
pub use listen::{Server, spawn};
pub use operation::Operation;
#[cfg(feature = "sdk")]
pub use sdk::{sdk_client, sdk_config, sdk_streams_client};
pub use service::Service;

/// The example in the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The Rust example in the guide is a test.
#[cfg(all(doctest, feature = "sdk"))]
#[doc = include_str!("../../docs/serve.md")]
struct Guide;
