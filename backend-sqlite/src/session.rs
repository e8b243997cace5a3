//! The writes of one group, inside its transaction.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Params, params};
use tabla::engine::{
    Effect, Flow, IndexChange, IndexEntry, Position, ReadPlan, Rows, TableRef, Token, WriteRows,
    change, transact,
};
use tabla::env::{Env, Timestamp};
use tabla::ops::UserIdentity;
use tabla::schema::IndexKind;
use tabla::{Applied, Error, ErrorKind, Item, Result};

use crate::catalogue::{Catalogue, StoredIndex, StoredTable};
use crate::error::{again, damaged, from_sqlite};
use crate::rows::{Reading, find, key_of, sum_of};

/// What a transaction has open while it writes.
///
/// Once SQLite itself has failed, nothing of the group may be kept: [`Session::has_failed`].
pub(crate) struct Session<'c> {
    pub(crate) connection: &'c Connection,
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) env: &'c Env,
    /// Who makes the changes, if no caller does.
    pub(crate) by: Option<UserIdentity>,
    is_catalogue_changed: bool,
    failure: Option<Error>,
    /// Changes to the number of items and bytes, by the number of a table or an index.
    counts: BTreeMap<i64, (i64, i64)>,
    /// The last row of the items of a table, by the table's number.
    last_rows: BTreeMap<i64, i64>,
    last_record: Option<i64>,
    /// The rows that the current operation has looked for: table, key, and the row's id.
    seen: Vec<(i64, Vec<u8>, Option<i64>)>,
}

impl<'c> Session<'c> {
    pub(crate) fn new(connection: &'c Connection, catalogue: Arc<Catalogue>, env: &'c Env) -> Self {
        Self {
            connection,
            catalogue,
            env,
            by: None,
            is_catalogue_changed: false,
            failure: None,
            counts: BTreeMap::new(),
            last_rows: BTreeMap::new(),
            last_record: None,
            seen: Vec::new(),
        }
    }

    /// Whether SQLite has failed, or ended the transaction by itself as it does on a full disk, so
    /// that the group cannot be kept.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some() || self.connection.is_autocommit()
    }

    /// Why the group cannot be kept.
    pub(crate) fn failure(&mut self) -> Error {
        self.failure.take().unwrap_or_else(|| {
            Error::new(ErrorKind::Unavailable, "SQLite has ended the transaction by itself")
        })
    }

    /// Has the group fail.
    pub(crate) fn fail(&mut self, error: Error) {
        self.failure.get_or_insert(error);
    }

    /// Whether the catalogue is another than before.
    pub(crate) fn is_catalogue_changed(&self) -> bool {
        self.is_catalogue_changed
    }

    /// The catalogue, to be changed.
    pub(crate) fn catalogue_mut(&mut self) -> &mut Catalogue {
        self.is_catalogue_changed = true;
        Arc::make_mut(&mut self.catalogue)
    }

    /// Forgets what the operation before has seen.
    pub(crate) fn next_operation(&mut self) {
        self.seen.clear();
        self.by = None;
    }

    /// Notes a failure of SQLite.
    pub(crate) fn sql<T>(&mut self, outcome: rusqlite::Result<T>) -> Result<T> {
        outcome.map_err(|error| {
            let error = from_sqlite(error);
            self.fail(again(&error, Applied::No));
            error
        })
    }

    /// Runs a statement that returns nothing; how many rows it changed.
    pub(crate) fn execute(&mut self, sql: &str, values: impl Params) -> Result<usize> {
        let outcome =
            self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute(values));
        self.sql(outcome)
    }

    /// Runs statements that change the shape of the file.
    pub(crate) fn execute_batch(&mut self, sql: &str) -> Result<()> {
        let outcome = self.connection.execute_batch(sql);
        self.sql(outcome)
    }

    /// Does all of this or, if it fails, none of it. For operations that write several items, of
    /// which a later one may turn out to be damaged.
    pub(crate) fn whole<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.execute("SAVEPOINT whole", [])?;
        let (counts, last_record) = (self.counts.clone(), self.last_record);
        let outcome = work(self);
        if outcome.is_err() && !self.has_failed() {
            self.execute("ROLLBACK TO whole", [])?;
            (self.counts, self.last_record) = (counts, last_record);
            self.last_rows.clear();
        }
        if !self.has_failed() {
            self.execute("RELEASE whole", [])?;
        }
        outcome
    }

    /// Writes down what was only noted so far: to be called before the commit.
    pub(crate) fn finish(&mut self) -> Result<()> {
        for (number, (items, bytes)) in std::mem::take(&mut self.counts) {
            if (items, bytes) != (0, 0) {
                self.execute(
                    "UPDATE tabla_counts SET items = items + ?2, bytes = bytes + ?3 \
                     WHERE number = ?1",
                    params![number, items, bytes],
                )?;
            }
        }
        if let Some(number) = self.last_record {
            self.execute("UPDATE tabla_state SET last_record = ?1", [number])?;
        }
        if self.is_catalogue_changed {
            self.execute("UPDATE tabla_state SET catalogue = catalogue + 1", [])?;
            let version = Catalogue::stored_version(self.connection)?;
            self.catalogue_mut().version = version;
        }
        Ok(())
    }

    /// The next number for a table, an index or a stream.
    pub(crate) fn next_number(&mut self) -> Result<i64> {
        self.execute("UPDATE tabla_state SET last_number = last_number + 1", [])?;
        let select = "SELECT last_number FROM tabla_state";
        let outcome = self.connection.query_row(select, [], |row| row.get(0));
        self.sql(outcome)
    }

    /// The last sequence number that was given out.
    pub(crate) fn last_record(&mut self) -> Result<i64> {
        if let Some(number) = self.last_record {
            return Ok(number);
        }
        let select = "SELECT last_record FROM tabla_state";
        let outcome = self.connection.query_row(select, [], |row| row.get(0));
        self.sql(outcome)
    }

    pub(crate) fn next_record(&mut self) -> Result<i64> {
        let number = self.last_record()? + 1;
        self.last_record = Some(number);
        Ok(number)
    }

    pub(crate) fn count(&mut self, number: i64, items: i64, bytes: i64) {
        let count = self.counts.entry(number).or_default();
        count.0 += items;
        count.1 += bytes;
    }

    fn next_row(&mut self, table: &StoredTable) -> Result<i64> {
        let last = match self.last_rows.get(&table.number) {
            Some(last) => *last,
            None => {
                let select = format!("SELECT max(id) FROM items_{}", table.number);
                let outcome = self.connection.prepare_cached(&select).and_then(|mut select| {
                    select.query_row([], |row| row.get::<_, Option<i64>>(0))
                });
                self.sql(outcome)?.unwrap_or(0)
            }
        };
        self.last_rows.insert(table.number, last + 1);
        Ok(last + 1)
    }

    /// The row that the operation has found at this key.
    fn seen(&self, table: &StoredTable, key: &[u8]) -> Option<i64> {
        let is_it = |seen: &&(i64, Vec<u8>, Option<i64>)| seen.0 == table.number && seen.1 == key;
        self.seen.iter().rev().find(is_it).and_then(|(_, _, id)| *id)
    }

    /// Puts the item in the place of the one before; the row that it is in.
    fn write_item(
        &mut self,
        table: &StoredTable,
        position: &Position,
        effect: &Effect,
    ) -> Result<i64> {
        let size = |item: &Item| item.size() as i64;
        let key = key_of(position);
        let present = self.seen(table, &key);
        match (&effect.old, &effect.new) {
            (None, Some(new)) => {
                let id = self.next_row(table)?;
                let bytes = new.encode();
                let sum = sum_of(id, &bytes);
                self.execute(&table.sql.insert_item, params![id, sum, &bytes[..]])?;
                self.execute(&table.sql.insert_key, params![key, id])?;
                self.count(table.number, 1, size(new));
                Ok(id)
            }
            (Some(old), Some(new)) => {
                let id = present.ok_or_else(|| damaged("an item has lost its row"))?;
                let bytes = new.encode();
                let sum = sum_of(id, &bytes);
                self.execute(&table.sql.update, params![id, sum, &bytes[..]])?;
                self.count(table.number, 0, size(new) - size(old));
                Ok(id)
            }
            (Some(old), None) => {
                let id = present.ok_or_else(|| damaged("an item has lost its row"))?;
                self.execute(&table.sql.delete_item, [id])?;
                self.execute(&table.sql.delete_key, [&key])?;
                self.count(table.number, -1, -size(old));
                Ok(id)
            }
            (None, None) => Ok(0),
        }
    }

    fn write_entry(&mut self, index: &StoredIndex, id: i64, change: &IndexChange) -> Result<()> {
        match (&change.old, &change.new) {
            // An index that is being filled may not have the old entry yet: there, entries are
            // always taken out and put in, and what was there is counted.
            (Some(old), Some(new)) if old.position == new.position && !index.backfilling => {
                // An entry that refers to the item has changed with it.
                if !index.carries_all {
                    let (key, bytes) = (key_of(&new.position), new.item.encode());
                    let sum = sum_of(id, &bytes);
                    self.execute(&index.sql.update, params![key, sum, &bytes[..]])?;
                }
                let bytes = new.item.size() as i64 - old.item.size() as i64;
                self.count(index.number, 0, bytes);
            }
            (old, new) => {
                if let Some(old) = old {
                    let removed = self.execute(&index.sql.delete, [key_of(&old.position)])?;
                    self.count(
                        index.number,
                        -(removed as i64),
                        -(removed as i64) * old.item.size() as i64,
                    );
                }
                if let Some(new) = new {
                    self.insert_entry(index, id, new)?;
                }
            }
        }
        Ok(())
    }

    /// Puts an entry into an index that may have it already.
    pub(crate) fn insert_entry(
        &mut self,
        index: &StoredIndex,
        id: i64,
        entry: &IndexEntry,
    ) -> Result<()> {
        let key = key_of(&entry.position);
        let inserted = if index.carries_all {
            self.execute(&index.sql.insert, params![key, id])?
        } else {
            let bytes = entry.item.encode();
            self.execute(&index.sql.insert, params![key, id, sum_of(id, &bytes), &bytes[..]])?
        };
        self.count(index.number, inserted as i64, inserted as i64 * entry.item.size() as i64);
        Ok(())
    }
}

impl Rows for Session<'_> {
    type Table = Arc<StoredTable>;

    fn get(&mut self, table: &Arc<StoredTable>, position: &Position) -> Result<Option<Item>> {
        let found = find(self.connection, table, position)?;
        let id = found.as_ref().map(|found| found.id);
        self.seen.push((table.number, key_of(position), id));
        Ok(found.map(|found| found.item))
    }

    fn visit(
        &mut self,
        table: &Arc<StoredTable>,
        plan: &ReadPlan,
        take: &mut dyn FnMut(Item, Option<Item>) -> Flow,
    ) -> Result<bool> {
        Reading(self.connection).visit(table, plan, take)
    }
}

impl WriteRows for Session<'_> {
    fn apply(
        &mut self,
        table: &Arc<StoredTable>,
        position: &Position,
        effect: &Effect,
        changes: &[IndexChange],
    ) -> Result<()> {
        if !effect.is_change() {
            return Ok(());
        }
        let id = self.write_item(table, position, effect)?;
        for change in changes {
            self.write_entry(&table.indexes[change.index], id, change)?;
        }
        if let (Some(stream), Some(number)) = (table.table.stream(), table.stream) {
            let record = change::record(
                table.schema(),
                effect,
                stream.view_type,
                change::sequence_number(self.next_record()? as u64),
                self.env.token(),
                self.env.clock.now(),
                self.by.clone(),
            );
            if let Some(record) = record {
                self.append(number, &record)?;
            }
        }
        Ok(())
    }

    fn collection_size(&mut self, table: &Arc<StoredTable>, position: &Position) -> Result<u64> {
        let local = table.schema().indexes.iter().zip(&table.indexes);
        let local = local.filter(|(index, _)| index.kind == IndexKind::Local);
        let ranges: Vec<&str> = std::iter::once(table.sql.range.forward.as_str())
            .chain(local.map(|(_, index)| index.sql.range.forward.as_str()))
            .collect();
        let start = key_of(&Position { sort: Vec::new(), ..position.clone() });
        let mut end = start.clone();
        tabla::key::encoding::prefix_successor(&mut end);
        let mut size = 0;
        for range in ranges {
            let mut statement = self.connection.prepare_cached(range).map_err(from_sqlite)?;
            let mut rows = statement.query([&start, &end]).map_err(from_sqlite)?;
            while let Some(row) = rows.next().map_err(from_sqlite)? {
                size += crate::rows::read(row)?.item.size() as u64;
            }
        }
        Ok(size)
    }

    fn token(&mut self, token: &str) -> Result<Option<Token>> {
        let select = "SELECT fingerprint, completed_at FROM tabla_tokens WHERE token = ?1";
        let outcome = self.connection.prepare_cached(select).and_then(|mut select| {
            select
                .query_row([token], |row| Ok((row.get::<_, [u8; 16]>(0)?, row.get::<_, i64>(1)?)))
                .optional()
        });
        Ok(self.sql(outcome)?.map(|(fingerprint, completed_at)| Token {
            fingerprint: u128::from_be_bytes(fingerprint),
            completed_at: Timestamp::from_millis(completed_at as u64),
        }))
    }

    fn keep_token(&mut self, token: &str, kept: Token) -> Result<()> {
        let now = kept.completed_at.as_millis() as i64;
        let expired = now - transact::TOKEN_LIFETIME.as_millis() as i64;
        self.execute("DELETE FROM tabla_tokens WHERE completed_at <= ?1", [expired])?;
        self.execute(
            "INSERT OR REPLACE INTO tabla_tokens (token, fingerprint, completed_at) \
             VALUES (?1, ?2, ?3)",
            params![token, kept.fingerprint.to_be_bytes(), now],
        )?;
        Ok(())
    }
}
