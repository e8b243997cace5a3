//! Projected attributes of index entries.

use super::*;

/// Creates a table with three global indexes on `gpk`: KEYS_ONLY, INCLUDE of one attribute, ALL.
async fn carrying(ctx: &Ctx, items: impl IntoIterator<Item = Item>) -> Table {
    let (partition, sort) = (("gpk", KeyType::S), ("gsk", KeyType::S));
    let shape = TableSpec::s()
        .gsi_on("keys", partition, Some(sort), IndexProjection::keys_only())
        .gsi_on("some", partition, Some(sort), IndexProjection::include(["inc"]))
        .gsi_on("all", partition, Some(sort), IndexProjection::all());
    ctx.table_with(shape, items).await
}

fn whole() -> Item {
    item! { "pk" => "a", "gpk" => "g", "gsk" => "s", "inc" => map! { "x" => 1, "y" => 2 }, "oth" => 3 }
}

fn keys() -> Item {
    item! { "pk" => "a", "gpk" => "g", "gsk" => "s" }
}

fn of(table: &Table, index: &str) -> Query {
    Query::new(table, attr("gpk").eq("g")).index(index)
}

pub(super) async fn global_index_returns_projected_attributes(ctx: Ctx) {
    let table = carrying(&ctx, [whole()]).await;
    let some = keys().with("inc", map! { "x" => 1, "y" => 2 });
    for (index, entry) in [("keys", keys()), ("some", some), ("all", whole())] {
        let entry = std::slice::from_ref(&entry);
        ctx.expect_index(&table, index, entry).await;
        ctx.expect_query(of(&table, index), entry).await;
        let projected = Select::AllProjectedAttributes;
        ctx.expect_query(of(&table, index).select(projected), entry).await;
        let scan = Scan::new(&table).index(index).select(projected);
        ctx.expect_items(&ctx.scan_all(scan).await, entry);
    }
}

pub(super) async fn global_index_rejects_other_attributes(ctx: Ctx) {
    let table = carrying(&ctx, [whole()]).await;
    for (index, asked, missing) in [
        ("keys", "oth", "oth"),
        ("keys", "inc.x, gsk", "inc"),
        ("some", "oth", "oth"),
        ("some", "pk, inc, nothing", "nothing"),
    ] {
        let text = format!(
            "One or more parameter values were invalid: Global secondary index {index} does not \
             project [{missing}]"
        );
        let query = of(&table, index).projection(asked);
        ctx.expect_validation(ctx.store().query(query).await, &text);
        let scan = Scan::new(&table).index(index).projection(asked);
        ctx.expect_validation(ctx.store().scan(scan).await, &text);
    }
    // The message lists several attributes in an unspecified order.
    let query = of(&table, "keys").projection("inc, oth");
    ctx.expect_validation_with(
        ctx.store().query(query).await,
        "Global secondary index keys does not project [",
    );
    for (index, asked, entry) in [
        ("keys", "gsk, pk", item! { "gsk" => "s", "pk" => "a" }),
        ("some", "inc", item! { "inc" => map! { "x" => 1, "y" => 2 } }),
        ("all", "oth", item! { "oth" => 3 }),
        ("all", "nothing", item! {}),
    ] {
        ctx.expect_query(of(&table, index).projection(asked), &[entry]).await;
    }
}

/// Creates a table with a KEYS_ONLY local index and three items.
async fn local(ctx: &Ctx) -> (Table, Vec<Item>) {
    let items: Vec<Item> = (1..=3)
        .map(|n| item! { "pk" => "a", "sk" => n, "lsk" => format!("{}", 9 - n), "oth" => n })
        .collect();
    let shape = TableSpec::s_n().lsi_projecting(IndexProjection::keys_only());
    (ctx.table_with(shape, items.clone()).await, items)
}

fn of_local(table: &Table) -> Query {
    Query::new(table, attr("pk").eq("a")).index("lsi")
}

pub(super) async fn local_index_fetches_other_attributes(ctx: Ctx) {
    let (table, items) = local(&ctx).await;
    let reversed: Vec<Item> = items.iter().rev().cloned().collect();
    let keys: Vec<Item> =
        reversed.iter().map(|item| Projection::new(["pk", "sk", "lsk"]).project(item)).collect();
    ctx.expect_query(of_local(&table), &keys).await;
    ctx.expect_query(of_local(&table).select(Select::AllProjectedAttributes), &keys).await;
    ctx.expect_query(of_local(&table).select(Select::AllAttributes), &reversed).await;
    let query = of_local(&table).projection("oth").consistent_read(true);
    ctx.expect_query(query.clone(), &[3, 2, 1].map(|n| item! { "oth" => n })).await;
    ctx.expect_query(query.limit(1).descending(), &[1, 2, 3].map(|n| item! { "oth" => n })).await;
    let scan = Scan::new(&table).index("lsi");
    ctx.expect_items(&ctx.scan_all(scan.clone()).await, &keys);
    ctx.expect_items(&ctx.scan_all(scan.clone().select(Select::AllAttributes)).await, &items);
    let found = ctx.scan_all(scan.projection("oth, sk")).await;
    ctx.expect_items(&found, &[1, 2, 3].map(|n| item! { "sk" => n, "oth" => n }));
}

pub(super) async fn local_index_charges_for_fetches(ctx: Ctx) {
    let (table, _) = local(&ctx).await;
    // The second item has two units of 4 KB.
    let large = item! {
        "pk" => "a", "sk" => 2, "lsk" => "7", "oth" => 2, "large" => "x".repeat(5000),
    };
    ctx.put(&table, large).await;
    let charged = |query: Query| {
        let query = query.return_consumed_capacity(ReturnConsumedCapacity::Indexes);
        let (ctx, store) = (ctx.clone(), ctx.store());
        async move {
            let capacity = ctx
                .ok(store.query(query).await)
                .consumed_capacity
                .expect("the request asks for capacity");
            let index = capacity.local_secondary_indexes.get("lsi").map(|part| part.capacity_units);
            let table = capacity.table.map_or(0.0, |part| part.capacity_units);
            (capacity.capacity_units, index, table)
        }
    };
    let query = of_local(&table);
    assert_eq!(charged(query.clone()).await, (0.5, Some(0.5), 0.0), "nothing must be fetched");
    let count = query.clone().select(Select::Count);
    assert_eq!(charged(count).await, (0.5, Some(0.5), 0.0), "nothing must be fetched for a COUNT");
    let all = query.clone().select(Select::AllAttributes);
    assert_eq!(charged(all.clone()).await, (2.5, Some(0.5), 2.0), "each item must be fetched");
    let consistent = all.consistent_read(true);
    assert_eq!(charged(consistent).await, (5.0, Some(1.0), 4.0), "consistently");
    let limited = query.projection("oth").limit(1);
    assert_eq!(charged(limited).await, (1.0, Some(0.5), 0.5), "one item must be fetched");
}

pub(super) async fn global_index_rejects_all_attributes(ctx: Ctx) {
    let table = carrying(&ctx, [whole()]).await;
    for index in ["keys", "some"] {
        let text = format!(
            "One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not \
             supported for global secondary index {index} because its projection type is not ALL"
        );
        let query = of(&table, index).select(Select::AllAttributes);
        ctx.expect_validation(ctx.store().query(query).await, &text);
        let scan = Scan::new(&table).index(index).select(Select::AllAttributes);
        ctx.expect_validation(ctx.store().scan(scan).await, &text);
    }
}

pub(super) async fn all_attributes_of_complete_index_are_accepted(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s().gsi(), [whole()]).await;
    ctx.expect_index(&table, "gsi", &[whole()]).await;
    ctx.expect_query(of(&table, "gsi").select(Select::AllAttributes), &[whole()]).await;
    let scan = Scan::new(&table).index("gsi").select(Select::AllAttributes);
    ctx.expect_items(&ctx.scan_all(scan).await, &[whole()]);
}

pub(super) async fn projected_attributes_follow_the_item(ctx: Ctx) {
    let table = carrying(&ctx, [whole()]).await;
    let update = |update: Update| UpdateItem::new(&table, item! { "pk" => "a" }).update(update);
    ctx.update(update(Update::new().set("oth", 4))).await;
    ctx.expect_index(&table, "all", &[whole().with("oth", 4)]).await;
    let some = |x: i32| keys().with("inc", map! { "x" => x, "y" => 2 });
    ctx.expect_index(&table, "some", &[some(1)]).await;
    // The filter is also rejected for a path inside a map.
    ctx.update(update(Update::new().set(attr("inc").field("x"), 7))).await;
    ctx.expect_index(&table, "some", &[some(7)]).await;
    ctx.expect_index(&table, "keys", &[keys()]).await;
    let inc = map! { "x" => 7, "y" => 2 };
    ctx.expect_index(&table, "all", &[whole().with("oth", 4).with("inc", inc)]).await;
}

pub(super) async fn missing_included_attribute_is_not_in_the_entry(ctx: Ctx) {
    let table = carrying(&ctx, [keys()]).await;
    let update = |update: Update| UpdateItem::new(&table, item! { "pk" => "a" }).update(update);
    ctx.expect_index(&table, "some", &[keys()]).await;
    ctx.update(update(Update::new().set("inc", "now"))).await;
    ctx.expect_index(&table, "some", &[keys().with("inc", "now")]).await;
    ctx.update(update(Update::new().set("inc", list!["or", 2]))).await;
    ctx.expect_index(&table, "some", &[keys().with("inc", list!["or", 2])]).await;
    ctx.update(update(Update::new().remove("inc"))).await;
    for index in ["keys", "some", "all"] {
        ctx.expect_index(&table, index, &[keys()]).await;
    }
}

pub(super) async fn keys_only_excludes_keys_of_other_indexes(ctx: Ctx) {
    let shape = TableSpec::s_n().gsi_projecting(IndexProjection::keys_only()).gsi_on(
        "other",
        ("opk", KeyType::S),
        None,
        IndexProjection::keys_only(),
    );
    let item = item! { "pk" => "a", "sk" => 1, "gpk" => "g", "gsk" => "s", "opk" => "o", "x" => 1 };
    let table = ctx.table_with(shape, [item]).await;
    let entry = item! { "pk" => "a", "sk" => 1, "gpk" => "g", "gsk" => "s" };
    ctx.expect_index(&table, "gsi", &[entry]).await;
    ctx.expect_index(&table, "other", &[item! { "pk" => "a", "sk" => 1, "opk" => "o" }]).await;
}

pub(super) async fn filter_on_unprojected_attribute_is_rejected(ctx: Ctx) {
    let text = |index: &str, missing: &str| {
        format!(
            "One or more parameter values were invalid: Secondary index {index} does not project \
             one or more filter attributes: [{missing}]"
        )
    };
    let table = carrying(&ctx, [whole()]).await;
    for (index, filter, missing) in [
        ("keys", attr("oth").eq(3), "oth"),
        ("some", attr("oth").exists(), "oth"),
        ("keys", attr("inc").field("x").eq(1), "inc"),
    ] {
        let query = of(&table, index).filter(filter);
        ctx.expect_validation(ctx.store().query(query).await, &text(index, missing));
    }
    ctx.expect_index(&table, "some", &[keys().with("inc", map! { "x" => 1, "y" => 2 })]).await;
    let carried = of(&table, "some").filter(attr("inc").field("y").eq(2));
    assert_eq!(ctx.query_all(carried).await.len(), 1);
    let (table, _) = local(&ctx).await;
    let query = of_local(&table).filter(attr("oth").gt(1));
    ctx.expect_validation(ctx.store().query(query).await, &text("lsi", "oth"));
}

pub(super) async fn count_needs_no_projected_attribute(ctx: Ctx) {
    let table = carrying(&ctx, [whole()]).await;
    ctx.expect_index(&table, "keys", &[keys()]).await;
    let page = ctx.ok(ctx.store().query(of(&table, "keys").select(Select::Count)).await);
    assert_eq!((page.count, page.scanned_count, page.items.len()), (1, 1, 0));
}

pub(super) async fn projection_reaches_into_included_attributes(ctx: Ctx) {
    let table = carrying(&ctx, [whole()]).await;
    let query = of(&table, "some").projection("inc.y, pk");
    ctx.expect_query(query, &[item! { "pk" => "a", "inc" => map! { "y" => 2 } }]).await;
}
