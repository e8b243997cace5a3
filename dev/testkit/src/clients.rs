//! Clients in other languages: programs that test a server, whose URL is in their environment.
//!
//! `cargo xtask clients` installs their packages. The folder of the packages is in
//! [`FOLDER_VARIABLE`], and the path of a browser in [`BROWSER_VARIABLE`]. A test that runs without
//! them fails, unless `TABLA_WITHOUT` lists `clients`.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use crate::Error;
use crate::server::is_excluded;

/// Environment variable with the folder of the installed packages.
pub const FOLDER_VARIABLE: &str = "TABLA_CLIENTS";

/// Environment variable with the path of a browser, Chromium or Chrome.
pub const BROWSER_VARIABLE: &str = "TABLA_CHROMIUM";

/// Environment variable with the folder for screenshots [default: `pictures` in the home folder of
/// the client].
pub const SCREENSHOTS_VARIABLE: &str = "TABLA_SCREENSHOTS";

/// Name of the clients in `TABLA_WITHOUT`.
const SHORT_NAME: &str = "clients";

/// Time-out for the tests of a client, several times what the slowest takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(240);

const REMEDY: &str = "`cargo xtask test` installs the clients of other languages and runs their \
     tests; `cargo xtask clients` installs them and prints the variables that their tests need; \
     TABLA_WITHOUT=clients skips them";

/// Whether the tests of clients in other languages are left out. Says so on standard output if
/// they are.
pub fn are_excluded() -> bool {
    let excluded = is_excluded(SHORT_NAME);
    if excluded {
        println!("skipped on request: tests of clients in other languages");
    }
    excluded
}

/// Program that runs the tests of a client.
#[derive(Clone, Debug)]
pub struct Client {
    name: &'static str,
    program: PathBuf,
    arguments: &'static [&'static str],
    /// Folder of the client's packages.
    packages: PathBuf,
    browser: OsString,
}

/// Run of a client's tests on a server.
#[derive(Clone, Debug)]
pub struct ClientRun {
    /// Folder that has a folder of scripts for each client.
    pub scripts: PathBuf,
    /// Folder in which each client gets a home folder.
    pub homes: PathBuf,
    /// Name of the server, in `TABLA_CLIENTS_ON`, for clients that expect different behavior.
    pub server: &'static str,
    /// URL of the server.
    pub url: String,
    /// Access key of the client.
    pub access_key: String,
    /// Secret of the access key.
    pub secret_key: String,
    /// Further environment variables.
    pub variables: Vec<(&'static str, String)>,
}

impl Client {
    /// Python scripts in the folder `name`, run by Python's `unittest` with boto3 and the AWS CLI.
    /// `None` if the tests should skip it.
    ///
    /// # Errors
    ///
    /// If [`FOLDER_VARIABLE`] is not set.
    pub fn python(name: &'static str) -> Result<Option<Self>, Error> {
        if are_excluded() {
            return Ok(None);
        }
        let packages = folder()?.join("python");
        let program = packages.join("bin/python");
        let arguments = &["-m", "unittest", "discover", "--verbose"];
        Ok(Some(Self { name, program, arguments, packages, browser: OsString::new() }))
    }

    /// JavaScript in the folder `name`, run by Node.js's test runner, with the installed packages of
    /// the same name. `None` if the tests should skip it.
    ///
    /// # Errors
    ///
    /// If [`FOLDER_VARIABLE`] or [`BROWSER_VARIABLE`] is not set.
    pub fn node(name: &'static str) -> Result<Option<Self>, Error> {
        if are_excluded() {
            return Ok(None);
        }
        let packages = folder()?.join(name).join("node_modules");
        let browser = variable(BROWSER_VARIABLE)?;
        let arguments = &["--test-reporter=spec", "index.js"];
        Ok(Some(Self { name, program: PathBuf::from("node"), arguments, packages, browser }))
    }

    /// Runs the tests, and prints their output.
    ///
    /// # Errors
    ///
    /// If a test fails, if there are no tests, if the time-out of 4 minutes is exceeded, or if the
    /// program or its home folder cannot be used.
    pub async fn run(&self, run: &ClientRun) -> Result<(), Error> {
        let home = run.homes.join(format!("{}-on-{}", self.name, run.server));
        let printed = home.join("printed");
        let file = make_empty(&home).and_then(|()| File::create(&printed));
        let output = file.and_then(|file| Ok((file.try_clone()?, file)));
        let (stdout, stderr) = output.map_err(|error| {
            Error::with_source(format!("cannot use the folder {}", home.display()), error)
        })?;
        let mut command = self.command(run, &home);
        command.stdout(stdout).stderr(stderr);
        let ended = timeout(LIMIT, command.status()).await;
        let text = fs::read(&printed).map_err(|error| {
            Error::with_source(format!("cannot read {}", printed.display()), error)
        })?;
        let text = String::from_utf8_lossy(&text);
        print!("{text}");
        let what = format!("the tests of {} on {}", self.name, run.server);
        let status = ended
            .map_err(|_| Error::new(format!("{what} took longer than {LIMIT:?}")))?
            .map_err(|error| {
            let program = self.program.display();
            Error::with_source(format!("cannot run {program}; {REMEDY}"), error)
        })?;
        if !status.success() {
            return Err(Error::new(format!("{what} failed: {status}; their output is above")));
        }
        // Python's test runner succeeds even if it finds no tests.
        match text.contains("Ran 0 tests") {
            true => Err(Error::new(format!("{} has no tests", self.name))),
            false => Ok(()),
        }
    }

    /// Returns the command with a clean environment: no settings, proxies or accounts of this
    /// machine, only the server and a new home.
    fn command(&self, run: &ClientRun, home: &Path) -> Command {
        let pictures = env::var_os(SCREENSHOTS_VARIABLE);
        let pictures = pictures.map_or_else(|| home.join("pictures"), PathBuf::from);
        let mut command = Command::new(&self.program);
        command.args(self.arguments).current_dir(run.scripts.join(self.name));
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
            .env_clear()
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .env("HOME", home)
            .env("LANG", "C.UTF-8")
            .env("AWS_ENDPOINT_URL", &run.url)
            .env("AWS_ACCESS_KEY_ID", &run.access_key)
            .env("AWS_SECRET_ACCESS_KEY", &run.secret_key)
            .env("AWS_REGION", "eu-west-1")
            .env("AWS_DEFAULT_REGION", "eu-west-1")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("NODE_PATH", &self.packages)
            .env("TABLA_CLIENTS_ON", run.server)
            .env(BROWSER_VARIABLE, &self.browser)
            .env(SCREENSHOTS_VARIABLE, pictures)
            .envs(run.variables.iter().map(|(name, value)| (*name, value)));
        command
    }
}

/// Creates a folder, without what an earlier run has left there.
fn make_empty(folder: &Path) -> std::io::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)
}

/// Folder of the installed packages.
fn folder() -> Result<PathBuf, Error> {
    variable(FOLDER_VARIABLE).map(PathBuf::from)
}

fn variable(name: &str) -> Result<OsString, Error> {
    let value = env::var_os(name).filter(|value| !value.is_empty());
    value.ok_or_else(|| Error::new(format!("{name} is not set: {REMEDY}")))
}
