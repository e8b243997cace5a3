//! `tabla conformance`: runs the suite on one or more stores and prints the results side by side.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use tabla::sqlite::{SqliteConfig, SqliteHarness};
use tabla::{Address, Error, Registry, Result};
use tabla_conformance::{AddressHarness, Filter, Harness, Report, Status};

use crate::output::{self, print_line};
use crate::progress;

// The description in the help is that of the variant in `main.rs`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tabla conformance --store memory:
  tabla conformance --store memory: --store dynamodb://127.0.0.1:8000
  tabla conformance --store memory: transactions:: 29a_

Each case tests one rule of DynamoDB. Its result on a store is pass, deviates (a documented
difference of the engine), unsupported (the engine lacks the feature and refuses the request) or
fail. The exit code is 1 if a case fails on a store.")]
pub(crate) struct Arguments {
    /// Store address; repeat the option to compare stores
    #[arg(long = "store", value_name = "ADDRESS", required = true)]
    stores: Vec<String>,

    /// Run only cases whose names contain NAME; several names select more cases
    #[arg(value_name = "NAME")]
    filter: Vec<String>,

    /// Print the results as JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,

    /// Print the results as Markdown
    #[arg(long)]
    markdown: bool,

    /// Compare the Markdown with FILE instead of printing it; exit code 1 if they differ
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "markdown", "filter"])]
    check: Option<PathBuf>,
}

pub(crate) async fn run(arguments: Arguments, registry: Registry) -> Result<ExitCode> {
    let registry = Arc::new(registry);
    let filter = match arguments.filter.is_empty() {
        true => Filter::All,
        false => Filter::Named(arguments.filter),
    };
    // All stores are opened before the first case runs, so that a bad address fails at once.
    let mut harnesses = Vec::new();
    for address in &arguments.stores {
        harnesses.push(harness(&registry, address).await?);
    }
    let mut report: Option<Report> = None;
    for harness in harnesses {
        let bar =
            progress::bar("{prefix:16} {bar} {elapsed}").with_prefix(harness.engine().to_owned());
        let column = tabla_conformance::run(harness, &filter, |progress| {
            bar.set_length(progress.total as u64);
            bar.set_position(progress.done as u64);
            if progress.last.status == Status::Fail {
                bar.suspend(|| eprintln!("failed: {}", progress.last.case.test_name()));
            }
        })
        .await;
        bar.finish_and_clear();
        report = Some(match report {
            Some(report) => report.join(column),
            None => column,
        });
    }
    let report =
        report.ok_or_else(|| Error::config("no store to test; name one with --store ADDRESS"))?;
    if let Some(file) = arguments.check {
        check(&report, &file)?;
    } else if arguments.json {
        print_line!("{:#}", report.to_json());
    } else if arguments.markdown {
        output::write(format_args!("{}", report.to_markdown()));
    } else {
        output::write(format_args!("{}", report.to_terminal()));
    }
    Ok(if report.failed() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
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

/// Compares a Markdown file with the results of the run.
///
/// # Errors
/// The file cannot be read, or it differs.
fn check(report: &Report, file: &PathBuf) -> Result<()> {
    let written = std::fs::read_to_string(file).map_err(|error| {
        Error::config(format!(
            "cannot read `{}`: {error}; name the Markdown file of an earlier run",
            file.display()
        ))
        .with_source(error)
    })?;
    if report.failed() {
        output::write(format_args!("{}", report.to_terminal()));
    }
    if written != report.to_markdown() {
        return Err(Error::config(format!(
            "`{}` differs from the results of this run; regenerate it with --markdown",
            file.display()
        )));
    }
    Ok(())
}
