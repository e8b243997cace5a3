//! Values, items and keys.
//!
//! Each of the two SDK crates has an `AttributeValue`. A macro defines the conversion from both.

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use aws_sdk_dynamodbstreams::types::AttributeValue as StreamValue;
use bytes::Bytes;
use tabla_core::backend::ValueEncoder;
use tabla_core::{Error, ErrorKind, Item, Map, Number, Result, Value};

/// Limit on nested lists and maps. It only bounds the stack: the service refuses the 33rd level.
const MAX_LEVELS: usize = 128;

/// Item or key in the SDK's form.
pub(crate) type Attributes = HashMap<String, AttributeValue>;

/// Converts an item or a key for a request.
pub(crate) fn item_to_sdk(item: Item) -> Result<Attributes> {
    map_to_sdk(item.into_map(), MAX_LEVELS)
}

/// Converts a value for a request.
pub(crate) fn value_to_sdk(value: Value) -> Result<AttributeValue> {
    to_sdk(value, MAX_LEVELS)
}

/// Converts an item or a key of a response.
pub(crate) fn item_from_sdk(attributes: Attributes) -> Result<Item> {
    encode_item(&attributes)
}

/// Converts an image or a key of a stream record.
pub(crate) fn item_from_stream(attributes: HashMap<String, StreamValue>) -> Result<Item> {
    encode_stream_item(&attributes)
}

fn map_to_sdk(map: Map, levels: usize) -> Result<Attributes> {
    // `collect` on results does not know the size, and would grow the map in steps.
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
        Value::N(number) => AttributeValue::N(number.into()),
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
        Value::Ns(set) => AttributeValue::Ns(set.into_iter().map(String::from).collect()),
        Value::Bs(set) => AttributeValue::Bs(set.into_iter().map(blob).collect()),
    })
}

fn blob(bytes: Bytes) -> Blob {
    Blob::new(Vec::from(bytes))
}

/// Returns the error of a response that DynamoDB cannot give.
fn unexpected(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unexpected, message)
}

fn number(text: &str) -> Result<Number> {
    Number::parse(text).map_err(|error| {
        unexpected(format!("the service returned the number {text}, which is out of range"))
            .with_source(error)
    })
}

/// Defines a function that encodes an item of one SDK crate.
///
/// An encoded item is one allocation; a tree of core's values would be one per attribute.
macro_rules! encode_item {
    ($name:ident, $sdk:ident) => {
        fn $name(attributes: &HashMap<String, $sdk>) -> Result<Item> {
            fn describe(value: &$sdk, encoder: ValueEncoder<'_>) -> Result<()> {
                match value {
                    $sdk::S(text) => encoder.string(text),
                    $sdk::N(text) => encoder.number(number(text)?),
                    $sdk::B(blob) => encoder.binary(blob.as_ref()),
                    $sdk::Bool(truth) => encoder.boolean(*truth),
                    $sdk::Null(_) => encoder.null(),
                    $sdk::M(map) => encoder.map(entries(map), describe),
                    $sdk::L(list) => encoder.list(list, describe),
                    $sdk::Ss(members) => encoder.string_set(members.iter().cloned()),
                    $sdk::Ns(members) => {
                        let numbers = members.iter().map(|member| number(member));
                        encoder.number_set(numbers.collect::<Result<Vec<_>>>()?)
                    }
                    $sdk::Bs(members) => {
                        let copies = members.iter().map(|b| Bytes::copy_from_slice(b.as_ref()));
                        encoder.binary_set(copies)
                    }
                    _ => Err(unexpected("the service returned a value of an unknown type")),
                }
            }

            Item::encode_from(entries(attributes), describe).map_err(|error| {
                unexpected("the service returned an invalid item").with_source(error)
            })
        }
    };
}

encode_item!(encode_item, AttributeValue);
encode_item!(encode_stream_item, StreamValue);

fn entries<V>(map: &HashMap<String, V>) -> impl Iterator<Item = (&str, &V)> {
    map.iter().map(|(name, value)| (name.as_str(), value))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tabla_core::Set;
    use tabla_core::backend::limits::ATTRIBUTE_DEPTH;

    use super::*;

    fn any_number() -> impl Strategy<Value = Number> {
        (any::<i64>(), -120i32..=100)
            .prop_map(|(digits, exponent)| format!("{digits}E{exponent}").parse().unwrap())
    }

    fn any_bytes() -> impl Strategy<Value = Bytes> {
        prop::collection::vec(any::<u8>(), 0..6).prop_map(Bytes::from)
    }

    fn set_of<T: tabla_core::SetMember + std::fmt::Debug>(
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
        fn item_is_equal_after_conversion_to_the_sdk_and_back(
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
    fn depth_is_bounded_in_both_directions() {
        let mut deep = Value::Null;
        let mut deep_sdk = AttributeValue::Null(true);
        for _ in 0..=MAX_LEVELS {
            deep = Value::L(vec![deep]);
        }
        for _ in 0..=ATTRIBUTE_DEPTH {
            deep_sdk = AttributeValue::L(vec![deep_sdk]);
        }
        let error = value_to_sdk(deep).unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Validation);
        let error = item_from_sdk(HashMap::from([("a".to_owned(), deep_sdk)])).unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Unexpected);
    }

    #[test]
    fn invalid_value_of_a_response_is_an_error() {
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
    fn stream_image_converts_like_an_item() {
        let image =
            HashMap::from([("n".to_owned(), StreamValue::Ns(vec!["2".into(), "1".into()]))]);
        let expected =
            Item::new().with("n", Value::Ns(Set::new([Number::from(1), Number::from(2)]).unwrap()));
        assert_eq!(item_from_stream(image).unwrap(), expected);
    }
}
