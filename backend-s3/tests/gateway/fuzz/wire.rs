//! HTTP client of the tests: it sends bytes as they are, and parses responses strictly.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longest head of a response, in bytes.
const HEAD: usize = 64 << 10;

/// Time after which a gateway that does not respond counts as stuck.
const PATIENCE: Duration = Duration::from_secs(120);

/// HTTP response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// Names in lower case, and values.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// Whether the server keeps the connection open.
    fn is_last(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }
}

/// What follows the bytes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Nothing: the request is complete, and the connection is used again.
    Open,
    /// Nothing, and the connection is not used again: its bytes are more than one request.
    Used,
    /// The end of the connection: the request is incomplete, or may be.
    Closed,
}

/// Connection to a gateway, opened when it is needed.
#[derive(Debug)]
pub(crate) struct Connection {
    address: SocketAddr,
    socket: Option<TcpStream>,
}

impl Connection {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, socket: None }
    }

    /// Sends a request, and returns its response; `None` if the gateway has closed the connection
    /// without one.
    ///
    /// # Panics
    /// The response is malformed, or none arrives.
    pub(crate) async fn exchange(
        &mut self,
        request: &[u8],
        method: &str,
        end: End,
    ) -> Option<Response> {
        if end != End::Open {
            self.socket = None;
        }
        let mut socket = match self.socket.take() {
            Some(socket) => socket,
            None => TcpStream::connect(self.address).await.expect("the gateway listens"),
        };
        let (mut reader, mut writer) = socket.split();
        let send = async {
            // A gateway that refuses a request may close the connection before it has read the body.
            let _ = writer.write_all(request).await;
            if end == End::Closed {
                let _ = writer.shutdown().await;
            }
        };
        let receive = async {
            let mut received = Vec::new();
            loop {
                let count = reader.read_buf(&mut received).await.unwrap_or(0);
                match parse(&received, method, count == 0) {
                    Ok(None) if count == 0 => return None,
                    Ok(None) => {}
                    Ok(Some((response, rest))) => {
                        let is_one = rest == 0 || end != End::Open;
                        assert!(is_one, "{rest} bytes follow a response: {response:?}");
                        return Some(response);
                    }
                    Err(error) => panic!("{error}: {:?}", String::from_utf8_lossy(&received)),
                }
            }
        };
        let both = timeout(PATIENCE, async { tokio::join!(send, receive).1 }).await;
        let response = both.expect("the gateway responds, or closes the connection");
        if end == End::Open && response.as_ref().is_some_and(|response| !response.is_last()) {
            self.socket = Some(socket);
        }
        response
    }
}

/// Parses the first final response of what was received, and counts the bytes behind it; `None` if
/// it is incomplete.
///
/// # Errors
/// It is malformed, or incomplete at the end of the connection.
fn parse(
    mut received: &[u8],
    method: &str,
    is_end: bool,
) -> Result<Option<(Response, usize)>, String> {
    loop {
        let end = received.windows(4).position(|window| window == b"\r\n\r\n");
        let Some(end) = end else {
            return match received.len() {
                0 => Ok(None),
                length if is_end || length > HEAD => Err("the head has no end".to_owned()),
                _ => Ok(None),
            };
        };
        let (head, rest) = (&received[..end], &received[end + 4..]);
        let (status, headers) = parse_head(head)?;
        if status / 100 == 1 {
            received = rest;
            continue;
        }
        let mut response = Response { status, headers, body: Vec::new() };
        let Some(length) = body_length(&mut response, method, rest, is_end)? else {
            return match is_end {
                true => Err("the body has no end".to_owned()),
                false => Ok(None),
            };
        };
        return Ok(Some((response, rest.len() - length)));
    }
}

/// Status and headers.
type Head = (u16, Vec<(String, String)>);

fn parse_head(head: &[u8]) -> Result<Head, String> {
    let head = std::str::from_utf8(head).map_err(|error| error.to_string())?;
    let mut lines = head.split("\r\n");
    let line = lines.next().unwrap_or_default();
    let rest = line.strip_prefix("HTTP/1.1 ").or_else(|| line.strip_prefix("HTTP/1.0 "));
    let (status, _) = rest
        .and_then(|rest| rest.split_once(' '))
        .ok_or_else(|| format!("{line:?} is no status line"))?;
    let is_number = status.len() == 3 && status.bytes().all(|byte| byte.is_ascii_digit());
    let status = status.parse().ok().filter(|_| is_number);
    let status = status.ok_or_else(|| format!("{line:?} has no status"))?;
    let mut headers = Vec::new();
    for line in lines {
        let (name, value) = line.split_once(':').ok_or_else(|| format!("no header: {line:?}"))?;
        let is_token =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if name.is_empty() || !name.bytes().all(is_token) || value.contains(char::is_control) {
            return Err(format!("the header {line:?} is malformed"));
        }
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    Ok((status, headers))
}

/// Reads the body of a response. Returns its length with its framing; `None` if it is incomplete.
fn body_length(
    response: &mut Response,
    method: &str,
    rest: &[u8],
    is_end: bool,
) -> Result<Option<usize>, String> {
    let lengths: Vec<&str> = response
        .headers
        .iter()
        .filter(|(name, _)| name == "content-length")
        .map(|(_, value)| value.as_str())
        .collect();
    let length: Option<usize> = match *lengths {
        [] => None,
        [length] => Some(length.parse().map_err(|_| format!("{length:?} is no length"))?),
        _ => return Err("there are several lengths".to_owned()),
    };
    let coding = response.header("transfer-encoding").map(str::to_owned);
    if method == "HEAD" || matches!(response.status, 204 | 304) {
        return Ok(Some(0));
    }
    match (coding.as_deref(), length) {
        (Some(_), Some(_)) => Err("it has a length and a transfer coding".to_owned()),
        (Some("chunked"), None) => {
            let Some((body, length)) = unchunked(rest)? else { return Ok(None) };
            response.body = body;
            Ok(Some(length))
        }
        (Some(other), None) => Err(format!("the transfer coding {other:?} is unknown")),
        (None, Some(length)) => {
            let Some(body) = rest.get(..length) else { return Ok(None) };
            response.body = body.to_vec();
            Ok(Some(length))
        }
        (None, None) if !is_end => Ok(None),
        (None, None) => {
            response.body = rest.to_vec();
            Ok(Some(rest.len()))
        }
    }
}

/// Decodes HTTP's transfer coding `chunked`. Returns the body and its encoded length; `None` if it
/// is incomplete.
pub(crate) fn unchunked(bytes: &[u8]) -> Result<Option<(Vec<u8>, usize)>, String> {
    let (mut body, mut position) = (Vec::new(), 0);
    loop {
        let rest = &bytes[position..];
        let Some(end) = rest.windows(2).position(|window| window == b"\r\n") else {
            return Ok(None);
        };
        let digits = std::str::from_utf8(&rest[..end]).map_err(|error| error.to_string())?;
        let length = usize::from_str_radix(digits, 16);
        let length = length.map_err(|_| format!("{digits:?} is no length of a chunk"))?;
        let Some(chunk) = rest.get(end + 2..end + 4 + length) else { return Ok(None) };
        if !chunk.ends_with(b"\r\n") {
            return Err("a chunk has no end".to_owned());
        }
        body.extend_from_slice(&chunk[..length]);
        position += end + 4 + length;
        if length == 0 {
            return Ok(Some((body, position)));
        }
    }
}
