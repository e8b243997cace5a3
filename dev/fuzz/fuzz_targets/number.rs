//! Numbers: parsing never panics, printing reverses parsing, and order, sums and key bytes agree.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tabla_core::KeyType;
use tabla_core::backend::key_encoding;
use tabla_core::{Number, Value};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (one, other) = text.split_once('\n').unwrap_or((text, "1"));
    let (Ok(one), Ok(other)) = (Number::parse(one), Number::parse(other)) else { return };
    assert_eq!(Number::parse(&one.to_string()), Ok(one));

    let (one_key, other_key) = (key(one), key(other));
    assert_eq!(one_key.cmp(&other_key), one.cmp(&other), "key bytes have the order of the numbers");
    let (decoded, rest) = key_encoding::decode(KeyType::N, &one_key).expect("a key can be decoded");
    assert_eq!(decoded, Value::N(one));
    assert!(rest.is_empty());

    assert_eq!(one.checked_add(other), other.checked_add(one));
    if let Ok(sum) = one.checked_add(other) {
        assert_eq!(sum.checked_sub(other), Ok(one), "subtraction reverses an exact sum");
    }
});

fn key(number: Number) -> Vec<u8> {
    let mut bytes = Vec::new();
    key_encoding::encode(Value::N(number).as_ref(), &mut bytes).expect("a number is a key");
    bytes
}
