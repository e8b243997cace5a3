//! tabla's [`Store`](tabla_core::Store) on DynamoDB, and on engines that speak its protocol:
//! DynamoDB Local, ScyllaDB's Alternator, and `tabla serve`.
//!
//! ```no_run
//! use tabla_core::ops::{GetItem, PutItem};
//! use tabla_core::{Item, Store};
//! use tabla_dynamo::{DynamoConfig, DynamoStore};
//!
//! # async fn example() -> tabla_core::Result<()> {
//! let store = DynamoStore::open(&DynamoConfig::for_endpoint("http://127.0.0.1:8000")).await?;
//! store.put(PutItem::new("themes", Item::new().with("pk", "T#1").with("name", "dark"))).await?;
//! let found = store.get(GetItem::new("themes", Item::new().with("pk", "T#1"))).await?;
//! assert!(found.item.is_some());
//! # Ok(())
//! # }
//! ```
//!
//! # Validation
//!
//! The service validates requests and evaluates expressions. This crate converts requests,
//! responses and errors without loss: capacity per index, unprocessed keys and items, cancellation
//! reasons with their items, the request id. A request that needs a missing capability of the
//! engine ([`Capabilities`](tabla_core::Capabilities)) is refused before it is sent.
//!
//! # Table prefix
//!
//! One account can hold several environments. The prefix of the configuration is added to every
//! table name in requests and removed in responses. Tables with other prefixes are not visible.
//! Resource names (`arn:…`) and messages are not changed.

mod alternator;
mod batches;
mod config;
mod convert;
mod direct_read;
mod engine;
mod error;
mod items;
mod open;
mod opener;
mod prefix;
mod store;
mod streams;
mod tables;
mod wait;

#[cfg(test)]
mod fake;
#[cfg(test)]
mod tests;

pub use config::DynamoConfig;
pub use engine::Engine;
pub use opener::DynamoOpener;
pub use store::DynamoStore;
