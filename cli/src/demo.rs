//! `tabla demo`: seeds five sample apps, runs every access pattern, and runs each app's races; then
//! stores a file through presigned URLs.

mod files;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tabla::entity::{Db, Operation};
use tabla::env::{Clock, SystemClock};
use tabla::sqlite::{SqliteConfig, SqliteStore};
use tabla::{Error, Result};
use tabla_kit::{App, Ran};

use crate::output::print_line;
use crate::table::Table;

// The description in the help is that of the variant in `main.rs`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Keep the database files in this empty or new folder [default: a temporary folder, deleted on
    /// exit]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

pub(crate) async fn run(arguments: Arguments) -> Result<()> {
    let (folder, temporary) = match arguments.folder {
        Some(folder) => {
            prepare(&folder)?;
            (folder, None)
        }
        None => {
            let temporary = tempfile::tempdir().map_err(|error| {
                Error::config(format!(
                    "cannot create a temporary folder: {error}; name a folder with --folder"
                ))
            })?;
            (temporary.path().to_owned(), Some(temporary))
        }
    };
    print_line!("tabla: {} apps, each in its own SQLite file\n", crate::apps::all().len());
    let watch = Stopwatch::start();
    let mut count = 0;
    for app in crate::apps::all() {
        count += show(&*app, &folder).await?;
    }
    files::show(&folder).await?;
    print_line!(
        "{count} patterns returned the expected results, and every race had the expected winners: \
         {}\n",
        seconds(watch.elapsed())
    );
    print_line!("Next:");
    print_line!("  cargo run --release -- app branding patterns    operations and capacity units");
    print_line!("  cargo run --release -- app branding schema      tables for CloudFormation");
    print_line!(
        "  cargo run --release --features full -- conformance --store memory:    all cases"
    );
    if temporary.is_none() {
        print_line!("  cargo run --release -- check {}/branding.db", folder.display());
        print_line!(
            "  cargo run --release -- serve --blobs file:{}/assets    the files, for S3 clients",
            folder.display()
        );
    }
    Ok(())
}

/// Creates the folder, or checks that it is empty.
fn prepare(folder: &Path) -> Result<()> {
    let refuse = |why: String| {
        Error::config(format!(
            "cannot use `{}` for the demo: {why}; name an empty or new folder",
            folder.display()
        ))
    };
    std::fs::create_dir_all(folder).map_err(|error| refuse(error.to_string()))?;
    let mut entries = std::fs::read_dir(folder).map_err(|error| refuse(error.to_string()))?;
    match entries.next() {
        None => Ok(()),
        Some(_) => Err(refuse("the folder is not empty".to_owned())),
    }
}

/// Seeds an app, runs its patterns and races, and prints them; returns the number of patterns.
async fn show(app: &dyn App, folder: &Path) -> Result<usize> {
    let design = app.design();
    let file = SqliteConfig::file(folder.join(format!("{}.db", design.name)));
    let db = Db::new(Arc::new(SqliteStore::open(&file).await?));
    let watch = Stopwatch::start();
    crate::app::seed(app, &db, 1).await?;
    print_line!("{}: {}", design.name, design.summary);
    print_line!("seeded in {}\n", seconds(watch.elapsed()));
    let mut table =
        Table::new(["", "pattern", "operation", "items", "units", "ms"], [5, 26, 34, 6, 7, 7], 3);
    let count = design.patterns.len();
    for pattern in design.patterns {
        let watch = Stopwatch::start();
        let ran = tabla_kit::run(app, &db, pattern).await?;
        let elapsed = watch.elapsed();
        table.row([
            ran.pattern.number,
            ran.pattern.name,
            &operations(&ran),
            &ran.answer.items.to_string(),
            &ran.units().to_string(),
            &format!("{:.2}", elapsed.as_secs_f64() * 1000.0),
        ]);
    }
    print_line!("{table}");
    for race in app.race(&db).await? {
        print_line!(
            "  race: {}: {} of {} won; {}",
            race.name,
            race.winners,
            race.contenders,
            race.left
        );
    }
    print_line!("");
    Ok(count)
}

/// Returns the requests of a pattern in short, such as `Query GSI1 ×2, TransactWriteItems(3)`.
fn operations(ran: &Ran) -> String {
    let mut parts: Vec<(String, usize)> = Vec::new();
    for trace in &ran.traces {
        let operation = trace.operation.to_string();
        let part = match &trace.index {
            Some(index) => format!("{operation} {index}"),
            None if trace.operation == Operation::TransactWriteItems => {
                format!("{operation}({})", trace.items)
            }
            None => operation,
        };
        match parts.last_mut() {
            Some((last, count)) if *last == part => *count += 1,
            _ => parts.push((part, 1)),
        }
    }
    let shown = parts.into_iter().map(|(part, count)| match count {
        1 => part,
        count => format!("{part} ×{count}"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn seconds(elapsed: Duration) -> String {
    format!("{:.1} s", elapsed.as_secs_f64())
}

/// Stopwatch on the system clock.
struct Stopwatch {
    clock: Arc<dyn Clock>,
    start: tabla::env::Timestamp,
}

impl Stopwatch {
    fn start() -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let start = clock.now();
        Self { clock, start }
    }

    fn elapsed(&self) -> Duration {
        self.clock.now().since(self.start)
    }
}
