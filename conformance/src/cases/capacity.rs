//! Capacity units and item collection metrics (58-60).
//!
//! The expected numbers follow the developer guide, "DynamoDB capacity unit consumption". A store
//! does not return the units of a failed call, so no case covers them.

use super::prelude::*;

cases! {
    Capacity;

    clause "58a", eventually_consistent_read_costs_half_a_unit_per_4_kb:
        "An eventually consistent read consumes 0.5 read capacity units per 4 KB.";
    clause "58b", consistent_read_costs_one_unit_per_4_kb:
        "A strongly consistent read consumes 1 read capacity unit per 4 KB.";
    clause "58c", transactional_read_costs_two_units_per_4_kb:
        "A transactional read consumes 2 read capacity units per 4 KB.", needs [Transactions];
    clause "58d", reads_are_charged_by_whole_items:
        "A read is charged by the size of whole items, before projection, filter and COUNT.";
    clause "58e", sizes_are_summed_before_rounding:
        "A query or scan adds up the sizes of its items before it rounds up to 4 KB.";
    clause "58f", read_of_missing_item_costs_the_minimum:
        "A read of a missing item consumes the minimum: 0.5 read capacity units, or 1 if \
         strongly consistent.";
    extra "batch-get-costs" of "58e", batch_get_rounds_each_item:
        "A batch get rounds the size of each item up to 4 KB, and adds up the units by table.";
    extra "batch-get-consistent-costs" of "58b", consistent_batch_get_costs_twice_as_much:
        "A strongly consistent batch get consumes twice the units of an eventually consistent one.";
    extra "batch-get-missing-item-costs" of "58f", batch_get_of_missing_item_costs_the_minimum:
        "A missing item in a batch get consumes the minimum of one read.";
    extra "empty-query-costs" of "58f", empty_query_costs_the_minimum:
        "A query or scan without results consumes the minimum of one read.";
    extra "transact-get-missing-item-costs" of "58c",
        transactional_read_of_missing_item_costs_two_units:
        "A missing item in a transactional read consumes 2 read capacity units.",
        needs [Transactions];

    clause "58g", write_costs_by_larger_of_old_and_new_item:
        "A write consumes 1 write capacity unit per KB of the larger of the old and the new item.";
    extra "write-costs-at-1024-bytes" of "58g", write_costs_are_rounded_up_to_1024_bytes:
        "A write of 1024 bytes consumes 1 write capacity unit, one of 1025 bytes 2.";
    extra "delete-costs" of "58g", delete_costs_by_deleted_item:
        "A delete is charged by the size of the deleted item, and consumes 1 unit if there is \
         none.";
    extra "batch-write-costs" of "58g", batch_write_adds_up_costs_by_table:
        "A batch write adds up the write capacity units of its writes, by table.";

    clause "58h", unchanged_index_entry_costs_nothing:
        "A write that changes no projected attribute of an index entry consumes no units on the \
         index.", needs [IndexProjections];
    clause "58i", index_entry_costs_once_when_added_changed_or_removed:
        "An index entry that is added, changed or removed is charged once, by its size.";
    clause "58j", moved_index_entry_costs_twice:
        "An index entry that moves to another index key is charged twice: for its deletion and \
         its insertion.";
    clause "58k", indexes_breaks_costs_down:
        "ReturnConsumedCapacity INDEXES breaks the units down by table and index.",
        needs [LocalIndexes];
    extra "capacity-total-has-no-parts" of "58k", total_has_no_parts_and_none_is_empty:
        "ReturnConsumedCapacity TOTAL returns the sum alone, and NONE returns nothing.";
    extra "index-entry-costs-projected-size" of "58i", index_entry_costs_by_projected_size:
        "A write to an index is charged by the size of the projected attributes, not of the item.",
        needs [IndexProjections];
    extra "item-outside-index-costs-nothing" of "58i", index_without_the_item_costs_nothing:
        "An index that does not hold the item consumes no units.";
    extra "index-query-costs" of "58e", index_query_costs_by_projected_size:
        "A query of an index is charged by the size of the projected attributes.",
        needs [IndexProjections];
    extra "index-scan-costs" of "58e", index_scan_costs_by_projected_size:
        "A scan of an index is charged by the size of the projected attributes.",
        needs [IndexProjections];

    clause "60a", metrics_are_returned_for_tables_with_local_indexes:
        "Item collection metrics are returned only for tables with local secondary indexes.",
        needs [ItemCollectionMetrics, LocalIndexes];
    clause "60b", small_collection_is_estimated_at_0_to_1_gb:
        "The size of a small item collection is estimated as 0 to 1 GB.",
        needs [ItemCollectionMetrics, LocalIndexes];
    extra "metrics-of-batches-and-transactions" of "60a", batches_and_transactions_return_metrics:
        "Batches and transactions return the item collection metrics of each item that they write.",
        needs [ItemCollectionMetrics, LocalIndexes, Transactions];
}

const INDEXES: ReturnConsumedCapacity = ReturnConsumedCapacity::Indexes;
const TOTAL: ReturnConsumedCapacity = ReturnConsumedCapacity::Total;

/// Returns an item `{ pk, v }` of `bytes` bytes.
fn sized(pk: &str, bytes: usize) -> Item {
    let filler = bytes - "pk".len() - pk.len() - "v".len();
    let item = item! { "pk" => pk, "v" => "x".repeat(filler) };
    assert_eq!(item.size(), bytes);
    item
}

fn key(pk: &str) -> Item {
    item! { "pk" => pk }
}

#[track_caller]
fn units(consumed: Option<ConsumedCapacity>) -> f64 {
    consumed.expect("the request asks for capacity").capacity_units
}

/// Returns the units of the table, then of each index by name, without those that have none.
#[track_caller]
fn parts(consumed: Option<ConsumedCapacity>) -> Vec<(String, f64)> {
    let consumed = consumed.expect("the request asks for capacity");
    let table = consumed.table.expect("the request asks for the parts").capacity_units;
    let indexes = consumed.local_secondary_indexes.iter().chain(&consumed.global_secondary_indexes);
    let mut parts = vec![("table".to_owned(), table)];
    parts.extend(indexes.map(|(name, part)| (name.clone(), part.capacity_units)));
    let sum: f64 = parts.iter().map(|(_, units)| units).sum();
    assert_eq!(consumed.capacity_units, sum, "the parts of {consumed:?}");
    parts.retain(|(_, units)| *units > 0.0);
    parts
}

/// Converts expected units to the form that [`parts`] returns.
fn costs<const N: usize>(parts: [(&str, f64); N]) -> Vec<(String, f64)> {
    parts.map(|(name, units)| (name.to_owned(), units)).to_vec()
}

async fn read_costs(ctx: &Ctx, consistent: bool, expected: [(usize, f64); 4]) {
    let table = ctx.table(TableSpec::s()).await;
    for (bytes, cost) in expected {
        ctx.put(&table, sized("a", bytes)).await;
        let request = GetItem::new(&table, key("a"))
            .consistent_read(consistent)
            .return_consumed_capacity(TOTAL);
        let answer = ctx.ok(ctx.store().get(request).await);
        let consumed = answer.consumed_capacity.clone().expect("the request asks for capacity");
        assert_eq!(consumed.table_name, table.name());
        assert_eq!(units(answer.consumed_capacity), cost, "{bytes} bytes");
    }
}

async fn eventually_consistent_read_costs_half_a_unit_per_4_kb(ctx: Ctx) {
    read_costs(&ctx, false, [(10, 0.5), (4096, 0.5), (4097, 1.0), (12_289, 2.0)]).await;
}

async fn consistent_read_costs_one_unit_per_4_kb(ctx: Ctx) {
    read_costs(&ctx, true, [(10, 1.0), (4096, 1.0), (4097, 2.0), (12_289, 4.0)]).await;
}

async fn transactional_read_costs_two_units_per_4_kb(ctx: Ctx) {
    let small = ctx.table_with(TableSpec::s(), [sized("a", 4096), sized("b", 10)]).await;
    let large = ctx.table_with(TableSpec::s(), [sized("a", 4097)]).await;
    let request = TransactGetItems::new([
        GetItem::new(&small, key("a")),
        GetItem::new(&large, key("a")),
        GetItem::new(&small, key("b")),
    ])
    .return_consumed_capacity(TOTAL);
    let answer = ctx.ok(ctx.store().transact_get(request).await);
    let mut rows: Vec<(String, f64, Option<f64>)> = answer
        .consumed_capacity
        .into_iter()
        .map(|row| (row.table_name, row.capacity_units, row.read_capacity_units))
        .collect();
    rows.sort_by(|one, other| one.0.cmp(&other.0));
    let expected =
        [(small.name().to_owned(), 4.0, Some(4.0)), (large.name().to_owned(), 4.0, Some(4.0))];
    assert_eq!(rows, expected);
}

async fn transactional_read_of_missing_item_costs_two_units(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let request =
        TransactGetItems::new([GetItem::new(&table, key("a"))]).return_consumed_capacity(TOTAL);
    let answer = ctx.ok(ctx.store().transact_get(request).await);
    assert_eq!(answer.responses, [None]);
    let [row] = &answer.consumed_capacity[..] else { panic!("{answer:?}") };
    assert_eq!(row.capacity_units, 2.0);
}

async fn reads_are_charged_by_whole_items(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sized("a", 4097)]).await;
    let get = GetItem::new(&table, key("a")).consistent_read(true);
    let get = get.projection(Projection::new(["pk"])).return_consumed_capacity(TOTAL);
    assert_eq!(units(ctx.ok(ctx.store().get(get).await).consumed_capacity), 2.0, "projection");
    let query = || {
        Query::new(&table, attr("pk").eq("a")).consistent_read(true).return_consumed_capacity(TOTAL)
    };
    let scan = || Scan::new(&table).consistent_read(true).return_consumed_capacity(TOTAL);
    let none = || attr("v").eq("none");
    for (what, page) in [
        ("query, projection", ctx.store().query(query().projection(Projection::new(["pk"]))).await),
        ("query, filter", ctx.store().query(query().filter(none())).await),
        ("query, count", ctx.store().query(query().select(Select::Count)).await),
        ("scan, projection", ctx.store().scan(scan().projection(Projection::new(["pk"]))).await),
        ("scan, filter", ctx.store().scan(scan().filter(none())).await),
        ("scan, count", ctx.store().scan(scan().select(Select::Count)).await),
    ] {
        assert_eq!(units(ctx.ok(page).consumed_capacity), 2.0, "{what}");
    }
}

async fn sizes_are_summed_before_rounding(ctx: Ctx) {
    // Four items of 1025 bytes are 4100: two units together, and four one by one.
    let item = |sk: i32| {
        let item = item! { "pk" => "a", "sk" => sk, "v" => "x".repeat(1017) };
        assert_eq!(item.size(), 1025);
        item
    };
    let table = ctx.table_with(TableSpec::s_n(), (1..=4).map(item)).await;
    let query = Query::new(&table, attr("pk").eq("a")).return_consumed_capacity(TOTAL);
    let scan = Scan::new(&table).return_consumed_capacity(TOTAL);
    for (consistent, cost) in [(false, 1.0), (true, 2.0)] {
        let page = ctx.ok(ctx.store().query(query.clone().consistent_read(consistent)).await);
        assert_eq!(units(page.consumed_capacity), cost, "query, consistent: {consistent}");
        let page = ctx.ok(ctx.store().scan(scan.clone().consistent_read(consistent)).await);
        assert_eq!(units(page.consumed_capacity), cost, "scan, consistent: {consistent}");
    }
    let page = ctx.ok(ctx.store().query(query.consistent_read(true).limit(3)).await);
    assert_eq!(units(page.consumed_capacity), 1.0, "three items are 3075 bytes");
}

async fn read_of_missing_item_costs_the_minimum(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for (consistent, cost) in [(false, 0.5), (true, 1.0)] {
        let request = GetItem::new(&table, key("a"))
            .consistent_read(consistent)
            .return_consumed_capacity(TOTAL);
        let answer = ctx.ok(ctx.store().get(request).await);
        assert_eq!(answer.item, None);
        assert_eq!(units(answer.consumed_capacity), cost, "consistent: {consistent}");
    }
}

async fn batch_get_rounds_each_item(ctx: Ctx) {
    let one = ctx.table_with(TableSpec::s(), [sized("a", 100), sized("b", 4097)]).await;
    let two = ctx.table_with(TableSpec::s(), [sized("a", 100)]).await;
    let request = BatchGetItem::new()
        .keys(&one, [key("a"), key("b")])
        .keys(&two, [key("a")])
        .return_consumed_capacity(TOTAL);
    let answer = ctx.ok(ctx.store().batch_get(request).await);
    let mut rows: Vec<(String, f64)> = answer
        .consumed_capacity
        .into_iter()
        .map(|row| (row.table_name, row.capacity_units))
        .collect();
    rows.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(rows, [(one.name().to_owned(), 1.5), (two.name().to_owned(), 0.5)]);
}

async fn batch_get_of_missing_item_costs_the_minimum(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let request =
        BatchGetItem::new().keys(&table, [key("a"), key("b")]).return_consumed_capacity(TOTAL);
    let answer = ctx.ok(ctx.store().batch_get(request).await);
    let [row] = &answer.consumed_capacity[..] else { panic!("{answer:?}") };
    assert_eq!(row.capacity_units, 1.0);
}

async fn empty_query_costs_the_minimum(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let query = Query::new(&table, attr("pk").eq("a")).return_consumed_capacity(TOTAL);
    assert_eq!(units(ctx.ok(ctx.store().query(query.clone()).await).consumed_capacity), 0.5);
    let page = ctx.ok(ctx.store().query(query.consistent_read(true)).await);
    assert_eq!(units(page.consumed_capacity), 1.0);
    let scan = Scan::new(&table).return_consumed_capacity(TOTAL);
    assert_eq!(units(ctx.ok(ctx.store().scan(scan).await).consumed_capacity), 0.5);
}

async fn put_costs(ctx: &Ctx, table: &Table, item: Item) -> Vec<(String, f64)> {
    let request = PutItem::new(table, item).return_consumed_capacity(INDEXES);
    parts(ctx.ok(ctx.store().put(request).await).consumed_capacity)
}

async fn update_costs(ctx: &Ctx, table: &Table, key: Item, update: Update) -> Vec<(String, f64)> {
    let request = UpdateItem::new(table, key).update(update).return_consumed_capacity(INDEXES);
    parts(ctx.ok(ctx.store().update(request).await).consumed_capacity)
}

async fn delete_item_costs(ctx: &Ctx, table: &Table, key: Item) -> Vec<(String, f64)> {
    let request = DeleteItem::new(table, key).return_consumed_capacity(INDEXES);
    parts(ctx.ok(ctx.store().delete(request).await).consumed_capacity)
}

async fn write_costs_by_larger_of_old_and_new_item(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for (what, bytes, cost) in
        [("new", 2500, 3.0), ("shrinks", 10, 3.0), ("stays small", 11, 1.0), ("grows", 5000, 5.0)]
    {
        let actual = put_costs(&ctx, &table, sized("a", bytes)).await;
        assert_eq!(actual, costs([("table", cost)]), "{what}");
    }
    let shrink = Update::new().set("v", "small");
    let actual = update_costs(&ctx, &table, key("a"), shrink).await;
    assert_eq!(actual, costs([("table", 5.0)]), "an update is charged by the whole item");
    // A write that changes nothing costs as much as any other.
    let same = Update::new().set("v", "small");
    let actual = update_costs(&ctx, &table, key("a"), same).await;
    assert_eq!(actual, costs([("table", 1.0)]));
}

async fn write_costs_are_rounded_up_to_1024_bytes(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for (pk, bytes, cost) in
        [("a", 1024, 1.0), ("b", 1025, 2.0), ("c", 2048, 2.0), ("d", 2049, 3.0)]
    {
        let actual = put_costs(&ctx, &table, sized(pk, bytes)).await;
        assert_eq!(actual, costs([("table", cost)]), "{bytes} bytes");
    }
}

async fn delete_costs_by_deleted_item(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sized("a", 2500)]).await;
    assert_eq!(delete_item_costs(&ctx, &table, key("a")).await, costs([("table", 3.0)]));
    assert_eq!(delete_item_costs(&ctx, &table, key("a")).await, costs([("table", 1.0)]));
    ctx.expect_table(&table, &[]).await;
}

async fn batch_write_adds_up_costs_by_table(ctx: Ctx) {
    let indexed = item! { "pk" => "a", "gpk" => "g" };
    let one = ctx.table_with(TableSpec::s().gsi_hash(), [indexed]).await;
    let two = ctx.table(TableSpec::s()).await;
    let request = BatchWriteItem::new()
        .delete(&one, key("a"))
        .put(&one, item! { "pk" => "b", "gpk" => "g" })
        .put(&one, sized("c", 2500))
        .put(&two, sized("a", 10))
        .return_consumed_capacity(INDEXES);
    let answer = ctx.ok(ctx.store().batch_write(request).await);
    let mut rows = answer.consumed_capacity;
    rows.sort_by(|one, other| one.table_name.cmp(&other.table_name));
    let [first, second] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((first.table_name.as_str(), second.table_name.as_str()), (one.name(), two.name()));
    assert_eq!(parts(Some(first.clone())), costs([("table", 5.0), ("gsi", 2.0)]));
    assert_eq!(parts(Some(second.clone())), costs([("table", 1.0)]));
}

fn entry(more: &[(&str, &str)]) -> Item {
    let item = item! { "pk" => "a", "gpk" => "g", "gsk" => "h" };
    more.iter().fold(item, |item, (name, value)| item.with(*name, *value))
}

async fn unchanged_index_entry_costs_nothing(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s().gsi(), [entry(&[])]).await;
    let same = put_costs(&ctx, &table, entry(&[])).await;
    assert_eq!(same, costs([("table", 1.0)]), "the same item again");
    let keys_only = TableSpec::s().gsi_projecting(IndexProjection::keys_only());
    let table = ctx.table_with(keys_only, [entry(&[])]).await;
    let other = put_costs(&ctx, &table, entry(&[("x", "y")])).await;
    assert_eq!(other, costs([("table", 1.0)]), "change of an attribute that is not projected");
    let set = Update::new().set("x", "z");
    assert_eq!(update_costs(&ctx, &table, key("a"), set).await, costs([("table", 1.0)]));
}

async fn index_entry_costs_once_when_added_changed_or_removed(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().gsi()).await;
    let once = costs([("table", 1.0), ("gsi", 1.0)]);
    assert_eq!(put_costs(&ctx, &table, entry(&[])).await, once, "appears");
    assert_eq!(put_costs(&ctx, &table, entry(&[("x", "y")])).await, once, "changes");
    let remove = Update::new().remove("gsk");
    assert_eq!(update_costs(&ctx, &table, key("a"), remove).await, once, "entry removed");
    let set = Update::new().set("gsk", "h");
    assert_eq!(update_costs(&ctx, &table, key("a"), set).await, once, "entry added again");
    assert_eq!(
        delete_item_costs(&ctx, &table, key("a")).await,
        once,
        "entry deleted with its item"
    );
}

async fn moved_index_entry_costs_twice(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s().gsi(), [entry(&[])]).await;
    let twice = costs([("table", 1.0), ("gsi", 2.0)]);
    let partition = Update::new().set("gpk", "other");
    assert_eq!(update_costs(&ctx, &table, key("a"), partition).await, twice, "partition key");
    let sort = Update::new().set("gsk", "other");
    assert_eq!(update_costs(&ctx, &table, key("a"), sort).await, twice, "sort key");
    let large = entry(&[("v", &"x".repeat(2500))]);
    ctx.put(&table, large.clone()).await;
    let moved = large.with("gpk", "third");
    let actual = put_costs(&ctx, &table, moved).await;
    assert_eq!(actual, costs([("table", 3.0), ("gsi", 6.0)]), "entry of 3 units");
}

async fn indexes_breaks_costs_down(ctx: Ctx) {
    let table = ctx.table(TableSpec::s_s().gsi().lsi()).await;
    let item = item! {
        "pk" => "a", "sk" => "b", "gpk" => "g", "gsk" => "h", "lsk" => "l",
        "v" => "x".repeat(2500)
    };
    let actual = put_costs(&ctx, &table, item.clone()).await;
    assert_eq!(actual, costs([("table", 3.0), ("lsi", 3.0), ("gsi", 3.0)]));
    let moved = item.with("lsk", "m");
    let request = PutItem::new(&table, moved).return_consumed_capacity(INDEXES);
    let consumed = ctx
        .ok(ctx.store().put(request).await)
        .consumed_capacity
        .expect("the request asks for capacity");
    assert_eq!(consumed.local_secondary_indexes["lsi"].capacity_units, 6.0);
    assert_eq!(consumed.global_secondary_indexes["gsi"].capacity_units, 3.0);
    assert_eq!(consumed.table.expect("the request asks for capacity").capacity_units, 3.0);
    assert_eq!(consumed.capacity_units, 12.0);
    // A read is charged for the table or index that it reads.
    let query = Query::new(&table, attr("pk").eq("a")).return_consumed_capacity(INDEXES);
    let page = ctx.ok(ctx.store().query(query.clone()).await);
    assert_eq!(parts(page.consumed_capacity), costs([("table", 0.5)]));
    let page = ctx.ok(ctx.store().query(query.index("lsi").consistent_read(true)).await);
    assert_eq!(parts(page.consumed_capacity), costs([("lsi", 1.0)]));
}

async fn total_has_no_parts_and_none_is_empty(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().gsi()).await;
    let put = PutItem::new(&table, entry(&[]));
    let answer = ctx.ok(ctx.store().put(put.clone()).await);
    assert_eq!(answer.consumed_capacity, None);
    let put = put.return_consumed_capacity(TOTAL);
    ctx.delete(&table, key("a")).await;
    let consumed = ctx
        .ok(ctx.store().put(put).await)
        .consumed_capacity
        .expect("the request asks for capacity");
    assert_eq!(consumed.capacity_units, 2.0);
    assert_eq!(consumed.table, None);
    assert!(consumed.global_secondary_indexes.is_empty(), "{consumed:?}");
    let get = GetItem::new(&table, key("a"));
    assert_eq!(ctx.ok(ctx.store().get(get).await).consumed_capacity, None);
    let missing = DeleteItem::new(&table, key("none"));
    assert_eq!(ctx.ok(ctx.store().delete(missing).await).consumed_capacity, None);
}

async fn index_entry_costs_by_projected_size(ctx: Ctx) {
    let shape = TableSpec::s().gsi_projecting(IndexProjection::include(["x"]));
    let table = ctx.table(shape).await;
    let large = "x".repeat(2500);
    let actual = put_costs(&ctx, &table, entry(&[("other", &large)])).await;
    assert_eq!(actual, costs([("table", 3.0), ("gsi", 1.0)]), "attribute not projected");
    let actual = put_costs(&ctx, &table, entry(&[("x", &large)])).await;
    assert_eq!(actual, costs([("table", 3.0), ("gsi", 3.0)]), "carried");
    let actual = put_costs(&ctx, &table, entry(&[("x", "small")])).await;
    assert_eq!(actual, costs([("table", 3.0), ("gsi", 3.0)]), "larger of old and new entry");
}

async fn index_without_the_item_costs_nothing(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().gsi()).await;
    let table_only = costs([("table", 1.0)]);
    let half = item! { "pk" => "a", "gpk" => "g" };
    assert_eq!(put_costs(&ctx, &table, half).await, table_only);
    let set = Update::new().set("x", 1);
    assert_eq!(update_costs(&ctx, &table, key("a"), set).await, table_only);
    assert_eq!(delete_item_costs(&ctx, &table, key("a")).await, table_only);
}

/// Creates a table of three large items with an index that projects little of them.
async fn narrow_index(ctx: &Ctx) -> (Table, Vec<Item>) {
    let shape = TableSpec::s().gsi_projecting(IndexProjection::keys_only());
    let items = ["a", "b", "c"].map(|pk| {
        item! { "pk" => pk, "gpk" => "g", "gsk" => pk, "v" => "x".repeat(5000) }
    });
    let table = ctx.table_with(shape, items).await;
    let entries = ["a", "b", "c"].map(|pk| item! { "pk" => pk, "gpk" => "g", "gsk" => pk });
    ctx.expect_index(&table, "gsi", &entries).await;
    (table, entries.to_vec())
}

async fn index_query_costs_by_projected_size(ctx: Ctx) {
    let (table, entries) = narrow_index(&ctx).await;
    let query = Query::new(&table, attr("gpk").eq("g")).index("gsi");
    let page = ctx.ok(ctx.store().query(query.return_consumed_capacity(INDEXES)).await);
    assert_eq!(page.items, entries);
    assert_eq!(parts(page.consumed_capacity), costs([("gsi", 0.5)]));
}

async fn index_scan_costs_by_projected_size(ctx: Ctx) {
    let (table, entries) = narrow_index(&ctx).await;
    let scan = Scan::new(&table).index("gsi").return_consumed_capacity(INDEXES);
    let page = ctx.ok(ctx.store().scan(scan).await);
    ctx.expect_items(&page.items, &entries);
    assert_eq!(parts(page.consumed_capacity), costs([("gsi", 0.5)]));
}

const SIZE: ReturnItemCollectionMetrics = ReturnItemCollectionMetrics::Size;

async fn metrics_are_returned_for_tables_with_local_indexes(ctx: Ctx) {
    let with = ctx.table(TableSpec::s_s().lsi()).await;
    let without = ctx.table(TableSpec::s_s().gsi()).await;
    let item = item! { "pk" => "a", "sk" => "b" };
    for (table, expected) in [(&with, Some(key("a"))), (&without, None)] {
        let collection = |answer: WriteOutput| {
            answer.item_collection_metrics.map(|metrics| metrics.item_collection_key)
        };
        let put = PutItem::new(table, item.clone()).return_item_collection_metrics(SIZE);
        assert_eq!(collection(ctx.ok(ctx.store().put(put.clone()).await)), expected, "put");
        let update = UpdateItem::new(table, item.clone()).return_item_collection_metrics(SIZE);
        assert_eq!(collection(ctx.ok(ctx.store().update(update).await)), expected, "update");
        let delete = DeleteItem::new(table, item.clone()).return_item_collection_metrics(SIZE);
        assert_eq!(collection(ctx.ok(ctx.store().delete(delete).await)), expected, "delete");
        let unasked = put.return_item_collection_metrics(ReturnItemCollectionMetrics::None);
        assert_eq!(
            collection(ctx.ok(ctx.store().put(unasked).await)),
            None,
            "metrics not requested"
        );
    }
}

async fn small_collection_is_estimated_at_0_to_1_gb(ctx: Ctx) {
    let table = ctx.table(TableSpec::s_s().lsi()).await;
    let put = PutItem::new(&table, item! { "pk" => "a", "sk" => "b" });
    let answer = ctx.ok(ctx.store().put(put.return_item_collection_metrics(SIZE)).await);
    let metrics = answer.item_collection_metrics.expect("the table has a local index");
    assert_eq!(metrics.item_collection_key, key("a"));
    assert_eq!(metrics.size_estimate_range_gb, [0.0, 1.0]);
}

async fn batches_and_transactions_return_metrics(ctx: Ctx) {
    let table = ctx.table(TableSpec::s_s().lsi()).await;
    let item = |pk: &str| item! { "pk" => pk, "sk" => "s" };
    let batch = BatchWriteItem::new()
        .put(&table, item("a"))
        .delete(&table, item("b"))
        .return_item_collection_metrics(SIZE);
    let of_batch = ctx.ok(ctx.store().batch_write(batch).await).item_collection_metrics;
    let transaction = TransactWriteItems::new()
        .item(PutItem::new(&table, item("a")))
        .item(DeleteItem::new(&table, item("b")))
        .return_item_collection_metrics(SIZE);
    let of_transaction =
        ctx.ok(ctx.store().transact_write(transaction).await).item_collection_metrics;
    for metrics in [of_batch, of_transaction] {
        let rows = &metrics[table.name()];
        let mut keys: Vec<Item> =
            rows.iter().map(|metrics| metrics.item_collection_key.clone()).collect();
        keys.sort_by_key(Item::encode);
        assert_eq!(keys, [key("a"), key("b")]);
    }
}

async fn consistent_batch_get_costs_twice_as_much(ctx: Ctx) {
    let consistent = ctx.table_with(TableSpec::s(), [sized("a", 100), sized("b", 4097)]).await;
    let eventual = ctx.table_with(TableSpec::s(), [sized("a", 100), sized("b", 4097)]).await;
    let keys = || KeysAndAttributes::new([key("a"), key("b")]);
    let request = BatchGetItem::new()
        .request(&consistent, keys().consistent_read(true))
        .request(&eventual, keys())
        .return_consumed_capacity(TOTAL);
    let answer = ctx.ok(ctx.store().batch_get(request).await);
    let units_of = |table: &Table| {
        let row = answer.consumed_capacity.iter().find(|row| row.table_name == table.name());
        row.map(|row| row.capacity_units)
    };
    assert_eq!(units_of(&consistent), Some(3.0));
    assert_eq!(units_of(&eventual), Some(1.5));
}
