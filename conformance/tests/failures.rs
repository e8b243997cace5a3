//! Injected failures, and their effect with and without retries.

use std::sync::Arc;
use std::time::Duration;

use tabla_conformance::fault::{Failure, Failures, FaultStore, Operation, When};
use tabla_core::env::{Env, ManualClock, Random, SeededRandom, Timestamp};
use tabla_core::ops::*;
use tabla_core::{
    Applied, CancellationCode, ErrorKind, Item, KeyType, MemoryStore, Result, Retry, RetryPolicy,
    Store, StoreExt, Update, item,
};

type Failing = FaultStore<Arc<MemoryStore>>;

/// Store with the tables `one` and `two`, whose calls fail by this plan from now on.
async fn failing(failures: Failures) -> Failing {
    let store = Arc::new(MemoryStore::new());
    for table in ["one", "two"] {
        let request = CreateTable::new(table).partition_key("pk", KeyType::S);
        store.create_table(request).await.expect("a new table");
    }
    FaultStore::new(store).failures(failures)
}

fn key(number: usize) -> Item {
    item! { "pk" => format!("k{number:02}") }
}

fn put(number: usize) -> PutItem {
    PutItem::new("one", key(number))
}

fn count(number: usize) -> UpdateItem {
    UpdateItem::new("one", key(number)).update(Update::new().add("n", 1))
}

/// Items in the wrapped store, sorted.
async fn held(store: &Failing, table: &str) -> Vec<Item> {
    let mut items =
        store.inner().scan(Scan::new(table)).await.expect("the wrapped store never fails").items;
    items.sort_by_key(Item::encode);
    items
}

fn policy(clock: &ManualClock, attempts: u32) -> RetryPolicy {
    RetryPolicy::default()
        .with_attempts(attempts)
        .with_base(Duration::from_millis(100))
        .with_cap(Duration::from_secs(1))
        .with_env(Env::test(clock.clone(), 7))
}

fn clock() -> ManualClock {
    ManualClock::new(Timestamp::from_secs(1))
}

#[tokio::test]
async fn only_nth_call_is_throttled() {
    let plan = Failures::new().on(Operation::Put, When::Call(2), Failure::Throttled);
    let store = failing(plan).await;
    store.put(put(1)).await.unwrap();
    store.get(GetItem::new("one", key(1))).await.unwrap();
    let error = store.put(put(2)).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Throttled);
    assert_eq!((error.retry(), error.applied()), (Retry::Later, Applied::No));
    assert_eq!(held(&store, "one").await, [key(1)]);
    store.put(put(2)).await.unwrap();
    assert_eq!(held(&store, "one").await, [key(1), key(2)]);
}

#[tokio::test]
async fn rule_on_any_counts_all_operations_and_first_rule_decides() {
    let plan = Failures::new().on_any(When::Call(2), Failure::Unavailable).on(
        Operation::Put,
        When::First(2),
        Failure::Throttled,
    );
    let store = failing(plan).await;
    let kind = |result: Result<WriteOutput>| result.unwrap_err().kind().clone();
    assert_eq!(kind(store.put(put(1)).await), ErrorKind::Throttled);
    assert_eq!(kind(store.put(put(1)).await), ErrorKind::Unavailable);
    store.put(put(1)).await.unwrap();
}

#[tokio::test]
async fn chance_is_drawn_from_given_random_source() {
    let failed = |seed: u64| async move {
        let random: Arc<dyn Random> = Arc::new(SeededRandom::new(seed));
        let plan = Failures::new()
            .on(Operation::Get, When::Chance(0.25), Failure::Throttled)
            .random(random);
        let store = failing(plan).await;
        let mut failed = Vec::new();
        for call in 0..400 {
            if store.get(GetItem::new("one", key(1))).await.is_err() {
                failed.push(call);
            }
        }
        failed
    };
    let calls = failed(1).await;
    assert!((60..140).contains(&calls.len()), "{} of 400 failed", calls.len());
    assert_eq!(calls, failed(1).await);
    assert_ne!(calls, failed(2).await);
}

#[tokio::test]
async fn write_with_lost_response_is_executed() {
    let plan = Failures::new().on_any(When::Always, Failure::ResponseLost);
    let store = failing(plan).await;
    let error = store.put(put(1)).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Unavailable);
    assert_eq!(error.applied(), Applied::Maybe);
    assert_eq!(held(&store, "one").await, [key(1)]);
    let error = store.get(GetItem::new("one", key(1))).await.unwrap_err();
    assert_eq!(error.applied(), Applied::No, "a read changes nothing");
    // An invalid call has no response to lose.
    let wrong = PutItem::new("one", item! { "other" => 1 });
    let error = store.put(wrong).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Validation);
}

#[tokio::test]
async fn unavailable_store_executes_nothing() {
    let plan = Failures::new().on_any(When::Always, Failure::Unavailable);
    let store = failing(plan).await;
    let error = store.transact_write(TransactWriteItems::new().item(put(1))).await.unwrap_err();
    assert_eq!((error.kind(), error.applied()), (&ErrorKind::Unavailable, Applied::No));
    let error = store.batch_write(BatchWriteItem::new().put("one", key(1))).await.unwrap_err();
    assert_eq!((error.kind(), error.applied()), (&ErrorKind::Unavailable, Applied::No));
    assert_eq!(held(&store, "one").await, []);
}

#[tokio::test]
async fn writes_and_transactions_conflict_but_single_reads_do_not() {
    let plan = Failures::new().on_any(When::Always, Failure::Conflict);
    let store = failing(plan).await;
    let error = store.put(put(1)).await.unwrap_err();
    assert_eq!(error.code(), "TransactionConflictException");
    assert_eq!(error.retry(), Retry::Later);
    let request = TransactWriteItems::new().item(put(1)).item(put(2));
    let error = store.transact_write(request).await.unwrap_err();
    let codes: Vec<CancellationCode> =
        error.cancellation_reasons().iter().map(|reason| reason.code).collect();
    assert_eq!(codes, [CancellationCode::None, CancellationCode::TransactionConflict]);
    assert_eq!(error.retry(), Retry::Later);
    let read = TransactGetItems::new([GetItem::new("one", key(1))]);
    assert_eq!(store.transact_get(read).await.unwrap_err().cancellation_reasons().len(), 1);
    store.get(GetItem::new("one", key(1))).await.unwrap();
    store.query(Query::new("one", tabla_core::attr("pk").eq("k01"))).await.unwrap();
    assert_eq!(held(&store, "one").await, []);
}

#[tokio::test]
async fn last_operations_of_batch_stay_unprocessed() {
    let plan = Failures::new()
        .on(Operation::BatchWrite, When::Call(1), Failure::Unprocessed(3))
        .on(Operation::BatchGet, When::Call(1), Failure::Unprocessed(3));
    let store = failing(plan).await;
    let writes = (1..=2).fold(BatchWriteItem::new(), |batch, number| {
        batch.put("one", key(number)).put("two", key(number))
    });
    let answer = store.batch_write(writes).await.unwrap();
    let left = |table: &str| answer.unprocessed_items.get(table).cloned().unwrap_or_default();
    assert_eq!(left("two"), [WriteRequest::Put(key(1)), WriteRequest::Put(key(2))]);
    assert_eq!(left("one"), [WriteRequest::Put(key(2))]);
    assert_eq!(held(&store, "one").await, [key(1)]);
    assert_eq!(held(&store, "two").await, []);

    let reads = BatchGetItem::new().keys("one", (1..=4).map(key));
    let answer = store.batch_get(reads).await.unwrap();
    assert_eq!(answer.unprocessed_keys["one"].keys, [key(2), key(3), key(4)]);
    assert_eq!(answer.responses["one"], [key(1)]);
}

#[tokio::test]
async fn batch_without_any_processed_operation_is_throttled() {
    let plan = Failures::new().on_any(When::Always, Failure::Unprocessed(25));
    let store = failing(plan).await;
    let error = store.batch_write(BatchWriteItem::new().put("one", key(1))).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Throttled);
    let error = store.batch_get(BatchGetItem::new().keys("one", [key(1)])).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Throttled);
    assert_eq!(held(&store, "one").await, []);
}

#[tokio::test]
async fn retries_drain_unprocessed_items_and_keys() {
    let plan = Failures::new()
        .on(Operation::BatchWrite, When::First(3), Failure::Unprocessed(7))
        .on(Operation::BatchGet, When::First(3), Failure::Unprocessed(9));
    let store = failing(plan).await;
    let clock = clock();
    let retrying = (&store).with_retries(policy(&clock, 5));
    let batch = (0..20).fold(BatchWriteItem::new(), |batch, number| match number % 2 {
        0 => batch.put("one", key(number)),
        _ => batch.put("two", key(number)),
    });
    let batch = batch.return_consumed_capacity(ReturnConsumedCapacity::Total);
    let answer = retrying.batch_write(batch).await.unwrap();
    assert!(answer.unprocessed_items.is_empty());
    let consumed: f64 = answer.consumed_capacity.iter().map(|row| row.capacity_units).sum();
    assert_eq!(consumed, 20.0, "each was written once");
    assert_eq!(held(&store, "one").await.len() + held(&store, "two").await.len(), 20);
    // The first attempt leaves 7 of 20 writes; two attempts at those 7 are throttled; the last one
    // writes them.
    let waits = clock.sleeps();
    assert_eq!(waits.len(), 3, "{waits:?}");
    for (wait, bound) in waits.iter().zip([100, 200, 400]) {
        assert!(*wait <= Duration::from_millis(bound), "{wait:?} of {bound} ms");
    }

    let keys: Vec<Item> = (0..20).map(key).collect();
    let answer = retrying.batch_get(BatchGetItem::new().keys("one", keys)).await.unwrap();
    assert!(answer.unprocessed_keys.is_empty());
    assert_eq!(answer.responses["one"].len(), 10);
}

#[tokio::test]
async fn retries_end_after_last_attempt() {
    let plan = Failures::new().on_any(When::Always, Failure::Unprocessed(1));
    let store = failing(plan).await;
    let clock = clock();
    let retrying = (&store).with_retries(policy(&clock, 3));
    let batch = BatchWriteItem::new().put("one", key(1)).put("one", key(2));
    let error = retrying.batch_write(batch).await.unwrap_err();
    assert_eq!(error.retry(), Retry::Exhausted);
    assert_eq!(error.applied(), Applied::Maybe, "the first write was made");
    // One wait for the unprocessed item, then two because no item was processed.
    assert_eq!(clock.sleeps().len(), 3);
    assert_eq!(held(&store, "one").await, [key(1)]);
}

#[tokio::test]
async fn retries_repeat_transaction_once_and_never_a_lost_single_write() {
    let plan = Failures::new()
        .on(Operation::TransactWrite, When::Call(1), Failure::Conflict)
        .on(Operation::TransactWrite, When::Call(2), Failure::ResponseLost)
        .on(Operation::Update, When::Call(1), Failure::ResponseLost);
    let store = failing(plan).await;
    let clock = clock();
    let retrying = (&store).with_retries(policy(&clock, 5));
    retrying.transact_write(TransactWriteItems::new().item(count(1))).await.unwrap();
    assert_eq!(clock.sleeps().len(), 2);
    let error = retrying.update(count(2)).await.unwrap_err();
    assert_eq!(error.applied(), Applied::Maybe);
    let counted = |number| key(number).with("n", 1);
    assert_eq!(held(&store, "one").await, [counted(1), counted(2)]);
}

#[tokio::test]
async fn transient_plan_causes_every_kind_of_failure() {
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    for seed in 0..20 {
        let store = failing(Failures::transient(Arc::new(SeededRandom::new(seed)), 0.5)).await;
        for number in 0..50 {
            let what = match store.put(put(number)).await {
                Ok(_) => "done".to_owned(),
                Err(error) => {
                    assert_eq!(error.retry(), Retry::Later, "{error}");
                    format!("{:?} {:?}", error.kind(), error.applied())
                }
            };
            *counts.entry(what).or_default() += 1;
        }
    }
    let names: Vec<&str> = counts.keys().map(String::as_str).collect();
    let all =
        ["Throttled No", "TransactionConflict No", "Unavailable Maybe", "Unavailable No", "done"];
    assert_eq!(names, all, "{counts:?}");
}

mod entities {
    //! Changes between the steps of an operation on entities.

    use std::sync::LazyLock;

    use serde::{Deserialize, Serialize};
    use tabla_conformance::interleave::InterleavingStore;
    use tabla_entity::{Db, Entity, Id, Outcome, TableDesign};

    use super::*;

    static TEAM: LazyLock<TableDesign> = LazyLock::new(|| TableDesign::new("team").key("PK", "SK"));

    /// Member with a unique name.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
    #[entity(
        table = TEAM,
        pk = "MEMBER#{id}",
        sk = "MEMBER",
        unique(name, pk = "NAME#{name}", sk = "OWNER")
    )]
    struct Member {
        id: Id,
        name: Id,
        points: u32,
    }

    fn id(text: &str) -> Id {
        Id::new(text).expect("an identifier")
    }

    async fn team() -> (Arc<MemoryStore>, Db, Member) {
        let store = Arc::new(MemoryStore::new());
        let db = Db::new(Arc::clone(&store) as Arc<dyn Store>);
        db.create_table(&TEAM).await.expect("a table");
        let ana = Member { id: id("1"), name: id("ana"), points: 3 };
        let ana = db.create(ana).await.expect("a response").done().expect("the member is new");
        (store, db, ana)
    }

    /// Database on which a member is renamed between the read and the delete of a deletion.
    fn renaming(store: Arc<MemoryStore>, db: &Db, ana: &Member) -> Db {
        let (behind, ana) = (db.clone(), ana.clone());
        db.on(Arc::new(InterleavingStore::new(store).with_hook_at(
            Operation::TransactWrite,
            1,
            move || {
                let (db, ana) = (behind.clone(), ana.clone());
                async move {
                    let change = ana.change().set(Member::NAME, id("eva"));
                    db.update(change).await.expect("a response").done().expect("the member exists");
                }
            },
        )))
    }

    #[tokio::test]
    async fn delete_succeeds_after_concurrent_change_of_unique_value() {
        let (store, db, ana) = team().await;
        let deleted = renaming(store, &db, &ana).delete(&ana.to_key()).await.expect("a response");
        assert_eq!(deleted, Outcome::Done(Member { name: id("eva"), ..ana.clone() }));
        // Both names are free.
        for (number, name) in [("2", "ana"), ("3", "eva")] {
            let next = Member { id: id(number), name: id(name), points: 0 };
            assert!(db.create(next).await.expect("a response").is_done());
        }
    }

    #[tokio::test]
    async fn delete_when_fails_after_concurrent_change() {
        let (store, db, ana) = team().await;
        let check = Member::NAME.eq(id("ana"));
        let kept = renaming(store, &db, &ana).delete_if(&ana.to_key(), check).await;
        let renamed = Member { name: id("eva"), ..ana.clone() };
        assert_eq!(kept.expect("a response"), Outcome::Lost(Some(renamed.clone())));
        assert_eq!(db.get(&ana.to_key()).await.expect("a response"), Some(renamed));
    }

    #[tokio::test]
    async fn committed_change_with_failed_read_is_reported_as_maybe_applied() {
        let (store, db, ana) = team().await;
        let failures = Failures::new().on(Operation::Get, When::Call(1), Failure::Throttled);
        let failing = db.on(Arc::new(FaultStore::new(Arc::clone(&store)).failures(failures)));
        let change = || ana.change().set(Member::NAME, id("eva"));
        let error = failing.update(change()).await.expect_err("the read fails");
        assert_eq!((error.kind(), error.applied()), (&ErrorKind::Throttled, Applied::Maybe));
        let present = db.get(&ana.to_key()).await.expect("a response").expect("the member exists");
        assert_eq!(present.name, id("eva"));
        // Deleted by another caller before it was read.
        let (behind, key) = (db.clone(), ana.to_key());
        let deleting = InterleavingStore::new(store).with_hook_at(Operation::Get, 1, move || {
            let (db, key) = (behind.clone(), key.clone());
            async move {
                db.delete(&key).await.expect("a response").done().expect("the member exists");
            }
        });
        let change = present.change().set(Member::NAME, id("ana"));
        let error = db.on(Arc::new(deleting)).update(change).await.expect_err("the read fails");
        assert_eq!(error.applied(), Applied::Maybe);
    }
}
