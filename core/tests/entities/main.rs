//! Typed entities, on MemoryStore.
#![allow(clippy::unwrap_used)]

mod design;
mod keys;
mod operations;
mod reading;
mod shards;
