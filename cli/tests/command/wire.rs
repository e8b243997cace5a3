//! The wire protocol by hand: a client that may also misbehave, which those of others do not.

use std::io;
use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// A connection that stays open from request to request.
pub(crate) struct Connection {
    stream: TcpStream,
    /// What has come and was not looked at.
    received: Vec<u8>,
}

/// What a server said.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The status line and the headers, in lower case.
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

    /// One with little room for what comes, on which this is asked and nothing is read.
    pub(crate) async fn unread(address: SocketAddr, request: &[u8]) -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(4 << 10)?;
        let mut connection = Self::over(socket.connect(address).await?);
        connection.send(request).await?;
        Ok(connection)
    }

    /// Asks for an operation.
    pub(crate) async fn ask(&mut self, operation: &str, body: &Value) -> io::Result<Answer> {
        self.send(&request(operation, body)).await?;
        self.answer().await
    }

    /// Asks as a browser or a monitor does.
    pub(crate) async fn look(&mut self, path: &str) -> io::Result<Answer> {
        self.send(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).await?;
        self.answer().await
    }

    pub(crate) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// The next answer. That the server has closed the connection is an error.
    pub(crate) async fn answer(&mut self) -> io::Result<Answer> {
        let end = loop {
            if let Some(end) = self.received.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end + 4;
            }
            self.more().await?;
        };
        let head = String::from_utf8_lossy(&self.received[..end]).to_lowercase();
        let broken = || io::Error::new(io::ErrorKind::InvalidData, format!("no answer: {head}"));
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
        Ok(Answer { status, head, body })
    }

    async fn more(&mut self) -> io::Result<()> {
        match self.stream.read_buf(&mut self.received).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

impl Answer {
    /// The body of an answer to an operation that succeeded.
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

    /// The name of the exception, `OK` if there is none.
    pub(crate) fn code(&self) -> String {
        if self.status == 200 {
            return "OK".to_owned();
        }
        let body = self.json();
        let kind = body["__type"].as_str().unwrap_or_else(|| panic!("no exception: {body}"));
        kind.rsplit('#').next().unwrap_or(kind).to_owned()
    }
}

/// A request that nobody has signed.
pub(crate) fn request(operation: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    (head(operation, body.len()) + &body).into_bytes()
}

/// The head of a request with a body of this length.
pub(crate) fn head(operation: &str, length: usize) -> String {
    format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-amz-json-1.0\r\n\
         X-Amz-Target: DynamoDB_20120810.{operation}\r\nContent-Length: {length}\r\n\r\n"
    )
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| Some(line.strip_prefix(name)?.strip_prefix(':')?.trim()))
}
