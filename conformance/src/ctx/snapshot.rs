//! Contents of a table and its indexes, to prove later that nothing changed.

use std::future::Future;
use std::panic::Location;
use std::time::Duration;

use tabla_core::Item;
use tabla_core::env::{Clock, SystemClock};
use tabla_core::ops::Scan;

use super::expect::difference;
use super::{Ctx, fail};
use crate::table_spec::Table;

/// Time for which a lagging index must not change to count as settled.
const SETTLE: Duration = Duration::from_millis(100);

/// Contents of a table and of its indexes at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    table: Table,
    items: Vec<Item>,
    pub(super) indexes: Vec<(String, Vec<Item>)>,
}

impl Ctx {
    /// Reads the contents of a table and its indexes.
    #[track_caller]
    pub fn snapshot<'a>(&'a self, table: &'a Table) -> impl Future<Output = Snapshot> + Send + 'a {
        let at = Location::caller();
        async move { self.take_snapshot(at, table).await }
    }

    /// Asserts that the table and its indexes equal the snapshot: a failed write changed nothing.
    #[track_caller]
    pub fn expect_unchanged<'a>(
        &'a self,
        before: &'a Snapshot,
    ) -> impl Future<Output = ()> + Send + 'a {
        let at = Location::caller();
        async move {
            let table = &before.table;
            self.expect_table_at(at, table, &before.items).await;
            for (index, entries) in &before.indexes {
                if let Some(difference) = self.index_difference(at, table, index, entries).await {
                    fail(at, format_args!("the index {index} of {table} changed: {difference}"));
                }
            }
        }
    }

    async fn take_snapshot(&self, at: &Location<'_>, table: &Table) -> Snapshot {
        let scan = Scan::new(table).consistent_read(true);
        let items = self.scan_items_at(at, scan).await;
        let mut indexes = Vec::new();
        for index in &table.indexes {
            let mut entries = self.scan_items_at(at, Scan::new(table).index(index)).await;
            if self.capabilities().index_reads_lag {
                entries = self.settled(at, table, index, entries).await;
            }
            indexes.push((index.clone(), entries));
        }
        Snapshot { table: table.clone(), items, indexes }
    }

    /// Entries of a lagging index, once two consecutive reads agree.
    async fn settled(
        &self,
        at: &Location<'_>,
        table: &Table,
        index: &str,
        mut entries: Vec<Item>,
    ) -> Vec<Item> {
        loop {
            SystemClock.sleep(SETTLE).await;
            let again = self.scan_items_at(at, Scan::new(table).index(index)).await;
            if difference(&again, &entries).is_none() {
                return entries;
            }
            entries = again;
        }
    }
}
