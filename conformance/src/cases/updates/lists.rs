//! List elements and `list_append` (24, 25).

use super::*;

pub(super) async fn set_past_the_end_appends(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let values = [(":v", Value::from("v"))];
    for index in ["3", "4", "99", "2147483647"] {
        let text = format!("SET l[{index}] = :v");
        changes(&ctx, &table, &text, &values, sample().with("l", list![0, 1, 2, "v"])).await;
    }
    let empty = item! { "pk" => "a", "m" => map! { "l" => list![] } };
    let after = item! { "pk" => "a", "m" => map! { "l" => list!["v"] } };
    turns(&ctx, &table, empty, "SET m.l[7] = :v", &values, after).await;
    ctx.put(&table, sample()).await;
    refuses(
        &ctx,
        &table,
        "SET l[2147483648] = :v",
        &values,
        "Invalid UpdateExpression: List index is not within the allowable range; index: \
         [2147483648]",
    )
    .await;
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn elements_past_the_end_are_appended_in_order(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let values = [(":five", Value::from("five")), (":nine", Value::from("nine"))];
    for (text, after) in [
        ("SET l[9] = :nine, l[5] = :five", list![0, 1, 2, "five", "nine"]),
        ("SET l[5] = :five, l[9] = :nine", list![0, 1, 2, "five", "nine"]),
        ("SET l[9] = :nine, l[1] = :five", list![0, "five", 2, "nine"]),
        // Compared as text, 10 would come before 9.
        ("SET l[10] = :nine, l[9] = :five", list![0, 1, 2, "five", "nine"]),
    ] {
        changes(&ctx, &table, text, &values, sample().with("l", after)).await;
    }
}

pub(super) async fn list_append_keeps_the_order(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let more = [(":v", list![8, 9])];
    for (text, values, after) in [
        ("SET l = list_append(l, :v)", &more[..], list![0, 1, 2, 8, 9]),
        ("SET l = list_append(:v, l)", &more, list![8, 9, 0, 1, 2]),
        ("SET l = list_append(l, l)", &[], list![0, 1, 2, 0, 1, 2]),
        ("SET l = list_append(:v, :v)", &more, list![8, 9, 8, 9]),
        ("SET l = list_append(l, :v)", &[(":v", list![])], list![0, 1, 2]),
        // Elements are appended unchanged, a list as one element.
        ("SET l = list_append(l, :v)", &[(":v", list![list![8], "x"])], {
            list![0, 1, 2, list![8], "x"]
        }),
    ] {
        changes(&ctx, &table, text, values, sample().with("l", after)).await;
    }
    let after = sample().with("dup", list![0, 1, 2, 8, 9]);
    changes(&ctx, &table, "SET dup = list_append(l, :v)", &more, after).await;
}

pub(super) async fn list_append_accepts_only_lists(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    for (value, kind) in [
        (Value::from(1), "N"),
        (Value::from("x"), "S"),
        (strings(["x"]), "SS"),
        (Value::M(map! {}), "M"),
        (Value::Null, "NULL"),
    ] {
        let message = format!(
            "Invalid UpdateExpression: Incorrect operand type for operator or function; operator \
             or function: list_append, operand type: {kind}"
        );
        for text in ["SET a = list_append(l, :v)", "SET a = list_append(:v, l)"] {
            refuses(&ctx, &table, text, &[(":v", value.clone())], &message).await;
        }
    }
    let list = [(":v", list![8])];
    for attribute in ["n", "s", "ss", "m", "nil", "b", "flag"] {
        let text = format!("SET a = list_append({attribute}, :v)");
        refuses(&ctx, &table, &text, &list, WRONG_TYPE).await;
        let text = format!("SET a = list_append(:v, {attribute})");
        refuses(&ctx, &table, &text, &list, WRONG_TYPE).await;
    }
    for (text, number) in [("SET a = list_append(l)", 1), ("SET a = list_append(l, l, l)", 3)] {
        let message = format!(
            "Invalid UpdateExpression: Incorrect number of operands for operator or function; \
             operator or function: list_append, number of operands: {number}"
        );
        refuses(&ctx, &table, text, &[], &message).await;
    }
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn list_append_accepts_if_not_exists(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let values = [(":gone", list![]), (":v", list![8])];
    let text = "SET a = list_append(if_not_exists(a, :gone), :v)";
    changes(&ctx, &table, text, &values, sample().with("a", list![8])).await;
    let text = "SET l = list_append(if_not_exists(l, :gone), :v)";
    changes(&ctx, &table, text, &values, sample().with("l", list![0, 1, 2, 8])).await;
    let text = "SET l = list_append(:v, if_not_exists(a, :gone))";
    changes(&ctx, &table, text, &values, sample().with("l", list![8])).await;
    // A missing item gets a list, which then becomes longer.
    ctx.delete(&table, key()).await;
    let text = "SET a = list_append(if_not_exists(a, :gone), :v)";
    for after in [list![8], list![8, 8]] {
        ctx.update(update(&table, text, &values)).await;
        ctx.expect_table(&table, &[key().with("a", after)]).await;
    }
    ctx.put(&table, sample()).await;
    let values = [(":n", Value::from(1)), (":v", list![8])];
    for text in [
        "SET a = list_append(if_not_exists(gone, :n), :v)",
        "SET a = list_append(if_not_exists(s, :n), :v)",
    ] {
        refuses(&ctx, &table, text, &values, WRONG_TYPE).await;
    }
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn nested_list_append_is_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    let list = [(":v", list![8])];
    let number = [(":v", Value::from(1))];
    for (text, values) in [
        ("SET a = list_append(list_append(l, :v), :v)", &list),
        ("SET a = list_append(l, list_append(:v, l))", &list),
        ("SET a = if_not_exists(a, list_append(l, :v))", &list),
        ("SET a = list_append(l, l) + :v", &number),
        ("SET a = :v + list_append(l, l)", &number),
    ] {
        refuses(
            &ctx,
            &table,
            text,
            values,
            "Invalid UpdateExpression: The function is not allowed to be used this way in an \
             expression; function: list_append",
        )
        .await;
    }
    ctx.expect_table(&table, &[sample()]).await;
}
