//! Conditions and filters in every operation: single writes, transactions, queries and scans.

use tabla_core::{Result, ValueKind};

use crate::cases::prelude::*;
use crate::cases::texts::{names, values};

fn key(pk: &str) -> Item {
    item! { "pk" => pk }
}

/// Returns the three writes of this key under this condition, each with the resulting item.
fn writes(table: &Table, pk: &str, condition: &str) -> [(TransactWriteItem, Option<Item>); 3] {
    let (names, values) = (names(&[condition]), values(&[condition]));
    let mut put = PutItem::new(table, key(pk).with("put", 1)).condition(condition);
    (put.names, put.values) = (names.clone(), values.clone());
    let mut update =
        UpdateItem::new(table, key(pk)).update("SET updated = pk").condition(condition);
    (update.names, update.values) = (names.clone(), values.clone());
    let mut delete = DeleteItem::new(table, key(pk)).condition(condition);
    (delete.names, delete.values) = (names, values);
    [
        (put.into(), Some(key(pk).with("put", 1))),
        (update.into(), Some(key(pk).with("n", 1).with("updated", pk))),
        (delete.into(), None),
    ]
}

/// Executes one of the writes as a single write.
async fn write(ctx: &Ctx, write: TransactWriteItem) -> Result<WriteOutput> {
    match write {
        TransactWriteItem::Put(put) => ctx.store().put(put).await,
        TransactWriteItem::Update(update) => ctx.store().update(update).await,
        TransactWriteItem::Delete(delete) => ctx.store().delete(delete).await,
        other => panic!("{other:?} is not a write"),
    }
}

pub(super) async fn built_conditions(ctx: Ctx) {
    let inner = map! { "and" => 1, "x.y" => list![5, "é"], "#a" => true };
    let item = key("a").with("name", "Ann").with("a.b", 1).with(":v", 2).with("😀 é", inner);
    let table = ctx.table_with(TableSpec::s(), [item]).await;
    let odd = || attr("😀 é");
    for (condition, holds) in [
        (attr("name").eq("Ann"), true),
        (attr("name").begins_with("B"), false),
        (attr("a.b").eq(1), true),
        (attr("a").field("b").exists(), false),
        (attr(":v").gt(attr("a.b")), true),
        (odd().field("and").eq(1), true),
        (odd().field("x.y").index(1).eq("é"), true),
        (odd().field("x.y").index(2).not_exists(), true),
        (odd().field("x.y").size().between(2, 3), true),
        (odd().field("#a").eq(true).and(attr("name").is_in(["Bob", "Ann"])), true),
        (!(attr("name").eq("Ann").or(attr("missing").eq(1))), false),
        (attr("name").eq("Bob").or(attr("a.b").eq(1)).and(attr(":v").eq(2)), true),
        (attr("name").eq("Ann").or(attr("a.b").eq(1).and(attr(":v").eq(3))), true),
        (attr("name").contains("nn").and(!attr("a.b").has_type(ValueKind::S)), true),
    ] {
        let what = format!("{condition:?}");
        let page = ctx.ok(ctx.store().scan(Scan::new(&table).filter(condition.clone())).await);
        assert_eq!(page.count, usize::from(holds), "{what}");
        let result =
            ctx.store().update(UpdateItem::new(&table, key("a")).condition(condition)).await;
        assert_eq!(result.is_ok(), holds, "{what}: {result:?}");
    }
}

pub(super) async fn invalid_built_conditions_are_rejected(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key("a").with("n", 1)]).await;
    let before = ctx.snapshot(&table).await;
    let deep = (0..32).fold(attr("m"), |path, _| path.index(0));
    let many = (0..151).map(|_| attr("n").eq(1)).reduce(|all, next| all.or(next));
    for (condition, problem) in [
        (
            attr("n").between(2, 1),
            "The BETWEEN operator requires upper bound to be greater than or equal to lower \
             bound; lower bound operand: AttributeValue: {N:2}, upper bound operand: \
             AttributeValue: {N:1}",
        ),
        (
            attr("n").begins_with(1),
            "Incorrect operand type for operator or function; operator or function: \
             begins_with, operand type: N",
        ),
        (
            attr("n").lt(true),
            "Incorrect operand type for operator or function; operator or function: <, operand \
             type: BOOL",
        ),
        (
            attr("n").eq(attr("n")),
            "The first operand must be distinct from the remaining operands for this operator \
             or function; operator: =, first operand: [n]",
        ),
        (
            attr("n").is_in(0..101),
            "The IN operator is provided with too many operands; number of operands: 101",
        ),
        (deep.exists(), "The document path has too many nesting levels; nesting levels: 33"),
        (
            many.expect("151 terms"),
            "The expression contains too many operators; operator count: 301",
        ),
    ] {
        let put = PutItem::new(&table, key("a")).condition(condition.clone());
        let message = format!("Invalid ConditionExpression: {problem}");
        ctx.expect_validation(ctx.store().put(put).await, &message);
        let message = format!("Invalid FilterExpression: {problem}");
        let scan = Scan::new(&table).filter(condition);
        ctx.expect_validation(ctx.store().scan(scan).await, &message);
    }
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn writes_need_their_conditions(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let old = key("a").with("n", 1);
    for condition in ["n = :two", "attribute_not_exists(pk)", "#n > :five OR zz = :one"] {
        ctx.put(&table, old.clone()).await;
        for (request, _) in writes(&table, "a", condition) {
            let what = format!("{request:?}");
            assert_eq!(ctx.expect_condition_failed(write(&ctx, request).await), None, "{what}");
            assert_eq!(ctx.get(&table, key("a")).await.as_ref(), Some(&old), "{what}");
        }
    }
    for condition in ["n = :one", "attribute_exists(pk)", "#n < :five AND NOT zz = :one"] {
        for (request, after) in writes(&table, "a", condition) {
            ctx.put(&table, old.clone()).await;
            let what = format!("{request:?}");
            ctx.ok(write(&ctx, request).await);
            assert_eq!(ctx.get(&table, key("a")).await, after, "{what}");
        }
    }
}

pub(super) async fn transactions_need_their_conditions(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let old = key("a").with("n", 1);
    let bystander = PutItem::new(&table, key("b"));
    for (request, _) in writes(&table, "a", "n = :two") {
        ctx.put(&table, old.clone()).await;
        let transaction = TransactWriteItems::new().item(bystander.clone()).item(request);
        let result = ctx.store().transact_write(transaction).await;
        let reasons = ctx.expect_canceled(result, &["None", "ConditionalCheckFailed"]);
        let message = reasons[1].message.as_deref().unwrap_or_default();
        ctx.expect_text(message, "The conditional request failed");
        ctx.expect_table(&table, std::slice::from_ref(&old)).await;
    }
    let check = |condition: &str| {
        let mut check = ConditionCheck::new(&table, key("a"), condition);
        check.values = values(&[condition]);
        check
    };
    let transaction = TransactWriteItems::new().item(bystander.clone()).item(check("n = :two"));
    let result = ctx.store().transact_write(transaction).await;
    ctx.expect_canceled(result, &["None", "ConditionalCheckFailed"]);
    ctx.expect_table(&table, std::slice::from_ref(&old)).await;

    for (request, after) in writes(&table, "a", "n = :one") {
        ctx.put(&table, old.clone()).await;
        let transaction = TransactWriteItems::new().item(request).item(bystander.clone());
        ctx.ok(ctx.store().transact_write(transaction).await);
        let expected: Vec<Item> = after.into_iter().chain([key("b")]).collect();
        ctx.expect_table(&table, &expected).await;
        ctx.delete(&table, key("b")).await;
    }
    ctx.put(&table, old.clone()).await;
    let transaction = TransactWriteItems::new().item(check("n = :one")).item(bystander);
    ctx.ok(ctx.store().transact_write(transaction).await);
    ctx.expect_table(&table, &[old, key("b")]).await;
}

pub(super) async fn conditions_on_missing_items_create_none(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for condition in [
        "attribute_exists(pk)",
        "attribute_exists(n)",
        "n = :one",
        "n = :null",
        "n < :one",
        "n IN (:one, :null)",
        "n BETWEEN :zero AND :nine",
        "begins_with(n, :empty)",
        "contains(n, :one)",
        "size(n) = :zero",
        "attribute_type(n, :NULL)",
        // The key of the request is not part of a missing item.
        "pk = :a",
        "begins_with(pk, :a)",
    ] {
        for (request, _) in writes(&table, "a", condition) {
            let result = write(&ctx, request.clone()).await;
            let held = result.is_ok();
            assert!(!held, "{condition} is true of a missing item in {request:?}");
            assert_eq!(ctx.expect_condition_failed(result), None, "{condition}");
        }
        ctx.expect_table(&table, &[]).await;
    }
    for condition in [
        "attribute_not_exists(pk)",
        "attribute_not_exists(n)",
        "n <> :one",
        "pk <> :a",
        "NOT n = :one",
        "NOT attribute_exists(pk)",
        "size(n) <> :one",
        "attribute_not_exists(n) OR n < :one",
    ] {
        let [(put, written), (mut update, _), (delete, _)] = writes(&table, "a", condition);
        ctx.ok(write(&ctx, delete).await);
        ctx.expect_table(&table, &[]).await;
        ctx.ok(write(&ctx, put).await);
        ctx.expect_table(&table, written.as_slice()).await;
        ctx.delete(&table, key("a")).await;
        if let TransactWriteItem::Update(update) = &mut update {
            update.update = Some(Update::new().set("updated", 1).into());
        }
        ctx.ok(write(&ctx, update).await);
        ctx.expect_table(&table, &[key("a").with("updated", 1)]).await;
        ctx.delete(&table, key("a")).await;
    }
}

pub(super) async fn conditions_see_the_old_item(ctx: Ctx) {
    let old = key("a").with("version", 1);
    let table = ctx.table_with(TableSpec::s(), [old.clone()]).await;
    let new = key("a").with("version", 2).with("extra", true);
    let put = |condition| PutItem::new(&table, new.clone()).condition(condition);
    for condition in [attr("version").eq(2), attr("extra").exists()] {
        ctx.expect_condition_failed(ctx.store().put(put(condition)).await);
    }
    let update = |condition| {
        UpdateItem::new(&table, key("a"))
            .update(Update::new().set("version", attr("version").plus(1)).set("extra", true))
            .condition(condition)
    };
    for condition in [attr("version").eq(2), attr("extra").exists()] {
        ctx.expect_condition_failed(ctx.store().update(update(condition)).await);
    }
    ctx.expect_table(&table, &[old]).await;
    let unchanged = attr("version").eq(1).and(attr("extra").not_exists());
    ctx.update(update(unchanged)).await;
    ctx.expect_table(&table, std::slice::from_ref(&new)).await;
    let next = key("a").with("version", 3);
    let request = PutItem::new(&table, next.clone()).condition(attr("extra").exists());
    ctx.ok(ctx.store().put(request).await);
    ctx.expect_table(&table, &[next]).await;
}

pub(super) async fn failed_condition_precedes_update_errors(ctx: Ctx) {
    let old = key("a").with("n", 1).with("st", "abc");
    let table = ctx.table_with(TableSpec::s(), [old.clone()]).await;
    for (update, message) in [
        (
            "SET n = zz",
            "The provided expression refers to an attribute that does not exist in the item",
        ),
        (
            "SET zz.x = :one",
            "The document path provided in the update expression is invalid for update",
        ),
        ("SET n = st + :one", "An operand in the update expression has an incorrect data type"),
        ("ADD st :one", "An operand in the update expression has an incorrect data type"),
        (
            "SET pk = :one",
            "One or more parameter values were invalid: Cannot update attribute pk. This \
             attribute is part of the key",
        ),
    ] {
        let request = |condition: &str| {
            let mut request = UpdateItem::new(&table, key("a")).update(update).condition(condition);
            request.values = values(&[update, condition]);
            request
        };
        // Conditions that are false, true and invalid.
        ctx.expect_condition_failed(ctx.store().update(request("attribute_exists(zz)")).await);
        ctx.expect_validation(ctx.store().update(request("attribute_exists(pk)")).await, message);
        ctx.expect_validation(
            ctx.store().update(request("n =")).await,
            "Invalid ConditionExpression: Syntax error; token: \"<EOF>\", near: \"=\"",
        );
    }
    // Syntax errors of the update are reported before the condition is evaluated.
    for update in ["SET n =", "SET n = :one, n = :one", "SET name = :one", "SET n = :unknown"] {
        for condition in ["attribute_exists(zz)", "n ="] {
            let mut request = UpdateItem::new(&table, key("a")).update(update).condition(condition);
            request.values = values(&[update, condition]);
            ctx.expect_validation_with(
                ctx.store().update(request).await,
                "Invalid UpdateExpression: ",
            );
        }
    }
    ctx.expect_table(&table, &[old]).await;
}

/// Invalid conditions with their messages.
const BROKEN: [(&str, &str); 6] = [
    ("n =", "Syntax error; token: \"<EOF>\", near: \"=\""),
    ("", "The expression can not be empty;"),
    ("name = :one", "Attribute name is a reserved keyword; reserved keyword: name"),
    ("foo(n)", "Invalid function name; function: foo"),
    (
        "n = :unknown",
        "An expression attribute value used in expression is not defined; attribute value: \
         :unknown",
    ),
    (
        "begins_with(n, :one)",
        "Incorrect operand type for operator or function; operator or function: begins_with, \
         operand type: N",
    ),
];

pub(super) async fn invalid_conditions_are_rejected_by_every_write(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key("a").with("n", 1)]).await;
    let before = ctx.snapshot(&table).await;
    for (condition, problem) in BROKEN {
        let message = format!("Invalid ConditionExpression: {problem}");
        for pk in ["a", "missing"] {
            for (request, _) in writes(&table, pk, condition) {
                ctx.expect_validation(write(&ctx, request).await, &message);
            }
        }
    }
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn invalid_conditions_reject_transactions(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key("a").with("n", 1)]).await;
    let before = ctx.snapshot(&table).await;
    for (condition, problem) in BROKEN {
        let message = format!("Invalid ConditionExpression: {problem}");
        let mut check = ConditionCheck::new(&table, key("a"), condition);
        check.values = values(&[condition]);
        let requests = writes(&table, "a", condition).map(|(request, _)| request);
        for request in requests.into_iter().chain([check.into()]) {
            // The condition of the preceding operation is false.
            let put = PutItem::new(&table, key("b")).condition("attribute_exists(pk)");
            let transaction = TransactWriteItems::new().item(put).item(request);
            ctx.expect_validation(ctx.store().transact_write(transaction).await, &message);
        }
    }
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn invalid_filters_are_rejected(ctx: Ctx) {
    let full = ctx.table_with(TableSpec::s(), [key("a").with("n", 1)]).await;
    let empty = ctx.table(TableSpec::s()).await;
    for (filter, problem) in BROKEN {
        let message = format!("Invalid FilterExpression: {problem}");
        for table in [&full, &empty] {
            let mut scan = Scan::new(table).filter(filter);
            scan.values = values(&[filter]);
            ctx.expect_validation(ctx.store().scan(scan).await, &message);
            let mut query = Query::new(table, "pk = :a").filter(filter);
            query.values = values(&["pk = :a", filter]);
            ctx.expect_validation(ctx.store().query(query).await, &message);
        }
    }
}

pub(super) async fn query_filter_on_key_attributes_is_rejected(ctx: Ctx) {
    let item = item! { "pk" => "a", "sk" => "b", "gpk" => "c", "gsk" => "d", "n" => 1 };
    let table = ctx.table_with(TableSpec::s_s().gsi(), std::slice::from_ref(&item).to_vec()).await;
    let query = |index: Option<&str>, filter: &str| {
        let condition = match index {
            None => attr("pk").eq("a"),
            Some(_) => attr("gpk").eq("c"),
        };
        let mut query = Query::new(&table, condition).filter(filter);
        query.index = index.map(str::to_owned);
        query.values = values(&[filter]);
        query.names = names(&[filter]);
        query
    };
    let message = |attribute: &str| {
        format!(
            "Filter Expression can only contain non-primary key attributes: Primary key \
             attribute: {attribute}"
        )
    };
    for (index, filter, attribute) in [
        (None, "pk = :a", "pk"),
        (None, "sk = :b", "sk"),
        (None, "NOT sk = :b", "sk"),
        (None, "#sk = :b", "sk"),
        (None, "n = :one AND sk > :a", "sk"),
        (None, "attribute_exists(sk)", "sk"),
        (None, "size(pk) = :one", "pk"),
        (None, "n = sk", "sk"),
        (Some("gsi"), "gpk = :a", "gpk"),
        (Some("gsi"), "n = :one OR gsk = :b", "gsk"),
    ] {
        let result = ctx.store().query(query(index, filter)).await;
        ctx.expect_validation(result, &message(attribute));
    }
    // Keys of an index or table that is not queried are ordinary attributes.
    let found = std::slice::from_ref(&item);
    ctx.expect_query(query(None, "gpk > :a AND attribute_exists(gsk)"), found).await;
    ctx.expect_query(query(Some("gsi"), "pk = :a AND sk = :b"), found).await;
    let mut scan = Scan::new(&table).filter("pk = :a AND sk > :a");
    scan.values = values(&["pk = :a"]);
    assert_eq!(ctx.scan_all(scan).await, found);
}

pub(super) async fn conditions_can_use_key_attributes(ctx: Ctx) {
    let item = item! { "pk" => "abc", "sk" => 5 };
    let table = ctx.table_with(TableSpec::s_n(), [item.clone()]).await;
    for (condition, holds) in [
        ("pk = :abc", true),
        ("pk = :ab", false),
        ("sk BETWEEN :one AND :nine", true),
        ("sk > :five", false),
        ("begins_with(pk, :ab) AND sk = :five", true),
        ("size(pk) = :three", true),
        ("attribute_type(sk, :N)", true),
        ("attribute_exists(pk) AND attribute_not_exists(sk)", false),
    ] {
        let mut put = PutItem::new(&table, item.clone()).condition(condition);
        put.values = values(&[condition]);
        let result = ctx.store().put(put).await;
        assert_eq!(result.is_ok(), holds, "{condition}");
        if !holds {
            ctx.expect_condition_failed(result);
        }
    }
    ctx.expect_table(&table, &[item]).await;
}

pub(super) async fn path_into_key_attribute_is_rejected(ctx: Ctx) {
    let item = item! { "pk" => "a", "sk" => "b", "gpk" => "c", "gsk" => "d" };
    let table = ctx.table_with(TableSpec::s_s().gsi(), [item.clone()]).await;
    let before = ctx.snapshot(&table).await;
    let key = table.key_of(&item);
    for (text, which) in [
        ("attribute_not_exists(pk.x)", "Key: pk"),
        ("sk[0] <> :one", "Key: sk"),
        ("sk = :b OR size(gpk.x) = :one", "IndexKey: gpk"),
        ("NOT begins_with(gsk[0].x, :a)", "IndexKey: gsk"),
    ] {
        let message = format!(
            "Key attributes must be scalars; list random access '[]' and map lookup '.' are not \
             allowed: {which}"
        );
        let values = values(&[text]);
        let mut put = PutItem::new(&table, item.clone().with("n", 1)).condition(text);
        put.values = values.clone();
        ctx.expect_validation(ctx.store().put(put).await, &message);
        let mut update = UpdateItem::new(&table, key.clone()).condition(text);
        update.values = values.clone();
        ctx.expect_validation(ctx.store().update(update).await, &message);
        let mut delete = DeleteItem::new(&table, key.clone()).condition(text);
        delete.values = values.clone();
        ctx.expect_validation(ctx.store().delete(delete).await, &message);
        let mut scan = Scan::new(&table).filter(text);
        scan.values = values.clone();
        ctx.expect_validation(ctx.store().scan(scan).await, &message);
        let mut query = Query::new(&table, attr("gpk").eq("c")).index("gsi").filter(text);
        query.values = values;
        ctx.expect_validation(ctx.store().query(query).await, &message);
    }
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn concurrent_increments_lose_no_update(ctx: Ctx) {
    const WORKERS: usize = 5;
    const TURNS: usize = 6;
    let table = ctx.table_with(TableSpec::s(), [key("a").with("n", 0)]).await;
    let work = (0..WORKERS).map(|_| {
        let (ctx, table) = (ctx.clone(), table.clone());
        async move {
            let mut done = 0;
            while done < TURNS {
                let item = ctx.get(&table, key("a")).await.expect("the item has the counter");
                let Some(ValueRef::N(seen)) = item.get("n") else {
                    panic!("the item has no number: {item:?}")
                };

                let next =
                    Value::from(seen.checked_add(Number::from(1)).expect("the sum is in range"));
                let request = PutItem::new(&table, key("a").with("n", next))
                    .condition(attr("n").eq(Value::from(seen)));
                match ctx.store().put(request).await {
                    Ok(_) => done += 1,
                    result => assert_eq!(ctx.expect_condition_failed(result), None),
                }
            }
        }
    });
    ctx.at_once(work).await;
    ctx.expect_table(&table, &[key("a").with("n", WORKERS * TURNS)]).await;
}
