//! DynamoDB-style tables for Rust.
//!
//! This crate is the one to depend on: it re-exports the crates of the framework, and [`open`] opens
//! a store by its address.
//!
//! - [`Store`] is what a backend implements, [`StoreExt`] what callers have besides.
//! - [`ops`] has a request and an answer for each operation, [`Item`] and [`Value`] what they carry,
//!   [`attr`] and [`Update`] the expressions.
#![cfg_attr(feature = "entity", doc = "- [`entity`] has typed entities of a single-table design.")]
#![cfg_attr(feature = "consumer", doc = "- [`consumer`] has workers that process change streams.")]
#![cfg_attr(feature = "server", doc = "- [`server`] is DynamoDB's wire protocol over any store.")]

pub use tabla_core::*;

#[cfg(feature = "consumer")]
pub use tabla_consumer as consumer;
#[cfg(feature = "dynamodb")]
pub use tabla_dynamo as dynamodb;
#[cfg(feature = "entity")]
pub use tabla_entity as entity;
#[cfg(feature = "server")]
pub use tabla_server as server;
#[cfg(feature = "sqlite")]
pub use tabla_sqlite as sqlite;

#[cfg(feature = "entity")]
pub use tabla_entity::{checked_text, collection};

use std::sync::Arc;

/// Opens the store at an address, such as `sqlite:shop.db`, `memory:` or `dynamodb:`.
///
/// The store retries throttling, transaction conflicts and unprocessed batch items: up to 10
/// attempts, at random intervals of at most 25 ms that double up to 5 s. A write whose answer was
/// lost is not repeated, unless it is a transaction, which carries a request token. `?retries=off` in
/// the address turns this off; [`Registry::with_retries`] sets another policy.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = tabla::open("memory:").await?;
/// assert_eq!(tabla::Store::capabilities(&store).engine, "memory");
/// # Ok::<(), tabla::Error>(()) }).unwrap();
/// ```
///
/// # Errors
/// [`ErrorKind::Config`] for an address that cannot be understood, or whose scheme needs a feature of
/// this crate that is off; and what the backend says. Nothing is created then.
pub async fn open(address: &str) -> Result<Arc<dyn Store>> {
    registry().open(address).await
}

/// The registry behind [`open`]: every scheme whose feature is on. Other backends register with it.
pub fn registry() -> Registry {
    let mut registry = Registry::new();
    register(&mut registry);
    registry
}

/// Registers every scheme whose feature is on, and the remedy for the others.
pub fn register(registry: &mut Registry) {
    #[cfg(feature = "sqlite")]
    registry.register(tabla_sqlite::SqliteOpener);
    #[cfg(not(feature = "sqlite"))]
    registry.register_missing("sqlite", "enable the feature `sqlite` of the crate `tabla`");
    #[cfg(feature = "dynamodb")]
    registry.register(tabla_dynamo::DynamoOpener);
    #[cfg(not(feature = "dynamodb"))]
    registry.register_missing("dynamodb", "enable the feature `dynamodb` of the crate `tabla`");
}

/// The program in the README of the project is a test.
#[cfg(all(doctest, feature = "entity", feature = "sqlite"))]
#[doc = include_str!("../../README.md")]
struct ProjectReadme;

/// The program in the README of the package is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct PackageReadme;
