//! DynamoDB Local, the reference of the conformance suite.
//!
//! Tests call [`endpoint`]. It uses the server named by `TABLA_DYNAMODB_ENDPOINT`, or starts the
//! container `amazon/dynamodb-local:2.6.1` with testcontainers. [`run_jars`] runs the same program
//! as a child process, on machines without a container engine.

mod container;
mod jars;
mod probe;

use std::env;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::Error;

use container::Container;
use jars::JavaProcess;

/// Environment variable that names a server to use, such as `http://127.0.0.1:8000`.
///
/// It has precedence over a container. An empty value counts as unset.
pub const ENDPOINT_VARIABLE: &str = "TABLA_DYNAMODB_ENDPOINT";

/// Environment variable that lists the servers to leave out, separated by commas.
///
/// `cargo xtask test --without dynamodb` sets it; see [`is_excluded`].
pub const WITHOUT_VARIABLE: &str = "TABLA_WITHOUT";

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

/// Container of this process, shared by all its endpoints.
static SHARED: Mutex<Weak<Container>> = Mutex::new(Weak::new());

/// Way by which a server was found or started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// Server named by [`ENDPOINT_VARIABLE`], which this process neither starts nor stops.
    Given,
    /// Container that this process started.
    Container,
    /// Java process that this process started.
    Jars,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given => write!(f, "the server that {ENDPOINT_VARIABLE} names"),
            Self::Container => write!(f, "container {IMAGE}:{VERSION}"),
            Self::Jars => write!(f, "DynamoDB Local {VERSION} as a child process"),
        }
    }
}

/// Running server, kept running for as long as a clone of this value exists.
///
/// Dropping the last clone removes the container or ends the child process, and waits for that.
/// `std::process::exit` drops nothing: drop the value before.
#[derive(Clone, Debug)]
pub struct Endpoint {
    url: String,
    server: Server,
}

#[derive(Clone, Debug)]
enum Server {
    Given,
    Container(#[expect(dead_code, reason = "held to keep it running")] Arc<Container>),
    Jars(#[expect(dead_code, reason = "held to keep it running")] Arc<JavaProcess>),
}

impl Endpoint {
    /// URL of the server: scheme, host and port.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Way by which this server was found or started.
    pub fn origin(&self) -> Origin {
        match self.server {
            Server::Given => Origin::Given,
            Server::Container(_) => Origin::Container,
            Server::Jars(_) => Origin::Jars,
        }
    }
}

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
    if let Some(url) = given() {
        probe::answers_soon(&url).map_err(|error| {
            Error::with_source(
                format!(
                    "no server responds at {url}; start one there, or unset {ENDPOINT_VARIABLE}"
                ),
                error,
            )
        })?;
        return Ok(Endpoint { url, server: Server::Given });
    }
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    let container = match shared.upgrade() {
        Some(container) => container,
        None => {
            let container = Arc::new(Container::start().map_err(|error| {
                Error::with_source(
                    format!(
                        "cannot start DynamoDB Local in a container; start a Docker \
                         engine, or run the tests with `cargo xtask test`, or start a server \
                         with `cargo xtask dynamodb` and set {ENDPOINT_VARIABLE} to its address"
                    ),
                    error,
                )
            })?);
            *shared = Arc::downgrade(&container);
            container
        }
    };
    Ok(Endpoint { url: container.url().to_owned(), server: Server::Container(container) })
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
    let process = JavaProcess::start(folder)?;
    Ok(Endpoint { url: process.url().to_owned(), server: Server::Jars(Arc::new(process)) })
}

/// Whether tests that need this server are left out ([`WITHOUT_VARIABLE`]).
///
/// Such tests then print that they did not run. They are skipped for no other reason.
pub fn is_excluded() -> bool {
    env::var(WITHOUT_VARIABLE).is_ok_and(|list| names_dynamodb(&list))
}

fn names_dynamodb(list: &str) -> bool {
    list.split(',').any(|name| name.trim() == "dynamodb")
}

fn given() -> Option<String> {
    let url = env::var(ENDPOINT_VARIABLE).ok()?;
    let url = url.trim().trim_end_matches('/');
    (!url.is_empty()).then(|| url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_of_excluded_servers_matches_whole_names() {
        assert!(names_dynamodb("dynamodb"));
        assert!(names_dynamodb("redis, dynamodb"));
        assert!(!names_dynamodb(""));
        assert!(!names_dynamodb("dynamodb-streams"));
    }
}
