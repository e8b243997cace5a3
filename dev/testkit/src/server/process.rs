//! Server as a child process.

use std::fs;
use std::io;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::ServerKind;
use crate::Error;

/// Attempts with different ports: another program may take a port before the server does.
const ATTEMPTS: usize = 3;

/// Command that starts a server, and the folder with its data.
pub(crate) struct Launch {
    pub(crate) command: Command,
    pub(crate) data: Option<DataFolder>,
}

/// Running process, killed on drop.
#[derive(Debug)]
pub(crate) struct ChildProcess {
    url: String,
    child: Child,
    /// Dropped after the process has ended.
    _data: Option<DataFolder>,
}

impl ChildProcess {
    pub(super) fn start(
        kind: &ServerKind,
        launch: impl Fn(u16) -> Result<Launch, Error>,
    ) -> Result<Self, Error> {
        let mut last = Error::new(format!("{} was not started", kind.name));
        for _ in 0..ATTEMPTS {
            match Self::start_once(kind, &launch) {
                Ok(process) => return Ok(process),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    fn start_once(
        kind: &ServerKind,
        launch: impl Fn(u16) -> Result<Launch, Error>,
    ) -> Result<Self, Error> {
        let port =
            free_port().map_err(|error| Error::with_source("cannot find a free port", error))?;
        let Launch { mut command, data } = launch(port)?;
        // The banner of the server is discarded, because standard output belongs to the caller.
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().map_err(|error| {
                let program = command.get_program().display();
                let message = match command.get_current_dir() {
                    Some(folder) => format!("cannot run `{program}` in {}", folder.display()),
                    None => format!("cannot run `{program}`"),
                };
                Error::with_source(message, error)
            })?;
        let mut process = Self { url: format!("http://127.0.0.1:{port}"), child, _data: data };
        let child = &mut process.child;
        let still_running = || match child.try_wait()? {
            None => Ok(()),
            Some(status) => Err(io::Error::other(format!("the process ended with {status}"))),
        };
        kind.probe.ready(&process.url, still_running).map_err(|error| {
            Error::with_source(
                format!("the process of {} does not respond at {}", kind.name, process.url),
                error,
            )
        })?;
        Ok(process)
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        // The data is not kept, so the server needs no orderly shutdown. Both calls fail only if it
        // has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Folder with the data of a server, deleted on drop.
#[derive(Debug)]
pub(crate) struct DataFolder(PathBuf);

impl DataFolder {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self(folder)
    }
}

impl Drop for DataFolder {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0)
            && error.kind() != io::ErrorKind::NotFound
        {
            eprintln!("cannot delete the folder {}: {error}", self.0.display());
        }
    }
}

/// Port that is free at the moment. DynamoDB Local rejects port 0.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::io::Write;
    use std::net::TcpStream;
    use std::sync::{Mutex, Weak};

    use super::super::Probe;
    use super::*;

    const PORT_VARIABLE: &str = "TABLA_TESTKIT_PORT";

    static KIND: ServerKind = ServerKind {
        name: "the server of this test",
        short_name: "test",
        endpoint_variable: "TABLA_TESTKIT_ENDPOINT",
        image: "test",
        tag: "1",
        version: "1",
        port: 1,
        configure: Into::into,
        probe: Probe {
            operation: "Ping",
            request: |_| "PING\r\n".to_owned(),
            is_ready: |status, _| status == "200",
        },
        shared: Mutex::new(Weak::new()),
    };

    /// Server of the tests below, which start it as a child process. By itself it serves nothing.
    #[test]
    fn serve() {
        let Ok(port) = env::var(PORT_VARIABLE) else { return };
        let port: u16 = port.parse().unwrap();
        for stream in TcpListener::bind(("127.0.0.1", port)).unwrap().incoming() {
            stream.unwrap().write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
        }
    }

    /// Command that runs this test program with only the test `name`.
    fn only(name: &str, port: u16) -> Command {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args([&format!("server::process::tests::{name}"), "--exact"]);
        command.env(PORT_VARIABLE, port.to_string());
        command
    }

    #[test]
    fn process_and_its_data_are_removed_on_drop() {
        let folder = env::temp_dir().join(format!("tabla-testkit-{}", std::process::id()));
        let process = ChildProcess::start(&KIND, |port| {
            fs::create_dir_all(folder.join("buckets")).unwrap();
            let data = Some(DataFolder::new(folder.clone()));
            Ok(Launch { command: only("serve", port), data })
        })
        .unwrap();
        let address = process.url().strip_prefix("http://").unwrap().to_owned();
        assert!(TcpStream::connect(&address).is_ok());
        assert!(folder.join("buckets").is_dir());
        drop(process);
        assert!(TcpStream::connect(&address).is_err());
        assert!(!folder.exists());
    }

    #[test]
    fn process_that_ends_is_an_error_with_its_exit_status() {
        let error = ChildProcess::start(&KIND, |port| {
            Ok(Launch { command: only("no_such_test", port), data: None })
        })
        .unwrap_err();
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.starts_with("the process ended with"), "{cause}");
    }

    #[test]
    fn missing_program_is_named() {
        let error = ChildProcess::start(&KIND, |_| {
            Ok(Launch { command: Command::new("no-such-program"), data: None })
        })
        .unwrap_err();
        assert_eq!(error.to_string(), "cannot run `no-such-program`");
    }
}
