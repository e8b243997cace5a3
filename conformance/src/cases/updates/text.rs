//! Syntax of updates, and updates as a whole (23d, 27).

use super::*;

pub(super) async fn each_keyword_is_allowed_once(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    let one = [(":o", Value::from(1))];
    let set = [(":o", strings(["a"]))];
    for (text, values, keyword) in [
        ("SET a = :o SET c = :o", &one[..], "SET"),
        ("SET a = :o REMOVE n SET c = :o", &one, "SET"),
        ("set a = :o SET c = :o", &one, "SET"),
        ("REMOVE n REMOVE s", &[], "REMOVE"),
        ("ADD n :o ADD a :o", &one, "ADD"),
        ("DELETE ss :o DELETE t :o", &set, "DELETE"),
    ] {
        let message = format!(
            "Invalid UpdateExpression: The \"{keyword}\" section can only be used once in an \
             update expression;"
        );
        refuses(&ctx, &table, text, values, &message).await;
    }
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn keywords_are_accepted_in_any_order_and_case(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let values = [(":o", Value::from(1)), (":s", strings(["a"]))];
    let mut after = sample().with("a", 1).with("c", 1).with("ss", strings(["b"]));
    after.remove("n");
    for text in [
        "SET a = :o REMOVE n ADD c :o DELETE ss :s",
        "DELETE ss :s ADD c :o REMOVE n SET a = :o",
        "add c :o Set a=:o delete ss :s rEMOVE n",
        "SET\n\ta = :o\nREMOVE\r\nn\nADD c\t:o DELETE ss :s ",
    ] {
        changes(&ctx, &table, text, &values, after.clone()).await;
    }
}

pub(super) async fn update_with_key_alone_creates_the_item(ctx: Ctx) {
    let table = ctx.table(TableSpec::s_n()).await;
    let key = item! { "pk" => "a", "sk" => 1 };
    let request = UpdateItem::new(&table, key.clone()).return_values(ReturnValues::AllNew);
    assert_eq!(ctx.update(request).await.attributes, Some(key.clone()));
    ctx.expect_table(&table, &[key]).await;
}

pub(super) async fn update_with_key_alone_changes_nothing(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    for wanted in [ReturnValues::None, ReturnValues::AllOld, ReturnValues::AllNew] {
        let request = UpdateItem::new(&table, key()).return_values(wanted);
        let expected = (wanted != ReturnValues::None).then(sample);
        assert_eq!(ctx.update(request).await.attributes, expected, "{wanted:?}");
        ctx.expect_table(&table, &[sample()]).await;
    }
}

pub(super) async fn update_with_key_alone_evaluates_its_condition(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let there = UpdateItem::new(&table, key()).condition(attr("pk").exists());
    ctx.expect_condition_failed(ctx.store().update(there.clone()).await);
    ctx.expect_table(&table, &[]).await;
    let absent = UpdateItem::new(&table, key()).condition(attr("pk").not_exists());
    ctx.update(absent.clone()).await;
    ctx.expect_condition_failed(ctx.store().update(absent).await);
    ctx.update(there).await;
    ctx.expect_table(&table, &[key()]).await;
}

pub(super) async fn actions_are_no_operators(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let sets: Vec<String> = (0..301).map(|number| format!("a{number}=:o")).collect();
    let text = format!("SET {}", sets.join(","));
    ctx.update(update(&table, &text, &[(":o", Value::from(1))])).await;
    let after = (0..301).fold(key(), |item, number| item.with(format!("a{number}"), 1));
    ctx.expect_table(&table, &[after]).await;
    let sums: Vec<String> = (0..301).map(|number| format!("a{number}=:o+:o")).collect();
    refuses(
        &ctx,
        &table,
        &format!("SET {}", sums.join(",")),
        &[(":o", Value::from(1))],
        "Invalid UpdateExpression: The expression contains too many operators; operator count: \
         301",
    )
    .await;
}

pub(super) async fn syntax_errors_are_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    refuses(&ctx, &table, "", &[], "Invalid UpdateExpression: The expression can not be empty;")
        .await;
    let one = [(":o", Value::from(1))];
    for (text, values, token, near) in [
        (" ", &[][..], "<EOF>", " "),
        ("SET", &[], "<EOF>", "SET"),
        ("a = :o", &one, "a", "a ="),
        ("SET a", &[], "<EOF>", "a"),
        ("SET a =", &[], "<EOF>", "="),
        ("SET a = :o,", &one, "<EOF>", ","),
        ("SET ,a = :o", &one, ",", "SET ,a"),
        ("SET a = :o c = :o", &one, "c", ":o c ="),
        ("SET a = :o, SET c = :o", &one, "SET", ", SET c"),
        ("SET a == :o", &one, "=", "== :o"),
        ("SET :o = a", &one, ":o", "SET :o ="),
        ("SET a = :o AND c = :o", &one, "AND", ":o AND c"),
        ("SET a = 5", &[], "5", "= 5"),
        ("SET a = \"x\"", &[], "\"", "= \"x"),
        ("SET a = :o;", &one, ";", ":o;"),
        ("SET a = :o)", &one, ")", ":o)"),
        ("(SET a = :o)", &one, "(", "(SET"),
        ("SET set = :o", &one, "set", "SET set ="),
        ("SET a[:o] = :o", &one, ":o", "[:o]"),
        ("SET a[-1] = :o", &one, "-", "[-1"),
        ("REMOVE", &[], "<EOF>", "REMOVE"),
        ("REMOVE n s", &[], "s", "n s"),
        ("REMOVE :o", &one, ":o", "REMOVE :o"),
        ("REMOVE n = :o", &one, "=", "n = :o"),
        ("ADD n", &[], "<EOF>", "n"),
        ("ADD n n", &[], "n", "n n"),
        ("ADD n = :o", &one, "=", "n = :o"),
        ("ADD n 1", &[], "1", "n 1"),
        ("DELETE ss", &[], "<EOF>", "ss"),
        ("DELETE ss ss", &[], "ss", "ss ss"),
        ("PUT a = :o", &one, "PUT", "PUT a"),
    ] {
        let message =
            format!("Invalid UpdateExpression: Syntax error; token: \"{token}\", near: \"{near}\"");
        refuses(&ctx, &table, text, values, &message).await;
    }
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn other_functions_are_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    let one = [(":o", Value::from("b"))];
    for (text, values, function) in [
        ("SET a = size(l)", &[][..], "size"),
        ("SET a = attribute_exists(n)", &[], "attribute_exists"),
        ("SET a = contains(s, :o)", &one, "contains"),
        ("SET a = if_not_exists(a, size(l))", &[], "size"),
    ] {
        let message = format!(
            "Invalid UpdateExpression: The function is not allowed in an update expression; \
             function: {function}"
        );
        refuses(&ctx, &table, text, values, &message).await;
    }
    for (text, function) in
        [("SET a = upper(s)", "upper"), ("SET a = LIST_APPEND(l, l)", "LIST_APPEND")]
    {
        let message =
            format!("Invalid UpdateExpression: Invalid function name; function: {function}");
        refuses(&ctx, &table, text, &[], &message).await;
    }
    ctx.expect_table(&table, &[sample()]).await;
    // The name of a function alone is the name of an attribute.
    let after = sample().with("if_not_exists", 1);
    changes(&ctx, &table, "SET if_not_exists = :o", &[(":o", Value::from(1))], after).await;
}

pub(super) async fn undefined_placeholders_are_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    for text in ["SET a = :x", "SET a = n + :x", "ADD n :x", "DELETE ss :x"] {
        refuses(
            &ctx,
            &table,
            text,
            &[],
            "Invalid UpdateExpression: An expression attribute value used in expression is not \
             defined; attribute value: :x",
        )
        .await;
    }
    for text in ["SET #x = n", "SET a = m.#x", "REMOVE #x", "REMOVE m.#x"] {
        refuses(
            &ctx,
            &table,
            text,
            &[],
            "Invalid UpdateExpression: An expression attribute name used in the document path \
             is not defined; attribute name: #x",
        )
        .await;
    }
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn failed_condition_precedes_item_errors(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    let one = [(":o", Value::from(1))];
    for (text, values) in [
        ("SET gone.x = :o", &one[..]),
        ("SET a = gone", &[]),
        ("SET a = s + :o", &one),
        ("ADD s :o", &one),
        ("SET pk = :o", &one),
    ] {
        let request = update(&table, text, values).condition("attribute_exists(gone)");
        let result = ctx.store().update(request).await;
        ctx.expect_condition_failed(result.map(|answer| (text, answer)));
    }
    // Syntax errors are reported before the condition is evaluated.
    let request = update(&table, "SET a = :o,", &one).condition("attribute_exists(gone)");
    ctx.expect_validation(
        ctx.store().update(request).await,
        "Invalid UpdateExpression: Syntax error; token: \"<EOF>\", near: \",\"",
    );
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn item_errors_cancel_a_transaction(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    let one = [(":o", Value::from(1))];
    for (text, values, message) in [
        ("ADD s :o", &one[..], WRONG_TYPE),
        ("SET a = gone", &[], NO_ATTRIBUTE),
        ("SET gone.x = :o", &one, INVALID_PATH),
    ] {
        let request = TransactWriteItems::new()
            .item(PutItem::new(&table, item! { "pk" => "b" }))
            .item(update(&table, text, values));
        let result = ctx.store().transact_write(request).await;
        let reasons = ctx.expect_canceled(result, &["None", "ValidationError"]);
        ctx.expect_text(reasons[1].message.as_deref().unwrap_or_default(), message);
        ctx.expect_table(&table, &[sample()]).await;
    }
}

pub(super) async fn transactional_updates_equal_single_ones(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    let counter = UpdateItem::new(&table, item! { "pk" => "b" })
        .update(Update::new().set("n", attr("n").if_not_exists(0).plus(1)));
    let values = [(":o", Value::from(1)), (":s", strings(["a", "b"]))];
    let text = "SET a = n, n = :o, l[9] = l[0] REMOVE l[1] ADD c :o DELETE ss :s";
    let request = TransactWriteItems::new().item(counter).item(update(&table, text, &values));
    ctx.ok(ctx.store().transact_write(request).await);
    let mut after = sample().with("a", 5).with("n", 1).with("l", list![0, 2, 0]).with("c", 1);
    after.remove("ss");
    ctx.expect_table(&table, &[item! { "pk" => "b", "n" => 1 }, after]).await;
}
