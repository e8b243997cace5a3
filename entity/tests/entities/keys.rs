//! Keys are built from fields, and fields are read back.

use proptest::prelude::*;
use tabla_core::{Item, ValueRef, item};
use tabla_entity::{Entity, EntityKey, Id, Sharded, UtcTime};

use crate::design::*;

#[test]
fn an_entity_is_the_item_that_its_design_says() {
    let order = Order {
        courier: Some(id("zoe")),
        placed_at: time("2025-08-18T10:30:00Z"),
        ..order("ana", 42)
    };
    let item = order.to_item().unwrap();
    assert_eq!(
        item,
        item! {
            "PK" => "CUSTOMER#ana", "SK" => "ORDER#00000042", "type" => "ORDER",
            "GSI1PK" => "STATUS#open", "GSI1SK" => "0000004200#2025-08-18T10:30:00Z",
            "GSI2PK" => "COURIER#zoe", "GSI2SK" => "CUSTOMER#ana",
            "number" => 42, "status" => "open", "total" => 4200, "courier" => "zoe",
            "placedAt" => "2025-08-18T10:30:00Z", "updatedAt" => "1970-01-01T00:00:00Z",
            "revision" => 0, "note" => tabla_core::Value::Null,
        }
    );
    assert_eq!(Order::from_item(&item).unwrap(), order);
    assert_eq!(Order::from_item(&item.into_encoded()).unwrap(), order);
    let sparse = crate::design::order("ana", 42).to_item().unwrap();
    assert!(
        !sparse.contains("GSI2PK") && !sparse.contains("GSI2SK") && !sparse.contains("courier")
    );
}

#[test]
fn an_item_of_another_kind_is_refused() {
    let customer = customer("ana", None).to_item().unwrap();
    let error = Order::from_item(&customer).unwrap_err();
    assert_eq!(error.message(), "an item cannot be read as Order: its type is not ORDER");
    let wrong = order("ana", 1).to_item().unwrap().with("SK", "ORDER#1");
    let error = Order::from_item(&wrong).unwrap_err();
    assert!(error.message().contains("not a key of the form ORDER#{number:08}"), "{error}");
}

#[test]
fn keys_are_refused_where_they_would_be_ambiguous() {
    let order = Order { total: u32::MAX, ..order("ana", 100_000_000) };
    let error = order.to_item().unwrap_err();
    assert_eq!(error.message(), "100000000 does not fit the 8 digits that its key has for it");
    assert!(Id::new("a#b").is_err() && Id::new("").is_err() && Id::new("a\nb").is_err());
    // An escaped part has any text, and still only one key.
    let guard = |email: &str| {
        let customer = customer("ana", Some(email));
        let unique = &Customer::design().unique[0];
        unique.partition.render(&|name| customer.field(name)).unwrap().unwrap()
    };
    assert_eq!(guard("a#b%c"), "EMAIL#a%23b%25c");
    assert_ne!(guard("a#b"), guard("a%23b"));
}

#[test]
fn an_entity_is_recognised_by_its_key_where_it_has_no_tag() {
    let event = Event {
        user: id("ana"),
        event: id("e1"),
        at: time("2025-08-18T10:30:00Z"),
        kind: "open".into(),
    };
    let item = event.to_item().unwrap();
    assert!(Event::design().recognises(&item));
    assert!(!Event::design().recognises(&order("ana", 1).to_item().unwrap()));
    assert_eq!(Event::from_item(&item).unwrap(), event);
    assert_eq!(EventKey::from_item(&item).unwrap(), event.to_key());
    // With one shard, the key is as if there were none.
    assert_eq!(item.get("GSI1PK"), Some(ValueRef::S("HOT")));
}

fn ids() -> impl Strategy<Value = Id> {
    "[a-c#%]{1,3}".prop_filter_map("no separator", |text| Id::new(text).ok())
}

proptest! {
    #[test]
    fn distinct_fields_have_distinct_keys_and_read_back(
        one in (ids(), 0..100_000_000_u32), other in (ids(), 0..100_000_000_u32),
    ) {
        let key = |(customer, number): &(Id, u32)| Order::key(customer, *number);
        let (a, b) = (key(&one), key(&other));
        prop_assert_eq!(a == b, a.to_item().unwrap() == b.to_item().unwrap());
        prop_assert_eq!(OrderKey::from_item(&a.to_item().unwrap()).unwrap(), a);
    }

    #[test]
    fn keys_of_several_fields_read_back(user in ids(), event in ids(), secs in 0..4_000_000_000_u64) {
        let key = Event::key(user, event, UtcTime::from_secs(secs));
        let item = key.to_item().unwrap();
        prop_assert_eq!(EventKey::from_item(&item).unwrap(), key);
    }

    #[test]
    fn padded_numbers_sort(one in 0..100_000_000_u32, other in 0..100_000_000_u32) {
        let sort = |number| {
            let key = Order::key(id("a"), number).to_item().unwrap();
            key.get("SK").unwrap().as_str().unwrap().to_owned()
        };
        prop_assert_eq!(sort(one).cmp(&sort(other)), one.cmp(&other));
    }

    #[test]
    fn shards_read_back(name in ids(), number in 0..20_u32) {
        let key = Count::key(name, Sharded::new(number).unwrap());
        let item: Item = key.to_item().unwrap();
        prop_assert_eq!(CountKey::from_item(&item).unwrap(), key);
    }
}
