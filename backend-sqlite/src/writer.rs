//! Writes, one group after another.
//!
//! All writes that wait are carried out in one transaction and answered after its commit, so that
//! they share its sync. Who carries them out depends on what a commit costs. Where it is synced, a
//! thread of the store does, and no caller's thread ever waits for a disk. Where it is not, a
//! caller that finds nobody writing does it at once, for itself and for whoever has come in the
//! meantime: handing a write of ten microseconds to another thread would take longer than it.

use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, TryLockError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use tabla_core::env::{self, Env, Timestamp};
use tabla_core::{Applied, Error, ErrorKind, Result, Retry};
use tokio::sync::{oneshot, watch};

use crate::archive::Archive;
use crate::catalogue::{Catalogue, StoredTable};
use crate::config::{Durability, Location, SqliteConfig};
use crate::counts::Ledger;
use crate::error::{again, from_sqlite};
use crate::numbers::Numbers;
use crate::session::Session;
use crate::sweep::{self, Seen, Sweep};
use crate::sweeper::{Settings, Sweeper, Sweeps, Turn};
use crate::wal::{self, Wal};
use crate::{maintenance, streams};

/// The most items that a group writes, unless its first job alone writes more: so it holds the
/// file's lock for a few milliseconds, if they are no larger than most.
const GROUP: usize = 256;

/// How often the thread looks for work before it sleeps.
const LINGER: usize = 100;

/// How long the thread waits before it tries maintenance again that has failed: another process
/// may be writing, or the disk be full.
const MAINTENANCE_PAUSE: Duration = Duration::from_secs(1);

/// How long the thread sleeps, if nobody wakes it, while a caller takes a step of a sweep.
const SWEEPER_TAKEN: Duration = Duration::from_millis(1);

/// The writing side of a store. Dropping it carries out what waits, and ends its thread.
pub(crate) struct Writer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What callers and the thread share.
pub(crate) struct Shared {
    connection: Mutex<Connection>,
    queue: Mutex<Queue>,
    wake: Condvar,
    catalogue: RwLock<Arc<Catalogue>>,
    /// Changes whenever the catalogue does, or maintenance has failed.
    changes: watch::Sender<()>,
    maintenance_failure: Mutex<Option<Error>>,
    env: Env,
    /// Whether callers may write on their own threads.
    inline: bool,
    /// Whether other processes may change the file.
    is_file: bool,
    ledger: Ledger,
    archive: Archive,
    numbers: Numbers,
    /// The write-ahead log of the file; `None` in memory.
    wal: Option<Wal>,
    patience: Duration,
    /// How many groups were committed.
    groups: AtomicUsize,
    /// Taken after the connection by whoever writes, and only if nobody has it: the thread takes the
    /// two in either order.
    sweeper: Mutex<Sweeper>,
    /// Whether a sweep is under way, so that who writes need not ask the sweeper.
    is_sweeping: AtomicBool,
    sweeps: Arc<watch::Sender<Sweeps>>,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Box<dyn Job>>,
    maintenance: bool,
    /// Whether maintenance has failed and is to be tried again.
    maintenance_later: bool,
    checkpoint: bool,
    stop: bool,
}

impl Queue {
    fn is_idle(&self) -> bool {
        self.jobs.is_empty() && !self.maintenance && !self.checkpoint
    }
}

/// A write that waits for its turn, and for its answer.
trait Job: Send {
    /// How many items it writes.
    fn items(&self) -> usize;
    fn run(&mut self, session: &mut Session<'_>);
    fn answer(self: Box<Self>, outcome: &Outcome);
}

/// How a group ended.
enum Outcome {
    Committed,
    /// Nothing was done; or, if the commit itself failed, perhaps all.
    Failed(Error, Applied),
}

struct Pending<T, F> {
    items: usize,
    work: Option<F>,
    result: Option<Result<T>>,
    reply: Option<oneshot::Sender<Result<T>>>,
}

impl<T, F: FnOnce(&mut Session<'_>) -> Result<T>> Pending<T, F> {
    fn carry_out(&mut self, session: &mut Session<'_>) {
        let work = self.work.take().expect("a job is run once");
        session.next_operation();
        // A panic is a defect of the engine. It must not take the thread with it that everybody
        // waits for; what it has left half done goes with the group.
        let outcome = catch_unwind(AssertUnwindSafe(|| work(session)));
        let result = outcome.unwrap_or_else(|_| {
            let panicked =
                || Error::new(ErrorKind::Unexpected, "the engine panicked; this is a defect in it");
            session.fail(panicked());
            Err(panicked())
        });
        if let Err(error) = &result {
            session.end_failed(error);
        }
        self.result = Some(result);
    }

    fn result(&mut self, outcome: &Outcome) -> Result<T> {
        match outcome {
            Outcome::Committed => self.result.take().expect("the job was run"),
            Outcome::Failed(error, applied) => match self.result.take() {
                // The one that made the group fail keeps its own error, with its source.
                Some(Err(own)) if own.message() == error.message() => {
                    Err(own.with_applied(*applied))
                }
                _ => Err(again(error, *applied)),
            },
        }
    }
}

impl<T: Send, F: FnOnce(&mut Session<'_>) -> Result<T> + Send> Job for Pending<T, F> {
    fn items(&self) -> usize {
        self.items
    }

    fn run(&mut self, session: &mut Session<'_>) {
        self.carry_out(session);
    }

    fn answer(mut self: Box<Self>, outcome: &Outcome) {
        let result = self.result(outcome);
        if let Some(reply) = self.reply.take() {
            // Whoever asked may have gone: the write is done all the same.
            let _ = reply.send(result);
        }
    }
}

impl Writer {
    pub(crate) fn start(connection: Connection, config: &SqliteConfig, env: Env) -> Result<Self> {
        let catalogue = Catalogue::load(&connection)?;
        // From here on, whoever finds another process writing waits in its own way.
        connection.busy_timeout(Duration::ZERO).map_err(from_sqlite)?;
        let is_file = config.location != Location::Memory;
        let inline = !is_file || config.durability == Durability::Normal;
        let wal = Wal::new(config)?;
        let sweeps = Arc::new(watch::Sender::new(Sweeps::default()));
        let settings = Settings { period: config.sweep_every, inline, is_file };
        let shared = Arc::new_cyclic(|shared| Shared {
            connection: Mutex::new(connection),
            queue: Mutex::new(Queue { maintenance: true, ..Queue::default() }),
            wake: Condvar::new(),
            catalogue: RwLock::new(Arc::new(catalogue)),
            changes: watch::Sender::new(()),
            maintenance_failure: Mutex::default(),
            numbers: Numbers::new(&env, is_file),
            sweeper: Mutex::new(Sweeper::new(settings, &env, shared.clone(), Arc::clone(&sweeps))),
            is_sweeping: AtomicBool::new(false),
            sweeps,
            env,
            inline,
            is_file,
            ledger: Ledger::new(is_file),
            archive: Archive::new(is_file),
            wal,
            patience: config.busy_timeout,
            groups: AtomicUsize::new(0),
        });
        let thread = std::thread::Builder::new()
            .name("tabla-sqlite".to_owned())
            .spawn({
                let shared = Arc::clone(&shared);
                move || shared.work()
            })
            .map_err(|error| {
                Error::new(ErrorKind::Unavailable, format!("no thread can be started: {error}"))
            })?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// The tables as they were after the last group.
    pub(crate) fn catalogue(&self) -> Arc<Catalogue> {
        self.shared.catalogue()
    }

    /// Where the numbers of items are.
    pub(crate) fn ledger(&self) -> &Ledger {
        &self.shared.ledger
    }

    /// Where the records of streams are.
    pub(crate) fn archive(&self) -> &Archive {
        &self.shared.archive
    }

    /// Puts a newer catalogue in place, read from the file.
    pub(crate) fn publish(&self, catalogue: Arc<Catalogue>) {
        self.shared.publish(catalogue);
    }

    /// Reads with the connection that writes: in memory there is no other. The read waits for the
    /// group that is being written.
    pub(crate) fn read<R>(&self, work: impl FnOnce(&Connection) -> R) -> R {
        let _help = HelpAfterwards(&self.shared);
        work(&self.shared.connection.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Carries this out in a group, and answers after its commit; `items` is how many it writes.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        items: usize,
        work: impl FnOnce(&mut Session<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let shared = &self.shared;
        let mut job = Pending { items, work: Some(work), result: None, reply: None };
        if shared.inline
            && let Some(connection) = shared.try_connection()
            && let Some(outcome) = shared.run_with_waiting(connection, Some(&mut job))
        {
            let result = job.result(&outcome);
            shared.help();
            return result;
        }
        let (reply, answer) = oneshot::channel();
        job.reply = Some(reply);
        shared.queue().jobs.push_back(Box::new(job));
        if shared.inline {
            shared.help();
        } else {
            shared.wake.notify_one();
        }
        answer.await.unwrap_or_else(|_| {
            // The thread answers everything before it ends.
            Err(Error::new(ErrorKind::Unexpected, "the store's thread is gone")
                .with_applied(Applied::Maybe))
        })
    }

    /// Has the thread look for maintenance.
    pub(crate) fn maintain(&self) {
        self.shared.maintenance_failure().take();
        self.shared.queue().maintenance = true;
        self.shared.wake.notify_one();
    }

    /// What the store's own sweeps have done, as it changes.
    pub(crate) fn sweeps(&self) -> watch::Receiver<Sweeps> {
        self.shared.sweeps.subscribe()
    }

    /// Waits until the catalogue is as wanted.
    pub(crate) async fn wait_for<T>(
        &self,
        mut wanted: impl FnMut(&Catalogue) -> Option<T>,
    ) -> Result<T> {
        let mut changes = self.shared.changes.subscribe();
        loop {
            if let Some(found) = wanted(&self.catalogue()) {
                return Ok(found);
            }
            if let Some(error) = &*self.shared.maintenance_failure() {
                return Err(again(error, Applied::Maybe));
            }
            // The sender lives as long as the store, and with it this call.
            let _ = changes.changed().await;
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.queue().stop = true;
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("inline", &self.shared.inline).finish_non_exhaustive()
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn maintenance_failure(&self) -> MutexGuard<'_, Option<Error>> {
        self.maintenance_failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sweeper(&self) -> MutexGuard<'_, Sweeper> {
        self.sweeper.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_connection(&self) -> Option<MutexGuard<'_, Connection>> {
        match self.connection.try_lock() {
            Ok(connection) => Some(connection),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn catalogue(&self) -> Arc<Catalogue> {
        Arc::clone(&self.catalogue.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn publish(&self, catalogue: Arc<Catalogue>) {
        let mut current = self.catalogue.write().unwrap_or_else(PoisonError::into_inner);
        // Two who read the file may finish in the other order.
        if catalogue.version >= current.version {
            *current = catalogue;
        }
        drop(current);
        self.changes.send_replace(());
    }

    /// Carries out one group of what waits, if nobody has the connection; the thread sees to the
    /// rest.
    ///
    /// Whoever has the connection calls this after letting go of it, and whoever queues a job calls
    /// it after that: so a job that is queued while the connection is held is seen by one of the
    /// two.
    fn help(&self) {
        if self.queue().jobs.is_empty() {
            return;
        }
        let Some(connection) = self.try_connection() else { return };
        self.run_with_waiting(connection, None);
        // Looked at after the connection was let go of: whoever has queued a job before that, and
        // did not get the connection, relies on it.
        if !self.queue().jobs.is_empty() {
            self.wake.notify_one();
        }
    }

    /// Carries out one group of what waits, and of a caller's own job after that, and lets go of the
    /// connection; `None` if there is nothing to do, or another process is writing and nothing has
    /// been done.
    fn run_with_waiting(
        &self,
        connection: MutexGuard<'_, Connection>,
        mut own: Option<&mut dyn Job>,
    ) -> Option<Outcome> {
        let mut jobs = self.take_jobs();
        if jobs.is_empty() && own.is_none() {
            return None;
        }
        let waiting: usize = jobs.iter().map(|job| job.items()).sum();
        let items = waiting + own.as_ref().map_or(0, |own| own.items());
        let mut work = |session: &mut Session<'_>| {
            run_all(&mut jobs, session);
            if let Some(own) = own.as_mut()
                && !session.has_failed()
            {
                own.run(session);
            }
        };
        let outcome = self.run_along(items, &mut work, |work| self.try_run(&connection, work));
        drop(connection);
        match &outcome {
            Some(outcome) => answer_all(jobs, outcome),
            None => {
                // The thread can wait for the other process.
                let mut queue = self.queue();
                for job in jobs.into_iter().rev() {
                    queue.jobs.push_front(job);
                }
            }
        }
        outcome
    }

    fn take_jobs(&self) -> Vec<Box<dyn Job>> {
        let most = match self.wal.as_ref().is_some_and(Wal::is_disk_short) {
            true => 1,
            false => GROUP,
        };
        let mut queue = self.queue();
        let mut items = 0;
        let sizes = queue.jobs.iter().map(|job| job.items());
        let fits = |size: &usize| {
            let is_first = items == 0;
            items += size;
            is_first || items <= most
        };
        let count = sizes.take_while(fits).count();
        queue.jobs.drain(..count).collect()
    }

    /// Wakes the thread to look at the time.
    pub(crate) fn wake_thread(&self) {
        // With the lock, so that it is not between looking and sleeping.
        let _queue = self.queue();
        self.wake.notify_one();
    }

    /// The thread's life.
    fn work(&self) {
        loop {
            let (maintenance, checkpoint) = {
                self.linger();
                let mut queue = self.queue();
                while queue.is_idle() && !queue.stop {
                    match self.sweep_wait() {
                        Some(Duration::ZERO) => break,
                        wait => queue = self.sleep(queue, wait),
                    }
                }
                if queue.jobs.is_empty() && queue.stop {
                    return;
                }
                let Queue { maintenance, checkpoint, .. } = &mut *queue;
                (std::mem::take(maintenance), std::mem::take(checkpoint))
            };
            self.begin_sweep();
            self.turn();
            if maintenance {
                self.maintain();
            }
            if checkpoint {
                self.checkpoint();
            }
        }
    }

    /// How long the thread may sleep for the sweeper's sake. Asked with the queue's lock, so that
    /// nobody is waited for who may want that: who has the sweeper is taking a step.
    fn sweep_wait(&self) -> Option<Duration> {
        match self.sweeper.try_lock() {
            Ok(mut sweeper) => sweeper.wait(),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner().wait(),
            Err(TryLockError::WouldBlock) => Some(SWEEPER_TAKEN),
        }
    }

    /// Begins a sweep if it is time for one, and something to sweep is seen.
    fn begin_sweep(&self) {
        let mut sweeper = self.sweeper();
        sweeper.begin(|now, holder| self.look(now, holder));
        self.is_sweeping.store(sweeper.is_under_way(), Ordering::Relaxed);
    }

    /// Carries out a group of what waits, or a step of a sweep, or both in one.
    fn turn(&self) {
        let mut jobs = self.take_jobs();
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if jobs.is_empty() {
            self.sweep_alone(&connection);
            return;
        }
        let items = jobs.iter().map(|job| job.items()).sum();
        let mut work = |session: &mut Session<'_>| run_all(&mut jobs, session);
        let outcome = self.run_along(items, &mut work, |work| Some(self.run(&connection, work)));
        drop(connection);
        answer_all(jobs, &outcome.expect("it was waited for"));
    }

    /// Takes a step of the sweep that is under way, if it is time for one.
    fn sweep_alone(&self, connection: &Connection) {
        let mut sweeper = self.sweeper();
        let Some(sweep) = sweeper.alone() else { return };
        // If another process is writing, it can come later.
        let run = |work: &mut Work<'_>| self.try_run(connection, work);
        self.step(&mut sweeper, sweep, None, run);
    }

    /// Has a group carried out that writes so many items, and a step of the sweep that is under way
    /// along with it, if there is one. What running it gives is returned.
    fn run_along(
        &self,
        items: usize,
        work: &mut Work<'_>,
        run: impl FnOnce(&mut Work<'_>) -> Option<Outcome>,
    ) -> Option<Outcome> {
        if !self.is_sweeping.load(Ordering::Relaxed) {
            return run(work);
        }
        // If the thread has it, it is about to take a step itself.
        let Ok(mut sweeper) = self.sweeper.try_lock() else { return run(work) };
        match sweeper.along(items) {
            Some((sweep, most)) => self.step(&mut sweeper, sweep, Some((work, most)), run),
            None => run(work),
        }
    }

    /// Has a step of a sweep carried out, after the work of a group that it goes along with if there
    /// is one.
    fn step(
        &self,
        sweeper: &mut Sweeper,
        mut sweep: Sweep,
        along: Option<(&mut Work<'_>, usize)>,
        run: impl FnOnce(&mut Work<'_>) -> Option<Outcome>,
    ) -> Option<Outcome> {
        let is_alone = along.is_none();
        let groups_before = self.groups.load(Ordering::Relaxed);
        let (mut group, most) = along.unzip();
        let step = |session: &mut Session<'_>| match most {
            None => sweeper.step(session, &mut sweep, usize::MAX),
            Some(most) => session.apart(|session| sweeper.step(session, &mut sweep, most)),
        };
        let mut step = Pending { items: 0, work: Some(step), result: None, reply: None };
        let outcome = run(&mut |session: &mut Session<'_>| {
            if let Some(group) = &mut group {
                group(session);
            }
            if !session.has_failed() {
                step.carry_out(session);
            }
        });
        let stepped = outcome.as_ref().map(|outcome| step.result(outcome));
        let groups_after = self.groups.load(Ordering::Relaxed);
        sweeper.stepped(sweep, stepped, Turn { groups_before, groups_after, is_alone });
        self.is_sweeping.store(sweeper.is_under_way(), Ordering::Relaxed);
        outcome
    }

    /// Looks whether there is anything to sweep, or to take out of the streams, without writing.
    fn look(&self, now: Timestamp, holder: Option<&str>) -> Result<Seen> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        statement(&connection, "BEGIN").map_err(from_sqlite)?;
        let seen = self.current_state(&connection).and_then(|(catalogue, _)| {
            if streams::are_too_long(&connection, &self.archive, now)? {
                self.queue().maintenance = true;
            }
            sweep::look(&connection, &catalogue, now, holder)
        });
        // It has only read: however this ends, nothing is lost.
        let _ = statement(&connection, "COMMIT");
        seen
    }

    /// Sleeps until there is something to do, this time has passed, or maintenance is to be tried
    /// again.
    fn sleep<'q>(
        &self,
        queue: MutexGuard<'q, Queue>,
        wait: Option<Duration>,
    ) -> MutexGuard<'q, Queue> {
        let maintenance = queue.maintenance_later.then_some(MAINTENANCE_PAUSE);
        let Some(longest) = wait.into_iter().chain(maintenance).min() else {
            return self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
        };
        let woken = self.wake.wait_timeout(queue, longest);
        let (mut queue, timeout) = woken.unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() && queue.maintenance_later {
            queue.maintenance_later = false;
            queue.maintenance = true;
        }
        queue
    }

    /// Stays awake for a moment: whoever was just answered often has the next write, and waking a
    /// thread takes longer than a cheap sync. Whatever else wants the processor gets it.
    fn linger(&self) {
        for _ in 0..LINGER {
            let queue = self.queue();
            if !queue.is_idle() || queue.stop {
                return;
            }
            drop(queue);
            std::thread::yield_now();
        }
    }

    /// Checkpoints the log.
    ///
    /// Callers that write by themselves go on meanwhile, on the connection that writes. What they
    /// add is copied while they wait; without that the log might never be at its end.
    fn checkpoint(&self) {
        if let Some(wal) = &self.wal {
            wal.checkpoint_beside();
            wal.checkpoint(&self.connection.lock().unwrap_or_else(PoisonError::into_inner));
        }
        self.help();
    }

    /// Counts the pages that a group has written, and has the thread checkpoint a log that is long.
    fn count_pages(&self, pages: usize, connection: &Connection) {
        if self.wal.as_ref().is_some_and(|wal| wal.count(pages, connection)) {
            self.queue().checkpoint = true;
            self.wake.notify_one();
        }
    }

    /// One step of maintenance; more if there is more to do.
    fn maintain(&self) {
        let mut step =
            Pending { items: 0, work: Some(maintenance::step), result: None, reply: None };
        let outcome = {
            let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
            self.run(&connection, &mut |session| step.carry_out(session))
        };
        match step.result(&outcome) {
            Ok(more) => {
                let mut queue = self.queue();
                queue.maintenance |= more && !queue.stop;
            }
            Err(error) => {
                self.queue().maintenance_later |= error.retry() != Retry::Never;
                *self.maintenance_failure() = Some(error);
                self.changes.send_replace(());
            }
        }
    }

    /// Runs a group, waiting for other processes as long as the store's patience lasts.
    fn run(&self, connection: &Connection, work: &mut Work<'_>) -> Outcome {
        // Short and uneven waits: a process that writes without pause leaves the lock for a
        // moment only, and whoever asks more often meets that moment sooner.
        let mut waited = Duration::ZERO;
        loop {
            if let Some(outcome) = self.try_run(connection, work) {
                return outcome;
            }
            if waited >= self.patience {
                let message = format!(
                    "another process has been writing to the file for {} ms",
                    waited.as_millis()
                );
                let error = Error::new(ErrorKind::Unavailable, message).with_retry(Retry::Later);
                return Outcome::Failed(error, Applied::No);
            }
            let pause = Duration::from_micros(100 + self.env.random.next_u64() % 900);
            env::block(pause);
            waited += pause;
        }
    }

    /// Runs a group; `None` if another process is writing, and nothing has been done.
    fn try_run(&self, connection: &Connection, work: &mut Work<'_>) -> Option<Outcome> {
        let is_short = |wal: &&Wal| wal.is_disk_short() && !wal.reclaim(connection);
        let short = self.wal.as_ref().filter(is_short);
        match statement(connection, "BEGIN IMMEDIATE") {
            Ok(()) => {}
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {
                return None;
            }
            Err(error) => return Some(Outcome::Failed(from_sqlite(error), Applied::No)),
        }
        let outcome = self.carry_out(connection, short, work);
        if !matches!(outcome, Outcome::Committed) && !connection.is_autocommit() {
            // SQLite may have rolled back by itself; if this fails, so will the next BEGIN.
            let _ = statement(connection, "ROLLBACK");
        }
        Some(outcome)
    }

    /// Does the work of a group whose transaction has begun, and commits it. On a disk that is
    /// `short`, items may not grow.
    fn carry_out(
        &self,
        connection: &Connection,
        short: Option<&Wal>,
        work: &mut Work<'_>,
    ) -> Outcome {
        let failed = |error| Outcome::Failed(error, Applied::No);
        let (catalogue, taken) = match self.current_state(connection) {
            Ok(current) => current,
            Err(error) => return failed(error),
        };
        let beside = (&self.ledger, &self.archive);
        let mut session = Session::new(connection, catalogue, beside, &self.numbers, &self.env);
        (session.taken, session.short) = (taken, short);
        work(&mut session);
        if session.has_failed() {
            let error = session.failure();
            return failed(self.explained(error, session.is_disk_full));
        }
        if let Err(error) = session.finish() {
            return failed(self.explained(error, session.is_disk_full));
        }
        let (catalogue, is_changed) =
            (Arc::clone(&session.catalogue), session.is_catalogue_changed());
        let (pages, counts) = (session.written().pages(), session.take_counts());
        let archived = std::mem::take(&mut session.archived);
        let (block, wants_maintenance) = (session.block, session.wants_maintenance);
        if let Err(error) = statement(connection, "COMMIT") {
            self.numbers.forget();
            let is_disk_full = wal::is_disk_full(&error);
            let error = self.explained(from_sqlite(error), is_disk_full);
            return Outcome::Failed(error, Applied::Maybe);
        }
        if is_changed {
            self.publish(catalogue);
        }
        self.ledger.keep(counts);
        self.archive.keep(archived);
        self.groups.fetch_add(1, Ordering::Relaxed);
        self.numbers.keep(block);
        self.count_pages(pages, connection);
        if wants_maintenance {
            self.queue().maintenance = true;
            self.wake.notify_one();
        }
        Outcome::Committed
    }

    /// The error of a group, which names the file if its disk was full.
    fn explained(&self, error: Error, is_disk_full: bool) -> Error {
        match &self.wal {
            Some(wal) if is_disk_full => wal.disk_full(&error),
            _ => error,
        }
    }

    /// The catalogue, read again if another process has changed it, and the last number that was
    /// taken for stream records, if the file was asked.
    fn current_state(&self, connection: &Connection) -> Result<(Arc<Catalogue>, Option<i64>)> {
        let known = self.catalogue();
        if !self.is_file {
            return Ok((known, None));
        }
        let (version, taken) = Catalogue::stored_state(connection)?;
        if version == known.version {
            return Ok((known, Some(taken)));
        }
        let read = Arc::new(Catalogue::load(connection)?);
        self.publish(Arc::clone(&read));
        let is_filling = |table: &Arc<StoredTable>| {
            table.indexes.iter().any(|one| one.backfilling) || table.lacks_times()
        };
        if read.tables().any(is_filling) {
            // The process that has added the index may end before it is filled.
            self.queue().maintenance = true;
            self.wake.notify_one();
        }
        Ok((read, Some(taken)))
    }
}

/// Helps those who wait when it goes out of scope: declared before the connection is taken, it does
/// so after the connection is let go of, come what may in between.
struct HelpAfterwards<'s>(&'s Shared);

impl Drop for HelpAfterwards<'_> {
    fn drop(&mut self) {
        self.0.help();
    }
}

/// What a group does.
type Work<'w> = dyn FnMut(&mut Session<'_>) + 'w;

fn run_all(jobs: &mut [Box<dyn Job>], session: &mut Session<'_>) {
    for job in jobs {
        job.run(session);
        if session.has_failed() {
            break;
        }
    }
}

fn answer_all(jobs: Vec<Box<dyn Job>>, outcome: &Outcome) {
    for job in jobs {
        job.answer(outcome);
    }
}

fn statement(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(|_| ())
}
