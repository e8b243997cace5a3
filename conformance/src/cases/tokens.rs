//! Client request tokens of transactions (40).

use std::time::Duration;

use tabla_core::env::Env;

use super::prelude::*;
use super::transactions::retry_on_conflict;

cases! {
    Tokens;
    clause "40a", replay_changes_nothing:
        "A transaction that is sent again with the same request token and content succeeds and \
         changes nothing.";
    clause "40b", replay_reports_read_units:
        "A repeated transaction with a request token reports read capacity units.";
    clause "40c", other_content_is_rejected:
        "A request token with other content is rejected with \
         IdempotentParameterMismatchException, and nothing is changed.";
    clause "40d", token_expires_after_ten_minutes:
        "A request token is kept for ten minutes.", needs [Clock];
    clause "40e", one_of_concurrent_calls_is_executed:
        "Of concurrent calls with one request token, one is executed.";
    clause "40f", failed_transaction_frees_its_token:
        "A failed transaction leaves its request token unused.";
    extra "replay-with-false-condition" of "40a", replay_does_not_evaluate_conditions:
        "A repeated transaction succeeds even if its conditions are false by then.";
    extra "replay-with-other-return-options" of "40a", return_options_are_no_content:
        "The options for consumed capacity and metrics are not part of the content of a \
         transaction.";
    extra "replay-writes-no-record" of "40a", replay_writes_no_record:
        "A repeated transaction writes no stream record.", needs [Streams];
    extra "token-of-36-characters" of "40a", tokens_are_limited_to_36_characters:
        "A request token is limited to 36 characters.";
    extra "empty-token" of "40a", empty_token_is_rejected:
        "An empty request token is rejected with ValidationException.";
    extra "same-content-with-other-token" of "40a", same_content_with_other_token_is_executed_again:
        "The same content with another request token, or without one, is executed again.";
    extra "token-covers-whole-content" of "40c", every_part_of_an_operation_is_content:
        "Table, key, item, expressions, values and order of the operations are part of the \
         content of a transaction.";
    extra "mismatch-keeps-the-token" of "40c", mismatch_keeps_the_token:
        "A request that is rejected for other content neither uses up nor changes the request \
         token.";
    extra "validation-precedes-token-mismatch" of "40c", validation_precedes_token_mismatch:
        "An invalid request is rejected with ValidationException, whatever its request token.";
    extra "expired-token-with-other-content" of "40d", expired_token_accepts_other_content:
        "An expired request token can be used with other content.", needs [Clock];
    extra "replay-does-not-extend-token" of "40d", replay_does_not_extend_the_token:
        "A repeated transaction does not extend the ten minutes of its request token.",
        needs [Clock];
    extra "failed-validation-frees-the-token" of "40f", rejected_transaction_frees_its_token:
        "A transaction that is canceled for an invalid item, or rejected as a whole, leaves its \
         request token unused.";
}

/// Returns a token that no other call has: tokens belong to the account, not to a table.
pub(super) fn fresh_token() -> String {
    Env::system().token()
}

const TEN_MINUTES: Duration = Duration::from_secs(600);
const SECOND: Duration = Duration::from_secs(1);

fn key(name: &str) -> Item {
    item! { "pk" => name }
}

/// Returns a transaction with this token that adds 1 to a counter.
fn count(table: &Table, token: &str) -> TransactWriteItems {
    let update = UpdateItem::new(table, key("a")).update("ADD n :one").value(":one", 1);
    TransactWriteItems::new().item(update).client_request_token(token)
}

fn counted(n: i32) -> [Item; 1] {
    [key("a").with("n", n)]
}

#[track_caller]
fn expect_mismatch<T: std::fmt::Debug>(ctx: &Ctx, result: tabla_core::Result<T>) {
    let error = ctx.expect_code(
        result,
        "IdempotentParameterMismatchException",
        "DynamoDB rejected the request because you retried a request with a different payload but \
         with an idempotent token that was already used.",
    );
    let kind = error.kind();
    assert!(
        matches!(kind, ErrorKind::IdempotentParameterMismatch),
        "unexpected error kind {kind:?}"
    );
}

async fn replay_changes_nothing(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let request = count(&table, &fresh_token());
    for _ in 0..3 {
        ctx.ok(ctx.store().transact_write(request.clone()).await);
        ctx.expect_table(&table, &counted(1)).await;
    }
    // The replay does not undo later changes either.
    ctx.put(&table, key("a").with("n", 10)).await;
    ctx.ok(ctx.store().transact_write(request).await);
    ctx.expect_table(&table, &counted(10)).await;
}

async fn replay_reports_read_units(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let request =
        count(&table, &fresh_token()).return_consumed_capacity(ReturnConsumedCapacity::Indexes);
    let first = ctx.ok(ctx.store().transact_write(request.clone()).await);
    let [row] = &first.consumed_capacity[..] else { panic!("not exactly one table: {first:?}") };
    assert_eq!(row.read_capacity_units, None, "{row:?}");
    assert!(row.write_capacity_units.is_some(), "{row:?}");
    let again = ctx.ok(ctx.store().transact_write(request).await);
    let [row] = &again.consumed_capacity[..] else { panic!("not exactly one table: {again:?}") };
    assert_eq!(row.table_name, table.name());
    assert_eq!(row.capacity_units, 2.0, "{row:?}");
    assert_eq!(row.read_capacity_units, Some(2.0), "{row:?}");
    assert_eq!(row.write_capacity_units, None, "{row:?}");
    ctx.expect_table(&table, &counted(1)).await;
}

async fn other_content_is_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().gsi()).await;
    let token = fresh_token();
    ctx.ok(ctx.store().transact_write(count(&table, &token)).await);
    let before = ctx.snapshot(&table).await;
    let other = TransactWriteItems::new()
        .item(PutItem::new(&table, key("b").with("gpk", "g").with("gsk", "s")))
        .client_request_token(&token);
    expect_mismatch(&ctx, ctx.store().transact_write(other).await);
    let more = count(&table, &token).item(PutItem::new(&table, key("b")));
    expect_mismatch(&ctx, ctx.store().transact_write(more).await);
    ctx.expect_unchanged(&before).await;
}

async fn every_part_of_an_operation_is_content(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let twin = ctx.table(TableSpec::s()).await;
    let token = fresh_token();
    let put = PutItem::new(&table, key("b").with("x", 1)).condition("attribute_not_exists(pk)");
    let update = UpdateItem::new(&table, key("a")).update("ADD n :one").value(":one", 1);
    let pair = |first: TransactWriteItem, second: TransactWriteItem| {
        TransactWriteItems::new().item(first).item(second).client_request_token(&token)
    };
    ctx.ok(ctx.store().transact_write(pair(put.clone().into(), update.clone().into())).await);
    let before = ctx.snapshot(&table).await;

    let with_put = |put: PutItem| pair(put.into(), update.clone().into());
    let with_update = |update: UpdateItem| pair(put.clone().into(), update.into());
    let others = [
        ("order", pair(update.clone().into(), put.clone().into())),
        ("table", with_put(assign!(put.clone(), { table: twin.name().to_owned() }))),
        ("item", with_put(assign!(put.clone(), { item: key("b").with("x", 2) }))),
        ("condition", with_put(put.clone().condition("attribute_not_exists(x)"))),
        ("no condition", with_put(assign!(put.clone(), { condition: None }))),
        ("item on failure", with_put(put.clone().return_item_on_failure())),
        ("key", with_update(assign!(update.clone(), { key: key("c") }))),
        ("value", with_update(update.clone().value(":one", 2))),
        ("expression", with_update(update.clone().update("SET n = :one"))),
    ];
    for (what, other) in others {
        let result = ctx.store().transact_write(other).await;
        assert!(result.is_err(), "another {what} must count as other content");
        expect_mismatch(&ctx, result);
    }
    ctx.expect_unchanged(&before).await;
    ctx.expect_table(&twin, &[]).await;
}

async fn mismatch_keeps_the_token(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let token = fresh_token();
    let request = count(&table, &token);
    let other = TransactWriteItems::new()
        .item(DeleteItem::new(&table, key("a")))
        .client_request_token(&token);
    ctx.ok(ctx.store().transact_write(request.clone()).await);
    for _ in 0..2 {
        expect_mismatch(&ctx, ctx.store().transact_write(other.clone()).await);
        ctx.ok(ctx.store().transact_write(request.clone()).await);
    }
    ctx.expect_table(&table, &counted(1)).await;
}

async fn validation_precedes_token_mismatch(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let token = fresh_token();
    ctx.ok(ctx.store().transact_write(count(&table, &token)).await);
    let wrong = TransactWriteItems::new()
        .item(UpdateItem::new(&table, key("a")).update("SET"))
        .client_request_token(&token);
    ctx.expect_validation(
        ctx.store().transact_write(wrong).await,
        "Invalid UpdateExpression: Syntax error; token: \"<EOF>\", near: \"SET\"",
    );
    ctx.expect_table(&table, &counted(1)).await;
}

async fn token_expires_after_ten_minutes(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let request = count(&table, &fresh_token());
    ctx.ok(ctx.store().transact_write(request.clone()).await);
    ctx.clock().advance(TEN_MINUTES - SECOND);
    ctx.ok(ctx.store().transact_write(request.clone()).await);
    ctx.expect_table(&table, &counted(1)).await;
    ctx.clock().advance(2 * SECOND);
    ctx.ok(ctx.store().transact_write(request).await);
    ctx.expect_table(&table, &counted(2)).await;
}

async fn expired_token_accepts_other_content(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let token = fresh_token();
    ctx.ok(ctx.store().transact_write(count(&table, &token)).await);
    let other = TransactWriteItems::new()
        .item(PutItem::new(&table, key("a").with("n", 7)))
        .client_request_token(&token);
    ctx.clock().advance(TEN_MINUTES - SECOND);
    expect_mismatch(&ctx, ctx.store().transact_write(other.clone()).await);
    ctx.expect_table(&table, &counted(1)).await;
    ctx.clock().advance(2 * SECOND);
    ctx.ok(ctx.store().transact_write(other).await);
    ctx.expect_table(&table, &counted(7)).await;
    // The token now belongs to the new content.
    expect_mismatch(&ctx, ctx.store().transact_write(count(&table, &token)).await);
    ctx.expect_table(&table, &counted(7)).await;
}

async fn replay_does_not_extend_the_token(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let request = count(&table, &fresh_token());
    ctx.ok(ctx.store().transact_write(request.clone()).await);
    for _ in 0..2 {
        ctx.clock().advance(TEN_MINUTES / 2 - SECOND);
        ctx.ok(ctx.store().transact_write(request.clone()).await);
        ctx.expect_table(&table, &counted(1)).await;
    }
    ctx.clock().advance(3 * SECOND);
    ctx.ok(ctx.store().transact_write(request).await);
    ctx.expect_table(&table, &counted(2)).await;
}

async fn one_of_concurrent_calls_is_executed(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for round in 1..=5 {
        let request = count(&table, &fresh_token());
        let calls = (0..4).map(|_| {
            let (ctx, request) = (ctx.clone(), request.clone());
            async move {
                let store = ctx.store();
                ctx.ok(retry_on_conflict(|| store.transact_write(request.clone())).await);
            }
        });
        ctx.at_once(calls).await;
        ctx.expect_table(&table, &counted(round)).await;
    }
}

async fn failed_transaction_frees_its_token(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let token = fresh_token();
    let failing =
        count(&table, &token).item(ConditionCheck::new(&table, key("gate"), attr("pk").exists()));
    for _ in 0..2 {
        let result = ctx.store().transact_write(failing.clone()).await;
        ctx.expect_canceled(result, &["None", "ConditionalCheckFailed"]);
    }
    ctx.expect_table(&table, &[]).await;
    ctx.ok(ctx.store().transact_write(count(&table, &token)).await);
    ctx.expect_table(&table, &counted(1)).await;
    expect_mismatch(&ctx, ctx.store().transact_write(failing).await);
    ctx.expect_table(&table, &counted(1)).await;
}

async fn rejected_transaction_frees_its_token(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let token = fresh_token();
    let canceled = count(&table, &token).item(PutItem::new(&table, item! { "pk" => 1 }));
    let result = ctx.store().transact_write(canceled).await;
    ctx.expect_canceled(result, &["None", "ValidationError"]);
    let refused = count(&table, &token).item(PutItem::new(&table, key("")));
    ctx.expect_validation_with(ctx.store().transact_write(refused).await, "empty string value");
    ctx.expect_table(&table, &[]).await;
    ctx.ok(ctx.store().transact_write(count(&table, &token)).await);
    ctx.expect_table(&table, &counted(1)).await;
}

async fn replay_does_not_evaluate_conditions(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let create = PutItem::new(&table, key("a")).condition(attr("pk").not_exists());
    let request = TransactWriteItems::new().item(create).client_request_token(fresh_token());
    ctx.ok(ctx.store().transact_write(request.clone()).await);
    ctx.ok(ctx.store().transact_write(request.clone()).await);
    ctx.expect_table(&table, &[key("a")]).await;
    ctx.delete(&table, key("a")).await;
    ctx.ok(ctx.store().transact_write(request).await);
    ctx.expect_table(&table, &[]).await;
}

async fn return_options_are_no_content(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let request = count(&table, &fresh_token());
    ctx.ok(ctx.store().transact_write(request.clone()).await);
    let counting = request.return_consumed_capacity(ReturnConsumedCapacity::Total);
    let answer = ctx.ok(ctx.store().transact_write(counting).await);
    assert_eq!(answer.consumed_capacity.len(), 1, "{answer:?}");
    ctx.expect_table(&table, &counted(1)).await;
}

async fn replay_writes_no_record(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::KeysOnly)).await;
    let request = count(&table, &fresh_token());
    for _ in 0..3 {
        ctx.ok(ctx.store().transact_write(request.clone()).await);
    }
    ctx.put(&table, key("end")).await;
    let records = ctx.records(&table, 2).await;
    let keys: Vec<&Item> = records.iter().map(|record| &record.keys).collect();
    assert_eq!(keys.len(), 2, "{records:#?}");
    assert!(keys.contains(&&key("a")) && keys.contains(&&key("end")), "{records:#?}");
}

async fn tokens_are_limited_to_36_characters(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let mut token = format!("{:x<36}", fresh_token());
    assert_eq!(token.len(), 36);
    for _ in 0..2 {
        ctx.ok(ctx.store().transact_write(count(&table, &token)).await);
        ctx.expect_table(&table, &counted(1)).await;
    }
    token.push('x');
    ctx.expect_validation_with(
        ctx.store().transact_write(count(&table, &token)).await,
        "Member must have length less than or equal to 36",
    );
    ctx.expect_table(&table, &counted(1)).await;
}

async fn empty_token_is_rejected(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    ctx.expect_validation_with(
        ctx.store().transact_write(count(&table, "")).await,
        "Member must have length greater than or equal to 1",
    );
    ctx.expect_table(&table, &[]).await;
}

async fn same_content_with_other_token_is_executed_again(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for round in 1..=2 {
        ctx.ok(ctx.store().transact_write(count(&table, &fresh_token())).await);
        ctx.expect_table(&table, &counted(round)).await;
    }
    for round in 3..=4 {
        let mut bare = count(&table, "");
        bare.client_request_token = None;
        ctx.ok(ctx.store().transact_write(bare).await);
        ctx.expect_table(&table, &counted(round)).await;
    }
}
