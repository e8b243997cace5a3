//! Servers for a run, each started in the first of these ways that works:
//!
//! 1. An environment variable such as `TABLA_DYNAMODB_ENDPOINT` names a server, which is used.
//! 2. A container engine is running, or can be installed and started: a container, from an image
//!    that exists, is pulled, or is built. All servers of a run share the engine.
//! 3. The program, downloaded or built, as a child process.
//!
//! In each case the helper program of `tabla-testkit` starts or checks the server, prints its
//! address, and stops it when its input closes.

mod dynamodb;
mod engine;
mod image;
mod jars;
mod versitygw;

use std::env;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::rc::Rc;

use crate::Result;
use crate::steps::Steps;
use crate::workspace::{build_program, cargo, target_folder};

pub(crate) use dynamodb::DYNAMODB_LOCAL;
use engine::Engine;
pub(crate) use engine::SharedEngine;
pub(crate) use versitygw::VERSITYGW;

/// Program of `tabla-testkit` that runs a server.
pub(crate) const HELPER_COMMAND: &str = "test-server";

/// Servers that the tests need.
pub(crate) static SERVERS: [&ServerKind; 2] = [&DYNAMODB_LOCAL, &VERSITYGW];

/// Description of a server: its image, its program and its names.
pub(crate) struct ServerKind {
    /// Name of the program in messages.
    pub(crate) name: &'static str,
    /// Version of the program, as in `tabla-testkit`.
    version: &'static str,
    /// Name in `--without`, and of the task that runs the server until Ctrl-C.
    pub(crate) short_name: &'static str,
    /// Environment variable that names a server, for this program and for the tests.
    pub(crate) endpoint_variable: &'static str,
    /// First argument of the helper program, and name of the folder in the target directory.
    command: &'static str,
    /// Container image with its tag, as in `tabla-testkit`.
    image: &'static str,
    /// Place that the program comes from if no registry has the image.
    source: &'static str,
    /// Builds the image.
    build_image: fn(&ServerKind, &Path, Permission) -> Result<()>,
    /// Makes the program available, and returns the options of the helper that run it as a
    /// child process.
    child_options: fn(&Path, Permission) -> Result<Vec<OsString>>,
    /// Remedy in the error that no way works, without a container engine.
    alternative: &'static str,
}

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
    _engine: Option<Rc<Engine>>,
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

impl ServerKind {
    /// Starts this server by the first way that works.
    pub(crate) fn start(
        &self,
        helper: &Path,
        engine: &mut SharedEngine,
        permission: Permission,
    ) -> Result<Server> {
        let server = if self.is_given() {
            Server {
                path: format!("named by {}", self.endpoint_variable),
                helper: ServerHelper::start(&mut self.helper(helper))?,
                _engine: None,
            }
        } else {
            self.in_container(helper, engine, permission).or_else(|error| {
                println!("cannot start a container: {error}");
                self.as_child_process(helper, permission).map_err(|error| {
                    println!("cannot start a child process: {error}");
                    self.how_to_get_one()
                })
            })?
        };
        println!("{} answers at {}", self.name, server.url());
        println!("started as: {}", server.path());
        Ok(server)
    }

    fn is_given(&self) -> bool {
        env::var(self.endpoint_variable).is_ok_and(|url| !url.trim().is_empty())
    }

    fn helper(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.arg(self.command);
        command
    }

    /// Folder for downloads and builds of this server.
    fn folder(&self) -> Result<PathBuf> {
        Ok(target_folder()?.join(self.command))
    }

    fn in_container(
        &self,
        helper: &Path,
        engine: &mut SharedEngine,
        permission: Permission,
    ) -> Result<Server> {
        let engine = engine.ready(&target_folder()?, permission)?;
        let origin = image::ready(self, &self.folder()?, permission)?;
        let mut command = self.helper(helper);
        // The Docker client may find its engine through a context, which the helper does not read.
        if let Some(host) = engine::address() {
            command.env("DOCKER_HOST", host);
        }
        Ok(Server {
            path: format!(
                "container {} ({origin}) on {}",
                self.image,
                match &engine {
                    Some(engine) =>
                        format!("an engine started for this run (process {})", engine.pid()),
                    None => "an engine that was running already".to_owned(),
                }
            ),
            helper: ServerHelper::start(&mut command)?,
            _engine: engine,
        })
    }

    fn as_child_process(&self, helper: &Path, permission: Permission) -> Result<Server> {
        let options = (self.child_options)(&self.folder()?, permission)?;
        let Self { name, version, source, .. } = self;
        Ok(Server {
            path: format!("{name} {version} from {source} as a child process"),
            helper: ServerHelper::start(self.helper(helper).args(options))?,
            _engine: None,
        })
    }

    fn how_to_get_one(&self) -> String {
        let Self { name, alternative, endpoint_variable, short_name, .. } = self;
        format!(
            "\
{name} is not available. Do one of these:
  - start a Docker engine, and run this again;
  - run as root on Debian or Ubuntu without --no-install, to have an engine installed;
  - {alternative};
  - start a server yourself and set {endpoint_variable}=http://host:port.
To skip the tests that need it: cargo xtask test --without {short_name}"
        )
    }
}

/// Folder of the jars of DynamoDB Local, for a caller that starts the server itself.
pub(crate) fn jars(permission: Permission) -> Result<PathBuf> {
    jars::ready(&DYNAMODB_LOCAL.folder()?, permission)
}

/// Program of versitygw, for a caller that starts the server itself.
pub(crate) fn versitygw(permission: Permission) -> Result<PathBuf> {
    versitygw::program(&VERSITYGW.folder()?, permission)
}

/// Builds the helper program, and returns its path.
pub(crate) fn build_helper(steps: &mut Steps) -> Result<PathBuf> {
    steps.step("build: cargo build --package tabla-testkit", || {
        let mut command = cargo();
        command.args(["build", "--package", "tabla-testkit", "--bin", HELPER_COMMAND]);
        build_program(&mut command, HELPER_COMMAND)
    })
}

/// `cargo xtask dynamodb`, `cargo xtask s3`: starts a server and runs it until Ctrl-C.
pub(crate) fn leak(mut steps: Steps, kind: &ServerKind, permission: Permission) -> Result<()> {
    let helper = build_helper(&mut steps)?;
    let mut engine = SharedEngine::default();
    let mut server = steps.step(kind.name, || kind.start(&helper, &mut engine, permission))?;
    println!("\n{}={}", kind.endpoint_variable, server.url());
    println!("Ctrl-C stops it.");
    // Ctrl-C ends this process. That closes the pipes, at which the helper and the engine stop.
    let status = server.helper.child.wait()?;
    Err(format!("the program that runs {} ended ({status}); start it again", kind.name).into())
}

/// Running helper program; closing its input ends it.
struct ServerHelper {
    url: String,
    child: Child,
    input: Option<ChildStdin>,
}

impl ServerHelper {
    fn start(command: &mut Command) -> Result<Self> {
        // Ctrl-C must not reach the helper: it cleans up after its input closes.
        own_process_group(command);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unavailable_server_is_named_with_remedies() {
        let text = VERSITYGW.how_to_get_one();
        assert!(text.starts_with("versitygw is not available."), "{text}");
        assert!(text.contains("\n  - install Go "), "{text}");
        assert!(text.contains("TABLA_S3_ENDPOINT=http://host:port"), "{text}");
        assert!(text.ends_with("cargo xtask test --without s3"), "{text}");
    }
}
