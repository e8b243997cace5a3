//! DynamoDB Local: the oracle of the conformance suite.
//!
//! [`endpoint`] is what tests call. It uses the server that
//! `TABLA_DYNAMODB_ENDPOINT` names, or starts the container
//! `amazon/dynamodb-local:2.6.1` through testcontainers. [`run_jars`] runs the
//! same program as a child process, for machines without a container engine.

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

/// The variable that names a server to use, such as `http://127.0.0.1:8000`.
///
/// It overrides every other way to a server. An empty value counts as none.
pub const ENDPOINT_VARIABLE: &str = "TABLA_DYNAMODB_ENDPOINT";

/// The variable that names, separated by commas, the servers to do without.
///
/// `cargo xtask test --without dynamodb` sets it; see [`is_excluded`].
pub const WITHOUT_VARIABLE: &str = "TABLA_WITHOUT";

/// The image that tests run against, without its tag.
pub const IMAGE: &str = "amazon/dynamodb-local";

/// The version of DynamoDB Local that tests run against; also the image's tag.
pub const VERSION: &str = "2.6.1";

/// The main class of DynamoDB Local.
const MAIN_CLASS: &str = "com.amazonaws.services.dynamodbv2.local.main.ServerRunner";

/// Room for thousands of small in-memory tables, a collector that needs no
/// second core, and no optimising compiler: a server that lives for minutes
/// spends more time on compiling its code than it wins back.
const JVM_OPTIONS: [&str; 3] = ["-Xmx2g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];

/// Nothing is kept on disk, and nothing is sent to anybody.
const SERVER_OPTIONS: [&str; 2] = ["-inMemory", "-disableTelemetry"];

/// The one container of this process, while anybody holds it.
static SHARED: Mutex<Weak<Container>> = Mutex::new(Weak::new());

/// Where a server came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// Named by [`ENDPOINT_VARIABLE`]; somebody else starts and stops it.
    Given,
    /// A container that this process started.
    Container,
    /// A Java process that this process started.
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

/// A server that answers, kept running for as long as a clone of this exists.
///
/// The last clone to go removes the container or ends the child process, and
/// waits for that. `std::process::exit` drops nothing: let the value go first.
#[derive(Clone, Debug)]
pub struct Endpoint {
    url: String,
    server: Server,
}

#[derive(Clone, Debug)]
enum Server {
    Given,
    Container(#[expect(dead_code, reason = "held so that it goes on running")] Arc<Container>),
    Jars(#[expect(dead_code, reason = "held so that it goes on running")] Arc<JavaProcess>),
}

impl Endpoint {
    /// The server's address: scheme, host and port.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Where the server came from.
    pub fn origin(&self) -> Origin {
        match self.server {
            Server::Given => Origin::Given,
            Server::Container(_) => Origin::Container,
            Server::Jars(_) => Origin::Jars,
        }
    }
}

/// Gives a server that answers, starting a container where none is named.
///
/// There is at most one container per process: callers share it while any of
/// them holds an [`Endpoint`]. The first call takes some seconds and blocks, so
/// a harness calls it before its tests and keeps the value until they are done.
/// It needs no async runtime and may be called from one.
///
/// # Errors
///
/// When the named server does not answer, or the container cannot be started.
pub fn endpoint() -> Result<Endpoint, Error> {
    if let Some(url) = given() {
        probe::answers_soon(&url).map_err(|error| {
            Error::with_source(
                format!("{ENDPOINT_VARIABLE} is set, but nothing answers there: {url}"),
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
                        "DynamoDB Local could not be started in a container; start a Docker \
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
/// The folder holds the jars and native libraries of the Maven artifact
/// `com.amazonaws:DynamoDBLocal` and everything that it depends on at run time.
///
/// # Errors
///
/// When `java` is not there, or the program ends or stays silent.
pub fn run_jars(folder: &Path) -> Result<Endpoint, Error> {
    let process = JavaProcess::start(folder)?;
    Ok(Endpoint { url: process.url().to_owned(), server: Server::Jars(Arc::new(process)) })
}

/// Whether the caller of the tests chose to do without this server.
///
/// Tests that need it then say that they did not run; nothing else is a reason
/// to skip them.
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
    fn the_list_of_excluded_servers_is_read_by_whole_names() {
        assert!(names_dynamodb("dynamodb"));
        assert!(names_dynamodb("redis, dynamodb"));
        assert!(!names_dynamodb(""));
        assert!(!names_dynamodb("dynamodb-streams"));
    }
}
