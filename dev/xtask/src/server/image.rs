//! Image of DynamoDB Local: existing, pulled or built.
//!
//! If no registry can be reached, the image is built from this machine's Java, the shared libraries
//! that it needs, and the jars. It has the layout of the published image: `java` in PATH,
//! `DynamoDBLocal.jar` and `DynamoDBLocal_lib` in `/home/dynamodblocal`.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{IMAGE, Permission, VERSION, jars};
use crate::Result;
use crate::machine::{run_within, succeeds};
use crate::steps::{line, output};

/// Time limit of a pull, enough for a slow connection. Without a registry, the engine usually fails
/// at once.
const PULL_LIMIT: Duration = Duration::from_secs(120);

const HOME: &str = "home/dynamodblocal";

/// Makes the image available, and returns where it came from.
pub(super) fn ready(folder: &Path, permission: Permission) -> Result<&'static str> {
    if succeeds(Command::new("docker").args(["image", "inspect", IMAGE])) {
        return Ok("already present");
    }
    match run_within(PULL_LIMIT, Command::new("docker").args(["pull", "--quiet", IMAGE])) {
        Ok(()) => return Ok("pulled"),
        Err(error) => println!("{error}; building the image from Maven Central instead"),
    }
    build(folder, permission)?;
    Ok("built from Maven Central")
}

fn build(folder: &Path, permission: Permission) -> Result<()> {
    if !cfg!(target_os = "linux") {
        return Err(
            "the image contains this machine's Java, so it can be built on Linux only".into()
        );
    }
    let jars = jars::ready(folder, permission)?;
    // Files are staged first, because `docker import` rejects a duplicate path.
    let stage = folder.join("image");
    if stage.exists() {
        fs::remove_dir_all(&stage)?;
    }
    fs::create_dir_all(stage.join("tmp"))?;
    stage_jars(&jars, &stage.join(HOME))?;
    let java = java_home()?;
    stage_java(&java, &stage)?;
    stage_libraries(&stage)?;
    import(&stage)?;
    fs::remove_dir_all(&stage)?;
    Ok(())
}

fn stage_jars(jars: &Path, home: &Path) -> Result<()> {
    let library = home.join("DynamoDBLocal_lib");
    fs::create_dir_all(&library)?;
    let server = format!("DynamoDBLocal-{VERSION}.jar");
    for entry in fs::read_dir(jars)? {
        let name = entry?.file_name();
        let to = if name == server.as_str() {
            home.join("DynamoDBLocal.jar")
        } else {
            library.join(&name)
        };
        fs::copy(jars.join(&name), to)?;
    }
    Ok(())
}

/// Folder of the Java that `java` runs, which may be a wrapper script.
fn java_home() -> Result<PathBuf> {
    let output = Command::new("java").args(["-XshowSettings:properties", "-version"]).output()?;
    home_in(&String::from_utf8_lossy(&output.stderr))
        .ok_or_else(|| "`java -XshowSettings:properties` prints no java.home".into())
}

fn home_in(settings: &str) -> Option<PathBuf> {
    settings.lines().find_map(|line| line.trim().strip_prefix("java.home = ")).map(PathBuf::from)
}

/// Copies the files that run a program, without compiler and documentation.
fn stage_java(java: &Path, stage: &Path) -> Result<()> {
    let to = stage.join("opt/java");
    fs::create_dir_all(to.join("bin"))?;
    fs::copy(java.join("bin/java"), to.join("bin/java"))?;
    copy_tree(&java.join("lib"), &to.join("lib"))?;
    copy_tree(&java.join("conf"), &to.join("conf"))?;
    Ok(())
}

/// Copies a folder and the targets of its links, except broken links and the two large files that
/// only compilers and editors read.
fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        if name == "src.zip" || name == "ct.sym" {
            continue;
        }
        let source = from.join(&name);
        match fs::metadata(&source) {
            Ok(metadata) if metadata.is_dir() => copy_tree(&source, &to.join(&name))?,
            Ok(_) => {
                fs::copy(&source, to.join(&name))?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Copies each shared library that a staged program or library needs to the path where this
/// machine's loader found it.
fn stage_libraries(stage: &Path) -> Result<()> {
    let mut staged = vec![stage.join("opt/java/bin/java")];
    shared_objects(&stage.join("opt/java/lib"), &mut staged)?;
    shared_objects(&stage.join(HOME), &mut staged)?;
    let mut needed = BTreeSet::new();
    for file in staged {
        // `ldd` fails on a library for another processor, which is never loaded.
        let output = Command::new("ldd").arg(&file).output()?;
        needed.extend(libraries_in(&String::from_utf8_lossy(&output.stdout)));
    }
    for library in needed.iter().filter(|library| !library.starts_with(stage)) {
        let to = stage.join(library.strip_prefix("/")?);
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::copy(library, to)?;
    }
    Ok(())
}

fn shared_objects(folder: &Path, found: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            shared_objects(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "so") {
            found.push(path);
        }
    }
    Ok(())
}

/// Files in lines such as `libc.so.6 => /lib/libc.so.6 (0x0)` and
/// `/lib64/ld-linux-x86-64.so.2 (0x0)`.
fn libraries_in(listing: &str) -> impl Iterator<Item = PathBuf> {
    listing.lines().filter_map(|line| {
        let (file, _) = line.trim().rsplit_once(" (")?;
        let file = file.rsplit("=> ").next()?;
        file.starts_with('/').then(|| PathBuf::from(file))
    })
}

fn import(stage: &Path) -> Result<()> {
    let mut pack = Command::new("tar")
        .args(["--create", "--owner=0", "--group=0", "--directory"])
        .arg(stage)
        .arg(".")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()?;
    let archive = pack.stdout.take().ok_or("tar has no output")?;
    let mut command = Command::new("docker");
    command.args(["import", "--message", "built from Maven Central"]);
    for change in [
        "ENV PATH=/opt/java/bin",
        "WORKDIR /home/dynamodblocal",
        "EXPOSE 8000",
        r#"ENTRYPOINT ["java"]"#,
    ] {
        command.args(["--change", change]);
    }
    let status = command.args(["-", IMAGE]).stdin(archive).status()?;
    let packed = pack.wait()?;
    if !packed.success() || !status.success() {
        return Err(format!("`tar | {}` failed: {packed}, {status}", line(&command)).into());
    }
    let size =
        output(Command::new("docker").args(["image", "inspect", "--format", "{{.Size}}", IMAGE]))?;
    println!("built {IMAGE}: {size} bytes", size = size.trim());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_ldd_output_are_parsed() {
        let listing = "\tlinux-vdso.so.1 (0x00007ffd)\n\
                       \tlibz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f01)\n\
                       \tlibX11.so.6 => not found\n\
                       \tlibjvm.so => /stage/lib/server/libjvm.so (0x00007f02)\n\
                       \t/lib64/ld-linux-x86-64.so.2 (0x00007f03)\n\
                       \tstatically linked\n";
        let files: Vec<PathBuf> = libraries_in(listing).collect();
        assert_eq!(
            files,
            [
                "/lib/x86_64-linux-gnu/libz.so.1",
                "/stage/lib/server/libjvm.so",
                "/lib64/ld-linux-x86-64.so.2",
            ]
            .map(PathBuf::from)
        );
    }

    #[test]
    fn java_home_is_parsed_from_settings() {
        let settings = "Property settings:\n    java.class.version = 61.0\n    java.home = /opt/a b/java\n    java.io.tmpdir = /tmp\n";
        assert_eq!(home_in(settings), Some(PathBuf::from("/opt/a b/java")));
        assert_eq!(home_in(""), None);
    }
}
