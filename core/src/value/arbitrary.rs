//! Proptest strategies for numbers, values and items.

use bytes::Bytes;
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use crate::{Item, Map, Number, Set, Value};

/// Any number, with a bias to small and extreme ones.
pub(crate) fn number() -> impl Strategy<Value = Number> {
    let text = |digits: &'static str, exponents: std::ops::Range<i32>| {
        (any::<bool>(), digits, exponents).prop_filter_map(
            "out of range",
            |(negative, digits, exponent)| {
                let sign = if negative { "-" } else { "" };
                Number::parse(&format!("{sign}{digits}e{exponent}")).ok()
            },
        )
    };
    prop_oneof![
        1 => Just(Number::ZERO),
        4 => (-1000i64..1000).prop_map(Number::from),
        2 => any::<i64>().prop_map(Number::from),
        4 => text("[0-9]{1,6}", -8..8),
        4 => text("[0-9]{1,38}", -40..40),
        2 => text("[1-9][0-9]{0,37}", -167..126),
    ]
}

/// Strings of a few characters, some with zero bytes and non-ASCII characters.
pub(crate) fn string() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-c]{0,4}",
        1 => vec(prop_oneof![Just('\0'), Just('\u{1}'), Just('a'), any::<char>()], 0..5)
            .prop_map(String::from_iter),
    ]
}

/// Binaries of a few bytes, many with zero bytes.
pub(crate) fn binary() -> impl Strategy<Value = Bytes> {
    vec(prop_oneof![Just(0u8), Just(1), Just(0xFF), any::<u8>()], 0..6).prop_map(Bytes::from)
}

/// Any value except lists and maps.
pub(crate) fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => string().prop_map(Value::S),
        4 => number().prop_map(Value::N),
        2 => binary().prop_map(Value::B),
        1 => any::<bool>().prop_map(Value::Bool),
        1 => Just(Value::Null),
        1 => vec(string(), 1..5).prop_map(|members| Value::Ss(set(members))),
        1 => vec(number(), 1..5).prop_map(|members| Value::Ns(set(members))),
        1 => vec(binary(), 1..5).prop_map(|members| Value::Bs(set(members))),
    ]
}

/// Any value, with a few levels of lists and maps.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::L),
            btree_map(string(), inner, 0..5).prop_map(Value::M),
        ]
    })
}

/// Any attributes of an item or a map.
pub(crate) fn map() -> impl Strategy<Value = Map> {
    btree_map(string(), value(), 0..6)
}

/// Any item, as a tree or encoded.
pub(crate) fn item() -> impl Strategy<Value = Item> {
    (map(), any::<bool>()).prop_map(|(map, encoded)| {
        let item = Item::from(map);
        if encoded { item.into_encoded() } else { item }
    })
}

fn set<T: crate::SetMember>(members: Vec<T>) -> Set<T> {
    Set::merged(members).expect("there is at least one member")
}
