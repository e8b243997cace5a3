//! The gateway, through the AWS SDK and through plain HTTP.
#![allow(clippy::unwrap_used)]

mod cors;
#[cfg(feature = "file")]
mod files;
mod large;
mod operations;
mod payloads;
mod presigned;
mod refusals;
mod signer;
mod support;
mod versions;
