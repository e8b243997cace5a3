//! `SqliteStore`: operations of the [`Store`] trait as plans, reads and write jobs.
//!
//! Semantics are in core's plans, SQL is in `rows` and `session`.

use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::Connection;
use tabla_core::backend::schema::TablesPage;
use tabla_core::backend::{
    BatchGet, BatchWrite, FoundItems, PageRead, SingleGet, SingleWrite, TableRef, TransactGet,
    TransactWrite, read_batch_to_end,
};
use tabla_core::env::Env;
use tabla_core::ops::*;
use tabla_core::{Capabilities, Error, ErrorKind, Result, Retry, RetryMode, RetryPolicy, Store};
use tokio::sync::oneshot;

use crate::catalogue::{Catalogue, StoredTable};
use crate::collections::{CollectionSizes, Collections, collections, of_large_tables};
use crate::config::{Location, SqliteConfig};
use crate::item_counts::CountChanges;
#[cfg(test)]
use crate::item_counts::ItemCounts;
use crate::read_pool::ReadPool;
use crate::rows::ConnectionRows;
use crate::session::Session;
use crate::sweep::{self, StepOutcome, Sweep};
use crate::sweeper::Sweeps;
use crate::tables::{described, may_be_stale};
use crate::writer::Writer;
use crate::{connection, open, streams, tables};

/// Maximum number of rows of a page that is read on the caller's thread. A longer page is read on a
/// blocking thread.
const INLINE_ROWS: usize = 128;

/// Maximum size, in bytes, of a page that is filtered on the caller's thread.
const INLINE_BYTES: usize = 64 << 10;

/// Maximum number of times that the costly expressions of a write are evaluated outside the writer.
/// Each repetition follows a change of the item by another write.
const MAX_PRE_EVALUATIONS: usize = 8;

/// Embedded [`Store`] in an SQLite file, or in memory.
///
/// Clones are cheap and share the store. The file is closed when the last clone is dropped. The
/// methods must be called inside a tokio runtime.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    inner: Arc<Inner>,
    /// Retry policy of transactions that end with a conflict.
    retries: RetryPolicy,
}

#[derive(Debug)]
struct Inner {
    writer: Writer,
    /// Connections that read; `None` in memory, where all reads use the writing connection.
    readers: Option<ReadPool>,
    env: Env,
}

impl SqliteStore {
    /// Opens a store with the system's clock and randomness. Creates the file if it does not exist.
    ///
    /// # Errors
    /// The file cannot be opened or created, is read-only, was not written by tabla, has a newer
    /// format, or is damaged.
    pub async fn open(config: &SqliteConfig) -> Result<Self> {
        Self::open_with(config, Env::system()).await
    }

    /// Opens a store with the clock and randomness of `env`.
    ///
    /// # Errors
    /// As for [`SqliteStore::open`].
    pub async fn open_with(config: &SqliteConfig, env: Env) -> Result<Self> {
        let readers = match &config.location {
            Location::Memory => None,
            Location::File(path) => {
                open::prepare(path, config).await?;
                Some(ReadPool::new(path.clone(), config.clone()))
            }
        };
        let writer = Writer::start(connection::open_writer(config)?, config, env.clone())?;
        let retries = RetryPolicy::none();
        Ok(Self { inner: Arc::new(Inner { writer, readers, env }), retries })
    }

    /// Sets the retry policy of this handle. Default: [`RetryPolicy::none`]; a store from an
    /// address has the policy of its registry.
    ///
    /// The store retries a transaction whose costly expressions were evaluated outside the writer
    /// while other writes kept changing its items. This is the only conflict that the engine
    /// reports. With more than one attempt, it also reads a batch of more than 16 MB to its end.
    /// The policy does not apply to a file that another process has locked:
    /// [`SqliteConfig::with_busy_timeout`] limits that wait.
    #[must_use]
    pub fn with_retries(mut self, retries: RetryPolicy) -> Self {
        self.retries = retries;
        self
    }

    /// Deletes all items whose time to live has passed, and returns their number. Until they are
    /// deleted, expired items can be read and written like any other item. As on DynamoDB, an item
    /// whose time passed more than five years ago is not deleted.
    ///
    /// The store also sweeps by itself, once per period ([`SqliteConfig::with_sweep_every`]), and
    /// only while it holds the file's sweep lease. This sweep needs no lease and begins at once.
    /// Writes of other callers run between its steps of at most 64 items.
    ///
    /// # Errors
    /// The file cannot be written, or an item is damaged. In the second case, all other expired
    /// items were deleted.
    pub async fn sweep_expired(&self) -> Result<usize> {
        let writer = &self.inner.writer;
        // An incomplete expiry index lacks expired items, so it is filled first.
        while self.inner.catalogue()?.tables().any(|table| table.is_expiry_index_filling()) {
            let fill = |session: &mut Session<'_>| {
                let lacking = session
                    .catalogue
                    .tables()
                    .find(|table| table.is_expiry_index_filling())
                    .cloned();
                lacking.map_or(Ok(()), |table| session.backfill_expiry_index(&table))
            };
            writer.write(sweep::FOREGROUND_STEP_ITEMS, fill).await?;
        }
        let mut sweep = Sweep::new(self.inner.env.clock.now(), sweep::FOREGROUND_STEP_ITEMS);
        loop {
            let before = sweep.clone();
            // A failed step too sends back its state, with the cursor at the item that failed.
            let (sender, receiver) = oneshot::channel();
            let step = writer.write(sweep.step_items, move |session| {
                let outcome = session.in_savepoint(|session| session.sweep(&mut sweep, usize::MAX));
                let _ = sender.send(sweep);
                outcome
            });
            let step = step.await;
            sweep = match receiver.await {
                Ok(sweep) => sweep,
                // The step was never executed.
                Err(_) => before.clone(),
            };
            match step {
                Ok(StepOutcome::More) => {}
                Ok(_) => break,
                Err(error) => sweep = sweep.after_failure(before, &error).ok_or(error)?,
            }
        }
        match sweep.problem {
            None => Ok(sweep.deleted),
            Some(problem) => {
                let deleted = sweep.deleted;
                let message = format!(
                    "cannot delete an expired item: {problem}; other expired items deleted: {deleted}"
                );
                Err(Error::corrupt(message))
            }
        }
    }

    /// Statistics of the store's own sweeps since it was opened.
    pub fn sweeps(&self) -> Sweeps {
        self.inner.writer.sweeps().borrow().clone()
    }

    /// Waits until `count` of the store's own sweeps have ended since it was opened, and returns
    /// their statistics. It never returns if sweeps are off.
    pub async fn wait_for_sweeps(&self, count: u64) -> Sweeps {
        let mut sweeps = self.inner.writer.sweeps();
        match sweeps.wait_for(|sweeps| sweeps.count >= count).await {
            Ok(sweeps) => sweeps.clone(),
            // The sender lives as long as the store, and with it this call.
            Err(_) => self.sweeps(),
        }
    }
}

#[cfg(test)]
impl SqliteStore {
    /// Calls `look` with a snapshot of the file, the item counts, and a table of the catalogue.
    pub(crate) fn with_table(
        &self,
        name: &str,
        look: impl FnOnce(&Connection, &ItemCounts, &Arc<StoredTable>),
    ) {
        let table = self.inner.writer.catalogue().table(name).expect("a created table");
        let item_counts = self.inner.writer.item_counts();
        let outcome = self.inner.snapshot(|connection| {
            look(connection, item_counts, &table);
            Ok(())
        });
        outcome.expect("the snapshot can be read");
    }
}

impl Inner {
    /// Runs a read of one statement.
    fn read<R>(&self, work: impl FnOnce(&Connection) -> Result<R>) -> Result<R> {
        match &self.readers {
            Some(readers) => readers.read(work),
            None => self.writer.read(work),
        }
    }

    /// Runs a read of several statements that see the same state of the store.
    fn snapshot<R>(&self, work: impl FnOnce(&Connection) -> Result<R>) -> Result<R> {
        match &self.readers {
            Some(readers) => readers.snapshot(work),
            None => self.writer.read(work),
        }
    }

    /// Returns the current catalogue; reads it from the file if another process has changed it.
    fn catalogue(&self) -> Result<Arc<Catalogue>> {
        let known = self.writer.catalogue();
        let Some(readers) = &self.readers else { return Ok(known) };
        let read = readers.snapshot(|connection| {
            match Catalogue::stored_state(connection)?.0 == known.version {
                true => Ok(None),
                false => Catalogue::load(connection).map(Some),
            }
        })?;
        if let Some(catalogue) = read {
            self.writer.publish(Arc::new(catalogue));
        }
        Ok(self.writer.catalogue())
    }

    /// Executes `work` with the cached catalogue, and once more if it fails and another process has
    /// changed the catalogue.
    ///
    /// Numbers of tables and indexes are never reused, so a stale entry refers to the right rows or
    /// to none. A success therefore needs no comparison with the file.
    fn attempt<R>(&self, work: impl Fn(&Catalogue) -> Result<R>) -> Result<R> {
        let known = self.writer.catalogue();
        let outcome = work(&known);
        if !outcome.as_ref().is_err_and(may_be_stale) {
            return outcome;
        }
        // Compared with `known`, because another caller may have cached a newer one meanwhile.
        let present = self.catalogue()?;
        if present.version == known.version { outcome } else { work(&present) }
    }

    /// Estimates the sizes of the item collections that the response to a write reports.
    async fn collection_sizes(
        self: &Arc<Self>,
        collections: Collections,
    ) -> Result<CollectionSizes> {
        if collections.is_empty() {
            return Ok(CollectionSizes::default());
        }
        let item_counts = self.writer.item_counts();
        let collections =
            self.snapshot(|connection| of_large_tables(connection, item_counts, collections))?;
        if collections.is_empty() {
            return Ok(CollectionSizes::default());
        }
        let inner = Arc::clone(self);
        on_blocking_thread(move || {
            inner.snapshot(|connection| {
                CollectionSizes::estimate(connection, inner.writer.item_counts(), collections)
            })
        })
        .await
    }

    /// Executes a write of one item. Costly expressions are evaluated outside the writer.
    async fn write_one(
        self: &Arc<Self>,
        plan: impl Fn(&Catalogue) -> Result<SingleWrite<Arc<StoredTable>>>,
    ) -> Result<WriteOutput> {
        // A plan is several hundred bytes, and is moved through closures, futures and results.
        let mut write = Box::new(self.attempt(plan)?);
        let sizes = self.collection_sizes(collections(write.reported_collections())).await?;
        for evaluations in 0.. {
            let sizes = sizes.clone();
            let job = move |session: &mut Session<'_>| {
                session.collection_sizes = sizes;
                let table = session.catalogue.table(write.table().name())?;
                let write = match Arc::ptr_eq(&table, write.table()) {
                    true => write,
                    false => Box::new(write.replan(table)?),
                };
                if evaluations < MAX_PRE_EVALUATIONS
                    && let Some(found) = write.items_to_pre_evaluate(session)?
                {
                    return Ok(WriteStep::NeedsEvaluation(write, found));
                }
                write.execute(session).map(WriteStep::Done)
            };
            write = match self.writer.write(1, job).await? {
                WriteStep::Done(output) => return Ok(output),
                WriteStep::NeedsEvaluation(write, found) => {
                    on_blocking_thread(move || write.pre_evaluate(found).map(Box::new)).await?
                }
            };
        }
        unreachable!("the writer itself evaluates the expressions of the last attempt")
    }

    /// Executes a transaction, without the retries of the store's policy. It ends with a conflict
    /// if other writes change its items during each of [`MAX_PRE_EVALUATIONS`] evaluations.
    async fn write_transaction(
        self: &Arc<Self>,
        request: &TransactWriteItems,
    ) -> Result<TransactWriteItemsOutput> {
        let plan =
            |catalogue: &Catalogue| TransactWrite::new(request, |name| catalogue.table(name));
        let mut writes = self.attempt(plan)?;
        let sizes = self.collection_sizes(collections(writes.reported_collections())).await?;
        for _ in 0..=MAX_PRE_EVALUATIONS {
            let sizes = sizes.clone();
            let job = move |session: &mut Session<'_>| {
                session.collection_sizes = sizes;
                let catalogue = Arc::clone(&session.catalogue);
                let writes = match are_current(&catalogue, writes.tables()) {
                    true => writes,
                    false => writes.replan(|name| catalogue.table(name))?,
                };
                let now = session.env.clock.now();
                if let Some(found) = writes.items_to_pre_evaluate(session, now)? {
                    return Ok(WriteStep::NeedsEvaluation(writes, found));
                }
                writes.execute(session, now).map(WriteStep::Done)
            };
            writes = match self.writer.write(request.items.len(), job).await? {
                WriteStep::Done(output) => return Ok(output),
                WriteStep::NeedsEvaluation(writes, found) => {
                    on_blocking_thread(move || writes.pre_evaluate(found)).await?
                }
            };
        }
        // The writer would evaluate up to a hundred operations, so it does not do the last attempt.
        Err(writes.conflict())
    }

    /// Reads a page on the caller's thread, or on a blocking thread if it has more than
    /// [`INLINE_ROWS`].
    async fn short_page(self: &Arc<Self>, plan: impl PlanPage) -> Result<Page> {
        let short = self.attempt(|catalogue| {
            let page = plan(catalogue)?;
            let gathered = self.read(|connection| {
                page.gather_within(&mut ConnectionRows::new(connection), INLINE_ROWS)
            })?;
            Ok(gathered.map(|gathered| (page, gathered)))
        })?;
        match short {
            Some((page, gathered)) if page.has_filter() && gathered.bytes() > INLINE_BYTES => {
                on_blocking_thread(move || Ok(page.finish(gathered))).await
            }
            Some((page, gathered)) => Ok(page.finish(gathered)),
            None => self.long_page(plan).await,
        }
    }

    /// Reads a page on a blocking thread.
    async fn long_page(self: &Arc<Self>, plan: impl PlanPage) -> Result<Page> {
        let inner = Arc::clone(self);
        on_blocking_thread(move || {
            inner.attempt(|catalogue| {
                let page = plan(catalogue)?;
                let gathered =
                    inner.read(|connection| page.gather(&mut ConnectionRows::new(connection)))?;
                // The snapshot is released, so a slow filter does not keep the WAL from restarting.
                Ok(page.finish(gathered))
            })
        })
        .await
    }
}

/// Result of one pass of a write through the writer.
enum WriteStep<W, T> {
    Done(T),
    /// The expressions are costly on these items, and are to be evaluated outside the writer.
    NeedsEvaluation(W, FoundItems),
}

/// Whether a transaction was canceled because other writes changed its items.
fn is_conflict(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::TransactionCanceled { .. }) && error.retry() == Retry::Later
}

/// Executes `work` on a blocking thread of the runtime. A panic becomes an error.
async fn on_blocking_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
        Err(Error::new(ErrorKind::Unexpected, "the engine panicked; report this defect of tabla"))
    })
}

/// Function that plans a page against a catalogue. It can be called again with a newer catalogue.
trait PlanPage: Fn(&Catalogue) -> Result<PageRead<Arc<StoredTable>>> + Send + Sync + 'static {}

impl<F> PlanPage for F where
    F: Fn(&Catalogue) -> Result<PageRead<Arc<StoredTable>>> + Send + Sync + 'static
{
}

/// Whether the catalogue still has the tables against which an operation was planned.
fn are_current<'a>(
    catalogue: &Catalogue,
    mut tables: impl Iterator<Item = &'a Arc<StoredTable>>,
) -> bool {
    tables.all(|table| catalogue.find(table.name()).is_some_and(|now| Arc::ptr_eq(now, table)))
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Store for SqliteStore {
    fn capabilities(&self) -> Capabilities {
        Capabilities::full("sqlite")
    }

    /// Returns `None`: the engine has no extension.
    fn extension_by_id(&self, _: std::any::TypeId) -> Option<tabla_core::Extension> {
        None
    }

    async fn get(&self, request: GetItem) -> Result<GetItemOutput> {
        self.inner.attempt(|catalogue| {
            let get = SingleGet::new(&request, catalogue.table(&request.table)?)?;
            self.inner.read(|connection| get.execute(&mut ConnectionRows::new(connection)))
        })
    }

    async fn put(&self, request: PutItem) -> Result<WriteOutput> {
        let plan =
            |catalogue: &Catalogue| SingleWrite::put(&request, catalogue.table(&request.table)?);
        self.inner.write_one(plan).await
    }

    async fn update(&self, request: UpdateItem) -> Result<WriteOutput> {
        let plan =
            |catalogue: &Catalogue| SingleWrite::update(&request, catalogue.table(&request.table)?);
        self.inner.write_one(plan).await
    }

    async fn delete(&self, request: DeleteItem) -> Result<WriteOutput> {
        let plan =
            |catalogue: &Catalogue| SingleWrite::delete(&request, catalogue.table(&request.table)?);
        self.inner.write_one(plan).await
    }

    async fn query(&self, request: Query) -> Result<Page> {
        let plan = move |catalogue: &Catalogue| {
            PageRead::query(&request, catalogue.table(&request.table)?)
        };
        self.inner.short_page(plan).await
    }

    async fn scan(&self, request: Scan) -> Result<Page> {
        // Without a limit, a page of a scan has up to 1 MB.
        let is_short = request.limit.is_some_and(|limit| limit <= INLINE_ROWS as i32);
        let plan =
            move |catalogue: &Catalogue| PageRead::scan(&request, catalogue.table(&request.table)?);
        match is_short {
            true => self.inner.short_page(plan).await,
            false => self.inner.long_page(plan).await,
        }
    }

    async fn batch_get(&self, request: BatchGetItem) -> Result<BatchGetItemOutput> {
        let read = |request: &BatchGetItem| {
            self.inner.attempt(|catalogue| {
                let batch = BatchGet::new(request, |name| catalogue.table(name))?;
                self.inner
                    .snapshot(|connection| batch.execute(&mut ConnectionRows::new(connection)))
            })
        };
        match self.retries.attempts > 1 {
            true => read_batch_to_end(request, read),
            false => read(&request),
        }
    }

    async fn batch_write(&self, request: BatchWriteItem) -> Result<BatchWriteItemOutput> {
        let batch = self
            .inner
            .attempt(|catalogue| BatchWrite::new(&request, |name| catalogue.table(name)))?;
        let sizes = self.inner.collection_sizes(collections(batch.reported_collections())).await?;
        self.inner
            .writer
            .write(batch.len(), move |session| {
                session.collection_sizes = sizes;
                let catalogue = Arc::clone(&session.catalogue);
                let batch = match are_current(&catalogue, batch.tables()) {
                    true => batch,
                    false => batch.replan(|name| catalogue.table(name))?,
                };
                batch.execute(session)
            })
            .await
    }

    async fn transact_get(&self, request: TransactGetItems) -> Result<TransactGetItemsOutput> {
        self.inner.attempt(|catalogue| {
            let reads = TransactGet::new(&request, |name| catalogue.table(name))?;
            self.inner.snapshot(|connection| reads.execute(&mut ConnectionRows::new(connection)))
        })
    }

    async fn transact_write(
        &self,
        request: TransactWriteItems,
    ) -> Result<TransactWriteItemsOutput> {
        let mut outcome = self.inner.write_transaction(&request).await;
        if !outcome.as_ref().is_err_and(is_conflict) {
            return outcome;
        }
        let mut attempts =
            self.retries.start_attempts(RetryMode::OnlyIfNotApplied, "a transaction");
        while outcome.as_ref().is_err_and(is_conflict) {
            if let Some(output) = attempts.check(outcome)? {
                return Ok(output);
            }
            attempts.next_attempt().await?;
            outcome = self.inner.write_transaction(&request).await;
        }
        outcome
    }

    async fn create_table(&self, request: CreateTable) -> Result<TableDescription> {
        self.inner.writer.write(1, move |session| session.create_table(&request)).await
    }

    async fn describe_table(&self, request: DescribeTable) -> Result<TableDescription> {
        let catalogue = self.inner.catalogue()?;
        let table = described(&catalogue, &request.table)?;
        let (item_counts, no_changes) = (self.inner.writer.item_counts(), CountChanges::default());
        self.inner.snapshot(|connection| {
            tables::describe(table, |number| item_counts.count(connection, number, &no_changes))
        })
    }

    async fn update_table(&self, request: UpdateTable) -> Result<TableDescription> {
        let description =
            self.inner.writer.write(1, move |session| session.update_table(&request)).await?;
        let is_filling = |index: &IndexDescription| index.backfilling;
        if !description.global_secondary_indexes.iter().any(is_filling) {
            return Ok(description);
        }
        self.inner.writer.maintain();
        let name = description.table;
        let filled = |catalogue: &Catalogue| match catalogue.find(&name) {
            Some(table) if table.table.backfilling().next().is_some() => None,
            _ => Some(()),
        };
        self.inner.writer.wait_for(filled).await?;
        self.describe_table(DescribeTable::new(&name)).await
    }

    async fn delete_table(&self, request: DeleteTable) -> Result<TableDescription> {
        let description =
            self.inner.writer.write(1, move |session| session.delete_table(&request)).await?;
        self.inner.writer.maintain();
        Ok(description)
    }

    async fn list_tables(&self, request: ListTables) -> Result<ListTablesOutput> {
        let page = TablesPage::new(&request)?;
        Ok(page.fill(self.inner.catalogue()?.names()))
    }

    async fn update_time_to_live(&self, request: UpdateTimeToLive) -> Result<UpdateTimeToLive> {
        let set = move |session: &mut Session<'_>| {
            session.set_time_to_live(&request)?;
            Ok(request)
        };
        let request = self.inner.writer.write(1, set).await?;
        self.inner.writer.maintain();
        Ok(request)
    }

    async fn describe_time_to_live(
        &self,
        request: DescribeTimeToLive,
    ) -> Result<TimeToLiveDescription> {
        let catalogue = self.inner.catalogue()?;
        Ok(described(&catalogue, &request.table)?.table.ttl_description())
    }

    async fn tag_table(&self, request: TagTable) -> Result<()> {
        let work = move |session: &mut Session<'_>| {
            session.change_table(&request.table, |table| table.with_tags(&request))
        };
        self.inner.writer.write(1, work).await
    }

    async fn untag_table(&self, request: UntagTable) -> Result<()> {
        let work = move |session: &mut Session<'_>| {
            session.change_table(&request.table, |table| table.without_tags(&request))
        };
        self.inner.writer.write(1, work).await
    }

    async fn list_table_tags(&self, request: ListTableTags) -> Result<Tags> {
        let catalogue = self.inner.catalogue()?;
        Ok(described(&catalogue, &request.table)?.table.tags.clone())
    }

    async fn list_streams(&self, request: ListStreams) -> Result<ListStreamsOutput> {
        let now = self.inner.env.clock.now();
        self.inner.snapshot(|connection| streams::list(connection, &request, now))
    }

    async fn describe_stream(&self, request: DescribeStream) -> Result<StreamDescription> {
        let now = self.inner.env.clock.now();
        self.inner.snapshot(|connection| streams::describe(connection, &request, now))
    }

    async fn get_shard_iterator(&self, request: GetShardIterator) -> Result<ShardIterator> {
        let now = self.inner.env.clock.now();
        let record_log = self.inner.writer.record_log();
        self.inner.snapshot(|connection| streams::iterator(connection, record_log, &request, now))
    }

    async fn get_records(&self, request: GetRecords) -> Result<GetRecordsOutput> {
        let now = self.inner.env.clock.now();
        let record_log = self.inner.writer.record_log();
        self.inner.snapshot(|connection| streams::records(connection, record_log, &request, now))
    }
}

#[cfg(test)]
mod tests {
    use tabla_core::KeyType;

    use super::*;

    #[tokio::test]
    async fn attempt_repeats_with_a_newer_catalogue_that_another_caller_has_cached() {
        let folder = tempfile::tempdir().unwrap();
        let file = SqliteConfig::file(folder.path().join("a.db"));
        let one = SqliteStore::open(&file).await.unwrap();
        let other = SqliteStore::open(&file).await.unwrap();
        let table = CreateTable::new("things").partition_key("pk", KeyType::S);
        one.create_table(table).await.unwrap();
        let found = other.inner.attempt(|known| {
            // Another caller of this store reads the catalogue between the two attempts.
            let found = known.table("things");
            other.inner.catalogue()?;
            found
        });
        assert_eq!(found.unwrap().table.name, "things");
    }
}
