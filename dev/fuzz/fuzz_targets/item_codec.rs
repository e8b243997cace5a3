//! Encoded items: decoding never panics, and decoded bytes are canonical.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use tabla_core::Item;

fuzz_target!(|data: &[u8]| {
    let Ok(item) = Item::decode(Bytes::copy_from_slice(data)) else { return };
    let tree = Item::from(item.to_map());
    assert_eq!(tree, item);
    assert_eq!(tree.size(), item.size());
    assert_eq!(tree.encode(), data, "an item has one encoding");
    assert_eq!(Item::from_json(&item.to_json()).expect("the JSON of an item is valid"), item);
});
