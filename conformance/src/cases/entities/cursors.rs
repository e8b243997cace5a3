//! Cursors: the position between two pages, in the same store or in another.

use std::sync::Arc;

use tabla_core::{Cursor, MemoryStore};
use tabla_entity::{Db, Entity, IntoQuery, Outcome};

use super::super::prelude::*;
use super::design::*;
use super::shards::{events, of_ana, pages};

fn orders_of(name: &str) -> OrderOf {
    Order::of(id(name))
}

pub(super) async fn cursor_of_another_query_is_rejected(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let mut stored = Vec::new();
    for number in 1..=5 {
        stored.push(item_of(&created(&ctx, &db, order("ana", number)).await));
        stored.push(item_of(&created(&ctx, &db, order("eva", number)).await));
    }
    for event in events("ana") {
        stored.push(item_of(&created(&ctx, &db, event).await));
    }
    let plain =
        ctx.ok(db.page(orders_of("ana").limit(2)).await).next.expect("another page follows");
    let merged = ctx.ok(db.page(of_ana().limit(2)).await).next.expect("another page follows");
    let refused = |error: tabla_core::Error| {
        assert!(matches!(error.kind(), ErrorKind::Validation), "{error:?}");
        assert!(error.message().contains("the cursor belongs to another query"), "{error}");
    };
    let at = |cursor: &Cursor| Some(cursor.clone());
    for other in [
        orders_of("eva").after(at(&plain)),
        orders_of("ana").descending().after(at(&plain)),
        orders_of("ana").number(2..).after(at(&plain)),
        orders_of("ana").filter(Order::STATUS.eq(Status::Open)).after(at(&plain)),
        Order::by_status(Status::Open).after(at(&plain)),
        orders_of("ana").after(at(&merged)),
    ] {
        refused(ctx.expect_error(db.page(other).await));
    }
    for other in [
        Event::of(id("eva")).after(at(&merged)),
        of_ana().descending().after(at(&merged)),
        of_ana().filter(Event::KIND.eq("rare")).after(at(&merged)),
        of_ana().at(..=5).after(at(&merged)),
        of_ana().after(at(&plain)),
    ] {
        refused(ctx.expect_error(db.page(other).await));
    }
    // The same query accepts the cursor, also with another limit.
    let rest = ctx.ok(db.all(orders_of("ana").limit(1).after(at(&plain))).await);
    assert_eq!(rest.iter().map(|order| order.number).collect::<Vec<_>>(), [3, 4, 5]);
    assert_eq!(ctx.ok(db.all(of_ana().limit(9).after(at(&merged))).await), events("ana")[2..]);
    let cut_off = merged.to_string();
    let cut_off = cut_off[..cut_off.len() - 3].parse::<Cursor>();
    ctx.expect_validation_with(cut_off, "the cursor is damaged; begin again at the first page");
    ctx.expect_table(&table, &stored).await;
}

pub(super) async fn cursor_survives_deletes(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let mut orders = Vec::new();
    for number in 1..=6 {
        orders.push(created(&ctx, &db, order("ana", number)).await);
    }
    let all = events("ana");
    for event in &all {
        created(&ctx, &db, event.clone()).await;
    }
    let page = ctx.ok(db.page(orders_of("ana").limit(3)).await);
    assert_eq!(page.items, orders[..3]);
    let merged = ctx.ok(db.page(of_ana().limit(12)).await);
    assert_eq!(merged.items, all[..12]);
    for order in &page.items {
        assert_eq!(ctx.ok(db.delete(&order.to_key()).await), Outcome::Done(order.clone()));
    }
    for event in &merged.items {
        assert_eq!(ctx.ok(db.delete(&event.to_key()).await), Outcome::Done(event.clone()));
    }
    let rest = ctx.ok(db.all(orders_of("ana").limit(2).after(page.next)).await);
    assert_eq!(rest, orders[3..]);
    let rest = ctx.ok(db.all(of_ana().limit(5).after(merged.next)).await);
    assert_eq!(rest, all[12..]);
    let stored: Vec<Item> =
        orders[3..].iter().map(item_of).chain(all[12..].iter().map(item_of)).collect();
    ctx.expect_table(&table, &stored).await;
}

/// Creates a table of the same name with these items in a store in memory.
async fn twin(ctx: &Ctx, db: &Db, items: &[Item]) -> Db {
    let twin = db.on(Arc::new(MemoryStore::new()));
    ctx.ok(twin.create_table(&SHOP).await);
    let name = ctx.ok(twin.table_name(&SHOP));
    for item in items {
        ctx.ok(twin.store().put(PutItem::new(&name, item.clone())).await);
    }
    twin
}

/// Reads pages of this limit from two stores in turn, each with the cursor of the other.
async fn by_turns<Q: IntoQuery>(
    ctx: &Ctx,
    dbs: [&Db; 2],
    find: impl Fn() -> Q,
    limit: u32,
) -> Vec<Vec<Q::View>> {
    let (mut pages, mut cursor): (Vec<Vec<Q::View>>, Option<Cursor>) = (Vec::new(), None);
    for turn in 0..100 {
        let page = ctx.ok(dbs[turn % 2].page(find().into_query().limit(limit).after(cursor)).await);
        pages.push(page.items);
        cursor = page.next.map(|next| ctx.ok(next.to_string().parse()));
        if cursor.is_none() {
            return pages;
        }
    }
    panic!("the cursor repeats itself")
}

pub(super) async fn cursor_moves_between_backends(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let mut orders = Vec::new();
    for number in 1..=9 {
        // Ordered by their totals, the orders are in reverse.
        let order = Order { total: 1_000 - number, ..order("ana", number) };
        orders.push(created(&ctx, &db, order).await);
    }
    let stored: Vec<Item> = orders.iter().map(item_of).collect();
    ctx.expect_index(&table, "GSI1", &stored).await;
    let twin = twin(&ctx, &db, &stored).await;
    let open = || Order::by_status(Status::Open).descending();
    for dbs in [[&db, &twin], [&twin, &db]] {
        for limit in [1, 2, 4] {
            let by_table = by_turns(&ctx, dbs, || orders_of("ana"), limit).await;
            assert_eq!(by_table.concat(), orders, "in pages of {limit}");
            let filtered = || orders_of("ana").filter(Order::TOTAL.lt(998_u32));
            assert_eq!(by_turns(&ctx, dbs, filtered, limit).await.concat(), orders[2..]);
            let by_index = by_turns(&ctx, dbs, open, limit).await;
            assert_eq!(by_index.concat(), orders, "index in pages of {limit}");
        }
    }
    ctx.expect_table(&table, &stored).await;
}

pub(super) async fn cursor_over_shards_moves_between_backends(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let mut all = events("ana");
    let stored: Vec<Item> = all.iter().map(item_of).collect();
    ctx.put_all(&table, stored.clone()).await;
    let twin = twin(&ctx, &db, &stored).await;
    let rare: Vec<Event> = all.iter().filter(|event| event.kind == "rare").cloned().collect();
    for dbs in [[&db, &twin], [&twin, &db]] {
        // The pages are equal one by one, not only together.
        assert_eq!(by_turns(&ctx, dbs, of_ana, 4).await, pages(&ctx, &db, of_ana, 4).await);
        assert_eq!(by_turns(&ctx, dbs, of_ana, 7).await.concat(), all);
        let filtered = || of_ana().filter(Event::KIND.eq("rare"));
        assert_eq!(by_turns(&ctx, dbs, filtered, 2).await.concat(), rare);
    }
    all.reverse();
    let backwards = || of_ana().descending();
    assert_eq!(by_turns(&ctx, [&twin, &db], backwards, 7).await.concat(), all);
    ctx.expect_table(&table, &stored).await;
}
