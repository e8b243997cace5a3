//! HTTP request in plain text.

/// HTTP request, to be sent as it is.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    pub(crate) method: String,
    /// Path and query.
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Plain {
    pub(crate) fn new(method: &str, url: &str) -> Self {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let position = rest.find('/').unwrap_or(0);
        let (host, target) = rest.split_at(position);
        let headers = vec![("host".to_owned(), host.to_owned())];
        Self { method: method.to_owned(), target: target.to_owned(), headers, body: Vec::new() }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.remove(name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.headers.retain(|(given, _)| !given.eq_ignore_ascii_case(name));
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.remove(name);
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        let length = self.body.len().to_string();
        self.header("content-length", &length)
    }

    pub(crate) fn replace(mut self, from: &str, to: &str) -> Self {
        assert!(self.target.contains(from), "{} has no {from}", self.target);
        self.target = self.target.replacen(from, to, 1);
        self
    }

    /// Bytes of the request, on a connection that the server closes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.clone().header("connection", "close").encoded()
    }

    /// Bytes of the request as it is.
    pub(crate) fn encoded(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}
