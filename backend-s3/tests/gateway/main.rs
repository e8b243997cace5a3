//! The gateway, through the AWS SDK and through plain HTTP.
#![allow(clippy::unwrap_used)]

mod checksums;
mod cors;
#[cfg(feature = "file")]
mod files;
#[cfg(feature = "file")]
mod fuzz;
mod large;
mod operations;
mod payloads;
mod plain;
mod presigned;
#[cfg(feature = "file")]
mod process;
mod refusals;
mod signer;
mod support;
mod unread;
mod versions;
