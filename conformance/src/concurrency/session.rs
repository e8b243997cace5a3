//! A run: rounds of operations at the same time, each checked before the next.

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

/// What a run does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// What the names of its tables begin with.
    pub table: String,
    /// How many items there are. Few, so that operations meet.
    pub keys: usize,
    /// How many tasks there are. The work of checking grows fast with them.
    pub tasks: usize,
    /// How many rounds there are.
    pub rounds: usize,
    /// How many operations each task makes in a round.
    pub operations: usize,
    /// What cancellation reasons say.
    pub reasons: ReasonTiming,
    /// Within how many rounds a write whose answer was lost is expected to take effect, if at all
    /// ([`Checker::patience`]).
    pub patience: usize,
    /// How many points of the search are looked at in a round before it is given up.
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
    /// The defaults: 8 tasks on 5 items, 20 rounds of 25 operations each.
    pub fn new() -> Self {
        Self::default()
    }

    /// With tables whose names begin with this.
    #[must_use]
    pub fn with_table(mut self, table: impl Into<String>) -> Self {
        self.table = table.into();
        self
    }

    /// With this number of items.
    #[must_use]
    pub fn with_keys(mut self, keys: usize) -> Self {
        self.keys = keys;
        self
    }

    /// With this number of tasks.
    #[must_use]
    pub fn with_tasks(mut self, tasks: usize) -> Self {
        self.tasks = tasks;
        self
    }

    /// With this number of rounds.
    #[must_use]
    pub fn with_rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds;
        self
    }

    /// With this number of operations per task and round.
    #[must_use]
    pub fn with_operations(mut self, operations: usize) -> Self {
        self.operations = operations;
        self
    }

    /// With cancellation reasons that say this.
    #[must_use]
    pub fn with_reasons(mut self, reasons: ReasonTiming) -> Self {
        self.reasons = reasons;
        self
    }

    /// With this number of rounds for a write whose answer was lost.
    #[must_use]
    pub fn with_patience(mut self, rounds: usize) -> Self {
        self.patience = rounds;
        self
    }

    /// With this limit on the points of a round's search.
    #[must_use]
    pub fn with_max_states(mut self, states: usize) -> Self {
        self.max_states = states;
        self
    }
}

/// What was done in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Rounds that were run and checked.
    pub rounds: usize,
    /// Operations that were called, reads between the rounds included.
    pub operations: usize,
    /// Those that were refused for a condition.
    pub refused: usize,
    /// Those that failed without an effect: for a conflict, or because the store was busy.
    pub conflicts: usize,
    /// Those of which nobody knows whether they were carried out.
    pub unknown: usize,
    /// Points that the search has looked at.
    pub states: usize,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rounds, operations, refused, conflicts, unknown, states } = self;
        write!(
            f,
            "{rounds} rounds, {operations} operations: {refused} refused, {conflicts} conflicts, \
             {unknown} unknown; {states} points searched"
        )
    }
}

/// Runs all rounds on the same data through these stores, which the tasks share out among them,
/// and checks that what they did is strictly serializable.
///
/// The tables are created through the first store. They are deleted if all is well, and left
/// behind to be looked at otherwise.
///
/// # Errors
/// What was found to be wrong.
///
/// # Panics
/// If there is no store.
pub async fn run(
    stores: Vec<Arc<dyn Store>>,
    options: Options,
    random: &dyn Random,
) -> Result<Report, Violation> {
    let first = stores.first().expect("there is a store to run on");
    let rounds = options.rounds;
    let mut session = Session::create(&**first, options).await?;
    for _ in 0..rounds {
        session.round(&stores, random).await?;
    }
    session.finish(&**first).await
}

/// A run in single steps, for tests that do something to the store between the rounds.
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
    /// [`Violation::Store`].
    pub async fn create(store: &dyn Store, options: Options) -> Result<Self, Violation> {
        let recorder = Recorder::create(store, &options, Ticks::default()).await?;
        let checker = Checker::new(options.keys)
            .reasons(options.reasons)
            .patience(options.patience)
            .max_states(options.max_states);
        Ok(Self { options, recorder, checker, report: Report::default() })
    }

    /// Runs and checks a round through these stores. They need not be those of the last round, as
    /// long as the data is the same.
    ///
    /// # Errors
    /// What was found to be wrong. The session is of no use afterwards.
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

    /// What was done so far.
    pub fn report(&self) -> Report {
        self.report
    }

    /// Deletes the tables, and says what was done.
    ///
    /// # Errors
    /// [`Violation::Store`].
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
