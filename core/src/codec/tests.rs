use bytes::Bytes;
use proptest::prelude::*;

use crate::value::arbitrary::item;
use crate::{ErrorKind, Item, Value, item, list, map};

fn refusal(bytes: &[u8]) -> String {
    let error =
        Item::decode(Bytes::copy_from_slice(bytes)).expect_err("the bytes must be rejected");
    assert_eq!(*error.kind(), ErrorKind::Corrupt);
    error.message().to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn encoded_item_decodes_to_the_same_item(item in item()) {
        let bytes = item.encode();
        let decoded = Item::decode(bytes.clone()).unwrap();
        prop_assert_eq!(&decoded, &item);
        prop_assert_eq!(decoded.size(), Item::from(item.to_map()).size());
        prop_assert_eq!(Item::from(decoded.to_map()).encode(), bytes);
    }

    #[test]
    fn random_bytes_are_rejected_or_canonical(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..64), version in any::<bool>(),
    ) {
        if version && !bytes.is_empty() {
            bytes[0] = super::VERSION;
        }
        let bytes = Bytes::from(bytes);
        if let Ok(item) = Item::decode(bytes.clone()) {
            prop_assert_eq!(Item::from(item.to_map()).encode(), bytes);
        }
    }

    /// Changes one byte of an encoded item, so that most branches of the reader are reached.
    #[test]
    fn damaged_bytes_are_rejected_or_canonical(
        item in item(), at in any::<prop::sample::Index>(), with in any::<u8>(), cut in any::<bool>(),
    ) {
        let mut bytes = item.encode().to_vec();
        let at = at.index(bytes.len());
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] = with;
        }
        let bytes = Bytes::from(bytes);
        if let Ok(item) = Item::decode(bytes.clone()) {
            prop_assert_eq!(Item::from(item.to_map()).encode(), bytes);
        }
    }
}

/// The example is that of `docs/item-format.md`.
#[test]
fn encoding_matches_the_documented_example() {
    let item = item! {
        "pk" => "a",
        "n" => -1,
        "l" => list![true, Value::Null],
    };
    let bytes: &[u8] = &[
        1, 15, 3, // version, size, attributes
        1, b'l', 8, 3, 2, 5, 6, // l: a list of 3 bytes with 2 elements, true and null
        1, b'n', 2, 0x3E, 0xFD, // n: the number -1
        2, b'p', b'k', 1, 1, b'a', // pk: the string a
    ];
    assert_eq!(&item.encode()[..], bytes);
    assert_eq!(Item::new().encode()[..], [1, 0, 0]);
}

#[test]
fn non_canonical_bytes_are_rejected() {
    let cases: [(&[u8], &str); 22] = [
        (&[], "no bytes"),
        (&[0, 0, 0], "unknown format version 0; this program reads version 1; upgrade tabla"),
        (&[2, 0, 0], "unknown format version 2; this program reads version 1; upgrade tabla"),
        (&[1], "the item size is not a valid varint"),
        (&[1, 0x80, 0], "the item size is not a valid varint"),
        (&[1, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F, 0], "the item size is not a valid varint"),
        (&[1, 0], "the attribute count is not a valid varint"),
        (&[1, 0, 0, 0], "bytes follow the last element"),
        (&[1, 1, 0], "its header has size 1, its attributes 0"),
        (&[1, 2, 1, 1, b'a'], "the bytes end inside a value"),
        (&[1, 2, 1, 1, b'a', 12], "unknown value tag 12"),
        (&[1, 4, 2, 1, b'b', 6, 1, b'a', 6], "attribute names are not in order"),
        (&[1, 4, 2, 1, b'a', 6, 1, b'a', 6], "attribute names are not in order"),
        (&[1, 2, 1, 1, 0xFF, 6], "a string is not UTF-8"),
        (&[1, 2, 1, 1, b'a', 1, 1, 0xFF], "a string is not UTF-8"),
        (&[1, 2, 1, 1, b'a', 1, 9, b'x'], "bad length, or the bytes end inside a value"),
        (&[1, 2, 1, 1, b'a', 2, 0xC1, 0x00], "malformed number"),
        (&[1, 1, 1, 1, b'a', 9, 1, 0], "empty set"),
        (&[1, 3, 1, 1, b'a', 9, 5, 2, 1, b'y', 1, b'x'], "set members are not in order"),
        (&[1, 3, 1, 1, b'a', 10, 5, 2, 0xC1, 2, 0xC1, 2], "set members are not in order"),
        (&[1, 4, 1, 1, b'a', 8, 2, 0, 6], "bytes follow the last element"),
        (&[1, 4, 1, 1, b'a', 7, 0], "the element count is not a valid varint"),
    ];
    for (bytes, text) in cases {
        assert_eq!(refusal(bytes), format!("corrupt item: {text}"), "{bytes:?}");
    }
}

#[test]
fn item_nested_over_31_levels_is_rejected() {
    let nested = |levels: usize| {
        (0..levels).fold(Value::Null, |inner, level| {
            if level.is_multiple_of(2) { list![inner] } else { Value::M(map! { "m" => inner }) }
        })
    };
    let allowed = item! { "v" => nested(31) };
    assert_eq!(Item::decode(allowed.encode()).unwrap(), allowed);
    let refused = item! { "v" => nested(32) }.encode();
    assert_eq!(refusal(&refused), "corrupt item: more than 31 lists and maps are nested");
}

/// The length of the container needs more than the one byte that is reserved for it.
#[test]
fn container_over_127_bytes_decodes() {
    for length in [100, 126, 127, 128, 129, 20_000, 3_000_000] {
        let item = item! { "l" => list!["x".repeat(length), list!["y".repeat(length)], 1] };
        let encoded = item.clone().into_encoded();
        assert_eq!(Item::decode(encoded.encode()).unwrap(), item);
    }
}
