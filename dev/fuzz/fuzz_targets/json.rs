//! DynamoDB JSON: parsing never panics, and writing and encoding lose nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tabla_core::Item;

fuzz_target!(|data: &[u8]| {
    let Ok(item) = Item::from_json_slice(data) else { return };
    let mut text = Vec::new();
    item.write_json(&mut text);
    assert_eq!(Item::from_json_slice(&text).expect("written JSON can be parsed"), item);
    if item.validate().is_ok() {
        let encoded = Item::decode(item.encode()).expect("an encoded item can be decoded");
        assert_eq!(encoded, item);
        assert_eq!(encoded.size(), item.size());
    }
});
