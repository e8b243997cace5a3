//! Transactions that run concurrently with each other and with other calls.
//!
//! A store may make a call wait or report the conflict, as DynamoDB does. These cases accept both
//! and nothing else.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tabla_core::{Error, Result};

use super::super::prelude::*;

/// Number of concurrent workers, and of rounds of each.
const WORKERS: usize = 4;
const ROUNDS: usize = 10;

/// Whether the error is a conflict with a concurrent call on the same items.
pub(in crate::cases) fn is_conflict(error: &Error) -> bool {
    let reasons = error.cancellation_reasons();
    let contended = |code| code == CancellationCode::TransactionConflict;
    match error.kind() {
        ErrorKind::TransactionConflict | ErrorKind::TransactionInProgress => true,
        _ => {
            reasons.iter().any(|reason| contended(reason.code))
                && reasons
                    .iter()
                    .all(|reason| contended(reason.code) || reason.code == CancellationCode::None)
        }
    }
}

/// Repeats a call until it does not conflict, and returns its result.
pub(in crate::cases) async fn retry_on_conflict<T, F>(mut call: impl FnMut() -> F) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    const ATTEMPTS: usize = 10_000;
    for _ in 1..ATTEMPTS {
        match call().await {
            Err(error) if is_conflict(&error) => tokio::task::yield_now().await,
            answer => return answer,
        }
    }
    call().await
}

/// Whether the call succeeded; its only permitted error is a conflict.
fn went_through<T>(answer: Result<T>) -> bool {
    match answer {
        Ok(_) => true,
        Err(error) => {
            assert!(is_conflict(&error), "expected success or a conflict, got {error:?}");
            false
        }
    }
}

fn key(name: &str) -> Item {
    item! { "pk" => name }
}

fn count(item: Option<&Item>) -> i64 {
    let number = item.and_then(|item| item.get("n")?.as_number());
    number.map_or(0, |number| number.to_string().parse().expect("the number fits an i64"))
}

fn sum(numbers: Vec<usize>) -> usize {
    numbers.into_iter().sum()
}

fn increment(table: &Table, name: &str) -> UpdateItem {
    UpdateItem::new(table, key(name)).update(Update::new().add("n", 1))
}

/// Returns a transaction that adds 1 to each of these items.
fn increment_all(table: &Table, names: &[&str]) -> TransactWriteItems {
    names
        .iter()
        .fold(TransactWriteItems::new(), |request, name| request.item(increment(table, name)))
}

/// Runs all rounds of a worker and returns how many succeeded.
async fn repeat<T, F>(mut call: impl FnMut() -> F) -> usize
where
    F: Future<Output = Result<T>>,
{
    let mut done = 0;
    for _ in 0..ROUNDS {
        done += usize::from(went_through(call().await));
    }
    done
}

pub(super) async fn single_write_succeeds_or_conflicts(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let workers = (0..WORKERS).map(|worker| {
        let (store, table) = (ctx.store(), table.clone());
        async move {
            let done = if worker % 2 == 0 {
                repeat(|| store.transact_write(increment_all(&table, &["a", "b"]))).await
            } else {
                repeat(|| store.update(increment(&table, "a"))).await
            };
            (worker % 2 == 0, done)
        }
    });
    let done = ctx.at_once(workers).await;
    let transactions = sum(done.iter().filter(|row| row.0).map(|row| row.1).collect());
    let all = sum(done.iter().map(|row| row.1).collect());
    assert!(transactions > 0, "no transaction succeeded");
    // Calls that returned success were applied, and calls that returned a conflict were not.
    ctx.expect_table(&table, &[key("a").with("n", all), key("b").with("n", transactions)]).await;
}

pub(super) async fn concurrent_transactions_succeed_or_conflict(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let workers = (0..WORKERS).map(|_| {
        let (store, table) = (ctx.store(), table.clone());
        async move { repeat(|| store.transact_write(increment_all(&table, &["a", "b"]))).await }
    });
    let done = sum(ctx.at_once(workers).await);
    assert!(done > 0, "no transaction succeeded");
    ctx.expect_table(&table, &["a", "b"].map(|name| key(name).with("n", done))).await;
}

pub(super) async fn transactional_read_is_consistent_or_conflicts(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let workers = (0..WORKERS).map(|worker| {
        let (store, table) = (ctx.store(), table.clone());
        async move {
            if worker % 2 == 0 {
                repeat(|| store.transact_write(increment_all(&table, &["a", "b"]))).await;
                return;
            }
            let reads = ["a", "b"].map(|name| GetItem::new(&table, key(name)));
            for _ in 0..ROUNDS {
                match store.transact_get(TransactGetItems::new(reads.clone())).await {
                    Ok(answer) => {
                        let [a, b] = &answer.responses[..] else {
                            panic!("the response must have two items")
                        };
                        assert_eq!(
                            count(a.as_ref()),
                            count(b.as_ref()),
                            "the read saw half of a transaction"
                        );
                    }
                    Err(error) => assert!(is_conflict(&error), "{error:?}"),
                }
            }
        }
    });
    ctx.at_once(workers).await;
}

pub(super) async fn get_item_never_conflicts(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let workers = (0..WORKERS).map(|worker| {
        let (store, table) = (ctx.store(), table.clone());
        async move {
            for round in 0..ROUNDS {
                if worker % 2 == 0 {
                    went_through(store.transact_write(increment_all(&table, &["a"])).await);
                } else {
                    let consistent = round % 2 == 0;
                    let get = GetItem::new(&table, key("a")).consistent_read(consistent);
                    store.get(get).await.expect("a read never conflicts");
                }
            }
        }
    });
    ctx.at_once(workers).await;
}

pub(super) async fn transactions_and_single_writes_lose_no_update(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key("a").with("n", 0)]).await;
    // Each worker reads, computes and writes if the item is unchanged, in a transaction or a single
    // write.
    let workers = (0..WORKERS).map(|worker| {
        let (ctx, table) = (ctx.clone(), table.clone());
        async move {
            for round in 0..ROUNDS {
                let log = item! { "pk" => format!("log-{worker}-{round}") };
                loop {
                    let seen = count(ctx.get(&table, key("a")).await.as_ref());
                    let update = UpdateItem::new(&table, key("a"))
                        .update(Update::new().set("n", seen + 1))
                        .condition(attr("n").eq(seen));
                    let answer = if worker % 2 == 0 {
                        let logged = TransactWriteItems::new()
                            .item(PutItem::new(&table, log.clone()))
                            .item(update);
                        ctx.store().transact_write(logged).await.map(drop)
                    } else {
                        ctx.store().update(update).await.map(drop)
                    };
                    match answer {
                        Ok(()) => break,
                        Err(error) if error.is_condition_failed() || is_conflict(&error) => {}
                        Err(error) => {
                            panic!("neither a failed condition nor a conflict: {error:?}")
                        }
                    }
                }
            }
        }
    });
    ctx.at_once(workers).await;
    let items = ctx.all_items(&table).await;
    assert_eq!(count(ctx.get(&table, key("a")).await.as_ref()), (WORKERS * ROUNDS) as i64);
    // Each transaction that succeeded has one log entry.
    assert_eq!(items.len(), 1 + WORKERS / 2 * ROUNDS);
}

/// Runs the writers, and each of the readers repeatedly meanwhile, at least once.
async fn while_writing<W, R>(
    ctx: &Ctx,
    writers: impl IntoIterator<Item = W>,
    reader: impl Fn() -> R + Clone + Send + Sync + 'static,
) where
    W: Future<Output = ()> + Send + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    let writing = Arc::new(AtomicBool::new(true));
    let readers = (0..2).map(|_| {
        let (writing, reader) = (Arc::clone(&writing), reader.clone());
        async move {
            loop {
                reader().await;
                if !writing.load(Ordering::Relaxed) {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
    });
    let writers = async {
        ctx.at_once(writers).await;
        writing.store(false, Ordering::Relaxed);
    };
    futures::join!(ctx.at_once(readers), writers);
}

/// Returns workers that increment these items together until each has completed all its rounds.
fn incrementing(
    ctx: &Ctx,
    table: &Table,
    names: &'static [&'static str],
) -> impl Iterator<Item = impl Future<Output = ()> + Send + 'static> {
    let (ctx, table) = (ctx.clone(), table.clone());
    (0..2).map(move |_| {
        let (ctx, table) = (ctx.clone(), table.clone());
        async move {
            for _ in 0..2 * ROUNDS {
                let store = ctx.store();
                ctx.ok(
                    retry_on_conflict(|| store.transact_write(increment_all(&table, names))).await
                );
            }
        }
    })
}

pub(super) async fn get_item_never_goes_back(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let reader = {
        let (ctx, table) = (ctx.clone(), table.clone());
        move || {
            let (ctx, table) = (ctx.clone(), table.clone());
            async move {
                // The items change together, so the one that is read later is never older.
                let a = count(ctx.get(&table, key("a")).await.as_ref());
                let b = count(ctx.get(&table, key("b")).await.as_ref());
                let again = count(ctx.get(&table, key("a")).await.as_ref());
                assert!(a <= b && b <= again, "read {a}, then {b}, then {again}");
            }
        }
    };
    while_writing(&ctx, incrementing(&ctx, &table, &["b", "a"]), reader).await;
    let all = ["a", "b"].map(|name| key(name).with("n", 4 * ROUNDS));
    ctx.expect_table(&table, &all).await;
}

pub(super) async fn transactions_have_no_write_skew(ctx: Ctx) {
    let table = ctx.table(TableSpec::s_n()).await;
    let doctor = |name: &str, round: usize| item! { "pk" => name, "sk" => round };
    for round in 0..ROUNDS {
        for name in ["ana", "eva"] {
            ctx.put(&table, doctor(name, round).with("on_call", true)).await;
        }
        // Each may leave if the other stays, but not both.
        let leaving = [("ana", "eva"), ("eva", "ana")].map(|(name, other)| {
            let (store, table) = (ctx.store(), table.clone());
            async move {
                let stays = attr("on_call").eq(true);
                let leave = Update::new().set("on_call", false);
                let request = TransactWriteItems::new()
                    .item(ConditionCheck::new(&table, doctor(other, round), stays))
                    .item(UpdateItem::new(&table, doctor(name, round)).update(leave));
                match retry_on_conflict(|| store.transact_write(request.clone())).await {
                    Ok(_) => true,
                    Err(error) if error.is_condition_failed() => false,
                    Err(error) => panic!("neither success nor a failed condition: {error:?}"),
                }
            }
        });
        let left = ctx.at_once(leaving).await;
        assert_eq!(left.iter().filter(|left| **left).count(), 1, "round {round}: {left:?}");
        for (name, left) in ["ana", "eva"].into_iter().zip(left) {
            let expected = doctor(name, round).with("on_call", !left);
            assert_eq!(ctx.get(&table, doctor(name, round)).await, Some(expected));
        }
    }
}

pub(super) async fn reads_return_committed_items_alone(ctx: Ctx) {
    let items: Vec<Item> = (0..5).map(|n| item! { "pk" => "a", "sk" => n }).collect();
    let table = ctx.table_with(TableSpec::s_n(), items.clone()).await;
    // Every transaction writes all items and fails at its last operation.
    let failing = (0..2).map(|_| {
        let (ctx, table, items) = (ctx.clone(), table.clone(), items.clone());
        async move {
            let dirty = Update::new().set("dirty", true);
            let mut request = TransactWriteItems::new();
            for item in &items {
                request = request.item(UpdateItem::new(&table, item.clone()).update(dirty.clone()));
            }
            let gate = item! { "pk" => "gate", "sk" => 0 };
            request = request.item(ConditionCheck::new(&table, gate, attr("pk").exists()));
            for _ in 0..2 * ROUNDS {
                let store = ctx.store();
                let result = retry_on_conflict(|| store.transact_write(request.clone())).await;
                assert!(ctx.expect_error(result).is_condition_failed());
            }
        }
    });
    let reader = {
        let (ctx, table, items) = (ctx.clone(), table.clone(), items.clone());
        move || {
            let (ctx, table, items) = (ctx.clone(), table.clone(), items.clone());
            async move {
                let query = Query::new(&table, attr("pk").eq("a"));
                ctx.expect_in_order(&ctx.query_all(query).await, &items);
                ctx.expect_items(&ctx.scan_all(Scan::new(&table)).await, &items);
                let batch = BatchGetItem::new().keys(&table, items.clone());
                let answer = ctx.ok(ctx.store().batch_get(batch).await);
                let found: Vec<Item> = answer.responses.into_values().flatten().collect();
                ctx.expect_items(&found, &items);
            }
        }
    };
    while_writing(&ctx, failing, reader).await;
}

pub(super) async fn transactional_read_is_a_snapshot(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let reader = {
        let (ctx, table) = (ctx.clone(), table.clone());
        move || {
            let (ctx, table) = (ctx.clone(), table.clone());
            async move {
                let reads = ["c", "a", "b"].map(|name| GetItem::new(&table, key(name)));
                let reads = TransactGetItems::new(reads);
                let store = ctx.store();
                let answer = ctx.ok(retry_on_conflict(|| store.transact_get(reads.clone())).await);
                let counts: Vec<i64> =
                    answer.responses.iter().map(|item| count(item.as_ref())).collect();
                assert!(
                    counts.iter().all(|n| *n == counts[0]),
                    "the read is not a snapshot: {counts:?}"
                );
            }
        }
    };
    while_writing(&ctx, incrementing(&ctx, &table, &["a", "b", "c"]), reader).await;
    let all = ["a", "b", "c"].map(|name| key(name).with("n", 4 * ROUNDS));
    ctx.expect_table(&table, &all).await;
}

pub(super) async fn transactions_in_both_orders_all_finish(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let orders: [&'static [&'static str]; 3] = [&["a", "b", "c"], &["c", "b", "a"], &["b", "a"]];
    let workers = orders.map(|names| {
        let (ctx, table) = (ctx.clone(), table.clone());
        async move {
            for _ in 0..ROUNDS {
                let store = ctx.store();
                ctx.ok(
                    retry_on_conflict(|| store.transact_write(increment_all(&table, names))).await
                );
            }
        }
    });
    ctx.at_once(workers).await;
    let all = [("a", 3), ("b", 3), ("c", 2)];
    ctx.expect_table(&table, &all.map(|(name, n)| key(name).with("n", n * ROUNDS))).await;
}

pub(super) async fn one_creator_of_unique_item_succeeds(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let user = |worker: usize| key(&format!("user-{worker}"));
    let workers = (0..WORKERS).map(|worker| {
        let (store, table) = (ctx.store(), table.clone());
        async move {
            let email = key("email-ana").with("owner", worker);
            let request = TransactWriteItems::new()
                .item(PutItem::new(&table, user(worker)))
                .item(PutItem::new(&table, email).condition(attr("pk").not_exists()));
            match retry_on_conflict(|| store.transact_write(request.clone())).await {
                Ok(_) => true,
                Err(error) if error.is_condition_failed() => false,
                Err(error) => panic!("neither success nor a failed condition: {error:?}"),
            }
        }
    });
    let won = ctx.at_once(workers).await;
    let winners: Vec<usize> = (0..WORKERS).filter(|worker| won[*worker]).collect();
    let [winner] = winners[..] else { panic!("not exactly one worker has the address: {won:?}") };
    ctx.expect_table(&table, &[user(winner), key("email-ana").with("owner", winner)]).await;
}
