//! The trait of an app: its design, sample data, access patterns and races.

use std::fmt::{self, Debug};
use std::sync::Arc;

use async_trait::async_trait;

use tabla::entity::lint::{self, Finding};
use tabla::entity::{AppDesign, Db, Pattern, TableDesign, Trace, Traced, UtcTime, compare};
use tabla::{Error, ErrorKind, MemoryStore, Result, Store};

use crate::Documented;

/// Reports progress: number of steps done, and number of all steps.
pub type Progress<'p> = &'p (dyn Fn(u64, u64) + Send + Sync);

/// An app, for the command line, the demo and the tests.
#[async_trait]
pub trait App: Debug + Send + Sync {
    /// Tables, entities and access patterns.
    fn design(&self) -> AppDesign;

    /// Access patterns with the lines of the app's document; empty without a document.
    fn documented(&self) -> Vec<Documented> {
        Vec::new()
    }

    /// Periods whose tables must exist at this moment, for a table with one for each period: those
    /// that are read and written, and the next one, so that it exists before it begins.
    fn periods(&self, _table: &TableDesign, _now: UtcTime) -> Vec<String> {
        Vec::new()
    }

    /// Creates the tables that are missing. Of a table with one for each period, it creates that of
    /// the database's period, or else those of [`App::periods`].
    ///
    /// # Errors
    /// Those of the store; there is a table for each period, and no period is given.
    async fn create_tables(&self, db: &Db) -> Result<()> {
        let design = self.design();
        for table in design.tables {
            if !table.periods || db.has_period() {
                db.create_table(table).await?;
                continue;
            }
            let periods = self.periods(table, db.now().second());
            if periods.is_empty() {
                return Err(Error::validation(format!(
                    "{} has a table {} for each period: choose one with Db::period, or list them in \
                     App::periods",
                    design.name, table.name
                )));
            }
            for period in periods {
                db.period(period).create_table(table).await?;
            }
        }
        Ok(())
    }

    /// Fills the tables with sample data; `scale` multiplies its amount.
    ///
    /// # Errors
    /// Those of the store.
    async fn seed(&self, db: &Db, scale: u32, progress: Progress<'_>) -> Result<()>;

    /// Runs an access pattern on the data of [`App::seed`], and checks its result.
    ///
    /// # Errors
    /// Those of the store; the result is wrong; there is no such pattern.
    async fn run(&self, db: &Db, pattern: &str) -> Result<Answer>;

    /// Runs each operation that only one caller can win from many callers at once, and checks what is
    /// stored afterwards.
    ///
    /// # Errors
    /// Those of the store; the number of winners is wrong.
    async fn race(&self, db: &Db) -> Result<Vec<Race>>;
}

/// Result of an access pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Number of entities.
    pub items: usize,
    /// Summary, in a few words.
    pub shown: String,
}

impl Answer {
    /// Result with this number of entities.
    pub fn new(items: usize, shown: impl Into<String>) -> Self {
        Self { items, shown: shown.into() }
    }

    /// The result, if it is right.
    ///
    /// # Errors
    /// It is wrong: the message has the expected result.
    pub fn expect(self, is_right: bool, expected: &str) -> Result<Self> {
        if is_right {
            return Ok(self);
        }
        Err(Error::new(
            ErrorKind::Unexpected,
            format!("wrong result: {} ({} items); expected {expected}", self.shown, self.items),
        ))
    }
}

/// Result of a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// Operation that only one caller can win.
    pub name: &'static str,
    /// Number of callers.
    pub contenders: usize,
    /// Number of winners.
    pub winners: usize,
    /// What is stored afterwards, in a few words.
    pub left: String,
}

/// Run of an access pattern.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The pattern.
    pub pattern: Pattern,
    /// Result of the pattern.
    pub answer: Answer,
    /// Requests to the store.
    pub traces: Vec<Trace>,
}

impl Ran {
    /// Capacity units of all requests.
    pub fn units(&self) -> f64 {
        self.traces.iter().map(|trace| trace.units).sum()
    }
}

/// Runs an access pattern, and checks that its requests are those that it declares: operations,
/// indexes, conditions, filters, order, limits, consistency, and the entities of its keys. The values
/// of conditions may differ, because those of a declaration are examples.
///
/// # Errors
/// Those of the pattern; a request differs from its declaration.
pub async fn run(app: &dyn App, db: &Db, pattern: Pattern) -> Result<Ran> {
    let traced = Traced::new(db.shared_store());
    let answer = app.run(&db.on(Arc::new(traced.clone())), pattern.name).await?;
    let traces = traced.take();
    compare(&app.design(), db, &pattern, &traces)?;
    Ok(Ran { pattern, answer, traces })
}

/// Checks an app on a store: the design has no error, every access pattern makes the requests that it
/// declares and has the right result, every race has the right number of winners.
///
/// # Errors
/// The first failure.
pub async fn check(app: &dyn App, db: &Db) -> Result<Vec<Ran>> {
    let design = app.design();
    let wrong: Vec<Finding> = lint::check(&design).into_iter().filter(Finding::is_error).collect();
    if let Some(first) = wrong.first() {
        return Err(Error::validation(format!("{}: {first}", design.name)));
    }
    app.create_tables(db).await?;
    app.seed(db, 1, &|_, _| {}).await?;
    let mut ran = Vec::new();
    for pattern in design.patterns {
        let name = pattern.name;
        ran.push(run(app, db, pattern).await.map_err(|error| {
            Error::new(ErrorKind::Unexpected, format!("{}: {name}: {error}", design.name))
        })?);
    }
    app.race(db).await?;
    Ok(ran)
}

/// Access pattern that fails on the app's sample data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedPattern {
    /// Name of the pattern.
    pub pattern: &'static str,
    /// Message of the error.
    pub why: String,
}

impl fmt::Display for FailedPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pattern, why } = self;
        write!(f, "{pattern}: failed on the sample data: {why}")
    }
}

/// Runs all access patterns of an app on sample data in memory, and returns those that fail.
///
/// # Errors
/// The sample data cannot be written.
pub async fn failed_patterns(app: &dyn App) -> Result<Vec<FailedPattern>> {
    let db = Db::new(Arc::new(MemoryStore::new()) as Arc<dyn Store>);
    app.create_tables(&db).await?;
    app.seed(&db, 1, &|_, _| {}).await?;
    let mut found = Vec::new();
    for pattern in app.design().patterns {
        let name = pattern.name;
        if let Err(error) = run(app, &db, pattern).await {
            found.push(FailedPattern { pattern: name, why: error.message().to_owned() });
        }
    }
    Ok(found)
}
