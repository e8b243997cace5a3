//! Readiness probe of a server.
//!
//! A server may accept connections before it answers requests, and a published container port
//! accepts them from the start. So the probe sends a request and waits for a valid response.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// Pause between two probes.
const PAUSE: Duration = Duration::from_millis(100);

/// Time limit of a connection, a write or a read.
const PATIENCE: Duration = Duration::from_secs(5);

/// Number of probes of a server that has just been started. A cold Java start on a loaded machine
/// takes up to ten seconds; refused connections fail at once.
const STARTING: usize = 600;

/// Number of probes of a server that is expected to run already.
const GIVEN: usize = 20;

/// Size limit of the response in bytes, more than any probed operation returns.
const LONGEST_ANSWER: u64 = 1 << 20;

/// Request that a running server answers, and the check of its response.
pub(crate) struct Probe {
    /// Name of the operation in errors.
    pub(crate) operation: &'static str,
    /// Makes the HTTP request for a host and port. The server must close the connection after it.
    pub(crate) request: fn(&str) -> String,
    /// Whether a response with this status code and text proves that the server is ready.
    pub(crate) is_ready: fn(&str, &str) -> bool,
}

impl Probe {
    /// Waits until a server that has just been started responds.
    ///
    /// `still_running` is called before each probe: a server that has ended is reported at once,
    /// and is not confused with another one on its port.
    pub(super) fn ready(
        &self,
        url: &str,
        mut still_running: impl FnMut() -> io::Result<()>,
    ) -> io::Result<()> {
        self.ask(url, STARTING, &mut still_running)
    }

    /// Checks that a server responds that is expected to run already.
    ///
    /// Only plain `http` is probed. Other addresses are not checked: TLS and credentials are first
    /// needed in the caller's first request.
    pub(super) fn answers_soon(&self, url: &str) -> io::Result<()> {
        if !url.starts_with("http://") {
            return Ok(());
        }
        self.ask(url, GIVEN, &mut || Ok(()))
    }

    fn ask(
        &self,
        url: &str,
        questions: usize,
        still_running: &mut dyn FnMut() -> io::Result<()>,
    ) -> io::Result<()> {
        let mut last = io::Error::other("the server was not probed");
        for _ in 0..questions {
            still_running()?;
            match self.ask_once(url) {
                Ok(()) => return Ok(()),
                Err(error) => last = error,
            }
            pause();
        }
        Err(last)
    }

    fn ask_once(&self, url: &str) -> io::Result<()> {
        let authority = authority(url)?;
        let mut stream = connect(&authority)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.write_all((self.request)(&authority).as_bytes())?;
        let mut response = Vec::new();
        stream.take(LONGEST_ANSWER).read_to_end(&mut response)?;
        self.check(&String::from_utf8_lossy(&response))
    }

    /// Checks an HTTP response.
    pub(crate) fn check(&self, response: &str) -> io::Result<()> {
        let status_line = response.lines().next().unwrap_or_default();
        let status = status_line.split(' ').nth(1).unwrap_or_default();
        if (self.is_ready)(status, response) {
            return Ok(());
        }
        Err(io::Error::other(format!("{} returned {status_line:?}", self.operation)))
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a real server starts in real time, which no test clock moves"
)]
fn pause() {
    std::thread::sleep(PAUSE);
}

fn connect(authority: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::other(format!("{authority} has no address"));
    for address in authority.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Host and port of an `http` URL.
fn authority(url: &str) -> io::Result<String> {
    let rest = url
        .strip_prefix("http://")
        .ok_or_else(|| io::Error::other(format!("not an http address: {url}")))?;
    let authority = rest.split('/').next().unwrap_or_default();
    let has_port = authority
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok() && !authority.ends_with(']'));
    Ok(if has_port { authority.to_owned() } else { format!("{authority}:80") })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    #[test]
    fn url_without_port_has_default_port() {
        for (url, expected) in [
            ("http://127.0.0.1:8000", "127.0.0.1:8000"),
            ("http://localhost/", "localhost:80"),
            ("http://[::1]:8000/x", "[::1]:8000"),
            ("http://[::1]", "[::1]:80"),
        ] {
            assert_eq!(authority(url).unwrap(), expected, "{url}");
        }
        assert!(authority("dynamodb://127.0.0.1:8000").is_err());
    }

    const PING: Probe = Probe {
        operation: "Ping",
        request: |authority| format!("GET /ping HTTP/1.1\r\nHost: {authority}\r\n\r\n"),
        is_ready: |status, response| status == "200" && response.ends_with("pong"),
    };

    #[test]
    fn server_is_ready_when_it_returns_the_expected_response() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            for response in ["", "HTTP/1.1 503 Starting\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\npong"] {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    let mut part = [0; 1024];
                    let read = stream.read(&mut part).unwrap();
                    assert_ne!(read, 0, "the request was cut off");
                    request.extend_from_slice(&part[..read]);
                }
                assert!(request.starts_with(b"GET /ping"));
                stream.write_all(response.as_bytes()).unwrap();
            }
        });
        let mut probes = 0;
        let counted = || {
            probes += 1;
            Ok(())
        };
        PING.ready(&url, counted).unwrap();
        assert_eq!(probes, 3);
        server.join().unwrap();
    }

    #[test]
    fn unexpected_response_is_an_error_with_its_status_line() {
        let error = PING.check("HTTP/1.1 404 Not Found\r\n\r\n").unwrap_err();
        assert_eq!(error.to_string(), "Ping returned \"HTTP/1.1 404 Not Found\"");
    }

    #[test]
    fn ended_server_is_not_probed_again() {
        let mut asked = 0;
        let result = PING.ready("http://127.0.0.1:9", || {
            asked += 1;
            Err(io::Error::other("the server ended"))
        });
        assert_eq!(result.unwrap_err().to_string(), "the server ended");
        assert_eq!(asked, 1);
    }
}
