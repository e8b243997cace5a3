//! Reads of entities by key: many at once, and with a subset of the fields.

use serde::{Deserialize, Serialize};
use tabla_entity::{Entity, Id};

use super::super::prelude::*;
use super::design::*;

pub(super) async fn get_all_returns_the_order_of_keys(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let orders: Vec<Order> = (0..120).map(|number| order("ana", number)).collect();
    ctx.put_all(&table, orders.iter().map(item_of)).await;
    // The keys are in reverse order, more than fit a batch, with one duplicate and some missing.
    let numbers: Vec<u32> = (0..130).rev().chain([7, 500, 7]).collect();
    let key = |number: &u32| OrderKey { customer: id("ana"), number: *number };
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

/// Subset of the fields of an order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = SHOP, tag("type" = "ORDER"), pk = "CUSTOMER#{customer}", sk = "ORDER#{number:08}")]
struct Shown {
    #[entity(key_only)]
    customer: Id,
    number: u32,
    status: Status,
    courier: Option<Id>,
}

pub(super) async fn projected_get_reads_few_attributes(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let full = created(&ctx, &db, Order { courier: Some(id("zoe")), ..order("ana", 1) }).await;
    let bare = created(&ctx, &db, order("ana", 2)).await;
    for Order { customer, number, status, courier, .. } in [full, bare] {
        let shown = Shown { customer, number, status, courier };
        assert_eq!(ctx.ok(db.get_projected(&shown.key()).await), Some(shown));
    }
    let key = ShownKey { customer: id("ana"), number: 3 };
    assert_eq!(ctx.ok(db.get_projected(&key).await), None);
    let refund = item! { "PK" => "CUSTOMER#ana", "SK" => "ORDER#00000003", "type" => "REFUND" };
    ctx.put(&table, refund).await;
    let error = ctx.expect_error(db.get_projected(&key).await);
    assert_eq!(error.message(), "an item cannot be read as Shown: its type is not ORDER");
}
