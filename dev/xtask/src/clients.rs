//! Clients in other languages, with which the tests meet the server as its users do.
//!
//! Their packages are named with exact versions in `server/tests/clients`, and are installed into
//! the target directory: once, and again when what names them changes. The browser is the
//! machine's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::Result;
use crate::machine::{can_install, find, has, install, need, run_within, succeeds};
use crate::server::Permission;
use crate::steps::{Steps, output};
use crate::workspace::target_folder;

/// The variable by which tests learn where the packages are.
const FOLDER_VARIABLE: &str = "TABLA_CLIENTS";

/// The variable by which tests learn which browser to use, and by which a person names one.
const BROWSER_VARIABLE: &str = "TABLA_CHROMIUM";

/// What a browser that will do is called.
const BROWSERS: [&str; 4] =
    ["chromium", "google-chrome", "google-chrome-stable", "chromium-browser"];

/// The oldest Node.js that the packages of `package-lock.json` run on, and its test runner has all
/// that is used.
const NODE: (u32, u32) = (20, 13);

pub(crate) const TITLE: &str =
    "clients: boto3, the AWS CLI, JavaScript's SDK, dynamodb-admin, a browser";

const OR: &str = "leave out what needs it with --without clients";

/// Longer than any download takes; one that hangs is a failure.
const LIMIT: Duration = Duration::from_secs(300);

/// What the tests need to know.
pub(crate) struct Clients {
    folder: PathBuf,
    browser: PathBuf,
}

impl Clients {
    /// Sets the variables that tell the tests.
    pub(crate) fn tell(&self, tests: &mut Command) {
        tests.env(FOLDER_VARIABLE, &self.folder).env(BROWSER_VARIABLE, &self.browser);
    }
}

/// `cargo xtask clients`: the set-up alone, for who runs these tests alone.
pub(crate) fn prepare(mut steps: Steps, permission: Permission) -> Result<()> {
    let clients = steps.step(TITLE, || ready(permission))?;
    println!("\n{FOLDER_VARIABLE}={}", clients.folder.display());
    println!("{BROWSER_VARIABLE}={}", clients.browser.display());
    println!("With these, `cargo test --package tabla-server --test clients` runs.");
    Ok(())
}

/// Sees to it that there are a browser and all packages.
pub(crate) fn ready(permission: Permission) -> Result<Clients> {
    let manifests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../server/tests/clients");
    let folder = target_folder()?.join("clients");
    python(&manifests.join("boto3"), &folder.join("python"), permission)?;
    node(permission)?;
    for name in ["javascript", "admin", "browser"] {
        javascript(&manifests.join(name), &folder.join(name))?;
    }
    Ok(Clients { folder, browser: browser(permission)? })
}

/// A Python environment with the packages of `requirements.txt`.
fn python(manifests: &Path, folder: &Path, permission: Permission) -> Result<()> {
    need("python3", permission, Some(OR))?;
    let requirements = manifests.join("requirements.txt");
    // An environment does not survive its Python.
    let version = output(Command::new("python3").arg("--version"))?;
    let names = version + &fs::read_to_string(&requirements)?;
    once(folder, &names, || {
        // Debian has these two apart from Python itself.
        if !succeeds(Command::new("python3").args(["-c", "import venv, ensurepip"])) {
            package("python3-venv", permission)?;
        }
        run_within(LIMIT, Command::new("python3").args(["-m", "venv"]).arg(folder))?;
        let pip = || {
            let mut command = Command::new(folder.join("bin/python"));
            command.args(["-m", "pip", "--quiet", "--disable-pip-version-check"]);
            command
        };
        // Exactly what is named, and then whether that is all.
        run_within(LIMIT, pip().args(["install", "--no-deps", "-r"]).arg(&requirements))?;
        run_within(LIMIT, pip().arg("check"))
    })
}

/// A folder with the packages of `package-lock.json`.
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

/// Makes a folder, unless it was made from the same texts. It is marked when it is complete, so
/// that an interrupted download is not taken for a whole one.
fn once(folder: &Path, texts: &str, make: impl FnOnce() -> Result<()>) -> Result<()> {
    let mark = folder.join("made-from");
    if fs::read_to_string(&mark).is_ok_and(|made| made == texts) {
        println!("there already: {}", folder.display());
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    println!("making {}", folder.display());
    make()?;
    Ok(fs::write(mark, texts)?)
}

/// Node.js and npm, new enough.
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

/// Reads `v20.13.1`.
fn node_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.trim().strip_prefix('v')?.split('.').map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

/// Installs a package that something is missing without.
fn package(name: &str, permission: Permission) -> Result<()> {
    if permission == Permission::UseOnly || !can_install() {
        let message =
            format!("{name} is missing, and not to be installed here; install it, or {OR}");
        return Err(message.into());
    }
    install(&[name])
}

/// A browser: the one that is named, or one that is found, or Debian's.
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
    find(debian).ok_or_else(|| format!("{debian} was installed, and is not there").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_made_once_and_again_when_its_texts_change() {
        let folder = target_folder().expect("a folder").join("xtask-tests/once");
        if folder.exists() {
            fs::remove_dir_all(&folder).expect("it was made by this test");
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
        make("one", false).expect_err("it was not made");
        make("one", true).expect("it is made now");
        make("one", true).expect("it is there");
        make("two", true).expect("it is made anew");
        assert_eq!(made, 3);
        let files =
            fs::read_dir(&folder).expect("it is there").map(|file| file.unwrap().file_name());
        let mut files: Vec<_> = files.collect();
        files.sort();
        assert_eq!(files, ["file 3", "made-from"], "nothing is left of what was there before");
    }

    #[test]
    fn what_is_missing_and_may_not_be_installed_is_named() {
        let error = package("python3-venv", Permission::UseOnly).expect_err("it may not");
        let error = error.to_string();
        assert!(error.starts_with("python3-venv is missing"), "{error}");
        assert!(error.ends_with("--without clients"), "{error}");
    }

    #[test]
    fn a_version_of_node_is_read() {
        assert_eq!(node_version("v20.13.1\n"), Some((20, 13)));
        assert!(node_version("v22.0.0") > Some(NODE));
        assert!(node_version("v18.19.0") < Some(NODE));
        for text in ["", "20.13.1", "v20", "v20.x"] {
            assert_eq!(node_version(text), None, "{text}");
        }
    }

    #[test]
    fn what_the_packages_are_is_said_without_saying_from_where() {
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
