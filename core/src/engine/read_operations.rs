//! Planned reads: of an item, a page, a batch or a transaction, from request to output.

use std::collections::BTreeMap;

use super::get_plan::BatchPlan;
use super::storage::{ReadRows, TableRef, Visit};
use super::{
    CapacityMeter, CapacityTarget, GatheredRows, GetPlan, ReadPlan, batch, read_units, transact,
};
use crate::Item;
use crate::error::Result;
use crate::limits;
use crate::ops::*;

/// Planned read of one item.
#[derive(Clone, Debug)]
pub struct SingleGet<T> {
    table: T,
    plan: GetPlan,
    consistent: bool,
    capacity: ReturnConsumedCapacity,
}

impl<T: TableRef> SingleGet<T> {
    /// Plans the read of an item of `table`.
    pub fn new(request: &GetItem, table: T) -> Result<Self> {
        let plan = GetPlan::new(request, table.schema())?;
        let (consistent, capacity) = (request.consistent_read, request.return_consumed_capacity);
        Ok(Self { table, plan, consistent, capacity })
    }

    /// Reads the item and applies the projection.
    pub fn execute(&self, rows: &mut impl ReadRows<Table = T>) -> Result<GetItemOutput> {
        let item = rows.get(&self.table, &self.plan.row_key)?;
        let mut meter = CapacityMeter::new(self.capacity);
        let size = item.as_ref().map_or(0, Item::size);
        meter.read(CapacityTarget::Table, read_units(size, self.consistent));
        Ok(GetItemOutput {
            item: item.map(|item| self.plan.project(item)),
            consumed_capacity: meter.report(self.table.name(), self.table.schema()),
        })
    }
}

/// Planned page of a query or a scan.
#[derive(Clone, Debug)]
pub struct PageRead<T> {
    table: T,
    plan: ReadPlan,
    capacity: ReturnConsumedCapacity,
}

impl<T: TableRef> PageRead<T> {
    /// Plans a page of a query.
    pub fn query(request: &Query, table: T) -> Result<Self> {
        let plan = ReadPlan::query(request, table.table())?;
        Ok(Self { table, plan, capacity: request.return_consumed_capacity })
    }

    /// Plans a page of a scan.
    pub fn scan(request: &Scan, table: T) -> Result<Self> {
        let plan = ReadPlan::scan(request, table.table())?;
        Ok(Self { table, plan, capacity: request.return_consumed_capacity })
    }

    /// Reads the rows of the page. [`finish`](Self::finish) computes the page from them.
    pub fn gather(&self, rows: &mut impl ReadRows<Table = T>) -> Result<GatheredRows> {
        let gathered = self.gather_within(rows, usize::MAX)?;
        Ok(gathered.expect("no page has that many rows"))
    }

    /// Reads the rows of the page; `None` if it has more than `row_limit` rows.
    pub fn gather_within(
        &self,
        rows: &mut impl ReadRows<Table = T>,
        row_limit: usize,
    ) -> Result<Option<GatheredRows>> {
        let mut gathered = GatheredRows::default();
        let mut taken = 0;
        if !self.plan.is_empty() {
            gathered.more = rows.visit(&self.table, &self.plan, &mut |row, fetched| {
                if gathered.is_full(&self.plan) || taken == row_limit {
                    return Visit::StopBefore;
                }
                gathered.push(&self.plan, row, fetched);
                taken += 1;
                if gathered.is_at_limit(&self.plan) { Visit::StopAfter } else { Visit::Continue }
            })?;
        }
        let is_cut = taken == row_limit && gathered.more && !gathered.is_full(&self.plan);
        Ok((!is_cut).then_some(gathered))
    }

    /// Filters and projects the rows. The engine holds no lock and no snapshot meanwhile.
    pub fn finish(&self, gathered: GatheredRows) -> Page {
        let table = (self.table.name(), self.table.schema());
        gathered.finish(&self.plan, table, self.capacity)
    }

    /// Whether the request has a filter, so that finishing may take longer than reading.
    pub fn has_filter(&self) -> bool {
        self.plan.filter.is_some()
    }
}

/// Planned batch of reads.
#[derive(Clone, Debug)]
pub struct BatchGet<'r, T> {
    tables: Vec<BatchOfTable<'r, T>>,
    capacity: ReturnConsumedCapacity,
}

#[derive(Clone, Debug)]
struct BatchOfTable<'r, T> {
    /// Table as the request names it: a name or an ARN.
    called: &'r str,
    table: T,
    reads: &'r KeysAndAttributes,
    plan: BatchPlan,
}

impl<'r, T: TableRef> BatchGet<'r, T> {
    /// Plans a batch; `find` looks up its tables.
    pub fn new(request: &'r BatchGetItem, find: impl Fn(&str) -> Result<T>) -> Result<Self> {
        batch::check_get(request)?;
        // DynamoDB refuses duplicate keys before it looks up a table. If all tables exist, it is
        // cheaper to compare row keys, which `plan` does.
        let planned = Self::plan(request, find);
        if planned.is_err() {
            batch::check_distinct_keys(request)?;
        }
        planned
    }

    fn plan(request: &'r BatchGetItem, find: impl Fn(&str) -> Result<T>) -> Result<Self> {
        let BatchGetItem { requests, return_consumed_capacity: capacity } = request;
        let found: Vec<T> = requests.keys().map(|name| find(name)).collect::<Result<_>>()?;
        let tables = requests.iter().zip(found).map(|((called, reads), table)| {
            let plan = BatchPlan::new(reads, table.schema())?;
            Ok(BatchOfTable { called, table, reads, plan })
        });
        let tables: Vec<BatchOfTable<'_, T>> = tables.collect::<Result<_>>()?;
        // A table that is named by its name and by its ARN has two entries.
        let names = tables.iter().map(|entry| entry.table.name());
        if batch::check_distinct(names).is_err() {
            let placed = tables.iter().flat_map(|entry| {
                entry.plan.positions.iter().map(|position| (entry.table.name(), position))
            });
            batch::check_distinct(placed)?;
        }
        Ok(Self { tables, capacity: *capacity })
    }

    /// Reads the items, up to 16 MB; further keys are returned as unprocessed.
    pub fn execute(&self, rows: &mut impl ReadRows<Table = T>) -> Result<BatchGetItemOutput> {
        let mut output = BatchGetItemOutput::default();
        let mut bytes = 0;
        let mut meters = CapacityMeters::new(self.capacity);
        for BatchOfTable { called, table, reads, plan } in &self.tables {
            let meter = meters.of(table);
            let mut found = Vec::with_capacity(reads.keys.len());
            let mut left = Vec::new();
            for (key, position) in reads.keys.iter().zip(&plan.positions) {
                let item = rows.get(table, position)?;
                let size = item.as_ref().map_or(0, Item::size);
                if bytes + size > limits::BATCH_GET_SIZE {
                    left.push(key.clone());
                    continue;
                }
                bytes += size;
                meter.read(CapacityTarget::Table, read_units(size, reads.consistent_read));
                found.extend(item.map(|item| plan.project(item)));
            }
            output.responses.entry(table.name().to_owned()).or_default().extend(found);
            if !left.is_empty() {
                let left = KeysAndAttributes {
                    keys: left,
                    projection: reads.projection.clone(),
                    names: reads.names.clone(),
                    consistent_read: reads.consistent_read,
                };
                // Named as in the request, so that it can be sent again.
                output.unprocessed_keys.insert((*called).to_owned(), left);
            }
        }
        output.consumed_capacity = meters.report();
        Ok(output)
    }
}

/// Reads a batch until no key is unprocessed. One call of `read` returns at most 16 MB of items.
///
/// Embedded stores call it if retries are on. Each call of `read` reads at least one key, so no
/// back-off is needed.
pub fn read_batch_to_end(
    mut request: BatchGetItem,
    read: impl Fn(&BatchGetItem) -> Result<BatchGetItemOutput>,
) -> Result<BatchGetItemOutput> {
    let mut output = read(&request)?;
    while !output.unprocessed_keys.is_empty() {
        request.requests = std::mem::take(&mut output.unprocessed_keys);
        output.merge(read(&request)?);
    }
    Ok(output)
}

/// Planned transactional read.
#[derive(Clone, Debug)]
pub struct TransactGet<T> {
    items: Vec<(T, GetPlan)>,
    capacity: ReturnConsumedCapacity,
}

impl<T: TableRef> TransactGet<T> {
    /// Plans a transactional read; `find` looks up its tables.
    pub fn new(request: &TransactGetItems, find: impl Fn(&str) -> Result<T>) -> Result<Self> {
        transact::check_get(request)?;
        let TransactGetItems { items, return_consumed_capacity: capacity } = request;
        let tables: Vec<T> = items.iter().map(|get| find(&get.table)).collect::<Result<_>>()?;
        let plans = items
            .iter()
            .zip(&tables)
            .map(|(get, table)| GetPlan::new(get, table.schema()))
            .collect();
        let plans: Vec<GetPlan> = transact::collect_outcomes(plans)?;
        let names = tables.iter().map(TableRef::name);
        transact::check_distinct(names.zip(plans.iter().map(|plan| &plan.row_key)))?;
        let items = tables.into_iter().zip(plans).collect();
        Ok(Self { items, capacity: *capacity })
    }

    /// Reads the items; `rows` is a snapshot.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] if the items have more than 4 MB.
    pub fn execute(&self, rows: &mut impl ReadRows<Table = T>) -> Result<TransactGetItemsOutput> {
        let mut meters = CapacityMeters::new(self.capacity);
        let mut found = Vec::with_capacity(self.items.len());
        for (table, plan) in &self.items {
            let item = rows.get(table, &plan.row_key)?;
            let size = item.as_ref().map_or(0, Item::size);
            meters.of(table).read(CapacityTarget::Table, 2.0 * read_units(size, true));
            found.push(item);
        }
        transact::check_response_size(found.iter().flatten())?;
        Ok(TransactGetItemsOutput {
            responses: found
                .into_iter()
                .zip(&self.items)
                .map(|(item, (_, plan))| item.map(|item| plan.project(item)))
                .collect(),
            consumed_capacity: meters.report_transaction(),
        })
    }
}

/// Capacity meters of several tables, in the order of their names.
pub(super) struct CapacityMeters<'a, T> {
    wanted: ReturnConsumedCapacity,
    tables: BTreeMap<&'a str, (&'a T, CapacityMeter)>,
}

impl<'a, T: TableRef> CapacityMeters<'a, T> {
    pub(super) fn new(wanted: ReturnConsumedCapacity) -> Self {
        Self { wanted, tables: BTreeMap::new() }
    }

    pub(super) fn of(&mut self, table: &'a T) -> &mut CapacityMeter {
        let meter = || (table, CapacityMeter::new(self.wanted));
        &mut self.tables.entry(table.name()).or_insert_with(meter).1
    }

    pub(super) fn report(&self) -> Vec<ConsumedCapacity> {
        let reports = self.tables.values();
        reports.filter_map(|(table, meter)| meter.report(table.name(), table.schema())).collect()
    }

    pub(super) fn report_transaction(&self) -> Vec<ConsumedCapacity> {
        self.tables
            .values()
            .filter_map(|(table, meter)| meter.report_transaction(table.name(), table.schema()))
            .collect()
    }
}
