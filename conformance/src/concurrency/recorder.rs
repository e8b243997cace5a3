//! Recording of the calls of a run.

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::join_all;
use serde::{Deserialize, Serialize};
use tabla_core::Store;
use tabla_core::env::Random;

use super::calls::call;
use super::explain::Violation;
use super::generate::Generator;
use super::history::Entry;
use super::model::{ModelOperation, Outcome};
use super::session::Options;
use super::tables::Tables;
use super::ticks::Ticks;

/// Recorder that makes the calls of a run and records them.
///
/// A [`Session`](super::Session) has one of its own. If several processes work on the same data,
/// each has one: the first process creates its recorder with [`Ticks::in_file`] and passes an
/// [`Invitation`] to the others. The entries that all of them record are one round of one history,
/// for a [`Checker`](super::Checker).
#[derive(Clone, Debug)]
pub struct Recorder {
    tables: Arc<Tables>,
    ticks: Ticks,
    keys: usize,
    operations: usize,
}

/// Data that another process needs to join a run. It can be serialized.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Invitation {
    tables: Tables,
    ticks: PathBuf,
    keys: usize,
    operations: usize,
}

impl Recorder {
    /// Creates the tables of a run.
    ///
    /// # Errors
    /// [`Violation::Store`] if a table cannot be created.
    pub async fn create(
        store: &dyn Store,
        options: &Options,
        ticks: Ticks,
    ) -> Result<Self, Violation> {
        let tables = Arc::new(Tables::create(store, &options.table).await?);
        Ok(Self { tables, ticks, keys: options.keys, operations: options.operations })
    }

    /// Joins a run that another process has begun.
    ///
    /// # Errors
    /// If the file of the ticks cannot be opened.
    pub fn join(invitation: Invitation) -> io::Result<Self> {
        let Invitation { tables, ticks, keys, operations } = invitation;
        Ok(Self { tables: Arc::new(tables), ticks: Ticks::in_file(ticks)?, keys, operations })
    }

    /// Invitation for other processes; `None` if the ticks belong to this process alone.
    pub fn invitation(&self) -> Option<Invitation> {
        Some(Invitation {
            tables: Tables::clone(&self.tables),
            ticks: self.ticks.path()?.to_owned(),
            keys: self.keys,
            operations: self.operations,
        })
    }

    /// Runs tasks with these numbers, each with its calls of one round, and distributes them over
    /// these stores. No other process may use the same numbers.
    ///
    /// # Errors
    /// [`Violation::UnexpectedResponse`] for a response that no order explains, [`Violation::Ticks`].
    ///
    /// # Panics
    /// If there is no store.
    pub async fn work(
        &self,
        stores: &[Arc<dyn Store>],
        tasks: Range<usize>,
        random: &dyn Random,
    ) -> Result<Vec<Entry>, Violation> {
        assert!(!stores.is_empty(), "a recorder needs at least one store");
        let tasks = tasks.map(|number| {
            let task = self.task(number, &stores[number % stores.len()]);
            let transactions = task.store.capabilities().transactions && self.keys > 1;
            let generator = Generator::new(random.next_u64(), self.keys, transactions);
            task.work(generator, self.operations)
        });
        let mut entries = Vec::new();
        for done in at_once(tasks).await {
            entries.extend(done?);
        }
        Ok(entries)
    }

    /// Reads each item through each store, while no other operation is running. This determines the
    /// state at the end of the round, and all stores must agree on it.
    ///
    /// # Errors
    /// [`Violation::UnexpectedResponse`] if an item cannot be read in 1,000 attempts,
    /// [`Violation::Ticks`].
    pub async fn read_everything(
        &self,
        stores: &[Arc<dyn Store>],
        task: usize,
    ) -> Result<Vec<Entry>, Violation> {
        const ATTEMPTS: usize = 1_000;
        let mut entries = Vec::new();
        for store in stores {
            let reader = self.task(task, store);
            for key in 0..self.keys {
                let mut attempts = 1..ATTEMPTS;
                loop {
                    let entry = reader.record(|_| ModelOperation::Get(key)).await?;
                    entries.push(entry.clone());
                    match entry.outcome {
                        Outcome::Read(_) => break,
                        _ if attempts.next().is_some() => tokio::task::yield_now().await,
                        outcome => {
                            let asked = format!("{} (in {ATTEMPTS} attempts)", entry.operation);
                            return Err(Violation::UnexpectedResponse {
                                asked,
                                answer: outcome.to_string(),
                            });
                        }
                    }
                }
            }
        }
        Ok(entries)
    }

    /// Deletes the tables of the run.
    pub(super) async fn delete(self, store: &dyn Store) -> Result<(), Violation> {
        Tables::clone(&self.tables).delete(store).await
    }

    fn task(&self, number: usize, store: &Arc<dyn Store>) -> Task {
        Task {
            number,
            store: Arc::clone(store),
            tables: Arc::clone(&self.tables),
            ticks: self.ticks.clone(),
        }
    }
}

/// Runs futures concurrently as tasks of the runtime, and waits for all of them.
pub(super) async fn at_once<T, F>(tasks: impl IntoIterator<Item = F>) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let handles: Vec<_> = tasks.into_iter().map(tokio::spawn).collect();
    let answers = join_all(handles).await.into_iter().map(|answer| {
        answer.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(error) => unreachable!("no task is canceled: {error}"),
        })
    });
    answers.collect()
}

/// Task that makes one call after another.
struct Task {
    number: usize,
    store: Arc<dyn Store>,
    tables: Arc<Tables>,
    ticks: Ticks,
}

impl Task {
    async fn work(
        self,
        mut generator: Generator,
        operations: usize,
    ) -> Result<Vec<Entry>, Violation> {
        let mut entries = Vec::with_capacity(operations);
        for _ in 0..operations {
            let entry = self.record(|tick| generator.next(tick)).await?;
            generator.learn(&entry.operation, &entry.outcome);
            entries.push(entry);
            // Otherwise a task on a store that never waits would make all its calls in a row.
            if generator.below(2) == 0 {
                tokio::task::yield_now().await;
            }
        }
        Ok(entries)
    }

    /// Makes a call, and records it with the ticks before and after.
    async fn record(
        &self,
        operation: impl FnOnce(u64) -> ModelOperation,
    ) -> Result<Entry, Violation> {
        let called = self.ticks.next().map_err(Violation::Ticks)?;
        let operation = operation(called);
        let outcome = call(&*self.store, &self.tables, &operation).await?;
        let answered = self.ticks.next().map_err(Violation::Ticks)?;
        Ok(Entry { task: self.number, called, answered, operation, outcome })
    }
}
