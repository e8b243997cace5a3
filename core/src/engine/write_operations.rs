//! Writes, from the request to the answer.
//!
//! A write is planned against its table by whoever asks for it, and run where writes happen one
//! after another. A table may change in between: [`replan`](SingleWrite::replan) judges the
//! request again.

use super::read_operations::CapacityMeters;
use super::storage::{EvaluatedWrite, TableRef, TokenRecord, WriteRows};
use super::{
    CapacityMeter, CapacityTarget, Effect, IndexChange, OperationError, RowKey, WritePlan, batch,
    read_units, transact,
};
use crate::Item;
use crate::env::Timestamp;
use crate::error::{CancellationReason, Result};
use crate::ops::*;
use crate::schema::{IndexKind, TableSchema};

/// Cost above which expressions are evaluated outside of the writer: see [`WritePlan::cost`]. Ten
/// paths into an item of 400 KB, or a thousand into one of 4 KB.
const MAX_INLINE_COST: usize = 4 << 20;

/// Items that a write has found, one for each of its operations, in their order.
pub type FoundItems = Vec<Option<Item>>;

/// A write of one item, planned.
#[derive(Clone, Debug)]
pub struct SingleWrite<T> {
    table: T,
    plan: WritePlan,
    capacity: ReturnConsumedCapacity,
    metrics: ReturnItemCollectionMetrics,
}

impl<T: TableRef> SingleWrite<T> {
    /// Plans a put.
    pub fn put(request: &PutItem, table: T) -> Result<Self> {
        let capacity = request.return_consumed_capacity;
        let metrics = request.return_item_collection_metrics;
        let plan = WritePlan::put(request, table.schema())?;
        Ok(Self { table, plan, capacity, metrics })
    }

    /// Plans an update.
    pub fn update(request: &UpdateItem, table: T) -> Result<Self> {
        let capacity = request.return_consumed_capacity;
        let metrics = request.return_item_collection_metrics;
        let plan = WritePlan::update(request, table.schema())?;
        Ok(Self { table, plan, capacity, metrics })
    }

    /// Plans a delete.
    pub fn delete(request: &DeleteItem, table: T) -> Result<Self> {
        let capacity = request.return_consumed_capacity;
        let metrics = request.return_item_collection_metrics;
        let plan = WritePlan::delete(request, table.schema())?;
        Ok(Self { table, plan, capacity, metrics })
    }

    /// The table that is written to.
    pub fn table(&self) -> &T {
        &self.table
    }

    /// The item collections whose sizes are wanted.
    pub fn reported_collections(&self) -> impl Iterator<Item = (&T, &RowKey)> {
        reporting_collections(self.metrics, [(&self.table, &self.plan)])
    }

    /// The same write on the table as it is now.
    pub fn replan(self, table: T) -> Result<Self> {
        let plan = self.plan.replan(table.schema())?;
        Ok(Self { table, plan, ..self })
    }

    /// The present item, if evaluating the expressions on it takes so long that other writes should
    /// not have to wait: [`evaluated`](Self::evaluated) does it before the next attempt.
    pub fn items_to_pre_evaluate(
        &self,
        rows: &mut impl WriteRows<Table = T>,
    ) -> Result<Option<FoundItems>> {
        if self.plan.max_evaluation_cost() <= MAX_INLINE_COST {
            return Ok(None);
        }
        let item = rows.get(&self.table, self.plan.row_key())?;
        Ok((self.plan.evaluation_cost(item.as_ref()) > MAX_INLINE_COST).then(|| vec![item]))
    }

    /// The same write with its expressions evaluated on the item that was found. It counts if the
    /// item is still the same when the write is executed.
    ///
    /// # Errors
    /// The condition failed, or the update cannot be applied: that is the answer to the write, as
    /// of the moment at which the item was found.
    pub fn pre_evaluate(mut self, found: FoundItems) -> Result<Self> {
        let item = found.into_iter().next().flatten();
        let effect = self.plan.evaluate(self.table.schema(), item)?;
        self.plan.set_pre_evaluated(effect);
        Ok(self)
    }

    /// Judges the write against the present item, carries it out, and answers.
    pub fn execute(&self, rows: &mut impl WriteRows<Table = T>) -> Result<WriteOutput> {
        let Self { table, plan, .. } = self;
        let judged = Evaluation::of(rows, table, plan, self.metrics)?;
        judged.apply_to(rows, table, plan)?;
        let mut meter = CapacityMeter::new(self.capacity);
        judged.count(&mut meter, false);
        Ok(WriteOutput {
            attributes: plan.attributes(&judged.effect),
            consumed_capacity: meter.report(table.name(), table.schema()),
            item_collection_metrics: judged.metrics,
        })
    }
}

/// A batch of writes, planned.
#[derive(Clone, Debug)]
pub struct BatchWrite<T> {
    tables: Vec<(T, Vec<WritePlan>)>,
    capacity: ReturnConsumedCapacity,
    metrics: ReturnItemCollectionMetrics,
}

impl<T: TableRef> BatchWrite<T> {
    /// Plans a batch; `find` finds its tables.
    pub fn new(request: &BatchWriteItem, find: impl Fn(&str) -> Result<T>) -> Result<Self> {
        batch::check_write(request)?;
        let BatchWriteItem {
            requests,
            return_consumed_capacity: capacity,
            return_item_collection_metrics: metrics,
        } = request;
        let found: Vec<T> = requests.keys().map(|name| find(name)).collect::<Result<_>>()?;
        let tables = found
            .into_iter()
            .zip(requests.values())
            .map(|(table, writes)| {
                let plans = batch::plan_writes(writes, table.schema())?;
                Ok((table, plans))
            })
            .collect::<Result<_>>()?;
        Self { tables, capacity: *capacity, metrics: *metrics }.checked()
    }

    /// Fails if two writes are on one item, also if its table is called in two ways.
    fn checked(self) -> Result<Self> {
        let placed = self
            .tables
            .iter()
            .flat_map(|(table, plans)| plans.iter().map(|plan| (table.name(), plan.row_key())));
        batch::check_distinct(placed)?;
        Ok(self)
    }

    /// The tables that are written to.
    pub fn tables(&self) -> impl Iterator<Item = &T> {
        self.tables.iter().map(|(table, _)| table)
    }

    /// The item collections whose sizes are wanted, once for each write.
    pub fn reported_collections(&self) -> impl Iterator<Item = (&T, &RowKey)> {
        let writes = self.tables.iter();
        let writes = writes.flat_map(|(table, plans)| plans.iter().map(move |plan| (table, plan)));
        reporting_collections(self.metrics, writes)
    }

    /// The same writes on the tables as they are now.
    pub fn replan(self, find: impl Fn(&str) -> Result<T>) -> Result<Self> {
        let replan = |(table, plans): (T, Vec<WritePlan>)| {
            let table = find(table.name())?;
            let plans = plans.into_iter().map(|plan| plan.replan(table.schema()));
            let plans = plans.collect::<Result<_, OperationError>>()?;
            Ok((table, plans))
        };
        let tables = self.tables.into_iter().map(replan).collect::<Result<_>>()?;
        Self { tables, ..self }.checked()
    }

    /// How many items are written.
    pub fn len(&self) -> usize {
        self.tables.iter().map(|(_, plans)| plans.len()).sum()
    }

    /// Whether nothing is written, which no batch is planned for.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Carries the writes out, one after another. They are on different items, so that none
    /// changes what another finds.
    pub fn execute<R: WriteRows<Table = T>>(&self, rows: &mut R) -> Result<BatchWriteItemOutput> {
        let mut judged = Vec::with_capacity(self.len());
        for (table, plans) in &self.tables {
            for plan in plans {
                judged.push(Evaluation::of(rows, table, plan, self.metrics)?);
            }
        }
        let mut output = BatchWriteItemOutput::default();
        let mut judged = judged.into_iter();
        let mut meters = CapacityMeters::new(self.capacity);
        for (table, plans) in &self.tables {
            let meter = meters.of(table);
            for (plan, judged) in plans.iter().zip(&mut judged) {
                judged.apply_to(rows, table, plan)?;
                judged.count(meter, false);
                if let Some(metrics) = judged.metrics {
                    let of_table = output.item_collection_metrics.entry(table.name().to_owned());
                    of_table.or_default().push(metrics);
                }
            }
        }
        output.consumed_capacity = meters.report();
        Ok(output)
    }
}

/// A transaction, planned.
#[derive(Debug)]
pub struct TransactWrite<T> {
    operations: Vec<(T, Result<WritePlan, OperationError>)>,
    token: Option<(String, u128)>,
    capacity: ReturnConsumedCapacity,
    metrics: ReturnItemCollectionMetrics,
}

impl<T: TableRef> TransactWrite<T> {
    /// Plans a transaction; `find` finds its tables.
    pub fn new(request: &TransactWriteItems, find: impl Fn(&str) -> Result<T>) -> Result<Self> {
        transact::check_write(request)?;
        let TransactWriteItems {
            items,
            client_request_token: token,
            return_consumed_capacity: capacity,
            return_item_collection_metrics: metrics,
        } = request;
        let tables: Vec<T> =
            items.iter().map(|item| find(transact::table_of(item))).collect::<Result<_>>()?;
        let fingerprint = token.as_ref().map(|_| transact::fingerprint(request));
        let plan = |(item, table): (&TransactWriteItem, T)| {
            let plan = transact::plan_operation(item, table.schema());
            (table, plan)
        };
        let operations = items.iter().zip(tables).map(plan).collect();
        Self {
            operations,
            token: token.clone().zip(fingerprint),
            capacity: *capacity,
            metrics: *metrics,
        }
        .checked()
    }

    /// Fails with the first operation that is wrong in itself, and if two are on one item.
    fn checked(mut self) -> Result<Self> {
        for (_, plan) in &mut self.operations {
            if let Err(OperationError::Request(error)) = plan {
                return Err(std::mem::replace(error, crate::Error::validation(String::new())));
            }
        }
        let placed = self.operations.iter().filter_map(|(table, plan)| {
            plan.as_ref().ok().map(|plan| (table.name(), plan.row_key()))
        });
        transact::check_distinct(placed)?;
        Ok(self)
    }

    /// The tables that are written to, once for each operation.
    pub fn tables(&self) -> impl Iterator<Item = &T> {
        self.operations.iter().map(|(table, _)| table)
    }

    /// The item collections whose sizes are wanted, once for each operation.
    pub fn reported_collections(&self) -> impl Iterator<Item = (&T, &RowKey)> {
        let plans = self.operations.iter();
        reporting_collections(
            self.metrics,
            plans.filter_map(|(table, plan)| Some((table, plan.as_ref().ok()?))),
        )
    }

    /// The same transaction on the tables as they are now.
    pub fn replan(self, find: impl Fn(&str) -> Result<T>) -> Result<Self> {
        let replan = |(table, plan): (T, Result<WritePlan, OperationError>)| {
            let table = find(table.name())?;
            let plan = plan.and_then(|plan| plan.replan(table.schema()));
            Ok((table, plan))
        };
        let operations = self.operations.into_iter().map(replan).collect::<Result<_>>()?;
        Self { operations, ..self }.checked()
    }

    /// How many operations it has.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether it has none, which no transaction is planned for.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// The present items, if evaluating the expressions on them takes so long that other writes
    /// should not have to wait: [`evaluated`](Self::evaluated) does it before the next attempt.
    pub fn items_to_pre_evaluate(
        &self,
        rows: &mut impl WriteRows<Table = T>,
        now: Timestamp,
    ) -> Result<Option<FoundItems>> {
        let plans = || self.operations.iter().filter_map(|(_, plan)| plan.as_ref().ok());
        if plans().map(WritePlan::max_evaluation_cost).sum::<usize>() <= MAX_INLINE_COST {
            return Ok(None);
        }
        if self.known_token(rows, now)?.is_some() {
            return Ok(None);
        }
        let (mut found, mut cost) = (Vec::with_capacity(self.operations.len()), 0);
        for (table, plan) in &self.operations {
            let item = match plan {
                Ok(plan) => rows.get(table, plan.row_key())?,
                Err(_) => None,
            };
            cost += plan.as_ref().map_or(0, |plan| plan.evaluation_cost(item.as_ref()));
            found.push(item);
        }
        Ok((cost > MAX_INLINE_COST).then_some(found))
    }

    /// The same transaction with its expressions evaluated on the items that were found. That
    /// counts for each item that is still the same when the transaction is executed.
    ///
    /// # Errors
    /// The transaction is cancelled: that is its answer, as of the moment at which the items were
    /// found.
    pub fn pre_evaluate(mut self, found: FoundItems) -> Result<Self> {
        let mut effects = Vec::with_capacity(found.len());
        for ((table, plan), item) in self.operations.iter_mut().zip(found) {
            effects.push(match plan {
                Ok(plan) => plan.evaluate(table.schema(), item),
                Err(fault) => Err(std::mem::replace(fault, OperationError::item(""))),
            });
        }
        let effects = transact::collect_outcomes(effects)?;
        let plans = self.operations.iter_mut().filter_map(|(_, plan)| plan.as_mut().ok());
        plans.zip(effects).for_each(|(plan, effect)| plan.set_pre_evaluated(effect));
        Ok(self)
    }

    /// The error of a transaction whose items have changed each time while it was evaluated.
    pub fn conflict(&self) -> crate::Error {
        let reason = |(_, plan): &(T, Result<WritePlan, OperationError>)| match plan {
            Ok(plan) if plan.max_evaluation_cost() > 0 => CancellationReason::conflict(),
            _ => CancellationReason::none(),
        };
        crate::Error::transaction_canceled(self.operations.iter().map(reason).collect())
    }

    /// The transaction that was executed under the token of this one.
    fn known_token(
        &self,
        rows: &mut impl WriteRows<Table = T>,
        now: Timestamp,
    ) -> Result<Option<TokenRecord>> {
        let Some((token, _)) = &self.token else { return Ok(None) };
        Ok(rows.find_token(token)?.filter(|known| known.is_valid(now)))
    }

    /// Carries the transaction out, or nothing of it.
    pub fn execute<R: WriteRows<Table = T>>(
        mut self,
        rows: &mut R,
        now: Timestamp,
    ) -> Result<TransactWriteItemsOutput> {
        let known = self.known_token(rows, now)?;
        if let (Some(known), Some((_, fingerprint))) = (known, &self.token) {
            if known.fingerprint != *fingerprint {
                return Err(transact::token_mismatch_error());
            }
            return self.replay(rows);
        }

        // Every operation is judged against the state before the transaction, and all that fail
        // are reported.
        let mut judged = Vec::with_capacity(self.operations.len());
        for (table, plan) in &mut self.operations {
            judged.push(match plan {
                Ok(plan) => evaluate_write(rows, table, plan, self.metrics)?,
                Err(fault) => Err(std::mem::replace(fault, OperationError::item(""))),
            });
        }
        let judged = transact::collect_outcomes(judged)?;

        let mut output = TransactWriteItemsOutput::default();
        let mut meters = CapacityMeters::new(self.capacity);
        let plans =
            self.operations.iter().filter_map(|(table, plan)| Some((table, plan.as_ref().ok()?)));
        for ((table, plan), judged) in plans.zip(judged) {
            if plan.is_check() {
                meters.of(table).check(judged.effect.old.as_ref());
                continue;
            }
            judged.apply_to(rows, table, plan)?;
            judged.count(meters.of(table), true);
            if let Some(metrics) = judged.metrics {
                let of_table = output.item_collection_metrics.entry(table.name().to_owned());
                of_table.or_default().push(metrics);
            }
        }
        output.consumed_capacity = meters.report_transaction();
        if let Some((token, fingerprint)) = &self.token {
            rows.store_token(token, TokenRecord { fingerprint: *fingerprint, completed_at: now })?;
        }
        Ok(output)
    }

    /// The answer to a transaction that was carried out before: it only costs the reading of its
    /// items.
    fn replay(self, rows: &mut impl WriteRows<Table = T>) -> Result<TransactWriteItemsOutput> {
        let (tables, plans): (Vec<T>, Vec<_>) = self.operations.into_iter().unzip();
        let plans: Vec<WritePlan> = transact::collect_outcomes(plans)?;
        let mut meters = CapacityMeters::new(self.capacity);
        for (table, plan) in tables.iter().zip(&plans) {
            let item = rows.get(table, plan.row_key())?;
            let units = 2.0 * read_units(item.as_ref().map_or(0, Item::size), true);
            meters.of(table).read(CapacityTarget::Table, units);
        }
        Ok(TransactWriteItemsOutput {
            consumed_capacity: meters.report_transaction(),
            ..TransactWriteItemsOutput::default()
        })
    }
}

/// A write that was judged against the present item: all that is left is to carry it out.
struct Evaluation<P> {
    place: Option<P>,
    effect: Effect,
    changes: Vec<IndexChange>,
    metrics: Option<ItemCollectionMetrics>,
}

impl<P: Copy> Evaluation<P> {
    fn of<T: TableRef>(
        rows: &mut impl WriteRows<Table = T, RowHandle = P>,
        table: &T,
        plan: &WritePlan,
        metrics: ReturnItemCollectionMetrics,
    ) -> Result<Self> {
        Ok(evaluate_write(rows, table, plan, metrics)??)
    }

    fn apply_to<T: TableRef>(
        &self,
        rows: &mut impl WriteRows<Table = T, RowHandle = P>,
        table: &T,
        plan: &WritePlan,
    ) -> Result<()> {
        let Self { place, effect, changes, .. } = self;
        let position = plan.row_key();
        rows.apply(table, &EvaluatedWrite { row_key: position, row: *place, effect, changes })
    }

    fn count(&self, meter: &mut CapacityMeter, transactional: bool) {
        let Effect { old, new } = &self.effect;
        meter.write(old.as_ref(), new.as_ref(), &self.changes, transactional);
    }
}

/// Judges a write. The outer error is the engine's, the inner one the write's own.
fn evaluate_write<T: TableRef, R: WriteRows<Table = T>>(
    rows: &mut R,
    table: &T,
    plan: &WritePlan,
    metrics: ReturnItemCollectionMetrics,
) -> Result<Result<Evaluation<R::RowHandle>, OperationError>> {
    let schema = table.schema();
    let (old, place) = rows.find(table, plan.row_key())?.unzip();
    let effect = match plan.evaluate(schema, old) {
        Ok(effect) => effect,
        Err(fault) => return Ok(Err(fault)),
    };
    let changes = match plan.is_check() {
        true => Vec::new(),
        false => effect.index_changes(schema),
    };
    let metrics = match reports_collection_size(metrics, schema, plan) {
        true => {
            let before = rows.collection_size(table, plan.row_key())?;
            let after = before.saturating_add_signed(collection_growth(schema, &effect, &changes));
            plan.item_collection_metrics(schema, after)
        }
        false => None,
    };
    Ok(Ok(Evaluation { place, effect, changes, metrics }))
}

/// Whether the answer to a write tells the size of its item collection.
fn reports_collection_size(
    metrics: ReturnItemCollectionMetrics,
    schema: &TableSchema,
    plan: &WritePlan,
) -> bool {
    metrics == ReturnItemCollectionMetrics::Size && schema.has_local_indexes() && !plan.is_check()
}

/// The item collections of the writes whose answers tell their sizes.
fn reporting_collections<'w, T: TableRef + 'w>(
    metrics: ReturnItemCollectionMetrics,
    writes: impl IntoIterator<Item = (&'w T, &'w WritePlan)>,
) -> impl Iterator<Item = (&'w T, &'w RowKey)> {
    let writes = writes.into_iter();
    let measured =
        writes.filter(move |(table, plan)| reports_collection_size(metrics, table.schema(), plan));
    measured.map(|(table, plan)| (table, plan.row_key()))
}

/// How many bytes a write adds to its item collection: the item, and its entries in the local
/// indexes.
fn collection_growth(schema: &TableSchema, effect: &Effect, changes: &[IndexChange]) -> i64 {
    let size = |item: &Option<Item>| item.as_ref().map_or(0, Item::size) as i64;
    let local = |change: &&IndexChange| schema.indexes[change.index].kind == IndexKind::Local;
    let entries = changes.iter().filter(local).map(|change| change.entry.count_delta().1);
    size(&effect.new) - size(&effect.old) + entries.sum::<i64>()
}

#[cfg(test)]
mod tests {
    use crate::ops::*;
    use crate::schema::table_arn;
    use crate::{ErrorKind, Item, KeyType, MemoryStore, Store, StoreExt, item};

    async fn things() -> MemoryStore {
        let store = MemoryStore::new();
        let table = CreateTable::new("things")
            .partition_key("pk", KeyType::S)
            .attribute("kind", KeyType::S)
            .global_index(SecondaryIndex::new("by-kind").partition_key("kind"));
        store.create_table(table).await.unwrap();
        store
    }

    fn of_both(one: Item, other: Item) -> BatchWriteItem {
        let requests = [("things".to_owned(), one), (table_arn("things"), other)];
        let requests =
            requests.into_iter().map(|(name, item)| (name, vec![WriteRequest::Put(item)]));
        BatchWriteItem { requests: requests.collect(), ..BatchWriteItem::default() }
    }

    #[tokio::test]
    async fn a_batch_may_call_a_table_by_its_name_and_its_arn() {
        let store = things().await;
        let before = item! { "pk" => "a", "kind" => "old" };
        store.put(PutItem::new("things", before.clone())).await.unwrap();
        // Two writes of one item, however its table is called.
        let twice = of_both(
            item! { "pk" => "a", "kind" => "one" },
            item! { "pk" => "a", "kind" => "other" },
        );
        let error = store.batch_write(twice).await.unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Validation);
        assert_eq!(error.message(), "Provided list of item keys contains duplicates");
        let by_kind = store.scan(Scan::new("things").index("by-kind")).await.unwrap().items;
        assert_eq!(by_kind, [before]);

        let (b, c) = (item! { "pk" => "b" }, item! { "pk" => "c" });
        let mut both = of_both(b.clone(), c.clone());
        both.return_consumed_capacity = ReturnConsumedCapacity::Total;
        let output = store.batch_write(both).await.unwrap();
        assert_eq!(output.consumed_capacity.len(), 1);
        assert_eq!(output.consumed_capacity[0].capacity_units, 2.0);

        let keys = |key: &Item| KeysAndAttributes { keys: vec![key.clone()], ..Default::default() };
        let read = |one: &Item, other: &Item| BatchGetItem {
            requests: [("things".to_owned(), keys(one)), (table_arn("things"), keys(other))].into(),
            ..BatchGetItem::default()
        };
        let mut found = store.batch_get(read(&b, &c)).await.unwrap().responses;
        let mut found = found.remove("things").unwrap();
        found.sort_by_key(|item| item.get("pk").unwrap().as_str().unwrap().to_owned());
        assert_eq!(found, [b.clone(), c]);
        let error = store.batch_get(read(&b, &b)).await.unwrap_err();
        assert_eq!(error.message(), "Provided list of item keys contains duplicates");
        assert!(store.get_item("things", b).await.unwrap().is_some());
    }
}
