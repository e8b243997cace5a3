//! Entities by their keys: many of them, and parts of them.

use std::sync::Arc;

use serde::Deserialize;
use tabla_core::ops::PutItem;
use tabla_core::{MemoryStore, Projection, item};
use tabla_entity::{Db, Id, View};

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
    let key = |number: &u32| Order::key(id("ana"), *number);
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
    assert_eq!(db.eventual().get_all(&keys[255..]).await.unwrap(), expected[255..]);
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
    let keys = ["p10", "p", "p1"].map(|name| Payment::key(id(name)));
    let found = db.get_all(&keys).await.unwrap();
    assert_eq!(found, [Some(payment("p10")), None, Some(payment("p1"))]);
}

#[tokio::test]
async fn one_of_another_kind_is_not_passed_over() {
    let (db, _) = scripted().await;
    let refund = item! { "PK" => "CUSTOMER#ana", "SK" => "ORDER#00000002", "type" => "REFUND" };
    db.store().put(PutItem::new("shop", refund)).await.unwrap();
    let keys = [1, 2].map(|number| Order::key(id("ana"), number));
    let error = db.get_all(&keys).await.unwrap_err();
    assert_eq!(
        error.message(),
        "an item cannot be read as Order: its type is not ORDER (key {\"PK\": \
         {\"S\":\"CUSTOMER#ana\"}, \"SK\": {\"S\":\"ORDER#00000002\"}})"
    );
}

/// What is shown of an order.
#[derive(Clone, Debug, PartialEq, Deserialize, View)]
#[view(of = Order)]
struct Shown {
    customer: Id,
    number: u32,
    status: Status,
    note: Option<String>,
}

/// Who has paid.
#[derive(Clone, Debug, PartialEq, Deserialize, View)]
#[view(of = Payment)]
struct Payer {
    payment_id: Id,
    user_id: Id,
}

#[tokio::test]
async fn view_asks_for_its_own_attributes_alone() {
    let (db, store) = scripted().await;
    let full = db.create(Order { total: 7, ..order("ana", 1) }).await.unwrap().done().unwrap();
    let key = Order::key(id("ana"), 1);
    let shown = Shown { customer: id("ana"), number: 1, status: full.status, note: None };
    assert_eq!(db.get(&key).await.unwrap(), Some(full));
    assert_eq!(db.get_view(&key).await.unwrap(), Some(shown));
    let [whole, part] = &store.take_gets()[..] else { panic!("there were two requests") };
    assert_eq!(whole.projection, None);
    let attributes = Projection::new(["PK", "SK", "note", "number", "status", "type"]);
    assert_eq!(part.projection, Some(attributes.into()));
    assert!(part.consistent_read);
    let missing = Order::key(id("ana"), 2);
    assert_eq!(db.get_view::<Shown>(&missing).await.unwrap(), None);
    // The tag is part of the request, so that items of another kind are recognised.
    let refund = item! { "PK" => "CUSTOMER#ana", "SK" => "ORDER#00000002", "type" => "REFUND" };
    db.store().put(PutItem::new("shop", refund)).await.unwrap();
    let error = db.get_view::<Shown>(&missing).await.unwrap_err();
    assert_eq!(error.message(), "an item cannot be read as Shown: its type is not ORDER");
}

#[tokio::test]
async fn view_of_a_key_attribute_asks_for_it_once() {
    let (db, _) = scripted().await;
    let payment = Payment {
        payment_id: id("p1"),
        user_id: id("ana"),
        paid_at: time("2025-08-18T10:30:00Z"),
        amount: 3,
    };
    db.create(payment).await.unwrap().done().unwrap();
    let payer = Payer { payment_id: id("p1"), user_id: id("ana") };
    assert_eq!(db.get_view(&Payment::key(id("p1"))).await.unwrap().as_ref(), Some(&payer));
    assert_eq!(db.all(Payment::by_user(id("ana")).view::<Payer>()).await.unwrap(), [payer]);
}
