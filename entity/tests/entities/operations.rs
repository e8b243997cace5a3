//! Creating, replacing, saving, updating and deleting.

use std::time::Duration;

use tabla_core::{ErrorKind, StoreExt};
use tabla_entity::{Change, Entity, Outcome, Transacted};

use crate::design::*;

#[tokio::test]
async fn create_writes_what_was_not_there() {
    let (db, _) = db().await;
    let created = db.create(order("ana", 1)).await.unwrap().done().unwrap();
    assert_eq!(created.placed_at, time("2025-08-18T10:30:00Z"));
    assert_eq!((created.updated_at, created.revision), (created.placed_at, 1));
    assert_eq!(db.get(&created.key()).await.unwrap(), Some(created.clone()));
    assert_eq!(db.get_eventually(&created.key()).await.unwrap(), Some(created.clone()));
    let again = db.create(order("ana", 1)).await.unwrap();
    assert_eq!(again, Outcome::Lost(Some(created)));
}

#[tokio::test]
async fn replace_and_save_know_what_was_there() {
    let (db, clock) = db().await;
    let count = |count| Count { name: id("likes"), shard: Default::default(), count };
    assert_eq!(db.replace(count(1)).await.unwrap(), Outcome::Lost(None));
    db.create(count(1)).await.unwrap().done().unwrap();
    assert_eq!(db.replace(count(2)).await.unwrap(), Outcome::Done(count(2)));
    assert_eq!(db.put(count(3)).await.unwrap(), count(3));
    assert_eq!(db.get(&count(0).key()).await.unwrap(), Some(count(3)));
    let refused = db.put(order("ana", 1)).await.unwrap_err();
    assert!(refused.message().contains("counts its writes in `revision`"), "{refused}");
    let refused = db.replace(order("ana", 1)).await.unwrap_err();
    assert!(refused.message().contains("counts its writes in `revision`"), "{refused}");
    let first = db.create(order("ana", 1)).await.unwrap().done().unwrap();
    clock.advance(Duration::from_secs(60));
    let mut mine = first.clone();
    mine.total = 5;
    let saved = db.save(mine).await.unwrap().done().unwrap();
    assert_eq!((saved.revision, saved.updated_at), (2, time("2025-08-18T10:31:00Z")));
    assert_eq!(saved.placed_at, first.placed_at);
    let mut theirs = first;
    theirs.total = 6;
    assert_eq!(db.save(theirs).await.unwrap(), Outcome::Lost(Some(saved)));
    let new = db.save(order("ana", 2)).await.unwrap().done().unwrap();
    assert_eq!(new.revision, 1);
}

#[tokio::test]
async fn an_update_rewrites_the_keys_that_its_fields_stand_in() {
    let (db, _) = db().await;
    let order = db.create(order("ana", 1)).await.unwrap().done().unwrap();
    let change = Change::of(&order)
        .set(Order::STATUS, Status::Paid)
        .set(Order::COURIER, id("zoe"))
        .when(Order::STATUS.eq(Status::Open));
    let paid = db.update(change).await.unwrap().done().unwrap();
    let item = db.store().get_item("shop", order.key_item()).await.unwrap().unwrap();
    assert_eq!(item, paid.to_item().unwrap(), "as if it had been written whole");
    let back = db.update(Change::of(&paid).clear(Order::COURIER)).await.unwrap().done().unwrap();
    let item = db.store().get_item("shop", order.key_item()).await.unwrap().unwrap();
    assert_eq!(item, back.to_item().unwrap());
    assert!(!item.contains("GSI2PK"));
    let lost = db
        .update(
            Change::of(&back).set(Order::STATUS, Status::Paid).when(Order::STATUS.eq(Status::Open)),
        )
        .await
        .unwrap();
    assert_eq!(lost, Outcome::Lost(Some(back)));
}

trait KeyItem {
    fn key_item(&self) -> tabla_core::Item;
}

impl<E: Entity> KeyItem for E {
    fn key_item(&self) -> tabla_core::Item {
        tabla_entity::EntityKey::to_item(&self.key()).unwrap()
    }
}

#[tokio::test]
async fn a_blind_update_must_know_every_key_that_it_changes() {
    let (db, _) = db().await;
    let order = db.create(order("ana", 1)).await.unwrap().done().unwrap();
    let refused = db.update(Change::at(order.key()).set(Order::TOTAL, 7_u32)).await.unwrap_err();
    assert_eq!(
        refused.message(),
        "Order: a change of `total` rewrites the key of index GSI1, which also has `placed_at`: \
         read the entity and use Change::of, or set `placed_at` too"
    );
    // The courier's key needs nothing but the courier and the table's key.
    let change = Change::at(order.key()).set(Order::COURIER, id("zoe"));
    let updated = db.update(change).await.unwrap().done().unwrap();
    let item = db.store().get_item("shop", order.key_item()).await.unwrap().unwrap();
    assert_eq!(item, updated.to_item().unwrap());
    let missing = OrderKey { customer: id("ana"), number: 9 };
    let change = Change::at(missing).set(Order::COURIER, id("zoe"));
    assert_eq!(db.update(change).await.unwrap(), Outcome::Lost(None));
}

#[tokio::test]
async fn a_loaded_update_loses_if_a_key_would_be_wrong() {
    let (db, _) = db().await;
    let read = db.create(order("ana", 1)).await.unwrap().done().unwrap();
    let paid = Change::of(&read).set(Order::STATUS, Status::Paid);
    let paid = db.update(paid).await.unwrap().done().unwrap();
    // It was read before: the key would be that of an open order.
    let stale = db.update(Change::of(&read).set(Order::TOTAL, 7_u32)).await.unwrap();
    assert_eq!(stale, Outcome::Lost(Some(paid)));
}

#[tokio::test]
async fn keys_and_immutable_fields_do_not_change() {
    let (db, _) = db().await;
    let order = db.create(order("ana", 1)).await.unwrap().done().unwrap();
    for (change, text) in [
        (Change::of(&order).set(Order::NUMBER, 2_u32), "Order: `number` is part of the key"),
        (
            Change::of(&order).set(Order::PLACED_AT, time("2025-08-18T00:00:00Z")),
            "Order: `placed_at` is immutable",
        ),
        (Change::of(&order).set(Order::REVISION, 9_u32), "Order: `revision` counts by itself"),
        (
            Change::of(&order).add(Order::TOTAL, 1),
            "Order: `total` stands in the key of index GSI1: set it to a value, so that the key \
             can be written with it",
        ),
    ] {
        let error = db.update(change).await.unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Validation);
        assert_eq!(error.message(), text);
    }
}

#[tokio::test]
async fn lists_numbers_and_nested_values_change_in_place() {
    let (db, _) = db().await;
    let ana = db.create(customer("ana", None)).await.unwrap().done().unwrap();
    let change = Change::at(ana.key())
        .append(Customer::TAGS, ["vip"])
        .add(Customer::VISITS, 2)
        .when(!Customer::TAGS.contains("vip"));
    let updated = db.update(change).await.unwrap().done().unwrap();
    assert_eq!((updated.tags.as_slice(), updated.visits), (&["vip".to_owned()][..], 2));
    let change = Change::at(ana.key()).set_inside(Customer::TAGS, |tags| tags.index(0), "gold");
    assert_eq!(db.update(change).await.unwrap().done().unwrap().tags, ["gold"]);
}

#[tokio::test]
async fn delete_returns_what_was_there() {
    let (db, _) = db().await;
    let order = db.create(order("ana", 1)).await.unwrap().done().unwrap();
    let lost = db.delete_when(&order.key(), Order::STATUS.eq(Status::Paid)).await.unwrap();
    assert_eq!(lost, Outcome::Lost(Some(order.clone())));
    assert_eq!(db.delete(&order.key()).await.unwrap(), Outcome::Done(order.clone()));
    assert_eq!(db.delete(&order.key()).await.unwrap(), Outcome::Lost(None));
}

#[tokio::test]
async fn a_unique_value_is_one_entitys() {
    let (db, _) = db().await;
    let ana = db.create(customer("ana", Some("a@x"))).await.unwrap().done().unwrap();
    assert_eq!(
        db.create(customer("eva", Some("a@x"))).await.unwrap(),
        Outcome::Taken { field: "email" }
    );
    let eva = db.create(customer("eva", None)).await.unwrap().done().unwrap();
    assert_eq!(
        db.create(customer("ana", Some("z@x"))).await.unwrap(),
        Outcome::Lost(Some(ana.clone())),
        "an entity that is there counts before a value that is taken"
    );
    // A value that is given up is another's to take.
    let change = Change::of(&ana).set(Customer::EMAIL, "b@x".to_owned());
    let ana = db.update(change).await.unwrap().done().unwrap();
    let change = Change::of(&eva).set(Customer::EMAIL, "b@x".to_owned());
    assert_eq!(db.update(change).await.unwrap(), Outcome::Taken { field: "email" });
    let change = Change::of(&eva).set(Customer::EMAIL, "a@x".to_owned());
    let eva = db.update(change).await.unwrap().done().unwrap();
    assert_eq!(db.delete(&ana.key()).await.unwrap(), Outcome::Done(ana));
    let change = Change::of(&eva).set(Customer::EMAIL, "b@x".to_owned());
    let eva = db.update(change).await.unwrap().done().unwrap();
    let cleared = db.update(Change::of(&eva).clear(Customer::EMAIL)).await.unwrap().done().unwrap();
    assert_eq!(cleared.email, None);
    let items = db.store().all_items("shop").await;
    assert_eq!(items, 1, "no guard is left behind");
    let blind = Change::at(eva.key()).set(Customer::EMAIL, "c@x".to_owned());
    assert!(db.update(blind).await.unwrap_err().message().contains("`email` is unique"));
    assert!(db.replace(eva).await.unwrap_err().message().contains("use update"));
}

#[tokio::test]
async fn a_unique_value_does_not_come_back_with_an_old_reading() {
    let (db, _) = db().await;
    let read = db.create(customer("ana", Some("a@x"))).await.unwrap().done().unwrap();
    let change = Change::of(&read).set(Customer::EMAIL, "b@x".to_owned());
    let ana = db.update(change).await.unwrap().done().unwrap();
    db.create(customer("eva", Some("a@x"))).await.unwrap().done().unwrap();
    // To who has read the old value, nothing seems to change.
    let stale = Change::of(&read).set(Customer::EMAIL, "a@x".to_owned());
    assert_eq!(db.update(stale).await.unwrap(), Outcome::Lost(Some(ana)));
}

#[async_trait::async_trait]
trait Counted: StoreExt {
    async fn all_items(&self, table: &str) -> u64 {
        let table = tabla_core::ops::DescribeTable::new(table);
        self.describe_table(table).await.unwrap().item_count
    }
}

impl<S: tabla_core::Store + ?Sized> Counted for S {}

#[tokio::test]
async fn a_transaction_says_by_name_what_was_lost() {
    let (db, _) = db().await;
    let ana = db.create(customer("ana", Some("a@x"))).await.unwrap().done().unwrap();
    let order = db.create(order("ana", 1)).await.unwrap().done().unwrap();
    let attempt = |status, email: &str| {
        let change = Change::of(&order).set(Order::TOTAL, 9_u32).when(Order::STATUS.eq(status));
        db.transaction()
            .update("order", change)
            .unwrap()
            .check("customer", &ana.key(), Some(Customer::VISITS.eq(0_u32)))
            .unwrap()
            .create("friend", customer("eva", Some(email)))
            .unwrap()
            .run()
    };
    let Transacted::Lost(lost) = attempt(Status::Paid, "a@x").await.unwrap() else {
        panic!("an open order is not paid");
    };
    assert_eq!(lost.names(), ["order", "friend"]);
    assert!(lost.is_lost("order") && !lost.is_lost("customer") && !lost.is_lost("friend"));
    assert_eq!(lost.current::<Order>("order").unwrap(), Some(order.clone()));
    assert_eq!(lost.taken("friend"), Some("email"));
    assert!(matches!(attempt(Status::Open, "e@x").await.unwrap(), Transacted::Done));
    assert_eq!(db.get(&order.key()).await.unwrap().unwrap().total, 9);
    assert!(db.get(&CustomerKey { id: id("eva") }).await.unwrap().is_some());
    let twice = db.transaction().create("a", customer("x", None)).unwrap();
    assert!(twice.create("a", customer("y", None)).is_err());
}

#[tokio::test]
async fn keys_may_be_plain_attributes() {
    let (db, _) = db().await;
    let payment = Payment {
        payment_id: id("p1"),
        user_id: id("ana"),
        paid_at: time("2025-08-18T10:30:00Z"),
        amount: 3,
    };
    assert_eq!(
        payment.to_item().unwrap(),
        tabla_core::item! {
            "payment_id" => "p1", "user_id" => "ana", "paid_at" => "2025-08-18T10:30:00Z",
            "amount" => 3,
        }
    );
    let payment = db.create(payment).await.unwrap().done().unwrap();
    assert_eq!(db.get(&PaymentKey { payment_id: id("p1") }).await.unwrap(), Some(payment.clone()));
    let range = |from: &str, to: &str| {
        Payment::find_by("by-user").with(Payment::USER_ID, id("ana")).between(
            Payment::PAID_AT,
            time(from),
            time(to),
        )
    };
    let found = db.page(range("2025-08-18T10:30:00Z", "2025-08-18T11:00:00Z")).await.unwrap();
    assert_eq!(found.items, [payment]);
    let found = db.page(range("2025-08-18T10:30:01Z", "2025-08-18T11:00:00Z")).await.unwrap();
    assert!(found.items.is_empty());
}
