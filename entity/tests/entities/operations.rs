//! Creating, replacing, saving, updating and deleting.

use std::time::Duration;

use tabla_core::{ErrorKind, StoreExt};
use tabla_entity::Commit::Canceled;
use tabla_entity::{Entity, Outcome};

use crate::design::*;

#[tokio::test]
async fn create_writes_what_was_not_there() {
    let (db, _) = db().await;
    let created = db.create(order("ana", 1)).await.unwrap().done().unwrap();
    assert_eq!(created.placed_at, time("2025-08-18T10:30:00Z"));
    assert_eq!((created.updated_at, created.revision), (created.placed_at, 1));
    assert_eq!(db.get(&created.to_key()).await.unwrap(), Some(created.clone()));
    assert_eq!(db.eventual().get(&created.to_key()).await.unwrap(), Some(created.clone()));
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
    assert_eq!(db.get(&count(0).to_key()).await.unwrap(), Some(count(3)));
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
    let change = order
        .change()
        .set(Order::STATUS, Status::Paid)
        .set(Order::COURIER, id("zoe"))
        .when(Order::STATUS.eq(Status::Open));
    let paid = db.update(change).await.unwrap().done().unwrap();
    let item = db.store().get_item("shop", order.key_item()).await.unwrap().unwrap();
    assert_eq!(item, paid.to_item().unwrap(), "as if it had been written whole");
    let back = db.update(paid.change().clear(Order::COURIER)).await.unwrap().done().unwrap();
    let item = db.store().get_item("shop", order.key_item()).await.unwrap().unwrap();
    assert_eq!(item, back.to_item().unwrap());
    assert!(!item.contains("GSI2PK"));
    let lost = db
        .update(back.change().set(Order::STATUS, Status::Paid).when(Order::STATUS.eq(Status::Open)))
        .await
        .unwrap();
    assert_eq!(lost, Outcome::Lost(Some(back)));
}

trait KeyItem {
    fn key_item(&self) -> tabla_core::Item;
}

impl<E: Entity> KeyItem for E {
    fn key_item(&self) -> tabla_core::Item {
        tabla_entity::EntityKey::to_item(&self.to_key()).unwrap()
    }
}

#[tokio::test]
async fn a_blind_update_must_know_every_key_that_it_changes() {
    let (db, _) = db().await;
    let order = db.create(order("ana", 1)).await.unwrap().done().unwrap();
    let refused = db.update(order.to_key().change().set(Order::TOTAL, 7_u32)).await.unwrap_err();
    assert_eq!(
        refused.message(),
        "Order: a change of `total` rewrites the key of index GSI1, which also has `placed_at`: \
         read the entity and use `entity.change()`, or set `placed_at` too"
    );
    // The courier's key needs nothing but the courier and the table's key.
    let change = order.to_key().change().set(Order::COURIER, id("zoe"));
    let updated = db.update(change).await.unwrap().done().unwrap();
    let item = db.store().get_item("shop", order.key_item()).await.unwrap().unwrap();
    assert_eq!(item, updated.to_item().unwrap());
    let missing = Order::key(id("ana"), 9);
    let change = missing.change().set(Order::COURIER, id("zoe"));
    assert_eq!(db.update(change).await.unwrap(), Outcome::Lost(None));
}

#[tokio::test]
async fn a_loaded_update_loses_if_a_key_would_be_wrong() {
    let (db, _) = db().await;
    let read = db.create(order("ana", 1)).await.unwrap().done().unwrap();
    let paid = read.change().set(Order::STATUS, Status::Paid);
    let paid = db.update(paid).await.unwrap().done().unwrap();
    // It was read before: the key would be that of an open order.
    let stale = db.update(read.change().set(Order::TOTAL, 7_u32)).await.unwrap();
    assert_eq!(stale, Outcome::Lost(Some(paid)));
}

#[tokio::test]
async fn increment_rewrites_an_index_key_and_requires_the_number_that_was_read() {
    let (db, _) = db().await;
    let order = db.create(order("ana", 1)).await.unwrap().done().unwrap();
    let more = || order.change().increment(Order::TOTAL, 5);
    assert_eq!(db.update(more()).await.unwrap().done().unwrap().total, 105);
    assert_eq!(db.all(Order::by_status(Status::Open).total(105)).await.unwrap().len(), 1);
    let Outcome::Lost(Some(present)) = db.update(more()).await.unwrap() else {
        panic!("it is stale")
    };
    assert_eq!(present.total, 105);
    // The sum does not fit a u32.
    let beyond = present.change().increment(Order::TOTAL, u32::MAX);
    assert_eq!(db.update(beyond).await.unwrap(), Outcome::Lost(Some(present)));
}

#[tokio::test]
async fn keys_and_immutable_fields_do_not_change() {
    let (db, _) = db().await;
    let order = db.create(order("ana", 1)).await.unwrap().done().unwrap();
    for (change, text) in [
        (order.change().set(Order::NUMBER, 2_u32), "Order: `number` is part of the key"),
        (
            order.change().set(Order::PLACED_AT, time("2025-08-18T00:00:00Z")),
            "Order: `placed_at` is immutable",
        ),
        (order.change().set(Order::REVISION, 9_u32), "Order: `revision` counts by itself"),
        (
            order.to_key().change().increment(Order::TOTAL, 1),
            "Order: `total` is part of an index key: read the entity and use its change(), so that \
             the sum can be written, or set `total` to a value",
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
    let change = ana
        .to_key()
        .change()
        .append(Customer::TAGS, ["vip"])
        .increment(Customer::VISITS, 2)
        .when(!Customer::TAGS.contains("vip"));
    let updated = db.update(change).await.unwrap().done().unwrap();
    assert_eq!((updated.tags.as_slice(), updated.visits), (&["vip".to_owned()][..], 2));
}

#[tokio::test]
async fn delete_returns_what_was_there() {
    let (db, _) = db().await;
    let order = db.create(order("ana", 1)).await.unwrap().done().unwrap();
    let lost = db.delete_if(&order.to_key(), Order::STATUS.eq(Status::Paid)).await.unwrap();
    assert_eq!(lost, Outcome::Lost(Some(order.clone())));
    assert_eq!(db.delete(&order.to_key()).await.unwrap(), Outcome::Done(order.clone()));
    assert_eq!(db.delete(&order.to_key()).await.unwrap(), Outcome::Lost(None));
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
    let change = ana.change().set(Customer::EMAIL, "b@x".to_owned());
    let ana = db.update(change).await.unwrap().done().unwrap();
    let change = eva.change().set(Customer::EMAIL, "b@x".to_owned());
    assert_eq!(db.update(change).await.unwrap(), Outcome::Taken { field: "email" });
    let change = eva.change().set(Customer::EMAIL, "a@x".to_owned());
    let eva = db.update(change).await.unwrap().done().unwrap();
    assert_eq!(db.delete(&ana.to_key()).await.unwrap(), Outcome::Done(ana));
    let change = eva.change().set(Customer::EMAIL, "b@x".to_owned());
    let eva = db.update(change).await.unwrap().done().unwrap();
    let cleared = db.update(eva.change().clear(Customer::EMAIL)).await.unwrap().done().unwrap();
    assert_eq!(cleared.email, None);
    let items = db.store().all_items("shop").await;
    assert_eq!(items, 1, "no guard is left behind");
    let blind = eva.to_key().change().set(Customer::EMAIL, "c@x".to_owned());
    assert!(db.update(blind).await.unwrap_err().message().contains("`email` is unique"));
    assert!(db.replace(eva).await.unwrap_err().message().contains("use update"));
}

#[tokio::test]
async fn a_unique_value_does_not_come_back_with_an_old_reading() {
    let (db, _) = db().await;
    let read = db.create(customer("ana", Some("a@x"))).await.unwrap().done().unwrap();
    let change = read.change().set(Customer::EMAIL, "b@x".to_owned());
    let ana = db.update(change).await.unwrap().done().unwrap();
    db.create(customer("eva", Some("a@x"))).await.unwrap().done().unwrap();
    // To who has read the old value, nothing seems to change.
    let stale = read.change().set(Customer::EMAIL, "a@x".to_owned());
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
async fn canceled_transaction_tells_each_failed_step() {
    let (db, _) = db().await;
    let ana = db.create(customer("ana", Some("a@x"))).await.unwrap().done().unwrap();
    let order = db.create(order("ana", 1)).await.unwrap().done().unwrap();
    let attempt = async |status, email: &str| {
        let change = order.change().set(Order::TOTAL, 9_u32).when(Order::STATUS.eq(status));
        let mut tx = db.transaction();
        let changed = tx.update(change);
        let checked = tx.check(&ana.to_key(), Customer::VISITS.eq(0_u32));
        let friend = tx.create(customer("eva", Some(email)));
        (tx.commit().await.unwrap(), changed, checked, friend)
    };
    let (commit, changed, checked, friend) = attempt(Status::Paid, "a@x").await;
    let Canceled(c) = commit else { panic!("an open order is not paid") };
    assert!(c.failed(&changed) && !c.failed(&checked) && !c.failed(&friend));
    assert_eq!(c.current(&changed).unwrap(), Some(order.clone()));
    assert_eq!(c.taken(&friend), Some(Customer::EMAIL.name));
    assert!(attempt(Status::Open, "e@x").await.0.is_committed());
    assert_eq!(db.get(&order.to_key()).await.unwrap().unwrap().total, 9);
    assert!(db.get(&Customer::key(id("eva"))).await.unwrap().is_some());
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
    assert_eq!(db.get(&Payment::key(id("p1"))).await.unwrap(), Some(payment.clone()));
    let range = |from: &str, to: &str| Payment::by_user(id("ana")).paid_at(time(from)..=time(to));
    let found = db.page(range("2025-08-18T10:30:00Z", "2025-08-18T11:00:00Z")).await.unwrap();
    assert_eq!(found.items, [payment]);
    let found = db.page(range("2025-08-18T10:30:01Z", "2025-08-18T11:00:00Z")).await.unwrap();
    assert!(found.items.is_empty());
}
