//! Values, items and keys.
//!
//! The two SDK crates have an `AttributeValue` each, so both directions are written once, in a
//! macro.

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use aws_sdk_dynamodbstreams::types::AttributeValue as StreamValue;
use bytes::Bytes;
use tabla::{Error, ErrorKind, Item, Map, Number, Result, Set, Value};

/// Lists and maps in one another, far past what the service accepts: it is the service that
/// refuses the 33rd level, this only keeps the stack safe.
const MAX_LEVELS: usize = 128;

/// An item or a key as the SDK takes it.
pub(crate) type Attributes = HashMap<String, AttributeValue>;

/// An item on its way to the service.
pub(crate) fn item_to_sdk(item: Item) -> Result<Attributes> {
    map_to_sdk(item.into_map(), MAX_LEVELS)
}

/// A value on its way to the service.
pub(crate) fn value_to_sdk(value: Value) -> Result<AttributeValue> {
    to_sdk(value, MAX_LEVELS)
}

/// An item of the service.
pub(crate) fn item_from_sdk(attributes: Attributes) -> Result<Item> {
    map_from_sdk(attributes, MAX_LEVELS).map(Item::from)
}

/// An item in a stream record.
pub(crate) fn item_from_stream(attributes: HashMap<String, StreamValue>) -> Result<Item> {
    stream::map_from_sdk(attributes, MAX_LEVELS).map(Item::from)
}

fn map_to_sdk(map: Map, levels: usize) -> Result<Attributes> {
    // Collecting results would not know the size beforehand, and grow the map step by step.
    let mut attributes = Attributes::with_capacity(map.len());
    for (name, value) in map {
        attributes.insert(name, to_sdk(value, levels)?);
    }
    Ok(attributes)
}

fn to_sdk(value: Value, levels: usize) -> Result<AttributeValue> {
    let inner = || {
        levels.checked_sub(1).ok_or_else(|| {
            Error::validation(
                "Nesting Levels have exceeded supported limits: Attributes in the item have \
                 nested levels beyond supported limit",
            )
        })
    };
    Ok(match value {
        Value::S(text) => AttributeValue::S(text),
        Value::N(number) => AttributeValue::N(number.to_string()),
        Value::B(bytes) => AttributeValue::B(blob(bytes)),
        Value::Bool(truth) => AttributeValue::Bool(truth),
        Value::Null => AttributeValue::Null(true),
        Value::M(map) => AttributeValue::M(map_to_sdk(map, inner()?)?),
        Value::L(list) => {
            let levels = inner()?;
            let mut elements = Vec::with_capacity(list.len());
            for element in list {
                elements.push(to_sdk(element, levels)?);
            }
            AttributeValue::L(elements)
        }
        Value::Ss(set) => AttributeValue::Ss(set.into_iter().collect()),
        Value::Ns(set) => AttributeValue::Ns(set.into_iter().map(|n| n.to_string()).collect()),
        Value::Bs(set) => AttributeValue::Bs(set.into_iter().map(blob).collect()),
    })
}

fn blob(bytes: Bytes) -> Blob {
    Blob::new(Vec::from(bytes))
}

fn bytes(blob: Blob) -> Bytes {
    Bytes::from(blob.into_inner())
}

/// An answer that is none of DynamoDB's.
fn unexpected(message: String) -> Error {
    Error::new(ErrorKind::Unexpected, message)
}

fn number(text: &str) -> Result<Number> {
    Number::parse(text).map_err(|error| {
        unexpected(format!("the service answered with a number out of range: {text}"))
            .with_source(error)
    })
}

fn set<T: tabla::SetMember>(members: impl Iterator<Item = Result<T>>) -> Result<Set<T>> {
    Set::new(members.collect::<Result<Vec<T>>>()?).map_err(|error| {
        unexpected("the service answered with an impossible set".to_owned()).with_source(error)
    })
}

/// Defines `map_from_sdk` and `from_sdk` for the `AttributeValue` of one SDK crate.
macro_rules! from_sdk {
    ($sdk:ident) => {
        pub(super) fn map_from_sdk(
            attributes: HashMap<String, $sdk>,
            levels: usize,
        ) -> Result<Map> {
            let mut map = Vec::with_capacity(attributes.len());
            for (name, value) in attributes {
                map.push((name, from_sdk(value, levels)?));
            }
            Ok(map.into_iter().collect())
        }

        fn from_sdk(value: $sdk, levels: usize) -> Result<Value> {
            let inner = || {
                levels.checked_sub(1).ok_or_else(|| {
                    unexpected("the service answered with a value nested too deeply".to_owned())
                })
            };
            Ok(match value {
                $sdk::S(text) => Value::S(text),
                $sdk::N(text) => Value::N(number(&text)?),
                $sdk::B(blob) => Value::B(bytes(blob)),
                $sdk::Bool(truth) => Value::Bool(truth),
                $sdk::Null(_) => Value::Null,
                $sdk::M(map) => Value::M(map_from_sdk(map, inner()?)?),
                $sdk::L(list) => {
                    let levels = inner()?;
                    let mut elements = Vec::with_capacity(list.len());
                    for element in list {
                        elements.push(from_sdk(element, levels)?);
                    }
                    Value::L(elements)
                }
                $sdk::Ss(members) => Value::Ss(set(members.into_iter().map(Ok))?),
                $sdk::Ns(members) => Value::Ns(set(members.iter().map(|member| number(member)))?),
                $sdk::Bs(members) => Value::Bs(set(members.into_iter().map(|b| Ok(bytes(b))))?),
                _ => {
                    return Err(unexpected(
                        "the service answered with a value of an unknown type".to_owned(),
                    ));
                }
            })
        }
    };
}

mod plain {
    use super::*;
    from_sdk!(AttributeValue);
}

mod stream {
    use super::*;
    from_sdk!(StreamValue);
}

use plain::map_from_sdk;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_number() -> impl Strategy<Value = Number> {
        (any::<i64>(), -120i32..=100)
            .prop_map(|(digits, exponent)| format!("{digits}E{exponent}").parse().unwrap())
    }

    fn any_bytes() -> impl Strategy<Value = Bytes> {
        prop::collection::vec(any::<u8>(), 0..6).prop_map(Bytes::from)
    }

    fn set_of<T: tabla::SetMember + std::fmt::Debug>(
        member: impl Strategy<Value = T>,
    ) -> impl Strategy<Value = Set<T>> {
        prop::collection::vec(member, 1..5)
            .prop_map(|members| Set::merged(members).expect("there is at least one"))
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            any::<String>().prop_map(Value::S),
            any_number().prop_map(Value::N),
            any_bytes().prop_map(Value::B),
            any::<bool>().prop_map(Value::Bool),
            Just(Value::Null),
            set_of(any::<String>()).prop_map(Value::Ss),
            set_of(any_number()).prop_map(Value::Ns),
            set_of(any_bytes()).prop_map(Value::Bs),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::L),
                prop::collection::btree_map(any::<String>(), inner, 0..4).prop_map(Value::M),
            ]
        })
    }

    proptest! {
        #[test]
        fn an_item_survives_the_way_there_and_back(
            map in prop::collection::btree_map(any::<String>(), any_value(), 0..5)
        ) {
            let item = Item::from(map);
            let there = item_to_sdk(item.clone()).unwrap();
            prop_assert_eq!(item_from_sdk(there).unwrap(), item);
        }
    }

    #[test]
    fn numbers_keep_all_their_digits() {
        let text = "-12345678901234567890123456789012345678E-20";
        let there = value_to_sdk(Value::N(text.parse().unwrap())).unwrap();
        assert_eq!(there, AttributeValue::N("-123456789012345678.90123456789012345678".into()));
    }

    #[test]
    fn depth_is_bounded_both_ways() {
        let mut deep = Value::Null;
        let mut deep_sdk = AttributeValue::Null(true);
        for _ in 0..=MAX_LEVELS {
            deep = Value::L(vec![deep]);
            deep_sdk = AttributeValue::L(vec![deep_sdk]);
        }
        let error = value_to_sdk(deep).unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Validation);
        let error = item_from_sdk(HashMap::from([("a".to_owned(), deep_sdk)])).unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Unexpected);
    }

    #[test]
    fn an_impossible_answer_is_an_error() {
        for value in [
            AttributeValue::N("one".into()),
            AttributeValue::Ss(vec![]),
            AttributeValue::Ns(vec!["1".into(), "1.0".into()]),
        ] {
            let error = item_from_sdk(HashMap::from([("a".to_owned(), value)])).unwrap_err();
            assert_eq!(error.kind(), &ErrorKind::Unexpected);
        }
    }

    #[test]
    fn stream_images_convert_alike() {
        let image =
            HashMap::from([("n".to_owned(), StreamValue::Ns(vec!["2".into(), "1".into()]))]);
        let expected =
            Item::new().with("n", Value::Ns(Set::new([Number::from(1), Number::from(2)]).unwrap()));
        assert_eq!(item_from_stream(image).unwrap(), expected);
    }
}
