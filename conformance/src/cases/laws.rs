//! Invariants that hold in every interleaving of concurrent calls.
//!
//! The numbers of calls are bounded and nothing sleeps. A call that conflicts with a transaction
//! may report the conflict; it is then repeated.

use std::collections::BTreeSet;
use std::future::Future;

use super::prelude::*;
use super::transactions::retry_on_conflict;

cases! {
    Laws;
    clause "32a", unconditional_writes_never_fail: "Concurrent unconditional writes never fail.";
    clause "32b", concurrent_adds_all_count: "Concurrent ADDs to one number all count.";
    extra "concurrent-sums-all-count" of "32b", concurrent_sums_all_count:
        "Concurrent sums with SET, which read and write in one operation, all count.";
    extra "concurrent-set-members-are-all-kept" of "32b", concurrent_set_members_are_all_kept:
        "Members that are added to a set concurrently are all in the set.";
    extra "concurrent-appends-are-all-kept" of "32b", concurrent_appends_are_all_kept:
        "Elements that are appended to a list concurrently are all in the list, once each.";
    extra "sequence-has-no-duplicates" of "32b", sequence_has_no_duplicates:
        "A counter that is incremented and returned concurrently returns each number once.";
    extra "concurrent-updates-keep-other-attributes" of "32a",
        updates_of_different_attributes_are_all_kept:
        "Concurrent updates of different attributes of one item do not overwrite each other.";
    extra "item-is-written-whole" of "32a", readers_see_whole_items:
        "A reader sees one of the items that were put, never a mixture.";
    extra "one-concurrent-create-succeeds" of "31a", one_concurrent_create_succeeds:
        "Of concurrent puts with attribute_not_exists, exactly one succeeds.";
    extra "one-concurrent-delete-succeeds" of "31c", one_concurrent_delete_succeeds:
        "Of concurrent deletes with attribute_exists, exactly one succeeds.";
    extra "one-concurrent-delete-gets-old-item", one_concurrent_delete_gets_the_old_item:
        "Of concurrent deletes with ALL_OLD, exactly one returns the old item.";
    extra "one-concurrent-claim-succeeds" of "31c", one_concurrent_claim_succeeds:
        "Of concurrent updates that require the same state, exactly one succeeds.";
    extra "optimistic-increments-all-count" of "31c", optimistic_increments_all_count:
        "Concurrent increments with optimistic retries all count.";
    extra "index-agrees-after-contention", index_agrees_after_contention:
        "After concurrent writes an index agrees with its table.";
    extra "stream-has-every-concurrent-change", stream_has_every_concurrent_change:
        "The stream has every change of concurrent writes, in the order of the changes.",
        needs [Streams];
    extra "transfers-conserve-the-total" of "41a", transfers_conserve_the_total:
        "Concurrent transfers conserve the total in every transactional read.",
        needs [Transactions];
    extra "transfers-do-not-overdraw" of "41c", transfers_do_not_overdraw:
        "Concurrent transfers overdraw no account.", needs [Transactions];
    extra "transactional-counters-agree" of "41a", transactional_counters_agree:
        "Counters that concurrent transactions increment together end up equal.",
        needs [Transactions];
    extra "batches-during-transactions-lose-nothing" of "41a",
        batches_during_transactions_lose_nothing:
        "Batches that run concurrently with transactions lose no write.", needs [Transactions];
}

const WORKERS: usize = 5;
const ROUNDS: usize = 10;

fn key(name: &str) -> Item {
    item! { "pk" => name }
}

fn number(item: &Item, attribute: &str) -> i64 {
    let number = item.get(attribute).and_then(|value| value.as_number());
    number.expect("valid number").to_string().parse().expect("the number fits an i64")
}

async fn unconditional_writes_never_fail(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let workers = (0..WORKERS).map(|worker| {
        let (ctx, table) = (ctx.clone(), table.clone());
        async move {
            for round in 0..ROUNDS {
                match (worker + round) % 3 {
                    0 => drop(ctx.put(&table, key("a").with("by", worker)).await),
                    1 => drop(ctx.delete(&table, key("a")).await),
                    _ => {
                        let update = Update::new().set("by", worker).add("n", 1);
                        ctx.update(UpdateItem::new(&table, key("a")).update(update)).await;
                    }
                }
            }
        }
    });
    ctx.at_once(workers).await;
    ctx.put(&table, key("a")).await;
    ctx.expect_table(&table, &[key("a")]).await;
}

/// Runs the updates of all workers and rounds concurrently.
async fn update_at_once(ctx: &Ctx, table: &Table, update: fn(usize, usize) -> Update) {
    let workers = (0..WORKERS).map(|worker| {
        let (ctx, table) = (ctx.clone(), table.clone());
        async move {
            for round in 0..ROUNDS {
                let request = UpdateItem::new(&table, key("a")).update(update(worker, round));
                ctx.update(request).await;
            }
        }
    });
    ctx.at_once(workers).await;
}

async fn concurrent_adds_all_count(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    update_at_once(&ctx, &table, |worker, _| Update::new().add("n", worker as i64)).await;
    let sum = ROUNDS * (0..WORKERS).sum::<usize>();
    ctx.expect_table(&table, &[key("a").with("n", sum)]).await;
}

async fn concurrent_sums_all_count(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key("a").with("n", 0)]).await;
    let update = |_, round: usize| {
        let by = attr("n").if_not_exists(0);
        Update::new().set("n", if round.is_multiple_of(2) { by.plus(3) } else { by.minus(1) })
    };
    update_at_once(&ctx, &table, update).await;
    ctx.expect_table(&table, &[key("a").with("n", WORKERS * ROUNDS)]).await;
}

async fn concurrent_set_members_are_all_kept(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let member = |worker: usize, round: usize| format!("{worker}-{round}");
    update_at_once(&ctx, &table, |worker, round| {
        let one = Set::new([format!("{worker}-{round}")]).expect("non-empty set");
        Update::new().add("members", one)
    })
    .await;
    let all = (0..WORKERS).flat_map(|worker| (0..ROUNDS).map(move |round| member(worker, round)));
    let all = Set::new(all).expect("distinct members");
    ctx.expect_table(&table, &[key("a").with("members", all)]).await;
}

async fn concurrent_appends_are_all_kept(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    update_at_once(&ctx, &table, |worker, round| {
        let list = attr("list").if_not_exists(list![]);
        Update::new().set("list", list.append(list![(worker * ROUNDS + round) as i64]))
    })
    .await;
    let item = ctx.get(&table, key("a")).await.expect("the item was written").into_map();
    let elements = item.get("list").and_then(Value::as_list).expect("a list");
    let number = |element: &Value| {
        let number = element.as_number().expect("valid number").to_string();
        number.parse::<i64>().expect("the number fits an i64")
    };
    let numbers: Vec<i64> = elements.iter().map(number).collect();
    let different: BTreeSet<i64> = numbers.iter().copied().collect();
    assert_eq!(numbers.len(), WORKERS * ROUNDS, "{numbers:?}");
    assert_eq!(different.len(), numbers.len(), "{numbers:?}");
    // The elements of each worker are in its order.
    for worker in 0..WORKERS as i64 {
        let own: Vec<i64> =
            numbers.iter().copied().filter(|n| n / ROUNDS as i64 == worker).collect();
        assert!(own.is_sorted(), "worker {worker}: {numbers:?}");
    }
}

async fn sequence_has_no_duplicates(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let workers = (0..WORKERS).map(|_| {
        let (ctx, table) = (ctx.clone(), table.clone());
        async move {
            let mut drawn = Vec::new();
            for _ in 0..ROUNDS {
                let request = UpdateItem::new(&table, key("sequence"))
                    .update(Update::new().add("n", 1))
                    .return_values(ReturnValues::UpdatedNew);
                let answer = ctx.update(request).await.attributes.expect("the item has the count");
                drawn.push(number(&answer, "n"));
            }
            assert!(drawn.is_sorted(), "the numbers of a worker do not increase: {drawn:?}");
            drawn
        }
    });
    let mut drawn: Vec<i64> = ctx.at_once(workers).await.into_iter().flatten().collect();
    drawn.sort_unstable();
    assert_eq!(drawn, (1..=(WORKERS * ROUNDS) as i64).collect::<Vec<_>>());
}

async fn updates_of_different_attributes_are_all_kept(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    update_at_once(&ctx, &table, |worker, round| {
        Update::new().set(format!("w{worker}"), round as i64)
    })
    .await;
    let expected = (0..WORKERS)
        .fold(key("a"), |item, worker| item.with(format!("w{worker}"), ROUNDS as i64 - 1));
    ctx.expect_table(&table, &[expected]).await;
}

async fn readers_see_whole_items(ctx: Ctx) {
    let whole =
        |worker: usize| (0..20).fold(key("a"), |item, n| item.with(format!("part{n:02}"), worker));
    let table = ctx.table_with(TableSpec::s(), [whole(0)]).await;
    let workers = (0..WORKERS).map(|worker| {
        let (ctx, table) = (ctx.clone(), table.clone());
        async move {
            for _ in 0..ROUNDS {
                if worker % 2 == 0 {
                    ctx.put(&table, whole(worker)).await;
                } else {
                    let seen = ctx.get(&table, key("a")).await.expect("the item is never deleted");
                    let by = number(&seen, "part00") as usize;
                    assert_eq!(seen, whole(by), "the item is a mixture of two puts");
                }
            }
        }
    });
    ctx.at_once(workers).await;
}

/// Returns the workers whose call succeeded; the condition of each other call must have failed.
async fn winners<F>(ctx: &Ctx, calls: impl IntoIterator<Item = F>) -> Vec<usize>
where
    F: Future<Output = tabla_core::Result<WriteOutput>> + Send + 'static,
{
    let calls = calls.into_iter().enumerate().map(|(worker, call)| {
        let ctx = ctx.clone();
        async move {
            match call.await {
                Ok(_) => Some(worker),
                lost => {
                    ctx.expect_condition_failed(lost);
                    None
                }
            }
        }
    });
    ctx.at_once(calls).await.into_iter().flatten().collect()
}

async fn one_concurrent_create_succeeds(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for round in 0..ROUNDS {
        let name = format!("item-{round}");
        let item = |worker: usize| key(&name).with("by", worker);
        let calls = (0..WORKERS).map(|worker| {
            let request = PutItem::new(&table, item(worker)).condition(attr("pk").not_exists());
            let store = ctx.store();
            async move { store.put(request).await }
        });
        let won = winners(&ctx, calls).await;
        let [winner] = won[..] else { panic!("not exactly one put created {name}: {won:?}") };
        assert_eq!(ctx.get(&table, key(&name)).await, Some(item(winner)));
    }
}

async fn one_concurrent_delete_succeeds(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().gsi()).await;
    for round in 0..ROUNDS {
        ctx.put(&table, key("a").with("gpk", "g").with("gsk", "s")).await;
        let calls = (0..WORKERS).map(|_| {
            let request = DeleteItem::new(&table, key("a")).condition(attr("gpk").exists());
            let store = ctx.store();
            async move { store.delete(request).await }
        });
        let won = winners(&ctx, calls).await;
        assert_eq!(won.len(), 1, "round {round}: {won:?}");
        ctx.expect_table(&table, &[]).await;
    }
    ctx.expect_index(&table, "gsi", &[]).await;
}

async fn one_concurrent_delete_gets_the_old_item(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    // The rounds are enough to detect an engine that reads and deletes in two steps.
    for round in 0..4 * ROUNDS {
        let item = key("a").with("n", round);
        ctx.put(&table, item.clone()).await;
        let calls = (0..WORKERS).map(|_| {
            let (ctx, table) = (ctx.clone(), table.clone());
            async move {
                let request = DeleteItem::new(&table, key("a")).return_values(ReturnValues::AllOld);
                ctx.ok(ctx.store().delete(request).await).attributes
            }
        });
        let taken: Vec<Item> = ctx.at_once(calls).await.into_iter().flatten().collect();
        assert!(taken == [item], "{} deletes returned the old item: {taken:?}", taken.len());
        ctx.expect_table(&table, &[]).await;
    }
}

async fn one_concurrent_claim_succeeds(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    for round in 0..ROUNDS {
        let name = format!("job-{round}");
        ctx.put(&table, key(&name).with("state", "free")).await;
        let calls = (0..WORKERS).map(|worker| {
            let request = UpdateItem::new(&table, key(&name))
                .update(Update::new().set("state", "taken").set("by", worker))
                .condition(attr("state").eq("free"));
            let store = ctx.store();
            async move { store.update(request).await }
        });
        let won = winners(&ctx, calls).await;
        let [winner] = won[..] else { panic!("not exactly one delete took {name}: {won:?}") };
        let expected = key(&name).with("state", "taken").with("by", winner);
        assert_eq!(ctx.get(&table, key(&name)).await, Some(expected));
    }
}

async fn optimistic_increments_all_count(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [key("a").with("n", 0).with("version", 0)]).await;
    let workers = (0..WORKERS).map(|_| {
        let (ctx, table) = (ctx.clone(), table.clone());
        async move {
            let mut done = 0;
            while done < ROUNDS {
                let seen = ctx.get(&table, key("a")).await.expect("the item exists");
                let (n, version) = (number(&seen, "n"), number(&seen, "version"));
                let next = key("a").with("n", n + 1).with("version", version + 1);
                let request = PutItem::new(&table, next).condition(attr("version").eq(version));
                match ctx.store().put(request).await {
                    Ok(_) => done += 1,
                    lost => drop(ctx.expect_condition_failed(lost)),
                }
            }
        }
    });
    ctx.at_once(workers).await;
    let all = WORKERS * ROUNDS;
    ctx.expect_table(&table, &[key("a").with("n", all).with("version", all)]).await;
}

async fn index_agrees_after_contention(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().gsi()).await;
    let workers = (0..WORKERS).map(|worker| {
        let (ctx, table) = (ctx.clone(), table.clone());
        async move {
            for round in 0..ROUNDS {
                // All workers put, move, unindex and delete the same three items.
                let name = format!("i{}", (worker + round) % 3);
                let sort = format!("{worker}-{round}");
                let entry = key(&name).with("gpk", "g").with("gsk", sort.as_str());
                let change = match (worker * 7 + round) % 5 {
                    0 => Update::new().remove("gpk"),
                    1 => Update::new().set("gpk", "h").set("gsk", sort.as_str()),
                    2 => {
                        ctx.delete(&table, key(&name)).await;
                        continue;
                    }
                    _ => {
                        ctx.put(&table, entry).await;
                        continue;
                    }
                };
                ctx.update(UpdateItem::new(&table, key(&name)).update(change)).await;
            }
        }
    });
    ctx.at_once(workers).await;
    let mut entries = ctx.all_items(&table).await;
    entries.retain(|item| item.contains("gpk") && item.contains("gsk"));
    ctx.expect_index(&table, "gsi", &entries).await;
}

async fn stream_has_every_concurrent_change(ctx: Ctx) {
    let table = ctx.table(TableSpec::s().stream(StreamViewType::NewAndOldImages)).await;
    update_at_once(&ctx, &table, |_, _| Update::new().add("n", 1)).await;
    let all = WORKERS * ROUNDS;
    let records = ctx.records(&table, all).await;
    let counts: Vec<(Option<i64>, Option<i64>)> = records
        .iter()
        .map(|record| {
            let count = |image: &Option<Item>| image.as_ref().map(|item| number(item, "n"));
            (count(&record.old_image), count(&record.new_image))
        })
        .collect();
    let expected: Vec<(Option<i64>, Option<i64>)> =
        (0..all as i64).map(|n| ((n > 0).then_some(n), Some(n + 1))).collect();
    assert_eq!(counts, expected);
}

fn account(name: &str, balance: i64) -> Item {
    key(name).with("balance", balance)
}

const ACCOUNTS: [&str; 3] = ["ana", "eva", "leo"];

/// Returns a transaction that moves an amount if the balance is sufficient.
fn transfer(table: &Table, from: &str, to: &str, amount: i64) -> TransactWriteItems {
    let change = |name: &str, by: i64| {
        UpdateItem::new(table, key(name)).update(Update::new().add("balance", by))
    };
    TransactWriteItems::new()
        .item(change(to, amount))
        .item(change(from, -amount).condition(attr("balance").ge(amount)))
}

/// Reads all balances in one transaction.
async fn balances(ctx: &Ctx, table: &Table) -> Vec<i64> {
    let reads = TransactGetItems::new(ACCOUNTS.map(|name| GetItem::new(table, key(name))));
    let store = ctx.store();
    let answer = ctx.ok(retry_on_conflict(|| store.transact_get(reads.clone())).await);
    let balance =
        |item: &Option<Item>| number(item.as_ref().expect("the account exists"), "balance");
    answer.responses.iter().map(balance).collect()
}

async fn transfers_conserve_the_total(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), ACCOUNTS.map(|name| account(name, 100))).await;
    let workers = (0..WORKERS).map(|worker| {
        let (ctx, table) = (ctx.clone(), table.clone());
        async move {
            let mut moved = [0; 3];
            for round in 0..ROUNDS {
                let (from, to) = ((worker + round) % 3, (worker + 2 * round + 1) % 3);
                if from == to || worker == 0 {
                    let seen = balances(&ctx, &table).await;
                    assert_eq!(seen.iter().sum::<i64>(), 300, "{seen:?}");
                    continue;
                }
                let amount = 1 + round as i64;
                let request = transfer(&table, ACCOUNTS[from], ACCOUNTS[to], amount);
                let store = ctx.store();
                match retry_on_conflict(|| store.transact_write(request.clone())).await {
                    Ok(_) => {
                        moved[from] -= amount;
                        moved[to] += amount;
                    }
                    Err(error) => assert!(error.is_condition_failed(), "{error:?}"),
                }
            }
            moved
        }
    });
    let moved = ctx.at_once(workers).await;
    let balance = |n: usize| 100 + moved.iter().map(|moved| moved[n]).sum::<i64>();
    let expected: Vec<Item> = (0..3).map(|n| account(ACCOUNTS[n], balance(n))).collect();
    ctx.expect_table(&table, &expected).await;
}

async fn transfers_do_not_overdraw(ctx: Ctx) {
    let table = ctx.table_with(TableSpec::s(), [account("ana", 45), account("eva", 0)]).await;
    let workers = (0..WORKERS).map(|_| {
        let (store, table) = (ctx.store(), table.clone());
        async move {
            let mut done = 0;
            for _ in 0..3 {
                let request = transfer(&table, "ana", "eva", 10);
                match retry_on_conflict(|| store.transact_write(request.clone())).await {
                    Ok(_) => done += 1,
                    Err(error) => assert!(error.is_condition_failed(), "{error:?}"),
                }
            }
            done
        }
    });
    // Of fifteen transfers, four are covered by the balance.
    let done: i32 = ctx.at_once(workers).await.into_iter().sum();
    assert_eq!(done, 4);
    ctx.expect_table(&table, &[account("ana", 5), account("eva", 40)]).await;
}

async fn transactional_counters_agree(ctx: Ctx) {
    let first = ctx.table(TableSpec::s().gsi()).await;
    let second = ctx.table(TableSpec::s()).await;
    let workers = (0..WORKERS).map(|_| {
        let (ctx, first, second) = (ctx.clone(), first.clone(), second.clone());
        async move {
            let count = Update::new().add("n", 1);
            let placed = count.clone().set("gpk", "g").set("gsk", "s");
            let request = TransactWriteItems::new()
                .item(UpdateItem::new(&first, key("a")).update(placed))
                .item(UpdateItem::new(&second, key("a")).update(count));
            for _ in 0..ROUNDS {
                let store = ctx.store();
                ctx.ok(retry_on_conflict(|| store.transact_write(request.clone())).await);
            }
        }
    });
    ctx.at_once(workers).await;
    let counted = key("a").with("n", WORKERS * ROUNDS);
    ctx.expect_table(&second, std::slice::from_ref(&counted)).await;
    let indexed = [counted.with("gpk", "g").with("gsk", "s")];
    ctx.expect_table(&first, &indexed).await;
    ctx.expect_index(&first, "gsi", &indexed).await;
}

async fn batches_during_transactions_lose_nothing(ctx: Ctx) {
    let table = ctx.table(TableSpec::s()).await;
    let workers = (0..WORKERS).map(|worker| {
        let (ctx, table) = (ctx.clone(), table.clone());
        async move {
            for round in 0..ROUNDS {
                let store = ctx.store();
                let own = key(&format!("{worker}-{round}"));
                if worker % 2 == 0 {
                    let count = Update::new().add("n", 1);
                    let request = TransactWriteItems::new()
                        .item(PutItem::new(&table, own))
                        .item(UpdateItem::new(&table, key("count")).update(count));
                    ctx.ok(retry_on_conflict(|| store.transact_write(request.clone())).await);
                } else {
                    // All batches also put one common item.
                    let batch = BatchWriteItem::new().put(&table, own).put(&table, key("shared"));
                    let answer =
                        ctx.ok(retry_on_conflict(|| store.batch_write(batch.clone())).await);
                    assert!(answer.unprocessed_items.is_empty(), "{answer:?}");
                }
            }
        }
    });
    ctx.at_once(workers).await;
    let transactions = WORKERS.div_ceil(2) * ROUNDS;
    let own = (0..WORKERS).flat_map(|worker| (0..ROUNDS).map(move |round| (worker, round)));
    let mut all: Vec<Item> = own.map(|(worker, round)| key(&format!("{worker}-{round}"))).collect();
    all.extend([key("shared"), key("count").with("n", transactions)]);
    ctx.expect_table(&table, &all).await;
}
