//! The writes of one group, inside its transaction.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::{CachedStatement, Connection, OptionalExtension, Params, params};
use tabla_core::engine::{
    Applicable, Effect, EntryChange, Flow, IndexChange, IndexEntry, Position, ReadPlan, Rows,
    Token, WriteRows, transact,
};
use tabla_core::env::{Env, Timestamp};
use tabla_core::ops::UserIdentity;
use tabla_core::{Applied, Error, ErrorKind, Item, Result};

use crate::archive::{Archive, Archived};
use crate::catalogue::{Catalogue, StoredIndex, StoredTable};
use crate::collections::CollectionSizes;
use crate::counts::{Change, Counts, Ledger};
use crate::error::{again, from_sqlite};
use crate::format;
use crate::numbers::{Block, Numbers};
use crate::rows::{self, Reading, sum_of};
use crate::wal::{self, Wal};

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
    /// Whether SQLite has failed because the disk was full.
    pub(crate) is_disk_full: bool,
    /// The log of a file whose disk is so full that no item may grow.
    pub(crate) short: Option<&'c Wal>,
    /// Item collections whose sizes the caller of the present operation has estimated.
    pub(crate) collection_sizes: CollectionSizes,
    pub(crate) ledger: &'c Ledger,
    /// Changes that are yet to be written to the ledger.
    pub(crate) counts: Counts,
    /// The last row of the items of a table, by the table's number.
    last_rows: BTreeMap<i64, i64>,
    pub(crate) archive: &'c Archive,
    /// What is yet to be kept by the archive.
    pub(crate) archived: Vec<Archived>,
    pub(crate) numbers: &'c Numbers,
    /// The last sequence number that was taken from the file before the group, if that is known.
    pub(crate) taken: Option<i64>,
    /// What is left of the sequence numbers that were taken from the file.
    pub(crate) block: Option<Block>,
    /// Whether there is something to do for maintenance.
    pub(crate) wants_maintenance: bool,
    /// Those that the group has used, ready to be used again.
    statements: Vec<((i64, Role), CachedStatement<'c>)>,
    pub(crate) written: Written,
    /// Whether the present operation has changed anything.
    has_written: bool,
}

/// What a statement does to the table or index that it is on, whose number goes with it.
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

/// How much a group has written.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Written {
    rows: usize,
    pub(crate) bytes: usize,
}

impl Written {
    /// About how many pages that makes in the log: one for each row, because few rows of a group
    /// are beside each other, and those that a large item fills.
    pub(crate) fn pages(self) -> usize {
        self.rows + self.bytes / format::PAGE_SIZE as usize
    }
}

impl<'c> Session<'c> {
    pub(crate) fn new(
        connection: &'c Connection,
        catalogue: Arc<Catalogue>,
        (ledger, archive): (&'c Ledger, &'c Archive),
        numbers: &'c Numbers,
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
            ledger,
            counts: Counts::default(),
            last_rows: BTreeMap::new(),
            archive,
            archived: Vec::new(),
            numbers,
            taken: None,
            block: None,
            wants_maintenance: false,
            statements: Vec::new(),
            written: Written::default(),
            has_written: false,
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

    /// Forgets whose operation the one before was, and what it did.
    pub(crate) fn next_operation(&mut self) {
        self.by = None;
        self.has_written = false;
    }

    /// Ends an operation that has failed. One that is refused reads and judges before it writes;
    /// if it has written all the same, such as before it found a damaged page, it cannot be kept
    /// half, and nothing of the group is.
    pub(crate) fn end_failed(&mut self, error: &Error) {
        if self.has_written {
            self.fail(again(error, Applied::No));
        }
    }

    /// Does something beside the operations of a group that must not take them with it if it fails.
    pub(crate) fn apart<R>(&mut self, work: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        let catalogue = (Arc::clone(&self.catalogue), self.is_catalogue_changed);
        let (counts, block) = (self.counts.clone(), self.block);
        let archived = self.archived.len();
        self.execute("SAVEPOINT apart", [])?;
        let outcome = work(self);
        if outcome.is_err() && !self.connection.is_autocommit() {
            // What SQLite has failed in is undone with the rest; if it has ended the transaction
            // by itself, or fails again, nothing of the group can be kept.
            (self.failure, self.is_disk_full) = (None, false);
            (self.counts, self.block) = (counts, block);
            self.archived.truncate(archived);
            (self.catalogue, self.is_catalogue_changed) = catalogue;
            self.execute("ROLLBACK TO apart", [])?;
        }
        if !self.connection.is_autocommit() {
            self.execute("RELEASE apart", [])?;
        }
        self.has_written &= outcome.is_ok();
        outcome
    }

    /// How much has been written so far.
    pub(crate) fn written(&self) -> Written {
        self.written
    }

    /// Notes a failure of SQLite.
    pub(crate) fn sql<T>(&mut self, outcome: rusqlite::Result<T>) -> Result<T> {
        outcome.map_err(|error| {
            self.is_disk_full |= wal::is_disk_full(&error);
            let error = from_sqlite(error);
            self.fail(again(&error, Applied::No));
            error
        })
    }

    /// Runs a statement that returns nothing; how many rows it changed.
    pub(crate) fn execute(&mut self, sql: &str, values: impl Params) -> Result<usize> {
        self.has_written = true;
        let outcome =
            self.connection.prepare_cached(sql).and_then(|mut statement| statement.execute(values));
        self.sql(outcome)
    }

    /// Runs statements that change the shape of the file.
    pub(crate) fn execute_batch(&mut self, sql: &str) -> Result<()> {
        self.has_written = true;
        let outcome = self.connection.execute_batch(sql);
        self.sql(outcome)
    }

    /// The statement that plays this role on the rows of a number.
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

    /// Runs a statement that writes rows of a number; how many it changed.
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

    /// Puts a row into what has this number, beside its table.
    pub(crate) fn insert_key(
        &mut self,
        number: i64,
        sql: &str,
        values: impl Params,
    ) -> Result<usize> {
        self.write(number, Role::InsertKey, sql, values)
    }

    /// Takes a row out of what has this number, beside its table.
    pub(crate) fn delete_key(
        &mut self,
        number: i64,
        sql: &str,
        values: impl Params,
    ) -> Result<usize> {
        self.write(number, Role::DeleteKey, sql, values)
    }

    /// Writes down what was only noted so far: to be called before the commit.
    pub(crate) fn finish(&mut self) -> Result<()> {
        if matches!(self.ledger, Ledger::File) {
            for (number, Change { items, bytes }) in self.take_counts().into_changes() {
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

    /// The next number for a table, an index or a stream.
    pub(crate) fn next_number(&mut self) -> Result<i64> {
        self.execute("UPDATE tabla_state SET last_number = last_number + 1", [])?;
        let select = "SELECT last_number FROM tabla_state";
        let outcome = self.connection.query_row(select, [], |row| row.get(0));
        self.sql(outcome)
    }

    pub(crate) fn count(&mut self, number: i64, items: i64, bytes: i64) {
        self.counts.add(number, items, bytes);
    }

    /// The changes that were not written to the file: all of them, if there is none.
    pub(crate) fn take_counts(&mut self) -> Counts {
        std::mem::take(&mut self.counts)
    }

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

    /// Puts the item in the place of the one before; the row that it is in, `None` if there is and
    /// was none.
    fn write_item(
        &mut self,
        table: &StoredTable,
        write: &Applicable<'_, i64>,
    ) -> Result<Option<i64>> {
        let (number, sql) = (table.number, &table.sql);
        let key = write.position.as_bytes();
        let Effect { old, new } = write.effect;
        let growth = size_of(new) as i64 - size_of(old) as i64;
        match (write.place, new) {
            (None, None) => Ok(None),
            (None, Some(new)) => {
                let id = self.next_row(table)?;
                let bytes = new.encode();
                let values = params![id, sum_of(id, &bytes), &bytes[..]];
                self.write(number, Role::InsertItem, &sql.insert_item, values)?;
                self.write(number, Role::InsertKey, &sql.insert_key, params![key, id])?;
                self.written.bytes += bytes.len();
                self.count(number, 1, growth);
                Ok(Some(id))
            }
            (Some(id), Some(new)) => {
                let bytes = new.encode();
                let values = params![id, sum_of(id, &bytes), &bytes[..]];
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

    fn write_entry(&mut self, table: &StoredTable, id: i64, change: &IndexChange) -> Result<()> {
        let index = &table.indexes[change.index];
        match &change.entry {
            EntryChange::Appears(new) => self.insert_entry(index, id, new),
            EntryChange::Goes(old) => self.delete_entry(index, old),
            EntryChange::Moves { from, to } => {
                self.delete_entry(index, from)?;
                self.insert_entry(index, id, to)
            }
            EntryChange::Stays { old, new } => {
                // An entry that refers to the item has changed with it.
                if index.carries_all && !index.backfilling {
                    let (_, bytes) = change.entry.growth();
                    self.count(index.number, 0, bytes);
                    return Ok(());
                }
                let schema = &table.table.schema;
                let entry = IndexEntry::at(schema, &schema.indexes[change.index], new);
                if index.backfilling {
                    // The old entry may not be there yet: it is taken out if it is, and what was
                    // there is counted.
                    let old = IndexEntry { item: old.clone(), ..entry.clone() };
                    self.delete_entry(index, &old)?;
                    return self.insert_entry(index, id, &entry);
                }
                let bytes = new.encode();
                let values = params![entry.position.as_bytes(), sum_of(id, &bytes), &bytes[..]];
                self.write(index.number, Role::Update, &index.sql.update, values)?;
                let (_, bytes) = change.entry.growth();
                self.count(index.number, 0, bytes);
                Ok(())
            }
        }
    }

    /// Takes an entry out of an index that may not have it yet.
    fn delete_entry(&mut self, index: &StoredIndex, entry: &IndexEntry) -> Result<()> {
        let key = [entry.position.as_bytes()];
        let deleted = self.write(index.number, Role::DeleteKey, &index.sql.delete, key)? as i64;
        self.count(index.number, -deleted, -deleted * entry.item.size() as i64);
        Ok(())
    }

    /// Puts an entry into an index that may have it already.
    pub(crate) fn insert_entry(
        &mut self,
        index: &StoredIndex,
        id: i64,
        entry: &IndexEntry,
    ) -> Result<()> {
        let (key, insert) = (entry.position.as_bytes(), &index.sql.insert);
        let inserted = if index.carries_all {
            self.write(index.number, Role::InsertKey, insert, params![key, id])?
        } else {
            let bytes = entry.item.encode();
            let values = params![key, id, sum_of(id, &bytes), &bytes[..]];
            self.write(index.number, Role::InsertKey, insert, values)?
        };
        self.count(index.number, inserted as i64, inserted as i64 * entry.item.size() as i64);
        Ok(())
    }
}

fn size_of(item: &Option<Item>) -> usize {
    item.as_ref().map_or(0, Item::size)
}

impl Rows for Session<'_> {
    type Table = Arc<StoredTable>;

    fn get(&mut self, table: &Arc<StoredTable>, position: &Position) -> Result<Option<Item>> {
        Ok(self.find(table, position)?.map(|(item, _)| item))
    }

    fn visit(
        &mut self,
        table: &Arc<StoredTable>,
        plan: &ReadPlan,
        take: &mut dyn FnMut(Item, Option<Item>) -> Flow,
    ) -> Result<bool> {
        Reading::new(self.connection).visit(table, plan, take)
    }
}

impl WriteRows for Session<'_> {
    /// The number of the row.
    type Place = i64;

    fn find(
        &mut self,
        table: &Arc<StoredTable>,
        position: &Position,
    ) -> Result<Option<(Item, i64)>> {
        let get = self.statement(table.number, Role::Get, &table.sql.get).map_err(from_sqlite)?;
        Ok(rows::find(get, table, position)?.map(|found| (found.item, found.id)))
    }

    fn apply(&mut self, table: &Arc<StoredTable>, write: &Applicable<'_, i64>) -> Result<()> {
        let effect = write.effect;
        if !effect.is_change() {
            return Ok(());
        }
        if let Some(wal) = self.short
            && size_of(&effect.new) > size_of(&effect.old)
        {
            return Err(wal.reserved());
        }
        let Some(id) = self.write_item(table, write)? else { return Ok(()) };
        for change in write.changes {
            self.write_entry(table, id, change)?;
        }
        if let Some(expiry) = &table.expiry {
            self.keep_time(expiry, id, effect)?;
        }
        self.record(table, id, write)?;
        Ok(())
    }

    fn collection_size(&mut self, table: &Arc<StoredTable>, position: &Position) -> Result<u64> {
        Ok(self.collection_sizes.of(table, position))
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
