//! A page of a query or a scan, in two phases: rows are gathered, then filtered and projected.
//!
//! What ends a page (the request's limit, 1 MB) is counted before the filter. So an engine needs to
//! hold its snapshot or its lock only while rows are gathered, however long the filter takes.

use super::capacity::{CapacityMeter, CapacityTarget, read_units};
use super::row_key::resume_key;
use super::{ReadPlan, ReadSource};
use crate::Item;
use crate::limits;
use crate::ops::{Page, ReturnConsumedCapacity};
use crate::schema::TableSchema;

/// Rows of a page as an engine has read them, before filter and projection.
#[derive(Debug, Default)]
pub struct GatheredRows {
    /// Empty if only their number is wanted and no filter looks at them.
    items: Vec<Item>,
    count: usize,
    bytes: usize,
    fetched_units: f64,
    /// The last row that was taken: the page goes on after it.
    last: Option<Item>,
    /// Whether there are rows that were not taken.
    pub(super) more: bool,
}

impl GatheredRows {
    /// Whether the page takes no more: by the request's limit, or because it has 1 MB, counted
    /// before filter and projection (API reference, Query and Scan).
    pub(super) fn is_full(&self, plan: &ReadPlan) -> bool {
        self.is_at_limit(plan) || self.bytes >= limits::PAGE_SIZE
    }

    /// Whether the page has as many rows as the request wants: no further row need be looked at.
    pub(super) fn is_at_limit(&self, plan: &ReadPlan) -> bool {
        plan.limit.is_some_and(|limit| self.count >= limit)
    }

    /// Size of the rows in bytes, as a page counts them.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes a row, with the item of the table if the plan says to fetch it.
    pub(super) fn push(&mut self, plan: &ReadPlan, row: Item, fetched: Option<Item>) {
        self.count += 1;
        self.bytes += row.size();
        let item = match fetched {
            Some(item) => {
                self.fetched_units += read_units(item.size(), plan.consistent);
                item
            }
            None => row.clone(),
        };
        self.last = Some(row);
        if plan.filter.is_some() || !plan.count_only {
            self.items.push(item);
        }
    }

    /// Filters and projects the rows.
    pub(super) fn finish(
        mut self,
        plan: &ReadPlan,
        (table, schema): (&str, &TableSchema),
        wanted: ReturnConsumedCapacity,
    ) -> Page {
        let mut page = Page { scanned_count: self.count, count: self.count, ..Page::default() };
        // A page that stops at its limit does not look further, so it may be the last.
        if self.more || self.is_at_limit(plan) {
            let index = plan.index(schema);
            page.last_evaluated_key = self.last.map(|row| resume_key(schema, index, &row));
        }
        if let Some(filter) = &plan.filter {
            self.items.retain(|item| filter.evaluate(item));
            page.count = self.items.len();
        }
        if !plan.count_only {
            if let Some(projection) = &plan.projection {
                for item in &mut self.items {
                    *item = projection.project(&*item);
                }
            }
            page.items = self.items;
        }
        let mut meter = CapacityMeter::new(wanted);
        let units = read_units(self.bytes, plan.consistent);
        match plan.source {
            ReadSource::Table => meter.read(CapacityTarget::Table, units),
            ReadSource::Index(number) => {
                meter.read(CapacityTarget::Index(number), units);
                meter.read(CapacityTarget::Table, self.fetched_units);
            }
        }
        page.consumed_capacity = meter.report(table, schema);
        page
    }
}
