//! HTTP client that costs little and treats all servers alike. Requests are encoded beforehand,
//! connections stay open, and only the parts of HTTP are parsed that locate the end of a response.

use std::io;
use std::net::Ipv4Addr;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::request::{self, Expected};
use crate::embedded::Failure;
use crate::median::{Durations, Stopwatch};

/// Buffer size in bytes, large enough to read a page of items with few calls.
const ROOM: usize = 256 << 10;

/// Size limit of a response in bytes.
const MAX_RESPONSE: usize = 16 << 20;

/// Time limit of a turn, many times what the slowest server takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// Connection with one request at a time.
pub(crate) struct Connection {
    stream: TcpStream,
    reader: ResponseReader,
}

/// Response of a server.
pub(crate) struct Response<'a> {
    pub(crate) status: u16,
    pub(crate) body: &'a [u8],
}

impl Connection {
    pub(crate) async fn open(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, reader: ResponseReader::default() })
    }

    pub(crate) async fn ask(&mut self, request: &[u8]) -> io::Result<Response<'_>> {
        self.stream.write_all(request).await?;
        self.reader.next(&mut self.stream).await
    }

    /// Sends a request, and fails unless the response is the expected one.
    pub(crate) async fn expect(
        &mut self,
        request: &[u8],
        expected: Expected,
    ) -> Result<(), Failure> {
        let response = self.ask(request).await?;
        match expected.is_met_by(&response) {
            true => Ok(()),
            false => Err(unexpected(&response)),
        }
    }
}

/// Error that shows the beginning of a response.
pub(crate) fn unexpected(response: &Response<'_>) -> Failure {
    let shown = &response.body[..response.body.len().min(300)];
    format!("unexpected response: {} {}", response.status, String::from_utf8_lossy(shown)).into()
}

/// Seconds of a turn, and the durations of its requests.
pub(crate) struct LoadRun {
    pub(crate) seconds: f64,
    pub(crate) durations: Durations,
}

/// Sends the requests on this many connections: each takes the next request after its response, so
/// that all are busy until the end.
pub(crate) async fn drive(
    port: u16,
    connections: usize,
    requests: Vec<Vec<u8>>,
    expected: Expected,
) -> Result<LoadRun, Failure> {
    let work = drive_without_limit(port, connections, requests, expected);
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(stretch) => stretch,
        Err(_) => Err(format!("the requests did not end within {PATIENCE:?}").into()),
    }
}

async fn drive_without_limit(
    port: u16,
    connections: usize,
    requests: Vec<Vec<u8>>,
    expected: Expected,
) -> Result<LoadRun, Failure> {
    let mut open = Vec::with_capacity(connections);
    let greeting = request::get(port, 0);
    for _ in 0..connections {
        // Connecting is not part of the work. The server has accepted the connection once it has
        // responded on it.
        let mut connection = Connection::open(port).await?;
        connection.expect(&greeting, Expected::Success).await?;
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
                durations.time(connection.expect(request, expected)).await?;
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

/// Reader of responses, one at a time: a server sends nothing before the next request.
struct ResponseReader {
    received: Vec<u8>,
    /// Body that came in chunks, joined.
    joined: Vec<u8>,
}

impl Default for ResponseReader {
    fn default() -> Self {
        Self { received: Vec::with_capacity(ROOM), joined: Vec::new() }
    }
}

impl ResponseReader {
    async fn next(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Response<'_>> {
        self.received.clear();
        let head = loop {
            let seen = self.received.len();
            self.more(stream).await?;
            // The empty line may be split between two reads.
            if let Some(head) = Head::find(&self.received, seen.saturating_sub(3))? {
                break head;
            }
        };
        let body = match head.length {
            Length::Known(length) => {
                let end = head.end + length;
                while self.received.len() < end {
                    self.more(stream).await?;
                }
                &self.received[head.end..end]
            }
            Length::InParts => {
                self.joined.clear();
                let mut at = head.end;
                loop {
                    match part(&self.received, at)? {
                        Some(part) if part.is_empty() => break &self.joined[..],
                        Some(part) => {
                            at = part.end + LINE_END.len();
                            self.joined.extend_from_slice(&self.received[part]);
                        }
                        None => self.more(stream).await?,
                    }
                }
            }
        };
        Ok(Response { status: head.status, body })
    }

    async fn more(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
        if self.received.len() > MAX_RESPONSE {
            return Err(io::Error::other("the response is longer than 16 MB"));
        }
        match stream.read_buf(&mut self.received).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

const LINE_END: &[u8] = b"\r\n";
const HEAD_END: &[u8] = b"\r\n\r\n";

/// Head of a response, as far as it is needed to read the body.
#[derive(Debug, PartialEq)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) length: Length,
    /// Offset of the body.
    pub(crate) end: usize,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Length {
    Known(usize),
    InParts,
}

impl Head {
    /// Parses a head if it is complete; `from` is the earliest offset of its end.
    pub(crate) fn find(received: &[u8], from: usize) -> io::Result<Option<Self>> {
        let Some(end) = position(&received[from..], HEAD_END).map(|found| from + found) else {
            return Ok(None);
        };
        let head = std::str::from_utf8(&received[..end]).map_err(io::Error::other)?;
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let status = status
            .ok_or_else(|| io::Error::other(format!("the response has no status: {head}")))?;
        let mut length = None;
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            if name.eq_ignore_ascii_case("content-length") {
                length = Some(Length::Known(value.trim().parse().map_err(io::Error::other)?));
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                length = Some(Length::InParts);
            }
        }
        let length = length
            .ok_or_else(|| io::Error::other(format!("the response has no length: {head}")))?;
        Ok(Some(Self { status, length, end: end + HEAD_END.len() }))
    }
}

/// Range of the chunk that begins at `at` with its length; `None` if it is incomplete. The last
/// chunk is empty.
fn part(received: &[u8], at: usize) -> io::Result<Option<Range<usize>>> {
    let Some(rest) = received.get(at..) else { return Ok(None) };
    let Some(line) = position(rest, LINE_END) else { return Ok(None) };
    let size = std::str::from_utf8(&rest[..line]).map_err(io::Error::other)?;
    let size = size.split(';').next().unwrap_or_default().trim();
    let size = usize::from_str_radix(size, 16).map_err(io::Error::other)?;
    if size > MAX_RESPONSE {
        return Err(io::Error::other("the response is longer than 16 MB"));
    }
    let begin = at + line + LINE_END.len();
    let is_whole = received.len() >= begin + size + LINE_END.len();
    Ok(is_whole.then_some(begin..begin + size))
}

fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends the pieces one by one, as a network may.
    async fn received(pieces: &[&'static str]) -> io::Result<(u16, String)> {
        let (mut server, mut client) = tokio::io::duplex(1);
        let pieces: Vec<_> = pieces.to_vec();
        let writer = tokio::spawn(async move {
            for piece in pieces {
                server.write_all(piece.as_bytes()).await?;
            }
            Ok::<_, io::Error>(())
        });
        let mut reader = ResponseReader::default();
        let response = reader.next(&mut client).await?;
        let body = String::from_utf8(response.body.to_vec()).map_err(io::Error::other)?;
        let response = (response.status, body);
        writer.await??;
        Ok(response)
    }

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    }

    #[test]
    fn content_length_ends_response() {
        let response = block_on(received(&["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"]));
        assert_eq!(response.unwrap(), (200, "{}".to_owned()));
        let response = block_on(received(&[
            "HTTP/1.1 400 Bad Request\r\ncontent-length:0\r\nDate: x\r\n\r\n",
        ]));
        assert_eq!(response.unwrap(), (400, String::new()));
    }

    #[test]
    fn chunked_response_is_joined() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let response = block_on(received(&[
            head,
            "3\r\n{\"a\r\n",
            "B;x=1\r\n\":\"bcdefghi\r\n",
            "2\r\n\"}\r\n0\r\n\r\n",
        ]));
        assert_eq!(response.unwrap(), (200, "{\"a\":\"bcdefghi\"}".to_owned()));
    }

    #[test]
    fn truncated_response_and_missing_length_are_errors() {
        for pieces in [
            "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nContent-",
            "HTTP/1.1 200 OK\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n{}",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "hello\r\nContent-Length: 2\r\n\r\n{}",
            "",
        ] {
            assert!(block_on(received(&[pieces])).is_err(), "{pieces}");
        }
    }
}
