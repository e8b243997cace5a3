use bytes::Bytes;
use proptest::prelude::*;

use crate::value::arbitrary::item;
use crate::{ErrorKind, Item, Value, item, list, map};

fn refusal(bytes: &[u8]) -> String {
    let error = Item::decode(Bytes::copy_from_slice(bytes)).expect_err("bytes must be refused");
    assert_eq!(*error.kind(), ErrorKind::Corrupt);
    error.message().to_owned()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn items_read_back(item in item()) {
        let bytes = item.encode();
        let decoded = Item::decode(bytes.clone()).unwrap();
        prop_assert_eq!(&decoded, &item);
        prop_assert_eq!(decoded.size(), Item::from(item.to_map()).size());
        prop_assert_eq!(Item::from(decoded.to_map()).encode(), bytes);
    }

    #[test]
    fn any_bytes_are_refused_or_the_only_bytes_of_their_item(
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

    /// Close to the real thing, so that most branches of the reader are met.
    #[test]
    fn damaged_bytes_are_refused_or_the_only_bytes_of_their_item(
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

/// The example of `docs/item-format.md`.
#[test]
fn bytes_are_those_of_the_documentation() {
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
fn whatever_is_not_canonical_is_refused() {
    let cases: [(&[u8], &str); 22] = [
        (&[], "no bytes"),
        (&[0, 0, 0], "unknown format version 0"),
        (&[2, 0, 0], "unknown format version 2"),
        (&[1], "bad item size"),
        (&[1, 0x80, 0], "bad item size"),
        (&[1, 0xFF, 0xFF, 0xFF, 0xFF, 0x1F, 0], "bad item size"),
        (&[1, 0], "bad attribute count"),
        (&[1, 0, 0, 0], "bytes left over"),
        (&[1, 1, 0], "the item size in the head is wrong"),
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
        (&[1, 4, 1, 1, b'a', 8, 2, 0, 6], "bytes left over"),
        (&[1, 4, 1, 1, b'a', 7, 0], "bad element count"),
    ];
    for (bytes, text) in cases {
        assert_eq!(refusal(bytes), format!("corrupt item: {text}"), "{bytes:?}");
    }
}

#[test]
fn nesting_is_limited() {
    let nested = |levels: usize| {
        (0..levels).fold(Value::Null, |inner, level| {
            if level.is_multiple_of(2) { list![inner] } else { Value::M(map! { "m" => inner }) }
        })
    };
    let allowed = item! { "v" => nested(31) };
    assert_eq!(Item::decode(allowed.encode()).unwrap(), allowed);
    let refused = item! { "v" => nested(32) }.encode();
    assert_eq!(refusal(&refused), "corrupt item: nested too deeply");
}

/// A container whose length needs more than the one byte first kept for it.
#[test]
fn long_containers_read_back() {
    for length in [100, 126, 127, 128, 129, 20_000, 3_000_000] {
        let item = item! { "l" => list!["x".repeat(length), list!["y".repeat(length)], 1] };
        let encoded = item.clone().into_encoded();
        assert_eq!(Item::decode(encoded.encode()).unwrap(), item);
    }
}
