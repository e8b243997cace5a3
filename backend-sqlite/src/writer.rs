//! Writer: group commit of all writes of a store.
//!
//! A write group executes all waiting jobs in one transaction and completes them after its commit,
//! so that they share one fsync. Which thread executes a group depends on the cost of a commit. If
//! every commit is an fsync, the store's thread executes all groups, and no caller's thread ever
//! waits for a disk. If commits are relaxed or in memory, callers execute them: see [`inline`].
//!
//! - [`job`]: the jobs that a group executes.
//! - [`queue`]: the waiting jobs, including the sweep step, and why no wake-up is lost.
//! - [`group`]: a group's transaction.
//! - [`inline`]: groups on the threads of callers.
//! - [`thread`]: groups, maintenance, checkpoints and sweeps on the store's thread.

mod group;
mod inline;
mod job;
mod queue;
mod thread;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use tabla_core::env::Env;
use tabla_core::{Applied, Error, ErrorKind, Result};
use tokio::sync::watch;

use self::inline::ExecuteQueuedOnDrop;
use self::job::CallerJob;
use self::queue::Queue;
use self::thread::WriterThread;
use crate::catalogue::{Catalogue, StoredTable};
use crate::config::{Durability, Location, SqliteConfig};
use crate::error::{copy_error, from_sqlite};
use crate::item_counts::ItemCounts;
use crate::record_log::RecordLog;
use crate::sequence::SequenceAllocator;
use crate::session::Session;
use crate::sweeper::{Sweeper, Sweeps};
use crate::wal::Wal;

/// Writing side of a store: connection, queue and thread. Dropping it executes the waiting jobs and
/// ends the thread.
pub(crate) struct Writer {
    shared: Arc<Shared>,
    sweeps: Arc<watch::Sender<Sweeps>>,
    thread: Option<JoinHandle<()>>,
}

/// State that callers and the thread share.
struct Shared {
    connection: Mutex<Connection>,
    queue: Arc<Queue>,
    catalogue: RwLock<Arc<Catalogue>>,
    /// Notified of each change of the catalogue and each failure of maintenance.
    changes: watch::Sender<()>,
    maintenance_failure: Mutex<Option<Error>>,
    env: Env,
    /// Whether callers execute groups on their own threads.
    is_inline: bool,
    /// Whether the store is in a file, which other processes may change.
    is_file: bool,
    item_counts: ItemCounts,
    record_log: RecordLog,
    numbers: SequenceAllocator,
    /// The write-ahead log of the file; `None` in memory.
    wal: Option<Wal>,
    /// Maximum time that a group waits while another process writes.
    busy_timeout: Duration,
}

impl Writer {
    pub(crate) fn start(connection: Connection, config: &SqliteConfig, env: Env) -> Result<Self> {
        let catalogue = Catalogue::load(&connection)?;
        // From here on, `Shared::execute` waits for other processes.
        connection.busy_timeout(Duration::ZERO).map_err(from_sqlite)?;
        let is_file = config.location != Location::Memory;
        let is_inline = !is_file || config.durability == Durability::Relaxed;
        let wal = Wal::new(config)?;
        let numbers = SequenceAllocator::new(&env, is_file);
        let sweeps = Arc::new(watch::Sender::new(Sweeps::default()));
        let sweeper = Sweeper::new(config.sweep_every, is_file, &env, Arc::clone(&sweeps));
        let shared = Arc::new(Shared {
            connection: Mutex::new(connection),
            queue: Arc::new(Queue::new(is_inline)),
            catalogue: RwLock::new(Arc::new(catalogue)),
            changes: watch::Sender::new(()),
            maintenance_failure: Mutex::default(),
            env,
            is_inline,
            is_file,
            item_counts: ItemCounts::new(is_file),
            record_log: RecordLog::new(is_file),
            numbers,
            wal,
            busy_timeout: config.busy_timeout,
        });
        let thread = WriterThread::new(Arc::clone(&shared), sweeper);
        let thread = std::thread::Builder::new()
            .name("tabla-sqlite".to_owned())
            .spawn(move || thread.run())
            .map_err(|error| {
                let message = format!("cannot start the writer's thread: {error}; retry");
                Error::new(ErrorKind::Unavailable, message)
            })?;
        Ok(Self { shared, sweeps, thread: Some(thread) })
    }

    /// Returns the catalogue after the last group.
    pub(crate) fn catalogue(&self) -> Arc<Catalogue> {
        self.shared.catalogue()
    }

    /// Returns the item counts of tables and indexes.
    pub(crate) fn item_counts(&self) -> &ItemCounts {
        &self.shared.item_counts
    }

    /// Returns the record log: the stream records and the cache of base records.
    pub(crate) fn record_log(&self) -> &RecordLog {
        &self.shared.record_log
    }

    /// Publishes a newer catalogue that was read from the file.
    pub(crate) fn publish(&self, catalogue: Arc<Catalogue>) {
        self.shared.publish(catalogue);
    }

    /// Executes a read on the writing connection, the only one in memory. It waits for the group
    /// that is being written.
    pub(crate) fn read<R>(&self, work: impl FnOnce(&Connection) -> R) -> R {
        let _after_release = ExecuteQueuedOnDrop(&self.shared);
        work(&self.shared.lock_connection())
    }

    /// Executes `work` in a write group, and returns after its commit. `items` is the number of
    /// items that it writes.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        items: usize,
        work: impl FnOnce(&mut Session<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let shared = &self.shared;
        let mut job = CallerJob::new(items, work);
        if shared.is_inline
            && let Some(outcome) = shared.write_inline(&mut job)
        {
            let result = job.result(&outcome);
            shared.execute_queued();
            return result;
        }
        let reply = job.reply();
        shared.queue.push(Box::new(job));
        if shared.is_inline {
            shared.execute_queued();
        } else {
            shared.queue.notify();
        }
        reply.await.unwrap_or_else(|_| {
            // The thread completes every job before it ends, unless it panics.
            let message = "the writer's thread ended before it reported the result of the write; \
                           open the store again, and read the items before you repeat the write";
            Err(Error::new(ErrorKind::Unexpected, message).with_applied(Applied::Maybe))
        })
    }

    /// Asks the thread for maintenance, and clears an earlier failure of it.
    pub(crate) fn maintain(&self) {
        self.shared.maintenance_failure().take();
        self.shared.queue.request_maintenance();
    }

    /// Returns a receiver of the statistics of the store's own sweeps.
    pub(crate) fn sweeps(&self) -> watch::Receiver<Sweeps> {
        self.sweeps.subscribe()
    }

    /// Waits until `wanted` returns a value for the catalogue, and returns that value. Fails if
    /// maintenance fails.
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
                return Err(copy_error(error, Applied::Maybe));
            }
            // The sender lives as long as the store, and with it this call.
            let _ = changes.changed().await;
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.shared.queue.request_stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("is_inline", &self.shared.is_inline).finish_non_exhaustive()
    }
}

impl Shared {
    fn lock_connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn maintenance_failure(&self) -> MutexGuard<'_, Option<Error>> {
        self.maintenance_failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn catalogue(&self) -> Arc<Catalogue> {
        Arc::clone(&self.catalogue.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn publish(&self, catalogue: Arc<Catalogue>) {
        let mut current = self.catalogue.write().unwrap_or_else(PoisonError::into_inner);
        // Two threads that have read the file may publish in reverse order.
        if catalogue.version >= current.version {
            *current = catalogue;
        }
        drop(current);
        self.changes.send_replace(());
    }

    /// Returns the catalogue, read again if another process has changed it, and the last sequence
    /// number that was allocated from the file (`None` in memory).
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
            table.indexes.iter().any(|one| one.backfilling) || table.is_expiry_index_filling()
        };
        if read.tables().any(is_filling) {
            // The process that has added the index may end before its backfill does.
            self.queue.request_maintenance();
        }
        Ok((read, Some(taken)))
    }
}

/// Executes a statement without parameters or rows.
fn statement(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(|_| ())
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures::FutureExt;

    use super::*;
    use crate::{connection, open};

    async fn writer(config: &SqliteConfig) -> Writer {
        if let Location::File(path) = &config.location {
            open::prepare(path, config).await.unwrap();
        }
        Writer::start(connection::open_writer(config).unwrap(), config, Env::system()).unwrap()
    }

    fn panicking(_: &mut Session<'_>) -> Result<i32> {
        panic!("an injected defect of the engine");
    }

    fn is_panic(result: &Result<i32>) -> bool {
        let names_panic = |error: &Error| error.message().contains("panicked");
        result.as_ref().is_err_and(|error| names_panic(error) && error.applied() == Applied::No)
    }

    #[tokio::test]
    async fn panicking_job_leaves_the_writer_usable() {
        let folder = tempfile::tempdir().unwrap();
        let file = SqliteConfig::file(folder.path().join("a.db"));
        let relaxed = file.clone().with_durability(Durability::Relaxed);
        for config in [SqliteConfig::in_memory(), file, relaxed] {
            let writer = writer(&config).await;
            assert!(is_panic(&writer.write(1, panicking).await), "{config:?}");
            assert_eq!(writer.write(1, |_| Ok(7)).await.unwrap(), 7);
        }
    }

    #[tokio::test]
    async fn panicking_job_fails_its_group() {
        let writer = writer(&SqliteConfig::in_memory()).await;
        let (mut job, mut other) =
            (pin!(writer.write(1, panicking)), pin!(writer.write(1, |_| Ok(7))));
        {
            // While the connection is taken, both jobs wait for the same group.
            let _connection = writer.shared.lock_connection();
            assert!(job.as_mut().now_or_never().is_none());
            assert!(other.as_mut().now_or_never().is_none());
        }
        writer.shared.execute_queued();
        assert!(is_panic(&job.await));
        assert!(is_panic(&other.await));
    }

    #[tokio::test]
    async fn dropped_writer_executes_waiting_jobs() {
        let folder = tempfile::tempdir().unwrap();
        let writer = writer(&SqliteConfig::file(folder.path().join("a.db"))).await;
        let shared = Arc::clone(&writer.shared);
        let mut job = CallerJob::new(1, |_: &mut Session<'_>| Ok(7));
        let reply = job.reply();
        let connection = shared.lock_connection();
        shared.queue.push(Box::new(job));
        let dropping = std::thread::spawn(move || drop(writer));
        drop(connection);
        dropping.join().unwrap();
        assert_eq!(reply.await.unwrap().unwrap(), 7);
    }
}
