//! ADD and DELETE clauses (26).

use super::*;

/// Returns constants of types that neither ADD nor DELETE accepts, with the names of the types.
fn neither_sets_nor_numbers() -> [(Value, &'static str); 6] {
    [
        (Value::from("x"), "STRING"),
        (Value::from(b"x"), "BINARY"),
        (Value::from(true), "BOOLEAN"),
        (Value::Null, "NULL"),
        (list![1], "LIST"),
        (Value::M(map! { "x" => 1 }), "MAP"),
    ]
}

fn wrong_operand(keyword: &str, kind: &str) -> String {
    format!(
        "Invalid UpdateExpression: Incorrect operand type for operator or function; operator: \
         {keyword}, operand type: {kind}, typeSet: ALLOWED_FOR_{keyword}_OPERAND"
    )
}

pub(super) async fn add_accepts_only_numbers_and_sets(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    for (value, kind) in neither_sets_nor_numbers() {
        // The type is validated whatever the attribute is, also if it is missing.
        for attribute in ["gone", "n", "s", "l", "m", "ss"] {
            let text = format!("ADD {attribute} :v");
            let message = wrong_operand("ADD", kind);
            refuses(&ctx, &table, &text, &[(":v", value.clone())], &message).await;
        }
    }
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn add_needs_the_type_of_the_attribute(ctx: Ctx) {
    let bytes = Value::Bs(Set::new([bytes::Bytes::from_static(b"x")]).expect("non-empty set"));
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    for (value, accepting) in
        [(Value::from(1), "n"), (strings(["x"]), "ss"), (numbers([1]), "ns"), (bytes, "bs")]
    {
        for attribute in ["n", "s", "b", "flag", "nil", "l", "m", "ss", "ns", "m.y"] {
            if attribute != accepting {
                let text = format!("ADD {attribute} :v");
                refuses(&ctx, &table, &text, &[(":v", value.clone())], WRONG_TYPE).await;
            }
        }
    }
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn add_to_missing_number_counts_from_zero(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let amount = |amount: i32| [(":v", Value::from(amount))];
    // DELETE from a missing item, from a missing attribute, and of missing members.
    for (text, values, after) in [
        ("ADD n :v", amount(3), key().with("n", 3)),
        ("ADD o :v", amount(-2), key().with("n", 3).with("o", -2)),
        ("ADD n :v", amount(-5), key().with("n", -2).with("o", -2)),
        ("ADD n :v, o :v", amount(2), key().with("n", 0).with("o", 0)),
    ] {
        ctx.update(update(&table, text, &values)).await;
        ctx.expect_table(&table, &[after]).await;
    }
    let tenth = Value::N(Number::parse("0.1").expect("valid number"));
    for sum in ["0.1", "0.2", "0.3"] {
        ctx.update(update(&table, "ADD n :v", &[(":v", tenth.clone())])).await;
        let sum = Number::parse(sum).expect("valid number");
        ctx.expect_table(&table, &[key().with("n", sum).with("o", 0)]).await;
    }
}

pub(super) async fn add_creates_a_missing_set(ctx: Ctx) {
    let bytes = |members: &[&'static [u8]]| {
        let members = members.iter().map(|member| bytes::Bytes::from_static(member));
        Value::Bs(Set::new(members).expect("distinct members"))
    };
    let table = ctx.table(TableSpec::s()).await;
    for (first, second, union) in [
        (strings(["b"]), strings(["a", "b"]), strings(["a", "b"])),
        (numbers([10, 9]), numbers([9, -1]), numbers([-1, 9, 10])),
        (bytes(&[b"\xff"]), bytes(&[b"", b"\x01"]), bytes(&[b"", b"\x01", b"\xff"])),
    ] {
        ctx.update(update(&table, "ADD a :v", &[(":v", first.clone())])).await;
        ctx.expect_table(&table, &[key().with("a", first)]).await;
        ctx.update(update(&table, "ADD a :v", &[(":v", second)])).await;
        ctx.expect_table(&table, &[key().with("a", union)]).await;
        ctx.delete(&table, key()).await;
    }
}

pub(super) async fn add_works_in_nested_values(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let one = [(":v", Value::from(1))];
    let m = |x: i32| map! { "x" => x, "y" => map! { "z" => 2 } };
    changes(&ctx, &table, "ADD m.x :v", &one, sample().with("m", m(2))).await;
    let mut more = m(1);
    more.insert("w".to_owned(), Value::from(1));
    changes(&ctx, &table, "ADD m.w :v", &one, sample().with("m", more)).await;
    changes(&ctx, &table, "ADD l[0] :v", &one, sample().with("l", list![1, 1, 2])).await;
    // ADD past the end appends.
    changes(&ctx, &table, "ADD l[9] :v", &one, sample().with("l", list![0, 1, 2, 1])).await;
    let before = key().with("l", list![strings(["a"]), 5]);
    let after = key().with("l", list![strings(["a", "z"]), 5]);
    turns(&ctx, &table, before, "ADD l[0] :v", &[(":v", strings(["a", "z"]))], after).await;
}

pub(super) async fn delete_accepts_only_sets(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    for (value, kind) in neither_sets_nor_numbers().into_iter().chain([(Value::from(1), "NUMBER")])
    {
        for attribute in ["gone", "n", "l", "ss", "ns"] {
            let text = format!("DELETE {attribute} :v");
            let message = wrong_operand("DELETE", kind);
            refuses(&ctx, &table, &text, &[(":v", value.clone())], &message).await;
        }
    }
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn delete_needs_the_type_of_the_attribute(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    for (value, accepting) in [(strings(["a"]), "ss"), (numbers([1]), "ns")] {
        for attribute in ["n", "s", "b", "flag", "nil", "l", "m", "ss", "ns", "m.x", "l[0]"] {
            if attribute != accepting {
                let text = format!("DELETE {attribute} :v");
                refuses(&ctx, &table, &text, &[(":v", value.clone())], WRONG_TYPE).await;
            }
        }
    }
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn delete_of_last_member_removes_the_attribute(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    changes(&ctx, &table, "DELETE ss :v", &[(":v", strings(["a"]))], {
        sample().with("ss", strings(["b"]))
    })
    .await;
    let mut without = sample();
    without.remove("ss");
    for members in [strings(["a", "b"]), strings(["b", "c", "a"])] {
        changes(&ctx, &table, "DELETE ss :v", &[(":v", members)], without.clone()).await;
    }
    let mut without = sample();
    without.remove("ns");
    changes(&ctx, &table, "DELETE ns :v", &[(":v", numbers([2, 1]))], without).await;
}

pub(super) async fn emptied_nested_set_is_removed(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let both = [(":v", strings(["a", "z"]))];
    let before = key().with("m", map! { "s" => strings(["a"]), "n" => 1 });
    let after = key().with("m", map! { "n" => 1 });
    turns(&ctx, &table, before, "DELETE m.s :v", &both, after).await;
    let before = key().with("l", list![strings(["a"]), 5, strings(["b"])]);
    let after = key().with("l", list![5, strings(["b"])]);
    turns(&ctx, &table, before, "DELETE l[0] :v", &both, after).await;
}

pub(super) async fn delete_of_missing_members_does_nothing(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let other = [(":v", strings(["q"]))];
    for text in ["DELETE ss :v", "DELETE gone :v", "DELETE m.gone :v", "DELETE l[9] :v"] {
        changes(&ctx, &table, text, &other, sample()).await;
    }
    changes(&ctx, &table, "DELETE ss :v", &[(":v", strings(["q", "b"]))], {
        sample().with("ss", strings(["a"]))
    })
    .await;
}
