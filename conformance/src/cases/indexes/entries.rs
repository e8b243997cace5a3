//! Existence of index entries, and how they follow their items.

use super::*;

pub(super) async fn item_without_index_partition_key_is_not_indexed(ctx: Ctx) {
    let inside = item! { "pk" => "in", "gpk" => "g", "gsk" => "s" };
    let outside = [item! { "pk" => "out", "gsk" => "s" }, item! { "pk" => "bare" }];
    let table = ctx.table_with(TableSpec::s().gsi(), outside.clone()).await;
    ctx.put(&table, inside.clone()).await;
    ctx.expect_index(&table, "gsi", std::slice::from_ref(&inside)).await;
    ctx.expect_query(by_gsi(&table, "g"), std::slice::from_ref(&inside)).await;
    ctx.expect_table(&table, &[&outside[..], &[inside]].concat()).await;
}

pub(super) async fn item_without_index_sort_key_is_not_indexed(ctx: Ctx) {
    let inside = item! { "pk" => "a", "sk" => 1, "gpk" => "g", "gsk" => "s", "lsk" => "l" };
    let outside = [
        item! { "pk" => "a", "sk" => 2, "gpk" => "g" },
        item! { "pk" => "a", "sk" => 3, "gsk" => "s" },
    ];
    let table = ctx.table_with(TableSpec::s_n().gsi().lsi(), outside.clone()).await;
    ctx.put(&table, inside.clone()).await;
    for index in ["gsi", "lsi"] {
        ctx.expect_index(&table, index, std::slice::from_ref(&inside)).await;
    }
    ctx.expect_query(by_gsi(&table, "g"), std::slice::from_ref(&inside)).await;
    ctx.expect_table(&table, &[&outside[..], &[inside]].concat()).await;
}

pub(super) async fn entry_appears_with_the_last_key_attribute(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().gsi()).await;
    let key = item! { "pk" => "a" };
    let update = |update: Update| UpdateItem::new(&table, key.clone()).update(update);
    ctx.put(&table, item! { "pk" => "a", "x" => 1 }).await;
    ctx.expect_index(&table, "gsi", &[]).await;
    ctx.update(update(Update::new().set("gsk", "s"))).await;
    ctx.expect_index(&table, "gsi", &[]).await;
    ctx.update(update(Update::new().set("gpk", "g"))).await;
    let whole = item! { "pk" => "a", "x" => 1, "gpk" => "g", "gsk" => "s" };
    ctx.expect_index(&table, "gsi", std::slice::from_ref(&whole)).await;
    ctx.expect_query(by_gsi(&table, "g"), std::slice::from_ref(&whole)).await;
    // An update can create the item and its entry.
    let request = UpdateItem::new(&table, item! { "pk" => "b" })
        .update(Update::new().set("gpk", "g").set("gsk", "r"));
    ctx.update(request).await;
    let created = item! { "pk" => "b", "gpk" => "g", "gsk" => "r" };
    ctx.expect_query(by_gsi(&table, "g"), &[created, whole]).await;
}

pub(super) async fn entry_moves_with_its_key(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().gsi()).await;
    let item = |gpk: &str, gsk: &str| item! { "pk" => "a", "gpk" => gpk, "gsk" => gsk, "x" => 1 };
    ctx.put(&table, item("g", "5")).await;
    let mut before = "g";
    for (gpk, gsk) in [("g", "3"), ("h", "3"), ("i", "9"), ("i", "1"), ("g", "5")] {
        let update = Update::new().set("gpk", gpk).set("gsk", gsk);
        ctx.update(UpdateItem::new(&table, item! { "pk" => "a" }).update(update)).await;
        ctx.expect_index(&table, "gsi", &[item(gpk, gsk)]).await;
        ctx.expect_query(by_gsi(&table, gpk), &[item(gpk, gsk)]).await;
        if before != gpk {
            ctx.expect_query(by_gsi(&table, before), &[]).await;
        }
        before = gpk;
    }
    // A put that replaces the item has the same effect.
    let replaced = item! { "pk" => "a", "gpk" => "z", "gsk" => "z" };
    ctx.put(&table, replaced.clone()).await;
    ctx.expect_index(&table, "gsi", &[replaced]).await;
}

pub(super) async fn entry_disappears_with_its_key_or_item(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().gsi()).await;
    let key = item! { "pk" => "a" };
    let whole = item! { "pk" => "a", "gpk" => "g", "gsk" => "s", "x" => 1 };
    let neighbour = item! { "pk" => "b", "gpk" => "g", "gsk" => "s" };
    ctx.put(&table, neighbour.clone()).await;
    let neighbour = std::slice::from_ref(&neighbour);
    for attribute in ["gpk", "gsk"] {
        ctx.put(&table, whole.clone()).await;
        ctx.expect_index(&table, "gsi", &[std::slice::from_ref(&whole), neighbour].concat()).await;
        let update = Update::new().remove(attribute);
        ctx.update(UpdateItem::new(&table, key.clone()).update(update)).await;
        ctx.expect_index(&table, "gsi", neighbour).await;
        let mut rest = whole.clone();
        rest.remove(attribute);
        assert_eq!(ctx.get(&table, key.clone()).await, Some(rest));
    }
    ctx.put(&table, whole.clone()).await;
    ctx.expect_index(&table, "gsi", &[std::slice::from_ref(&whole), neighbour].concat()).await;
    ctx.put(&table, item! { "pk" => "a", "x" => 1 }).await;
    ctx.expect_index(&table, "gsi", neighbour).await;
    ctx.put(&table, whole.clone()).await;
    ctx.expect_index(&table, "gsi", &[&[whole], neighbour].concat()).await;
    ctx.delete(&table, key).await;
    ctx.expect_index(&table, "gsi", neighbour).await;
    ctx.expect_table(&table, neighbour).await;
}

pub(super) async fn local_index_follows_writes(ctx: Ctx) {
    let table = ctx.table(TableSpec::s_n().lsi()).await;
    let key = |sk: i32| item! { "pk" => "a", "sk" => sk };
    let query = Query::new(&table, attr("pk").eq("a")).index("lsi").consistent_read(true);
    let order = |expected: &'static [i32]| {
        let (ctx, query) = (&ctx, query.clone());
        async move { ctx.expect_column(&ctx.query_all(query).await, "sk", expected.to_vec()) }
    };
    ctx.put_all(&table, (1..=3).map(key)).await;
    order(&[]).await;
    for (sk, lsk) in [(1, "m"), (2, "k"), (3, "z")] {
        let update = Update::new().set("lsk", lsk);
        ctx.update(UpdateItem::new(&table, key(sk)).update(update)).await;
    }
    order(&[2, 1, 3]).await;
    ctx.update(UpdateItem::new(&table, key(3)).update(Update::new().set("lsk", "a"))).await;
    order(&[3, 2, 1]).await;
    ctx.update(UpdateItem::new(&table, key(2)).update(Update::new().remove("lsk"))).await;
    order(&[3, 1]).await;
    ctx.put(&table, key(3).with("x", 1)).await;
    order(&[1]).await;
    ctx.delete(&table, key(1)).await;
    order(&[]).await;
    assert_eq!(ctx.all_items(&table).await.len(), 2);
}

pub(super) async fn entries_follow_batches(ctx: Ctx) {
    let item = |n: i32, gpk: &str| item! { "pk" => format!("{n}"), "gpk" => gpk, "gsk" => "s" };
    let table = ctx.table_with(TableSpec::s().gsi(), (0..6).map(|n| item(n, "old"))).await;
    let batch = BatchWriteItem::new()
        .put(&table, item(0, "new"))
        .put(&table, item! { "pk" => "1" })
        .delete(&table, item! { "pk" => "2" })
        .put(&table, item(7, "new"));
    ctx.ok(ctx.store().batch_write(batch).await);
    let expected = [item(0, "new"), item(7, "new"), item(3, "old"), item(4, "old"), item(5, "old")];
    ctx.expect_index(&table, "gsi", &expected).await;
}

pub(super) async fn entries_follow_transactions(ctx: Ctx) {
    let item = |n: i32, gpk: &str| item! { "pk" => format!("{n}"), "gpk" => gpk, "gsk" => "s" };
    let table = ctx.table_with(TableSpec::s().gsi(), (0..4).map(|n| item(n, "old"))).await;
    let moved =
        UpdateItem::new(&table, item! { "pk" => "1" }).update(Update::new().set("gpk", "new"));
    let emptied =
        UpdateItem::new(&table, item! { "pk" => "2" }).update(Update::new().remove("gsk"));
    let transaction = TransactWriteItems::new()
        .item(PutItem::new(&table, item(0, "new")))
        .item(moved)
        .item(emptied)
        .item(DeleteItem::new(&table, item! { "pk" => "3" }))
        .item(PutItem::new(&table, item(4, "new")));
    ctx.ok(ctx.store().transact_write(transaction).await);
    let expected = [item(0, "new"), item(1, "new"), item(4, "new")];
    ctx.expect_index(&table, "gsi", &expected).await;
}

/// Creates a table with both kinds of index and two items that are in both.
async fn watched(ctx: &Ctx) -> Table {
    let item = |sk: i32| {
        item! { "pk" => "a", "sk" => sk, "gpk" => "g", "gsk" => "s", "lsk" => "l", "x" => 1 }
    };
    ctx.table_with(TableSpec::s_n().gsi().lsi(), [item(1), item(2)]).await
}

pub(super) async fn failed_write_leaves_entries(ctx: Ctx) {
    let table = watched(&ctx).await;
    let before = ctx.snapshot(&table).await;
    let key = item! { "pk" => "a", "sk" => 1 };
    let never = attr("x").eq(2);
    let moving = Update::new().set("gpk", "h").set("lsk", "m").set("x", 5);
    let update = UpdateItem::new(&table, key.clone());
    let conditional = update.clone().update(moving.clone()).condition(never.clone());
    ctx.expect_condition_failed(ctx.store().update(conditional).await);
    let put = PutItem::new(&table, key.clone().with("gpk", "h")).condition(never.clone());
    ctx.expect_condition_failed(ctx.store().put(put).await);
    let delete = DeleteItem::new(&table, key.clone()).condition(never);
    ctx.expect_condition_failed(ctx.store().delete(delete).await);
    // The update fails after its condition was evaluated; nothing of it remains either.
    let wrong = moving.set("y", attr("missing").plus(1));
    let result = ctx.store().update(update.update(wrong)).await;
    ctx.expect_kind(result, "Validation", |kind| matches!(kind, ErrorKind::Validation));
    let put = PutItem::new(&table, key.with("gpk", 7).with("gsk", "s"));
    let result = ctx.store().put(put).await;
    ctx.expect_kind(result, "Validation", |kind| matches!(kind, ErrorKind::Validation));
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn canceled_transaction_leaves_entries(ctx: Ctx) {
    let table = watched(&ctx).await;
    let before = ctx.snapshot(&table).await;
    let key = |sk: i32| item! { "pk" => "a", "sk" => sk };
    let moving = Update::new().set("gpk", "h").set("lsk", "m");
    let transaction = TransactWriteItems::new()
        .item(UpdateItem::new(&table, key(1)).update(moving))
        .item(PutItem::new(&table, key(3).with("gpk", "g").with("gsk", "s").with("lsk", "n")))
        .item(DeleteItem::new(&table, key(2)).condition(attr("x").eq(2)));
    ctx.expect_canceled(
        ctx.store().transact_write(transaction).await,
        &["None", "None", "ConditionalCheckFailed"],
    );
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn key_number_from_add_orders_its_entry(ctx: Ctx) {
    let sort = Some(("gsk", KeyType::N));
    let shape = TableSpec::s().gsi_on("gsi", ("gpk", KeyType::S), sort, IndexProjection::all());
    let table = ctx.table(shape).await;
    ctx.put_all(&table, ["a", "b", "c"].map(|pk| item! { "pk" => pk, "gpk" => "g" })).await;
    ctx.expect_index(&table, "gsi", &[]).await;
    let mut scores = [0, 0, 0];
    // In numeric order, -1 comes before 9, and 9 before 10.
    for (player, points) in [(0, 9), (1, 10), (2, -1), (0, 2), (2, 100), (1, -20)] {
        let key = item! { "pk" => ["a", "b", "c"][player] };
        ctx.update(UpdateItem::new(&table, key).update(Update::new().add("gsk", points))).await;
        scores[player] += points;
    }
    let mut expected: Vec<(i32, &str)> = scores.into_iter().zip(["a", "b", "c"]).collect();
    expected.sort_unstable();
    let expected: Vec<Item> = expected
        .into_iter()
        .map(|(score, pk)| item! { "pk" => pk, "gpk" => "g", "gsk" => score })
        .collect();
    ctx.expect_query(by_gsi(&table, "g"), &expected).await;
}

pub(super) async fn computed_key_orders_its_entry(ctx: Ctx) {
    let item = item! { "pk" => "a", "status" => "draft", "gpk" => "g" };
    let table = ctx.table_with(TableSpec::s().gsi(), [item]).await;
    let update = |text: &str| UpdateItem::new(&table, item! { "pk" => "a" }).update(text);
    ctx.update(
        update("SET gsk = if_not_exists(gsk, #s), #s = :p")
            .name("#s", "status")
            .value(":p", "live"),
    )
    .await;
    let entry = item! { "pk" => "a", "status" => "live", "gpk" => "g", "gsk" => "draft" };
    ctx.expect_index(&table, "gsi", &[entry]).await;
    ctx.update(update("SET gpk = gsk, gsk = gpk").clone()).await;
    let entry = item! { "pk" => "a", "status" => "live", "gpk" => "draft", "gsk" => "g" };
    ctx.expect_index(&table, "gsi", &[entry]).await;
}

pub(super) async fn many_items_share_an_index_key(ctx: Ctx) {
    let items: Vec<Item> = (0..30)
        .map(|n| item! { "pk" => format!("{n}"), "gpk" => "g", "gsk" => "s", "n" => n })
        .collect();
    let table = ctx.table_with(TableSpec::s().gsi(), items.clone()).await;
    ctx.expect_index(&table, "gsi", &items).await;
    let exact = attr("gpk").eq("g").and(attr("gsk").eq("s"));
    let found = ctx.query_all(Query::new(&table, exact).index("gsi")).await;
    ctx.expect_items(&found, &items);
    for n in 0..15 {
        ctx.delete(&table, item! { "pk" => format!("{n}") }).await;
    }
    ctx.expect_index(&table, "gsi", &items[15..]).await;
}

pub(super) async fn rewritten_item_has_one_entry(ctx: Ctx) {
    let item = item! { "pk" => "a", "gpk" => "g", "gsk" => "s", "x" => 1 };
    let table = ctx.table_with(TableSpec::s().gsi(), [item.clone(), item.clone()]).await;
    let key = item! { "pk" => "a" };
    for update in
        [Update::new().set("x", 1), Update::new().set("gsk", "s"), Update::new().remove("y")]
    {
        ctx.update(UpdateItem::new(&table, key.clone()).update(update)).await;
        ctx.expect_index(&table, "gsi", std::slice::from_ref(&item)).await;
    }
    ctx.delete(&table, key.clone()).await;
    ctx.delete(&table, key).await;
    ctx.expect_index(&table, "gsi", &[]).await;
    ctx.put(&table, item.clone()).await;
    ctx.expect_index(&table, "gsi", &[item]).await;
}

pub(super) async fn entry_shows_the_last_state_after_a_race(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().gsi()).await;
    let writes = (0..24).map(|n| {
        let (store, key) = (ctx.store(), item! { "pk" => "a" });
        let update = match n % 4 {
            0 => Update::new().set("gpk", format!("g{n}")).set("gsk", "s"),
            1 => Update::new().set("gsk", format!("s{n}")).add("n", 1),
            2 => Update::new().set("gpk", "g").remove("x"),
            _ => Update::new().remove("gsk").add("n", 1),
        };
        let request = UpdateItem::new(&table, key).update(update);
        async move { store.update(request).await }
    });
    for result in ctx.at_once(writes).await {
        ctx.ok(result);
    }
    let item = ctx.get(&table, item! { "pk" => "a" }).await.expect("written");
    assert_eq!(item.get("n"), Some(Value::from(12).as_ref()), "an ADD was lost");
    let indexed = item.contains("gpk") && item.contains("gsk");
    let expected = if indexed { vec![item] } else { vec![] };
    ctx.expect_index(&table, "gsi", &expected).await;
}

pub(super) async fn write_changes_only_its_indexes(ctx: Ctx) {
    let second = ("hpk", KeyType::N);
    let shape =
        TableSpec::s_n().gsi().lsi().gsi_on("other", second, None, IndexProjection::keys_only());
    let table = ctx.table(shape).await;
    let key = item! { "pk" => "a", "sk" => 1 };
    let whole = item! {
        "pk" => "a", "sk" => 1, "gpk" => "g", "gsk" => "s", "lsk" => "l", "hpk" => 7, "x" => 1,
    };
    ctx.put(&table, whole.clone()).await;
    let keys = item! { "pk" => "a", "sk" => 1, "hpk" => 7 };
    ctx.expect_index(&table, "gsi", std::slice::from_ref(&whole)).await;
    ctx.expect_index(&table, "lsi", &[whole]).await;
    ctx.expect_index(&table, "other", std::slice::from_ref(&keys)).await;
    let update = Update::new().set("gpk", "h").remove("lsk").set("x", 2);
    ctx.update(UpdateItem::new(&table, key.clone()).update(update)).await;
    let changed = item! {
        "pk" => "a", "sk" => 1, "gpk" => "h", "gsk" => "s", "hpk" => 7, "x" => 2,
    };
    ctx.expect_index(&table, "gsi", &[changed]).await;
    ctx.expect_index(&table, "lsi", &[]).await;
    ctx.expect_index(&table, "other", &[keys]).await;
    ctx.delete(&table, key).await;
    for index in ["gsi", "lsi", "other"] {
        ctx.expect_index(&table, index, &[]).await;
    }
}

pub(super) async fn indexes_share_an_attribute(ctx: Ctx) {
    let all = IndexProjection::all;
    let (a, b) = (("a", KeyType::S), ("b", KeyType::S));
    let shape = TableSpec::s()
        .gsi_on("a-b", a, Some(b), all())
        .gsi_on("b-a", b, Some(a), all())
        .gsi_on("only-a", a, None, all());
    let table = ctx.table(shape).await;
    let both = item! { "pk" => "1", "a" => "x", "b" => "y" };
    let one = item! { "pk" => "2", "a" => "x" };
    ctx.put_all(&table, [both.clone(), one.clone()]).await;
    ctx.expect_index(&table, "a-b", std::slice::from_ref(&both)).await;
    ctx.expect_index(&table, "b-a", std::slice::from_ref(&both)).await;
    ctx.expect_index(&table, "only-a", &[both.clone(), one.clone()]).await;
    let by_b = Query::new(&table, attr("b").eq("y").and(attr("a").eq("x"))).index("b-a");
    ctx.expect_query(by_b, &[both]).await;
    let update = Update::new().set("a", "z").remove("b");
    ctx.update(UpdateItem::new(&table, item! { "pk" => "1" }).update(update)).await;
    ctx.expect_index(&table, "a-b", &[]).await;
    ctx.expect_index(&table, "b-a", &[]).await;
    ctx.expect_index(&table, "only-a", &[item! { "pk" => "1", "a" => "z" }, one]).await;
}

pub(super) async fn index_can_have_the_table_keys(ctx: Ctx) {
    let shape = TableSpec::s_s().with(|request| {
        let by_sort = SecondaryIndex::new("inv").partition_key("sk").sort_key("pk");
        request.global_index(by_sort.projection(IndexProjection::keys_only()))
    });
    let edge = |from: &str, to: &str| item! { "pk" => from, "sk" => to };
    let table = ctx.table(shape).await;
    for (from, to) in [("a", "x"), ("b", "x"), ("a", "y")] {
        ctx.put(&table, edge(from, to).with("weight", 1)).await;
    }
    let into = Query::new(&table, attr("sk").eq("x")).index("inv");
    ctx.expect_query(into.clone(), &[edge("a", "x"), edge("b", "x")]).await;
    ctx.expect_query(into.clone().descending(), &[edge("b", "x"), edge("a", "x")]).await;
    ctx.delete(&table, edge("a", "x")).await;
    ctx.expect_query(into, &[edge("b", "x")]).await;
}

pub(super) async fn entries_of_every_key_type_are_ordered(ctx: Ctx) {
    for partition in KEY_TYPES {
        for sort in KEY_TYPES {
            let shape = TableSpec::s().gsi_on(
                "gsi",
                ("gpk", partition),
                Some(("gsk", sort)),
                IndexProjection::all(),
            );
            let table = ctx.table(shape).await;
            let (first, other) = (ascending(partition)[1].clone(), ascending(partition)[4].clone());
            let items: Vec<Item> = ascending(sort)
                .into_iter()
                .enumerate()
                .map(|(n, value)| item! { "pk" => format!("{n}"), "gpk" => &first, "gsk" => value })
                .collect();
            ctx.put_all(&table, items.iter().rev().cloned()).await;
            let stranger = item! { "pk" => "z", "gpk" => &other, "gsk" => &ascending(sort)[0] };
            ctx.put(&table, stranger.clone()).await;
            let query = |value: Value| Query::new(&table, attr("gpk").eq(value)).index("gsi");
            ctx.expect_query(query(first), &items).await;
            ctx.expect_query(query(other), &[stranger]).await;
        }
    }
}
