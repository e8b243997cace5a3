//! Peers in Rust: programs outside this workspace that do the same work.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use super::workload::StorageMode;
use super::{Failure, Row};
use crate::process::json_output;

/// Running program, which ends when its input closes.
pub(crate) struct Peer {
    child: Child,
    orders: Option<ChildStdin>,
    responses: BufReader<ChildStdout>,
}

impl Peer {
    /// Builds the program, and starts it with its files in this folder.
    pub(crate) fn start(name: &str, folder: &Path) -> Result<Self, Failure> {
        let mut child = Command::new(build(name)?)
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let orders = child.stdin.take();
        let responses = BufReader::new(
            child.stdout.take().ok_or("the standard output of the peer is not piped")?,
        );
        Ok(Self { child, orders, responses })
    }

    /// Makes the program do the work of a row; returns the seconds.
    pub(crate) fn run(&mut self, row: &Row, first: u64) -> Result<f64, Failure> {
        let orders = self.orders.as_mut().ok_or("the standard input of the peer is closed")?;
        let (place, operation) = (row.place.name(), row.operation.name());
        writeln!(orders, "{place} {operation} {} {} {first}", row.callers, row.ops)?;
        let mut response = String::new();
        if self.responses.read_line(&mut response)? == 0 {
            return Err("the peer has ended; its error is above".into());
        }
        let response: Value = serde_json::from_str(&response)?;
        response["seconds"]
            .as_f64()
            .ok_or_else(|| format!("the response of the peer has no `seconds`: {response}").into())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.orders.take());
        // The program ends after its input closes; an error means that it has ended already.
        let _ = self.child.wait();
    }
}

/// Runs the program to measure its footprint, and returns what it prints.
pub(crate) fn footprint(name: &str, place: StorageMode, folder: &Path) -> Result<Value, Failure> {
    json_output(Command::new(build(name)?).arg(folder).args(["footprint", place.name()]))
}

/// Builds the program in its own target folder, beside that of this program.
fn build(name: &str) -> Result<PathBuf, Failure> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(name);
    let this = std::env::current_exe()?;
    let target = this.ancestors().nth(2).ok_or("this program is in no target folder")?;
    let target = target.join("peers");
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--release", "--locked", "--quiet"])
        .current_dir(&source)
        .env("CARGO_TARGET_DIR", &target)
        .stdin(Stdio::null())
        .status()?;
    if !status.success() {
        return Err(format!(
            "cannot build {}; leave it out with --without {name}",
            source.display()
        )
        .into());
    }
    Ok(target.join("release").join(format!("peer-{name}")))
}
