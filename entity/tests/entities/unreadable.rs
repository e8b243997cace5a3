//! Items that cannot be read as entities, and numbers that would make them so.

use std::sync::{Arc, LazyLock};

use futures::StreamExt;
use serde::{Deserialize, Serialize};
use tabla_core::ops::{PutItem, UpdateItem};
use tabla_core::{ErrorKind, MemoryStore, Update, attr, item};
use tabla_entity::{Db, Entity, EntityKey, EntityQuery, Id, Outcome, TableDesign};

use crate::design::{Customer, Event, Order, customer, db, id, order, time};

async fn break_order(db: &Db, number: u32) {
    let key = item! { "PK" => "CUSTOMER#ana", "SK" => format!("ORDER#{number:08}") };
    let update = UpdateItem::new("shop", key).update(Update::new().set(attr("status"), "lost"));
    db.store().update(update).await.unwrap();
}

#[tokio::test]
async fn stream_goes_on_after_an_unreadable_item() {
    let (db, _) = db().await;
    for number in 1..=5 {
        db.create(order("ana", number)).await.unwrap().done().unwrap();
    }
    break_order(&db, 2).await;
    break_order(&db, 5).await;
    let find: fn() -> EntityQuery<Order> = || Order::of(id("ana")).limit(2);
    let read: Vec<_> = db.stream(find()).collect().await;
    let numbers: Vec<Option<u32>> =
        read.iter().map(|read| read.as_ref().ok().map(|order| order.number)).collect();
    assert_eq!(numbers, [Some(1), None, Some(3), Some(4), None]);
    let error = read.into_iter().find_map(Result::err).unwrap();
    assert_eq!(error.kind(), &ErrorKind::Corrupt);
    assert!(error.message().contains("ORDER#00000002"), "{error}");
    assert_eq!(db.all(find()).await.unwrap_err().message(), error.message());
}

#[tokio::test]
async fn page_over_shards_names_its_unreadable_items() {
    let (db, _) = db().await;
    let at = time("2025-08-18T10:30:00Z");
    for number in 0..20 {
        let event = Event { user: id("ana"), event: id(&number.to_string()), at, kind: "x".into() };
        db.create(event).await.unwrap().done().unwrap();
    }
    let find = || Event::of(id("ana"));
    let broken = db.page(find().limit(1)).await.unwrap().items.remove(0);
    let item = broken.to_item().unwrap().with("kind", 7);
    db.store().put(PutItem::new("shop", item)).await.unwrap();
    let page = db.page(find()).await.unwrap();
    assert_eq!((page.items.len(), page.unreadable.len()), (19, 1));
    assert_eq!(page.unreadable[0].key, broken.to_key().to_item().unwrap());
}

static TALLIES: LazyLock<TableDesign> =
    LazyLock::new(|| TableDesign::new("tallies").key("PK", "SK"));

/// Counts its writes in as few bits as there are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = TALLIES, pk = "TALLY#{id}", sk = "TALLY", revision = revision)]
struct Tally {
    #[entity(key_only)]
    id: Id,
    note: String,
    revision: u8,
}

#[tokio::test]
async fn revision_stops_at_the_end_of_its_type() {
    let db = Db::new(Arc::new(MemoryStore::new()));
    db.create_table(&TALLIES).await.unwrap();
    let tally = Tally { id: id("1"), note: String::new(), revision: 0 };
    let mut tally = db.create(tally).await.unwrap().done().unwrap();
    for number in 2..=255 {
        let change = tally.to_key().change().set(Tally::NOTE, number.to_string());
        tally = db.update(change).await.unwrap().done().unwrap();
        assert_eq!(u32::from(tally.revision), number);
    }
    let text = "Tally: `revision` has counted 255 writes, and cannot hold more: widen it";
    let blind = tally.to_key().change().set(Tally::NOTE, "more");
    assert_eq!(db.update(blind).await.unwrap(), Outcome::Lost(Some(tally.clone())));
    let known = tally.change().set(Tally::NOTE, "more");
    assert_eq!(db.update(known).await.unwrap_err().message(), text);
    assert_eq!(db.save(tally.clone()).await.unwrap_err().message(), text);
    assert_eq!(db.create(tally.clone()).await.unwrap_err().message(), text);
    let mut tx = db.transaction();
    tx.create(tally.clone());
    assert_eq!(tx.commit().await.unwrap_err().message(), text);
    assert_eq!(db.get(&tally.to_key()).await.unwrap(), Some(tally));
}

#[tokio::test]
async fn add_of_nothing_and_add_to_nothing_hold() {
    let (db, _) = db().await;
    let ana = db.create(customer("ana", None)).await.unwrap().done().unwrap();
    let same = db.update(ana.to_key().change().increment(Customer::VISITS, 0)).await.unwrap();
    assert_eq!(same, Outcome::Done(ana.clone()));
    let key = item! { "PK" => "CUSTOMER#ana", "SK" => "PROFILE" };
    let bare = UpdateItem::new("shop", key).update(Update::new().remove(attr("visits")));
    db.store().update(bare).await.unwrap();
    // ADD makes an attribute that is not there.
    let added = db.update(ana.to_key().change().increment(Customer::VISITS, 3)).await.unwrap();
    assert_eq!(added, Outcome::Done(Customer { visits: 3, ..ana.clone() }));
    let taken = db.update(ana.to_key().change().increment(Customer::VISITS, -4)).await.unwrap();
    assert_eq!(taken, Outcome::Lost(Some(Customer { visits: 3, ..ana })));
}
