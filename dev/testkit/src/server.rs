//! Part that all servers share: a server is named by a variable, or started once per process.

pub(crate) mod container;
pub(crate) mod probe;
pub(crate) mod process;

use std::env;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use testcontainers::{ContainerRequest, GenericImage};

use crate::Error;

use container::Container;
pub(crate) use probe::Probe;
use process::{ChildProcess, Launch};

/// Environment variable that lists the servers and clients to leave out, separated by commas.
///
/// `cargo xtask test --without dynamodb` sets it; see [`dynamodb::is_excluded`],
/// [`versitygw::is_excluded`] and [`clients::are_excluded`].
///
/// [`clients::are_excluded`]: crate::clients::are_excluded
/// [`dynamodb::is_excluded`]: crate::dynamodb::is_excluded
/// [`versitygw::is_excluded`]: crate::versitygw::is_excluded
pub const WITHOUT_VARIABLE: &str = "TABLA_WITHOUT";

/// Description of a server: its program, image and readiness probe.
pub(crate) struct ServerKind {
    /// Name of the program in messages.
    pub(crate) name: &'static str,
    /// Name in [`WITHOUT_VARIABLE`], and of the task of `cargo xtask` that runs the server.
    pub(crate) short_name: &'static str,
    /// Environment variable that names a server to use.
    pub(crate) endpoint_variable: &'static str,
    /// Name of the container image, without its tag.
    pub(crate) image: &'static str,
    pub(crate) tag: &'static str,
    pub(crate) version: &'static str,
    /// Port inside the container.
    pub(crate) port: u16,
    /// Adds command line and environment to the image.
    pub(crate) configure: fn(GenericImage) -> ContainerRequest<GenericImage>,
    pub(crate) probe: Probe,
    /// Container of this process, shared by all its endpoints.
    pub(crate) shared: Mutex<Weak<Container>>,
}

/// Way by which a server was found or started.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// Server named by an environment variable, which this process neither starts nor stops.
    Given {
        /// Name of the variable.
        variable: &'static str,
    },
    /// Container that this process started.
    Container {
        /// Image with its tag.
        image: String,
    },
    /// Child process that this process started.
    ChildProcess {
        /// Name and version of the program.
        program: String,
    },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given { variable } => write!(f, "the server that {variable} names"),
            Self::Container { image } => write!(f, "container {image}"),
            Self::ChildProcess { program } => write!(f, "{program} as a child process"),
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
    origin: Origin,
    _running: Running,
}

#[derive(Clone, Debug)]
enum Running {
    Given,
    Container(#[expect(dead_code, reason = "held to keep it running")] Arc<Container>),
    ChildProcess(#[expect(dead_code, reason = "held to keep it running")] Arc<ChildProcess>),
}

impl Endpoint {
    /// URL of the server: scheme, host and port.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Way by which this server was found or started.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }
}

impl ServerKind {
    /// Returns the named server, or the container of this process.
    pub(crate) fn endpoint(&'static self) -> Result<Endpoint, Error> {
        let variable = self.endpoint_variable;
        if let Some(url) = address_in(env::var(variable).ok()) {
            self.probe.answers_soon(&url).map_err(|error| {
                Error::with_source(
                    format!(
                        "no {} responds at {url}; start one there, or unset {variable}",
                        self.name
                    ),
                    error,
                )
            })?;
            let origin = Origin::Given { variable };
            return Ok(Endpoint { url, origin, _running: Running::Given });
        }
        let container = self.container()?;
        Ok(Endpoint {
            url: container.url().to_owned(),
            origin: Origin::Container { image: self.tagged_image() },
            _running: Running::Container(container),
        })
    }

    /// Runs the server as a child process. `launch` makes its command for a port of this machine.
    pub(crate) fn run(
        &self,
        launch: impl Fn(u16) -> Result<Launch, Error>,
    ) -> Result<Endpoint, Error> {
        let process = ChildProcess::start(self, launch)?;
        Ok(Endpoint {
            url: process.url().to_owned(),
            origin: Origin::ChildProcess { program: format!("{} {}", self.name, self.version) },
            _running: Running::ChildProcess(Arc::new(process)),
        })
    }

    /// Whether [`WITHOUT_VARIABLE`] lists this server.
    pub(crate) fn is_excluded(&self) -> bool {
        is_excluded(self.short_name)
    }

    /// Image with its tag.
    pub(crate) fn tagged_image(&self) -> String {
        format!("{}:{}", self.image, self.tag)
    }

    fn container(&'static self) -> Result<Arc<Container>, Error> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(container) = shared.upgrade() {
            return Ok(container);
        }
        let container = Arc::new(Container::start(self).map_err(|error| {
            Error::with_source(
                format!(
                    "cannot start {} in a container; start a Docker engine, or run the tests with \
                     `cargo xtask test`, or start a server with `cargo xtask {}` and set {} to its \
                     address",
                    self.name, self.short_name, self.endpoint_variable
                ),
                error,
            )
        })?);
        *shared = Arc::downgrade(&container);
        Ok(container)
    }
}

/// Whether [`WITHOUT_VARIABLE`] lists this name.
pub(crate) fn is_excluded(name: &str) -> bool {
    env::var(WITHOUT_VARIABLE).is_ok_and(|list| lists(&list, name))
}

fn lists(list: &str, server: &str) -> bool {
    list.split(',').any(|name| name.trim() == server)
}

/// Address in the value of a variable. An empty value counts as unset.
fn address_in(value: Option<String>) -> Option<String> {
    let value = value?;
    let url = value.trim().trim_end_matches('/');
    (!url.is_empty()).then(|| url.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_of_excluded_servers_matches_whole_names() {
        assert!(lists("dynamodb", "dynamodb"));
        assert!(lists("strace, s3", "s3"));
        assert!(!lists("", "s3"));
        assert!(!lists("dynamodb-streams", "dynamodb"));
    }

    #[test]
    fn empty_address_counts_as_unset() {
        let address = |value: &str| address_in(Some(value.to_owned()));
        assert_eq!(address(" http://127.0.0.1:7070/ ").as_deref(), Some("http://127.0.0.1:7070"));
        assert_eq!(address(" "), None);
        assert_eq!(address_in(None), None);
    }
}
