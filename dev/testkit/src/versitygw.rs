//! versitygw, the S3 server that tests of object storage run on.
//!
//! Tests call [`endpoint`]. It uses the server named by `TABLA_S3_ENDPOINT`, or starts the
//! container `versity/versitygw:v1.8.0` with testcontainers. [`run_binary`] runs the same program as
//! a child process, on machines without a container engine.
//!
//! Requests are signed for [`REGION`] with [`access_key`] and [`secret_key`]. Buckets can have
//! versioning; a new bucket has none until PutBucketVersioning enables it. The server closes the
//! connection after each response.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{self, Command};
use std::sync::{Mutex, Weak};

use testcontainers::{ContainerRequest, GenericImage, ImageExt};

use crate::Error;
use crate::server::process::{DataFolder, Launch};
use crate::server::{Endpoint, Probe, ServerKind};

/// Environment variable that names a server to use, such as `http://127.0.0.1:7070`.
///
/// It has precedence over a container. An empty value counts as unset.
pub const ENDPOINT_VARIABLE: &str = "TABLA_S3_ENDPOINT";

/// Environment variable with the access key of the server [default: `test`].
///
/// It applies to a named server and to one that is started. An empty value counts as unset.
pub const ACCESS_KEY_VARIABLE: &str = "TABLA_S3_ACCESS_KEY";

/// Environment variable with the secret key of the server [default: `testtest`].
///
/// It applies to a named server and to one that is started. An empty value counts as unset.
pub const SECRET_KEY_VARIABLE: &str = "TABLA_S3_SECRET_KEY";

/// Name of the container image, without its tag.
pub const IMAGE: &str = "versity/versitygw";

/// Tag of the container image.
pub const TAG: &str = "v1.8.0";

/// Version of versitygw.
pub const VERSION: &str = "1.8.0";

/// Region of the server, which signatures contain.
pub const REGION: &str = "us-east-1";

/// Port of the server inside the container.
const PORT: u16 = 7070;

/// Path of the program in the image. The entry point of the published image is a shell script,
/// which the image that `cargo xtask test` builds does not have.
const PROGRAM: &str = "/usr/local/bin/versitygw";

/// Folder of the buckets in the container. This folder and that of the versions are empty in the
/// published image; the server does not create them.
const BUCKETS: &str = "/srv";

/// Folder of the versions in the container. It must be outside that of the buckets.
const VERSIONS: &str = "/mnt";

static SERVER: ServerKind = ServerKind {
    name: "versitygw",
    short_name: "s3",
    endpoint_variable: ENDPOINT_VARIABLE,
    image: IMAGE,
    tag: TAG,
    version: VERSION,
    port: PORT,
    configure: container,
    probe: Probe {
        operation: "ListBuckets without a signature",
        request: list_buckets,
        is_ready: is_access_denied,
    },
    shared: Mutex::new(Weak::new()),
};

/// Returns a server that responds to requests. Starts a container if no server is named.
///
/// A process has at most one container, which callers share while any of them holds an
/// [`Endpoint`]. The first call blocks for some seconds, so a harness calls it before its tests and
/// keeps the value until they have ended. It needs no async runtime, and may be called from one.
///
/// # Errors
///
/// If the named server does not respond as S3, or the container cannot be started.
pub fn endpoint() -> Result<Endpoint, Error> {
    SERVER.endpoint()
}

/// Runs versitygw as a child process from its program file.
///
/// The server keeps buckets and versions in a new subfolder of `data`, which is deleted when the
/// server stops. The file system must support extended attributes.
///
/// # Errors
///
/// If the folders cannot be created, or if the process ends or does not respond.
pub fn run_binary(program: &Path, data: &Path) -> Result<Endpoint, Error> {
    // The server changes its working directory before it reads the second path.
    let data = std::path::absolute(data).map_err(|error| {
        Error::with_source(format!("cannot use the folder {}", data.display()), error)
    })?;
    SERVER.run(|port| {
        let folder = data.join(format!("{}-{port}", process::id()));
        let (buckets, versions) = (folder.join("buckets"), folder.join("versions"));
        let owned = DataFolder::new(folder);
        for folder in [&buckets, &versions] {
            fs::create_dir_all(folder).map_err(|error| {
                Error::with_source(format!("cannot create the folder {}", folder.display()), error)
            })?;
        }
        let mut command = Command::new(program);
        // Each option of the server has an environment variable, too.
        command.env_clear().envs(keys());
        command.args(options(&format!("127.0.0.1:{port}")));
        command.args(["posix", "--versioning-dir"]).arg(versions).arg(buckets);
        Ok(Launch { command, data: Some(owned) })
    })
}

/// Access key of the server: the value of [`ACCESS_KEY_VARIABLE`], or `test`.
pub fn access_key() -> String {
    value_or(env::var(ACCESS_KEY_VARIABLE).ok(), "test")
}

/// Secret key of the server: the value of [`SECRET_KEY_VARIABLE`], or `testtest`.
pub fn secret_key() -> String {
    value_or(env::var(SECRET_KEY_VARIABLE).ok(), "testtest")
}

/// Whether tests that need this server are left out ([`WITHOUT_VARIABLE`]).
///
/// Such tests then print that they did not run. They are skipped for no other reason.
///
/// [`WITHOUT_VARIABLE`]: crate::WITHOUT_VARIABLE
pub fn is_excluded() -> bool {
    SERVER.is_excluded()
}

fn value_or(value: Option<String>, default: &str) -> String {
    value.filter(|value| !value.is_empty()).unwrap_or_else(|| default.to_owned())
}

/// Environment variables by which the server gets its keys.
fn keys() -> [(&'static str, String); 2] {
    [("ROOT_ACCESS_KEY", access_key()), ("ROOT_SECRET_KEY", secret_key())]
}

/// Options of the server before the name of its backend. It logs no requests: nobody reads them.
fn options(address: &str) -> [&str; 5] {
    ["--quiet", "--region", REGION, "--port", address]
}

fn container(image: GenericImage) -> ContainerRequest<GenericImage> {
    let address = format!(":{PORT}");
    let command =
        options(&address).into_iter().chain(["posix", "--versioning-dir", VERSIONS, BUCKETS]);
    let request = image.with_entrypoint(PROGRAM).with_cmd(command);
    keys().into_iter().fold(request, |request, (name, value)| request.with_env_var(name, value))
}

/// Request of the probe. It has no signature: the response proves that the server speaks S3, and
/// does not depend on the keys.
fn list_buckets(authority: &str) -> String {
    format!("GET / HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n")
}

/// Whether the response is S3's refusal of a request without a signature.
fn is_access_denied(status: &str, response: &str) -> bool {
    status == "403" && response.contains("<Code>AccessDenied</Code>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_error_of_s3_counts_as_ready() {
        let probe = &SERVER.probe;
        for (response, ready) in [
            (
                "HTTP/1.1 403 Forbidden\r\nServer: VERSITYGW\r\n\r\n<?xml version=\"1.0\"?>\n\
                 <Error><Code>AccessDenied</Code></Error>",
                true,
            ),
            ("HTTP/1.1 403 Forbidden\r\n\r\n<html>", false),
            ("HTTP/1.1 503 Slow Down\r\n\r\n<Error><Code>AccessDenied</Code></Error>", false),
            ("HTTP/1.1 200 OK\r\n\r\n{\"TableNames\":[]}", false),
            ("", false),
        ] {
            assert_eq!(probe.check(response).is_ok(), ready, "{response:?}");
        }
    }

    #[test]
    fn empty_key_counts_as_unset() {
        assert_eq!(value_or(None, "test"), "test");
        assert_eq!(value_or(Some(String::new()), "test"), "test");
        assert_eq!(value_or(Some("minio".to_owned()), "test"), "minio");
    }
}
