//! A client in another language: a program that receives the URL of the server in its environment.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use crate::place::Place;

/// Time-out for a client's tests, several times what the slowest takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(240);

const HOW: &str = "the clients of other languages are not installed: `cargo xtask test` installs \
     them and runs their tests; `cargo xtask clients` installs them and prints the variables \
     that their tests need; TABLA_WITHOUT=clients skips them";

/// Tests of a client, and the program that runs them.
pub(crate) struct Script {
    name: &'static str,
    program: PathBuf,
    arguments: &'static [&'static str],
    /// Folder of the client's packages.
    packages: PathBuf,
    browser: OsString,
}

impl Script {
    pub(crate) fn boto3() -> Option<Self> {
        Self::python("boto3")
    }

    pub(crate) fn cli() -> Option<Self> {
        Self::python("cli")
    }

    pub(crate) fn javascript() -> Option<Self> {
        Self::node("javascript")
    }

    pub(crate) fn admin() -> Option<Self> {
        Self::node("admin")
    }

    pub(crate) fn browser() -> Option<Self> {
        Self::node("browser")
    }

    fn python(name: &'static str) -> Option<Self> {
        let packages = packages()?.join("python");
        let program = packages.join("bin/python");
        let arguments = &["-m", "unittest", "discover", "--verbose"];
        Some(Self { name, program, arguments, packages, browser: OsString::new() })
    }

    fn node(name: &'static str) -> Option<Self> {
        let packages = packages()?.join(name).join("node_modules");
        let arguments = &["--test-reporter=spec", "index.js"];
        let browser = env::var_os("TABLA_CHROMIUM").expect(HOW);
        Some(Self { name, program: PathBuf::from("node"), arguments, packages, browser })
    }

    /// Runs the tests. Shows their output if they fail or exceed the time-out.
    pub(crate) async fn run(&self, place: &Place) {
        let home = self.home(place);
        let printed = home.join("printed");
        let file = File::create(&printed).expect("the output file can be created");
        let mut command = self.command(place, &home);
        command.stdout(file.try_clone().expect("the file handle can be cloned")).stderr(file);
        let ended = timeout(LIMIT, command.status()).await;
        let text = fs::read_to_string(printed).expect("the output file can be read");
        print!("{text}");
        let status = ended
            .unwrap_or_else(|_| panic!("the tests of {} took longer than {LIMIT:?}", self.name));
        let status = status.unwrap_or_else(|error| panic!("{}: {error}", self.program.display()));
        assert!(status.success(), "{} on {}: {status}", self.name, place.name);
        // Python's test runner succeeds even if it finds no tests.
        assert!(!text.contains("Ran 0 tests"), "{} has no tests", self.name);
    }

    /// Returns the command with a clean environment: no settings, proxies or accounts of this
    /// machine, only the server and a new home.
    fn command(&self, place: &Place, home: &Path) -> Command {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(self.name);
        let pictures =
            env::var_os("TABLA_SCREENSHOTS").map_or(home.join("pictures"), PathBuf::from);
        let mut command = Command::new(&self.program);
        command.args(self.arguments).current_dir(folder).stdin(Stdio::null()).kill_on_drop(true);
        command
            .env_clear()
            .env("PATH", env::var_os("PATH").unwrap_or_default())
            .env("HOME", home)
            .env("LANG", "C.UTF-8")
            .env("AWS_ENDPOINT_URL", &place.url)
            .env("AWS_ACCESS_KEY_ID", &place.access_key)
            .env("AWS_SECRET_ACCESS_KEY", "secret")
            .env("AWS_REGION", "eu-west-1")
            .env("AWS_DEFAULT_REGION", "eu-west-1")
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env("NODE_PATH", &self.packages)
            .env("TABLA_CLIENTS_ON", place.name)
            .env("TABLA_CHROMIUM", &self.browser)
            .env("TABLA_SCREENSHOTS", pictures);
        command
    }

    /// Creates an empty home folder for the client.
    fn home(&self, place: &Place) -> PathBuf {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("clients/{}-on-{}", self.name, place.name));
        if home.exists() {
            fs::remove_dir_all(&home).expect("the old home folder can be deleted");
        }
        fs::create_dir_all(&home).expect("the home folder can be created");
        home
    }
}

/// Returns the folder of the clients' packages, or `None` if the tests should skip them.
fn packages() -> Option<PathBuf> {
    let without = env::var("TABLA_WITHOUT").unwrap_or_default();
    if without.split(',').any(|name| name == "clients") {
        println!("skipped on request: tests of clients in other languages");
        return None;
    }
    Some(PathBuf::from(env::var_os("TABLA_CLIENTS").expect(HOW)))
}
