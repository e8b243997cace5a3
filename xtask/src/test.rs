//! `cargo xtask test`: every test and doctest, against the real server.

use std::ffi::OsString;

use crate::Result;
use crate::server::{self, ENDPOINT_VARIABLE, HELPER, Permission};
use crate::steps::Steps;
use crate::workspace::{build_program, cargo};

/// The variable by which tests learn which servers to do without.
const WITHOUT_VARIABLE: &str = "TABLA_WITHOUT";

const NOT_RUN: &str = "NOT RUN: the tests that need DynamoDB Local (--without dynamodb)";

pub(crate) struct Options {
    pub(crate) without_dynamodb: bool,
    pub(crate) permission: Permission,
    pub(crate) passed_on: Vec<OsString>,
}

pub(crate) fn run(mut steps: Steps, options: &Options) -> Result<()> {
    // Built first and all at once: a mistake in the code shows before a server
    // is set up, and the program that starts the server is among what is built,
    // so nothing is built twice with different features.
    let helper = steps.step("build: cargo test --workspace --no-run", || {
        build_program(cargo().args(["test", "--workspace", "--no-run"]), HELPER)
    })?;
    let mut tests = cargo();
    tests.args(["test", "--workspace", "--no-fail-fast", "--"]);
    tests.args(&options.passed_on);
    if options.without_dynamodb {
        println!("\n{NOT_RUN}");
        tests.env(WITHOUT_VARIABLE, "dynamodb");
        tests.env_remove(ENDPOINT_VARIABLE);
        steps.command("tests and doctests", &mut tests)?;
        steps.finish("cargo xtask test");
        println!("{NOT_RUN}");
        return Ok(());
    }
    let server = steps.step("DynamoDB Local", || server::start(&helper, options.permission))?;
    tests.env(ENDPOINT_VARIABLE, server.url());
    tests.env_remove(WITHOUT_VARIABLE);
    steps.command("tests and doctests", &mut tests)?;
    steps.finish("cargo xtask test");
    println!("DynamoDB Local was: {}", server.path());
    Ok(())
}
