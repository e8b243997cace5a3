//! Item counts: number of items of each table and index, and their sizes by DynamoDB's rules.
//!
//! Sizes of item collections are in `collections`.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OptionalExtension};
use tabla_core::Result;
use tabla_core::backend::schema::ItemCount;

use crate::error::from_sqlite;

/// Item counts, or changes to them, by the number of the table or index.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountChanges {
    changes: BTreeMap<i64, CountDelta>,
    /// Numbers of deleted tables and indexes.
    dropped: Vec<i64>,
}

/// Count of one table or index, or a change to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CountDelta {
    pub(crate) items: i64,
    pub(crate) bytes: i64,
}

/// Storage of the committed item counts.
#[derive(Debug)]
pub(crate) enum ItemCounts {
    /// The table `tabla_counts` of the file, which a write group changes in its transaction.
    File,
    /// Memory beside SQLite, for a store in memory: so a write changes one page less.
    Memory(Mutex<CountChanges>),
}

impl CountChanges {
    pub(crate) fn add(&mut self, number: i64, items: i64, bytes: i64) {
        let count = self.changes.entry(number).or_default();
        count.items += items;
        count.bytes += bytes;
    }

    fn get(&self, number: i64) -> CountDelta {
        self.changes.get(&number).copied().unwrap_or_default()
    }

    /// Removes the number of a deleted table or index.
    pub(crate) fn forget(&mut self, number: i64) {
        self.changes.remove(&number);
        self.dropped.push(number);
    }

    /// Returns the changes that are not zero.
    pub(crate) fn into_changes(self) -> impl Iterator<Item = (i64, CountDelta)> {
        self.changes.into_iter().filter(|(_, change)| *change != CountDelta::default())
    }
}

impl ItemCounts {
    pub(crate) fn new(is_file: bool) -> Self {
        if is_file { Self::File } else { Self::Memory(Mutex::default()) }
    }

    /// Returns the count of a table or index, including `changes` that are not committed yet.
    pub(crate) fn count(
        &self,
        connection: &Connection,
        number: i64,
        changes: &CountChanges,
    ) -> Result<ItemCount> {
        let kept = match self {
            Self::File => stored(connection, number)?,
            Self::Memory(counts) => lock(counts).get(number),
        };
        let change = changes.get(number);
        Ok(ItemCount {
            items: (kept.items + change.items) as u64,
            bytes: (kept.bytes + change.bytes) as u64,
        })
    }

    /// Applies the changes of a committed group. A file has them already.
    pub(crate) fn commit(&self, changes: CountChanges) {
        if let Self::Memory(counts) = self {
            let mut counts = lock(counts);
            for number in &changes.dropped {
                counts.changes.remove(number);
            }
            for (number, CountDelta { items, bytes }) in changes.into_changes() {
                counts.add(number, items, bytes);
            }
        }
    }
}

fn lock(counts: &Mutex<CountChanges>) -> MutexGuard<'_, CountChanges> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

fn stored(connection: &Connection, number: i64) -> Result<CountDelta> {
    let select = "SELECT items, bytes FROM tabla_counts WHERE number = ?1";
    let found = connection
        .prepare_cached(select)
        .and_then(|mut select| {
            let read =
                |row: &rusqlite::Row<'_>| Ok(CountDelta { items: row.get(0)?, bytes: row.get(1)? });
            select.query_row([number], read).optional()
        })
        .map_err(from_sqlite)?;
    Ok(found.unwrap_or_default())
}
