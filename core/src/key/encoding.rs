//! Key values as bytes whose order is DynamoDB's order.
//!
//! Comparing the bytes of two values of one type, as unsigned bytes, gives the order of the
//! values: strings by their UTF-8 bytes, binaries by unsigned bytes, numbers by value. Each
//! encoding says where it ends, so the parts of a key of several attributes are written one after
//! the other and still order as the parts do, first to last.
//!
//! A string or a binary is its bytes, with each `00` written as `00 FF`, and `00 00` at the end.
//! A number takes 2 to 21 bytes; `docs/item-format.md` gives its form. Types are not in the bytes:
//! the schema knows them.

use std::fmt;

use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

use super::KeyType;
use crate::{Error, Value, ValueKind, ValueRef, number};

/// Stands for a zero byte inside of a string or binary.
const ESCAPED_ZERO: [u8; 2] = [0x00, 0xFF];

/// Ends a string or binary: below the escaped zero and every other byte.
const END: [u8; 2] = [0x00, 0x00];

/// The value is of a type that cannot be a key, or cannot be the prefix of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAKey(
    /// The type of the value.
    pub ValueKind,
);

/// Appends a key value.
///
/// # Errors
///
/// The value is neither a string, nor a number, nor a binary. Nothing is appended then.
pub fn encode(value: ValueRef<'_>, out: &mut Vec<u8>) -> Result<(), NotAKey> {
    match value {
        ValueRef::N(value) => number::encode(value, out),
        _ => {
            encode_prefix(value, out)?;
            out.extend_from_slice(&END);
        }
    }
    Ok(())
}

/// Appends the beginning that the encodings of all strings (or binaries) with this prefix share,
/// and of no others.
///
/// # Errors
///
/// The value is neither a string nor a binary. Nothing is appended then.
pub fn encode_prefix(value: ValueRef<'_>, out: &mut Vec<u8>) -> Result<(), NotAKey> {
    let mut bytes = match value {
        ValueRef::S(text) => text.as_bytes(),
        ValueRef::B(bytes) => bytes,
        _ => return Err(NotAKey(value.kind())),
    };
    while let Some(zero) = bytes.iter().position(|byte| *byte == 0) {
        out.extend_from_slice(&bytes[..zero]);
        out.extend_from_slice(&ESCAPED_ZERO);
        bytes = &bytes[zero + 1..];
    }
    out.extend_from_slice(bytes);
    Ok(())
}

/// Reads the key value at the start of the bytes, and returns what follows it.
///
/// # Errors
///
/// The bytes do not start with what [`encode`] writes for a value of this type.
pub fn decode(kind: KeyType, bytes: &[u8]) -> Result<(Value, &[u8]), Error> {
    let corrupt = || Error::corrupt(format!("corrupt key: no value of type {kind}"));
    match kind {
        KeyType::N => {
            let (value, rest) = number::decode(bytes).ok_or_else(corrupt)?;
            Ok((Value::N(value), rest))
        }
        KeyType::S => {
            let (value, rest) = unescape(bytes).ok_or_else(corrupt)?;
            let value = String::from_utf8(value).map_err(|_| corrupt())?;
            Ok((Value::S(value), rest))
        }
        KeyType::B => {
            let (value, rest) = unescape(bytes).ok_or_else(corrupt)?;
            Ok((Value::B(Bytes::from(value)), rest))
        }
    }
}

/// Changes the bytes to the smallest ones greater than all that start with them.
///
/// Returns `false`, with the bytes emptied, where there are none: every byte was `FF`.
pub fn prefix_successor(bytes: &mut Vec<u8>) -> bool {
    while let Some(last) = bytes.pop() {
        if last < 0xFF {
            bytes.push(last + 1);
            return true;
        }
    }
    false
}

/// The hash that scans and segments are ordered by: XXH3, 64 bits, seed 0, of the encoded
/// partition key.
///
/// It is part of the stored format: it never changes.
pub fn hash(partition: &[u8]) -> u64 {
    xxh3_64(partition)
}

fn unescape(mut bytes: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut value = Vec::new();
    loop {
        let zero = bytes.iter().position(|byte| *byte == 0)?;
        value.extend_from_slice(&bytes[..zero]);
        let (mark, rest) = bytes[zero..].split_first_chunk()?;
        bytes = rest;
        match *mark {
            END => return Some((value, bytes)),
            ESCAPED_ZERO => value.push(0),
            _ => return None,
        }
    }
}

impl fmt::Display for NotAKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a value of type {} cannot be a key", self.0)
    }
}

impl std::error::Error for NotAKey {}

impl From<NotAKey> for Error {
    fn from(error: NotAKey) -> Self {
        Error::validation(error.to_string())
    }
}
