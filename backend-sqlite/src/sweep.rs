//! Deleting the items whose time has passed, some at a time.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, params};
use tabla_core::engine::{Applicable, Effect, Position, TableRef, WriteRows, ttl};
use tabla_core::env::Timestamp;
use tabla_core::ops::UserIdentity;
use tabla_core::{Error, ErrorKind, Item, Result, Retry};

use crate::catalogue::{Catalogue, StoredTable};
use crate::error::{damaged, from_sqlite};
use crate::expiry::ExpiryIndex;
use crate::rows;
use crate::session::Session;

/// The most items that a step deletes of a sweep that somebody waits for.
pub(crate) const STEP: usize = 64;

/// How long a step goes on, by the store's clock, where items take longer than they do in memory.
const STEP_TIME: Duration = Duration::from_millis(1);

/// The fewest items that a step deletes, if there are as many: so that a sweep comes to its end on a
/// machine that lets the thread wait in the middle of a step, too.
const FEWEST: usize = 4;

/// How long a store that sweeps keeps others from it, after it has last said so: one that was killed
/// is missed no longer.
const LEASE: Duration = Duration::from_secs(30);

/// A sweep under way: everything up to its place that was expired when it began has been deleted, or
/// could not be.
#[derive(Clone, Debug)]
pub(crate) struct Sweep {
    began: Timestamp,
    /// The table that it is in, by name; tables are swept in the order of their names.
    table: String,
    /// The last time and row of the table that it has looked at.
    after: (i64, i64),
    /// The most items that the next step deletes.
    pub(crate) step: usize,
    pub(crate) deleted: usize,
    /// What it met that should not be, in words.
    pub(crate) problem: Option<String>,
}

/// What is expired, as far as is seen without writing.
pub(crate) enum Seen {
    Nothing,
    Something,
    /// Another store sweeps, until then at least.
    Other(Timestamp),
}

/// How a step ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// There may be more.
    More,
    Done,
    /// Another store sweeps, until then at least.
    Other(Timestamp),
}

impl Sweep {
    /// A sweep whose steps delete so many items at most.
    pub(crate) fn new(now: Timestamp, step: usize) -> Self {
        Self { began: now, table: String::new(), after: (0, 0), step, deleted: 0, problem: None }
    }

    /// Notes something that should not be; the first is told.
    pub(crate) fn note(&mut self, problem: &Error) {
        self.problem.get_or_insert_with(|| problem.message().to_owned());
    }

    /// What to do after a step that has failed, and left nothing behind: `None` to give up for now.
    ///
    /// Where there is no room, or no right to write, nothing else would succeed. Anything else is
    /// about one item: it is found by going on one by one from where the step began, and left.
    pub(crate) fn after_failure(self, before: Self, error: &Error) -> Option<Self> {
        if error.retry() != Retry::Never || *error.kind() == ErrorKind::AccessDenied {
            return None;
        }
        let mut next = before;
        if next.step == 1 {
            if next.place() == self.place() {
                return None;
            }
            (next.table, next.after) = (self.table, self.after);
            next.note(error);
        }
        next.step = 1;
        Some(next)
    }

    fn place(&self) -> (&str, (i64, i64)) {
        (&self.table, self.after)
    }

    /// The next table with something to sweep.
    fn next_table(&self, catalogue: &Catalogue) -> Option<Arc<StoredTable>> {
        let is_next =
            |table: &&Arc<StoredTable>| table.table.name >= self.table && table.expiry.is_some();
        catalogue.tables().find(is_next).cloned()
    }

    /// The range of times that are expired, and not looked at yet.
    fn range(&self) -> ((i64, i64), i64) {
        let expired = ttl::expired(self.began);
        // Just before the first row of the first second.
        let first = (expired.start as i64, i64::MIN);
        (self.after.max(first), expired.end as i64)
    }

    fn go_on_after(&mut self, table: &StoredTable) {
        // No name lies between a name and the same one with a zero behind it.
        self.table = format!("{}\0", table.table.name);
        self.after = (0, 0);
    }
}

/// Looks whether there is anything to sweep, and nobody else does: a read, so that a store at rest
/// takes no lock.
pub(crate) fn look(
    connection: &Connection,
    catalogue: &Catalogue,
    now: Timestamp,
    holder: Option<&str>,
) -> Result<Seen> {
    let expired = ttl::expired(now);
    let range = params![expired.start as i64, expired.end as i64];
    let mut is_any = false;
    for expiry in catalogue.tables().filter_map(|table| table.expiry.as_ref()) {
        let mut any = connection.prepare_cached(&expiry.any).map_err(from_sqlite)?;
        is_any |= any.exists(range).map_err(from_sqlite)?;
    }
    if !is_any {
        return Ok(Seen::Nothing);
    }
    // In memory there is no other.
    let Some(holder) = holder else { return Ok(Seen::Something) };
    let other = lease(connection)?.filter(|lease| lease.is_of_another(holder, now));
    Ok(other.map_or(Seen::Something, |lease| Seen::Other(lease.until)))
}

/// Who sweeps.
struct Lease {
    holder: String,
    until: Timestamp,
}

impl Lease {
    fn is_of_another(&self, holder: &str, now: Timestamp) -> bool {
        // One that lasts longer than leases do was written by a clock that was wrong.
        self.holder != holder && self.until > now && self.until <= now + LEASE
    }
}

fn lease(connection: &Connection) -> Result<Option<Lease>> {
    let select = "SELECT holder, until FROM tabla_leases WHERE name = 'sweep'";
    let mut statement = connection.prepare_cached(select).map_err(from_sqlite)?;
    let found = statement.query_row([], |row| {
        let until = Timestamp::from_millis(row.get::<_, i64>(1)? as u64);
        Ok(Lease { holder: row.get(0)?, until })
    });
    found.optional().map_err(from_sqlite)
}

impl Session<'_> {
    /// Takes or keeps the lease; until when another has it, if so.
    pub(crate) fn take_lease(&mut self, holder: &str) -> Result<Option<Timestamp>> {
        let now = self.env.clock.now();
        match lease(self.connection)? {
            Some(lease) if lease.is_of_another(holder, now) => return Ok(Some(lease.until)),
            // Half of it is left: it need not be written at every step.
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

    /// Deletes the next items, as many as a moment allows and at most so many.
    pub(crate) fn sweep(&mut self, sweep: &mut Sweep, most: usize) -> Result<Step> {
        let most = sweep.step.min(most);
        let began = self.env.clock.now();
        self.by = Some(UserIdentity::time_to_live());
        let mut steps = 0;
        while let Some(table) = sweep.next_table(&self.catalogue) {
            let Some(expiry) = &table.expiry else { return Ok(Step::Done) };
            if table.table.name > sweep.table {
                (sweep.table, sweep.after) = (table.table.name.clone(), (0, 0));
            }
            loop {
                let is_over = || self.env.clock.now().since(began) >= STEP_TIME;
                if steps == most || steps >= FEWEST && is_over() {
                    return Ok(Step::More);
                }
                let Some(next) = self.next_expired(expiry, sweep)? else { break };
                steps += 1;
                match next {
                    Ok((id, item)) => {
                        self.expire(&table, id, item)?;
                        sweep.deleted += 1;
                    }
                    Err(problem) => sweep.note(&problem),
                }
            }
            sweep.go_on_after(&table);
        }
        Ok(Step::Done)
    }

    /// The next expired item of a table and its row, or what is wrong with them.
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
        Ok(Some(rows::read(row).and_then(|found| match expiry.time_of(&found.item) {
            // The index may be wrong; only the item says when it expires.
            time if time != Some(at) => {
                Err(damaged(format_args!("the item of row {id} does not expire when it should")))
            }
            _ => Ok((found.id, found.item)),
        })))
    }

    fn expire(&mut self, table: &Arc<StoredTable>, id: i64, item: Item) -> Result<()> {
        let position = Position::of_stored(table.schema(), &item);
        let effect = Effect { old: Some(item), new: None };
        let changes = effect.index_changes(table.schema());
        let (position, effect, changes) = (&position, &effect, &changes[..]);
        self.apply(table, &Applicable { position, place: Some(id), effect, changes })
    }
}
