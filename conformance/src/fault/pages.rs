//! Faults of pages of a query or scan.

use tabla_core::ops::Page;
use tabla_core::{Condition, Item, Store, ValueRef};

use super::lookup::part_of;
use super::{Fault, FaultStore};

impl<S: Store> FaultStore<S> {
    /// Applies the fault to a page that begins after `start`, and the filter if the fault
    /// evaluates it.
    pub(super) async fn spoil_page(
        &self,
        table: &str,
        index: Option<&str>,
        key_condition: Option<&Condition>,
        filter: Option<&Condition>,
        start: Option<&Item>,
        page: &mut Page,
    ) {
        if let (Some(fault), Some(filter)) = (self.condition_fault(), filter)
            && page.count == page.items.len()
        {
            page.items.retain(|item| fault.passes(filter, item));
            page.count = page.items.len();
        }
        if let Some(index) = index {
            self.spoil_entries(table, index, key_condition, page).await;
        }
        if let Some(start) = start {
            self.spoil_beginning(table, index, start, page).await;
        }
        if self.has(Fault::NumbersSortAsText)
            && let Some(sort) = self.sort_key(table, index).await
        {
            sort_as_text(&sort, &mut page.items);
        }
        if self.has(Fault::CountBeforeFilter) {
            page.count = page.scanned_count;
        }
        if self.has(Fault::LastKeyDropped) {
            page.last_evaluated_key = None;
        }
    }

    async fn spoil_beginning(
        &self,
        table: &str,
        index: Option<&str>,
        start: &Item,
        page: &mut Page,
    ) {
        if self.has(Fault::TiesLost) && index.is_some() {
            let key = self.key_schema(table, index).await;
            page.items.retain(|item| part_of(item, &key) != part_of(start, &key));
            page.count = page.items.len();
        }
        if self.has(Fault::CursorItemRepeated) {
            let key = self.key_of(table, start).await;
            if let Some(item) = self.current(table, &key).await {
                page.items.insert(0, item);
                page.count += 1;
            }
        }
    }
}

/// Sorts items by the text of their sort keys, if all of these are numbers.
fn sort_as_text(sort: &str, items: &mut [Item]) {
    let text = |item: &Item| match item.get(sort) {
        Some(ValueRef::N(number)) => Some(number.to_string()),
        _ => None,
    };
    if items.iter().all(|item| text(item).is_some()) {
        items.sort_by_key(|item| text(item));
    }
}
