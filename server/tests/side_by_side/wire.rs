//! A raw HTTP client, which can send requests that no SDK would send.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value as Json;

/// Time-out for one response. A refusal that takes longer is a failure.
const PATIENCE: Duration = Duration::from_secs(30);

/// Client with one connection, which is reused.
#[derive(Debug)]
pub(crate) struct Client {
    authority: String,
    /// Access key of the requests. DynamoDB Local has separate tables for each key.
    key: String,
    connection: Option<BufReader<TcpStream>>,
}

/// Received response.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Json,
}

impl Answer {
    /// Returns the exception, with its prefix.
    pub(crate) fn kind(&self) -> &str {
        self.body["__type"].as_str().unwrap_or_default()
    }

    /// Returns the message of the exception, whose member has two spellings.
    pub(crate) fn message(&self) -> &str {
        let message = self.body.get("message").or_else(|| self.body.get("Message"));
        message.and_then(Json::as_str).unwrap_or_default()
    }

    pub(crate) fn is_success(&self) -> bool {
        self.status == 200
    }
}

impl Client {
    pub(crate) fn new(url: &str, key: &str) -> Self {
        let authority = url.strip_prefix("http://").expect("the URL has the scheme http");
        let authority = authority.trim_end_matches('/').to_owned();
        Self { authority, key: key.to_owned(), connection: None }
    }

    /// Sends a request, and waits for its response.
    pub(crate) fn ask(&mut self, target: &str, body: &str) -> Answer {
        // A server may have closed an idle connection.
        if let Some(connection) = self.connection.take()
            && let Ok(answer) = self.try_ask(connection, target, body)
        {
            return answer;
        }
        let stream = TcpStream::connect(&self.authority).expect("the server accepts connections");
        stream.set_read_timeout(Some(PATIENCE)).expect("the time-out can be set");
        stream.set_nodelay(true).expect("the option can be set");
        self.try_ask(BufReader::new(stream), target, body)
            .unwrap_or_else(|error| panic!("no response to {target} {body}: {error}"))
    }

    fn try_ask(
        &mut self,
        mut connection: BufReader<TcpStream>,
        target: &str,
        body: &str,
    ) -> io::Result<Answer> {
        let Self { authority, key, .. } = self;
        let request = format!(
            "POST / HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/x-amz-json-1.0\r\n\
             X-Amz-Target: {target}\r\nAuthorization: AWS4-HMAC-SHA256 \
             Credential={key}/20260101/us-east-1/dynamodb/aws4_request, \
             SignedHeaders=host, Signature=0\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        connection.get_mut().write_all(request.as_bytes())?;
        let head = read_head(&mut connection)?;
        let status = head[0].split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| io::Error::other("no status"))?;
        let header = |name: &str| {
            head.iter().find_map(|line| {
                let (found, value) = line.split_once(':')?;
                found.eq_ignore_ascii_case(name).then_some(value.trim())
            })
        };
        let text = match header("Content-Length") {
            Some(length) => {
                let length = length.parse().map_err(io::Error::other)?;
                let mut text = vec![0; length];
                connection.read_exact(&mut text)?;
                text
            }
            None => read_chunks(&mut connection)?,
        };
        if header("Connection") != Some("close") {
            self.connection = Some(connection);
        }
        let body = match text.is_empty() {
            true => Json::Null,
            false => serde_json::from_slice(&text).map_err(io::Error::other)?,
        };
        Ok(Answer { status, body })
    }
}

fn read_head(connection: &mut impl BufRead) -> io::Result<Vec<String>> {
    let mut head = Vec::new();
    loop {
        let line = read_line(connection)?;
        if line.is_empty() && !head.is_empty() {
            return Ok(head);
        }
        head.push(line);
    }
}

fn read_line(connection: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    match connection.read_line(&mut line)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(line.trim_end().to_owned()),
    }
}

fn read_chunks(connection: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    loop {
        let length = read_line(connection)?;
        let length = usize::from_str_radix(&length, 16).map_err(io::Error::other)?;
        let mut chunk = vec![0; length + 2];
        connection.read_exact(&mut chunk)?;
        if length == 0 {
            return Ok(text);
        }
        text.extend_from_slice(&chunk[..length]);
    }
}
