//! The command `tabla`: its subcommands, and the registry of stores that they open.

mod app;
mod apps;
mod blobs;
mod check;
#[cfg(feature = "conformance")]
mod conformance;
// Compiled with the suite too, so that its test runs in every build.
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
    /// Run the access patterns of five sample apps on SQLite and print the results
    Demo(demo::Arguments),
    /// Serve DynamoDB's wire protocol, and S3's for blobs, to AWS SDKs in any language
    Serve(serve::Arguments),
    /// Run the conformance suite on one or more stores
    Conformance(conformance::Arguments),
    /// List, check, export or seed one of the sample apps
    App(app::Arguments),
    /// Verify a database file: every item, index entry, stream record and count
    Check(check::Arguments),
    /// Print the access key of a folder of blobs, or sweep it
    Blobs(blobs::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!(
                "error: cannot start the worker threads: {error}; raise the limit on threads \
                 (`ulimit -u`)"
            );
            return ExitCode::FAILURE;
        }
    };
    let outcome = runtime.block_on(async {
        // Boxed, because an unboxed future is as large as the largest of them and is moved as a
        // whole.
        match arguments.command {
            Command::Demo(arguments) => Box::pin(demo::run(arguments)).await.map(success),
            Command::App(arguments) => Box::pin(app::run(arguments, registry())).await,
            Command::Conformance(arguments) => {
                Box::pin(conformance::run(arguments, without_retries())).await
            }
            Command::Check(arguments) => Box::pin(check::run(arguments)).await,
            Command::Blobs(arguments) => Box::pin(blobs::run(arguments)).await.map(success),
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

/// Returns the registry of the stores that this program can open, with the default retry policy.
fn registry() -> Registry {
    let mut registry = tabla::registry();
    if cfg!(not(feature = "dynamodb")) {
        name_missing(&mut registry);
    }
    registry
}

/// Registers a remedy for `dynamodb:` addresses: the command that builds this program with them.
///
/// The facade's own remedy names a feature of the library, which a user of the program lacks.
fn name_missing(registry: &mut Registry) {
    let remedy = "build one with them: `cargo build --release --features full`";
    registry.register_missing("dynamodb", remedy);
}

/// Returns [`registry`] without retries, for commands whose callers retry or report every error.
fn without_retries() -> Registry {
    registry().with_retries(RetryPolicy::none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn missing_scheme_error_names_the_build_command() {
        let mut small = Registry::new();
        name_missing(&mut small);
        // This build itself, if it is the default one.
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
    async fn default_build_error_names_the_command_with_the_suite() {
        let asked = ["tabla", "conformance", "--store", "memory:", "--json"];
        let Command::Conformance(arguments) = Arguments::parse_from(asked).command else {
            panic!("the command is not `conformance`");
        };
        let error = conformance::run(arguments, registry()).await.expect_err("no suite");
        let command = "--features full -- conformance --store memory: --json`";
        assert!(error.message().ends_with(command), "{error}");
    }
}
