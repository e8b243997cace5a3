//! Transactions beside each other and beside everything else.
//!
//! An engine may make a call wait, or report the conflict: DynamoDB reports it. These cases accept
//! both, and nothing else.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tabla_core::{Error, Result};

use super::super::prelude::*;

/// How many calls run at once, and how often each repeats.
const WORKERS: usize = 4;
const ROUNDS: usize = 10;

/// Whether nothing but another call on the same items stood in the way.
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

/// The answer to a call that is made again as long as it meets a conflict.
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

/// Success, or a conflict, which must be the only error.
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
    number.map_or(0, |number| number.to_string().parse().expect("a small number"))
}

fn sum(numbers: Vec<usize>) -> usize {
    numbers.into_iter().sum()
}

fn increment(table: &Table, name: &str) -> UpdateItem {
    UpdateItem::new(table, key(name)).update(Update::new().add("n", 1))
}

/// One more for each of these items, in one transaction.
fn increment_all(table: &Table, names: &[&str]) -> TransactWriteItems {
    names
        .iter()
        .fold(TransactWriteItems::new(), |request, name| request.item(increment(table, name)))
}

/// How many of the rounds of a worker went through.
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

pub(super) async fn single_writes_meet_transactions(ctx: Ctx) {
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
    assert!(transactions > 0, "no transaction ever went through");
    // What was answered with success happened, and what was answered with a conflict did not.
    ctx.expect_table(&table, &[key("a").with("n", all), key("b").with("n", transactions)]).await;
}

pub(super) async fn transactions_meet(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let workers = (0..WORKERS).map(|_| {
        let (store, table) = (ctx.store(), table.clone());
        async move { repeat(|| store.transact_write(increment_all(&table, &["a", "b"]))).await }
    });
    let done = sum(ctx.at_once(workers).await);
    assert!(done > 0, "no transaction ever went through");
    ctx.expect_table(&table, &["a", "b"].map(|name| key(name).with("n", done))).await;
}

pub(super) async fn reads_meet_writes(ctx: Ctx) {
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
                        let [a, b] = &answer.responses[..] else { panic!("two reads") };
                        assert_eq!(count(a.as_ref()), count(b.as_ref()), "half a transaction");
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

pub(super) async fn no_update_is_lost(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key("a").with("n", 0)]).await;
    // Read, then write what follows from it if nothing has changed: in a transaction or alone.
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
                        Err(error) => panic!("neither lost nor in conflict: {error:?}"),
                    }
                }
            }
        }
    });
    ctx.at_once(workers).await;
    let items = ctx.all_items(&table).await;
    assert_eq!(count(ctx.get(&table, key("a")).await.as_ref()), (WORKERS * ROUNDS) as i64);
    // One log entry for each transaction that went through.
    assert_eq!(items.len(), 1 + WORKERS / 2 * ROUNDS);
}

/// Runs the writers; while they run, each of the readers again and again, once at least.
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

/// Workers that increment these items together until each has gone through all its rounds.
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

pub(super) async fn get_item_goes_forward(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let reader = {
        let (ctx, table) = (ctx.clone(), table.clone());
        move || {
            let (ctx, table) = (ctx.clone(), table.clone());
            async move {
                // The items change together, so the one read later is never behind.
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

pub(super) async fn no_write_skew(ctx: Ctx) {
    let table = ctx.table(TableSpec::s_n()).await;
    let doctor = |name: &str, round: usize| item! { "pk" => name, "sk" => round };
    for round in 0..ROUNDS {
        for name in ["ana", "eva"] {
            ctx.put(&table, doctor(name, round).with("on_call", true)).await;
        }
        // Each may leave if the other stays; not both.
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
                    Err(error) => panic!("neither done nor refused: {error:?}"),
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

pub(super) async fn only_committed_is_read(ctx: Ctx) {
    let items: Vec<Item> = (0..5).map(|n| item! { "pk" => "a", "sk" => n }).collect();
    let table = ctx.table_with(TableSpec::s_n(), items.clone()).await;
    // Every transaction writes to all items, and fails at the end.
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
                assert!(counts.iter().all(|n| *n == counts[0]), "not one moment: {counts:?}");
            }
        }
    };
    while_writing(&ctx, incrementing(&ctx, &table, &["a", "b", "c"]), reader).await;
    let all = ["a", "b", "c"].map(|name| key(name).with("n", 4 * ROUNDS));
    ctx.expect_table(&table, &all).await;
}

pub(super) async fn transactions_in_both_orders(ctx: Ctx) {
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

pub(super) async fn unique_item_has_one_owner(ctx: Ctx) {
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
                Err(error) => panic!("neither done nor refused: {error:?}"),
            }
        }
    });
    let won = ctx.at_once(workers).await;
    let winners: Vec<usize> = (0..WORKERS).filter(|worker| won[*worker]).collect();
    let [winner] = winners[..] else { panic!("one has the address: {won:?}") };
    ctx.expect_table(&table, &[user(winner), key("email-ana").with("owner", winner)]).await;
}
