//! versitygw: a container of its image, or the program built from its Go module.
//!
//! If no registry can be reached, the image is built from the program alone, which needs no shared
//! libraries. It has the parts of the published image that the container uses: the program, and
//! empty folders for buckets and versions.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Permission, ServerKind, image};
use crate::Result;
use crate::machine::{can_install, candidate, has, install};
use crate::steps::{output, run};

/// Version of versitygw, as in `tabla-testkit`.
const VERSION: &str = "1.8.0";

/// Package of the program in its Go module.
const PACKAGE: &str = "github.com/versity/versitygw/cmd/versitygw";

/// Name of the program.
const PROGRAM: &str = "versitygw";

/// Path of the program in the image, as in `tabla-testkit`.
const PROGRAM_IN_IMAGE: &str = "usr/local/bin/versitygw";

/// Folders of the image: for buckets, for versions, and for temporary files.
const FOLDERS_IN_IMAGE: [&str; 3] = ["srv", "mnt", "tmp"];

/// Version of Go that the module requires.
const REQUIRED_GO: GoVersion = (1, 25);

/// Oldest version of Go that downloads the version that a module requires.
const OLDEST_GO: GoVersion = (1, 21);

/// Debian's package of Go.
const GO_PACKAGE: &str = "golang-go";

/// Major and minor version of Go.
type GoVersion = (u32, u32);

/// versitygw, the S3 server that the tests of object storage run on.
pub(crate) static VERSITYGW: ServerKind = ServerKind {
    name: "versitygw",
    version: VERSION,
    short_name: "s3",
    endpoint_variable: "TABLA_S3_ENDPOINT",
    command: "versitygw",
    image: "versity/versitygw:v1.8.0",
    source: "its Go module",
    build_image,
    child_options,
    alternative: "install Go 1.25, to have versitygw built from its Go module",
};

fn child_options(folder: &Path, permission: Permission) -> Result<Vec<OsString>> {
    let program = program(folder, permission)?;
    let data = folder.join("data");
    Ok(vec!["--binary".into(), program.into(), "--data".into(), data.into()])
}

fn build_image(kind: &ServerKind, folder: &Path, permission: Permission) -> Result<()> {
    let program = program(folder, permission)?;
    let stage = image::new_stage(folder)?;
    for name in FOLDERS_IN_IMAGE {
        fs::create_dir(stage.join(name))?;
    }
    let staged = stage.join(PROGRAM_IN_IMAGE);
    if let Some(parent) = staged.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::copy(program, staged)?;
    let entry_point = format!(r#"ENTRYPOINT ["/{PROGRAM_IN_IMAGE}"]"#);
    image::import(kind, &stage, &["EXPOSE 7070", &entry_point])
}

/// Returns the path of the program. Builds it if it is missing, and installs Go before if that
/// is permitted.
pub(super) fn program(folder: &Path, permission: Permission) -> Result<PathBuf> {
    let finished = folder.join(format!("bin-{VERSION}"));
    let program = finished.join(PROGRAM);
    if program.is_file() {
        return Ok(program);
    }
    go(permission)?;
    println!("building versitygw {VERSION} from its Go module");
    // The folder gets its name when it is complete, so that an interrupted build is repeated.
    let partial = folder.join("bin-partial");
    if partial.exists() {
        fs::remove_dir_all(&partial)?;
    }
    fs::create_dir_all(&partial)?;
    run(Command::new("go")
        .args(["install", &format!("{PACKAGE}@v{VERSION}")])
        // Without C the program is static, and runs in an image without libraries.
        .env("CGO_ENABLED", "0")
        .env("GOBIN", &partial))?;
    fs::rename(&partial, &finished)?;
    Ok(program)
}

/// Checks that Go is installed and recent enough, and installs it if it is missing.
fn go(permission: Permission) -> Result<()> {
    if !has("go") {
        if permission == Permission::UseOnly || !can_install() {
            let (major, minor) = REQUIRED_GO;
            return Err(format!(
                "go is missing and cannot be installed here; install Go {major}.{minor} or later"
            )
            .into());
        }
        // Hundreds of megabytes are not installed only to be refused.
        if let Some(version) = candidate(GO_PACKAGE).as_deref().and_then(debian_go_version) {
            check_go(version, "Debian's Go")?;
        }
        install(&[GO_PACKAGE])?;
    }
    let text = output(Command::new("go").args(["env", "GOVERSION"]))?;
    match go_version(&text) {
        Some(version) => check_go(version, "Go"),
        // A development version has no number. If it is too old, `go install` reports it.
        None => Ok(()),
    }
}

fn check_go(version: GoVersion, name: &str) -> Result<()> {
    if version >= OLDEST_GO {
        return Ok(());
    }
    let ((major, minor), (required_major, required_minor)) = (version, REQUIRED_GO);
    let (oldest_major, oldest_minor) = OLDEST_GO;
    Err(format!(
        "{name} {major}.{minor} is too old to build versitygw {VERSION}: install Go \
         {required_major}.{required_minor}, or Go {oldest_major}.{oldest_minor} or later, which \
         downloads it"
    )
    .into())
}

/// Parses the output of `go env GOVERSION`, such as `go1.25.3`.
fn go_version(text: &str) -> Option<GoVersion> {
    major_and_minor(text.trim().strip_prefix("go")?)
}

/// Parses the version of Debian's package, such as `2:1.19~1`, in which a colon follows the epoch.
fn debian_go_version(text: &str) -> Option<GoVersion> {
    major_and_minor(text.split_once(':').map_or(text, |(_, version)| version))
}

fn major_and_minor(text: &str) -> Option<GoVersion> {
    let (major, rest) = text.split_once('.')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    Some((major.parse().ok()?, rest[..digits].parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_version_is_parsed() {
        assert_eq!(go_version("go1.26.8\n"), Some((1, 26)));
        assert_eq!(go_version("go1.25rc1"), Some((1, 25)));
        assert_eq!(go_version("go1.21"), Some((1, 21)));
        for text in ["", "devel +7f2a8e1", "go1", "gox.1", "1.25.0"] {
            assert_eq!(go_version(text), None, "{text}");
        }
    }

    #[test]
    fn debian_version_of_go_is_parsed() {
        assert_eq!(debian_go_version("2:1.19~1"), Some((1, 19)));
        assert_eq!(debian_go_version("1.24~2"), Some((1, 24)));
        assert_eq!(debian_go_version("(none)"), None);
    }

    #[test]
    fn go_that_is_too_old_is_named_with_the_required_version() {
        check_go((1, 21), "Go").expect("it downloads what the module requires");
        let error = check_go((1, 19), "Debian's Go").expect_err("it is too old").to_string();
        assert!(error.starts_with("Debian's Go 1.19 is too old"), "{error}");
        assert!(error.contains("install Go 1.25"), "{error}");
    }

    #[test]
    fn names_of_image_and_remedy_contain_the_version() {
        assert!(VERSITYGW.image.ends_with(&format!(":v{VERSION}")));
        let (major, minor) = REQUIRED_GO;
        assert!(VERSITYGW.alternative.contains(&format!("Go {major}.{minor}")));
    }
}
