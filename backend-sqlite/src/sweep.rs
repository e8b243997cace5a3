//! Deletion of expired items, one sweep step at a time, and the lease that admits one sweeping
//! store per file.
//!
//! `sweeper` decides when a sweep begins, and core's `ttl` which items have expired.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};
use tabla_core::backend::{Effect, EvaluatedWrite, RowKey, TableRef, WriteRows, ttl};
use tabla_core::env::Timestamp;
use tabla_core::ops::UserIdentity;
use tabla_core::{Error, ErrorKind, Item, Result, Retry};

use crate::catalogue::{Catalogue, StoredTable};
use crate::error::{corrupt_error, from_sqlite};
use crate::expiry::ExpiryIndex;
use crate::rows;
use crate::session::Session;

/// Maximum number of items that a step of `SqliteStore::sweep_expired` deletes.
pub(crate) const FOREGROUND_STEP_ITEMS: usize = 64;

/// Time, by the store's clock, after which a step ends before its limit of items: the items may be
/// large, or the disk slow.
const STEP_TIME: Duration = Duration::from_millis(1);

/// Number of items that a step examines before [`STEP_TIME`] can end it: so a sweep also makes
/// progress on a machine that suspends the thread in every step.
const MIN_STEP_ITEMS: usize = 4;

/// Duration of the sweep lease. After a lease holder was killed, another store takes over within
/// this time.
const LEASE: Duration = Duration::from_secs(30);

/// State of a sweep: every item up to the cursor that had expired when the sweep began was deleted,
/// or skipped because of a problem.
#[derive(Clone, Debug)]
pub(crate) struct Sweep {
    began: Timestamp,
    /// Cursor: name of the table. Tables are swept in the order of their names.
    table: String,
    /// Cursor: expiry time and row number of the last item that was examined in the table.
    after: (i64, i64),
    /// Maximum number of items that the next step deletes.
    pub(crate) step_items: usize,
    /// Items deleted so far.
    pub(crate) deleted: usize,
    /// First problem that the sweep met, as a message.
    pub(crate) problem: Option<String>,
}

/// Result of a check for expired items.
pub(crate) enum SweepCheck {
    NothingExpired,
    Expired,
    /// Another store holds the sweep lease until this time or longer.
    Leased(Timestamp),
}

/// Outcome of a sweep step.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StepOutcome {
    /// More items may have expired.
    More,
    Done,
    /// Another store holds the sweep lease until this time or longer.
    Leased(Timestamp),
}

impl Sweep {
    /// Creates a sweep of the items that have expired at `now`; each step deletes at most
    /// `step_items`.
    pub(crate) fn new(now: Timestamp, step_items: usize) -> Self {
        Self {
            began: now,
            table: String::new(),
            after: (0, 0),
            step_items,
            deleted: 0,
            problem: None,
        }
    }

    /// Records a problem, unless the sweep has one already.
    pub(crate) fn note(&mut self, problem: &Error) {
        self.problem.get_or_insert_with(|| problem.message().to_owned());
    }

    /// Returns the sweep to continue with after a failed step that was rolled back; `None` if the
    /// sweep ends. `before` is its state before the step.
    ///
    /// A full disk or a missing permission would fail every other step too. Any other failure
    /// concerns one item: the sweep goes back to `before`, deletes one item per step, and skips the
    /// item that fails.
    pub(crate) fn after_failure(self, before: Self, error: &Error) -> Option<Self> {
        if error.retry() != Retry::Never || *error.kind() == ErrorKind::AccessDenied {
            return None;
        }
        let mut next = before;
        if next.step_items == 1 {
            if next.cursor() == self.cursor() {
                return None;
            }
            (next.table, next.after) = (self.table, self.after);
            next.note(error);
        }
        next.step_items = 1;
        Some(next)
    }

    fn cursor(&self) -> (&str, (i64, i64)) {
        (&self.table, self.after)
    }

    /// Returns the first table at or after the cursor whose items expire.
    fn next_table(&self, catalogue: &Catalogue) -> Option<Arc<StoredTable>> {
        let is_next =
            |table: &&Arc<StoredTable>| table.table.name >= self.table && table.expiry.is_some();
        catalogue.tables().find(is_next).cloned()
    }

    /// Returns the rest of the range of expired times in the table: the pair of time and row number
    /// after which it begins, and the second before which it ends.
    fn range(&self) -> ((i64, i64), i64) {
        let expired = ttl::expired(self.began);
        // Just before the first row of the first second.
        let first = (expired.start as i64, i64::MIN);
        (self.after.max(first), expired.end as i64)
    }

    /// Moves the cursor past a table.
    fn leave_table(&mut self, table: &StoredTable) {
        // No name sorts between a name and the same name with a zero appended.
        self.table = format!("{}\0", table.table.name);
        self.after = (0, 0);
    }
}

/// Checks for expired items, and for a sweep lease of another store than `holder` (`None` in
/// memory, where there is no lease). It only reads, so that an idle store takes no write lock.
pub(crate) fn check(
    connection: &Connection,
    catalogue: &Catalogue,
    now: Timestamp,
    holder: Option<&str>,
) -> Result<SweepCheck> {
    let expired = ttl::expired(now);
    let range = params![expired.start as i64, expired.end as i64];
    let mut is_any = false;
    for expiry in catalogue.tables().filter_map(|table| table.expiry.as_ref()) {
        let mut any = connection.prepare_cached(&expiry.any).map_err(from_sqlite)?;
        is_any |= any.exists(range).map_err(from_sqlite)?;
    }
    if !is_any {
        return Ok(SweepCheck::NothingExpired);
    }
    let Some(holder) = holder else { return Ok(SweepCheck::Expired) };
    let other = read_lease(connection)?.filter(|lease| lease.is_held_by_other(holder, now));
    Ok(other.map_or(SweepCheck::Expired, |lease| SweepCheck::Leased(lease.until)))
}

/// Sweep lease of a file: its holder and deadline.
struct Lease {
    holder: String,
    until: Timestamp,
}

impl Lease {
    fn is_held_by_other(&self, holder: &str, now: Timestamp) -> bool {
        // A deadline later than a whole lease from now comes from a wrong clock.
        self.holder != holder && self.until > now && self.until <= now + LEASE
    }
}

fn read_lease(connection: &Connection) -> Result<Option<Lease>> {
    let select = "SELECT holder, until FROM tabla_leases WHERE name = 'sweep'";
    let mut statement = connection.prepare_cached(select).map_err(from_sqlite)?;
    let found = statement.query_row([], |row| {
        let until = Timestamp::from_millis(row.get::<_, i64>(1)? as u64);
        Ok(Lease { holder: row.get(0)?, until })
    });
    found.optional().map_err(from_sqlite)
}

impl Session<'_> {
    /// Acquires or renews the sweep lease for `holder`; returns `None`. If another store holds the
    /// lease, returns its deadline.
    pub(crate) fn acquire_sweep_lease(&mut self, holder: &str) -> Result<Option<Timestamp>> {
        let now = self.env.clock.now();
        match read_lease(self.connection)? {
            Some(lease) if lease.is_held_by_other(holder, now) => return Ok(Some(lease.until)),
            // A lease with half of its time left is not renewed: most steps need not write it.
            Some(lease) if lease.holder == holder && lease.until > now + LEASE / 2 => {
                return Ok(None);
            }
            _ => {}
        }
        self.execute(
            "INSERT OR REPLACE INTO tabla_leases (name, holder, until) VALUES ('sweep', ?1, ?2)",
            params![holder, (now + LEASE).as_millis() as i64],
        )?;
        Ok(None)
    }

    /// Executes one step: deletes the next expired items, at most `limit` and at most as many as
    /// the sweep has per step. A damaged item is skipped and noted as a problem.
    pub(crate) fn sweep(&mut self, sweep: &mut Sweep, limit: usize) -> Result<StepOutcome> {
        let limit = sweep.step_items.min(limit);
        let began = self.env.clock.now();
        self.by = Some(UserIdentity::time_to_live());
        let mut examined = 0;
        while let Some(table) = sweep.next_table(&self.catalogue) {
            let Some(expiry) = &table.expiry else { return Ok(StepOutcome::Done) };
            if table.table.name > sweep.table {
                (sweep.table, sweep.after) = (table.table.name.clone(), (0, 0));
            }
            loop {
                let is_time_over = || self.env.clock.now().since(began) >= STEP_TIME;
                if examined == limit || examined >= MIN_STEP_ITEMS && is_time_over() {
                    return Ok(StepOutcome::More);
                }
                let Some(next) = self.next_expired(expiry, sweep)? else { break };
                examined += 1;
                match next {
                    Ok((id, item)) => {
                        self.delete_expired(&table, id, item)?;
                        sweep.deleted += 1;
                    }
                    Err(problem) => sweep.note(&problem),
                }
            }
            sweep.leave_table(&table);
        }
        Ok(StepOutcome::Done)
    }

    /// Moves the cursor to the next expired item of a table, and reads its row number and the item.
    /// The inner error is damage of this one item.
    fn next_expired(
        &self,
        expiry: &ExpiryIndex,
        sweep: &mut Sweep,
    ) -> Result<Option<Result<(i64, Item)>>> {
        let mut statement = self.connection.prepare_cached(&expiry.next).map_err(from_sqlite)?;
        let ((at, id), end) = sweep.range();
        let mut rows = statement.query([at, id, end]).map_err(from_sqlite)?;
        let Some(row) = rows.next().map_err(from_sqlite)? else { return Ok(None) };
        let (id, at) = (row.get(0).map_err(from_sqlite)?, row.get(3).map_err(from_sqlite)?);
        sweep.after = (at, id);
        Ok(Some(rows::read(row).and_then(|found| match expiry.expires_at(&found.item) {
            // The expiry index may be damaged; the item decides when it expires.
            time if time != Some(at) => Err(corrupt_error(format_args!(
                "the expiry index has the time {at} for row {id}, the item there has another one"
            ))),
            _ => Ok((found.id, found.item)),
        })))
    }

    fn delete_expired(&mut self, table: &Arc<StoredTable>, id: i64, item: Item) -> Result<()> {
        let position = RowKey::of_stored(table.schema(), &item);
        let effect = Effect { old: Some(item), new: None };
        let changes = effect.index_changes(table.schema());
        let (position, effect, changes) = (&position, &effect, &changes[..]);
        self.apply(table, &EvaluatedWrite { row_key: position, row: Some(id), effect, changes })
    }
}
