//! Finding entities, page by page, and item collections.

use std::time::Duration;

use tabla_core::ops::PutItem;
use tabla_core::{Cursor, item};
use tabla_entity::{Db, Entity, Find};

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

async fn numbers(db: &Db, find: Find<Order>) -> Vec<u32> {
    db.all(find).await.unwrap().iter().map(|order| order.number).collect()
}

fn of_ana() -> Find<Order> {
    Order::find().with(Order::CUSTOMER, id("ana"))
}

#[tokio::test]
async fn fields_narrow_the_key_down() {
    let db = filled().await;
    assert_eq!(numbers(&db, of_ana()).await, (1..=12).collect::<Vec<_>>());
    assert_eq!(numbers(&db, of_ana().with(Order::NUMBER, 7_u32)).await, [7]);
    assert_eq!(numbers(&db, of_ana().from(Order::NUMBER, 11_u32)).await, [11, 12]);
    assert_eq!(numbers(&db, of_ana().to(Order::NUMBER, 2_u32)).await, [1, 2]);
    assert_eq!(
        numbers(&db, of_ana().between(Order::NUMBER, 3_u32, 4_u32).descending()).await,
        [4, 3]
    );
    let paid = Order::find_by("GSI1").with(Order::STATUS, Status::Paid);
    assert_eq!(numbers(&db, paid).await, [3, 6, 9, 12]);
    // The range is of the first field of the sort key; more follows it.
    let paid = || Order::find_by("GSI1").with(Order::STATUS, Status::Paid);
    assert_eq!(numbers(&db, paid().between(Order::TOTAL, 300_u32, 900_u32)).await, [3, 6, 9]);
    assert_eq!(numbers(&db, of_ana().filter(Order::STATUS.eq(Status::Paid))).await, [3, 6, 9, 12]);
}

#[tokio::test]
async fn what_has_expired_can_be_left_out() {
    let db = filled().await;
    let left: Vec<u32> = (1..=12).filter(|number| *number != 5).collect();
    assert_eq!(numbers(&db, of_ana().unexpired()).await, left);
}

#[tokio::test]
async fn what_is_not_a_key_is_refused_with_advice() {
    let db = filled().await;
    for (find, text) in [
        (Order::find(), "Order: to find by CUSTOMER#{customer}, `customer` has to be given"),
        (
            Order::find_by("GSI1")
                .with(Order::STATUS, Status::Paid)
                .from(Order::PLACED_AT, time("2025-08-18T00:00:00Z")),
            "Order: the next field of {total:010}#{placed_at} is `total`, so that a range of \
             `placed_at` is none of keys",
        ),
        (
            of_ana().with(Order::NUMBER, 1_u32).from(Order::NUMBER, 1_u32),
            "Order: all fields of ORDER#{number:08} are given: no range is left",
        ),
        (Order::find_by("GSI9"), "Order: it is not in index GSI9"),
    ] {
        assert_eq!(db.page(find).await.unwrap_err().message(), text);
    }
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
    let other = Order::find().with(Order::CUSTOMER, id("eva")).after(page.next);
    assert!(db.page(other).await.unwrap_err().message().contains("another query"));
}

tabla_entity::collection! {
    /// All about a customer.
    struct Everything {
        customer: Option<Customer>,
        orders: Vec<Order>,
    }
}

tabla_entity::collection! {
    /// Something about a customer.
    enum Something {
        /// Who.
        Customer(Customer),
        /// What.
        Order(Order),
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
    let page = db.collect_page::<Something, _>(of_ana().limit(14)).await.unwrap();
    assert!(matches!(&page.items[0], Something::Order(order) if order.number == 1));
    assert!(matches!(&page.items[12], Something::Customer(_)));
    assert_eq!(page.items[13], Something::Unknown(stray));
}
