//! Reads of entities by key: many at once, and with a subset of the fields.

use serde::Deserialize;
use tabla_entity::{Entity, Id, View};

use super::super::prelude::*;
use super::design::*;

pub(super) async fn get_all_returns_the_order_of_keys(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let orders: Vec<Order> = (0..120).map(|number| order("ana", number)).collect();
    ctx.put_all(&table, orders.iter().map(item_of)).await;
    // The keys are in reverse order, more than fit a batch, with one duplicate and some missing.
    let numbers: Vec<u32> = (0..130).rev().chain([7, 500, 7]).collect();
    let key = |number: &u32| Order::key(id("ana"), *number);
    let keys: Vec<OrderKey> = numbers.iter().map(key).collect();
    let expected: Vec<Option<Order>> =
        numbers.iter().map(|number| orders.get(*number as usize).cloned()).collect();
    assert_eq!(ctx.ok(db.get_all(&keys).await), expected);
    assert_eq!(ctx.ok(db.get_all::<OrderKey>(&[]).await), []);
    // An item of another kind is reported, not skipped.
    let refund = item! { "PK" => "CUSTOMER#ana", "SK" => "ORDER#00000500", "type" => "REFUND" };
    ctx.put(&table, refund).await;
    let error = ctx.expect_error(db.get_all(&keys).await);
    let text = "an item cannot be read as Order: its type is not ORDER (key ";
    assert!(error.message().starts_with(text), "{error}");
}

/// Some fields of an order.
#[derive(Clone, Debug, PartialEq, Deserialize, View)]
#[view(of = Order)]
struct Shown {
    customer: Id,
    number: u32,
    status: Status,
    courier: Option<Id>,
}

pub(super) async fn view_reads_some_fields(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let full = created(&ctx, &db, Order { courier: Some(id("zoe")), ..order("ana", 1) }).await;
    let bare = created(&ctx, &db, order("ana", 2)).await;
    let mut all = Vec::new();
    for order in [full, bare] {
        let key = order.to_key();
        let Order { customer, number, status, courier, .. } = order;
        let shown = Shown { customer, number, status, courier };
        assert_eq!(ctx.ok(db.get_view(&key).await).as_ref(), Some(&shown));
        all.push(shown);
    }
    assert_eq!(ctx.ok(db.all(Order::of(id("ana")).view::<Shown>()).await), all);
    let page = ctx.ok(db.page(Order::of(id("ana")).view::<Shown>().limit(1)).await);
    assert_eq!(page.items, all[..1]);
    let rest = Order::of(id("ana")).view::<Shown>().limit(1).after(page.next);
    assert_eq!(ctx.ok(db.page(rest).await).items, all[1..]);
    let key = Order::key(id("ana"), 3);
    assert_eq!(ctx.ok(db.get_view::<Shown>(&key).await), None);
    let refund = item! { "PK" => "CUSTOMER#ana", "SK" => "ORDER#00000003", "type" => "REFUND" };
    ctx.put(&table, refund).await;
    let error = ctx.expect_error(db.get_view::<Shown>(&key).await);
    assert_eq!(error.message(), "an item cannot be read as Shown: its type is not ORDER");
}
