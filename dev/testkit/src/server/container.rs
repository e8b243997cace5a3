//! Server in a container, started through testcontainers.

use std::io;
use std::net::{IpAddr, Ipv4Addr, TcpListener, ToSocketAddrs};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use testcontainers::core::IntoContainerPort;
use testcontainers::runners::AsyncRunner;
use testcontainers::{ContainerAsync, GenericImage};
use tokio::runtime::Runtime;

use super::ServerKind;
use crate::Error;

/// Number of lines of the container's log in an error.
const LOG_LINES: usize = 20;

/// Running container, removed on drop.
///
/// A separate thread with a runtime of its own owns it: each test has its own runtime, and a
/// container that belonged to the first one would lose its connection to the engine when that
/// runtime ends.
#[derive(Debug)]
pub(crate) struct Container {
    url: String,
    /// Dropped to make the owner remove the container.
    stop: Option<Sender<()>>,
    owner: Option<JoinHandle<()>>,
}

impl Container {
    pub(super) fn start(kind: &'static ServerKind) -> Result<Self, Error> {
        let (started, start) = mpsc::channel();
        let (stop, stopped) = mpsc::channel();
        let owner = thread::Builder::new()
            .name(format!("container of {}", kind.name))
            .spawn(move || own(kind, &started, &stopped))
            .map_err(|error| {
                Error::with_source("cannot start a thread for the container", error)
            })?;
        let url = start
            .recv()
            .map_err(|error| Error::with_source("the container's thread ended early", error))??;
        Ok(Self { url, stop: Some(stop), owner: Some(owner) })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(owner) = self.owner.take() {
            // A panic of the owner has been printed already.
            let _ = owner.join();
        }
    }
}

/// Starts the container, sends its address, and removes it when `stopped` is disconnected.
fn own(kind: &ServerKind, started: &Sender<Result<String, Error>>, stopped: &Receiver<()>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = started.send(Err(Error::with_source("cannot start a tokio runtime", error)));
            return;
        }
    };
    // testcontainers cleans up on drop, which needs a current runtime.
    let _entered = runtime.enter();
    let container = match runtime.block_on(create(kind)) {
        Ok(container) => container,
        Err(error) => {
            let _ = started.send(Err(Error::with_source(
                format!("container {} did not start", kind.tagged_image()),
                error,
            )));
            return;
        }
    };
    let announced = started.send(wait_until_ready(kind, &runtime, &container));
    if announced.is_ok() {
        // No message is ever sent: this returns when the sender is dropped.
        let _ = stopped.recv();
    }
    if let Err(error) = runtime.block_on(container.rm()) {
        eprintln!("cannot remove the container of {}: {error}", kind.name);
    }
}

async fn create(
    kind: &ServerKind,
) -> testcontainers::core::error::Result<ContainerAsync<GenericImage>> {
    let image = GenericImage::new(kind.image, kind.tag).with_exposed_port(kind.port.tcp());
    (kind.configure)(image).start().await
}

fn wait_until_ready(
    kind: &ServerKind,
    runtime: &Runtime,
    container: &ContainerAsync<GenericImage>,
) -> Result<String, Error> {
    let image = kind.tagged_image();
    let url = runtime.block_on(address(kind, container)).map_err(|error| {
        Error::with_source(format!("no port of container {image} is reachable"), error)
    })?;
    let still_running = || match runtime.block_on(container.is_running()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(io::Error::other("the container ended")),
        Err(error) => Err(io::Error::other(error)),
    };
    kind.probe.ready(&url, still_running).map_err(|error| {
        let log = runtime.block_on(log(container));
        Error::with_source(
            format!("container {image} does not respond at {url}; its log ends:\n{log}"),
            error,
        )
    })?;
    Ok(url)
}

/// URL of the container with a numeric address: `localhost` can be an IPv6 address too, and only
/// the IPv4 port is known.
async fn address(
    kind: &ServerKind,
    container: &ContainerAsync<GenericImage>,
) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let host = container.get_host().await?.to_string();
    let port = container.get_host_port_ipv4(kind.port).await?;
    let address = (host.as_str(), port)
        .to_socket_addrs()?
        .map(|address| address.ip())
        .find(IpAddr::is_ipv4)
        .ok_or_else(|| format!("the engine's host has no IPv4 address: {host}"))?;
    Ok(format!("http://{}:{port}", as_seen_from_here(address)))
}

/// Address of the engine's host as reached from this process: loopback if it is this machine.
///
/// Inside a container testcontainers returns the gateway of the engine's network, which is correct
/// for an engine on another host. An engine on this host publishes its ports on our loopback
/// address too.
fn as_seen_from_here(address: IpAddr) -> IpAddr {
    let is_ours = TcpListener::bind((address, 0)).is_ok();
    if is_ours { Ipv4Addr::LOCALHOST.into() } else { address }
}

async fn log(container: &ContainerAsync<GenericImage>) -> String {
    let mut text = container.stdout_to_vec().await.unwrap_or_default();
    text.extend(container.stderr_to_vec().await.unwrap_or_default());
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
}

// On other systems 127.0.0.2 is not an address of the machine.
#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn engine_on_this_machine_is_reached_over_loopback() {
        let ours = Ipv4Addr::new(127, 0, 0, 2).into();
        assert_eq!(as_seen_from_here(ours), Ipv4Addr::LOCALHOST);
        // From a range reserved for documentation.
        let elsewhere = IpAddr::from([192, 0, 2, 1]);
        assert_eq!(as_seen_from_here(elsewhere), elsewhere);
    }
}
