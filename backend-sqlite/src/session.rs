//! Session: state of a write group's transaction, and the statements that it executes.
//!
//! `writer` begins and commits the transaction, and core decides what an operation changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, params};
use tabla_core::backend::{
    Effect, EntryChange, EvaluatedWrite, IndexChange, IndexEntry, ReadPlan, ReadRows, RowKey,
    TOKEN_LIFETIME, TokenRecord, Visit, WriteRows,
};
use tabla_core::env::{Env, Timestamp};
use tabla_core::ops::UserIdentity;
use tabla_core::{Applied, Error, ErrorKind, Item, Result};

use crate::catalogue::{Catalogue, StoredIndex, StoredTable};
use crate::collections::CollectionSizes;
use crate::error::{copy_error, from_sqlite};
use crate::format;
use crate::item_counts::{CountChanges, CountDelta, ItemCounts};
use crate::record_log::{RecordLog, RecordLogChange};
use crate::rows::{self, ConnectionRows, row_checksum};
use crate::sequence::{SequenceAllocator, SequenceBlock};
use crate::wal::{self, Wal};

/// State of a write group inside its transaction.
///
/// After a failure of SQLite the group must be rolled back: [`Session::has_failed`].
pub(crate) struct Session<'c> {
    pub(crate) connection: &'c Connection,
    pub(crate) catalogue: Arc<Catalogue>,
    pub(crate) env: &'c Env,
    /// Author of the current operation's changes, as stream records name it; `None` for a caller.
    pub(crate) by: Option<UserIdentity>,
    is_catalogue_changed: bool,
    failure: Option<Error>,
    /// Whether SQLite failed because the disk was full.
    pub(crate) is_disk_full: bool,
    /// Write-ahead log of the file, if its disk is so full that no item may grow.
    pub(crate) short: Option<&'c Wal>,
    /// Sizes of item collections, as estimated by the caller of the current operation.
    pub(crate) collection_sizes: CollectionSizes,
    pub(crate) item_counts: &'c ItemCounts,
    /// Changes of item counts that are not in `item_counts` yet.
    pub(crate) counts: CountChanges,
    /// Highest row number of each table's items, by the table's number.
    last_rows: BTreeMap<i64, i64>,
    pub(crate) record_log: &'c RecordLog,
    /// Changes that the record log applies to its memory after the commit.
    pub(crate) record_log_changes: Vec<RecordLogChange>,
    pub(crate) numbers: &'c SequenceAllocator,
    /// Last sequence number that was allocated from the file before the group, if known.
    pub(crate) taken: Option<i64>,
    /// Allocated sequence numbers that the group can use.
    pub(crate) block: Option<SequenceBlock>,
    /// Whether the group leaves work for maintenance.
    pub(crate) wants_maintenance: bool,
    /// Prepared statements that the group has used, by number of the table or index and role.
    statements: Vec<((i64, Role), CachedStatement<'c>)>,
    pub(crate) written: Written,
    /// Whether the current operation has written.
    has_written: bool,
}

/// Role of a prepared statement on a table or an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Get,
    LastRow,
    InsertItem,
    InsertKey,
    Update,
    DeleteItem,
    DeleteKey,
    Append,
}

/// Amount that a group has written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Written {
    rows: usize,
    pub(crate) bytes: usize,
}

impl Written {
    /// Estimated number of pages in the write-ahead log: one per row, because few rows of a group
    /// share a page, plus the pages that large items fill.
    pub(crate) fn pages(self) -> usize {
        self.rows + self.bytes / format::PAGE_SIZE as usize
    }
}

impl<'c> Session<'c> {
    pub(crate) fn new(
        connection: &'c Connection,
        catalogue: Arc<Catalogue>,
        (item_counts, record_log): (&'c ItemCounts, &'c RecordLog),
        numbers: &'c SequenceAllocator,
        env: &'c Env,
    ) -> Self {
        Self {
            connection,
            catalogue,
            env,
            by: None,
            is_catalogue_changed: false,
            failure: None,
            is_disk_full: false,
            short: None,
            collection_sizes: CollectionSizes::default(),
            item_counts,
            counts: CountChanges::default(),
            last_rows: BTreeMap::new(),
            record_log,
            record_log_changes: Vec::new(),
            numbers,
            taken: None,
            block: None,
            wants_maintenance: false,
            statements: Vec::new(),
            written: Written::default(),
            has_written: false,
        }
    }

    /// Whether the group must be rolled back: SQLite has failed, or has ended the transaction by
    /// itself as it does on a full disk.
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.is_some() || self.connection.is_autocommit()
    }

    /// Takes the error for which the group is rolled back.
    pub(crate) fn failure(&mut self) -> Error {
        self.failure.take().unwrap_or_else(|| {
            Error::new(
                ErrorKind::Unavailable,
                "SQLite rolled back the transaction without an error; retry",
            )
        })
    }

    /// Makes the group fail, with this error unless there is one already.
    pub(crate) fn fail(&mut self, error: Error) {
        self.failure.get_or_insert(error);
    }

    /// Whether the group has changed the catalogue.
    pub(crate) fn is_catalogue_changed(&self) -> bool {
        self.is_catalogue_changed
    }

    /// Returns the catalogue for a change, and marks it as changed.
    pub(crate) fn catalogue_mut(&mut self) -> &mut Catalogue {
        self.is_catalogue_changed = true;
        Arc::make_mut(&mut self.catalogue)
    }

    /// Begins the next operation: resets the state that belongs to one operation.
    pub(crate) fn next_operation(&mut self) {
        self.by = None;
        self.has_written = false;
    }

    /// Ends a failed operation. An operation validates and evaluates before it writes, so one that
    /// is refused has written nothing. One that fails later, for example on a damaged page, has
    /// written a part: then the group fails.
    pub(crate) fn end_failed(&mut self, error: &Error) {
        if self.has_written {
            self.fail(copy_error(error, Applied::No));
        }
    }

    /// Executes `work` under a savepoint. If it fails, its changes are rolled back, and the other
    /// operations of the group stay.
    pub(crate) fn in_savepoint<R>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<R> {
        let catalogue = (Arc::clone(&self.catalogue), self.is_catalogue_changed);
        let (counts, block) = (self.counts.clone(), self.block);
        let archived = self.record_log_changes.len();
        self.execute("SAVEPOINT step", [])?;
        let outcome = work(self);
        if outcome.is_err() && !self.connection.is_autocommit() {
            // The rollback undoes a failure of SQLite too. If that fails, or SQLite has ended the
            // transaction by itself, the group fails.
            (self.failure, self.is_disk_full) = (None, false);
            (self.counts, self.block) = (counts, block);
            self.record_log_changes.truncate(archived);
            (self.catalogue, self.is_catalogue_changed) = catalogue;
            self.execute("ROLLBACK TO step", [])?;
        }
        if !self.connection.is_autocommit() {
            self.execute("RELEASE step", [])?;
        }
        self.has_written &= outcome.is_ok();
        outcome
    }

    /// Returns the amount that the group has written so far.
    pub(crate) fn written(&self) -> Written {
        self.written
    }

    /// Converts the error of a result of SQLite, and makes the group fail if there is one.
    pub(crate) fn sql<T>(&mut self, outcome: rusqlite::Result<T>) -> Result<T> {
        outcome.map_err(|error| {
            self.is_disk_full |= wal::is_disk_full(&error);
            let error = from_sqlite(error);
            self.fail(copy_error(&error, Applied::No));
            error
        })
    }

    /// Executes a statement without a result; returns the number of rows that it changed.
    pub(crate) fn execute(&mut self, sql: &str, values: impl Params) -> Result<usize> {
        self.has_written = true;
        let outcome =
            self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute(values));
        self.sql(outcome)
    }

    /// Executes statements that change the SQL schema.
    pub(crate) fn execute_batch(&mut self, sql: &str) -> Result<()> {
        self.has_written = true;
        let outcome = self.connection.execute_batch(sql);
        self.sql(outcome)
    }

    /// Returns the prepared statement with this role for the table or index with this number.
    fn statement(
        &mut self,
        number: i64,
        role: Role,
        sql: &str,
    ) -> rusqlite::Result<&mut CachedStatement<'c>> {
        let known = self.statements.iter().position(|(whose, _)| *whose == (number, role));
        let known = match known {
            Some(known) => known,
            None => {
                let statement = self.connection.prepare_cached(sql)?;
                self.statements.push(((number, role), statement));
                self.statements.len() - 1
            }
        };
        Ok(&mut self.statements[known].1)
    }

    /// Executes a statement that writes to the table or index with this number; returns how many
    /// rows it changed.
    pub(crate) fn write(
        &mut self,
        number: i64,
        role: Role,
        sql: &str,
        values: impl Params,
    ) -> Result<usize> {
        let outcome =
            self.statement(number, role, sql).and_then(|statement| statement.execute(values));
        self.written.rows += 1;
        self.has_written = true;
        self.sql(outcome)
    }

    /// Inserts a key into the b-tree of the table or index with this number.
    pub(crate) fn insert_key(
        &mut self,
        number: i64,
        sql: &str,
        values: impl Params,
    ) -> Result<usize> {
        self.write(number, Role::InsertKey, sql, values)
    }

    /// Deletes a key from the b-tree of the table or index with this number.
    pub(crate) fn delete_key(
        &mut self,
        number: i64,
        sql: &str,
        values: impl Params,
    ) -> Result<usize> {
        self.write(number, Role::DeleteKey, sql, values)
    }

    /// Writes item counts and the catalogue's version, before the commit.
    pub(crate) fn finish(&mut self) -> Result<()> {
        if matches!(self.item_counts, ItemCounts::File) {
            for (number, CountDelta { items, bytes }) in self.take_counts().into_changes() {
                self.execute(
                    "UPDATE tabla_counts SET items = items + ?2, bytes = bytes + ?3 \
                     WHERE number = ?1",
                    params![number, items, bytes],
                )?;
            }
        }
        if self.is_catalogue_changed {
            self.execute("UPDATE tabla_state SET catalogue = catalogue + 1", [])?;
            let (version, _) = Catalogue::stored_state(self.connection)?;
            self.catalogue_mut().version = version;
        }
        Ok(())
    }

    /// Allocates a number for a table, an index, an expiry index or a stream.
    pub(crate) fn next_number(&mut self) -> Result<i64> {
        self.execute("UPDATE tabla_state SET last_number = last_number + 1", [])?;
        let select = "SELECT last_number FROM tabla_state";
        let outcome = self.connection.query_row(select, [], |row| row.get(0));
        self.sql(outcome)
    }

    /// Adds to the item count of a table or index.
    pub(crate) fn count(&mut self, number: i64, items: i64, bytes: i64) {
        self.counts.add(number, items, bytes);
    }

    /// Takes the changes of item counts that are not in the file: in memory, all of them.
    pub(crate) fn take_counts(&mut self) -> CountChanges {
        std::mem::take(&mut self.counts)
    }

    /// Allocates a row number of a table: one more than the highest. The number of a deleted item
    /// can be used again by a later group.
    fn next_row(&mut self, table: &StoredTable) -> Result<i64> {
        let last = match self.last_rows.get(&table.number) {
            Some(last) => *last,
            None => {
                let outcome = self
                    .statement(table.number, Role::LastRow, &table.sql.last_row)
                    .and_then(|select| select.query_row([], |row| row.get::<_, Option<i64>>(0)));
                self.sql(outcome)?.unwrap_or(0)
            }
        };
        self.last_rows.insert(table.number, last + 1);
        Ok(last + 1)
    }

    /// Replaces the old item by the new one, and returns the row number; `None` if there
    /// is neither.
    fn write_item(
        &mut self,
        table: &StoredTable,
        write: &EvaluatedWrite<'_, i64>,
    ) -> Result<Option<i64>> {
        let (number, sql) = (table.number, &table.sql);
        let key = write.row_key.as_bytes();
        let Effect { old, new } = write.effect;
        let growth = size_of(new) as i64 - size_of(old) as i64;
        match (write.row, new) {
            (None, None) => Ok(None),
            (None, Some(new)) => {
                let id = self.next_row(table)?;
                let bytes = new.encode();
                let values = params![id, row_checksum(id, &bytes), &bytes[..]];
                self.write(number, Role::InsertItem, &sql.insert_item, values)?;
                self.write(number, Role::InsertKey, &sql.insert_key, params![key, id])?;
                self.written.bytes += bytes.len();
                self.count(number, 1, growth);
                Ok(Some(id))
            }
            (Some(id), Some(new)) => {
                let bytes = new.encode();
                let values = params![id, row_checksum(id, &bytes), &bytes[..]];
                self.write(number, Role::Update, &sql.update, values)?;
                self.written.bytes += bytes.len();
                self.count(number, 0, growth);
                Ok(Some(id))
            }
            (Some(id), None) => {
                self.write(number, Role::DeleteItem, &sql.delete_item, [id])?;
                self.write(number, Role::DeleteKey, &sql.delete_key, [key])?;
                self.count(number, -1, growth);
                Ok(Some(id))
            }
        }
    }

    /// Applies the change of one index entry.
    fn write_entry(&mut self, table: &StoredTable, id: i64, change: &IndexChange) -> Result<()> {
        let index = &table.indexes[change.index];
        match &change.entry {
            EntryChange::Inserted(new) => self.insert_entry(index, id, new),
            EntryChange::Deleted(old) => self.delete_entry(index, old),
            EntryChange::Moved { from, to } => {
                self.delete_entry(index, from)?;
                self.insert_entry(index, id, to)
            }
            EntryChange::Updated { old, new } => {
                // An entry that refers to the item has changed with it.
                if index.projects_all && !index.backfilling {
                    let (_, bytes) = change.entry.count_delta();
                    self.count(index.number, 0, bytes);
                    return Ok(());
                }
                let schema = &table.table.schema;
                let entry = IndexEntry::at(schema, &schema.indexes[change.index], new);
                if index.backfilling {
                    // The backfill may not have inserted the old entry yet, so the counts follow
                    // the rows that are deleted.
                    let old = IndexEntry { item: old.clone(), ..entry.clone() };
                    self.delete_entry(index, &old)?;
                    return self.insert_entry(index, id, &entry);
                }
                let bytes = new.encode();
                let values =
                    params![entry.row_key.as_bytes(), row_checksum(id, &bytes), &bytes[..]];
                self.write(index.number, Role::Update, &index.sql.update, values)?;
                let (_, bytes) = change.entry.count_delta();
                self.count(index.number, 0, bytes);
                Ok(())
            }
        }
    }

    /// Deletes an entry from an index, if the backfill has inserted it already.
    fn delete_entry(&mut self, index: &StoredIndex, entry: &IndexEntry) -> Result<()> {
        let key = [entry.row_key.as_bytes()];
        let deleted = self.write(index.number, Role::DeleteKey, &index.sql.delete, key)? as i64;
        self.count(index.number, -deleted, -deleted * entry.item.size() as i64);
        Ok(())
    }

    /// Inserts an entry into an index, unless the backfill has inserted it already.
    pub(crate) fn insert_entry(
        &mut self,
        index: &StoredIndex,
        id: i64,
        entry: &IndexEntry,
    ) -> Result<()> {
        let (key, insert) = (entry.row_key.as_bytes(), &index.sql.insert);
        let inserted = if index.projects_all {
            self.write(index.number, Role::InsertKey, insert, params![key, id])?
        } else {
            let bytes = entry.item.encode();
            let values = params![key, id, row_checksum(id, &bytes), &bytes[..]];
            self.write(index.number, Role::InsertKey, insert, values)?
        };
        self.count(index.number, inserted as i64, inserted as i64 * entry.item.size() as i64);
        Ok(())
    }
}

fn size_of(item: &Option<Item>) -> usize {
    item.as_ref().map_or(0, Item::size)
}

impl ReadRows for Session<'_> {
    type Table = Arc<StoredTable>;

    fn get(&mut self, table: &Arc<StoredTable>, position: &RowKey) -> Result<Option<Item>> {
        Ok(self.find(table, position)?.map(|(item, _)| item))
    }

    fn visit(
        &mut self,
        table: &Arc<StoredTable>,
        plan: &ReadPlan,
        take: &mut dyn FnMut(Item, Option<Item>) -> Visit,
    ) -> Result<bool> {
        ConnectionRows::new(self.connection).visit(table, plan, take)
    }
}

impl WriteRows for Session<'_> {
    /// Row number.
    type RowHandle = i64;

    fn find(&mut self, table: &Arc<StoredTable>, position: &RowKey) -> Result<Option<(Item, i64)>> {
        let get = self.statement(table.number, Role::Get, &table.sql.get).map_err(from_sqlite)?;
        Ok(rows::find(get, table, position)?.map(|found| (found.item, found.id)))
    }

    fn apply(&mut self, table: &Arc<StoredTable>, write: &EvaluatedWrite<'_, i64>) -> Result<()> {
        let effect = write.effect;
        if !effect.is_change() {
            return Ok(());
        }
        if let Some(wal) = self.short
            && size_of(&effect.new) > size_of(&effect.old)
        {
            return Err(wal.reserve_error());
        }
        let Some(id) = self.write_item(table, write)? else { return Ok(()) };
        for change in write.changes {
            self.write_entry(table, id, change)?;
        }
        if let Some(expiry) = &table.expiry {
            self.update_expiry_entry(expiry, id, effect)?;
        }
        self.record(table, id, write)?;
        Ok(())
    }

    fn collection_size(&mut self, table: &Arc<StoredTable>, position: &RowKey) -> Result<u64> {
        Ok(self.collection_sizes.of(table, position))
    }

    fn find_token(&mut self, token: &str) -> Result<Option<TokenRecord>> {
        let select = "SELECT fingerprint, completed_at FROM tabla_tokens WHERE token = ?1";
        let outcome = self.connection.prepare_cached(select).and_then(|mut select| {
            select
                .query_row([token], |row| Ok((row.get::<_, [u8; 16]>(0)?, row.get::<_, i64>(1)?)))
                .optional()
        });
        Ok(self.sql(outcome)?.map(|(fingerprint, completed_at)| TokenRecord {
            fingerprint: u128::from_be_bytes(fingerprint),
            completed_at: Timestamp::from_millis(completed_at as u64),
        }))
    }

    fn store_token(&mut self, token: &str, kept: TokenRecord) -> Result<()> {
        let now = kept.completed_at.as_millis() as i64;
        let expired = now - TOKEN_LIFETIME.as_millis() as i64;
        self.execute("DELETE FROM tabla_tokens WHERE completed_at <= ?1", [expired])?;
        self.execute(
            "INSERT OR REPLACE INTO tabla_tokens (token, fingerprint, completed_at) \
             VALUES (?1, ?2, ?3)",
            params![token, kept.fingerprint.to_be_bytes(), now],
        )?;
        Ok(())
    }
}
