//! Faults of index entries: extra entries and missing ones.

use tabla_core::ops::{IndexUpdate, KeyRole, Page, UpdateTable};
use tabla_core::{Condition, Item, Store};

use super::lookup::part_of;
use super::{Fault, FaultStore};

impl<S: Store> FaultStore<S> {
    /// Records the item as it was before a write, if the fault keeps its old entries.
    pub(super) async fn remember_moved(&self, table: &str, old: Option<Item>) {
        let Some(old) = old.filter(|_| self.has(Fault::MovedEntryStays)) else { return };
        let key = self.key_of(table, &old).await;
        if self.current(table, &key).await.as_ref() != Some(&old) {
            self.memory().stale.push((table.to_owned(), old));
        }
    }

    /// Records the keys that a new index does not show.
    pub(super) async fn remember_hidden(&self, request: &UpdateTable) {
        if !self.has(Fault::NoBackfill) {
            return;
        }
        for update in &request.index_updates {
            let IndexUpdate::Create(index) = update else { continue };
            for item in self.all(&request.table).await {
                let key = self.key_of(&request.table, &item).await;
                self.memory().hidden.push((request.table.clone(), index.name.clone(), key));
            }
        }
    }

    /// Adds entries to a page of an index, or removes some.
    pub(super) async fn spoil_entries(
        &self,
        table: &str,
        index: &str,
        key_condition: Option<&Condition>,
        page: &mut Page,
    ) {
        let table_key = self.key_schema(table, None).await;
        let index_key = self.key_schema(table, Some(index)).await;
        let wanted = |item: &Item| key_condition.is_none_or(|condition| condition.evaluate(item));
        let has_all = |item: &Item| index_key.iter().all(|element| item.contains(&element.name));
        let mut more = Vec::new();
        if self.has(Fault::DeletedEntryStays) || self.has(Fault::MovedEntryStays) {
            let memory = self.memory();
            let stale = memory.stale.iter().filter(|(of, _)| of == table);
            more.extend(stale.map(|(_, item)| item.clone()).filter(|item| has_all(item)));
        }
        if self.has(Fault::IndexNotSparse) {
            let partitions = index_key.iter().filter(|it| it.role == KeyRole::Partition);
            let partitions: Vec<&str> = partitions.map(|it| it.name.as_str()).collect();
            let all = self.all(table).await;
            more.extend(all.into_iter().filter(|item| {
                !has_all(item) && partitions.iter().all(|name| item.contains(name))
            }));
        }
        if page.last_evaluated_key.is_none() {
            more.retain(|item| wanted(item));
            page.count += more.len();
            page.items.extend(more);
        }
        if self.has(Fault::IndexCarriesAll) {
            for item in &mut page.items {
                let key = part_of(item, &table_key);
                if let Some(whole) = self.current(table, &key).await {
                    *item = whole;
                }
            }
        }
        if self.has(Fault::NoBackfill) {
            let memory = self.memory();
            let is_hidden = |item: &Item| {
                let key = part_of(item, &table_key);
                memory
                    .hidden
                    .iter()
                    .any(|hidden| (&*hidden.0, &*hidden.1, &hidden.2) == (table, index, &key))
            };
            page.items.retain(|item| !is_hidden(item));
            page.count = page.items.len();
        }
    }
}
