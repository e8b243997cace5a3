//! Imports of the family files, for `use super::prelude::*`.

// No file uses all of these imports.
#![allow(unused_imports)]

pub(super) use bytes::Bytes;
pub(super) use tabla_core::blobs::*;
pub(super) use tabla_core::{Error, ErrorKind, Result};

pub(super) use crate::blobs::BlobCtx;
pub(super) use crate::blobs::case::blob_cases;
pub(super) use crate::blobs::ctx::{five_mb, pattern, stream_of};
