//! `cargo xtask test`: every test and doctest, with the real servers.

use std::ffi::OsString;
use std::process::Command;

use crate::Result;
use crate::clients;
use crate::machine::need;
use crate::server::{HELPER_COMMAND, Permission, SERVERS, SharedEngine};
use crate::steps::Steps;
use crate::workspace::{build, cargo};

/// Environment variable that lists the servers and programs to leave out, read by the tests.
const WITHOUT_VARIABLE: &str = "TABLA_WITHOUT";

/// Environment variable that selects the store of the app tests.
const STORE_VARIABLE: &str = "TABLA_APPS_STORE";

/// Features of the command in tests: those of release binaries.
pub(crate) const CLI_FEATURES: &str = "tabla-cli/full";

/// Features of a build of the whole workspace: those of the command, and all of `tabla-s3` but the
/// clients of other clouds, which only their own tests could use.
pub(crate) const WORKSPACE_FEATURES: &str =
    "tabla-cli/full,tabla-s3/gateway,tabla-s3/object-store,tabla-s3/s3";

/// Packages of the apps, whose tests run on every store.
const APPS: [&str; 5] = [
    "tabla-branding",
    "tabla-crypto-cards",
    "tabla-esencia-fest",
    "tabla-gamificacion",
    "tabla-rk-pai",
];

/// Servers and programs whose tests can be left out with `--without`.
pub(crate) const OPTIONAL: [&str; 4] = ["dynamodb", "s3", "strace", "clients"];

pub(crate) struct Options {
    /// Items of [`OPTIONAL`].
    pub(crate) without: Vec<&'static str>,
    pub(crate) permission: Permission,
    pub(crate) passed_on: Vec<OsString>,
}

impl Options {
    /// Whether `--without` names this server or program.
    pub(crate) fn leaves_out(&self, what: &str) -> bool {
        self.without.contains(&what)
    }
}

pub(crate) fn run(mut steps: Steps, options: &Options) -> Result<()> {
    // Built first and together: compile errors show before a server is set up, and the program that
    // starts the server is among the targets, so that it is not built again with other features.
    let built = steps.step("build: cargo test --workspace --no-run", || {
        build(cargo().args(["test", "--workspace", "--features", WORKSPACE_FEATURES, "--no-run"]))
    })?;
    let helper = built.program(HELPER_COMMAND)?;
    let mut tests = cargo();
    tests.args(["test", "--workspace", "--features", WORKSPACE_FEATURES, "--no-fail-fast", "--"]);
    tests.args(&options.passed_on);
    let without = options.without.join(",");
    if !options.leaves_out("strace") {
        let or = "skip the tests that need it with --without strace";
        steps.step("strace", || need("strace", options.permission, Some(or)))?;
    }
    if !options.leaves_out("clients") {
        steps
            .step(clients::TITLE, || clients::ready(options.permission))?
            .set_variables(&mut tests);
    }
    let mut engine = SharedEngine::default();
    let mut servers = Vec::new();
    for kind in SERVERS.into_iter().filter(|kind| !options.leaves_out(kind.short_name)) {
        let server =
            steps.step(kind.name, || kind.start(&helper, &mut engine, options.permission))?;
        servers.push((kind, server));
    }
    let set_variables = |command: &mut Command| {
        command.env(WITHOUT_VARIABLE, &without);
        for kind in SERVERS {
            command.env_remove(kind.endpoint_variable);
        }
        for (kind, server) in &servers {
            command.env(kind.endpoint_variable, server.url());
        }
    };
    set_variables(&mut tests);
    let not_run = || {
        for what in &options.without {
            println!("NOT RUN: the tests that need {what} (--without {what})");
        }
    };
    not_run();
    steps.command("tests and doctests", &mut tests)?;
    // The app tests have run in memory; now they run on the other stores. The test programs are
    // started directly, because cargo would rebuild the apps with other features.
    for store in ["sqlite", "dynamodb"].into_iter().filter(|store| !options.leaves_out(store)) {
        for app in APPS {
            for (program, folder) in built.tests(app)? {
                let mut again = Command::new(program);
                again.args(&options.passed_on).current_dir(folder);
                set_variables(again.env(STORE_VARIABLE, store));
                steps.command(&format!("{app} on {store}"), &mut again)?;
            }
        }
    }
    steps.finish("cargo xtask test");
    not_run();
    for (kind, server) in &servers {
        println!("{} was: {}", kind.name, server.path());
    }
    Ok(())
}
