//! HTTP client for presigned requests that carry blobs: it costs little, and treats all servers
//! alike. Requests are signed beforehand; connections stay open.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::embedded::Failure;
use crate::http::client::{Head, Length, LoadRun, Response, unexpected};
use crate::median::{Durations, Stopwatch};

/// Buffer size in bytes.
const ROOM: usize = 256 << 10;

/// Longest body that is sent together with its head, in one write.
const SMALL_BYTES: usize = 64 << 10;

/// Time limit of a turn, many times what the slowest server takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// Encoded request, and the expected length of the body of its response.
#[derive(Clone)]
pub(super) struct Request {
    head: Bytes,
    body: Bytes,
    expected: usize,
}

impl Request {
    pub(super) fn put(
        url: &str,
        headers: &[(String, String)],
        body: Bytes,
    ) -> Result<Self, Failure> {
        let mut lines = format!("Content-Length: {}\r\n", body.len());
        lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")));
        let mut head = head("PUT", url, &lines)?.into_bytes();
        let body = match body.len() <= SMALL_BYTES {
            true => {
                head.extend_from_slice(&body);
                Bytes::new()
            }
            false => body,
        };
        Ok(Self { head: head.into(), body, expected: 0 })
    }

    /// Read of a blob of this length.
    pub(super) fn get(url: &str, expected: usize) -> Result<Self, Failure> {
        Ok(Self { head: head("GET", url, "")?.into(), body: Bytes::new(), expected })
    }
}

fn head(method: &str, url: &str, lines: &str) -> Result<String, Failure> {
    let address = url.strip_prefix("http://").ok_or("the URL does not begin with http://")?;
    let (host, path) = address.split_once('/').ok_or("the URL has no path")?;
    Ok(format!("{method} /{path} HTTP/1.1\r\nHost: {host}\r\n{lines}\r\n"))
}

/// Connection with one request at a time.
pub(super) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(super) async fn open(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(ROOM) })
    }

    /// Sends a request, passes the pieces of the response's body to `see`, and fails unless the
    /// status is 200 and the length is the expected one.
    pub(super) async fn ask(
        &mut self,
        request: &Request,
        mut see: impl FnMut(&[u8]),
    ) -> Result<(), Failure> {
        self.stream.write_all(&request.head).await?;
        self.stream.write_all(&request.body).await?;
        self.buffer.clear();
        let head = loop {
            let seen = self.buffer.len();
            self.more().await?;
            if let Some(head) = Head::find(&self.buffer, seen.saturating_sub(3))? {
                break head;
            }
        };
        let length = match head.length {
            Length::Known(length) => length,
            Length::InParts => return Err("the response has no Content-Length".into()),
        };
        if head.status != 200 {
            while self.buffer.len() < head.end + length {
                self.more().await?;
            }
            let body = &self.buffer[head.end..];
            return Err(unexpected(&Response { status: head.status, body }));
        }
        if length != request.expected {
            let expected = request.expected;
            return Err(format!("the response has {length} bytes, not {expected}").into());
        }
        let mut left = length;
        let mut begin = head.end;
        loop {
            let piece = &self.buffer[begin..];
            left = left
                .checked_sub(piece.len())
                .ok_or("the response is longer than its Content-Length")?;
            see(piece);
            if left == 0 {
                return Ok(());
            }
            self.buffer.clear();
            begin = 0;
            self.more().await?;
        }
    }

    /// Reads into the room behind the buffered bytes.
    async fn more(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

/// Sends the requests on this many connections: each takes the next request after its response, so
/// that all are busy until the end.
pub(super) async fn drive(
    port: u16,
    connections: usize,
    greeting: &Request,
    requests: Vec<Request>,
) -> Result<LoadRun, Failure> {
    let work = drive_without_limit(port, connections, greeting, requests);
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(outcome) => outcome,
        Err(_) => Err(format!("the requests did not end within {PATIENCE:?}").into()),
    }
}

async fn drive_without_limit(
    port: u16,
    connections: usize,
    greeting: &Request,
    requests: Vec<Request>,
) -> Result<LoadRun, Failure> {
    let mut open = Vec::with_capacity(connections);
    for _ in 0..connections {
        // Connecting is not part of the work. The server has accepted the connection once it has
        // responded on it.
        let mut connection = Connection::open(port).await?;
        connection.ask(greeting, |_| ()).await?;
        open.push(connection);
    }
    let requests = Arc::new(requests);
    let next = Arc::new(AtomicUsize::new(0));
    let mut tasks = JoinSet::new();
    let watch = Stopwatch::start();
    for mut connection in open {
        let (requests, next) = (Arc::clone(&requests), Arc::clone(&next));
        tasks.spawn(async move {
            let mut durations = Durations::default();
            while let Some(request) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
                durations.time(connection.ask(request, |_| ())).await?;
            }
            Ok::<_, Failure>(durations)
        });
    }
    let mut durations = Durations::default();
    while let Some(done) = tasks.join_next().await {
        durations.join(done??);
    }
    Ok(LoadRun { seconds: watch.seconds(), durations })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_body_is_sent_with_its_head() {
        let url = "http://127.0.0.1:9000/default/k?X-Amz-Date=1";
        let headers = [("x-amz-checksum-crc64nvme".to_owned(), "sum".to_owned())];
        let put = Request::put(url, &headers, Bytes::from_static(b"abc")).unwrap();
        let text = "PUT /default/k?X-Amz-Date=1 HTTP/1.1\r\nHost: 127.0.0.1:9000\r\n\
                    Content-Length: 3\r\nx-amz-checksum-crc64nvme: sum\r\n\r\nabc";
        assert_eq!((&put.head[..], put.body.len()), (text.as_bytes(), 0));
        let large = Request::put(url, &[], Bytes::from(vec![0; SMALL_BYTES + 1])).unwrap();
        assert_eq!(large.body.len(), SMALL_BYTES + 1);
        assert!(Request::get("https://example", 1).is_err());
    }
}
