//! HTTP client for the wire protocol that can misbehave: partial requests, unread responses.

use std::io;
use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// Connection that stays open between requests.
pub(crate) struct Connection {
    stream: TcpStream,
    /// Received bytes that are not yet parsed.
    received: Vec<u8>,
}

/// HTTP response.
pub(crate) struct Response {
    pub(crate) status: u16,
    /// Status line and headers, in lower case.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self::over(stream))
    }

    fn over(stream: TcpStream) -> Self {
        Self { stream, received: Vec::new() }
    }

    /// Opens a connection with a receive buffer of 4 KB, and sends a request. Reads no response.
    pub(crate) async fn unread(address: SocketAddr, request: &[u8]) -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(4 << 10)?;
        let mut connection = Self::over(socket.connect(address).await?);
        connection.send(request).await?;
        Ok(connection)
    }

    /// Sends a request for an operation, and reads the response.
    pub(crate) async fn ask(&mut self, operation: &str, body: &Value) -> io::Result<Response> {
        self.send(&request(operation, body)).await?;
        self.response().await
    }

    /// Sends a GET request, and reads the response.
    pub(crate) async fn look(&mut self, path: &str) -> io::Result<Response> {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).await?;
        self.response().await
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// Reads the next response.
    ///
    /// # Errors
    /// The server has closed the connection, or the response is not HTTP.
    pub(crate) async fn response(&mut self) -> io::Result<Response> {
        let end = loop {
            if let Some(end) = self.received.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end + 4;
            }
            self.more().await?;
        };
        let head = String::from_utf8_lossy(&self.received[..end]).to_lowercase();
        let broken = || io::Error::new(io::ErrorKind::InvalidData, format!("no response: {head}"));
        let status =
            head.split(' ').nth(1).and_then(|text| text.parse().ok()).ok_or_else(broken)?;
        let length = match header(&head, "content-length") {
            Some(text) => text.parse().map_err(|_| broken())?,
            None => 0,
        };
        while self.received.len() < end + length {
            self.more().await?;
        }
        let rest = self.received.split_off(end + length);
        let body = std::mem::replace(&mut self.received, rest).split_off(end);
        Ok(Response { status, head, body })
    }

    async fn more(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.received).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

impl Response {
    /// Returns the body, and checks that the status is 200.
    pub(crate) fn expect(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        self.json()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    /// Returns the name of the exception, or `OK` if the status is 200.
    pub(crate) fn code(&self) -> String {
        if self.status == 200 {
            return "OK".to_owned();
        }
        let body = self.json();
        let kind = body["__type"].as_str().unwrap_or_else(|| panic!("no exception: {body}"));
        kind.rsplit('#').next().unwrap_or(kind).to_owned()
    }
}

/// Returns the bytes of an unsigned request.
pub(crate) fn request(operation: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    (head(operation, body.len()) + &body).into_bytes()
}

/// Returns the head of an unsigned request with a body of `length` bytes.
pub(crate) fn head(operation: &str, length: usize) -> String {
    format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n\
         X-Amz-Target: DynamoDB_20120810.{operation}\r\nContent-Length: {length}\r\n\r\n"
    )
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
}
