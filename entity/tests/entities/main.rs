//! Typed entities, on MemoryStore.
#![allow(clippy::unwrap_used)]

mod asked;
mod changes;
mod defaults;
mod design;
mod gets;
mod halves;
mod keys;
mod leases;
mod lint;
mod operations;
mod patterns;
mod ranges;
mod reading;
mod scripted;
mod shards;
mod tables;
mod transactions;
mod uniques;
mod unreadable;
