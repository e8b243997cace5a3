//! Indexes that are added to and deleted from a table.

use super::super::prelude::*;
use super::{add_index, constraint, describe, global_indexes, invalid, on_gpk};

const ONE_AT_A_TIME: &str = "Subscriber limit exceeded: Only 1 online index can be created or \
                             deleted simultaneously per table";

pub(super) async fn one_index_per_call(ctx: Ctx) {
    let shape = TableSpec::s()
        .gsi_on("one", ("gpk", KeyType::S), None, IndexProjection::all())
        .gsi_on("two", ("gpk", KeyType::S), None, IndexProjection::all());
    let table = ctx.table_with(shape, [item! { "pk" => "a", "gpk" => "g" }]).await;
    let before = ctx.snapshot(&table).await;
    for (what, request) in [
        ("two created", add_index(&table, "new").create_index(on_gpk("other"))),
        ("created and deleted", add_index(&table, "new").delete_index("one")),
        ("two deleted", UpdateTable::new(&table).delete_index("one").delete_index("two")),
    ] {
        let answer = ctx.store().update_table(request).await;
        ctx.expect_code(answer, "LimitExceededException", ONE_AT_A_TIME);
        assert_eq!(global_indexes(&describe(&ctx, &table).await), ["one", "two"], "{what}");
    }
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn index_is_named_once_per_call(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().gsi_hash()).await;
    for request in [
        UpdateTable::new(&table).delete_index("gsi").delete_index("gsi"),
        add_index(&table, "gsi").delete_index("gsi"),
    ] {
        let text = "Only one global secondary index update per index is allowed simultaneously. \
                    Index: gsi";
        ctx.expect_validation(ctx.store().update_table(request).await, &invalid(text));
    }
    assert_eq!(global_indexes(&describe(&ctx, &table).await), ["gsi"]);
}

pub(super) async fn added_index_has_existing_items(ctx: Ctx) {
    let items: Vec<Item> = (0..60)
        .map(|number| {
            item! { "pk" => format!("p{number}"), "gpk" => format!("g{}", number % 7), "n" => number }
        })
        .collect();
    let table = ctx.table_with(TableSpec::s(), items.clone()).await;
    // A deleted item is not in the index.
    ctx.put(&table, item! { "pk" => "gone", "gpk" => "g1" }).await;
    ctx.delete(&table, item! { "pk" => "gone" }).await;
    let index = on_gpk("gsi").sort_key("n");
    let request = UpdateTable::new(&table)
        .attribute("gpk", KeyType::S)
        .attribute("n", KeyType::N)
        .create_index(index);
    ctx.update_table(request).await;
    ctx.expect_index(&table, "gsi", &items).await;
    let query = Query::new(&table, attr("gpk").eq("g1")).index("gsi");
    let expected: Vec<Item> = items.iter().skip(1).step_by(7).cloned().collect();
    ctx.expect_query(query, &expected).await;
    ctx.expect_table(&table, &items).await;
}

pub(super) async fn unfit_items_are_left_out_of_added_index(ctx: Ctx) {
    let fits = item! { "pk" => "fits", "gpk" => "g" };
    let table =
        ctx.table_with(TableSpec::s(), [fits.clone(), item! { "pk" => "n", "gpk" => 5 }]).await;
    ctx.update_table(add_index(&table, "gsi")).await;
    ctx.expect_index(&table, "gsi", std::slice::from_ref(&fits)).await;
    // Such an item can be updated as long as the attribute is unchanged.
    let request = UpdateItem::new(&table, item! { "pk" => "n" }).update(Update::new().set("x", 1));
    ctx.update(request).await;
    ctx.expect_index(&table, "gsi", std::slice::from_ref(&fits)).await;
    // It enters the index when the attribute gets the type of the key.
    let mended = item! { "pk" => "n", "gpk" => "h", "x" => 1 };
    ctx.put(&table, mended.clone()).await;
    ctx.expect_index(&table, "gsi", &[fits.clone(), mended]).await;

    let misfits = [
        item! { "pk" => "null", "gpk" => Value::Null },
        item! { "pk" => "bool", "gpk" => true },
        item! { "pk" => "binary", "gpk" => b"g" },
        item! { "pk" => "list", "gpk" => list!["g"] },
        item! { "pk" => "map", "gpk" => map! { "g" => "g" } },
        item! { "pk" => "long", "gpk" => "x".repeat(2049) },
    ];
    let table = ctx.table_with(TableSpec::s(), misfits.clone()).await;
    ctx.put(&table, fits.clone()).await;
    ctx.update_table(add_index(&table, "gsi")).await;
    ctx.expect_index(&table, "gsi", std::slice::from_ref(&fits)).await;
    let mut all = misfits.to_vec();
    all.push(fits);
    ctx.expect_table(&table, &all).await;
}

pub(super) async fn added_index_is_sparse(ctx: Ctx) {
    let items = [
        item! { "pk" => "both", "gpk" => "g", "gsk" => "h" },
        item! { "pk" => "no sort", "gpk" => "g" },
        item! { "pk" => "no partition", "gsk" => "h" },
        item! { "pk" => "neither" },
        item! { "pk" => "empty", "gpk" => "", "gsk" => "h" },
        item! { "pk" => "empty sort", "gpk" => "g", "gsk" => "" },
    ];
    let table = ctx.table_with(TableSpec::s(), items.clone()).await;
    let request = UpdateTable::new(&table)
        .attribute("gpk", KeyType::S)
        .attribute("gsk", KeyType::S)
        .create_index(on_gpk("gsi").sort_key("gsk"));
    ctx.update_table(request).await;
    ctx.expect_index(&table, "gsi", &items[..1]).await;
    ctx.expect_table(&table, &items).await;
}

pub(super) async fn index_is_active_or_deleted_when_the_call_returns(ctx: Ctx) {
    let item = item! { "pk" => "a", "gpk" => "g" };
    let table = ctx.table_with(TableSpec::s(), [item.clone()]).await;
    ctx.update_table(add_index(&table, "gsi")).await;
    let description = describe(&ctx, &table).await;
    let [index] = &description.global_secondary_indexes[..] else { panic!("{description:?}") };
    assert_eq!((index.name.as_str(), index.status), ("gsi", TableStatus::Active));
    assert!(!index.backfilling);
    ctx.expect_index(&table, "gsi", std::slice::from_ref(&item)).await;

    ctx.update_table(UpdateTable::new(&table).delete_index("gsi")).await;
    assert!(describe(&ctx, &table).await.global_secondary_indexes.is_empty());
    let text = "The table does not have the specified index: gsi";
    let query = Query::new(&table, attr("gpk").eq("g")).index("gsi");
    ctx.expect_validation(ctx.store().query(query).await, text);
    ctx.expect_validation(ctx.store().scan(Scan::new(&table).index("gsi")).await, text);
    // Values that did not fit the index key are accepted again.
    ctx.put(&table, item! { "pk" => "b", "gpk" => 1 }).await;
    ctx.expect_table(&table, &[item, item! { "pk" => "b", "gpk" => 1 }]).await;
}

pub(super) async fn added_index_follows_and_validates_writes(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [item! { "pk" => "a", "gpk" => "g" }]).await;
    ctx.update_table(add_index(&table, "gsi")).await;
    ctx.put(&table, item! { "pk" => "b", "gpk" => "g" }).await;
    let moved =
        UpdateItem::new(&table, item! { "pk" => "a" }).update(Update::new().set("gpk", "h"));
    ctx.update(moved).await;
    let (a, b) = (item! { "pk" => "a", "gpk" => "h" }, item! { "pk" => "b", "gpk" => "g" });
    ctx.expect_index(&table, "gsi", &[a.clone(), b.clone()]).await;
    ctx.delete(&table, item! { "pk" => "b" }).await;
    ctx.expect_index(&table, "gsi", std::slice::from_ref(&a)).await;
    let wrong = PutItem::new(&table, item! { "pk" => "c", "gpk" => 1 });
    ctx.expect_validation_with(ctx.store().put(wrong).await, "Type mismatch for Index Key");
    ctx.expect_table(&table, &[a]).await;
}

pub(super) async fn deleted_index_can_be_recreated(ctx: Ctx) {
    let item = item! { "pk" => "a", "gpk" => "g", "other" => 1 };
    let table = ctx.table_with(TableSpec::s().gsi_hash(), [item.clone()]).await;
    ctx.update_table(UpdateTable::new(&table).delete_index("gsi")).await;
    let request = UpdateTable::new(&table)
        .attribute("other", KeyType::N)
        .create_index(SecondaryIndex::new("gsi").partition_key("other"));
    ctx.update_table(request).await;
    ctx.expect_query(Query::new(&table, attr("other").eq(1)).index("gsi"), &[item]).await;
    let old = Query::new(&table, attr("gpk").eq("g")).index("gsi");
    let text = "Query condition missed key schema element: other";
    ctx.expect_validation(ctx.store().query(old).await, text);
}

pub(super) async fn existing_index_is_not_created_again(ctx: Ctx) {
    let item = item! { "pk" => "a", "gpk" => "g" };
    let table = ctx.table_with(TableSpec::s().gsi_hash(), [item]).await;
    let before = ctx.snapshot(&table).await;
    let text = "Attempting to create an index which already exists";
    ctx.expect_validation(ctx.store().update_table(add_index(&table, "gsi")).await, text);
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn twenty_first_global_index_is_rejected(ctx: Ctx) {
    let shape = TableSpec::s().with(|request| {
        (0..20).fold(request.attribute("gpk", KeyType::S), |request, number| {
            request.global_index(on_gpk(&format!("gsi{number:02}")))
        })
    });
    let table = ctx.table(shape).await;
    ctx.expect_code(
        ctx.store().update_table(add_index(&table, "more")).await,
        "LimitExceededException",
        "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of \
         20",
    );
    assert_eq!(global_indexes(&describe(&ctx, &table).await).len(), 20);
}

pub(super) async fn added_index_follows_the_rules_of_new_tables(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [item! { "pk" => "a", "gpk" => "g" }]).await;
    let update = || UpdateTable::new(&table);
    let include = on_gpk("gsi").projection(IndexProjection::include([""; 0]));
    for (request, text) in [
        (
            update().create_index(on_gpk("gsi")),
            invalid("AttributeDefinitions is not specified for index: gsi"),
        ),
        (
            update().attribute("other", KeyType::S).create_index(on_gpk("gsi")),
            invalid(
                "Some index key attributes are not defined in AttributeDefinitions. Keys: [gpk], \
                 AttributeDefinitions: [other, pk]",
            ),
        ),
        (
            add_index(&table, "gsi").attribute("pk", KeyType::N),
            "invalid attribute, SchemaElement redefined should be of same type as previously \
             defined"
                .to_owned(),
        ),
        (
            update().attribute("gpk", KeyType::S).create_index(include),
            invalid("ProjectionType is INCLUDE, but NonKeyAttributes is not specified"),
        ),
        (
            update()
                .attribute("gpk", KeyType::S)
                .create_index(SecondaryIndex::new("gsi").sort_key("gpk")),
            "Invalid KeySchema: The first KeySchemaElement is not a HASH key type".to_owned(),
        ),
        (
            add_index(&table, "g!i"),
            constraint(
                "g!i",
                "globalSecondaryIndexUpdates.1.member.create.indexName",
                "satisfy regular expression pattern: [a-zA-Z0-9_.-]+",
            ),
        ),
    ] {
        ctx.expect_validation(ctx.store().update_table(request).await, &text);
        assert!(describe(&ctx, &table).await.global_secondary_indexes.is_empty(), "{text}");
    }
    ctx.expect_table(&table, &[item! { "pk" => "a", "gpk" => "g" }]).await;
}

pub(super) async fn delete_of_missing_index_fails(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().gsi_hash()).await;
    let request = UpdateTable::new(&table).delete_index("none");
    ctx.expect_code(
        ctx.store().update_table(request).await,
        "ResourceNotFoundException",
        &format!("Requested resource not found: Index none for table {table}"),
    );
    assert_eq!(global_indexes(&describe(&ctx, &table).await), ["gsi"]);
}

pub(super) async fn local_index_cannot_be_deleted(ctx: Ctx) {
    let item = item! { "pk" => "a", "sk" => "b", "lsk" => "c" };
    let table = ctx.table_with(TableSpec::s_s().lsi(), [item.clone()]).await;
    let request = UpdateTable::new(&table).delete_index("lsi");
    let answer = ctx.store().update_table(request).await;
    ctx.expect_validation(answer, "Cannot delete an index that is not a GlobalSecondaryIndex: lsi");
    ctx.expect_index(&table, "lsi", &[item]).await;
}

pub(super) async fn added_index_has_the_projected_attributes(ctx: Ctx) {
    let item = item! { "pk" => "a", "gpk" => "g", "x" => 1, "y" => 2 };
    for (projection, entry) in [
        (IndexProjection::include(["x"]), item! { "pk" => "a", "gpk" => "g", "x" => 1 }),
        (IndexProjection::keys_only(), item! { "pk" => "a", "gpk" => "g" }),
        (IndexProjection::all(), item.clone()),
    ] {
        let table = ctx.table_with(TableSpec::s(), [item.clone()]).await;
        let index = on_gpk("gsi").projection(projection.clone());
        let request = UpdateTable::new(&table).attribute("gpk", KeyType::S).create_index(index);
        ctx.update_table(request).await;
        let description = describe(&ctx, &table).await;
        assert_eq!(description.global_secondary_indexes[0].projection, projection);
        ctx.expect_query(Query::new(&table, attr("gpk").eq("g")).index("gsi"), &[entry]).await;
    }
}

pub(super) async fn added_index_has_its_throughput(ctx: Ctx) {
    let spec = TableSpec::s().with(|request| {
        request
            .billing_mode(Some(BillingMode::Provisioned))
            .provisioned_throughput(Some(ProvisionedThroughput::new(5, 6)))
    });
    let table = ctx.table(spec).await;
    let given = ProvisionedThroughput::new(3, 4);
    let index = on_gpk("gsi").provisioned_throughput(Some(given));
    let request = UpdateTable::new(&table).attribute("gpk", KeyType::S).create_index(index);
    ctx.update_table(request).await;
    let description = describe(&ctx, &table).await;
    assert_eq!(description.provisioned_throughput, ProvisionedThroughput::new(5, 6));
    assert_eq!(description.global_secondary_indexes[0].provisioned_throughput, given);
}
