//! DynamoDB Local for a run, started in the first of these ways that works:
//!
//! 1. `TABLA_DYNAMODB_ENDPOINT` names a server, which is used.
//! 2. A container engine is running, or can be installed and started: a container, from an image
//!    that exists, is pulled, or is built from Maven Central.
//! 3. The jars from Maven Central, as a child process.
//!
//! In each case the helper program of `tabla-testkit` starts or checks the server, prints its
//! address, and stops it when its input closes.

mod engine;
mod image;
mod jars;

use std::env;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::Result;
use crate::steps::Steps;
use crate::workspace::{build_program, cargo, target_folder};

use engine::Engine;

/// Environment variable that names a server, for this program and for the tests.
pub(crate) const ENDPOINT_VARIABLE: &str = "TABLA_DYNAMODB_ENDPOINT";

/// Program of `tabla-testkit` that runs the server.
pub(crate) const HELPER_COMMAND: &str = "dynamodb-local";

/// Container image of DynamoDB Local, as in `tabla-testkit`.
const IMAGE: &str = "amazon/dynamodb-local:2.6.1";
/// Version of DynamoDB Local, as in `tabla-testkit`.
const VERSION: &str = "2.6.1";

const HOW_TO_GET_ONE: &str = "\
DynamoDB Local is not available. Do one of these:
  - start a Docker engine, and run this again;
  - run as root on Debian or Ubuntu without --no-install, to have an engine installed;
  - install Java 17 and Maven, to have DynamoDB Local downloaded from Maven Central;
  - start a server yourself and set TABLA_DYNAMODB_ENDPOINT=http://host:port.
To skip the tests that need it: cargo xtask test --without dynamodb";

/// Permission to install packages on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permission {
    Install,
    UseOnly,
}

/// Running server; dropping it stops everything that was started for it.
pub(crate) struct Server {
    path: String,
    // The order of the fields matters: the helper removes its container before an engine that was
    // started for it is stopped.
    helper: ServerHelper,
    _engine: Option<Engine>,
}

impl Server {
    pub(crate) fn url(&self) -> &str {
        &self.helper.url
    }

    /// Description of the way by which the server was started.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }
}

/// Starts a server by the first way that works.
pub(crate) fn start(helper: &Path, permission: Permission) -> Result<Server> {
    let server = if given() {
        Server {
            path: format!("named by {ENDPOINT_VARIABLE}"),
            helper: ServerHelper::start(Command::new(helper))?,
            _engine: None,
        }
    } else {
        let folder = target_folder()?.join("dynamodb-local");
        in_container(helper, &folder, permission).or_else(|error| {
            println!("cannot start a container: {error}");
            from_jars(helper, &folder, permission).map_err(|error| {
                println!("cannot start a child process: {error}");
                HOW_TO_GET_ONE
            })
        })?
    };
    println!("DynamoDB Local answers at {}", server.url());
    println!("started as: {}", server.path());
    Ok(server)
}

/// Folder of the server's jars, for a caller that starts the server itself.
pub(crate) fn jars(permission: Permission) -> Result<PathBuf> {
    jars::ready(&target_folder()?.join("dynamodb-local"), permission)
}

/// `cargo xtask dynamodb`: starts a server and runs it until Ctrl-C.
pub(crate) fn leak(mut steps: Steps, permission: Permission) -> Result<()> {
    let helper = steps.step("build: cargo build --package tabla-testkit", || {
        let mut command = cargo();
        command.args(["build", "--package", "tabla-testkit", "--bin", HELPER_COMMAND]);
        build_program(&mut command, HELPER_COMMAND)
    })?;
    let mut server = steps.step("DynamoDB Local", || start(&helper, permission))?;
    println!("\nTABLA_DYNAMODB_ENDPOINT={}", server.url());
    println!("Ctrl-C stops it.");
    // Ctrl-C ends this process. That closes the pipes, at which the helper and the engine stop.
    let status = server.helper.child.wait()?;
    Err(format!("the program that runs DynamoDB Local ended ({status}); start it again").into())
}

fn given() -> bool {
    env::var(ENDPOINT_VARIABLE).is_ok_and(|url| !url.trim().is_empty())
}

fn in_container(helper: &Path, folder: &Path, permission: Permission) -> Result<Server> {
    let engine = engine::ready(folder, permission)?;
    let image = image::ready(folder, permission)?;
    let mut command = Command::new(helper);
    // The Docker client may find its engine through a context, which the helper does not read.
    if let Some(host) = engine::address() {
        command.env("DOCKER_HOST", host);
    }
    Ok(Server {
        path: format!(
            "container {IMAGE} ({image}) on {}",
            match &engine {
                Some(engine) =>
                    format!("an engine started for this run (process {})", engine.pid()),
                None => "an engine that was running already".to_owned(),
            }
        ),
        helper: ServerHelper::start(command)?,
        _engine: engine,
    })
}

fn from_jars(helper: &Path, folder: &Path, permission: Permission) -> Result<Server> {
    let jars = jars::ready(folder, permission)?;
    let mut command = Command::new(helper);
    command.args([OsStr::new("--jars"), jars.as_os_str()]);
    Ok(Server {
        path: format!("DynamoDB Local {VERSION} from Maven Central as a child process"),
        helper: ServerHelper::start(command)?,
        _engine: None,
    })
}

/// Running helper program; closing its input ends it.
struct ServerHelper {
    url: String,
    child: Child,
    input: Option<ChildStdin>,
}

impl ServerHelper {
    fn start(mut command: Command) -> Result<Self> {
        // Ctrl-C must not reach the helper: it cleans up after its input closes.
        own_process_group(&mut command);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or("the helper has no output")?;
        let mut helper = Self { url: String::new(), child, input };
        BufReader::new(output).read_line(&mut helper.url)?;
        helper.url.truncate(helper.url.trim_end().len());
        if helper.url.is_empty() {
            return Err(format!("`{HELPER_COMMAND}` started no server; its error is above").into());
        }
        Ok(helper)
    }
}

impl Drop for ServerHelper {
    fn drop(&mut self) {
        drop(self.input.take());
        // An error means that the helper has ended already.
        let _ = self.child.wait();
    }
}

/// Puts a child into its own process group, so that it does not get the terminal's signals and can
/// outlive this process while it cleans up.
fn own_process_group(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}
