//! Images of the servers: existing, pulled or built.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{Permission, ServerKind};
use crate::Result;
use crate::machine::{run_within, succeeds};
use crate::steps::{line, output};

/// Time limit of a pull, enough for a slow connection. Without a registry, the engine usually fails
/// at once.
const PULL_LIMIT: Duration = Duration::from_secs(120);

/// Makes the image available, and returns where it came from.
pub(super) fn ready(kind: &ServerKind, folder: &Path, permission: Permission) -> Result<String> {
    let ServerKind { image, source, .. } = kind;
    if succeeds(Command::new("docker").args(["image", "inspect", image])) {
        return Ok("already present".to_owned());
    }
    match run_within(PULL_LIMIT, Command::new("docker").args(["pull", "--quiet", image])) {
        Ok(()) => return Ok("pulled".to_owned()),
        Err(error) => println!("{error}; building the image from {source} instead"),
    }
    if !cfg!(target_os = "linux") {
        return Err("the image contains programs of this machine, so it can be built on Linux \
                    only"
            .into());
    }
    (kind.build_image)(kind, folder, permission)?;
    Ok(format!("built from {source}"))
}

/// Folder in which the files of an image are staged, because `docker import` rejects a duplicate
/// path. It is empty at first.
pub(super) fn new_stage(folder: &Path) -> Result<PathBuf> {
    let stage = folder.join("image");
    if stage.exists() {
        fs::remove_dir_all(&stage)?;
    }
    fs::create_dir_all(&stage)?;
    Ok(stage)
}

/// Makes an image of the staged files, with instructions of a Dockerfile, and deletes the files.
pub(super) fn import(kind: &ServerKind, stage: &Path, instructions: &[&str]) -> Result<()> {
    let ServerKind { image, source, .. } = kind;
    let mut pack = Command::new("tar")
        .args(["--create", "--owner=0", "--group=0", "--directory"])
        .arg(stage)
        .arg(".")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let archive = pack.stdout.take().ok_or("tar has no output")?;
    let mut command = Command::new("docker");
    command.args(["import", "--message", &format!("built from {source}")]);
    for instruction in instructions {
        command.args(["--change", instruction]);
    }
    let status = command.args(["-", image]).stdin(archive).status()?;
    let packed = pack.wait()?;
    if !packed.success() || !status.success() {
        return Err(format!("`tar | {}` failed: {packed}, {status}", line(&command)).into());
    }
    let size =
        output(Command::new("docker").args(["image", "inspect", "--format", "{{.Size}}", image]))?;
    println!("built {image}: {size} bytes", size = size.trim());
    fs::remove_dir_all(stage)?;
    Ok(())
}
