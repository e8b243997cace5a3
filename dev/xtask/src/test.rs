//! `cargo xtask test`: every test and doctest, with the real server.

use std::ffi::OsString;
use std::process::Command;

use crate::Result;
use crate::clients;
use crate::machine::need;
use crate::server::{self, ENDPOINT_VARIABLE, HELPER_COMMAND, Permission};
use crate::steps::Steps;
use crate::workspace::{build, cargo};

/// Environment variable that lists the servers and programs to leave out, read by the tests.
const WITHOUT_VARIABLE: &str = "TABLA_WITHOUT";

/// Environment variable that selects the store of the app tests.
const STORE_VARIABLE: &str = "TABLA_APPS_STORE";

/// Features of the command in tests: those of release binaries.
pub(crate) const CLI_FEATURES: &str = "tabla-cli/full";

/// Packages of the apps, whose tests run on every store.
const APPS: [&str; 5] = [
    "tabla-branding",
    "tabla-crypto-cards",
    "tabla-esencia-fest",
    "tabla-gamificacion",
    "tabla-rk-pai",
];

pub(crate) struct Options {
    pub(crate) without_dynamodb: bool,
    pub(crate) without_strace: bool,
    pub(crate) without_clients: bool,
    pub(crate) permission: Permission,
    pub(crate) passed_on: Vec<OsString>,
}

pub(crate) fn run(mut steps: Steps, options: &Options) -> Result<()> {
    // Built first and together: compile errors show before a server is set up, and the program that
    // starts the server is among the targets, so that it is not built again with other features.
    let built = steps.step("build: cargo test --workspace --no-run", || {
        build(cargo().args(["test", "--workspace", "--features", CLI_FEATURES, "--no-run"]))
    })?;
    let helper = built.program(HELPER_COMMAND)?;
    let mut tests = cargo();
    tests.args(["test", "--workspace", "--features", CLI_FEATURES, "--no-fail-fast", "--"]);
    tests.args(&options.passed_on);
    let mut without = Vec::new();
    if options.without_strace {
        without.push("strace");
    } else {
        let or = "skip the tests that need it with --without strace";
        steps.step("strace", || need("strace", options.permission, Some(or)))?;
    }
    if options.without_clients {
        without.push("clients");
    } else {
        steps
            .step(clients::TITLE, || clients::ready(options.permission))?
            .set_variables(&mut tests);
    }
    let server = match options.without_dynamodb {
        true => {
            without.push("dynamodb");
            tests.env_remove(ENDPOINT_VARIABLE);
            None
        }
        false => {
            let server =
                steps.step("DynamoDB Local", || server::start(&helper, options.permission))?;
            tests.env(ENDPOINT_VARIABLE, server.url());
            Some(server)
        }
    };
    tests.env(WITHOUT_VARIABLE, without.join(","));
    let not_run = || {
        for what in &without {
            println!("NOT RUN: the tests that need {what} (--without {what})");
        }
    };
    not_run();
    steps.command("tests and doctests", &mut tests)?;
    // The app tests have run in memory; now they run on the other stores. The test programs are
    // started directly, because cargo would rebuild the apps with other features.
    for store in ["sqlite", "dynamodb"].into_iter().filter(|store| !without.contains(store)) {
        for app in APPS {
            for (program, folder) in built.tests(app)? {
                let mut again = Command::new(program);
                again.args(&options.passed_on).current_dir(folder);
                again.env(STORE_VARIABLE, store).env(WITHOUT_VARIABLE, without.join(","));
                if let Some(server) = &server {
                    again.env(ENDPOINT_VARIABLE, server.url());
                }
                steps.command(&format!("{app} on {store}"), &mut again)?;
            }
        }
    }
    steps.finish("cargo xtask test");
    not_run();
    if let Some(server) = server {
        println!("DynamoDB Local was: {}", server.path());
    }
    Ok(())
}
