//! A raw HTTP client, which sends and receives exact bytes.

use std::net::SocketAddr;

use serde_json::Value as Json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Open connection.
pub(crate) struct Client {
    stream: TcpStream,
    read: Vec<u8>,
}

/// Received response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(crate) fn json(&self) -> Json {
        serde_json::from_slice(&self.body).expect("a response is JSON")
    }

    /// Returns the name of the exception, without the prefix of its `__type`.
    pub(crate) fn exception(&self) -> String {
        let json = self.json();
        let name = json["__type"].as_str().expect("an error has a type");
        name.split('#').next_back().unwrap_or_default().to_owned()
    }
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("the server listens");
        Self { stream, read: Vec::new() }
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.expect("the server accepts data");
    }

    /// Receives the next response. Returns `None` if the server closed the connection instead.
    pub(crate) async fn receive(&mut self) -> Option<Answer> {
        let end = loop {
            if let Some(end) = self.read.windows(4).position(|part| part == b"\r\n\r\n") {
                break end;
            }
            if self.fill().await == 0 {
                return None;
            }
        };
        let head = String::from_utf8(self.read[..end].to_vec()).expect("a head is text");
        self.read.drain(..end + 4);
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|code| code.parse().ok())
            .expect("the response has a status");
        let mut answer = Answer { status, head, body: Vec::new() };
        let length = answer.header("content-length").and_then(|length| length.parse().ok());
        let length: usize = match status {
            // 100 Continue: the client may send the body.
            100 => 0,
            _ => length.expect("a response has a length"),
        };
        while self.read.len() < length {
            assert_ne!(self.fill().await, 0, "the server closed the connection within a response");
        }
        answer.body = self.read.drain(..length).collect();
        Some(answer)
    }

    async fn fill(&mut self) -> usize {
        // A reset ends the connection, too.
        self.stream.read_buf(&mut self.read).await.unwrap_or(0)
    }

    /// Executes an operation.
    pub(crate) async fn ask(&mut self, operation: &str, body: impl AsRef<[u8]>) -> Answer {
        self.ask_with(operation, &[], body).await
    }

    /// Executes an operation, with further headers.
    pub(crate) async fn ask_with(
        &mut self,
        operation: &str,
        headers: &[(&str, &str)],
        body: impl AsRef<[u8]>,
    ) -> Answer {
        self.send(request(operation, headers, body.as_ref())).await;
        self.receive().await.expect("the server responds")
    }
}

/// Returns the bytes of a request.
pub(crate) fn request(operation: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!(
        "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Amz-Target: DynamoDB_20120810.{operation}\r\n\
         Content-Length: {}\r\n",
        body.len()
    );
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        head.push_str("Content-Type: application/x-amz-json-1.0\r\n");
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    [head.as_bytes(), body].concat()
}

/// Body of a request that creates a table.
pub(crate) const THINGS: &str = r#"{"TableName":"things","BillingMode":"PAY_PER_REQUEST",
    "AttributeDefinitions":[{"AttributeName":"pk","AttributeType":"S"}],
    "KeySchema":[{"AttributeName":"pk","KeyType":"HASH"}]}"#;
