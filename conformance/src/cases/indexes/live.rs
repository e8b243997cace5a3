//! Indexes that are added to or deleted from a table in use.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::BoxFuture;

use super::*;
use crate::catch_panic::catch_panic;

/// Adds the index `gsi` on `gpk` and `gsk` with these types.
fn add(
    table: &Table,
    partition: KeyType,
    sort: KeyType,
    projection: IndexProjection,
) -> UpdateTable {
    let index =
        SecondaryIndex::new("gsi").partition_key("gpk").sort_key("gsk").projection(projection);
    UpdateTable::new(table).attribute("gpk", partition).attribute("gsk", sort).create_index(index)
}

async fn add_strings(ctx: &Ctx, table: &Table) {
    let request = add(table, KeyType::S, KeyType::S, IndexProjection::all());
    let described = ctx.update_table(request).await;
    let index = described.global_secondary_indexes.iter().find(|index| index.name == "gsi");
    let index = index.expect("the index is described");
    assert_eq!((index.status, index.backfilling), (TableStatus::Active, false));
}

fn entry(n: i32) -> Item {
    item! { "pk" => format!("k{n}"), "gpk" => "g", "gsk" => format!("{n:03}"), "x" => n }
}

pub(super) async fn added_index_is_filled_and_follows_writes(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let mut items: Vec<Item> = (0..40).map(entry).collect();
    ctx.put_all(&table, items.iter().rev().cloned()).await;
    let outside = [item! { "pk" => "bare" }, item! { "pk" => "half", "gpk" => "g" }];
    ctx.put_all(&table, outside.clone()).await;
    add_strings(&ctx, &table).await;
    ctx.expect_query(by_gsi(&table, "g"), &items).await;
    ctx.expect_index(&table, "gsi", &items).await;
    // The index follows later writes.
    ctx.put(&table, entry(40)).await;
    items.push(entry(40));
    ctx.delete(&table, item! { "pk" => "k0" }).await;
    items.remove(0);
    let appear = Update::new().set("gsk", "999");
    ctx.update(UpdateItem::new(&table, item! { "pk" => "half" }).update(appear)).await;
    items.push(item! { "pk" => "half", "gpk" => "g", "gsk" => "999" });
    ctx.expect_query(by_gsi(&table, "g"), &items).await;
    // Writes validate its keys like those of any index.
    let before = ctx.snapshot(&table).await;
    let wrong = PutItem::new(&table, item! { "pk" => "wrong", "gpk" => 1, "gsk" => "s" });
    let result = ctx.store().put(wrong).await;
    ctx.expect_validation_with(result, "Type mismatch for Index Key");
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn added_index_has_its_projection(ctx: Ctx) {
    for (projection, carried) in [
        (IndexProjection::keys_only(), &["pk", "gpk", "gsk"][..]),
        (IndexProjection::include(["x"]), &["pk", "gpk", "gsk", "x"][..]),
    ] {
        let table = ctx.table(TableSpec::s()).await;
        ctx.put_all(&table, (0..5).map(|n| entry(n).with("y", n))).await;
        let request = add(&table, KeyType::S, KeyType::S, projection);
        ctx.update_table(request).await;
        let entries: Vec<Item> =
            (0..5).map(|n| Projection::new(carried.iter().copied()).project(&entry(n))).collect();
        ctx.expect_query(by_gsi(&table, "g"), &entries).await;
    }
}

pub(super) async fn added_index_orders_every_key_type(ctx: Ctx) {
    for kind in KEY_TYPES {
        let items: Vec<Item> = ascending(kind)
            .into_iter()
            .enumerate()
            .map(|(n, value)| item! { "pk" => format!("{n}"), "gpk" => &ascending(kind)[3], "gsk" => value })
            .collect();
        let table = ctx.table_with(TableSpec::s(), items.iter().rev().cloned()).await;
        let request = add(&table, kind, kind, IndexProjection::all());
        ctx.update_table(request).await;
        let query = Query::new(&table, attr("gpk").eq(ascending(kind)[3].clone())).index("gsi");
        ctx.expect_query(query, &items).await;
    }
}

pub(super) async fn added_index_has_concurrent_writes(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), (0..20).map(entry)).await;
    let request = add(&table, KeyType::S, KeyType::S, IndexProjection::all());
    let added = Arc::new(AtomicBool::new(false));
    // Writers continue until the index is ACTIVE, so that some writes happen during its backfill.
    let writers = (0..4).map(|part| {
        let (ctx, table, added) = (ctx.clone(), table.clone(), Arc::clone(&added));
        let writer: BoxFuture<'static, ()> = Box::pin(async move {
            loop {
                let last = added.load(Ordering::Relaxed);
                for n in (0..40).filter(|n| n % 4 == part) {
                    if n < 10 {
                        ctx.delete(&table, item! { "pk" => format!("k{n}") }).await;
                    } else {
                        ctx.put(&table, entry(n).with("x", -n)).await;
                    }
                }
                if last {
                    break;
                }
                // A store that never waits would leave no thread to the caller that adds the index.
                tokio::task::yield_now().await;
            }
        });
        writer
    });
    let adding: BoxFuture<'static, ()> = {
        let (ctx, added) = (ctx.clone(), Arc::clone(&added));
        Box::pin(async move {
            let result = catch_panic(ctx.update_table(request)).await;
            added.store(true, Ordering::Relaxed);
            if let Err(panic) = result {
                panic!("{panic}");
            }
        })
    };
    ctx.at_once(writers.chain([adding])).await;
    let expected: Vec<Item> = (10..40).map(|n| entry(n).with("x", -n)).collect();
    ctx.expect_table(&table, &expected).await;
    ctx.expect_query(by_gsi(&table, "g"), &expected).await;
}

pub(super) async fn deleted_index_cannot_be_read(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s().gsi(), (0..3).map(entry)).await;
    let described = ctx.update_table(UpdateTable::new(&table).delete_index("gsi")).await;
    assert!(described.global_secondary_indexes.is_empty(), "{described:?}");
    let text = "The table does not have the specified index: gsi";
    ctx.expect_validation(ctx.store().query(by_gsi(&table, "g")).await, text);
    ctx.expect_validation(ctx.store().scan(Scan::new(&table).index("gsi")).await, text);
    // The former key is an ordinary attribute.
    let free = item! { "pk" => "k0", "gpk" => 5, "gsk" => list!["x"] };
    ctx.put(&table, free.clone()).await;
    ctx.expect_table(&table, &[free, entry(1), entry(2)]).await;
}

pub(super) async fn index_name_can_be_reused_with_other_keys(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s().gsi(), (0..3).map(entry)).await;
    ctx.update_table(UpdateTable::new(&table).delete_index("gsi")).await;
    let index = SecondaryIndex::new("gsi").partition_key("x");
    let request = UpdateTable::new(&table).attribute("x", KeyType::N).create_index(index);
    ctx.update_table(request).await;
    for n in 0..3 {
        let query = Query::new(&table, attr("x").eq(n)).index("gsi");
        ctx.expect_query(query, &[entry(n)]).await;
    }
    let old = ctx.store().query(by_gsi(&table, "g")).await;
    ctx.expect_validation(old, "Query condition missed key schema element: x");
}

pub(super) async fn added_index_of_several_attributes_is_filled(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), (0..5).map(entry)).await;
    ctx.put(&table, item! { "pk" => "half", "gpk" => "g", "x" => 1 }).await;
    let (partition, sort) = ([("gpk", KeyType::S)], [("gsk", KeyType::S), ("x", KeyType::N)]);
    let mut request =
        UpdateTable::new(&table).create_index(super::several::index(&partition, &sort));
    for (name, kind) in partition.into_iter().chain(sort) {
        request = request.attribute(name, kind);
    }
    ctx.update_table(request).await;
    let items: Vec<Item> = (0..5).map(entry).collect();
    ctx.expect_query(by_gsi(&table, "g"), &items).await;
    let one = attr("gpk").eq("g").and(attr("gsk").eq("003")).and(attr("x").gt(0));
    ctx.expect_query(Query::new(&table, one).index("gsi"), &items[3..4]).await;
}
