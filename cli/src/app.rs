//! `tabla app`: lists, checks, exports and seeds the design of a sample app.

use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use tabla::entity::lint::{self, Finding};
use tabla::entity::{Db, TableDesign, UtcTime, export, listing};
use tabla::env::Env;
use tabla::{Error, Registry, Result};
use tabla_kit::{App, failed_patterns};

use crate::output::{self, print_line};
use crate::progress;
use crate::table::Table;

// The description in the help is that of the variant in `main.rs`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  tabla app branding patterns
  tabla app branding lint
  tabla app branding check
  tabla app branding schema --format terraform --name branding=branding-prod > branding.tf.json
  tabla app branding seed --store sqlite:branding.db --scale 10")]
pub(crate) struct Arguments {
    /// Name of the app
    #[arg(value_parser = names())]
    name: String,

    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// List the access patterns: operation, index, keys, capacity units
    Patterns {
        /// Compute capacity units for items of this size
        #[arg(long, default_value_t = 1024, value_name = "BYTES")]
        item_size: usize,
        /// Print a Markdown table
        #[arg(long)]
        markdown: bool,
    },
    /// Check the design; the exit code is 1 if there are errors, 0 if there are only warnings
    Lint,
    /// Run every access pattern on sample data in memory; the exit code is 1 if one fails
    Check,
    /// Print the table definitions for CloudFormation, Terraform or NoSQL Workbench
    Schema {
        /// Format of the definitions
        #[arg(long, value_enum, default_value_t = Format::Cloudformation)]
        format: Format,
        /// Write NAME instead of TABLE, for example its name in an environment; repeatable
        #[arg(long = "name", value_name = "TABLE=NAME", value_parser = renaming)]
        names: Vec<(String, String)>,
    },
    /// Create the tables and fill them with sample data
    Seed {
        /// Store address
        #[arg(long, value_name = "ADDRESS")]
        store: String,
        /// Multiply the amount of sample data by N
        #[arg(long, default_value_t = 1, value_name = "N")]
        scale: u32,
    },
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    Cloudformation,
    Terraform,
    Workbench,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(crate::apps::NAMES)
}

pub(crate) async fn run(arguments: Arguments, registry: Registry) -> Result<ExitCode> {
    let app = crate::apps::find(&arguments.name)?;
    match arguments.command {
        Command::Patterns { item_size, markdown } => patterns(&*app, item_size, markdown)?,
        Command::Lint => return Ok(lint(&*app)),
        Command::Check => return check(&*app).await,
        Command::Schema { format, names } => schema(&*app, format, &names)?,
        Command::Seed { store, scale } => {
            let db = Db::new(registry.open(&store).await?);
            seed(&*app, &db, scale).await?;
            print_line!("{}: sample data written to {store}", arguments.name);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn patterns(app: &dyn App, item_size: usize, markdown: bool) -> Result<()> {
    let design = app.design();
    if markdown {
        output::write(format_args!("{}", listing::markdown(&design, item_size)?));
        return Ok(());
    }
    print_line!("{}: {}\n", design.name, design.summary);
    let mut table = Table::new(["", "pattern", "operation", "units"], [5, 35, 46, 6], 1);
    for row in listing::rows(&design, item_size)? {
        table.row([row.number, row.pattern, &row.operation, &row.units.to_string()]);
        row.keys.iter().for_each(|line| table.note(line));
    }
    print_line!("{table}");
    print_line!("Capacity units are for items of {item_size} bytes and pages of 25 items.");
    Ok(())
}

fn lint(app: &dyn App) -> ExitCode {
    let design = app.design();
    let findings = lint::check(&design);
    let (errors, warnings): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|finding| finding.is_error());
    for error in &errors {
        print_line!("error: {error}");
    }
    for warning in &warnings {
        match warning.accepted {
            Some(reason) => print_line!("accepted: {warning}\n          because {reason}"),
            None => print_line!("warning: {warning}"),
        }
    }
    let accepted = warnings.iter().filter(|warning| warning.accepted.is_some()).count();
    print_line!(
        "{}: {} patterns; {} errors, {} warnings, {accepted} accepted",
        design.name,
        design.patterns.len(),
        errors.len(),
        warnings.len() - accepted
    );
    match errors.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

async fn check(app: &dyn App) -> Result<ExitCode> {
    let design = app.design();
    let failed = failed_patterns(app).await?;
    for pattern in &failed {
        print_line!("error: {pattern}");
    }
    print_line!("{}: {} patterns; {} failed", design.name, design.patterns.len(), failed.len());
    Ok(match failed.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Parses `TABLE=NAME`, a value of `--name`.
fn renaming(text: &str) -> std::result::Result<(String, String), String> {
    match text.split_once('=') {
        Some((table, name)) if !table.is_empty() && !name.is_empty() => {
            Ok((table.to_owned(), name.to_owned()))
        }
        _ => Err("expected a table of the app and its new name, such as branding=branding-prod"
            .to_owned()),
    }
}

fn schema(app: &dyn App, format: Format, names: &[(String, String)]) -> Result<()> {
    let design = app.design();
    let known: Vec<&str> = design.tables.iter().map(|table| table.name.as_str()).collect();
    if let Some((table, _)) = names.iter().find(|(table, _)| !known.contains(&table.as_str())) {
        let known = known.join(", ");
        return Err(Error::config(format!(
            "cannot rename the table `{table}`: the app {} has no such table; name one of {known}",
            design.name
        )));
    }
    let now: UtcTime = Env::system().clock.now().into();
    let mut tables: Vec<(String, &TableDesign)> = Vec::new();
    for table in &design.tables {
        let renamed = names.iter().find(|(known, _)| *known == table.name);
        let name = renamed.map_or(table.name.as_str(), |(_, name)| name.as_str());
        match table.periods {
            // One physical table per period, such as a month.
            true => tables.extend(
                app.periods(table, now)
                    .into_iter()
                    .map(|period| (format!("{name}-{period}"), *table)),
            ),
            false => tables.push((name.to_owned(), *table)),
        }
    }
    let value = match format {
        Format::Cloudformation => export::cloudformation(&tables),
        Format::Terraform => export::terraform(&tables),
        Format::Workbench => {
            export::workbench(&export::Model::new(design.name, now), &tables, &design.entities)
        }
    };
    print_line!("{value:#}");
    Ok(())
}

/// Creates an app's tables and fills them with sample data, with a progress bar on a terminal.
pub(crate) async fn seed(app: &dyn App, db: &Db, scale: u32) -> Result<()> {
    app.create_tables(db).await?;
    let bar = progress::bar("{prefix:14} {bar}, {eta} left").with_prefix(app.design().name);
    let show = |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    };
    let outcome = app.seed(db, scale, &show).await;
    bar.finish_and_clear();
    outcome
}
