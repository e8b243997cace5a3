//! The adapters from and to the crate `object_store`.

#![allow(clippy::unwrap_used)]

mod blobs;
mod conformance;
mod integration;
mod store;
