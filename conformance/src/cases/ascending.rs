//! Key values of every type, for cases that test all key types.

use super::prelude::*;

/// The types that key attributes can have.
pub(super) const KEY_TYPES: [KeyType; 3] = [KeyType::S, KeyType::N, KeyType::B];

/// Seven values of a type in DynamoDB's order, which is not the order of their texts, of their
/// lengths or of signed bytes.
pub(super) fn ascending(kind: KeyType) -> [Value; 7] {
    match kind {
        KeyType::S => ["B", "a", "a!", "aa", "b", "é", "😀"].map(Value::from),
        KeyType::N => {
            let number = |text| Value::N(Number::parse(text).expect("valid number"));
            ["-100", "-20.5", "0", "0.001", "9", "10", "1E20"].map(number)
        }
        KeyType::B => {
            let bytes: [&[u8]; 7] =
                [b"\0", b"\0\0", b"\0\x01", b"\x01", b"\x7f\xff", b"\x80", b"\xff\xff"];
            bytes.map(Value::from)
        }
    }
}
