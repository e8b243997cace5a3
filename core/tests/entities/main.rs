//! Typed entities, on MemoryStore.
#![allow(clippy::unwrap_used)]

mod changes;
mod design;
mod halves;
mod keys;
mod operations;
mod ranges;
mod reading;
mod shards;
mod transactions;
mod uniques;
