//! Planned writes: of an item, a batch or a transaction, from request to output.
//!
//! The caller plans a write against its table; the engine's writer executes it. If the table has
//! changed in between, [`replan`](SingleWrite::replan) validates the request again.

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

/// Cost above which expressions are evaluated outside of the writer, in bytes: see
/// [`WritePlan::evaluation_cost`]. Ten paths into an item of 400 KB, or a thousand into one of
/// 4 KB.
const MAX_INLINE_COST: usize = 4 << 20;

/// Present items of a write, one per operation, in order.
pub type FoundItems = Vec<Option<Item>>;

/// Planned write of one item.
#[derive(Clone, Debug)]
pub struct SingleWrite<T> {
    table: T,
    plan: WritePlan,
    capacity: ReturnConsumedCapacity,
    metrics: ReturnItemCollectionMetrics,
}

impl<T: TableRef> SingleWrite<T> {
    /// Plans a put into `table`.
    pub fn put(request: &PutItem, table: T) -> Result<Self> {
        let capacity = request.return_consumed_capacity;
        let metrics = request.return_item_collection_metrics;
        let plan = WritePlan::put(request, table.schema())?;
        Ok(Self { table, plan, capacity, metrics })
    }

    /// Plans an update in `table`.
    pub fn update(request: &UpdateItem, table: T) -> Result<Self> {
        let capacity = request.return_consumed_capacity;
        let metrics = request.return_item_collection_metrics;
        let plan = WritePlan::update(request, table.schema())?;
        Ok(Self { table, plan, capacity, metrics })
    }

    /// Plans a delete from `table`.
    pub fn delete(request: &DeleteItem, table: T) -> Result<Self> {
        let capacity = request.return_consumed_capacity;
        let metrics = request.return_item_collection_metrics;
        let plan = WritePlan::delete(request, table.schema())?;
        Ok(Self { table, plan, capacity, metrics })
    }

    /// Table of the write.
    pub fn table(&self) -> &T {
        &self.table
    }

    /// Item collections whose sizes the request asks for.
    pub fn reported_collections(&self) -> impl Iterator<Item = (&T, &RowKey)> {
        reporting_collections(self.metrics, [(&self.table, &self.plan)])
    }

    /// Validates the write again, against the current definition of its table.
    pub fn replan(self, table: T) -> Result<Self> {
        let plan = self.plan.replan(table.schema())?;
        Ok(Self { table, plan, ..self })
    }

    /// Reads the present item if its expressions are too costly to evaluate in the writer; `None`
    /// if they are not. [`pre_evaluate`](Self::pre_evaluate) evaluates them outside of the writer.
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

    /// Evaluates the expressions on the item that was read. [`execute`](Self::execute) uses the
    /// result if the item is still the same.
    ///
    /// # Errors
    /// The condition failed, or the update does not fit the item. The error is the result of the
    /// write, as of the time at which the item was read.
    pub fn pre_evaluate(mut self, found: FoundItems) -> Result<Self> {
        let item = found.into_iter().next().flatten();
        let effect = self.plan.evaluate(self.table.schema(), item)?;
        self.plan.set_pre_evaluated(effect);
        Ok(self)
    }

    /// Evaluates the write on the present item, applies it, and returns its output.
    pub fn execute(&self, rows: &mut impl WriteRows<Table = T>) -> Result<WriteOutput> {
        let Self { table, plan, .. } = self;
        let evaluated = Evaluation::of(rows, table, plan, self.metrics)?;
        evaluated.apply_to(rows, table, plan)?;
        let mut meter = CapacityMeter::new(self.capacity);
        evaluated.count(&mut meter, false);
        Ok(WriteOutput {
            attributes: plan.attributes(&evaluated.effect),
            consumed_capacity: meter.report(table.name(), table.schema()),
            item_collection_metrics: evaluated.metrics,
        })
    }
}

/// Planned batch of writes.
#[derive(Clone, Debug)]
pub struct BatchWrite<T> {
    tables: Vec<(T, Vec<WritePlan>)>,
    capacity: ReturnConsumedCapacity,
    metrics: ReturnItemCollectionMetrics,
}

impl<T: TableRef> BatchWrite<T> {
    /// Plans a batch; `find` looks up its tables.
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

    /// Refuses two writes on one item, also if its table is named by name and by ARN.
    fn checked(self) -> Result<Self> {
        let placed = self
            .tables
            .iter()
            .flat_map(|(table, plans)| plans.iter().map(|plan| (table.name(), plan.row_key())));
        batch::check_distinct(placed)?;
        Ok(self)
    }

    /// Tables of the batch.
    pub fn tables(&self) -> impl Iterator<Item = &T> {
        self.tables.iter().map(|(table, _)| table)
    }

    /// Item collections whose sizes the request asks for, one per write.
    pub fn reported_collections(&self) -> impl Iterator<Item = (&T, &RowKey)> {
        let writes = self.tables.iter();
        let writes = writes.flat_map(|(table, plans)| plans.iter().map(move |plan| (table, plan)));
        reporting_collections(self.metrics, writes)
    }

    /// Validates the writes again, against the current definitions of their tables.
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

    /// Number of writes.
    pub fn len(&self) -> usize {
        self.tables.iter().map(|(_, plans)| plans.len()).sum()
    }

    /// Whether there is no write. A planned batch has at least one.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Evaluates all writes, then applies them in order. They are on distinct items, so that none
    /// depends on another.
    pub fn execute<R: WriteRows<Table = T>>(&self, rows: &mut R) -> Result<BatchWriteItemOutput> {
        let mut evaluated = Vec::with_capacity(self.len());
        for (table, plans) in &self.tables {
            for plan in plans {
                evaluated.push(Evaluation::of(rows, table, plan, self.metrics)?);
            }
        }
        let mut output = BatchWriteItemOutput::default();
        let mut evaluated = evaluated.into_iter();
        let mut meters = CapacityMeters::new(self.capacity);
        for (table, plans) in &self.tables {
            let meter = meters.of(table);
            for (plan, evaluated) in plans.iter().zip(&mut evaluated) {
                evaluated.apply_to(rows, table, plan)?;
                evaluated.count(meter, false);
                if let Some(metrics) = evaluated.metrics {
                    let of_table = output.item_collection_metrics.entry(table.name().to_owned());
                    of_table.or_default().push(metrics);
                }
            }
        }
        output.consumed_capacity = meters.report();
        Ok(output)
    }
}

/// Planned transaction of writes.
#[derive(Debug)]
pub struct TransactWrite<T> {
    operations: Vec<(T, Result<WritePlan, OperationError>)>,
    token: Option<(String, u128)>,
    capacity: ReturnConsumedCapacity,
    metrics: ReturnItemCollectionMetrics,
}

impl<T: TableRef> TransactWrite<T> {
    /// Plans a transaction; `find` looks up its tables.
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

    /// Returns the first error of a request, and refuses two operations on one item.
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

    /// Tables of the transaction, one per operation.
    pub fn tables(&self) -> impl Iterator<Item = &T> {
        self.operations.iter().map(|(table, _)| table)
    }

    /// Item collections whose sizes the request asks for, one per operation.
    pub fn reported_collections(&self) -> impl Iterator<Item = (&T, &RowKey)> {
        let plans = self.operations.iter();
        reporting_collections(
            self.metrics,
            plans.filter_map(|(table, plan)| Some((table, plan.as_ref().ok()?))),
        )
    }

    /// Validates the operations again, against the current definitions of their tables.
    pub fn replan(self, find: impl Fn(&str) -> Result<T>) -> Result<Self> {
        let replan = |(table, plan): (T, Result<WritePlan, OperationError>)| {
            let table = find(table.name())?;
            let plan = plan.and_then(|plan| plan.replan(table.schema()));
            Ok((table, plan))
        };
        let operations = self.operations.into_iter().map(replan).collect::<Result<_>>()?;
        Self { operations, ..self }.checked()
    }

    /// Number of operations.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there is no operation. A planned transaction has at least one.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Reads the present items if their expressions are too costly to evaluate in the writer;
    /// `None` if they are not. [`pre_evaluate`](Self::pre_evaluate) evaluates them outside of
    /// the writer.
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

    /// Evaluates the expressions on the items that were read. [`execute`](Self::execute) uses the
    /// result for each item that is still the same.
    ///
    /// # Errors
    /// The transaction is canceled. The error is its result, as of the time at which the items
    /// were read.
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

    /// Conflict error of a transaction whose items changed during each evaluation outside of
    /// the writer.
    pub fn conflict(&self) -> crate::Error {
        let reason = |(_, plan): &(T, Result<WritePlan, OperationError>)| match plan {
            Ok(plan) if plan.max_evaluation_cost() > 0 => CancellationReason::conflict(),
            _ => CancellationReason::none(),
        };
        crate::Error::transaction_canceled(self.operations.iter().map(reason).collect())
    }

    /// Reads the valid record of the request token; `None` if the transaction is new.
    fn known_token(
        &self,
        rows: &mut impl WriteRows<Table = T>,
        now: Timestamp,
    ) -> Result<Option<TokenRecord>> {
        let Some((token, _)) = &self.token else { return Ok(None) };
        Ok(rows.find_token(token)?.filter(|known| known.is_valid(now)))
    }

    /// Evaluates all operations, then applies all or none.
    ///
    /// # Errors
    /// [`crate::ErrorKind::TransactionCanceled`] with all reasons, or
    /// [`crate::ErrorKind::IdempotentParameterMismatch`] if the token was used with
    /// other operations.
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

        // Every operation is evaluated on the state before the transaction. All failures are
        // reported.
        let mut evaluated = Vec::with_capacity(self.operations.len());
        for (table, plan) in &mut self.operations {
            evaluated.push(match plan {
                Ok(plan) => evaluate_write(rows, table, plan, self.metrics)?,
                Err(fault) => Err(std::mem::replace(fault, OperationError::item(""))),
            });
        }
        let evaluated = transact::collect_outcomes(evaluated)?;

        let mut output = TransactWriteItemsOutput::default();
        let mut meters = CapacityMeters::new(self.capacity);
        let plans =
            self.operations.iter().filter_map(|(table, plan)| Some((table, plan.as_ref().ok()?)));
        for ((table, plan), evaluated) in plans.zip(evaluated) {
            if plan.is_check() {
                meters.of(table).check(evaluated.effect.old.as_ref());
                continue;
            }
            evaluated.apply_to(rows, table, plan)?;
            evaluated.count(meters.of(table), true);
            if let Some(metrics) = evaluated.metrics {
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

    /// Returns the output of a transaction that was executed before: it costs only the reads of
    /// its items.
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

/// Write that was evaluated on the present item and not yet applied.
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

/// Evaluates a write. The outer error is of the engine, the inner one of the write.
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

/// Whether the output of a write reports the size of its item collection.
fn reports_collection_size(
    metrics: ReturnItemCollectionMetrics,
    schema: &TableSchema,
    plan: &WritePlan,
) -> bool {
    metrics == ReturnItemCollectionMetrics::Size && schema.has_local_indexes() && !plan.is_check()
}

/// Item collections of the writes that report their sizes.
fn reporting_collections<'w, T: TableRef + 'w>(
    metrics: ReturnItemCollectionMetrics,
    writes: impl IntoIterator<Item = (&'w T, &'w WritePlan)>,
) -> impl Iterator<Item = (&'w T, &'w RowKey)> {
    let writes = writes.into_iter();
    let measured =
        writes.filter(move |(table, plan)| reports_collection_size(metrics, table.schema(), plan));
    measured.map(|(table, plan)| (table, plan.row_key()))
}

/// Bytes that a write adds to its item collection: the item and its entries in local indexes.
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
    async fn batch_detects_duplicates_across_name_and_arn_of_a_table() {
        let store = things().await;
        let before = item! { "pk" => "a", "kind" => "old" };
        store.put(PutItem::new("things", before.clone())).await.unwrap();
        // Two writes on one item, by name and by ARN of its table.
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
