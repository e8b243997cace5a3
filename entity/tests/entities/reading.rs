//! Finding entities, page by page, and item collections.

use std::time::Duration;

use tabla_core::ops::PutItem;
use tabla_core::{Cursor, item};
use tabla_entity::{Db, IntoQuery, UtcTime};

use crate::design::*;

async fn filled() -> Db {
    let (db, clock) = db().await;
    for number in 1..=12 {
        clock.advance(Duration::from_secs(60));
        let mut order = order("ana", number);
        order.status = if number % 3 == 0 { Status::Paid } else { Status::Open };
        order.expires = (number == 5).then_some(1_755_513_000);
        db.create(order).await.unwrap().done().unwrap();
        db.create(crate::design::order("eva", number)).await.unwrap().done().unwrap();
    }
    db.create(customer("ana", Some("a@x"))).await.unwrap().done().unwrap();
    db
}

async fn numbers(db: &Db, query: impl IntoQuery<View = Order>) -> Vec<u32> {
    db.all(query).await.unwrap().iter().map(|order| order.number).collect()
}

fn of_ana() -> OrderOf {
    Order::of(id("ana"))
}

#[tokio::test]
async fn fields_restrict_the_sort_key_in_their_order() {
    let db = filled().await;
    assert_eq!(numbers(&db, of_ana()).await, (1..=12).collect::<Vec<_>>());
    assert_eq!(numbers(&db, of_ana().number(7)).await, [7]);
    assert_eq!(numbers(&db, of_ana().number(11..)).await, [11, 12]);
    assert_eq!(numbers(&db, of_ana().number(..=2)).await, [1, 2]);
    assert_eq!(numbers(&db, of_ana().number(3..=4).descending()).await, [4, 3]);
    let paid = || Order::by_status(Status::Paid);
    assert_eq!(numbers(&db, paid()).await, [3, 6, 9, 12]);
    // The range is of the first field of the sort key; more follows it.
    assert_eq!(numbers(&db, paid().total(300..=900)).await, [3, 6, 9]);
    // The second field has a range after one value of the first.
    let placed_at = db.all(paid().total(600)).await.unwrap()[0].placed_at;
    assert_eq!(numbers(&db, paid().total(600).placed_at(placed_at)).await, [6]);
    assert_eq!(numbers(&db, paid().total(600).placed_at(placed_at..)).await, [6]);
    let later = UtcTime::from_secs(placed_at.as_secs() + 1);
    assert_eq!(numbers(&db, paid().total(600).placed_at(later..)).await, [0; 0]);
    assert_eq!(numbers(&db, of_ana().filter(Order::STATUS.eq(Status::Paid))).await, [3, 6, 9, 12]);
}

#[tokio::test]
async fn what_has_expired_can_be_left_out() {
    let db = filled().await;
    let left: Vec<u32> = (1..=12).filter(|number| *number != 5).collect();
    assert_eq!(numbers(&db, of_ana().unexpired()).await, left);
}

#[tokio::test]
async fn a_cursor_goes_on_and_belongs_to_its_query() {
    let db = filled().await;
    let find = || of_ana().filter(Order::STATUS.eq(Status::Open)).unexpired().limit(5);
    let mut found = Vec::new();
    let mut cursor: Option<Cursor> = None;
    loop {
        let page = db.page(find().after(cursor)).await.unwrap();
        found.extend(page.items.iter().map(|order| order.number));
        // It survives as text, in a URL for example.
        cursor = page.next.map(|next| next.to_string().parse().unwrap());
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(found, [1, 2, 4, 7, 8, 10, 11]);
    let page = db.page(find()).await.unwrap();
    let other = Order::of(id("eva")).after(page.next);
    assert!(db.page(other).await.unwrap_err().message().contains("another query"));
}

tabla_entity::collection! {
    /// All about a customer.
    struct Everything {
        customer: Option<Customer>,
        orders: Vec<Order>,
    }
}

#[tokio::test]
async fn a_collection_has_entities_of_several_kinds_and_loses_none() {
    let db = filled().await;
    let stray = item! { "PK" => "CUSTOMER#ana", "SK" => "STRAY", "type" => "OTHER" };
    db.store().put(PutItem::new("shop", stray.clone())).await.unwrap();
    let found: Everything = db.collect(of_ana().limit(5)).await.unwrap();
    assert_eq!(found.customer.unwrap().id, id("ana"));
    assert_eq!(found.orders.len(), 12);
    assert_eq!(found.unknown, std::slice::from_ref(&stray));
}
