//! Clients in other languages, with which the tests call the server and the gateway for blobs.
//!
//! `server/tests/clients` lists their packages with exact versions. They are installed into the
//! target directory, once and again when that list changes. The browser and curl are those of this
//! machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::Result;
use crate::machine::{can_install, find, has, install, need, run_within, succeeds};
use crate::server::Permission;
use crate::steps::{Steps, output};
use crate::workspace::target_folder;

/// Environment variable with the folder of the packages, read by the tests.
const FOLDER_VARIABLE: &str = "TABLA_CLIENTS";

/// Environment variable with the path of the browser, set by a person or for the tests.
const BROWSER_VARIABLE: &str = "TABLA_CHROMIUM";

/// Program names of browsers that the tests can use.
const BROWSERS: [&str; 4] =
    ["chromium", "google-chrome", "google-chrome-stable", "chromium-browser"];

/// Oldest supported version of Node.js: the packages of `package-lock.json` run on it, and its test
/// runner has all the features that the tests use.
const NODE: (u32, u32) = (20, 13);

pub(crate) const TITLE: &str =
    "clients: boto3, the AWS CLI, JavaScript's SDK, curl, dynamodb-admin, a browser";

const OR: &str = "skip the tests that need it with --without clients";

/// Time limit of a download, longer than any takes.
const LIMIT: Duration = Duration::from_secs(300);

/// Paths that the tests need.
pub(crate) struct Clients {
    folder: PathBuf,
    browser: PathBuf,
}

impl Clients {
    /// Sets the environment variables that the tests read.
    pub(crate) fn set_variables(&self, tests: &mut Command) {
        tests.env(FOLDER_VARIABLE, &self.folder).env(BROWSER_VARIABLE, &self.browser);
    }
}

/// `cargo xtask clients`: the set-up alone, for running only these tests.
pub(crate) fn prepare(mut steps: Steps, permission: Permission) -> Result<()> {
    let clients = steps.step(TITLE, || ready(permission))?;
    println!("\n{FOLDER_VARIABLE}={}", clients.folder.display());
    println!("{BROWSER_VARIABLE}={}", clients.browser.display());
    println!("With these, `cargo test --package tabla-server --test clients` runs, and");
    println!("`cargo test --package tabla-s3 --features gateway --test clients`.");
    Ok(())
}

/// Installs all packages and a browser, unless they are installed.
pub(crate) fn ready(permission: Permission) -> Result<Clients> {
    let manifests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../server/tests/clients");
    let folder = target_folder()?.join("clients");
    python(&manifests.join("boto3"), &folder.join("python"), permission)?;
    node(permission)?;
    for name in ["javascript", "admin", "browser"] {
        javascript(&manifests.join(name), &folder.join(name))?;
    }
    need("curl", permission, Some(OR))?;
    Ok(Clients { folder, browser: browser(permission)? })
}

/// Creates a Python environment with the packages of `requirements.txt`.
fn python(manifests: &Path, folder: &Path, permission: Permission) -> Result<()> {
    need("python3", permission, Some(OR))?;
    let requirements = manifests.join("requirements.txt");
    // An environment stops working when its Python is updated.
    let version = output(Command::new("python3").arg("--version"))?;
    let names = version + &fs::read_to_string(&requirements)?;
    once(folder, &names, || {
        // Debian packages these two modules separately.
        if !succeeds(Command::new("python3").args(["-c", "import venv, ensurepip"])) {
            package("python3-venv", permission)?;
        }
        run_within(LIMIT, Command::new("python3").args(["-m", "venv"]).arg(folder))?;
        let pip = || {
            let mut command = Command::new(folder.join("bin/python"));
            command.args(["-m", "pip", "--quiet", "--disable-pip-version-check"]);
            command
        };
        // Installs exactly the listed packages, and checks that none is missing.
        run_within(LIMIT, pip().args(["install", "--no-deps", "-r"]).arg(&requirements))?;
        run_within(LIMIT, pip().arg("check"))
    })
}

/// Creates a folder with the packages of `package-lock.json`.
pub(crate) fn javascript(manifests: &Path, folder: &Path) -> Result<()> {
    let names = ["package.json", "package-lock.json"];
    let mut texts = String::new();
    for name in names {
        texts += &fs::read_to_string(manifests.join(name))?;
    }
    once(folder, &texts, || {
        fs::create_dir_all(folder)?;
        for name in names {
            fs::copy(manifests.join(name), folder.join(name))?;
        }
        let options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
        run_within(LIMIT, Command::new("npm").arg("ci").args(options).current_dir(folder))
    })
}

/// Creates a folder, unless it was created from the same texts. A file marks it as complete, so
/// that an interrupted download is repeated.
fn once(folder: &Path, texts: &str, make: impl FnOnce() -> Result<()>) -> Result<()> {
    let mark = folder.join("made-from");
    if fs::read_to_string(&mark).is_ok_and(|made| made == texts) {
        println!("up to date: {}", folder.display());
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    println!("creating {}", folder.display());
    make()?;
    Ok(fs::write(mark, texts)?)
}

/// Checks that Node.js and npm are installed and recent enough, and installs them if they
/// are missing.
fn node(permission: Permission) -> Result<()> {
    for (program, name) in [("node", "nodejs"), ("npm", "npm")] {
        if !has(program) {
            package(name, permission)?;
        }
    }
    let version = output(Command::new("node").arg("--version"))?;
    if node_version(&version).is_some_and(|version| version >= NODE) {
        return Ok(());
    }
    let ((major, minor), version) = (NODE, version.trim());
    Err(format!("Node.js {version} is too old: install {major}.{minor} or later, or {OR}").into())
}

/// Parses a version such as `v20.13.1`.
fn node_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.trim().strip_prefix('v')?.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

/// Installs a package, or fails with its name.
fn package(name: &str, permission: Permission) -> Result<()> {
    if permission == Permission::UseOnly || !can_install() {
        let message =
            format!("{name} is missing and cannot be installed here; install it, or {OR}");
        return Err(message.into());
    }
    install(&[name])
}

/// Path of the browser: the one that is named, or one found on PATH, or Debian's after
/// its installation.
fn browser(permission: Permission) -> Result<PathBuf> {
    let named = std::env::var_os(BROWSER_VARIABLE).filter(|path| !path.is_empty());
    if let Some(path) = named {
        return Ok(PathBuf::from(path));
    }
    if let Some(path) = BROWSERS.into_iter().find_map(find) {
        return Ok(path);
    }
    let [debian, ..] = BROWSERS;
    need(debian, permission, Some(OR))?;
    find(debian).ok_or_else(|| {
        format!("`{debian}` was installed but is not on PATH; set {BROWSER_VARIABLE} to its path")
            .into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_recreates_folder_only_when_texts_change() {
        let folder = target_folder().expect("a folder").join("xtask-tests/once");
        if folder.exists() {
            fs::remove_dir_all(&folder).expect("cannot delete the folder of the last run");
        }
        let mut made = 0;
        let mut make = |texts: &str, succeeds: bool| {
            once(&folder, texts, || {
                made += 1;
                fs::create_dir_all(&folder)?;
                fs::write(folder.join(format!("file {made}")), "")?;
                if succeeds { Ok(()) } else { Err("no network".into()) }
            })
        };
        make("one", false).expect_err("the first attempt fails");
        make("one", true).expect("the folder is created");
        make("one", true).expect("the folder is up to date");
        make("two", true).expect("the folder is created again");
        assert_eq!(made, 3);
        let files =
            fs::read_dir(&folder).expect("the folder exists").map(|file| file.unwrap().file_name());
        let mut files: Vec<_> = files.collect();
        files.sort();
        assert_eq!(files, ["file 3", "made-from"], "the old folder was deleted");
    }

    #[test]
    fn missing_package_is_named() {
        let error =
            package("python3-venv", Permission::UseOnly).expect_err("installing is not permitted");
        let error = error.to_string();
        assert!(error.starts_with("python3-venv is missing"), "{error}");
        assert!(error.ends_with("--without clients"), "{error}");
    }

    #[test]
    fn node_version_is_parsed() {
        assert_eq!(node_version("v20.13.1\n"), Some((20, 13)));
        assert!(node_version("v22.0.0") > Some(NODE));
        assert!(node_version("v18.19.0") < Some(NODE));
        for text in ["", "20.13.1", "v20", "v20.x"] {
            assert_eq!(node_version(text), None, "{text}");
        }
    }

    #[test]
    fn package_lists_name_exact_versions_and_no_registry() {
        let manifests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../server/tests/clients");
        for name in ["javascript", "admin", "browser"] {
            let lock = fs::read_to_string(manifests.join(name).join("package-lock.json")).unwrap();
            assert!(!lock.contains("\"resolved\""), "{name} names a registry");
        }
        let requirements = fs::read_to_string(manifests.join("boto3/requirements.txt")).unwrap();
        for line in requirements.lines().filter(|line| !line.starts_with('#')) {
            assert!(line.contains("=="), "no exact version: {line}");
        }
    }
}
