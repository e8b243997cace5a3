//! tabla's [`Store`](tabla_core::Store) on DynamoDB, and on the engines that speak its protocol:
//! DynamoDB Local, ScyllaDB's Alternator, tabla's own server.
//!
//! ```no_run
//! use tabla_core::ops::{GetItem, PutItem};
//! use tabla_core::{Item, Store};
//! use tabla_dynamo::{DynamoConfig, DynamoStore};
//!
//! # async fn example() -> tabla_core::Result<()> {
//! let store = DynamoStore::open(&DynamoConfig::at("http://127.0.0.1:8000")).await?;
//! store.put(PutItem::new("themes", Item::new().with("pk", "T#1").with("name", "dark"))).await?;
//! let found = store.get(GetItem::new("themes", Item::new().with("pk", "T#1"))).await?;
//! assert!(found.item.is_some());
//! # Ok(())
//! # }
//! ```
//!
//! # What is judged where
//!
//! The service judges requests. This crate translates them, and answers and errors back, losing
//! nothing: capacity per index, unprocessed keys and items, cancellation reasons with their items,
//! the request id. What an engine is known to lack is in its
//! [`Capabilities`](tabla_core::Capabilities), and is refused before anything is sent.
//!
//! # One account, many environments
//!
//! A table prefix is added to every table name on the way out and taken off on the way in; tables
//! of other prefixes are not seen. Resource names (`arn:…`) are left alone, and so are messages.

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
