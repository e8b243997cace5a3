//! Writes, from the request to the answer.
//!
//! A write is planned against its table by whoever asks for it, and run where writes happen one
//! after another. A table may change in between: [`replan`](SingleWrite::replan) judges the
//! request again.

use super::reads::Meters;
use super::storage::{TableRef, Token, WriteRows};
use super::{Arm, Effect, Fault, Meter, WritePlan, batch, read_units, transact};
use crate::Item;
use crate::env::Timestamp;
use crate::error::Result;
use crate::ops::*;

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

    /// The same write on the table as it is now.
    pub fn replan(self, table: T) -> Result<Self> {
        let plan = self.plan.replan(table.schema())?;
        Ok(Self { table, plan, ..self })
    }

    /// Judges the write against the present item, carries it out, and answers.
    pub fn run(&self, rows: &mut impl WriteRows<Table = T>) -> Result<WriteOutput> {
        let Self { table, plan, .. } = self;
        let mut meter = Meter::default();
        let effect = judge(rows, table, plan)?;
        carry_out(rows, table, plan, &effect, false, &mut meter)?;
        Ok(WriteOutput {
            attributes: plan.attributes(&effect),
            consumed_capacity: meter.report(table.name(), table.schema(), self.capacity),
            item_collection_metrics: metrics(rows, table, plan, self.metrics)?,
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
        let found: Vec<T> =
            request.requests.keys().map(|name| find(name)).collect::<Result<_>>()?;
        let tables = found
            .into_iter()
            .zip(request.requests.values())
            .map(|(table, writes)| {
                let plans = batch::plan_writes(writes, table.schema())?;
                Ok((table, plans))
            })
            .collect::<Result<_>>()?;
        Ok(Self {
            tables,
            capacity: request.return_consumed_capacity,
            metrics: request.return_item_collection_metrics,
        })
    }

    /// The tables that are written to.
    pub fn tables(&self) -> impl Iterator<Item = &T> {
        self.tables.iter().map(|(table, _)| table)
    }

    /// The same writes on the tables as they are now.
    pub fn replan(self, find: impl Fn(&str) -> Result<T>) -> Result<Self> {
        let replan = |(table, plans): (T, Vec<WritePlan>)| {
            let table = find(table.name())?;
            let plans = plans.into_iter().map(|plan| plan.replan(table.schema()));
            let plans = plans.collect::<Result<_, Fault>>()?;
            Ok((table, plans))
        };
        let tables = self.tables.into_iter().map(replan).collect::<Result<_>>()?;
        Ok(Self { tables, ..self })
    }

    /// Carries the writes out, one after another.
    pub fn run(&self, rows: &mut impl WriteRows<Table = T>) -> Result<BatchWriteItemOutput> {
        let mut output = BatchWriteItemOutput::default();
        for (table, plans) in &self.tables {
            let mut meter = Meter::default();
            for plan in plans {
                let effect = judge(rows, table, plan)?;
                carry_out(rows, table, plan, &effect, false, &mut meter)?;
                if let Some(metrics) = metrics(rows, table, plan, self.metrics)? {
                    let of_table = output.item_collection_metrics.entry(table.name().to_owned());
                    of_table.or_default().push(metrics);
                }
            }
            let report = meter.report(table.name(), table.schema(), self.capacity);
            output.consumed_capacity.extend(report);
        }
        Ok(output)
    }
}

/// A transaction, planned.
#[derive(Debug)]
pub struct TransactWrite<T> {
    operations: Vec<(T, Result<WritePlan, Fault>)>,
    token: Option<(String, u128)>,
    capacity: ReturnConsumedCapacity,
    metrics: ReturnItemCollectionMetrics,
}

impl<T: TableRef> TransactWrite<T> {
    /// Plans a transaction; `find` finds its tables.
    pub fn new(request: &TransactWriteItems, find: impl Fn(&str) -> Result<T>) -> Result<Self> {
        transact::check_write(request)?;
        let tables: Vec<T> = request
            .items
            .iter()
            .map(|item| find(transact::table_of(item)))
            .collect::<Result<_>>()?;
        let fingerprint =
            request.client_request_token.as_ref().map(|_| transact::fingerprint(request));
        let plan = |(item, table): (&TransactWriteItem, T)| {
            let plan = transact::plan(item, table.schema());
            (table, plan)
        };
        let operations = request.items.iter().zip(tables).map(plan).collect();
        Self {
            operations,
            token: request.client_request_token.clone().zip(fingerprint),
            capacity: request.return_consumed_capacity,
            metrics: request.return_item_collection_metrics,
        }
        .checked()
    }

    /// Fails with the first operation that is wrong in itself, and if two are on one item.
    fn checked(mut self) -> Result<Self> {
        for (_, plan) in &mut self.operations {
            if let Err(Fault::Request(error)) = plan {
                return Err(std::mem::replace(error, crate::Error::validation(String::new())));
            }
        }
        let placed = self.operations.iter().filter_map(|(table, plan)| {
            plan.as_ref().ok().map(|plan| (table.name(), plan.position()))
        });
        transact::check_distinct(placed)?;
        Ok(self)
    }

    /// The tables that are written to, once for each operation.
    pub fn tables(&self) -> impl Iterator<Item = &T> {
        self.operations.iter().map(|(table, _)| table)
    }

    /// The same transaction on the tables as they are now.
    pub fn replan(self, find: impl Fn(&str) -> Result<T>) -> Result<Self> {
        let replan = |(table, plan): (T, Result<WritePlan, Fault>)| {
            let table = find(table.name())?;
            let plan = plan.and_then(|plan| plan.replan(table.schema()));
            Ok((table, plan))
        };
        let operations = self.operations.into_iter().map(replan).collect::<Result<_>>()?;
        Self { operations, ..self }.checked()
    }

    /// Carries the transaction out, or nothing of it.
    pub fn run(
        self,
        rows: &mut impl WriteRows<Table = T>,
        now: Timestamp,
    ) -> Result<TransactWriteItemsOutput> {
        let known = match &self.token {
            Some((token, _)) => rows.token(token)?.filter(|known| known.protects(now)),
            None => None,
        };
        if let (Some(known), Some((_, fingerprint))) = (known, &self.token) {
            if known.fingerprint != *fingerprint {
                return Err(transact::token_mismatch());
            }
            return self.replay(rows);
        }

        // Every operation is judged against the state before the transaction, and all that fail
        // are reported.
        let mut tables = Vec::with_capacity(self.operations.len());
        let mut judged: Vec<Result<(WritePlan, Effect), Fault>> = Vec::new();
        for (table, plan) in self.operations {
            judged.push(match plan {
                Ok(plan) => {
                    let old = rows.get(&table, plan.position())?;
                    plan.evaluate(table.schema(), old).map(|effect| (plan, effect))
                }
                Err(fault) => Err(fault),
            });
            tables.push(table);
        }
        let judged = transact::gather(judged)?;

        let mut output = TransactWriteItemsOutput::default();
        let mut meters = Meters::default();
        for (table, (plan, effect)) in tables.iter().zip(&judged) {
            if plan.is_check() {
                meters.of(table).check(effect.old.as_ref());
                continue;
            }
            carry_out(rows, table, plan, effect, true, meters.of(table))?;
            if let Some(metrics) = metrics(rows, table, plan, self.metrics)? {
                let of_table = output.item_collection_metrics.entry(table.name().to_owned());
                of_table.or_default().push(metrics);
            }
        }
        output.consumed_capacity = meters.report(self.capacity);
        if let Some((token, fingerprint)) = &self.token {
            rows.keep_token(token, Token { fingerprint: *fingerprint, completed_at: now })?;
        }
        Ok(output)
    }

    /// The answer to a transaction that was carried out before: it only costs the reading of its
    /// items.
    fn replay(self, rows: &mut impl WriteRows<Table = T>) -> Result<TransactWriteItemsOutput> {
        let (tables, plans): (Vec<T>, Vec<_>) = self.operations.into_iter().unzip();
        let plans: Vec<WritePlan> = transact::gather(plans)?;
        let mut meters = Meters::default();
        for (table, plan) in tables.iter().zip(&plans) {
            let item = rows.get(table, plan.position())?;
            let units = 2.0 * read_units(item.as_ref().map_or(0, Item::size), true);
            meters.of(table).read(Arm::Table, units);
        }
        Ok(TransactWriteItemsOutput {
            consumed_capacity: meters.report(self.capacity),
            ..TransactWriteItemsOutput::default()
        })
    }
}

fn judge<T: TableRef>(
    rows: &mut impl WriteRows<Table = T>,
    table: &T,
    plan: &WritePlan,
) -> Result<Effect> {
    let old = rows.get(table, plan.position())?;
    Ok(plan.evaluate(table.schema(), old)?)
}

fn carry_out<T: TableRef>(
    rows: &mut impl WriteRows<Table = T>,
    table: &T,
    plan: &WritePlan,
    effect: &Effect,
    transactional: bool,
    meter: &mut Meter,
) -> Result<()> {
    let changes = effect.index_changes(table.schema());
    rows.apply(table, plan.position(), effect, &changes)?;
    meter.write(effect.old.as_ref(), effect.new.as_ref(), &changes, transactional);
    Ok(())
}

/// The metrics of the item collection that a write touched, if they are wanted.
fn metrics<T: TableRef>(
    rows: &mut impl WriteRows<Table = T>,
    table: &T,
    plan: &WritePlan,
    wanted: ReturnItemCollectionMetrics,
) -> Result<Option<ItemCollectionMetrics>> {
    if wanted == ReturnItemCollectionMetrics::None || !table.schema().has_local_indexes() {
        return Ok(None);
    }
    let bytes = rows.collection_size(table, plan.position())?;
    Ok(plan.item_collection_metrics(table.schema(), bytes))
}
