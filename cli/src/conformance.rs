//! `tabla conformance`: the suite on any stores, side by side.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use tabla::sqlite::{SqliteConfig, SqliteHarness};
use tabla::{Address, Error, Registry, Result};
use tabla_conformance::{AddressHarness, Filter, Harness, Report, Status};

use crate::output::{self, print_line};
use crate::progress;

/// What to run and how to show it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tabla conformance --store memory:
  tabla conformance --store memory: --store dynamodb://127.0.0.1:8000
  tabla conformance --store memory: transactions:: 29a_

Each case is one rule of DynamoDB. It passes, deviates in a way that is known of the engine, is
not supported by the engine, which then has to refuse it, or fails. The exit code is 1 if any case
fails on any store.")]
pub(crate) struct Arguments {
    /// The address of a store; several may be given
    #[arg(long = "store", value_name = "ADDRESS", required = true)]
    stores: Vec<String>,

    /// Run only cases whose names contain one of these
    #[arg(value_name = "NAME")]
    filter: Vec<String>,

    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,

    /// Print Markdown
    #[arg(long)]
    markdown: bool,

    /// Print nothing, but compare the Markdown with this file, and fail if it differs
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "markdown", "filter"])]
    check: Option<PathBuf>,
}

pub(crate) async fn run(arguments: Arguments, registry: Registry) -> Result<ExitCode> {
    let registry = Arc::new(registry);
    let filter = match arguments.filter.is_empty() {
        true => Filter::All,
        false => Filter::Named(arguments.filter),
    };
    // All stores are opened before the first case runs: a misspelt address is found at once.
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
    let report = report.ok_or_else(|| Error::config("no store was given"))?;
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

/// Makes the stores of an address. SQLite has a clock that can be moved, and a file of its own for
/// each case, beside the one that is named; other stores are opened as anybody opens them.
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

/// Settings of an `sqlite:` address. The registry, which takes the option `retries` of other
/// addresses, has no part in this; the stores of the harness never retry.
fn sqlite_config(mut address: Address) -> Result<SqliteConfig> {
    match address.take("retries").as_deref() {
        None | Some("on" | "off") => SqliteConfig::from_address(address),
        Some(other) => {
            Err(Error::config(format!("the option `retries` is `on` or `off`, not `{other}`")))
        }
    }
}

/// Fails if the file does not say what the run has shown.
fn check(report: &Report, file: &PathBuf) -> Result<()> {
    let written = std::fs::read_to_string(file).map_err(|error| {
        Error::config(format!("{} cannot be read: {error}", file.display())).with_source(error)
    })?;
    if report.failed() {
        output::write(format_args!("{}", report.to_terminal()));
    }
    if written != report.to_markdown() {
        return Err(Error::config(format!(
            "{} is not what this run has shown; write it anew with --markdown",
            file.display()
        )));
    }
    Ok(())
}
