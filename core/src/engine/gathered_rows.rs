//! Rows of a page, in two phases: the engine gathers them, then they are filtered and projected.
//!
//! The limits of a page (the request's, 1 MB) count rows before the filter. So an engine holds its
//! snapshot or lock only in the first phase, however long the filter takes.

use super::capacity::{CapacityMeter, CapacityTarget, read_units};
use super::row_key::resume_key;
use super::{ReadPlan, ReadSource};
use crate::Item;
use crate::limits;
use crate::ops::{Page, ReturnConsumedCapacity};
use crate::schema::TableSchema;

/// Rows of a page before filter and projection.
#[derive(Debug, Default)]
pub struct GatheredRows {
    /// Rows; empty if the request counts them and has no filter.
    items: Vec<Item>,
    count: usize,
    bytes: usize,
    fetched_units: f64,
    /// Last row of the page, after which the next page begins.
    last: Option<Item>,
    /// Whether rows of the range are left for the next page.
    pub(super) more: bool,
}

impl GatheredRows {
    /// Whether the page is at the request's limit or at 1 MB, counted before filter and projection
    /// (API reference, Query and Scan).
    pub(super) fn is_full(&self, plan: &ReadPlan) -> bool {
        self.is_at_limit(plan) || self.bytes >= limits::PAGE_SIZE
    }

    /// Whether the page is at the request's limit, so that no further row need be read.
    pub(super) fn is_at_limit(&self, plan: &ReadPlan) -> bool {
        plan.limit.is_some_and(|limit| self.count >= limit)
    }

    /// Size of the rows in bytes, as the 1 MB limit counts it.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a row, with the item of the table if the plan fetches it.
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

    /// Filters and projects the rows into a page.
    pub(super) fn finish(
        mut self,
        plan: &ReadPlan,
        (table, schema): (&str, &TableSchema),
        wanted: ReturnConsumedCapacity,
    ) -> Page {
        let mut page = Page { scanned_count: self.count, count: self.count, ..Page::default() };
        // A page at its limit reads no further row. So it has a start key even if it is the last.
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
