//! The command `tabla`.

mod app;
mod apps;
mod check;
#[cfg(feature = "conformance")]
mod conformance;
#[cfg(not(feature = "conformance"))]
#[path = "conformance_missing.rs"]
mod conformance;
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
        registry.register_missing(
            "dynamodb",
            "build it with `cargo build --release --features dynamodb`",
        );
    }
    registry
}

/// The same stores for commands whose callers retry, or want to see every error.
fn without_retries() -> Registry {
    registry().with_retries(RetryPolicy::none())
}
