//! A client in another language: a program of its own, which is told where the server is.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use crate::place::Place;

/// Several times what the slowest one takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(240);

const HOW: &str = "the clients of other languages are not known here: `cargo xtask test` sets them \
     up and runs their tests, `cargo xtask clients` sets them up and prints the variables with \
     which their tests run alone, and TABLA_WITHOUT=clients leaves them out";

/// A client's tests, and the program that runs them.
pub(crate) struct Script {
    name: &'static str,
    program: PathBuf,
    arguments: &'static [&'static str],
    /// Where its packages are.
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

    /// Runs the tests. What they have printed is shown if they fail or take too long.
    pub(crate) async fn run(&self, place: &Place) {
        let home = self.home(place);
        let printed = home.join("printed");
        let file = File::create(&printed).expect("a file in a new folder");
        let mut command = self.command(place, &home);
        command.stdout(file.try_clone().expect("the same file")).stderr(file);
        let ended = timeout(LIMIT, command.status()).await;
        let text = fs::read_to_string(printed).expect("it is there");
        print!("{text}");
        let status = ended.unwrap_or_else(|_| panic!("{} took over {LIMIT:?}", self.name));
        let status = status.unwrap_or_else(|error| panic!("{}: {error}", self.program.display()));
        assert!(status.success(), "{} on {}: {status}", self.name, place.name);
        // Python's runner succeeds if it finds nothing to run.
        assert!(!text.contains("Ran 0 tests"), "{} has no tests", self.name);
    }

    /// The program with an environment that has nothing of this machine's settings, proxies or
    /// accounts: just the server, and a home of its own.
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

    /// An empty folder of this client's own.
    fn home(&self, place: &Place) -> PathBuf {
        let home = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("clients/{}-on-{}", self.name, place.name));
        if home.exists() {
            fs::remove_dir_all(&home).expect("it was made here");
        }
        fs::create_dir_all(&home).expect("the folder for files of tests may be written");
        home
    }
}

/// The folder of the clients' packages, unless the tests are to do without them.
fn packages() -> Option<PathBuf> {
    let without = env::var("TABLA_WITHOUT").unwrap_or_default();
    if without.split(',').any(|name| name == "clients") {
        println!("not run, as asked: the tests of clients in other languages");
        return None;
    }
    Some(PathBuf::from(env::var_os("TABLA_CLIENTS").expect(HOW)))
}
