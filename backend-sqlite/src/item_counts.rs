//! How many items a table or an index has, and how large they are by DynamoDB's count.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, OptionalExtension};
use tabla_core::Result;
use tabla_core::backend::schema::ItemCount;

use crate::error::from_sqlite;

/// Counts, or changes to them, by the number of a table or an index.
#[derive(Clone, Debug, Default)]
pub(crate) struct CountChanges {
    changes: BTreeMap<i64, CountDelta>,
    /// Numbers whose table or index is gone.
    dropped: Vec<i64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CountDelta {
    pub(crate) items: i64,
    pub(crate) bytes: i64,
}

/// Where the counts are kept.
#[derive(Debug)]
pub(crate) enum ItemCounts {
    /// In a table of the file, changed with the items.
    File,
    /// Beside the store that is in memory, too: a page less that every write has to change.
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

    /// Forgets a number, whose table or index is gone.
    pub(crate) fn forget(&mut self, number: i64) {
        self.changes.remove(&number);
        self.dropped.push(number);
    }

    /// The changes that change something.
    pub(crate) fn into_changes(self) -> impl Iterator<Item = (i64, CountDelta)> {
        self.changes.into_iter().filter(|(_, change)| *change != CountDelta::default())
    }
}

impl ItemCounts {
    pub(crate) fn new(is_file: bool) -> Self {
        if is_file { Self::File } else { Self::Memory(Mutex::default()) }
    }

    /// The counts of a number, with changes that are yet to be kept.
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

    /// Keeps the changes of a group that is committed; a file has them already.
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
