//! An app: its design, and what can be done with it from outside.

use std::fmt::{self, Debug};
use std::sync::Arc;

use async_trait::async_trait;

use tabla::entity::lint::{self, Finding};
use tabla::entity::{AppDesign, Db, Pattern, TableDesign, Trace, Traced, UtcTime, compare};
use tabla::{Error, ErrorKind, MemoryStore, Result, Store};

use crate::Documented;

/// Says how far something is: how much is done, of how much.
pub type Progress<'p> = &'p (dyn Fn(u64, u64) + Send + Sync);

/// An app, as the command line, the demo and the tests know it.
#[async_trait]
pub trait App: Debug + Send + Sync {
    /// What it declares.
    fn design(&self) -> AppDesign;

    /// Its access patterns with the lines of its document; none if it has no document.
    fn documented(&self) -> Vec<Documented> {
        Vec::new()
    }

    /// The periods whose tables have to be there at this moment, of a design that has one for each:
    /// those that are written and read, and the next, so that it is there before it begins.
    fn periods(&self, _table: &TableDesign, _now: UtcTime) -> Vec<String> {
        Vec::new()
    }

    /// Creates its tables, those that are not there. Of a design that has one for each period,
    /// those of the database's period, or else of [`App::periods`].
    ///
    /// # Errors
    /// Those of the store; there is a table for each period, and none says which.
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
                    "{} has a table {} for each period: say which with Db::period, or in \
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

    /// Fills its tables with data like that of the real app; `scale` times as much.
    ///
    /// # Errors
    /// Those of the store.
    async fn seed(&self, db: &Db, scale: u32, progress: Progress<'_>) -> Result<()>;

    /// Runs one of its patterns on what [`App::seed`] has written, and checks the answer.
    ///
    /// # Errors
    /// Those of the store; the answer is wrong; there is no such pattern.
    async fn run(&self, db: &Db, pattern: &str) -> Result<Answer>;

    /// Lets many callers meet on one item, for each operation that only one can win, and checks
    /// what is left.
    ///
    /// # Errors
    /// Those of the store; more or fewer have won than can.
    async fn race(&self, db: &Db) -> Result<Vec<Race>>;
}

/// The answer to a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// How many entities it has.
    pub items: usize,
    /// What it says, in a few words.
    pub shown: String,
}

impl Answer {
    /// An answer of this many entities.
    pub fn new(items: usize, shown: impl Into<String>) -> Self {
        Self { items, shown: shown.into() }
    }

    /// This answer, if it is right.
    ///
    /// # Errors
    /// It is not: the message says what was expected.
    pub fn expect(self, is_right: bool, expected: &str) -> Result<Self> {
        if is_right {
            return Ok(self);
        }
        Err(Error::new(
            ErrorKind::Unexpected,
            format!("a wrong answer: {} ({} items); expected {expected}", self.shown, self.items),
        ))
    }
}

/// How a race ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// What was raced for.
    pub name: &'static str,
    /// How many wanted it.
    pub contenders: usize,
    /// How many got it.
    pub winners: usize,
    /// What is left afterwards, in a few words.
    pub left: String,
}

/// A pattern that was run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// The pattern.
    pub pattern: Pattern,
    /// The answer.
    pub answer: Answer,
    /// What the store was asked.
    pub traces: Vec<Trace>,
}

impl Ran {
    /// What it cost.
    pub fn units(&self) -> f64 {
        self.traces.iter().map(|trace| trace.units).sum()
    }
}

/// Runs a pattern, and checks that it asks of the store what it declares: the operations, the
/// indexes, conditions, filters, order, limits and consistency, and of what it names by keys the
/// entities. Of conditions the values may differ: those of a declaration are examples.
///
/// # Errors
/// Those of the pattern; it asks something else.
pub async fn run(app: &dyn App, db: &Db, pattern: Pattern) -> Result<Ran> {
    let traced = Traced::new(db.shared_store());
    let answer = app.run(&db.on(Arc::new(traced.clone())), pattern.name).await?;
    let traces = traced.take();
    compare(&app.design(), db, &pattern, &traces)?;
    Ok(Ran { pattern, answer, traces })
}

/// What every app has to pass: its design is sound, and every pattern gives the right answer to
/// what it declares, on this store; every race has the winners that it can have.
///
/// # Errors
/// The first thing that is wrong.
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

/// A pattern that fails, or gives a wrong answer, on the app's own data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untested {
    /// Name of the pattern.
    pub pattern: &'static str,
    /// The error.
    pub why: String,
}

impl fmt::Display for Untested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pattern, why } = self;
        write!(f, "{pattern} (untested): it gives no right answer on the app's own data: {why}")
    }
}

/// Runs all patterns of an app in memory, and returns those that fail: [`lint`] only looks at the
/// design.
///
/// # Errors
/// The app cannot be filled in.
pub async fn untested(app: &dyn App) -> Result<Vec<Untested>> {
    let db = Db::new(Arc::new(MemoryStore::new()) as Arc<dyn Store>);
    app.create_tables(&db).await?;
    app.seed(&db, 1, &|_, _| {}).await?;
    let mut found = Vec::new();
    for pattern in app.design().patterns {
        let name = pattern.name;
        if let Err(error) = run(app, &db, pattern).await {
            found.push(Untested { pattern: name, why: error.message().to_owned() });
        }
    }
    Ok(found)
}
