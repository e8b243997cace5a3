//! DynamoDB Local for a run: the ways to it, in order.
//!
//! 1. `TABLA_DYNAMODB_ENDPOINT` names a server: that one.
//! 2. A container engine answers, or can be installed and started: a container,
//!    from an image that is there, is pulled, or is built from Maven Central.
//! 3. The jars from Maven Central, as a child process.
//!
//! In each case the helper program of `tabla-testkit` starts or checks the
//! server, says where it answers, and stops it when its input closes.

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

/// The variable that names a server, both to this program and to the tests.
pub(crate) const ENDPOINT_VARIABLE: &str = "TABLA_DYNAMODB_ENDPOINT";

/// The program of `tabla-testkit` that runs the server.
pub(crate) const HELPER_COMMAND: &str = "dynamodb-local";

/// The image and the version that the helper runs.
const IMAGE: &str = "amazon/dynamodb-local:2.6.1";
const VERSION: &str = "2.6.1";

const HOW_TO_GET_ONE: &str = "\
There is no DynamoDB Local to test against. Any one of these gives one:
  - start a Docker engine, and run this again;
  - be root on Debian or Ubuntu, where this installs what it needs (without --no-install);
  - install Java 17 and Maven, with which this runs DynamoDB Local from Maven Central;
  - start a server yourself and set TABLA_DYNAMODB_ENDPOINT=http://host:port.
To do without it: cargo xtask test --without dynamodb";

/// Whether packages may be added to this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permission {
    Install,
    UseOnly,
}

/// A server that answers; dropping it stops what was started for it.
pub(crate) struct Server {
    path: String,
    // The order matters: the helper removes its container, and only then may
    // an engine that was started for it go.
    helper: ServerHelper,
    _engine: Option<Engine>,
}

impl Server {
    pub(crate) fn url(&self) -> &str {
        &self.helper.url
    }

    /// Which way was taken, for people to read.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }
}

/// Starts a server by the first way that works.
pub(crate) fn start(helper: &Path, permission: Permission) -> Result<Server> {
    let server = if given() {
        Server {
            path: format!("given by {ENDPOINT_VARIABLE}"),
            helper: ServerHelper::start(Command::new(helper))?,
            _engine: None,
        }
    } else {
        let folder = target_folder()?.join("dynamodb-local");
        in_container(helper, &folder, permission).or_else(|error| {
            println!("no container: {error}");
            from_jars(helper, &folder, permission).map_err(|error| {
                println!("no child process: {error}");
                HOW_TO_GET_ONE
            })
        })?
    };
    println!("DynamoDB Local answers at {}", server.url());
    println!("path used: {}", server.path());
    Ok(server)
}

/// The folder of the server's jars, for a caller that starts it by itself.
pub(crate) fn jars(permission: Permission) -> Result<PathBuf> {
    jars::ready(&target_folder()?.join("dynamodb-local"), permission)
}

/// `cargo xtask dynamodb`: starts a server and keeps it until Ctrl-C.
pub(crate) fn leak(mut steps: Steps, permission: Permission) -> Result<()> {
    let helper = steps.step("build: cargo build --package tabla-testkit", || {
        let mut command = cargo();
        command.args(["build", "--package", "tabla-testkit", "--bin", HELPER_COMMAND]);
        build_program(&mut command, HELPER_COMMAND)
    })?;
    let mut server = steps.step("DynamoDB Local", || start(&helper, permission))?;
    println!("\nTABLA_DYNAMODB_ENDPOINT={}", server.url());
    println!("Ctrl-C stops it.");
    // Ctrl-C ends this process; that closes the pipes by which the helper and
    // the engine know that they are no longer wanted.
    let status = server.helper.child.wait()?;
    Err(format!("the server's helper ended by itself: {status}").into())
}

fn given() -> bool {
    env::var(ENDPOINT_VARIABLE).is_ok_and(|url| !url.trim().is_empty())
}

fn in_container(helper: &Path, folder: &Path, permission: Permission) -> Result<Server> {
    let engine = engine::ready(folder, permission)?;
    let image = image::ready(folder, permission)?;
    let mut command = Command::new(helper);
    // The client may find its engine through a context, which the helper does
    // not read.
    if let Some(host) = engine::address() {
        command.env("DOCKER_HOST", host);
    }
    Ok(Server {
        path: format!(
            "container {IMAGE} ({image}) on {}",
            match &engine {
                Some(engine) =>
                    format!("an engine started for this run (process {})", engine.pid()),
                None => "the engine that was running".to_owned(),
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

/// The running helper program; closing its input ends it.
struct ServerHelper {
    url: String,
    child: Child,
    input: Option<ChildStdin>,
}

impl ServerHelper {
    fn start(mut command: Command) -> Result<Self> {
        // Ctrl-C is for this process: the helper then sees its input close and
        // cleans up in its own time.
        own_process_group(&mut command);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or("the helper has no output")?;
        let mut helper = Self { url: String::new(), child, input };
        BufReader::new(output).read_line(&mut helper.url)?;
        helper.url.truncate(helper.url.trim_end().len());
        if helper.url.is_empty() {
            return Err("the helper could not start a server".into());
        }
        Ok(helper)
    }
}

impl Drop for ServerHelper {
    fn drop(&mut self) {
        drop(self.input.take());
        // It ends by itself now; an error means that it has ended already.
        let _ = self.child.wait();
    }
}

/// Keeps the terminal's signals from a child that has to outlast this process
/// by a moment.
fn own_process_group(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}
