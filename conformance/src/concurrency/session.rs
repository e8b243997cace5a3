//! Runs of concurrent operations in rounds, each checked before the next one.

use std::fmt;
use std::sync::Arc;

use tabla_core::Store;
use tabla_core::env::Random;

use super::check::{Checker, ReasonTiming};
use super::explain::Violation;
use super::history::Entry;
use super::model::Outcome;
use super::recorder::Recorder;
use super::ticks::Ticks;

/// Options of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Prefix of the table names. Default: "concurrency".
    pub table: String,
    /// Number of items. Default: 5, which are few so that operations conflict.
    pub keys: usize,
    /// Number of tasks. Default: 8. The time of the check grows fast with it.
    pub tasks: usize,
    /// Number of rounds. Default: 20.
    pub rounds: usize,
    /// Number of operations per task and round. Default: 25.
    pub operations: usize,
    /// Meaning of cancellation reasons. Default: [`ReasonTiming::AtOnce`].
    pub reasons: ReasonTiming,
    /// Number of rounds within which a write whose response was lost is expected to take effect, if
    /// at all ([`Checker::patience`]). Default: 2.
    pub patience: usize,
    /// Limit on the search points of a round ([`Checker::max_states`]). Default: 200,000.
    pub max_states: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            table: "concurrency".to_owned(),
            keys: 5,
            tasks: 8,
            rounds: 20,
            operations: 25,
            reasons: ReasonTiming::default(),
            patience: 2,
            max_states: 200_000,
        }
    }
}

impl Options {
    /// Options with their defaults: 8 tasks on 5 items, 20 rounds of 25 operations each.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the prefix of the table names.
    #[must_use]
    pub fn with_table(mut self, table: impl Into<String>) -> Self {
        self.table = table.into();
        self
    }

    /// Sets the number of items.
    #[must_use]
    pub fn with_keys(mut self, keys: usize) -> Self {
        self.keys = keys;
        self
    }

    /// Sets the number of tasks.
    #[must_use]
    pub fn with_tasks(mut self, tasks: usize) -> Self {
        self.tasks = tasks;
        self
    }

    /// Sets the number of rounds.
    #[must_use]
    pub fn with_rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds;
        self
    }

    /// Sets the number of operations per task and round.
    #[must_use]
    pub fn with_operations(mut self, operations: usize) -> Self {
        self.operations = operations;
        self
    }

    /// Sets the meaning of cancellation reasons.
    #[must_use]
    pub fn with_reasons(mut self, reasons: ReasonTiming) -> Self {
        self.reasons = reasons;
        self
    }

    /// Sets the rounds within which a write whose response was lost is expected to take effect.
    #[must_use]
    pub fn with_patience(mut self, rounds: usize) -> Self {
        self.patience = rounds;
        self
    }

    /// Sets the limit on the search points of a round.
    #[must_use]
    pub fn with_max_states(mut self, states: usize) -> Self {
        self.max_states = states;
        self
    }
}

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Rounds that ran and passed the check.
    pub rounds: usize,
    /// Operations called, including the reads between rounds.
    pub operations: usize,
    /// Operations whose condition failed.
    pub refused: usize,
    /// Operations that failed without an effect: for a conflict, or because the store was busy.
    pub conflicts: usize,
    /// Operations whose outcome is unknown.
    pub unknown: usize,
    /// Search points visited by the check.
    pub states: usize,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rounds, operations, refused, conflicts, unknown, states } = self;
        write!(
            f,
            "{rounds} rounds, {operations} operations: {refused} refused, {conflicts} conflicts, \
             {unknown} unknown; {states} search points"
        )
    }
}

/// Runs all rounds on the same data, with the tasks distributed over these stores, and checks that
/// the history is strictly serializable.
///
/// The tables are created through the first store. They are deleted after a successful run, and
/// kept for inspection after a failed one.
///
/// # Errors
/// The violation that was found.
///
/// # Panics
/// If there is no store.
pub async fn run(
    stores: Vec<Arc<dyn Store>>,
    options: Options,
    random: &dyn Random,
) -> Result<Report, Violation> {
    let first = stores.first().expect("run needs at least one store");
    let rounds = options.rounds;
    let mut session = Session::create(&**first, options).await?;
    for _ in 0..rounds {
        session.round(&stores, random).await?;
    }
    session.finish(&**first).await
}

/// Run in single steps, for tests that change the store between rounds.
#[derive(Debug)]
pub struct Session {
    options: Options,
    recorder: Recorder,
    checker: Checker,
    report: Report,
}

impl Session {
    /// Creates the tables of a run.
    ///
    /// # Errors
    /// [`Violation::Store`] if a table cannot be created.
    pub async fn create(store: &dyn Store, options: Options) -> Result<Self, Violation> {
        let recorder = Recorder::create(store, &options, Ticks::default()).await?;
        let checker = Checker::new(options.keys)
            .reasons(options.reasons)
            .patience(options.patience)
            .max_states(options.max_states);
        Ok(Self { options, recorder, checker, report: Report::default() })
    }

    /// Runs and checks a round on these stores. They may differ from those of the last round, as
    /// long as they hold the same data.
    ///
    /// # Errors
    /// The violation that was found. After an error, the session cannot be used again.
    ///
    /// # Panics
    /// If there is no store.
    pub async fn round(
        &mut self,
        stores: &[Arc<dyn Store>],
        random: &dyn Random,
    ) -> Result<(), Violation> {
        let mut entries = self.recorder.work(stores, 0..self.options.tasks, random).await?;
        entries.extend(self.recorder.read_everything(stores, self.options.tasks).await?);
        self.count(&entries);
        self.report.states += self.checker.round(&entries)?;
        self.report.rounds += 1;
        Ok(())
    }

    /// Counts of the rounds so far.
    pub fn report(&self) -> Report {
        self.report
    }

    /// Deletes the tables, and returns the counts of the run.
    ///
    /// # Errors
    /// [`Violation::Store`] if a table cannot be deleted.
    pub async fn finish(self, store: &dyn Store) -> Result<Report, Violation> {
        self.recorder.delete(store).await?;
        Ok(self.report)
    }

    fn count(&mut self, entries: &[Entry]) {
        self.report.operations += entries.len();
        for entry in entries {
            match entry.outcome {
                Outcome::Read(_) | Outcome::Written(_) => {}
                Outcome::Refused(_) => self.report.refused += 1,
                Outcome::NoEffect(_) => self.report.conflicts += 1,
                Outcome::Unknown(_) => self.report.unknown += 1,
            }
        }
    }
}
