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
