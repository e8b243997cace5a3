//! Programs of this machine, and their installation.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::Result;
use crate::server::Permission;
use crate::steps::{Stopwatch, line, pause, run};

/// Whether a program with this name exists.
pub(crate) fn has(program: &str) -> bool {
    find(program).is_some()
}

/// Path of the program with this name. Also looks in the folders of system programs, which are not
/// always in PATH.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|folder| folder.join(program))
        .find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.with_extension("exe").is_file()
}

/// Whether a command succeeds. Its output is discarded.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Whether this process runs as root.
pub(crate) fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Whether Debian packages can be installed: on Linux, as root, with apt-get.
pub(crate) fn can_install() -> bool {
    cfg!(target_os = "linux") && is_root() && has("apt-get")
}

/// Installs Debian packages.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    println!("installing with apt-get: {}", packages.join(" "));
    // Outdated package lists may still be good enough.
    if let Err(error) = run(apt_get().args(["update", "-qq"])) {
        println!("{error}; continuing with the existing package lists");
    }
    run(apt_get().args(["install", "-y", "-qq", "--no-install-recommends"]).args(packages))
}

/// Version of a Debian package that [`install`] would install; `None` if apt-get knows none yet.
pub(crate) fn candidate(package: &str) -> Option<String> {
    let output = Command::new("apt-cache").args(["policy", package]).output().ok()?;
    candidate_in(&String::from_utf8_lossy(&output.stdout))
}

fn candidate_in(policy: &str) -> Option<String> {
    let version = policy.lines().find_map(|line| line.trim().strip_prefix("Candidate: "))?;
    (version != "(none)").then(|| version.to_owned())
}

/// Checks that a program exists, and installs the package of the same name if it does not. `or` is
/// an alternative that the error offers.
pub(crate) fn need(program: &str, permission: Permission, or: Option<&str>) -> Result<()> {
    if has(program) {
        return Ok(());
    }
    if permission == Permission::UseOnly || !can_install() {
        let or = or.map_or_else(String::new, |or| format!(", or {or}"));
        return Err(
            format!("{program} is missing and cannot be installed here; install it{or}").into()
        );
    }
    install(&[program])
}

fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

/// Runs a command with its output shown, and kills it after the time limit.
pub(crate) fn run_within(limit: Duration, command: &mut Command) -> Result<()> {
    let mut child = command.stdin(Stdio::null()).spawn()?;
    let stopwatch = Stopwatch::start();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if stopwatch.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Err(format!("`{}` took longer than {limit:?}", line(command)).into());
        }
        pause();
    };
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{}` failed: {status}", line(command)).into())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn has_finds_existing_programs_only() {
        assert!(has("sh"));
        assert!(!has("no-such-program-anywhere"));
    }

    #[test]
    fn candidate_is_parsed_from_policy() {
        let policy = |version: &str| {
            format!("golang-go:\n  Installed: (none)\n  Candidate: {version}\n  Version table:\n")
        };
        assert_eq!(candidate_in(&policy("2:1.19~1")).as_deref(), Some("2:1.19~1"));
        assert_eq!(candidate_in(&policy("(none)")), None);
        assert_eq!(candidate_in(""), None);
    }

    #[test]
    fn missing_program_is_named_with_alternative() {
        need("sh", Permission::UseOnly, None).expect("`sh` exists");
        let error = need("no-such-program", Permission::UseOnly, Some("do without"));
        let error = error.expect_err("the program does not exist").to_string();
        assert!(error.contains("no-such-program is missing"), "{error}");
        assert!(error.ends_with("install it, or do without"), "{error}");
    }

    #[test]
    fn command_is_killed_at_time_limit() {
        let error =
            run_within(Duration::ZERO, Command::new("cat").arg("/dev/zero").stdout(Stdio::null()))
                .expect_err("the command does not end");
        assert!(error.to_string().contains("took longer"), "{error}");
    }

    #[test]
    fn failure_of_command_is_an_error() {
        let error = run_within(Duration::from_secs(60), &mut Command::new("false"))
            .expect_err("`false` fails");
        assert!(error.to_string().contains("failed"), "{error}");
    }
}
