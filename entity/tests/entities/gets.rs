//! Entities by their keys: many of them, and parts of them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tabla_core::ops::PutItem;
use tabla_core::{MemoryStore, Projection, item};
use tabla_entity::{Db, Entity, Id};

use crate::design::*;
use crate::scripted::Scripted;

async fn scripted() -> (Db, Arc<Scripted>) {
    let store = Arc::new(Scripted::new(MemoryStore::new()));
    let db = Db::new(store.clone());
    db.create_table(&SHOP).await.unwrap();
    db.create_table(&PAYMENTS).await.unwrap();
    (db, store)
}

#[tokio::test]
async fn all_are_given_in_the_order_of_their_keys() {
    let (db, store) = scripted().await;
    let mut orders = Vec::new();
    for number in 0..250 {
        orders.push(db.create(order("ana", number)).await.unwrap().done().unwrap());
    }
    // Backwards, some of them twice, and some that are not there.
    let numbers: Vec<u32> = (0..260).rev().chain([7, 7, 300, 7]).collect();
    let key = |number: &u32| OrderKey { customer: id("ana"), number: *number };
    let keys: Vec<OrderKey> = numbers.iter().map(key).collect();
    let found = db.get_all(&keys).await.unwrap();
    let expected: Vec<Option<Order>> =
        numbers.iter().map(|number| orders.get(*number as usize).cloned()).collect();
    assert_eq!(found, expected);
    let batches = store.take_batches();
    assert!(batches.iter().all(|batch| batch.keys.len() <= 100 && batch.consistent_read));
    let first = batches.iter().filter(|batch| batch.keys.len() == 100).count();
    assert_eq!(first, 2, "261 different keys");
    assert!(batches.len() > 3, "what was left was asked for again");
    assert_eq!(db.get_all_eventually(&keys[255..]).await.unwrap(), expected[255..]);
    assert!(store.take_batches().iter().all(|batch| !batch.consistent_read));
    assert_eq!(db.get_all::<OrderKey>(&[]).await.unwrap(), []);
    assert!(store.take_batches().is_empty());
}

#[tokio::test]
async fn keys_that_are_attributes_are_told_apart() {
    let (db, _) = scripted().await;
    let payment = |name: &str| Payment {
        payment_id: id(name),
        user_id: id("ana"),
        paid_at: time("2025-08-18T10:30:00Z"),
        amount: 3,
    };
    for name in ["p1", "p10"] {
        db.create(payment(name)).await.unwrap().done().unwrap();
    }
    let keys = ["p10", "p", "p1"].map(|name| PaymentKey { payment_id: id(name) });
    let found = db.get_all(&keys).await.unwrap();
    assert_eq!(found, [Some(payment("p10")), None, Some(payment("p1"))]);
}

#[tokio::test]
async fn one_of_another_kind_is_not_passed_over() {
    let (db, _) = scripted().await;
    let refund = item! { "PK" => "CUSTOMER#ana", "SK" => "ORDER#00000002", "type" => "REFUND" };
    db.store().put(PutItem::new("shop", refund)).await.unwrap();
    let keys = [1, 2].map(|number| OrderKey { customer: id("ana"), number });
    let error = db.get_all(&keys).await.unwrap_err();
    assert_eq!(
        error.message(),
        "an item cannot be read as Order: its type is not ORDER (key {\"PK\": \
         {\"S\":\"CUSTOMER#ana\"}, \"SK\": {\"S\":\"ORDER#00000002\"}})"
    );
}

/// What is shown of an order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = SHOP, tag("type" = "ORDER"), pk = "CUSTOMER#{customer}", sk = "ORDER#{number:08}")]
struct Shown {
    #[entity(key_only)]
    customer: Id,
    number: u32,
    status: Status,
    note: Option<String>,
}

/// Who has paid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = PAYMENTS, pk = payment_id)]
struct Payer {
    payment_id: Id,
    user_id: Id,
}

#[tokio::test]
async fn no_more_is_asked_for_than_the_entity_has() {
    let (db, store) = scripted().await;
    let full = db.create(Order { total: 7, ..order("ana", 1) }).await.unwrap().done().unwrap();
    let key = ShownKey { customer: id("ana"), number: 1 };
    let shown = Shown { customer: id("ana"), number: 1, status: full.status, note: None };
    assert_eq!(db.get(&key).await.unwrap(), Some(shown.clone()));
    assert_eq!(db.get_projected(&key).await.unwrap(), Some(shown));
    let [whole, part] = &store.take_gets()[..] else { panic!("two were asked") };
    assert_eq!(whole.projection, None);
    let attributes = Projection::new(["PK", "SK", "note", "number", "status", "type"]);
    assert_eq!(part.projection, Some(attributes.into()));
    assert!(part.consistent_read);
    let missing = ShownKey { customer: id("ana"), number: 2 };
    assert_eq!(db.get_projected(&missing).await.unwrap(), None);
    // What the item is, is asked for, too.
    let refund = item! { "PK" => "CUSTOMER#ana", "SK" => "ORDER#00000002", "type" => "REFUND" };
    db.store().put(PutItem::new("shop", refund)).await.unwrap();
    let error = db.get_projected(&missing).await.unwrap_err();
    assert_eq!(error.message(), "an item cannot be read as Shown: its type is not ORDER");
}

#[tokio::test]
async fn a_key_that_is_a_field_is_asked_for_once() {
    let (db, _) = scripted().await;
    let payment = Payment {
        payment_id: id("p1"),
        user_id: id("ana"),
        paid_at: time("2025-08-18T10:30:00Z"),
        amount: 3,
    };
    db.create(payment).await.unwrap().done().unwrap();
    let found = db.get_projected(&PayerKey { payment_id: id("p1") }).await.unwrap();
    assert_eq!(found, Some(Payer { payment_id: id("p1"), user_id: id("ana") }));
}
