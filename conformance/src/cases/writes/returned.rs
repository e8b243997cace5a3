//! Return values of writes (29, 30).

use super::*;

/// Returns the item that the updates change.
fn sample() -> Item {
    item! {
        "pk" => "a",
        "n" => 1,
        "s" => "x",
        "l" => list![0, 1, 2],
        "m" => map! { "a" => 1, "b" => map! { "c" => 2, "d" => 3 } },
        "ss" => strings(["a", "b"]),
    }
}

/// Returns the attributes that this update of the sample returns.
async fn returned(
    ctx: &Ctx,
    table: &Table,
    wanted: ReturnValues,
    text: &str,
    values: &[(&str, Value)],
) -> Option<Item> {
    ctx.put(table, sample()).await;
    let request = UpdateItem::new(table, key()).update(text).return_values(wanted);
    let request = values.iter().fold(request, |all, (name, value)| all.value(*name, value));
    match ctx.store().update(request).await {
        Ok(answer) => answer.attributes,
        Err(error) => panic!("{text}: {error}"),
    }
}

const REFUSED: [ReturnValues; 3] =
    [ReturnValues::UpdatedOld, ReturnValues::AllNew, ReturnValues::UpdatedNew];

const ONLY_OLD: &str = "ReturnValues can only be ALL_OLD or NONE";

pub(super) async fn put_accepts_none_and_all_old(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    for wanted in REFUSED {
        let request = PutItem::new(&table, written()).return_values(wanted);
        ctx.expect_validation(ctx.store().put(request).await, ONLY_OLD);
    }
    ctx.expect_table(&table, &[sample()]).await;
    let request = PutItem::new(&table, written()).return_values(ReturnValues::AllOld);
    assert_eq!(ctx.ok(ctx.store().put(request).await).attributes, Some(sample()));
    ctx.expect_table(&table, &[written()]).await;
    let request = PutItem::new(&table, sample()).return_values(ReturnValues::None);
    assert_eq!(ctx.ok(ctx.store().put(request).await).attributes, None);
    assert_eq!(ctx.put(&table, written()).await.attributes, None);
    ctx.expect_table(&table, &[written()]).await;
}

pub(super) async fn delete_accepts_none_and_all_old(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    for wanted in REFUSED {
        let request = DeleteItem::new(&table, key()).return_values(wanted);
        ctx.expect_validation(ctx.store().delete(request).await, ONLY_OLD);
    }
    ctx.expect_table(&table, &[sample()]).await;
    let request = DeleteItem::new(&table, key()).return_values(ReturnValues::AllOld);
    assert_eq!(ctx.ok(ctx.store().delete(request).await).attributes, Some(sample()));
    ctx.expect_table(&table, &[]).await;
    ctx.put(&table, sample()).await;
    assert_eq!(ctx.delete(&table, key()).await.attributes, None);
    ctx.expect_table(&table, &[]).await;
}

pub(super) async fn update_returns_nothing_by_default(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    let set = Update::new().set("s", "y");
    let request = UpdateItem::new(&table, key()).update(set.clone());
    assert_eq!(ctx.update(request.clone()).await.attributes, None);
    let request = request.return_values(ReturnValues::None);
    assert_eq!(ctx.update(request).await.attributes, None);
    ctx.expect_table(&table, &[sample().with("s", "y")]).await;
    let missing = UpdateItem::new(&table, item! { "pk" => "b" }).update(set);
    assert_eq!(ctx.update(missing).await.attributes, None);
    ctx.expect_table(&table, &[sample().with("s", "y"), item! { "pk" => "b", "s" => "y" }]).await;
}

pub(super) async fn update_returns_the_old_item(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let v = [(":v", Value::from(9))];
    for (text, values) in [
        ("SET s = :v", &v[..]),
        ("SET m.b.c = :v", &v),
        ("SET z = :v", &v),
        ("REMOVE n", &[]),
        ("REMOVE z", &[]),
        ("ADD n :v", &v),
    ] {
        let old = returned(&ctx, &table, ReturnValues::AllOld, text, values).await;
        assert_eq!(old, Some(sample()), "{text}");
    }
}

pub(super) async fn update_returns_the_new_item(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let v = [(":v", Value::from(9))];
    for (text, values) in [
        ("SET s = :v", &v[..]),
        ("SET m.b.c = :v", &v),
        ("SET z = :v REMOVE l[1]", &v),
        ("REMOVE n", &[]),
        ("REMOVE z", &[]),
        ("ADD n :v", &v),
    ] {
        let new = returned(&ctx, &table, ReturnValues::AllNew, text, values).await;
        assert!(new.is_some(), "{text}: nothing was returned");
        assert_eq!(new, ctx.get(&table, key()).await, "{text}: stored item");
    }
    let new = returned(&ctx, &table, ReturnValues::AllNew, "SET s = :v REMOVE n", &v).await;
    let mut expected = sample().with("s", 9);
    expected.remove("n");
    assert_eq!(new, Some(expected));
    // A created item is returned with its key.
    let request = UpdateItem::new(&table, item! { "pk" => "b" })
        .update(Update::new().set("s", "y"))
        .return_values(ReturnValues::AllNew);
    assert_eq!(ctx.update(request).await.attributes, Some(item! { "pk" => "b", "s" => "y" }));
}

pub(super) async fn all_new_without_item_returns_nothing(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let request = UpdateItem::new(&table, key())
        .update(Update::new().remove("s"))
        .return_values(ReturnValues::AllNew);
    assert_eq!(ctx.update(request).await.attributes, None);
    ctx.expect_table(&table, &[]).await;
}

pub(super) async fn updated_old_returns_old_values(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let v = [(":v", Value::from(9))];
    let a = [(":v", strings(["a"]))];
    let same = [(":v", Value::from("x"))];
    for (text, values, expected) in [
        ("SET s = :v", &v[..], Some(item! { "s" => "x" })),
        // An attribute that is set to its current value counts as updated.
        ("SET s = :v", &same, Some(item! { "s" => "x" })),
        ("SET s = :v, z = :v", &v, Some(item! { "s" => "x" })),
        ("SET s = n, n = :v", &v, Some(item! { "s" => "x", "n" => 1 })),
        ("SET z = :v", &v, None),
        ("SET z = s", &[], None),
        ("REMOVE s SET n = :v", &v, Some(item! { "s" => "x", "n" => 1 })),
        ("REMOVE s", &[], Some(item! { "s" => "x" })),
        ("REMOVE z", &[], None),
        ("ADD n :v", &v, Some(item! { "n" => 1 })),
        ("ADD z :v", &v, None),
        ("ADD ss :v", &a, Some(item! { "ss" => strings(["a", "b"]) })),
        ("DELETE ss :v", &a, Some(item! { "ss" => strings(["a", "b"]) })),
        ("DELETE z :v", &a, None),
    ] {
        let old = returned(&ctx, &table, ReturnValues::UpdatedOld, text, values).await;
        assert_eq!(old, expected, "{text}");
    }
    let request = UpdateItem::new(&table, item! { "pk" => "b" })
        .update(Update::new().set("s", "y"))
        .return_values(ReturnValues::UpdatedOld);
    assert_eq!(ctx.update(request).await.attributes, None, "ALL_OLD of a missing item");
}

pub(super) async fn updated_new_returns_new_values(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let v = [(":v", Value::from(9))];
    let c = [(":v", strings(["c"]))];
    let a = [(":v", strings(["a"]))];
    let same = [(":v", Value::from("x"))];
    for (text, values, expected) in [
        ("SET s = :v", &v[..], item! { "s" => 9 }),
        ("SET s = :v", &same, item! { "s" => "x" }),
        ("SET s = :v, z = :v", &v, item! { "s" => 9, "z" => 9 }),
        ("SET s = n, n = :v", &v, item! { "s" => 1, "n" => 9 }),
        ("SET n = n + :v", &v, item! { "n" => 10 }),
        ("SET s = if_not_exists(s, :v)", &v, item! { "s" => "x" }),
        ("REMOVE s SET n = :v", &v, item! { "n" => 9 }),
        ("ADD n :v", &v, item! { "n" => 10 }),
        ("ADD z :v", &v, item! { "z" => 9 }),
        ("ADD ss :v", &c, item! { "ss" => strings(["a", "b", "c"]) }),
        ("DELETE ss :v", &a, item! { "ss" => strings(["b"]) }),
        ("DELETE ss :v", &c, item! { "ss" => strings(["a", "b"]) }),
    ] {
        let new = returned(&ctx, &table, ReturnValues::UpdatedNew, text, values).await;
        assert_eq!(new, Some(expected), "{text}");
    }
    // The key of a created item does not count as updated.
    let request = UpdateItem::new(&table, item! { "pk" => "b" })
        .update(Update::new().set("s", "y"))
        .return_values(ReturnValues::UpdatedNew);
    assert_eq!(ctx.update(request).await.attributes, Some(item! { "s" => "y" }));
}

pub(super) async fn updated_old_of_nested_path_returns_the_fragment(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let v = [(":v", Value::from(9))];
    let c = map! { "b" => map! { "c" => 2 } };
    for (text, values, expected) in [
        ("SET m.b.c = :v", &v[..], Some(item! { "m" => c.clone() })),
        ("SET m.b.c = :v, m.a = :v", &v, {
            Some(item! { "m" => map! { "a" => 1, "b" => map! { "c" => 2 } } })
        }),
        ("SET m.z = :v", &v, None),
        ("SET l[1] = :v", &v, Some(item! { "l" => list![1] })),
        ("SET l[2] = :v, l[0] = :v", &v, Some(item! { "l" => list![0, 2] })),
        ("SET l[9] = :v", &v, None),
        ("ADD m.a :v", &v, Some(item! { "m" => map! { "a" => 1 } })),
        ("REMOVE m.b.c", &[], Some(item! { "m" => c })),
        ("REMOVE l[1], l[3]", &[], Some(item! { "l" => list![1] })),
        ("REMOVE m.z", &[], None),
    ] {
        let old = returned(&ctx, &table, ReturnValues::UpdatedOld, text, values).await;
        assert_eq!(old, expected, "{text}");
    }
}

pub(super) async fn updated_new_of_nested_path_returns_the_fragment(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let v = [(":v", Value::from(9))];
    for (text, expected) in [
        ("SET m.b.c = :v", item! { "m" => map! { "b" => map! { "c" => 9 } } }),
        ("SET m.b.c = :v, m.a = :v", {
            item! { "m" => map! { "a" => 9, "b" => map! { "c" => 9 } } }
        }),
        ("SET m.z = :v", item! { "m" => map! { "z" => 9 } }),
        ("SET l[1] = :v", item! { "l" => list![9] }),
        ("SET l[2] = :v, l[0] = :v", item! { "l" => list![9, 9] }),
        ("ADD m.a :v", item! { "m" => map! { "a" => 10 } }),
        ("SET m.a = :v REMOVE m.b.c", item! { "m" => map! { "a" => 9 } }),
    ] {
        let new = returned(&ctx, &table, ReturnValues::UpdatedNew, text, &v).await;
        assert_eq!(new, Some(expected), "{text}");
    }
}

pub(super) async fn updated_new_omits_appended_elements(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let v = [(":v", Value::from(9))];
    let new = returned(&ctx, &table, ReturnValues::UpdatedNew, "SET l[9] = :v", &v).await;
    assert_eq!(new, None);
    ctx.expect_table(&table, &[sample().with("l", list![0, 1, 2, 9])]).await;
}

pub(super) async fn updated_new_of_removed_element_returns_its_successor(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let new = returned(&ctx, &table, ReturnValues::UpdatedNew, "REMOVE l[1]", &[]).await;
    assert_eq!(new, Some(item! { "l" => list![2] }));
    ctx.expect_table(&table, &[sample().with("l", list![0, 2])]).await;
    let new = returned(&ctx, &table, ReturnValues::UpdatedNew, "REMOVE l[2]", &[]).await;
    assert_eq!(new, None);
}

pub(super) async fn updated_new_without_set_returns_nothing(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let both = [(":v", strings(["a", "b"]))];
    for (text, values) in [
        ("REMOVE s", &[][..]),
        ("REMOVE s, n, z", &[]),
        ("REMOVE m.a", &[]),
        ("DELETE ss :v", &both),
        ("DELETE z :v", &both),
    ] {
        let new = returned(&ctx, &table, ReturnValues::UpdatedNew, text, values).await;
        assert_eq!(new, None, "{text}");
    }
}

pub(super) async fn update_with_key_alone_returns_no_updated_attributes(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    for wanted in [ReturnValues::UpdatedOld, ReturnValues::UpdatedNew] {
        for pk in ["a", "b"] {
            let request = UpdateItem::new(&table, item! { "pk" => pk }).return_values(wanted);
            assert_eq!(ctx.update(request).await.attributes, None, "{wanted:?} of {pk}");
        }
    }
    ctx.expect_table(&table, &[sample(), item! { "pk" => "b" }]).await;
}

pub(super) async fn all_old_of_missing_item_returns_nothing(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let old = ReturnValues::AllOld;
    let delete = DeleteItem::new(&table, key()).return_values(old);
    assert_eq!(ctx.ok(ctx.store().delete(delete).await).attributes, None, "delete");
    let update = UpdateItem::new(&table, key()).update(Update::new().set("w", "new"));
    assert_eq!(ctx.update(update.return_values(old)).await.attributes, None, "update");
    ctx.expect_table(&table, &[written()]).await;
    let other = item! { "pk" => "b" };
    let put = PutItem::new(&table, other.clone()).return_values(old);
    assert_eq!(ctx.ok(ctx.store().put(put).await).attributes, None, "a put");
    ctx.expect_table(&table, &[written(), other]).await;
}

pub(super) async fn failed_put_returns_the_item(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    let request = PutItem::new(&table, written()).condition(attr("pk").not_exists());
    assert_eq!(ctx.expect_condition_failed(ctx.store().put(request.clone()).await), None);
    let request = request.return_item_on_failure();
    assert_eq!(ctx.expect_condition_failed(ctx.store().put(request).await), Some(sample()));
    let missing = PutItem::new(&table, item! { "pk" => "b" })
        .condition(attr("pk").exists())
        .return_item_on_failure();
    assert_eq!(ctx.expect_condition_failed(ctx.store().put(missing).await), None);
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn failed_update_returns_the_item(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    let request = |pk: &str| {
        UpdateItem::new(&table, item! { "pk" => pk })
            .update(Update::new().set("n", 7))
            .condition(attr("n").gt(1))
    };
    assert_eq!(ctx.expect_condition_failed(ctx.store().update(request("a")).await), None);
    let asked = request("a").return_item_on_failure();
    assert_eq!(ctx.expect_condition_failed(ctx.store().update(asked).await), Some(sample()));
    let missing = request("b").return_item_on_failure();
    assert_eq!(ctx.expect_condition_failed(ctx.store().update(missing).await), None);
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn failed_delete_returns_the_item(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    let request =
        |pk: &str| DeleteItem::new(&table, item! { "pk" => pk }).condition(attr("n").gt(1));
    assert_eq!(ctx.expect_condition_failed(ctx.store().delete(request("a")).await), None);
    let asked = request("a").return_item_on_failure();
    assert_eq!(ctx.expect_condition_failed(ctx.store().delete(asked).await), Some(sample()));
    let missing = request("b").return_item_on_failure();
    assert_eq!(ctx.expect_condition_failed(ctx.store().delete(missing).await), None);
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn failed_write_returns_the_stored_item(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    ctx.put(&table, sample().with("s", "older")).await;
    ctx.put(&table, sample()).await;
    // The return values of the write do not affect the item in the error.
    let request = PutItem::new(&table, written())
        .condition("s = :s")
        .value(":s", "older")
        .return_values(ReturnValues::AllOld)
        .return_item_on_failure();
    assert_eq!(ctx.expect_condition_failed(ctx.store().put(request).await), Some(sample()));
    for wanted in [ReturnValues::AllNew, ReturnValues::UpdatedOld, ReturnValues::UpdatedNew] {
        let request = UpdateItem::new(&table, key())
            .update("SET n = :n")
            .condition("s = :s")
            .value(":n", 2)
            .value(":s", "older")
            .return_values(wanted)
            .return_item_on_failure();
        let item = ctx.expect_condition_failed(ctx.store().update(request).await);
        assert_eq!(item, Some(sample()), "{wanted:?}");
    }
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn successful_write_returns_no_item(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    for kind in [Kind::Update, Kind::Put, Kind::Delete] {
        let answer = ctx.ok(kind.run(&ctx, &table, ("attribute_exists(pk)", &[])).await);
        assert_eq!(answer.attributes, None, "{kind:?}");
    }
    ctx.expect_table(&table, &[]).await;
}
