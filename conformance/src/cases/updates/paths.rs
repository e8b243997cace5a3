//! Paths that an update may write (23, 24).

use super::*;

pub(super) async fn every_clause_reads_the_old_item(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let one = [(":o", Value::from(1))];
    changes(&ctx, &table, "SET a = n, n = :o", &one, sample().with("a", 5).with("n", 1)).await;
    let text = "SET n = n + :o, a = n";
    changes(&ctx, &table, text, &one, sample().with("a", 5).with("n", 6)).await;
    let mut moved = sample().with("a", 5);
    moved.remove("n");
    changes(&ctx, &table, "SET a = n REMOVE n", &[], moved.clone()).await;
    changes(&ctx, &table, "REMOVE n SET a = n", &[], moved).await;
    let text = "ADD n :o SET a = n";
    changes(&ctx, &table, text, &one, sample().with("a", 5).with("n", 6)).await;
    let text = "DELETE ss :a SET a = ss";
    let after = sample().with("a", strings(["a", "b"])).with("ss", strings(["b"]));
    changes(&ctx, &table, text, &[(":a", strings(["a"]))], after).await;
}

pub(super) async fn values_can_be_swapped(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    changes(&ctx, &table, "SET n = s, s = n", &[], sample().with("n", "abc").with("s", 5)).await;
    let text = "SET l[1] = l[0], l[0] = l[1]";
    changes(&ctx, &table, text, &[], sample().with("l", list![1, 0, 2])).await;
}

pub(super) async fn new_attribute_cannot_be_read(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    for text in ["SET a = n, c = a", "SET c = a, a = n", "SET l[3] = l[0], a = l[3]"] {
        refuses(&ctx, &table, text, &[], NO_ATTRIBUTE).await;
    }
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn remove_counts_old_elements(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for (text, left) in [
        ("REMOVE l[0]", list![1, 2]),
        ("REMOVE l[0], l[1]", list![2]),
        ("REMOVE l[1], l[0]", list![2]),
        ("REMOVE l[0], l[2]", list![1]),
        ("REMOVE l[2], l[9], l[0]", list![1]),
        ("REMOVE l[0], l[1], l[2]", list![]),
    ] {
        changes(&ctx, &table, text, &[], sample().with("l", left)).await;
    }
}

pub(super) async fn set_and_remove_count_old_elements(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let values = [(":v", Value::from("v"))];
    for (text, after) in [
        ("SET l[0] = :v REMOVE l[1]", list!["v", 2]),
        ("REMOVE l[1] SET l[2] = :v", list![0, "v"]),
        ("SET l[2] = :v REMOVE l[0]", list![1, "v"]),
        ("SET l[5] = :v REMOVE l[0]", list![1, 2, "v"]),
        ("REMOVE l[0], l[1], l[2] SET l[3] = :v", list!["v"]),
    ] {
        changes(&ctx, &table, text, &values, sample().with("l", after)).await;
    }
}

/// Returns the message about two paths that exclude each other.
fn two_paths(how: &str, one: &str, two: &str) -> String {
    format!(
        "Invalid UpdateExpression: Two document paths {how} with each other; must remove or \
         rewrite one of these paths; path one: {one}, path two: {two}"
    )
}

pub(super) async fn overlapping_paths_are_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    let x = [(":x", Value::from(1))];
    let set = [(":x", strings(["a"]))];
    for (text, values, one, two) in [
        ("SET a = :x, a = :x", &x[..], "[a]", "[a]"),
        ("SET n = :x REMOVE n", &x, "[n]", "[n]"),
        ("ADD n :x SET n = :x", &x, "[n]", "[n]"),
        ("ADD n :x, n :x", &x, "[n]", "[n]"),
        ("REMOVE n, n", &[], "[n]", "[n]"),
        ("SET ss = :x DELETE ss :x", &set, "[ss]", "[ss]"),
        ("SET m = :x, m.x = :x", &x, "[m]", "[m, x]"),
        ("SET m.x = :x, m = :x", &x, "[m, x]", "[m]"),
        ("REMOVE m, m.y.z", &[], "[m]", "[m, y, z]"),
        ("SET m.x = :x REMOVE m", &x, "[m, x]", "[m]"),
        ("SET l[0] = :x, l[0] = :x", &x, "[l, [0]]", "[l, [0]]"),
        ("SET l = :x REMOVE l[0]", &x, "[l]", "[l, [0]]"),
        ("REMOVE l[0], l[0]", &[], "[l, [0]]", "[l, [0]]"),
        // The paths are validated whether or not the item has them.
        ("SET gone.a = :x, gone = :x", &x, "[gone, a]", "[gone]"),
    ] {
        refuses(&ctx, &table, text, values, &two_paths("overlap", one, two)).await;
    }
    let request = update(&table, "SET #a = :x, n = :x", &x).name("#a", "n");
    let result = ctx.store().update(request).await;
    ctx.expect_validation(result, &two_paths("overlap", "[n]", "[n]"));
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn conflicting_paths_are_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    let x = [(":x", Value::from(1))];
    for (text, one, two) in [
        ("SET l[0] = :x, l.a = :x", "[l, [0]]", "[l, a]"),
        ("SET m.x = :x, m[0] = :x", "[m, x]", "[m, [0]]"),
        ("SET l[0].a = :x, l[0][1] = :x", "[l, [0], a]", "[l, [0], [1]]"),
        ("SET gone.a = :x, gone[0] = :x", "[gone, a]", "[gone, [0]]"),
    ] {
        refuses(&ctx, &table, text, &x, &two_paths("conflict", one, two)).await;
    }
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn sibling_paths_do_not_overlap(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let text = "SET m.x = :x, m.w = :x, m.v = m.y REMOVE m.y.z";
    let m = map! { "x" => 7, "w" => 7, "v" => map! { "z" => 2 }, "y" => map! {} };
    changes(&ctx, &table, text, &[(":x", Value::from(7))], sample().with("m", m)).await;
    let text = "SET l[0] = :x, l[1] = l[2]";
    let after = sample().with("l", list![7, 2, 2]);
    changes(&ctx, &table, text, &[(":x", Value::from(7))], after).await;
}

pub(super) async fn key_attributes_cannot_be_changed(ctx: Ctx) {
    let item = item! { "pk" => "a", "sk" => 1, "n" => 5 };
    let table = ctx.table_with(TableSpec::s_n(), [item.clone()]).await;
    let cannot = |attribute: &str| {
        format!(
            "One or more parameter values were invalid: Cannot update attribute {attribute}. \
             This attribute is part of the key"
        )
    };
    let string = [(":v", Value::from("b"))];
    let same = [(":v", Value::from("a"))];
    let number = [(":v", Value::from(1))];
    let set = [(":v", strings(["a"]))];
    for (text, values, attribute) in [
        ("SET pk = :v", &string[..], "pk"),
        ("SET pk = :v", &same, "pk"),
        ("SET pk = pk", &[], "pk"),
        ("SET sk = :v", &number, "sk"),
        ("SET sk = sk + :v", &number, "sk"),
        ("SET n = :v, sk = :v", &number, "sk"),
        ("REMOVE pk", &[], "pk"),
        ("REMOVE sk", &[], "sk"),
        ("ADD sk :v", &number, "sk"),
        ("DELETE pk :v", &set, "pk"),
        ("SET pk.x = :v", &number, "pk"),
        ("REMOVE pk[0]", &[], "pk"),
    ] {
        // Key attributes of an existing and of a missing item.
        for sort in [1, 2] {
            let request = UpdateItem::new(&table, item! { "pk" => "a", "sk" => sort }).update(text);
            let request = values.iter().fold(request, |all, (name, value)| all.value(*name, value));
            let result = ctx.store().update(request).await;
            ctx.expect_validation(result.map(|answer| (text, answer)), &cannot(attribute));
        }
    }
    let request = UpdateItem::new(&table, item! { "pk" => "a", "sk" => 1 })
        .update("SET #k = :v")
        .name("#k", "pk")
        .value(":v", "b");
    ctx.expect_validation(ctx.store().update(request).await, &cannot("pk"));
    ctx.expect_table(&table, &[item]).await;
}

pub(super) async fn key_attributes_can_be_read(ctx: Ctx) {
    let table = ctx.table(TableSpec::s_n()).await;
    let copied = item! { "pk" => "a", "sk" => 7, "name" => "a", "next" => 8 };
    for found in [false, true] {
        let request = UpdateItem::new(&table, item! { "pk" => "a", "sk" => 7 })
            .update("SET #name = if_not_exists(pk, :s), #next = sk + :o")
            .name("#name", "name")
            .name("#next", "next")
            .value(":s", "gone")
            .value(":o", 1)
            .return_values(ReturnValues::AllOld);
        let answer = ctx.update(request).await;
        assert_eq!(answer.attributes.is_some(), found, "ALL_OLD must return an existing item");
        ctx.expect_table(&table, std::slice::from_ref(&copied)).await;
    }
}

pub(super) async fn path_into_key_is_rejected(ctx: Ctx) {
    let item = item! { "pk" => "a", "gpk" => "g", "gsk" => "h" };
    let table = ctx.table_with(TableSpec::s().gsi(), [item]).await;
    let before = ctx.snapshot(&table).await;
    let scalar = |key: &str| {
        format!(
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not \
             allowed: {key}"
        )
    };
    let one = [(":o", Value::from(1))];
    for (text, values, key) in [
        ("SET gpk.x = :o", &one[..], "IndexKey: gpk"),
        ("SET gsk[0] = :o", &one, "IndexKey: gsk"),
        ("ADD gpk.x :o", &one, "IndexKey: gpk"),
        ("REMOVE gsk.x", &[], "IndexKey: gsk"),
        ("SET a = gpk.x", &[], "IndexKey: gpk"),
        ("SET a = pk.x", &[], "Key: pk"),
        ("SET a = if_not_exists(pk[0], :o)", &one, "Key: pk"),
    ] {
        refuses(&ctx, &table, text, values, &scalar(key)).await;
    }
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn path_with_missing_parent_is_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    let one = [(":o", Value::from(1))];
    let set = [(":o", strings(["a"]))];
    for (text, values) in [
        ("SET gone.x = :o", &one[..]),
        ("SET gone[0] = :o", &one),
        ("SET gone.x.y = :o", &one),
        ("SET m.gone.x = :o", &one),
        ("SET m.gone[0] = :o", &one),
        ("SET l[9].x = :o", &one),
        ("SET l[9][0] = :o", &one),
        ("ADD gone.x :o", &one),
        ("ADD m.gone.x :o", &one),
        ("DELETE gone.x :o", &set),
        ("DELETE gone[0] :o", &set),
        ("REMOVE gone.x", &[]),
        ("REMOVE m.gone.x", &[]),
        ("REMOVE gone[0]", &[]),
        ("REMOVE l[9].x", &[]),
        // The first action is valid, but must not be applied.
        ("SET n = :o, gone.x = :o", &one),
    ] {
        refuses(&ctx, &table, text, values, INVALID_PATH).await;
    }
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn nested_path_in_missing_item_is_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let one = [(":o", Value::from(1))];
    let set = [(":o", strings(["a"]))];
    for (text, values) in [
        ("SET a.x = :o", &one[..]),
        ("SET a[0] = :o", &one),
        ("SET b = :o, a.x = :o", &one),
        ("ADD a.x :o", &one),
        ("DELETE a.x :o", &set),
        ("REMOVE a.x", &[]),
        ("REMOVE a[0]", &[]),
    ] {
        refuses(&ctx, &table, text, values, INVALID_PATH).await;
    }
    ctx.expect_table(&table, &[]).await;
}

pub(super) async fn path_through_another_type_is_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [sample()]).await;
    let one = [(":o", Value::from(1))];
    for path in [
        "n.x", "n[0]", "s.x", "s[0]", "b[0]", "flag.x", "nil.x", "nil[0]", "ss.x", "ss[0]",
        "ns[0]", "m[0]", "l.x", "m.x.y", "m.x[0]", "m.y[0]", "l[0].x", "l[0][0]",
    ] {
        let text = format!("SET {path} = :o");
        refuses(&ctx, &table, &text, &one, INVALID_PATH).await;
        refuses(&ctx, &table, &format!("REMOVE {path}"), &[], INVALID_PATH).await;
        refuses(&ctx, &table, &format!("ADD {path} :o"), &one, INVALID_PATH).await;
    }
    ctx.expect_table(&table, &[sample()]).await;
}

pub(super) async fn remove_of_missing_value_does_nothing(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for text in ["REMOVE gone", "REMOVE m.gone", "REMOVE m.y.gone", "REMOVE l[3]", "REMOVE l[99]"] {
        changes(&ctx, &table, text, &[], sample()).await;
    }
    let mut after = sample();
    after.remove("n");
    changes(&ctx, &table, "REMOVE gone, n, m.gone", &[], after).await;
}

pub(super) async fn remove_alone_creates_no_item(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let set = [(":s", strings(["a"]))];
    for (text, values) in
        [("REMOVE a", &[][..]), ("DELETE a :s", &set), ("REMOVE a DELETE c :s", &set)]
    {
        let request = update(&table, text, values).return_values(ReturnValues::AllNew);
        let answer = ctx.update(request).await;
        assert_eq!(answer.attributes, None, "{text} returned an item");
        ctx.expect_table(&table, &[]).await;
    }
}

pub(super) async fn remove_and_set_create_the_item(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let one = [(":o", Value::from(1))];
    for (text, after) in [
        ("REMOVE a SET c = :o", item! { "pk" => "a", "c" => 1 }),
        ("REMOVE a ADD c :o", item! { "pk" => "a", "c" => 1 }),
        ("SET c = if_not_exists(c, :o) REMOVE a", item! { "pk" => "a", "c" => 1 }),
    ] {
        ctx.update(update(&table, text, &one)).await;
        ctx.expect_table(&table, &[after]).await;
        ctx.delete(&table, key()).await;
    }
}
