//! DynamoDB Local: a container of its image, or the jars from Maven Central.
//!
//! If no registry can be reached, the image is built from this machine's Java, the shared libraries
//! that it needs, and the jars. It has the layout of the published image: `java` in PATH,
//! `DynamoDBLocal.jar` and `DynamoDBLocal_lib` in `/home/dynamodblocal`.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Permission, ServerKind, image, jars};
use crate::Result;

/// Version of DynamoDB Local, as in `tabla-testkit`.
pub(super) const VERSION: &str = "2.6.1";

/// Working folder of the image.
const HOME: &str = "home/dynamodblocal";

/// DynamoDB Local, the reference of the conformance suite.
pub(crate) static DYNAMODB_LOCAL: ServerKind = ServerKind {
    name: "DynamoDB Local",
    version: VERSION,
    short_name: "dynamodb",
    endpoint_variable: "TABLA_DYNAMODB_ENDPOINT",
    command: "dynamodb-local",
    image: "amazon/dynamodb-local:2.6.1",
    source: "Maven Central",
    build_image,
    child_options,
    alternative: "install Java 17 and Maven, to have DynamoDB Local downloaded from Maven Central",
};

fn child_options(folder: &Path, permission: Permission) -> Result<Vec<OsString>> {
    Ok(vec!["--jars".into(), jars::ready(folder, permission)?.into()])
}

/// Builds the image from the jars and this machine's Java.
fn build_image(kind: &ServerKind, folder: &Path, permission: Permission) -> Result<()> {
    let jars = jars::ready(folder, permission)?;
    let stage = image::new_stage(folder)?;
    fs::create_dir(stage.join("tmp"))?;
    stage_jars(&jars, &stage.join(HOME))?;
    stage_java(&java_home()?, &stage)?;
    stage_libraries(&stage)?;
    let instructions = [
        "ENV PATH=/opt/java/bin",
        "WORKDIR /home/dynamodblocal",
        "EXPOSE 8000",
        r#"ENTRYPOINT ["java"]"#,
    ];
    image::import(kind, &stage, &instructions)
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
