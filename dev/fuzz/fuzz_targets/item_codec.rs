//! Encoded items: nothing panics, and what decodes is canonical.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use tabla_core::Item;

fuzz_target!(|data: &[u8]| {
    let Ok(item) = Item::decode(Bytes::copy_from_slice(data)) else { return };
    let tree = Item::from(item.to_map());
    assert_eq!(tree, item);
    assert_eq!(tree.size(), item.size());
    assert_eq!(tree.encode(), data, "there is one encoding of an item");
    assert_eq!(Item::from_json(&item.to_json()).expect("an item is written as valid JSON"), item);
});
