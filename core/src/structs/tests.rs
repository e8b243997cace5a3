use std::collections::{BTreeMap, HashSet};

use bytes::Bytes;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

use crate::value::arbitrary::{item, number, value};
use crate::{Item, Map, Number, Set, Value, item, list, map};

/// Reads the value back from a tree and from encoded bytes.
fn round_trip<T>(value: &T) -> [T; 2]
where
    T: Serialize + serde::de::DeserializeOwned,
{
    let tree = Item::new().with("v", Value::from_struct(value).unwrap());
    let read = |item: Item| item.get("v").unwrap().to_struct().unwrap();
    [read(tree.clone()), read(tree.into_encoded())]
}

fn set(members: &[&str]) -> Set<String> {
    Set::new(members.iter().map(|member| (*member).to_owned())).unwrap()
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Unit,
    Newtype(u8),
    Tuple(i32, String),
    Struct { x: f64, y: Option<bool> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Internal {
    Empty,
    Order { total: Number, tags: Set<String> },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Count(u32),
    Exact(Number),
    Names(Vec<String>),
    Other { inner: Number },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Wrapper(u16);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Everything {
    text: String,
    letter: char,
    small: i8,
    large: u64,
    huge: i128,
    float: f64,
    short: f32,
    yes: bool,
    none: Option<String>,
    some: Option<u8>,
    unit: (),
    pair: (u8, String),
    list: Vec<i32>,
    names: BTreeMap<String, u8>,
    numbers: BTreeMap<i32, String>,
    letters: BTreeMap<char, bool>,
    bytes: Bytes,
    wrapper: Wrapper,
    shapes: Vec<Shape>,
    number: Number,
    strings: Set<String>,
    binaries: Set<Bytes>,
    value: Value,
    item: Item,
}

fn everything() -> Everything {
    Everything {
        text: "a".into(),
        letter: 'ñ',
        small: -128,
        large: u64::MAX,
        huge: -(10i128.pow(37)),
        float: 0.1,
        short: 16_777_216.5,
        yes: true,
        none: None,
        some: Some(3),
        unit: (),
        pair: (1, "b".into()),
        list: vec![1, -2],
        names: BTreeMap::from([("k".into(), 1)]),
        numbers: BTreeMap::from([(-5, "n".into())]),
        letters: BTreeMap::from([('c', false)]),
        bytes: Bytes::from_static(b"\0\xFF"),
        wrapper: Wrapper(7),
        shapes: vec![
            Shape::Unit,
            Shape::Newtype(1),
            Shape::Tuple(-1, "t".into()),
            Shape::Struct { x: 1.5, y: None },
        ],
        number: "12345678901234567890.123456789012345678".parse().unwrap(),
        strings: set(&["b", "a"]),
        binaries: Set::new([Bytes::from_static(b"x")]).unwrap(),
        value: Value::Ns(Set::new([Number::from(1)]).unwrap()),
        item: item! { "deep" => list![1, map! { "s" => set(&["q"]) }] },
    }
}

#[test]
fn each_type_round_trips() {
    let everything = everything();
    for read in round_trip(&everything) {
        assert_eq!(read, everything);
    }
}

#[test]
fn each_rust_type_has_its_attribute_type() {
    let item = Item::from_struct(&everything()).unwrap();
    let kinds: BTreeMap<&str, &str> =
        item.iter().map(|(name, value)| (name, value.type_code())).collect();
    let expected = [
        ("S", "text letter"),
        ("N", "small large huge float short some wrapper number"),
        ("BOOL", "yes"),
        ("NULL", "none unit"),
        ("L", "pair list shapes"),
        ("M", "names numbers letters item"),
        ("B", "bytes"),
        ("SS", "strings"),
        ("BS", "binaries"),
        ("NS", "value"),
    ];
    for (code, names) in expected {
        for name in names.split(' ') {
            assert_eq!(kinds[name], code, "{name}");
        }
    }
    assert_eq!(
        item.get("shapes").unwrap().to_value(),
        list![
            "Unit",
            map! { "Newtype" => 1 },
            map! { "Tuple" => list![-1, "t"] },
            map! { "Struct" => map! {
                "x" => Value::try_from(1.5).unwrap(),
                "y" => Value::Null,
            } },
        ]
    );
}

#[test]
fn structs_borrow_from_the_item() {
    #[derive(Deserialize)]
    struct Borrowed<'a> {
        text: &'a str,
        bytes: &'a [u8],
    }
    let item = item! { "text" => "abc", "bytes" => b"xyz", "more" => 1 }.into_encoded();
    let read: Borrowed<'_> = item.to_struct().unwrap();
    assert_eq!((read.text, read.bytes), ("abc", &b"xyz"[..]));
}

#[test]
fn tagged_and_untagged_enums_round_trip() {
    let order = Internal::Order {
        total: "12345678901234567890.5".parse().unwrap(),
        tags: set(&["x", "y"]),
    };
    for value in [Internal::Empty, order] {
        for read in round_trip(&value) {
            assert_eq!(read, value);
        }
    }
    let values = [
        Untagged::Count(1),
        Untagged::Exact("-0.5".parse().unwrap()),
        Untagged::Exact("12345678901234567890123456789.5".parse().unwrap()),
        Untagged::Names(vec!["a".into()]),
        Untagged::Other { inner: 3.into() },
    ];
    for value in values {
        for read in round_trip(&value) {
            assert_eq!(read, value);
        }
    }
}

#[test]
fn flattened_structs_round_trip() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Key {
        pk: String,
        version: u32,
    }
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Entity {
        #[serde(flatten)]
        key: Key,
        ratio: f64,
        tags: Set<String>,
        #[serde(flatten)]
        rest: Map,
    }
    let entity = Entity {
        key: Key { pk: "a".into(), version: 3 },
        ratio: 2.0,
        tags: set(&["t"]),
        rest: map! {
            "exact" => "12345678901234567890.5".parse::<Number>().unwrap(),
            "bytes" => b"\0",
            "list" => list![1, Value::Null, map! { "k" => -1 }],
        },
    };
    for read in round_trip(&entity) {
        assert_eq!(read, entity);
    }
}

#[test]
fn sets_deserialize_into_ordinary_collections() {
    let value = Value::from(set(&["a", "b"]));
    assert_eq!(value.to_struct::<Vec<String>>().unwrap(), ["a", "b"]);
    assert_eq!(value.to_struct::<HashSet<&str>>().unwrap(), HashSet::from(["a", "b"]));
    assert!(list!["a"].to_struct::<Set<String>>().is_err());
}

#[test]
fn number_out_of_range_is_rejected() {
    assert!(Value::from(300).to_struct::<u8>().is_err());
    assert!(Value::from(-1).to_struct::<u64>().is_err());
    let half = Value::try_from(1.5).unwrap();
    let error = half.to_struct::<i64>().unwrap_err();
    assert_eq!(error.message(), "invalid value: number 1.5, expected i64");
    assert_eq!(half.to_struct::<f32>().unwrap(), 1.5);
    assert!(Value::from("1").to_struct::<u8>().is_err());
    assert!(Value::from_struct(&f64::NAN).is_err());
    assert!(Value::from_struct(&u128::MAX).is_err());
    let huge = Value::try_from(10u128.pow(38)).unwrap();
    assert_eq!(huge.to_struct::<u128>().unwrap(), 10u128.pow(38));
}

#[test]
fn only_structs_and_maps_are_items() {
    assert!(Item::from_struct("text").is_err());
    assert!(Item::from_struct(&Shape::Unit).is_err());
    assert_eq!(Item::from_struct(&Shape::Newtype(1)).unwrap(), item! { "Newtype" => 1 });
    assert!(Item::from_struct(&BTreeMap::from([(Some(vec![1]), 1)])).is_err());
}

#[test]
fn struct_nested_over_31_levels_is_rejected() {
    #[derive(Serialize)]
    struct Deep(Option<Box<[Deep; 1]>>);
    let deep = |levels: usize| (0..levels).fold(Deep(None), |deep, _| Deep(Some(Box::new([deep]))));
    assert!(Value::from_struct(&deep(31)).is_ok());
    assert!(Item::from_struct(&BTreeMap::from([("v", deep(31))])).is_ok());
    let error = Item::from_struct(&BTreeMap::from([("v", deep(32))])).unwrap_err();
    assert!(error.message().starts_with("Nesting Levels have exceeded supported limits"));
    // A set is not a nesting level, even inside the last one.
    let set = (0..31).fold(Value::from(set(&["a"])), |inner, _| list![inner]);
    assert_eq!(Value::from_struct(&set).unwrap(), set);
}

#[test]
fn json_has_the_content_of_values() {
    let item = item! {
        "n" => "1.5".parse::<Number>().unwrap(),
        "ss" => set(&["a"]),
        "l" => list![1, Value::Null],
    };
    let json = serde_json::to_string(&item).unwrap();
    assert_eq!(json, r#"{"l":["1",null],"n":"1.5","ss":["a"]}"#);
    assert_eq!(serde_json::from_str::<Number>("1.5").unwrap(), "1.5".parse().unwrap());
    assert_eq!(serde_json::from_str::<Number>("\"1.5\"").unwrap(), "1.5".parse().unwrap());
    assert_eq!(serde_json::from_str::<Set<String>>(r#"["a"]"#).unwrap(), set(&["a"]));
    let value: Value = serde_json::from_str(r#"{"a":[1,2.5,"x",true,null]}"#).unwrap();
    let half = Value::try_from(2.5).unwrap();
    assert_eq!(value, Value::M(map! { "a" => list![1, half, "x", true, Value::Null] }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn values_round_trip(value in value()) {
        for read in round_trip(&value) {
            prop_assert_eq!(&read, &value);
        }
    }

    #[test]
    fn items_round_trip(item in item()) {
        prop_assert_eq!(&Item::from_struct(&item).unwrap(), &item);
        prop_assert_eq!(&item.to_struct::<Item>().unwrap(), &item);
    }

    #[test]
    fn numbers_stay_exact_where_serde_buffers(number in number()) {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        #[serde(untagged)]
        enum Buffered {
            Number { number: Number, value: Value },
        }
        let buffered = Buffered::Number { number, value: Value::N(number) };
        for read in round_trip(&buffered) {
            prop_assert_eq!(&read, &buffered);
        }
    }

    #[test]
    fn integers_and_floats_round_trip(
        small in any::<i64>(), wide in any::<u64>(), float in -1e100f64..1e100, short in any::<i32>(),
    ) {
        let short = short as f32 / 128.0;
        let value = (small, wide, float, short);
        for read in round_trip(&value) {
            prop_assert_eq!(read, value);
        }
    }
}
