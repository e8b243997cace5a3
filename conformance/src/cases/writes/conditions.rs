//! Conditional writes (31, 33).

use super::*;

/// Returns the stored item on which the conditions are evaluated.
fn stored() -> Item {
    item! {
        "pk" => "a",
        "n" => 5,
        "s" => "x",
        "m" => map! { "k" => map! { "v" => 1 }, "l" => list![1, map! { "q" => "z" }] },
    }
}

/// Returns the expected items after a successful write of this kind.
fn after(kind: Kind, before: Option<Item>) -> Vec<Item> {
    match kind {
        Kind::Put => vec![written()],
        Kind::Update => vec![before.unwrap_or_else(key).with("w", "new")],
        Kind::Delete => Vec::new(),
    }
}

/// Asserts that the condition is true or false for each kind of write, on this item or on none.
async fn condition_is_evaluated(
    ctx: &Ctx,
    table: &Table,
    before: Option<Item>,
    text: Text<'_>,
    holds: bool,
) {
    for kind in KINDS {
        match &before {
            Some(item) => ctx.put(table, item.clone()).await,
            None => ctx.delete(table, key()).await,
        };
        let result = kind.run(ctx, table, text).await.map(|answer| (text.0, kind, answer));
        if holds {
            if let Err(error) = result {
                panic!("{kind:?} if {}: {error}", text.0);
            }
            ctx.expect_table(table, &after(kind, before.clone())).await;
        } else {
            let item = ctx.expect_condition_failed(result);
            assert_eq!(item, before, "item in the error of {kind:?} if {}", text.0);
            let unchanged: Vec<Item> = before.iter().cloned().collect();
            ctx.expect_table(table, &unchanged).await;
        }
    }
}

pub(super) async fn condition_on_missing_item_sees_an_empty_item(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let one = [(":v", Value::from(1))];
    for (text, values) in [
        ("attribute_not_exists(pk)", &[][..]),
        ("attribute_not_exists(z)", &[]),
        ("attribute_not_exists(m.k)", &[]),
        ("NOT attribute_exists(pk)", &[]),
        ("z <> :v", &one),
        ("NOT z = :v", &one),
        ("attribute_not_exists(pk) OR z = :v", &one),
    ] {
        condition_is_evaluated(&ctx, &table, None, (text, values), true).await;
    }
}

pub(super) async fn failed_update_creates_no_item(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().gsi()).await;
    let before = ctx.snapshot(&table).await;
    for condition in [attr("pk").exists(), attr("n").eq(1), attr("n").lt(1), !attr("n").ne(1)] {
        let set = Update::new().set("n", 1).set("gpk", "g").set("gsk", "h");
        let request = UpdateItem::new(&table, key()).update(set).condition(condition);
        ctx.expect_condition_failed(ctx.store().update(request).await);
    }
    assert_eq!(ctx.get(&table, key()).await, None);
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn condition_on_attribute_of_missing_item_fails(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let one = [(":v", Value::from(1))];
    let two = [(":v", Value::from(1)), (":w", Value::from(2))];
    let string = [(":v", Value::from("a"))];
    let kind = [(":v", Value::from("NULL"))];
    for (text, values) in [
        ("attribute_exists(pk)", &[][..]),
        ("attribute_exists(z)", &[]),
        ("pk = :v", &string),
        ("z = :v", &one),
        ("z < :v", &one),
        ("z >= :v", &one),
        ("z BETWEEN :v AND :w", &two),
        ("z IN (:v, :w)", &two),
        ("begins_with(z, :v)", &string),
        ("contains(z, :v)", &string),
        ("attribute_type(z, :v)", &kind),
        ("size(z) >= :v", &one),
        ("z = y", &[]),
        ("attribute_not_exists(pk) AND attribute_exists(z)", &[]),
    ] {
        condition_is_evaluated(&ctx, &table, None, (text, values), false).await;
    }
}

pub(super) async fn condition_on_key_sees_the_stored_item(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let same = [(":v", Value::from("a"))];
    let prefix = [(":v", Value::from("b"))];
    condition_is_evaluated(&ctx, &table, Some(stored()), ("pk = :v", &same), true).await;
    condition_is_evaluated(&ctx, &table, Some(stored()), ("attribute_exists(pk)", &[]), true).await;
    condition_is_evaluated(&ctx, &table, Some(stored()), ("attribute_not_exists(pk)", &[]), false)
        .await;
    condition_is_evaluated(&ctx, &table, Some(stored()), ("begins_with(pk, :v)", &prefix), false)
        .await;
}

pub(super) async fn condition_reads_the_old_item(ctx: Ctx) {
    // Both the put and the update would give `w` the value `new`.
    let table = ctx.table(TableSpec::s()).await;
    let new = [(":v", Value::from("new"))];
    let old = [(":v", Value::from("old"))];
    let before = stored().with("w", "old");
    condition_is_evaluated(&ctx, &table, Some(before.clone()), ("w = :v", &new), false).await;
    condition_is_evaluated(&ctx, &table, Some(before), ("w = :v", &old), true).await;
    condition_is_evaluated(&ctx, &table, Some(stored()), ("attribute_exists(w)", &[]), false).await;
    condition_is_evaluated(&ctx, &table, Some(stored()), ("attribute_not_exists(w)", &[]), true)
        .await;
}

pub(super) async fn condition_reads_nested_paths(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let one = [(":v", Value::from(1))];
    let z = [(":v", Value::from("z"))];
    for (text, values, holds) in [
        ("m.k.v = :v", &one[..], true),
        ("m.l[0] = :v", &one, true),
        ("m.l[1].q = :v", &z, true),
        ("attribute_exists(m.k.v)", &[], true),
        ("attribute_exists(m.k.z)", &[], false),
        ("attribute_exists(m.l[2])", &[], false),
        ("attribute_exists(m.k.v.z)", &[], false),
        ("attribute_exists(s.z)", &[], false),
        ("attribute_exists(m[0])", &[], false),
        ("attribute_not_exists(m.l.z)", &[], true),
        ("m.k.z = :v", &one, false),
        ("m.k.z <> :v", &one, true),
        ("z.z.z <> :v", &one, true),
        ("m.k.v < n", &[], true),
        ("size(m.l) > m.k.v", &[], true),
    ] {
        condition_is_evaluated(&ctx, &table, Some(stored()), (text, values), holds).await;
    }
}

pub(super) async fn condition_on_two_types_fails(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let string = [(":v", Value::from("5"))];
    let number = [(":v", Value::from(5))];
    let map = [(":v", Value::M(map! {}))];
    for (text, values, holds) in [
        ("n = :v", &string[..], false),
        ("n <> :v", &string, true),
        ("n < :v", &string, false),
        ("n >= :v", &string, false),
        ("NOT n >= :v", &string, true),
        ("s = :v", &number, false),
        ("n = :v", &number, true),
        ("n = s", &[], false),
        ("m = :v", &map, false),
        ("n IN (:v, s)", &number, true),
        ("contains(n, :v)", &number, false),
        ("begins_with(n, :v)", &string, false),
    ] {
        condition_is_evaluated(&ctx, &table, Some(stored()), (text, values), holds).await;
    }
}

pub(super) async fn put_if_absent_writes_once(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let request =
        |mark: i32| PutItem::new(&table, key().with("n", mark)).condition(attr("pk").not_exists());
    ctx.ok(ctx.store().put(request(1)).await);
    ctx.expect_condition_failed(ctx.store().put(request(2)).await);
    ctx.expect_table(&table, &[key().with("n", 1)]).await;
    ctx.delete(&table, key()).await;
    ctx.ok(ctx.store().put(request(3)).await);
    ctx.expect_table(&table, &[key().with("n", 3)]).await;
}

pub(super) async fn put_if_absent_checks_the_whole_key(ctx: Ctx) {
    let table = ctx.table(TableSpec::s_n()).await;
    let items: Vec<Item> = (1..=3).map(|sort| item! { "pk" => "a", "sk" => sort }).collect();
    for item in &items {
        let request = PutItem::new(&table, item.clone()).condition(attr("pk").not_exists());
        ctx.ok(ctx.store().put(request.clone()).await);
        ctx.expect_condition_failed(ctx.store().put(request).await);
    }
    ctx.expect_table(&table, &items).await;
}

pub(super) async fn version_lock_admits_one_of_two_writers(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key().with("version", 1)]).await;
    let write = |writer: &str| {
        UpdateItem::new(&table, key())
            .update("SET version = version + :one, writer = :writer")
            .condition("version = :seen")
            .value(":one", 1)
            .value(":seen", 1)
            .value(":writer", writer)
            .return_item_on_failure()
    };
    let won = key().with("version", 2).with("writer", "first");
    ctx.update(write("first")).await;
    let lost = ctx.expect_condition_failed(ctx.store().update(write("second")).await);
    assert_eq!(lost, Some(won.clone()));
    ctx.expect_table(&table, &[won]).await;
}

pub(super) async fn failed_write_leaves_the_indexes(ctx: Ctx) {
    let item = key().with("gpk", "g").with("gsk", "h").with("n", 1);
    let table = ctx.table_with(TableSpec::s().gsi(), [item.clone()]).await;
    ctx.expect_index(&table, "gsi", std::slice::from_ref(&item)).await;
    let before = ctx.snapshot(&table).await;
    let never = || attr("n").eq(2);
    let put = PutItem::new(&table, key().with("gpk", "other")).condition(never());
    ctx.expect_condition_failed(ctx.store().put(put).await);
    let update = UpdateItem::new(&table, key())
        .update(Update::new().set("gpk", "other").remove("gsk"))
        .condition(never());
    ctx.expect_condition_failed(ctx.store().update(update).await);
    let delete = DeleteItem::new(&table, key()).condition(never());
    ctx.expect_condition_failed(ctx.store().delete(delete).await);
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn delete_of_missing_item_succeeds(ctx: Ctx) {
    let other = item! { "pk" => "b" };
    let table = ctx.table_with(TableSpec::s(), [other.clone()]).await;
    let request = DeleteItem::new(&table, key()).return_values(ReturnValues::AllOld);
    let answer = ctx.ok(ctx.store().delete(request).await);
    assert_eq!(answer.attributes, None);
    ctx.expect_table(&table, &[other]).await;
}

pub(super) async fn second_delete_succeeds(ctx: Ctx) {
    let table =
        ctx.table_with(TableSpec::s().gsi(), [key().with("gpk", "g").with("gsk", "h")]).await;
    for _ in 0..2 {
        ctx.delete(&table, key()).await;
        ctx.expect_table(&table, &[]).await;
        ctx.expect_index(&table, "gsi", &[]).await;
    }
}

pub(super) async fn delete_affects_one_item(ctx: Ctx) {
    let item = |sort: i32| item! { "pk" => "a", "sk" => sort };
    let table = ctx.table_with(TableSpec::s_n(), [item(-1), item(0), item(1)]).await;
    ctx.delete(&table, item(0)).await;
    ctx.expect_table(&table, &[item(-1), item(1)]).await;
    ctx.delete(&table, item(10)).await;
    ctx.expect_table(&table, &[item(-1), item(1)]).await;
}

pub(super) async fn put_replaces_the_whole_item(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [stored()]).await;
    ctx.put(&table, written()).await;
    ctx.expect_table(&table, &[written()]).await;
    ctx.put(&table, key()).await;
    ctx.expect_table(&table, &[key()]).await;
}

pub(super) async fn repeated_put_changes_nothing(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for found in [false, true, true] {
        let request = PutItem::new(&table, stored()).return_values(ReturnValues::AllOld);
        let answer = ctx.ok(ctx.store().put(request).await);
        assert_eq!(answer.attributes, found.then(stored));
        ctx.expect_table(&table, &[stored()]).await;
    }
}

pub(super) async fn invalid_condition_is_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let one = [(":v", Value::from(1))];
    for before in [None, Some(stored())] {
        if let Some(item) = &before {
            ctx.put(&table, item.clone()).await;
        }
        for kind in KINDS {
            for (text, values, problem) in [
                ("", &[][..], "The expression can not be empty;"),
                ("n = ", &[], "Syntax error; token: \"<EOF>\", near: \"= \""),
                ("begins_with(n, :v)", &one, {
                    "Incorrect operand type for operator or function; operator or function: \
                     begins_with, operand type: N"
                }),
                ("n = :w", &[], {
                    "An expression attribute value used in expression is not defined; attribute \
                     value: :w"
                }),
            ] {
                let result = kind.run(&ctx, &table, (text, values)).await;
                let message = format!("Invalid ConditionExpression: {problem}");
                ctx.expect_validation(result.map(|answer| (kind, text, answer)), &message);
            }
            let result = kind.run(&ctx, &table, ("attribute_exists(pk)", &one)).await;
            ctx.expect_validation(
                result.map(|answer| (kind, answer)),
                "Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}",
            );
        }
        let unchanged: Vec<Item> = before.into_iter().collect();
        ctx.expect_table(&table, &unchanged).await;
    }
}
