//! DynamoDB Local, the reference of the conformance suite.
//!
//! Tests call [`endpoint`]. It uses the server named by `TABLA_DYNAMODB_ENDPOINT`, or starts the
//! container `amazon/dynamodb-local:2.6.1` with testcontainers. [`run_jars`] runs the same program
//! as a child process, on machines without a container engine.

use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, Weak};

use testcontainers::{ContainerRequest, GenericImage, ImageExt};

use crate::Error;
use crate::server::process::Launch;
use crate::server::{Probe, ServerKind};

pub use crate::server::{Endpoint, Origin, WITHOUT_VARIABLE};

/// Environment variable that names a server to use, such as `http://127.0.0.1:8000`.
///
/// It has precedence over a container. An empty value counts as unset.
pub const ENDPOINT_VARIABLE: &str = "TABLA_DYNAMODB_ENDPOINT";

/// Name of the container image, without its tag.
pub const IMAGE: &str = "amazon/dynamodb-local";

/// Version of DynamoDB Local, which is also the tag of the image.
pub const VERSION: &str = "2.6.1";

/// Main class of DynamoDB Local.
const MAIN_CLASS: &str = "com.amazonaws.services.dynamodbv2.local.main.ServerRunner";

/// Options of Java: memory for thousands of small in-memory tables, a garbage collector for one
/// core, and no optimizing compiler. In a server that lives for minutes, optimized code does not
/// pay back its compile time.
const JVM_OPTIONS: [&str; 3] = ["-Xmx2g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];

/// Options of DynamoDB Local: it keeps nothing on disk, and sends no telemetry.
const SERVER_OPTIONS: [&str; 2] = ["-inMemory", "-disableTelemetry"];

/// Working folder of the image, with `DynamoDBLocal.jar` and `DynamoDBLocal_lib`.
const FOLDER: &str = "/home/dynamodblocal";

static SERVER: ServerKind = ServerKind {
    name: "DynamoDB Local",
    short_name: "dynamodb",
    endpoint_variable: ENDPOINT_VARIABLE,
    image: IMAGE,
    tag: VERSION,
    version: VERSION,
    port: 8000,
    configure: container,
    // The server logs that it listens more than a second before it answers.
    probe: Probe { operation: "ListTables", request: list_tables, is_ready: is_list_of_tables },
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
/// If the named server does not respond, or the container cannot be started.
pub fn endpoint() -> Result<Endpoint, Error> {
    SERVER.endpoint()
}

/// Runs DynamoDB Local as a child process from a folder of its jars.
///
/// The folder contains the jars and native libraries of the Maven artifact
/// `com.amazonaws:DynamoDBLocal` and of all its runtime dependencies.
///
/// # Errors
///
/// If `java` is missing, or if the process ends or does not respond.
pub fn run_jars(folder: &Path) -> Result<Endpoint, Error> {
    SERVER.run(|port| {
        // `java` runs in the folder, so that the class path contains no path with a space or a
        // colon.
        let mut command = Command::new("java");
        command
            .args(JVM_OPTIONS)
            .args(["-Djava.library.path=.", "-cp", "*", MAIN_CLASS])
            .args(SERVER_OPTIONS)
            .args(["-port", &port.to_string()])
            .current_dir(folder);
        Ok(Launch { command, data: None })
    })
}

/// Whether tests that need this server are left out ([`WITHOUT_VARIABLE`]).
///
/// Such tests then print that they did not run. They are skipped for no other reason.
pub fn is_excluded() -> bool {
    SERVER.is_excluded()
}

fn container(image: GenericImage) -> ContainerRequest<GenericImage> {
    // The class path is explicit because the image that `cargo xtask test`
    // builds has the plain jar of Maven Central, which names no main class. The
    // published image has the same layout.
    let library_path = "-Djava.library.path=DynamoDBLocal_lib";
    let class_path = "DynamoDBLocal.jar:DynamoDBLocal_lib/*";
    let command = JVM_OPTIONS
        .into_iter()
        .chain([library_path, "-cp", class_path, MAIN_CLASS])
        .chain(SERVER_OPTIONS);
    image.with_entrypoint("java").with_working_dir(FOLDER).with_cmd(command)
}

/// Request of the probe. The server reads the key id and the region from the Authorization header,
/// and checks no signature.
fn list_tables(authority: &str) -> String {
    format!(
        "POST / HTTP/1.1\r\n\
         Host: {authority}\r\n\
         Connection: close\r\n\
         Content-Type: application/x-amz-json-1.0\r\n\
         Content-Length: 2\r\n\
         X-Amz-Target: DynamoDB_20120810.ListTables\r\n\
         Authorization: AWS4-HMAC-SHA256 Credential=probe/20240101/us-east-1/dynamodb/aws4_request, \
         SignedHeaders=host, Signature=0\r\n\
         \r\n\
         {{}}"
    )
}

fn is_list_of_tables(status: &str, response: &str) -> bool {
    status == "200" && response.contains("\"TableNames\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_list_of_tables_counts_as_ready() {
        let probe = &SERVER.probe;
        for (response, ready) in [
            ("HTTP/1.1 200 OK\r\n\r\n{\"TableNames\":[]}", true),
            ("HTTP/1.1 200 OK\r\n\r\n<html>", false),
            ("HTTP/1.1 400 Bad Request\r\n\r\n{\"TableNames\":[]}", false),
            ("", false),
        ] {
            assert_eq!(probe.check(response).is_ok(), ready, "{response:?}");
        }
    }
}
