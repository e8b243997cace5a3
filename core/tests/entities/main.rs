//! Typed entities, on MemoryStore.
#![allow(clippy::unwrap_used)]

mod changes;
mod design;
mod keys;
mod lint;
mod operations;
mod patterns;
mod ranges;
mod reading;
mod shards;
mod uniques;
