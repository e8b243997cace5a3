//! Operands and functions of SET (25, 26f).

use super::*;

pub(super) async fn parentheses_are_accepted(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let one = [(":o", Value::from(1))];
    for (text, after) in [
        ("SET n = (:o)", Value::from(1)),
        ("SET n = (n + :o)", Value::from(6)),
        ("SET n = (n) + (:o)", Value::from(6)),
        ("SET n = (if_not_exists(gone, :o)) + :o", Value::from(2)),
        ("SET n = (if_not_exists(gone, :o) + :o)", Value::from(2)),
        ("SET n = if_not_exists((gone), (:o))", Value::from(1)),
    ] {
        changes(&ctx, &table, text, &one, sample().with("n", after)).await;
    }
    for text in ["SET l = (list_append(l, l))", "SET l = list_append((l), (l))"] {
        changes(&ctx, &table, text, &[], sample().with("l", list![0, 1, 2, 0, 1, 2])).await;
    }
}

pub(super) async fn doubled_parentheses_are_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    let one = [(":o", Value::from(1))];
    let doubled = "Invalid UpdateExpression: The expression has redundant parentheses;";
    for text in ["SET a = ((:o))", "SET a = ((n + :o))", "SET a = ((n)) + :o"] {
        refuses(&ctx, &table, text, &one, doubled).await;
    }
    for (text, values, near) in [
        ("SET (a) = :o", &one[..], "SET (a"),
        ("REMOVE (n)", &[], "REMOVE (n"),
        ("ADD n (:o)", &one, "n (:o"),
    ] {
        let message =
            format!("Invalid UpdateExpression: Syntax error; token: \"(\", near: \"{near}\"");
        refuses(&ctx, &table, text, values, &message).await;
    }
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn functions_can_be_summed(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let one = [(":o", Value::from(1))];
    for (text, after) in [
        ("SET a = if_not_exists(gone, :o) + :o", 2),
        ("SET a = :o + if_not_exists(gone, :o)", 2),
        ("SET a = if_not_exists(n, :o) + :o", 6),
        ("SET a = if_not_exists(n, :o) - if_not_exists(gone, :o)", 4),
        ("SET a = :o - if_not_exists(n, :o)", -4),
        ("SET a = m.x + :o", 2),
        ("SET a = l[2] - :o", 1),
    ] {
        changes(&ctx, &table, text, &one, sample().with("a", after)).await;
    }
    changes(&ctx, &table, "SET a = n + n", &[], sample().with("a", 10)).await;
    changes(&ctx, &table, "SET n = n - n", &[], sample().with("n", 0)).await;
}

pub(super) async fn sums_have_two_operands(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    let one = [(":o", Value::from(1))];
    for (text, token, near) in [
        ("SET a = n + n + :o", "+", "n + :o"),
        ("SET a = n + :o - :o", "-", ":o - :o"),
        ("SET a = n + (n + :o)", "+", "n + :o"),
        ("SET a = (n + n) + :o", "+", ") + :o"),
        ("SET a = if_not_exists(a, n + :o)", "+", "n + :o"),
        ("SET a = list_append(n + :o, l)", "+", "n + :o"),
        ("SET a = n * :o", "*", "n * :o"),
        ("SET a = n / :o", "/", "n / :o"),
        ("SET a = - :o", "-", "= - :o"),
        ("ADD n :o + :o", "+", ":o + :o"),
    ] {
        let message =
            format!("Invalid UpdateExpression: Syntax error; token: \"{token}\", near: \"{near}\"");
        refuses(&ctx, &table, text, &one, &message).await;
    }
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn sums_accept_only_numbers(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    for (value, kind) in [
        (Value::from("1"), "S"),
        (Value::from(b"1"), "B"),
        (Value::from(true), "BOOL"),
        (Value::Null, "NULL"),
        (list![1], "L"),
        (Value::M(map! {}), "M"),
        (strings(["1"]), "SS"),
        (numbers([1]), "NS"),
    ] {
        for (text, operator) in
            [("SET a = n + :v", "+"), ("SET a = :v + n", "+"), ("SET a = n - :v", "-")]
        {
            let message = format!(
                "Invalid UpdateExpression: Incorrect operand type for operator or function; \
                 operator or function: {operator}, operand type: {kind}"
            );
            refuses(&ctx, &table, text, &[(":v", value.clone())], &message).await;
        }
    }
    let one = [(":o", Value::from(1))];
    for attribute in ["s", "b", "flag", "nil", "l", "m", "ss", "ns", "if_not_exists(s, :o)"] {
        for text in [format!("SET a = {attribute} + :o"), format!("SET a = :o - {attribute}")] {
            refuses(&ctx, &table, &text, &one, WRONG_TYPE).await;
        }
    }
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn if_not_exists_returns_the_existing_value(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let one = [(":o", Value::from(1))];
    for (text, after) in [
        ("SET a = if_not_exists(gone, :o)", Value::from(1)),
        ("SET a = if_not_exists(a, :o)", Value::from(1)),
        ("SET a = if_not_exists(n, :o)", Value::from(5)),
        ("SET a = if_not_exists(nil, :o)", Value::Null),
        ("SET a = if_not_exists(m.y.z, :o)", Value::from(2)),
        ("SET a = if_not_exists(m.gone, :o)", Value::from(1)),
        ("SET a = if_not_exists(gone.x, :o)", Value::from(1)),
        ("SET a = if_not_exists(n.x, :o)", Value::from(1)),
        ("SET a = if_not_exists(l[2], :o)", Value::from(2)),
        ("SET a = if_not_exists(l[3], :o)", Value::from(1)),
        ("SET a = if_not_exists(gone, if_not_exists(away, :o))", Value::from(1)),
        ("SET a = if_not_exists(gone, if_not_exists(n, :o))", Value::from(5)),
    ] {
        changes(&ctx, &table, text, &one, sample().with("a", after)).await;
    }
    changes(&ctx, &table, "SET a = if_not_exists(gone, n)", &[], sample().with("a", 5)).await;
    // An existing value is kept.
    changes(&ctx, &table, "SET n = if_not_exists(n, :o)", &one, sample()).await;
}

pub(super) async fn if_not_exists_needs_a_path_and_an_operand(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    let one = [(":o", Value::from(1))];
    let number = |number: u8| {
        format!(
            "Incorrect number of operands for operator or function; operator or function: \
             if_not_exists, number of operands: {number}"
        )
    };
    let path = "Operator or function requires a document path; operator or function: \
                if_not_exists";
    let distinct = "The first operand must be distinct from the remaining operands for this \
                    operator or function; operator: if_not_exists, first operand: [n]";
    for (text, values, problem) in [
        ("SET a = if_not_exists(n)", &[][..], number(1)),
        ("SET a = if_not_exists(n, :o, :o)", &one, number(3)),
        ("SET a = if_not_exists(:o, n)", &one, path.to_owned()),
        ("SET a = if_not_exists(if_not_exists(n, :o), :o)", &one, path.to_owned()),
        ("SET a = if_not_exists(n, n)", &[], distinct.to_owned()),
    ] {
        let message = format!("Invalid UpdateExpression: {problem}");
        refuses(&ctx, &table, text, values, &message).await;
    }
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn sum_with_missing_number_is_rejected(ctx: Ctx) {
    let one = [(":x", Value::from(1))];
    let table = ctx.table(TableSpec::s()).await;
    for text in ["SET n = n + :x", "SET n = :x - n", "SET a = :x, n = n + :x"] {
        refuses(&ctx, &table, text, &one, NO_ATTRIBUTE).await;
        ctx.expect_table(&table, &[]).await;
    }
    // ADD to a missing number is no error.
    ctx.update(update(&table, "ADD n :x", &one)).await;
    ctx.update(update(&table, "SET n = n + :x", &one)).await;
    ctx.expect_table(&table, &[key().with("n", 2)]).await;
}

pub(super) async fn missing_operand_is_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    let one = [(":o", Value::from(1))];
    let list = [(":o", list![1])];
    for (text, values) in [
        ("SET a = gone", &[][..]),
        ("SET a = m.gone", &[]),
        ("SET a = l[3]", &[]),
        ("SET a = n.x", &[]),
        ("SET a = gone + :o", &one),
        ("SET a = :o + gone", &one),
        ("SET a = n - gone", &[]),
        ("SET a = list_append(gone, :o)", &list),
        ("SET a = list_append(:o, gone)", &list),
        ("SET a = if_not_exists(gone, away)", &[]),
        // The second operand is validated even if it is not used.
        ("SET a = if_not_exists(n, away)", &[]),
        // The first action is valid, but must not be applied.
        ("SET n = :o, a = gone", &one),
    ] {
        refuses(&ctx, &table, text, values, NO_ATTRIBUTE).await;
    }
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn whole_values_are_replaced(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for value in [
        Value::M(map! { "k" => 1 }),
        Value::M(map! {}),
        list!["x", list![]],
        list![],
        Value::from(""),
        Value::from(b""),
        Value::Null,
        strings(["x"]),
        Value::from(false),
    ] {
        for attribute in ["m", "l", "gone"] {
            let text = format!("SET {attribute} = :v");
            let after = sample().with(attribute, value.clone());
            changes(&ctx, &table, &text, &[(":v", value.clone())], after).await;
        }
    }
}

pub(super) async fn deep_paths_are_read_and_written(ctx: Ctx) {
    let deep = |leaf: Value, dup: Option<i32>| {
        let mut item = item! {
            "pk" => "a",
            "doc" => map! { "parts" => list!["x", map! { "name" => map! { "values" => leaf } }] },
        };
        if let Some(dup) = dup {
            item.insert("dup", dup);
        }
        item
    };
    let table = ctx.table_with(TableSpec::s(), [deep(list![1, 2, 3], None)]).await;
    let request =
        update(&table, "SET doc.parts[1].#name.#values[1] = :v", &[(":v", Value::from(9))])
            .name("#name", "name")
            .name("#values", "values");
    ctx.update(request).await;
    ctx.expect_table(&table, &[deep(list![1, 9, 3], None)]).await;
    let text = "SET dup = doc.parts[1].#name.#values[1] REMOVE doc.parts[1].#name.#values[0]";
    let request = update(&table, text, &[]).name("#name", "name").name("#values", "values");
    ctx.update(request).await;
    ctx.expect_table(&table, &[deep(list![9, 3], Some(9))]).await;
}

pub(super) async fn dotted_name_is_one_name(ctx: Ctx) {
    let item = item! { "pk" => "a", "a" => map! { "b" => 1 } };
    let table = ctx.table_with(TableSpec::s(), [item.clone()]).await;
    let one = [(":v", Value::from(3))];
    ctx.update(update(&table, "SET #n = :v", &one).name("#n", "a.b")).await;
    let dotted = item.with("a.b", 3);
    ctx.expect_table(&table, std::slice::from_ref(&dotted)).await;
    ctx.update(update(&table, "SET a.#n = :v", &one).name("#n", "x.y[0]")).await;
    let nested = map! { "b" => 1, "x.y[0]" => 3 };
    ctx.expect_table(&table, &[dotted.with("a", nested)]).await;
}

pub(super) async fn if_not_exists_makes_a_counter(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let values = [(":zero", Value::from(0)), (":step", Value::from(2))];
    for count in [2, 4, 6] {
        let request = update(&table, "SET n = if_not_exists(n, :zero) + :step", &values)
            .return_values(ReturnValues::UpdatedNew);
        assert_eq!(ctx.update(request).await.attributes, Some(item! { "n" => count }));
        ctx.expect_table(&table, &[key().with("n", count)]).await;
    }
}

pub(super) async fn builder_and_text_agree(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let text = "SET a = n + :o, l = list_append(:l, l), m.w = if_not_exists(m.q, s), l2 = l[0] \
                REMOVE m.x, nil ADD count :o, ns :ns DELETE ss :ss";
    let values =
        [(":o", Value::from(1)), (":l", list![7]), (":ns", numbers([3])), (":ss", strings(["a"]))];
    let mut after = sample()
        .with("a", 6)
        .with("l", list![7, 0, 1, 2])
        .with("m", map! { "w" => "abc", "y" => map! { "z" => 2 } })
        .with("l2", 0)
        .with("count", 1)
        .with("ns", numbers([1, 2, 3]))
        .with("ss", strings(["b"]));
    after.remove("nil");
    ctx.put(&table, sample()).await;
    let request = update(&table, &text.replace("ADD count", "ADD #count"), &values);
    ctx.update(request.name("#count", "count")).await;
    ctx.expect_table(&table, &[after.clone()]).await;

    let built = Update::new()
        .set("a", attr("n").plus(1))
        .set("l", attr("l").prepend(list![7]))
        .set(attr("m").field("w"), attr("m").field("q").if_not_exists(attr("s")))
        .set("l2", attr("l").index(0))
        .remove(attr("m").field("x"))
        .remove("nil")
        .add("count", 1)
        .add("ns", numbers([3]))
        .delete("ss", strings(["a"]));
    ctx.put(&table, sample()).await;
    ctx.update(UpdateItem::new(&table, key()).update(built)).await;
    ctx.expect_table(&table, &[after]).await;
}

pub(super) async fn nesting_is_limited(ctx: Ctx) {
    // Nests `levels` lists.
    let nested = |depth: usize| (1..depth).fold(list![], |inner, _| list![inner]);
    let table = ctx.table(TableSpec::s()).await;
    let values = [(":v", nested(31))];
    ctx.update(update(&table, "SET a = :v", &values)).await;
    ctx.expect_table(&table, &[key().with("a", nested(31))]).await;
    let too_deep = "Nesting Levels have exceeded supported limits";
    refuses(&ctx, &table, "SET a = :v", &[(":v", nested(32))], too_deep).await;
    ctx.expect_table(&table, &[key().with("a", nested(31))]).await;
    // The innermost of 16 lists gets another 16, which is too deep, and then another 15.
    let item = key().with("a", nested(16));
    ctx.put(&table, item.clone()).await;
    let inner = format!("SET a{} = :v", "[0]".repeat(16));
    refuses(&ctx, &table, &inner, &[(":v", nested(16))], too_deep).await;
    ctx.expect_table(&table, &[item]).await;
    ctx.update(update(&table, &inner, &[(":v", nested(15))])).await;
    ctx.expect_table(&table, &[key().with("a", nested(31))]).await;
}
