//! Filling a page row by row.

use super::capacity::{Arm, Meter, read_units};
use super::position::resume_key;
use super::{ReadPlan, Source};
use crate::Item;
use crate::limits;
use crate::ops::{Page, ReturnConsumedCapacity};
use crate::schema::TableSchema;

/// Fills a page with the rows that an engine reads, in order.
///
/// ```text
/// for row in rows {
///     if page.is_full() { return page.finish(true) }
///     page.push(row, …)
/// }
/// page.finish(false)
/// ```
#[derive(Debug)]
pub struct PageBuilder<'a> {
    plan: &'a ReadPlan,
    schema: &'a TableSchema,
    page: Page,
    bytes: usize,
    fetched_units: f64,
    /// The last row that was taken: the page goes on after it.
    last: Option<Item>,
}

impl<'a> PageBuilder<'a> {
    /// An empty page.
    pub fn new(plan: &'a ReadPlan, schema: &'a TableSchema) -> Self {
        Self { plan, schema, page: Page::default(), bytes: 0, fetched_units: 0.0, last: None }
    }

    /// Whether the page takes no more: by the request's limit, or because it has 1 MB, counted
    /// before filter and projection (API reference, Query and Scan).
    pub fn is_full(&self) -> bool {
        self.is_at_limit() || self.bytes >= limits::PAGE_SIZE
    }

    /// Whether the page has as many rows as the request wants: no further row need be looked at.
    pub fn is_at_limit(&self) -> bool {
        self.plan.limit.is_some_and(|limit| self.page.scanned_count >= limit)
    }

    /// Takes a row, with the item of the table if the plan says to fetch it.
    pub fn push(&mut self, row: Item, fetched: Option<Item>) {
        self.page.scanned_count += 1;
        self.bytes += row.size();
        let item = match fetched {
            Some(item) => {
                self.fetched_units += read_units(item.size(), self.plan.consistent);
                item
            }
            None => row.clone(),
        };
        self.last = Some(row);
        if self.plan.filter.as_ref().is_some_and(|filter| !filter.evaluate(&item)) {
            return;
        }
        self.page.count += 1;
        if !self.plan.count_only {
            self.page.items.push(match &self.plan.projection {
                Some(projection) => projection.project(&item),
                None => item,
            });
        }
    }

    /// The page. `more` says whether there are rows that it did not take.
    pub fn finish(mut self, more: bool, table: &str, wanted: ReturnConsumedCapacity) -> Page {
        // A page that stops at its limit does not look further, so it may be the last.
        if more || self.is_at_limit() {
            let index = self.plan.index(self.schema);
            self.page.last_evaluated_key =
                self.last.map(|row| resume_key(self.schema, index, &row));
        }
        let mut meter = Meter::new(wanted);
        let units = read_units(self.bytes, self.plan.consistent);
        match self.plan.source {
            Source::Table => meter.read(Arm::Table, units),
            Source::Index(number) => {
                meter.read(Arm::Index(number), units);
                meter.read(Arm::Table, self.fetched_units);
            }
        }
        self.page.consumed_capacity = meter.report(table, self.schema);
        self.page
    }
}
