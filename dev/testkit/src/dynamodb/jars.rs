//! DynamoDB Local as a child process.

use std::io;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::{JVM_OPTIONS, MAIN_CLASS, SERVER_OPTIONS, probe};
use crate::Error;

/// Attempts with different ports: another program may take a port before Java does.
const ATTEMPTS: usize = 3;

/// Running Java process, killed on drop.
#[derive(Debug)]
pub(super) struct JavaProcess {
    url: String,
    child: Child,
}

impl JavaProcess {
    pub(super) fn start(folder: &Path) -> Result<Self, Error> {
        let mut last = Error::new("DynamoDB Local was not started");
        for _ in 0..ATTEMPTS {
            match Self::start_once(folder) {
                Ok(process) => return Ok(process),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    fn start_once(folder: &Path) -> Result<Self, Error> {
        let port =
            free_port().map_err(|error| Error::with_source("cannot find a free port", error))?;
        // `java` runs in the folder, so that the class path contains no path with a space or a
        // colon. The banner of the server is discarded, because standard output belongs to the
        // caller.
        let child = Command::new("java")
            .args(JVM_OPTIONS)
            .args(["-Djava.library.path=.", "-cp", "*", MAIN_CLASS])
            .args(SERVER_OPTIONS)
            .args(["-port", &port.to_string()])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| {
                Error::with_source(format!("cannot run `java` in {}", folder.display()), error)
            })?;
        let mut process = Self { url: format!("http://127.0.0.1:{port}"), child };
        let child = &mut process.child;
        let still_running = || match child.try_wait()? {
            None => Ok(()),
            Some(status) => Err(io::Error::other(format!("the Java process ended with {status}"))),
        };
        probe::ready(&process.url, still_running).map_err(|error| {
            Error::with_source(
                format!("the Java process does not respond at {}", process.url),
                error,
            )
        })?;
        Ok(process)
    }
}

impl Drop for JavaProcess {
    fn drop(&mut self) {
        // The server stores nothing, so it needs no orderly shutdown. Both calls fail only if it
        // has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Port that is free at the moment. DynamoDB Local rejects port 0.
fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
