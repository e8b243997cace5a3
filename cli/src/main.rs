//! The command `tabla`.

mod app;
mod apps;
mod check;
#[cfg(feature = "conformance")]
mod conformance;
// Compiled with the suite, too, so that its test runs in every build.
#[cfg(any(test, not(feature = "conformance")))]
mod conformance_missing;
#[cfg(not(feature = "conformance"))]
use conformance_missing as conformance;
mod demo;
mod open_files;
mod output;
mod progress;
mod serve;
mod table;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use tabla::{Registry, RetryPolicy};

/// DynamoDB-style tables on any backend
#[derive(Parser)]
#[command(name = "tabla", version, about = "DynamoDB-style tables on any backend")]
#[command(arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show what tabla does: five apps on SQLite, pattern by pattern
    Demo(demo::Arguments),
    /// Answer any AWS SDK, in any language, as DynamoDB does
    Serve(serve::Arguments),
    /// Prove that stores behave as DynamoDB does, case by case
    Conformance(conformance::Arguments),
    /// List, check, export or fill in an app
    App(app::Arguments),
    /// Verify a file: every item, every index entry, every count
    Check(check::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: no runtime could be started: {error}");
            return ExitCode::FAILURE;
        }
    };
    let outcome = runtime.block_on(async {
        // Boxed: one future with the room for the largest of them would be moved about as a whole.
        match arguments.command {
            Command::Demo(arguments) => Box::pin(demo::run(arguments)).await.map(success),
            Command::App(arguments) => Box::pin(app::run(arguments, registry())).await,
            Command::Conformance(arguments) => {
                Box::pin(conformance::run(arguments, without_retries())).await
            }
            Command::Check(arguments) => Box::pin(check::run(arguments)).await,
            Command::Serve(arguments) => {
                Box::pin(serve::run(arguments, without_retries())).await.map(success)
            }
        }
    });
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

fn success((): ()) -> ExitCode {
    ExitCode::SUCCESS
}

/// The stores that this program can open. They retry.
fn registry() -> Registry {
    let mut registry = tabla::registry();
    if cfg!(not(feature = "dynamodb")) {
        name_missing(&mut registry);
    }
    registry
}

/// Names the commands that build this program with all schemes. The facade's error names a feature
/// of the library, which a user of the program cannot turn on.
fn name_missing(registry: &mut Registry) {
    let remedy = "build one with them: `cargo build --release --features full`";
    registry.register_missing("dynamodb", remedy);
}

/// The same stores for commands whose callers retry, or want to see every error.
fn without_retries() -> Registry {
    registry().with_retries(RetryPolicy::none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn missing_scheme_is_reported_with_the_command_that_builds_it() {
        let mut small = Registry::new();
        name_missing(&mut small);
        // The default program itself, if that is what is built.
        let own = registry();
        let programs = match cfg!(feature = "dynamodb") {
            true => vec![small],
            false => vec![small, own],
        };
        for program in programs {
            let error = program.open("dynamodb:?region=eu-west-1").await.expect_err("no scheme");
            let message = "cannot open `dynamodb:?region=eu-west-1`: this program was built without \
                           `dynamodb:` addresses; build one with them: `cargo build --release \
                           --features full`";
            assert_eq!(error.message(), message);
        }
    }

    #[cfg(not(feature = "conformance"))]
    #[tokio::test]
    async fn default_program_names_the_command_that_has_the_suite() {
        let asked = ["tabla", "conformance", "--store", "memory:", "--json"];
        let Command::Conformance(arguments) = Arguments::parse_from(asked).command else {
            panic!("another command was read");
        };
        let error = conformance::run(arguments, registry()).await.expect_err("no suite");
        let told = "--features full -- conformance --store memory: --json`";
        assert!(error.message().ends_with(told), "{error}");
    }
}
