//! Calling cargo on this workspace.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::Result;
use crate::steps::{line, output};

/// The cargo that runs this program, so that all use one toolchain.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
}

/// Where build results go, and with them what the set-up downloads and stages.
pub(crate) fn target_folder() -> Result<PathBuf> {
    let mut command = cargo();
    command.args(["metadata", "--no-deps", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&output(&mut command)?)?;
    let folder =
        metadata["target_directory"].as_str().ok_or("cargo metadata names no target directory")?;
    Ok(PathBuf::from(folder))
}

/// Runs a cargo command that builds the program `name`, and tells where it is.
pub(crate) fn build_program(command: &mut Command, name: &str) -> Result<PathBuf> {
    // Cargo reports artifacts on standard output and shows warnings, errors and
    // progress on standard error as ever.
    let output = command
        .arg("--message-format=json-render-diagnostics")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("`{}` failed: {}", line(command), output.status).into());
    }
    program_in(&String::from_utf8(output.stdout)?, name)
        .ok_or_else(|| format!("`{}` built no program {name}", line(command)).into())
}

fn program_in(messages: &str, name: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|message| serde_json::from_str::<Value>(message).ok())
        .filter(|message| {
            message["reason"] == "compiler-artifact"
                && message["target"]["name"] == name
                && message["target"]["kind"][0] == "bin"
                && message["profile"]["test"] == false
        })
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_told_from_its_tests_and_from_other_artifacts() {
        let messages = r#"
{"reason":"build-script-executed","package_id":"x"}
{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"server"},"profile":{"test":false},"executable":null}
{"reason":"compiler-artifact","target":{"kind":["bin"],"name":"server"},"profile":{"test":true},"executable":"/t/deps/server-1"}
{"reason":"compiler-artifact","target":{"kind":["bin"],"name":"server"},"profile":{"test":false},"executable":"/t/server"}
{"reason":"build-finished","success":true}
"#;
        assert_eq!(program_in(messages, "server"), Some(PathBuf::from("/t/server")));
        assert_eq!(program_in(messages, "other"), None);
    }
}
