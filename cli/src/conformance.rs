//! `tabla conformance`: runs the suite of stores or of blobs on one or more addresses and prints the
//! results side by side.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use indicatif::ProgressBar;
use tabla::s3::harness_at;
use tabla::sqlite::{SqliteConfig, SqliteHarness};
use tabla::{Address, Error, Registry, Result};
use tabla_conformance::{
    AddressHarness, Filter, Harness, Progress, Report, Status, SuiteCase, blobs,
};

use crate::output::{self, print_line};
use crate::progress;

// The description in the help is that of the variant in `main.rs`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tabla conformance --store memory:
  tabla conformance --store memory: --store dynamodb://127.0.0.1:8000
  tabla conformance --store memory: transactions:: 29a_
  tabla conformance --blobs memory: --blobs 's3://suite?endpoint=http://127.0.0.1:9000'

Each case tests one rule of DynamoDB, or of S3 for blobs. Its result on an address is pass, deviates
(a documented difference of the engine), unsupported (the engine lacks the feature and refuses the
request) or fail. The exit code is 1 if a case fails on an address.

The cases of blobs run in buckets of their own: for `file:assets` in folders `assets-0`, `assets-1`,
…, for `s3://suite` in buckets whose names begin with `suite`. They are deleted after each case.")]
#[command(group = clap::ArgGroup::new("addresses").required(true))]
pub(crate) struct Arguments {
    /// Store address; repeat the option to compare stores
    #[arg(long = "store", value_name = "ADDRESS", group = "addresses")]
    stores: Vec<String>,

    /// Address of blobs: `memory:`, `file:` or `s3:`; repeat the option to compare them
    #[arg(long, value_name = "ADDRESS", group = "addresses")]
    blobs: Vec<String>,

    /// Run only cases whose names contain NAME; several names select more cases
    #[arg(value_name = "NAME")]
    filter: Vec<String>,

    #[command(flatten)]
    output: Output,
}

/// Form and place of the results.
#[derive(clap::Args)]
struct Output {
    /// Print the results as JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,

    /// Print the results as Markdown
    #[arg(long)]
    markdown: bool,

    /// Compare the Markdown with its section of FILE instead of printing it; exit code 1 if they
    /// differ
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "markdown", "filter"])]
    check: Option<PathBuf>,

    /// Write the Markdown to its section of FILE instead of printing it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "markdown", "filter", "check"])]
    update: Option<PathBuf>,
}

pub(crate) async fn run(arguments: Arguments, registry: Registry) -> Result<ExitCode> {
    let filter = match arguments.filter.is_empty() {
        true => Filter::All,
        false => Filter::Named(arguments.filter),
    };
    match arguments.blobs.is_empty() {
        true => {
            let report = run_stores(&arguments.stores, registry, &filter).await?;
            arguments.output.print(report)
        }
        false => {
            let report = run_blobs(&arguments.blobs, &filter).await?;
            arguments.output.print(report)
        }
    }
}

/// Runs the suite of stores on each address.
async fn run_stores(
    addresses: &[String],
    registry: Registry,
    filter: &Filter,
) -> Result<Option<Report>> {
    let registry = Arc::new(registry);
    // All stores are opened before the first case runs, so that a bad address fails at once.
    let mut harnesses = Vec::new();
    for address in addresses {
        harnesses.push(harness(&registry, address).await?);
    }
    let mut reports = Vec::new();
    for harness in harnesses {
        let bar = bar(harness.engine());
        reports.push(tabla_conformance::run(harness, filter, |it| show(&bar, it)).await);
        bar.finish_and_clear();
    }
    Ok(reports.into_iter().reduce(Report::join))
}

/// Runs the suite of blobs on each address.
async fn run_blobs(addresses: &[String], filter: &Filter) -> Result<Option<blobs::BlobReport>> {
    let mut harnesses = Vec::new();
    for address in addresses {
        harnesses.push(harness_at(address).await?);
    }
    let mut reports = Vec::new();
    for harness in harnesses {
        let bar = bar(harness.engine());
        reports.push(blobs::run(harness, filter, |it| show(&bar, it)).await);
        bar.finish_and_clear();
    }
    Ok(reports.into_iter().reduce(Report::join))
}

/// Progress bar for one address.
fn bar(engine: &str) -> ProgressBar {
    progress::bar("{prefix:16} {bar} {elapsed}").with_prefix(engine.to_owned())
}

/// Shows the progress of a run, and prints the name of each failed case at once.
fn show<C: SuiteCase>(bar: &ProgressBar, progress: Progress<'_, C>) {
    bar.set_length(progress.total as u64);
    bar.set_position(progress.done as u64);
    if progress.last.status == Status::Fail {
        bar.suspend(|| eprintln!("failed: {}", progress.last.case.test_name()));
    }
}

impl Output {
    /// Prints, compares or writes the results. The exit code is 1 if a case has failed.
    fn print<C: SuiteCase>(self, report: Option<Report<C>>) -> Result<ExitCode> {
        let report = report.ok_or_else(|| {
            Error::config("no address to test; name one with --store ADDRESS or --blobs ADDRESS")
        })?;
        if let Some(file) = self.check {
            check(&report, &file)?;
        } else if let Some(file) = self.update {
            update(&report, &file)?;
        } else if self.json {
            print_line!("{:#}", report.to_json());
        } else if self.markdown {
            output::write(format_args!("{}", report.to_markdown()));
        } else {
            output::write(format_args!("{}", report.to_terminal()));
        }
        Ok(if report.failed() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

/// Returns the harness that opens the stores of an address.
///
/// An `sqlite:` address gets a manual clock, and a new file per case next to the named file. Every
/// other address is opened by the registry.
async fn harness(registry: &Arc<Registry>, address: &str) -> Result<Arc<dyn Harness>> {
    match address.parse::<Address>() {
        Ok(parsed) if parsed.scheme == "sqlite" => {
            let config = sqlite_config(parsed).map_err(|error| {
                let message = format!("cannot open `{address}`: {}", error.message());
                error.with_message(message)
            })?;
            Ok(Arc::new(SqliteHarness::new(config)))
        }
        _ => AddressHarness::open(Arc::clone(registry), address).await,
    }
}

/// Returns the settings of an `sqlite:` address, without its option `retries`.
///
/// The registry handles that option for other addresses. Stores of the harness never retry.
fn sqlite_config(mut address: Address) -> Result<SqliteConfig> {
    match address.take("retries").as_deref() {
        None | Some("on" | "off") => SqliteConfig::from_address(address),
        Some(other) => {
            Err(Error::config(format!("the option `retries` is `on` or `off`, not `{other}`")))
        }
    }
}

/// Compares the section of the suite in a Markdown file with the results of the run.
///
/// # Errors
/// The file cannot be read, or its section differs.
fn check<C: SuiteCase>(report: &Report<C>, file: &Path) -> Result<()> {
    let document = read(file)?;
    if report.failed() {
        output::write(format_args!("{}", report.to_terminal()));
    }
    match report.is_in(&document) {
        true => Ok(()),
        false => Err(Error::config(format!(
            "the section `{}` of `{}` differs from the results of this run; regenerate it with \
             --update",
            C::SUITE,
            file.display()
        ))),
    }
}

/// Writes the results of the run to their section of a Markdown file. A run with a failed case
/// writes nothing.
///
/// # Errors
/// The file cannot be read or written.
fn update<C: SuiteCase>(report: &Report<C>, file: &Path) -> Result<()> {
    if report.failed() {
        output::write(format_args!("{}", report.to_terminal()));
        return Ok(());
    }
    let document = read(file)?;
    std::fs::write(file, report.write_into(&document)).map_err(|error| {
        let message = format!("cannot write `{}`: {error}; name a writable file", file.display());
        Error::config(message).with_source(error)
    })
}

fn read(file: &Path) -> Result<String> {
    std::fs::read_to_string(file).map_err(|error| {
        Error::config(format!(
            "cannot read `{}`: {error}; name the Markdown file of an earlier run",
            file.display()
        ))
        .with_source(error)
    })
}
