//! `cargo xtask bench`: builds the measurements in release, with the servers that they compare.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::clients::javascript;
use crate::machine::{has, need};
use crate::server::{self, DYNAMODB_LOCAL, Permission, SharedEngine, VERSITYGW};
use crate::steps::{Steps, run as run_command};
use crate::test::Options;
use crate::workspace::{build_program, cargo, target_folder};

/// Package of the measurements, which is also the name of its program.
const PROGRAM: &str = "tabla-bench";

/// Measurement that compares with a DynamoDB Local that is running already.
const WITH_SERVER: &str = "embedded";

/// Measurements that start servers themselves, from the paths of their programs.
const HTTP: &str = "http";
const BLOBS: &str = "blobs";

/// Programs that a measurement needs: one of each list, of which the last one is installed.
const WITH_PROGRAM: [(&str, &[&str]); 3] =
    [("syncs", &["perf", "strace"]), (BLOBS, &["strace"]), ("instructions", &["valgrind"])];

/// Package of Dynoxide's program, its version, and the name of the program.
const DYNOXIDE: (&str, &str, &str) = ("dynoxide-rs", "=3.2.0", "dynoxide");

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
    command.env_remove(DYNAMODB_LOCAL.endpoint_variable);
    let servers = match measurement {
        HTTP => servers(&mut steps, options)?,
        BLOBS => blob_servers(&mut steps, options)?,
        _ => Vec::new(),
    };
    for (name, path) in servers {
        command.arg(format!("--{name}")).arg(path);
    }
    let without_dynamodb = options.leaves_out(DYNAMODB_LOCAL.short_name);
    let server = if measurement == WITH_SERVER && !without_dynamodb {
        let helper = server::build_helper(&mut steps)?;
        let mut engine = SharedEngine::default();
        let server = steps.step(DYNAMODB_LOCAL.name, || {
            DYNAMODB_LOCAL.start(&helper, &mut engine, options.permission)
        })?;
        command.env(DYNAMODB_LOCAL.endpoint_variable, server.url());
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

/// Builds or installs the chosen servers, and returns the path of each.
fn servers(steps: &mut Steps, options: &Options) -> Result<Vec<(&'static str, PathBuf)>> {
    let mut found = Vec::new();
    let folder = target_folder()?.join("peers");
    if is_chosen(&options.passed_on, "tabla") {
        found.push(("tabla", tabla(steps)?));
    }
    if is_chosen(&options.passed_on, "dynoxide") {
        found.push(("dynoxide", steps.step("Dynoxide", || dynoxide(&folder))?));
    }
    let without_dynamodb = options.leaves_out(DYNAMODB_LOCAL.short_name);
    if is_chosen(&options.passed_on, "dynamodb") && !without_dynamodb {
        let jars = steps.step(DYNAMODB_LOCAL.name, || server::jars(options.permission))?;
        found.push(("dynamodb", jars));
    }
    if is_chosen(&options.passed_on, "dynalite") {
        let dynalite = steps.step("dynalite", || dynalite(&folder, options.permission))?;
        found.push(("dynalite", dynalite));
    }
    Ok(found)
}

/// Builds the servers of blobs, and returns the path of each.
fn blob_servers(steps: &mut Steps, options: &Options) -> Result<Vec<(&'static str, PathBuf)>> {
    let tabla = tabla(steps)?;
    let versitygw = steps.step(VERSITYGW.name, || server::versitygw(options.permission))?;
    Ok(vec![("tabla", tabla), ("versitygw", versitygw)])
}

/// Builds the command, alone, as users do: together with the measurements it would get their
/// features too.
fn tabla(steps: &mut Steps) -> Result<PathBuf> {
    steps.step("build: cargo build --release --package tabla-cli", || {
        build_program(cargo().args(["build", "--release", "--package", "tabla-cli"]), "tabla")
    })
}

/// Whether the options of the measurement choose a server: all are chosen unless `--servers`
/// names some.
fn is_chosen(passed_on: &[OsString], server: &str) -> bool {
    let mut options = passed_on.iter().skip_while(|option| *option != "--servers").skip(1);
    options
        .next()
        .is_none_or(|chosen| chosen.to_string_lossy().split(',').any(|chosen| chosen == server))
}

/// Installs Dynoxide from its registry unless it is installed, as its users do: with its published
/// features, profile and lock file. It reports version 1.5.0, which is that of the product and not
/// of the package.
fn dynoxide(folder: &Path) -> Result<PathBuf> {
    let (package, version, program) = DYNOXIDE;
    let root = folder.join(program);
    let mut command = cargo();
    command.args(["install", package, "--version", version, "--locked", "--root"]).arg(&root);
    run_command(command.env("CARGO_TARGET_DIR", folder))?;
    Ok(root.join("bin").join(program))
}

/// Installs dynalite with the versions of its lock file, unless they are installed.
fn dynalite(folder: &Path, permission: Permission) -> Result<PathBuf> {
    let or = "leave out dynalite with -- --servers tabla,dynoxide,dynamodb";
    need("npm", permission, Some(or))?;
    let manifests = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("bench/peers/dynalite");
    let folder = folder.join("dynalite");
    javascript(&manifests, &folder)?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_servers_are_chosen_unless_some_are_named() {
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        assert!(is_chosen(&words(&[]), "tabla"));
        assert!(is_chosen(&words(&["--quick"]), "dynalite"));
        let some = words(&["--quick", "--servers", "tabla,dynoxide", "--rounds", "3"]);
        assert!(is_chosen(&some, "tabla") && is_chosen(&some, "dynoxide"));
        assert!(!is_chosen(&some, "dynalite") && !is_chosen(&some, "dyno"));
    }
}
