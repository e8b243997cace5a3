//! The concurrency checks on correct stores, which must pass, and on broken ones, which must fail.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tabla_conformance::concurrency::{
    Options, ReasonTiming, Report, Session, Violation, bank_transfers, counters, run,
};
use tabla_conformance::fault::{Failure, Failures, FaultStore, Operation, When};
use tabla_core::env::SeededRandom;
use tabla_core::ops::*;
use tabla_core::{
    Applied, Capabilities, Error, ErrorKind, Expr, Item, MemoryStore, Result, Store, StoreExt,
    Update, assign,
};
use tokio::task::yield_now;

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

async fn run_on(stores: Vec<Arc<dyn Store>>, options: Options) -> Report {
    match run(stores, options, &SeededRandom::new(1)).await {
        Ok(report) => report,
        Err(violation) => panic!("{violation}"),
    }
}

async fn tables(store: &dyn Store) -> Vec<String> {
    store.list_tables(ListTables::default()).await.expect("a list").table_names
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_store_is_strictly_serializable() {
    let store = memory();
    let report = run_on(vec![Arc::clone(&store)], Options::default()).await;
    assert_eq!((report.rounds, report.operations), (20, 20 * (8 * 25 + 5)));
    assert_eq!((report.conflicts, report.unknown), (0, 0));
    // Enough conditions hold and enough fail.
    assert!((300..2_000).contains(&report.refused), "{report}");
    assert_eq!(tables(&*store).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn twelve_tasks_on_two_items_are_serializable_through_three_handles() {
    let store = memory();
    let handles = vec![Arc::clone(&store), Arc::clone(&store), store];
    let options = Options::new().with_keys(2).with_tasks(12).with_operations(20);
    let report = run_on(handles, options).await;
    assert_eq!(report.operations, 20 * (12 * 20 + 2 * 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn always_overlapping_operations_are_serializable() {
    let report = run_on(vec![broken(Breach::None)], Options::default()).await;
    assert_eq!((report.rounds, report.conflicts), (20, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn run_on_one_item_uses_no_transactions() {
    let options = Options::new().with_keys(1).with_rounds(5);
    run_on(vec![memory()], options).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn run_uses_no_transactions_on_store_without_them() {
    let options = Options::new().with_rounds(5);
    run_on(vec![broken(Breach::NoTransactions)], options).await;
    let stores = [broken(Breach::NoTransactions)];
    counters(&stores, 2, 4, 10).await.unwrap();
    let violation = bank_transfers(&stores, 3, 2, 2).await.unwrap_err();
    assert!(matches!(violation, Violation::Store(_)), "{violation}");
}

/// MemoryStore with injected failures of a service.
fn failing() -> Arc<dyn Store> {
    let failures = Failures::new()
        .on(Operation::Get, When::Chance(0.1), Failure::Throttled)
        .on(Operation::TransactGet, When::Chance(0.1), Failure::Conflict)
        .on(Operation::Put, When::Chance(0.1), Failure::Conflict)
        .on(Operation::Put, When::Chance(0.05), Failure::ResponseLost)
        .on(Operation::Update, When::Chance(0.05), Failure::ResponseLost)
        .on(Operation::Delete, When::Chance(0.05), Failure::ResponseLost)
        .on(Operation::TransactWrite, When::Chance(0.1), Failure::Conflict)
        .on(Operation::TransactWrite, When::Chance(0.05), Failure::ResponseLost);
    Arc::new(FaultStore::new(MemoryStore::new()).failures(failures))
}

#[tokio::test(flavor = "multi_thread")]
async fn reported_failures_are_no_violation() {
    let options = Options::new().with_tasks(6).with_operations(15);
    let report = run_on(vec![failing()], options).await;
    assert!(report.conflicts > 50 && report.unknown > 10, "{report}");
}

#[tokio::test(flavor = "multi_thread")]
async fn invariants_hold_with_injected_failures() {
    for store in [failing(), broken(Breach::None)] {
        let store = [store];
        counters(&store, 3, 4, 20).await.unwrap();
        let report = bank_transfers(&store, 5, 6, 20).await.unwrap();
        assert_eq!(report.transfers + report.refused + report.unknown, 6 * 20);
        assert!(report.transfers > 20 && report.refused > 20, "{report:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn late_effect_of_lost_write_is_no_violation() {
    let options = Options::new().with_tasks(5).with_operations(15);
    let report = run_on(vec![broken(Breach::LateWrites)], options).await;
    assert!(report.unknown > 3, "{report}");
}

#[tokio::test]
async fn session_continues_with_other_stores_and_detects_foreign_write() {
    let store = memory();
    let options = Options::new().with_rounds(0).with_reasons(ReasonTiming::EachAlone);
    let mut session = Session::create(&*store, options).await.unwrap();
    let random = SeededRandom::new(7);
    session.round(&[Arc::clone(&store)], &random).await.unwrap();
    let retrying: Arc<dyn Store> =
        Arc::new(Arc::clone(&store).with_retries(tabla_core::RetryPolicy::default()));
    session.round(&[retrying, Arc::clone(&store)], &random).await.unwrap();
    // A change outside the session.
    for table in tables(&*store).await {
        for item in store.scan(Scan::new(&table)).await.unwrap().items {
            store.put(PutItem::new(&table, item.with("v", 0))).await.unwrap();
        }
    }
    let violation = session.round(&[Arc::clone(&store)], &random).await.unwrap_err();
    assert!(matches!(violation, Violation::Disorder(_)), "{violation}");
    assert_eq!(session.report().rounds, 2);
    session.finish(&*store).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn invariants_hold_on_memory_store() {
    let stores = [memory()];
    let report = bank_transfers(&stores, 4, 8, 50).await.unwrap();
    assert_eq!((report.transfers + report.refused, report.unknown), (8 * 50, 0));
    assert!(report.snapshots > 50, "{report:?}");
    let report = counters(&stores, 3, 8, 50).await.unwrap();
    assert!(report.increments >= 8 * 50, "{report:?}");
    assert_eq!(tables(&*stores[0]).await, Vec::<String>::new());
}

/// Runs the check on a broken store, and returns the violation as text; panics if there is none.
///
/// The tests have one thread, so that they find the same violation each time. On several threads it
/// takes a few rounds, sometimes ten.
async fn detected(breach: Breach) -> String {
    let options = Options::new().with_rounds(100);
    match run(vec![broken(breach)], options, &SeededRandom::new(1)).await {
        Err(violation @ Violation::Disorder(_)) => violation.to_string(),
        other => panic!("{breach:?} was not detected: {other:?}"),
    }
}

#[tokio::test]
async fn condition_evaluated_before_write_is_detected() {
    let text = detected(Breach::ConditionThenWrite).await;
    assert!(text.contains("no order of the operations explains their outcomes"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn condition_evaluated_before_write_is_detected_on_several_threads() {
    detected(Breach::ConditionThenWrite).await;
}

#[tokio::test]
async fn non_atomic_update_is_detected() {
    detected(Breach::ReadThenWrite).await;
}

#[tokio::test]
async fn transaction_written_in_pieces_is_detected() {
    detected(Breach::TransactionInPieces).await;
}

#[tokio::test]
async fn transactional_read_in_pieces_is_detected() {
    detected(Breach::SnapshotInPieces).await;
}

#[tokio::test]
async fn condition_checks_before_writes_are_detected() {
    detected(Breach::ChecksThenWrites).await;
}

#[tokio::test]
async fn stale_read_is_detected() {
    detected(Breach::StaleReads).await;
}

#[tokio::test]
async fn conflict_that_took_effect_is_detected() {
    detected(Breach::ConflictAfterWrite).await;
}

#[tokio::test]
async fn dropped_write_is_detected() {
    detected(Breach::DropsWrites).await;
}

#[tokio::test]
async fn unexpected_item_or_error_is_detected() {
    for (breach, expected) in
        [(Breach::AlienItems, "get k"), (Breach::AlienErrors, "ValidationException")]
    {
        match run(vec![broken(breach)], Options::default(), &SeededRandom::new(1)).await {
            Err(violation @ Violation::UnexpectedResponse { .. }) => {
                let text = violation.to_string();
                assert!(text.contains(expected), "{text}");
            }
            other => panic!("{breach:?} was not detected: {other:?}"),
        }
    }
}

#[tokio::test]
async fn broken_invariant_is_detected() {
    let invariant = |result: Result<String, Violation>| match result {
        Err(Violation::Invariant(text)) => text,
        other => panic!("{other:?}"),
    };
    for breach in [Breach::TransactionInPieces, Breach::SnapshotInPieces] {
        let bank = bank_transfers(&[broken(breach)], 4, 8, 30).await;
        let text = invariant(bank.map(|report| format!("{breach:?} passed: {report:?}")));
        assert!(text.contains("the total is") || text.contains("overdrawn"), "{text}");
    }
    for breach in [Breach::ConditionThenWrite, Breach::ReadThenWrite, Breach::DropsWrites] {
        let counted = counters(&[broken(breach)], 2, 8, 30).await;
        let text = invariant(counted.map(|report| format!("{breach:?} passed: {report:?}")));
        assert!(text.contains("increments"), "{text}");
    }
}

/// Defect of a [`Broken`] store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Breach {
    /// Correct, but waits around every call.
    None,
    /// Correct, but has no transactions.
    NoTransactions,
    /// Correct, but some writes are reported as lost and executed during a later call.
    LateWrites,
    /// Evaluates the condition of a single write first, and writes later without it.
    ConditionThenWrite,
    /// Computes an update from an item that it has read before.
    ReadThenWrite,
    /// Evaluates a transaction as a whole, and then executes its writes one by one.
    TransactionInPieces,
    /// Executes the reads of a transactional read one by one.
    SnapshotInPieces,
    /// Evaluates all conditions of a transaction first, and then writes without them.
    ChecksThenWrites,
    /// At some reads, returns what the previous read of the item returned.
    StaleReads,
    /// Executes some writes and reports them as conflicts.
    ConflictAfterWrite,
    /// Reports some writes as executed without executing them.
    DropsWrites,
    /// At some reads, returns an item with an attribute that was never written.
    AlienItems,
    /// Rejects some puts as invalid.
    AlienErrors,
}

/// MemoryStore with a defect, which waits around every call.
#[derive(Debug)]
struct Broken {
    store: MemoryStore,
    breach: Breach,
    calls: AtomicU64,
    read: Mutex<HashMap<String, Option<Item>>>,
    late: Mutex<Vec<PutItem>>,
}

fn broken(breach: Breach) -> Arc<dyn Store> {
    Arc::new(Broken {
        store: MemoryStore::new(),
        breach,
        calls: AtomicU64::new(0),
        read: Mutex::default(),
        late: Mutex::default(),
    })
}

impl Broken {
    fn own_capabilities(&self) -> Capabilities {
        let mut capabilities = self.store.capabilities();
        capabilities.transactions &= self.breach != Breach::NoTransactions;
        capabilities
    }

    /// Whether this call shows the defect: every 17th one.
    fn every_17th(&self, breach: Breach) -> bool {
        self.breach == breach && self.calls.fetch_add(1, Ordering::SeqCst) % 17 == 16
    }

    async fn present(&self, table: &str, key: Item) -> Option<Item> {
        self.store.get(GetItem::new(table, key)).await.expect("the wrapped store never fails").item
    }

    /// Evaluates the condition of a single write and removes it, if that is the defect.
    async fn evaluate_first(&self, write: TransactWriteItem) -> Result<TransactWriteItem> {
        if self.breach != Breach::ConditionThenWrite {
            return Ok(write);
        }
        let check = TransactWriteItems::new().item(as_check(&write));
        if let Err(error) = self.store.transact_write(check).await {
            let item = error.cancellation_reasons()[0].item.clone();
            return Err(Error::condition_failed(item));
        }
        yield_now().await;
        Ok(without_condition(write))
    }

    async fn around<T>(&self, call: impl Future<Output = Result<T>> + Send) -> Result<T> {
        let late = std::mem::take(
            &mut *self.late.lock().expect("no thread panics while it holds the lock"),
        );
        for put in late {
            // Its condition may fail by now.
            let _ = self.store.put(put).await;
        }
        yield_now().await;
        let answer = call.await;
        yield_now().await;
        answer
    }

    async fn broken_get(&self, request: GetItem) -> Result<GetItemOutput> {
        let place = format!("{} {:?}", request.table, request.key);
        let is_stale = self.every_17th(Breach::StaleReads);
        let known = self
            .read
            .lock()
            .expect("no thread panics while it holds the lock")
            .get(&place)
            .cloned();
        if let (true, Some(item)) = (is_stale, known) {
            return Ok(GetItemOutput::new(item));
        }
        let mut output = self.store.get(request).await?;
        if self.every_17th(Breach::AlienItems) {
            output.item = output.item.map(|item| item.with("alien", 1));
        }
        self.read
            .lock()
            .expect("no thread panics while it holds the lock")
            .insert(place, output.item.clone());
        Ok(output)
    }

    async fn broken_put(&self, request: PutItem) -> Result<WriteOutput> {
        let evaluated = self.evaluate_first(request.into()).await?;
        let TransactWriteItem::Put(request) = evaluated else { unreachable!("a put stays a put") };
        if self.every_17th(Breach::AlienErrors) {
            return Err(Error::validation("no"));
        }
        if self.every_17th(Breach::LateWrites) {
            self.late.lock().expect("no thread panics while it holds the lock").push(request);
            let error = Error::new(ErrorKind::Unavailable, "the response was lost");
            return Err(error.with_applied(Applied::Maybe));
        }
        if self.every_17th(Breach::ConflictAfterWrite) {
            self.store.put(request).await?;
            return Err(Error::new(ErrorKind::TransactionConflict, "a conflict"));
        }
        if self.every_17th(Breach::DropsWrites) && request.condition.is_none() {
            return Ok(WriteOutput::default());
        }
        self.store.put(request).await
    }

    async fn broken_update(&self, request: UpdateItem) -> Result<WriteOutput> {
        let evaluated = self.evaluate_first(request.into()).await?;
        let TransactWriteItem::Update(request) = evaluated else { unreachable!("it stays one") };
        if self.every_17th(Breach::DropsWrites) && request.condition.is_none() {
            return Ok(WriteOutput::default());
        }
        if self.breach == Breach::ReadThenWrite && request.condition.is_none() {
            let old = self.present(&request.table, request.key.clone()).await;
            let Some(Expr::Tree(update)) = request.update else {
                panic!("the update is a text expression")
            };
            let new = Update::apply(&update, old.as_ref().unwrap_or(&request.key))?;
            yield_now().await;
            self.store.put(PutItem::new(&request.table, new.clone())).await?;
            let attributes = match request.return_values {
                ReturnValues::AllOld => old,
                ReturnValues::AllNew => Some(new),
                _ => None,
            };
            return Ok(WriteOutput::new().attributes(attributes));
        }
        self.store.update(request).await
    }

    async fn broken_delete(&self, request: DeleteItem) -> Result<WriteOutput> {
        let evaluated = self.evaluate_first(request.into()).await?;
        let TransactWriteItem::Delete(request) = evaluated else { unreachable!("it stays one") };
        self.store.delete(request).await
    }

    async fn broken_transact_get(
        &self,
        request: TransactGetItems,
    ) -> Result<TransactGetItemsOutput> {
        if self.breach != Breach::SnapshotInPieces {
            return self.store.transact_get(request).await;
        }
        let mut output = TransactGetItemsOutput::default();
        for get in request.items {
            output.responses.push(self.store.get(get).await?.item);
            yield_now().await;
        }
        Ok(output)
    }

    async fn broken_transact_write(
        &self,
        request: TransactWriteItems,
    ) -> Result<TransactWriteItemsOutput> {
        if !matches!(self.breach, Breach::TransactionInPieces | Breach::ChecksThenWrites) {
            return self.store.transact_write(request).await;
        }
        let checks = request.items.iter().map(as_check);
        self.store
            .transact_write(checks.fold(TransactWriteItems::new(), |all, check| all.item(check)))
            .await?;
        let is_write =
            |item: &TransactWriteItem| !matches!(item, TransactWriteItem::ConditionCheck(_));
        let writes: Vec<TransactWriteItem> =
            request.items.into_iter().filter(is_write).map(without_condition).collect();
        let size = if self.breach == Breach::TransactionInPieces { 1 } else { writes.len().max(1) };
        for piece in writes.chunks(size) {
            yield_now().await;
            let items = piece.to_vec();
            self.store.transact_write(assign!(TransactWriteItems::new(), { items })).await?;
        }
        Ok(TransactWriteItemsOutput::default())
    }
}

/// Key of an item in any of the tables.
fn key_of(item: &Item) -> Item {
    let is_key = |name: &str| matches!(name, "pk" | "sk");
    item.iter()
        .filter(|(name, _)| is_key(name))
        .fold(Item::new(), |key, (name, value)| key.with(name, value))
}

/// Condition of an operation alone; one that always holds if the operation has none.
fn as_check(item: &TransactWriteItem) -> TransactWriteItem {
    let (table, key, condition, on_failure) = match item {
        TransactWriteItem::Put(put) => {
            let on_failure = put.return_values_on_condition_check_failure;
            (&put.table, key_of(&put.item), &put.condition, on_failure)
        }
        TransactWriteItem::Update(update) => {
            let on_failure = update.return_values_on_condition_check_failure;
            (&update.table, update.key.clone(), &update.condition, on_failure)
        }
        TransactWriteItem::Delete(delete) => {
            let on_failure = delete.return_values_on_condition_check_failure;
            (&delete.table, delete.key.clone(), &delete.condition, on_failure)
        }
        TransactWriteItem::ConditionCheck(check) => return check.clone().into(),
    };
    let always = || tabla_core::attr("never").not_exists().into();
    let condition = condition.clone().unwrap_or_else(always);
    let mut check = ConditionCheck::new(table, key, condition);
    check.return_values_on_condition_check_failure = on_failure;
    check.into()
}

/// Operation without its condition.
fn without_condition(mut item: TransactWriteItem) -> TransactWriteItem {
    match &mut item {
        TransactWriteItem::Put(put) => put.condition = None,
        TransactWriteItem::Update(update) => update.condition = None,
        TransactWriteItem::Delete(delete) => delete.condition = None,
        TransactWriteItem::ConditionCheck(_) => {}
    }
    item
}

macro_rules! broken {
    ($self:ident, get, $request:ident) => {
        $self.around($self.broken_get($request)).await
    };
    ($self:ident, put, $request:ident) => {
        $self.around($self.broken_put($request)).await
    };
    ($self:ident, update, $request:ident) => {
        $self.around($self.broken_update($request)).await
    };
    ($self:ident, delete, $request:ident) => {
        $self.around($self.broken_delete($request)).await
    };
    ($self:ident, transact_get, $request:ident) => {
        $self.around($self.broken_transact_get($request)).await
    };
    ($self:ident, transact_write, $request:ident) => {
        $self.around($self.broken_transact_write($request)).await
    };
    ($self:ident, $method:ident, $request:ident) => {
        $self.store.$method($request).await
    };
}

tabla_core::wrap_store! {
    impl[] Store for Broken, inner: store, call: broken, capabilities: own_capabilities
}
