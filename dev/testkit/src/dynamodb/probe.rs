//! Readiness probe of a server.
//!
//! DynamoDB Local logs that it listens more than a second before it answers, and a published
//! container port accepts connections from the start. So the probe sends ListTables and waits for a
//! valid response.

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

/// Size limit of the response in bytes. A page of ListTables has at most 100 names.
const LONGEST_ANSWER: u64 = 1 << 20;

/// Waits until a server that has just been started responds.
///
/// `still_running` is called before each probe: a server that has ended is reported at once, and is
/// not confused with another one on its port.
pub(super) fn ready(
    url: &str,
    mut still_running: impl FnMut() -> io::Result<()>,
) -> io::Result<()> {
    ask(url, STARTING, &mut still_running)
}

/// Checks that a server responds that is expected to run already.
///
/// Only plain `http` is probed. Other addresses are not checked: TLS and credentials are first
/// needed in the caller's first request.
pub(super) fn answers_soon(url: &str) -> io::Result<()> {
    if !url.starts_with("http://") {
        return Ok(());
    }
    ask(url, GIVEN, &mut || Ok(()))
}

fn ask(
    url: &str,
    questions: usize,
    still_running: &mut dyn FnMut() -> io::Result<()>,
) -> io::Result<()> {
    let mut last = io::Error::other("the server was not probed");
    for _ in 0..questions {
        still_running()?;
        match list_tables(url) {
            Ok(()) => return Ok(()),
            Err(error) => last = error,
        }
        pause();
    }
    Err(last)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a real server starts in real time, which no test clock moves"
)]
fn pause() {
    std::thread::sleep(PAUSE);
}

fn list_tables(url: &str) -> io::Result<()> {
    let authority = authority(url)?;
    let mut stream = connect(&authority)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // DynamoDB Local reads the key id and the region from the Authorization header, and checks no
    // signature.
    let request = format!(
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
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = Vec::new();
    stream.take(LONGEST_ANSWER).read_to_end(&mut answer)?;
    let answer = String::from_utf8_lossy(&answer);
    let status = answer.lines().next().unwrap_or_default();
    if status.split(' ').nth(1) == Some("200") && answer.contains("\"TableNames\"") {
        return Ok(());
    }
    Err(io::Error::other(format!("ListTables returned {status:?}")))
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

    #[test]
    fn only_a_list_of_tables_counts_as_ready() {
        for (answer, ready) in [
            ("HTTP/1.1 200 OK\r\n\r\n{\"TableNames\":[]}", true),
            ("HTTP/1.1 200 OK\r\n\r\n<html>", false),
            ("HTTP/1.1 400 Bad Request\r\n\r\n{\"TableNames\":[]}", false),
            ("", false),
        ] {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let url = format!("http://{}", listener.local_addr().unwrap());
            let server = thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n{}") {
                    let mut part = [0; 1024];
                    let read = stream.read(&mut part).unwrap();
                    assert_ne!(read, 0, "the request was cut off");
                    request.extend_from_slice(&part[..read]);
                }
                stream.write_all(answer.as_bytes()).unwrap();
            });
            assert_eq!(list_tables(&url).is_ok(), ready, "{answer:?}");
            server.join().unwrap();
        }
    }

    #[test]
    fn ended_server_is_not_probed_again() {
        let mut asked = 0;
        let result = ready("http://127.0.0.1:9", || {
            asked += 1;
            Err(io::Error::other("the server ended"))
        });
        assert_eq!(result.unwrap_err().to_string(), "the server ended");
        assert_eq!(asked, 1);
    }
}
