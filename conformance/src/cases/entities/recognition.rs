//! Recognition of the entity kind of an item.

use tabla_entity::{Entity, Outcome};

use super::super::prelude::*;
use super::design::*;

pub(super) async fn tag_distinguishes_entities(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let order = created(&ctx, &db, order("ana", 1)).await;
    // The items have keys of orders.
    let refund = item! {
        "PK" => "CUSTOMER#ana", "SK" => "ORDER#00000002", "type" => "REFUND", "number" => 2,
    };
    let line = item! { "PK" => "CUSTOMER#ana", "SK" => "ORDER#00000001#LINE#1" };
    ctx.put_all(&table, [refund.clone(), line.clone()]).await;
    let of_ana = || Order::of(id("ana"));
    expect_found(&ctx, &db, of_ana, std::slice::from_ref(&order)).await;
    let key = Order::key(id("ana"), 2);
    let error = ctx.expect_error(db.get(&key).await);
    assert_eq!(error.message(), "an item cannot be read as Order: its type is not ORDER");
    // An entity with the same key cannot be created, and the item stays.
    let error = ctx.expect_error(db.create(super::design::order("ana", 2)).await);
    assert_eq!(error.message(), "an item cannot be read as Order: its type is not ORDER");
    for (item, is_order) in
        [(item_of(&order), true), (refund.clone(), false), (line.clone(), false)]
    {
        let stored = ctx.get(&table, table.key_of(&item)).await.expect("the item was written");
        assert_eq!(Order::design().recognises(&stored), is_order, "{stored:?}");
    }
    // An item without its tag is reported, not skipped.
    let mut untagged = item_of(&Order { number: 3, ..order.clone() });
    untagged.remove("type");
    ctx.put(&table, untagged.clone()).await;
    let error = ctx.expect_error(db.all(of_ana()).await);
    let text = "an item cannot be read as Order: its type is not ORDER (key ";
    assert!(error.message().starts_with(text), "{error}");
    ctx.expect_table(&table, &[item_of(&order), refund, line, untagged]).await;
}

pub(super) async fn keys_distinguish_untagged_entities(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let north = |name: &str| Basket { shop: Some(id("north")), ..basket("ana", name) };
    let (one, two) = (created(&ctx, &db, north("b1")).await, created(&ctx, &db, north("b2")).await);
    // The key begins like those of baskets, and the item is in their index.
    let note = item! {
        "PK" => "CUSTOMER#ana", "SK" => "BASKET#b1#NOTE",
        "GSI1PK" => "BASKETS#north", "GSI1SK" => "ana",
    };
    ctx.put(&table, note.clone()).await;
    let order = created(&ctx, &db, order("ana", 1)).await;
    let baskets = [one, two];
    let of_ana = || Basket::of(id("ana"));
    expect_found(&ctx, &db, of_ana, &baskets).await;
    let items = [item_of(&baskets[0]), item_of(&baskets[1]), note, item_of(&order)];
    ctx.expect_index(&table, "GSI1", &items).await;
    let mut of_north = ctx.ok(db.all(Basket::by_shop(id("north"))).await);
    of_north.sort_by(|one, other| one.name.cmp(&other.name));
    assert_eq!(of_north, baskets);
    for (item, is_basket) in items.iter().zip([true, true, false, false]) {
        let stored = ctx.get(&table, table.key_of(item)).await.expect("the item was written");
        assert_eq!(Basket::design().recognises(&stored), is_basket, "{stored:?}");
        if is_basket {
            let read = ctx.ok(Basket::from_item(&stored));
            assert_eq!(item_of(&read), *item);
        }
    }
    // Fields that are `key_only` are read from the key.
    assert_eq!(ctx.ok(db.delete(&baskets[0].to_key()).await), Outcome::Done(baskets[0].clone()));
    ctx.expect_table(&table, &items[1..]).await;
}
