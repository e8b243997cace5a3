//! Order-preserving encoding of key values, and the hash of partition keys.
//!
//! Two encoded values of one type compare, as unsigned bytes, like the values: strings by UTF-8
//! bytes, binaries by unsigned bytes, numbers by value. No encoding is a prefix of another one. So
//! the attributes of a key are encoded one after the other, and order from first to last.
//!
//! A string or a binary is its bytes, with each `00` written as `00 FF`, and `00 00` at the end. A
//! number has 2 to 21 bytes (`docs/item-format.md`). The type is not encoded: the schema has it.

use std::fmt;

use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

use super::KeyType;
use crate::{Error, Value, ValueKind, ValueRef, number};

/// Encoding of a zero byte in a string or binary.
const ESCAPED_ZERO: [u8; 2] = [0x00, 0xFF];

/// End of a string or binary: less than the escaped zero and every other byte.
const END: [u8; 2] = [0x00, 0x00];

/// Error for a value of a type that cannot be a key, or the prefix of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAKey(
    /// Type of the value.
    pub ValueKind,
);

/// Appends the encoding of a key value.
///
/// # Errors
///
/// [`NotAKey`] if the value is not a string, number or binary. Nothing is appended then.
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

/// Appends the common prefix of the encodings of all strings, or binaries, that begin with `value`.
/// No other encoding has it.
///
/// # Errors
///
/// [`NotAKey`] if the value is not a string or binary. Nothing is appended then.
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

/// Decodes the key value at the start of `bytes`, and returns it with the rest of the bytes.
///
/// # Errors
///
/// [`crate::ErrorKind::Corrupt`] if the bytes do not start with a value of this type.
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

/// Replaces a prefix by the smallest bytes greater than all that begin with it.
///
/// Returns `false`, with `bytes` empty, if there are none: every byte was `FF`.
pub fn prefix_successor(bytes: &mut Vec<u8>) -> bool {
    while let Some(last) = bytes.pop() {
        if last < 0xFF {
            bytes.push(last + 1);
            return true;
        }
    }
    false
}

/// Hash of an encoded partition key, which determines the order of scans: XXH3, 64 bits, seed 0.
///
/// It is part of the file format and never changes.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::value::arbitrary::{binary, number, string};

    fn encoded(parts: &[&Value]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for part in parts {
            encode(part.as_ref(), &mut bytes).unwrap();
        }
        bytes
    }

    fn prefix(value: ValueRef<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        encode_prefix(value, &mut bytes).unwrap();
        bytes
    }

    /// Two key values of one type, and the type.
    fn keys() -> impl Strategy<Value = (KeyType, Value, Value)> {
        prop_oneof![
            (string(), string()).prop_map(|(one, other)| (KeyType::S, one.into(), other.into())),
            (binary(), binary()).prop_map(|(one, other)| (KeyType::B, one.into(), other.into())),
            (number(), number()).prop_map(|(one, other)| (KeyType::N, one.into(), other.into())),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn encoded_keys_order_as_their_values((_, one, other) in keys()) {
            let order = one.as_ref().compare(other.as_ref()).unwrap();
            prop_assert_eq!(encoded(&[&one]).cmp(&encoded(&[&other])), order);
        }

        #[test]
        fn encoded_keys_of_several_attributes_order_as_the_attributes(
            (_, one, other) in keys(), (_, then, or) in keys(),
        ) {
            let first = one.as_ref().compare(other.as_ref()).unwrap();
            let order = first.then(then.as_ref().compare(or.as_ref()).unwrap());
            prop_assert_eq!(encoded(&[&one, &then]).cmp(&encoded(&[&other, &or])), order);
        }

        #[test]
        fn decode_inverts_encode((kind, one, _) in keys(), after in any::<[u8; 2]>()) {
            let mut bytes = encoded(&[&one]);
            bytes.extend(after);
            prop_assert_eq!(decode(kind, &bytes).unwrap(), (one, &after[..]));
        }

        #[test]
        fn decode_accepts_only_the_canonical_encoding(
            bytes in proptest::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 0..12),
        ) {
            for kind in [KeyType::S, KeyType::N, KeyType::B] {
                if let Ok((value, rest)) = decode(kind, &bytes) {
                    prop_assert_eq!(encoded(&[&value]), &bytes[..bytes.len() - rest.len()]);
                }
            }
        }

        #[test]
        fn encoded_prefix_is_a_prefix_of_exactly_the_matching_keys(text in string(), start in string(), cut in 0usize..4) {
            let own: String = text.chars().take(cut).collect();
            for start in [start, own] {
                let bytes = encoded(&[&Value::from(text.as_str())]);
                let begins = bytes.starts_with(&prefix(ValueRef::S(&start)));
                prop_assert_eq!(begins, text.starts_with(&start));
            }
        }

        #[test]
        fn prefix_successor_is_the_least_upper_bound(
            bytes in proptest::collection::vec(prop_oneof![Just(0xFFu8), any::<u8>()], 0..5),
            other in proptest::collection::vec(prop_oneof![Just(0xFFu8), any::<u8>()], 0..6),
        ) {
            let mut successor = bytes.clone();
            if prefix_successor(&mut successor) {
                // What lies between the prefix and its successor is exactly what starts with it.
                prop_assert_eq!(other >= bytes && other < successor, other.starts_with(&bytes));
            } else {
                prop_assert!(bytes.iter().all(|byte| *byte == 0xFF));
                prop_assert_eq!(other >= bytes, other.starts_with(&bytes));
            }
        }
    }

    /// Files contain these bytes and hashes: they never change.
    #[test]
    fn key_bytes_and_hashes_are_stable() {
        let key = encoded(&[&Value::from("a\0b"), &Value::from(-1), &Value::from(&[0xFF])]);
        assert_eq!(key, [b'a', 0, 0xFF, b'b', 0, 0, 0x3E, 0xFD, 0xFF, 0, 0]);
        assert_eq!(hash(b""), 0x2D06_8005_38D3_94C2);
        assert_eq!(hash(b"abc"), 0x78AF_5F94_892F_3950);
    }

    #[test]
    fn other_types_cannot_be_keys() {
        let mut bytes = Vec::new();
        assert_eq!(encode(ValueRef::Null, &mut bytes), Err(NotAKey(ValueKind::Null)));
        let number = Value::from(1);
        assert_eq!(encode_prefix(number.as_ref(), &mut bytes), Err(NotAKey(ValueKind::N)));
        assert!(bytes.is_empty());
        assert_eq!(Error::from(NotAKey(ValueKind::L)).code(), "ValidationException");
    }

    #[test]
    fn malformed_key_bytes_are_corrupt() {
        let cases: [(KeyType, &[u8]); 7] = [
            (KeyType::S, b""),
            (KeyType::S, b"a"),
            (KeyType::S, b"a\0"),
            (KeyType::S, b"a\0\x01"),
            (KeyType::S, b"\xFF\0\0"),
            (KeyType::N, b"\xC1"),
            (KeyType::N, b"\xC1\0"),
        ];
        for (kind, bytes) in cases {
            let error = decode(kind, bytes).unwrap_err();
            assert_eq!(*error.kind(), crate::ErrorKind::Corrupt, "{bytes:?}");
        }
    }
}
