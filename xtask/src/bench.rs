//! `cargo xtask bench`: measurements, in release, and with the server where one takes part.

use std::process::Command;

use crate::Result;
use crate::machine::{has, need};
use crate::server::{self, ENDPOINT_VARIABLE, HELPER};
use crate::steps::Steps;
use crate::test::Options;
use crate::workspace::{build_program, cargo};

/// The package of the measurements, and its program.
const PROGRAM: &str = "tabla-bench";

/// The measurement in which DynamoDB Local takes part.
const WITH_SERVER: &str = "embedded";

/// Measurements with other programs: any one of them does, and the last is the one to install.
const WITH_PROGRAM: [(&str, &[&str]); 2] =
    [("syncs", &["perf", "strace"]), ("instructions", &["valgrind"])];

pub(crate) fn run(mut steps: Steps, measurement: &str, options: &Options) -> Result<()> {
    let program = steps
        .step(format_args!("build: cargo build --release --package {PROGRAM}"), || {
            build_program(cargo().args(["build", "--release", "--package", PROGRAM]), PROGRAM)
        })?;
    let needed = WITH_PROGRAM.iter().find(|(name, _)| *name == measurement);
    if let Some((_, programs)) = needed
        && !programs.iter().any(|program| has(program))
        && let Some(program) = programs.last()
    {
        steps.step(program, || need(program, options.permission, None))?;
    }
    let mut command = Command::new(program);
    command.arg(measurement).args(&options.passed_on);
    command.env_remove(ENDPOINT_VARIABLE);
    let server = if measurement == WITH_SERVER && !options.without_dynamodb {
        let helper = steps.step("build: cargo build --package tabla-testkit", || {
            let mut command = cargo();
            command.args(["build", "--package", "tabla-testkit", "--bin", HELPER]);
            build_program(&mut command, HELPER)
        })?;
        let server = steps.step("DynamoDB Local", || server::start(&helper, options.permission))?;
        command.env(ENDPOINT_VARIABLE, server.url());
        Some(server)
    } else {
        None
    };
    steps.command("measurement", &mut command)?;
    steps.finish("cargo xtask bench");
    if let Some(server) = server {
        println!("DynamoDB Local was: {}", server.path());
    }
    Ok(())
}
