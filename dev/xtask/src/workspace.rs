//! Calls of cargo on this workspace.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Result;
use crate::steps::{line, output};

/// Command of the cargo that runs this program, so that all use one toolchain.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
}

/// Target directory: build results, and downloads of the set-up.
pub(crate) fn target_folder() -> Result<PathBuf> {
    let mut command = cargo();
    command.args(["metadata", "--no-deps", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&output(&mut command)?)?;
    let folder =
        metadata["target_directory"].as_str().ok_or("cargo metadata names no target directory")?;
    Ok(PathBuf::from(folder))
}

/// Artifacts of a cargo command, as reported by cargo.
pub(crate) struct Built {
    command: String,
    messages: Vec<Value>,
}

impl Built {
    /// Path of the program `name`.
    pub(crate) fn program(&self, name: &str) -> Result<PathBuf> {
        let is_program = |message: &&Value| {
            message["target"]["name"] == name
                && message["target"]["kind"][0] == "bin"
                && message["profile"]["test"] == false
        };
        let found = self.messages.iter().filter(is_program).find_map(executable);
        found.ok_or_else(|| format!("`{}` built no program {name}", self.command).into())
    }

    /// Paths of a package's test programs, each with its working directory.
    pub(crate) fn tests(&self, package: &str) -> Result<Vec<(PathBuf, PathBuf)>> {
        let is_own = |message: &&Value| {
            let id = message["package_id"].as_str().unwrap_or_default();
            message["profile"]["test"] == true && package_of(id) == Some(package)
        };
        let found: Vec<_> = self
            .messages
            .iter()
            .filter(is_own)
            .filter_map(|message| {
                let manifest = PathBuf::from(message["manifest_path"].as_str()?);
                Some((executable(message)?, manifest.parent()?.to_owned()))
            })
            .collect();
        match found.is_empty() {
            true => Err(format!("`{}` built no tests of {package}", self.command).into()),
            false => Ok(found),
        }
    }
}

/// Name in a package id: `path+file:///folder#name@version`, where the name is missing if it equals
/// that of the folder.
fn package_of(id: &str) -> Option<&str> {
    let (source, version) = id.rsplit_once('#')?;
    match version.split_once('@') {
        Some((name, _)) => Some(name),
        None => source.rsplit('/').next(),
    }
}

fn executable(message: &Value) -> Option<PathBuf> {
    message["executable"].as_str().map(PathBuf::from)
}

/// Runs a cargo command that builds the program `name`, and returns its path.
pub(crate) fn build_program(command: &mut Command, name: &str) -> Result<PathBuf> {
    build(command)?.program(name)
}

/// Runs a cargo command that builds something.
pub(crate) fn build(command: &mut Command) -> Result<Built> {
    // Cargo reports artifacts on standard output, and warnings, errors and progress on standard
    // error as usual.
    let output = command
        .arg("--message-format=json-render-diagnostics")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("`{}` failed: {}", line(command), output.status).into());
    }
    Ok(built(line(command), &String::from_utf8(output.stdout)?))
}

fn built(command: String, messages: &str) -> Built {
    let messages = messages
        .lines()
        .filter_map(|message| serde_json::from_str::<Value>(message).ok())
        .filter(|message| message["reason"] == "compiler-artifact")
        .collect();
    Built { command, messages }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &str = r#"
{"reason":"build-script-executed","package_id":"x"}
{"reason":"compiler-artifact","package_id":"path+file:///w/server#0.1.0","manifest_path":"/w/server/Cargo.toml","target":{"kind":["lib"],"name":"server"},"profile":{"test":false},"executable":null}
{"reason":"compiler-artifact","package_id":"path+file:///w/server#0.1.0","manifest_path":"/w/server/Cargo.toml","target":{"kind":["bin"],"name":"server"},"profile":{"test":true},"executable":"/t/deps/server-1"}
{"reason":"compiler-artifact","package_id":"path+file:///w/server#0.1.0","manifest_path":"/w/server/Cargo.toml","target":{"kind":["bin"],"name":"server"},"profile":{"test":false},"executable":"/t/server"}
{"reason":"compiler-artifact","package_id":"path+file:///w/apps/shop#tabla-shop@0.1.0","manifest_path":"/w/apps/shop/Cargo.toml","target":{"kind":["test"],"name":"app"},"profile":{"test":true},"executable":"/t/deps/app-2"}
{"reason":"build-finished","success":true}
"#;

    #[test]
    fn program_is_distinguished_from_tests_and_other_artifacts() {
        let built = built("cargo build".to_owned(), MESSAGES);
        assert_eq!(built.program("server").unwrap(), PathBuf::from("/t/server"));
        let missing = built.program("other").unwrap_err().to_string();
        assert_eq!(missing, "`cargo build` built no program other");
    }

    #[test]
    fn tests_of_package_are_found() {
        let built = built("cargo test".to_owned(), MESSAGES);
        let found = |program: &str, folder: &str| (PathBuf::from(program), PathBuf::from(folder));
        assert_eq!(built.tests("tabla-shop").unwrap(), [found("/t/deps/app-2", "/w/apps/shop")]);
        assert_eq!(built.tests("server").unwrap(), [found("/t/deps/server-1", "/w/server")]);
        let missing = built.tests("shop").unwrap_err().to_string();
        assert_eq!(missing, "`cargo test` built no tests of shop");
    }
}
