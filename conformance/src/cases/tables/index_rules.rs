//! Indexes of a new table: number, keys and projections.

use super::super::prelude::*;
use super::{constraint, invalid, on_gpk, refused};

fn with_global(count: usize) -> TableSpec {
    TableSpec::s().with(|request| {
        (0..count).fold(request.attribute("gpk", KeyType::S), |request, number| {
            request.global_index(on_gpk(&format!("gsi{number:02}")))
        })
    })
}

fn with_local(count: usize) -> TableSpec {
    (0..count).fold(TableSpec::s_s(), |shape, number| {
        shape.lsi_on(&format!("lsi{number}"), ("lsk", KeyType::S), IndexProjection::all())
    })
}

pub(super) async fn tables_are_limited_to_20_global_indexes(ctx: Ctx) {
    let table = ctx.table(with_global(20)).await;
    let item = item! { "pk" => "a", "gpk" => "g" };
    ctx.put(&table, item.clone()).await;
    for index in ["gsi00", "gsi19"] {
        ctx.expect_index(&table, index, std::slice::from_ref(&item)).await;
    }
    let text = invalid("GlobalSecondaryIndex count exceeds the per-table limit of 20");
    refused(&ctx, with_global(21), &text).await;
}

pub(super) async fn tables_are_limited_to_5_local_indexes(ctx: Ctx) {
    let table = ctx.table(with_local(5)).await;
    let item = item! { "pk" => "a", "sk" => "b", "lsk" => "l" };
    ctx.put(&table, item.clone()).await;
    for index in ["lsi0", "lsi4"] {
        ctx.expect_index(&table, index, std::slice::from_ref(&item)).await;
    }
    let text = invalid("Number of LocalSecondaryIndexes exceeds per-table limit of 5");
    refused(&ctx, with_local(6), &text).await;
}

fn including(names: impl IntoIterator<Item = impl Into<String>>) -> TableSpec {
    TableSpec::s().gsi_projecting(IndexProjection::include(names))
}

pub(super) async fn include_needs_attributes(ctx: Ctx) {
    let text = invalid("ProjectionType is INCLUDE, but NonKeyAttributes is not specified");
    refused(&ctx, including([""; 0]), &text).await;
}

pub(super) async fn tables_are_limited_to_100_projected_attributes(ctx: Ctx) {
    // Names count once per index, so the same twenty names in five indexes are a hundred.
    let indexes = |last: usize| {
        let sizes = [20, 20, 20, 20, 20, last];
        sizes.into_iter().enumerate().filter(|(_, size)| *size > 0).fold(
            TableSpec::s(),
            |shape, (number, size)| {
                let names = (0..size).map(|name| format!("x{name}"));
                let projection = IndexProjection::include(names);
                shape.gsi_on(&format!("gsi{number}"), ("gpk", KeyType::S), None, projection)
            },
        )
    };
    let table = ctx.table(indexes(0)).await;
    ctx.put(&table, item! { "pk" => "a", "gpk" => "g", "x0" => 1, "x19" => 2, "x20" => 3 }).await;
    let carried = item! { "pk" => "a", "gpk" => "g", "x0" => 1, "x19" => 2 };
    ctx.expect_index(&table, "gsi4", &[carried]).await;
    let text = "No more than 20 attributes per table can be projected into Local Secondary Indices";
    refused(&ctx, indexes(1), text).await;
}

pub(super) async fn indexes_are_limited_to_20_projected_attributes(ctx: Ctx) {
    let names = |count: usize| (0..count).map(|number| format!("x{number}")).collect::<Vec<_>>();
    ctx.table(including(names(20))).await;
    let text = constraint(
        &format!("[{}]", names(21).join(", ")),
        "globalSecondaryIndexes.1.member.projection.nonKeyAttributes",
        "have length less than or equal to 20",
    );
    refused(&ctx, including(names(21)), &text).await;
}

pub(super) async fn invalid_projections_are_rejected(ctx: Ctx) {
    for (kind, name) in [(ProjectionType::All, "ALL"), (ProjectionType::KeysOnly, "KEYS_ONLY")] {
        let non_key_attributes = vec!["x".to_owned()];
        let shape = TableSpec::s().gsi_projecting(IndexProjection::new(kind, non_key_attributes));
        let text = format!("ProjectionType is {name}, but NonKeyAttributes is specified");
        refused(&ctx, shape, &invalid(&text)).await;
    }
    let text = invalid("Duplicate element in NonKeyAttributes: x");
    refused(&ctx, including(["x", "y", "x"]), &text).await;
}

pub(super) async fn local_index_needs_partition_key_and_own_sort_key(ctx: Ctx) {
    let text = "Table KeySchema does not have a range key, which is required when specifying a \
                LocalSecondaryIndex";
    refused(&ctx, TableSpec::s().lsi(), &invalid(text)).await;
    let index = SecondaryIndex::new("lsi").partition_key("pk");
    let shape = TableSpec::s_s().with(|request| request.local_index(index));
    let text = "Index KeySchema does not have a range key for index: lsi";
    refused(&ctx, shape, &invalid(text)).await;
    let index = SecondaryIndex::new("lsi").partition_key("other").sort_key("sk");
    let shape =
        TableSpec::s_s().with(|request| request.attribute("other", KeyType::S).local_index(index));
    let text = "Index KeySchema does not have the same leading hash key as table KeySchema for \
                index: lsi. index hash key: other, table hash key: pk";
    refused(&ctx, shape, &invalid(text)).await;
    // The sort key of the table is accepted as the sort key of the index.
    let index = SecondaryIndex::new("lsi").partition_key("pk").sort_key("sk");
    let table = ctx.table(TableSpec::s_s().with(|request| request.local_index(index))).await;
    let item = item! { "pk" => "a", "sk" => "b" };
    ctx.put(&table, item.clone()).await;
    ctx.expect_index(&table, "lsi", &[item]).await;
}

pub(super) async fn duplicate_index_name_is_rejected(ctx: Ctx) {
    let shape = TableSpec::s().gsi_hash().gsi_hash();
    refused(&ctx, shape, &invalid("Duplicate index name: gsi")).await;
    // An index can have the name of its table.
    let name = ctx.unused_table_name();
    let request = TableSpec::s()
        .with(|request| request.attribute("gpk", KeyType::S).global_index(on_gpk(&name)));
    ctx.ok(ctx.store().create_table(request.request(&name)).await);
}

pub(super) async fn local_and_global_indexes_share_names(ctx: Ctx) {
    let lsi = |shape: TableSpec| shape.lsi_on("same", ("lsk", KeyType::S), IndexProjection::all());
    let gsi =
        |shape: TableSpec| shape.gsi_on("same", ("gpk", KeyType::S), None, IndexProjection::all());
    for shape in [lsi(lsi(TableSpec::s_s())), gsi(lsi(TableSpec::s_s()))] {
        refused(&ctx, shape, &invalid("Duplicate index name: same")).await;
    }
}

pub(super) async fn index_names_follow_the_rules_of_table_names(ctx: Ctx) {
    let shape =
        |name: &str| TableSpec::s().gsi_on(name, ("gpk", KeyType::S), None, IndexProjection::all());
    let item = item! { "pk" => "a", "gpk" => "g" };
    for name in ["a.b", "A-_9", &"x".repeat(255)] {
        let table = ctx.table_with(shape(name), [item.clone()]).await;
        ctx.expect_index(&table, name, std::slice::from_ref(&item)).await;
    }
    let member = "globalSecondaryIndexes.1.member.indexName";
    for (name, rule) in [
        ("", "have length greater than or equal to 3"),
        ("ab", "have length greater than or equal to 3"),
        ("a!b", "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"),
        (&"x".repeat(256), "have length less than or equal to 255"),
    ] {
        refused(&ctx, shape(name), &constraint(name, member, rule)).await;
    }
}
