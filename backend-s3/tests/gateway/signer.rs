//! Signature Version 4, written from its documentation, for requests that the AWS SDK does not sign.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use tabla_s3::SigningKey;

use crate::plain::Plain;

pub(crate) struct Signer {
    key: SigningKey,
    time: String,
    signing_key: Vec<u8>,
    pub(crate) previous: String,
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

/// Decodes percent-encoding; `+` is a space. Malformed escapes stay.
pub(crate) fn decoded(text: &str) -> Vec<u8> {
    let mut decoded = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((byte, behind)) = rest.split_first() {
        let digit = |place: usize| char::from(*behind.get(place)?).to_digit(16);
        rest = behind;
        match (byte, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high << 4 | low) as u8);
                rest = &behind[2..];
            }
            (b'+', ..) => decoded.push(b' '),
            (other, ..) => decoded.push(*other),
        }
    }
    decoded
}

fn encoded(bytes: &[u8]) -> String {
    let mut encoded = String::new();
    for byte in bytes {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(char::from(*byte));
            }
            other => encoded.push_str(&format!("%{other:02X}")),
        }
    }
    encoded
}

impl Signer {
    /// Signer at a time such as `20261119T120000Z`.
    pub(crate) fn new(key: &SigningKey, time: &str) -> Self {
        let mut signing_key = mac(format!("AWS4{}", key.secret()).as_bytes(), &time[..8]);
        for part in ["us-east-1", "s3", "aws4_request"] {
            signing_key = mac(&signing_key, part);
        }
        Self { key: key.clone(), time: time.to_owned(), signing_key, previous: String::new() }
    }

    fn scope(&self) -> String {
        format!("{}/us-east-1/s3/aws4_request", &self.time[..8])
    }

    fn sign_text(&self, text: &str) -> String {
        hex(&mac(&self.signing_key, text))
    }

    /// Signature of a request. Its path counts as it is.
    fn signature(&self, request: &Plain, names: &[&str], payload: &str) -> String {
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let mut pairs: Vec<(String, String)> = query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .map(|(name, value)| (encoded(&decoded(name)), encoded(&decoded(value))))
            .collect();
        pairs.sort();
        let pairs: Vec<String> =
            pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        let mut canonical = format!("{}\n{path}\n{}\n", request.method, pairs.join("&"));
        for name in names {
            let given = request.headers.iter().filter(|(given, _)| given == name);
            let words = |(_, value): &(String, String)| {
                let words = value.split([' ', '\t']).filter(|word| !word.is_empty());
                words.collect::<Vec<_>>().join(" ")
            };
            let values: Vec<String> = given.map(words).collect();
            canonical.push_str(&format!("{name}:{}\n", values.join(",")));
        }
        canonical.push_str(&format!("\n{}\n{payload}", names.join(";")));
        let (time, scope) = (&self.time, self.scope());
        let hash = sha256(canonical.as_bytes());
        self.sign_text(&format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{hash}"))
    }

    /// Signs a request in its header; all headers are signed except for the given ones.
    pub(crate) fn header(&mut self, request: Plain, payload: &str, unsigned: &[&str]) -> Plain {
        let request = request.header("x-amz-date", &self.time);
        let request = request.header("x-amz-content-sha256", payload);
        let mut names: Vec<&str> = request
            .headers
            .iter()
            .map(|(name, _)| name.as_str())
            .filter(|name| !unsigned.contains(name))
            .collect();
        names.sort();
        names.dedup();
        let signature = self.signature(&request, &names, payload);
        let text = format!(
            "AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={signature}",
            self.key.id(),
            self.scope(),
            names.join(";")
        );
        self.previous = signature;
        request.clone().header("authorization", &text)
    }

    /// Signs a request in its query, with this expiry and these headers.
    pub(crate) fn query(&self, request: Plain, expiry: &str, names: &[&str]) -> Plain {
        let credential = format!("{}/{}", self.key.id(), self.scope()).replace('/', "%2F");
        let separator = if request.target.contains('?') { '&' } else { '?' };
        let mut request = request;
        request.target.push_str(&format!(
            "{separator}X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={credential}\
             &X-Amz-Date={}&X-Amz-Expires={expiry}&X-Amz-SignedHeaders={}",
            self.time,
            names.join("%3B")
        ));
        let payload = request.headers.iter().find(|(name, _)| name == "x-amz-content-sha256");
        let payload = payload.map_or("UNSIGNED-PAYLOAD", |(_, value)| value);
        let signature = self.signature(&request, names, payload);
        request.target.push_str(&format!("&X-Amz-Signature={signature}"));
        request
    }

    /// Signature of the next chunk.
    pub(crate) fn chunk(&mut self, bytes: &[u8]) -> String {
        let to_sign = format!(
            "AWS4-HMAC-SHA256-PAYLOAD\n{}\n{}\n{}\n{}\n{}",
            self.time,
            self.scope(),
            self.previous,
            sha256(b""),
            sha256(bytes)
        );
        self.previous = self.sign_text(&to_sign);
        self.previous.clone()
    }

    /// Body with signed chunks of these texts, the empty last one included.
    pub(crate) fn chunks(&mut self, texts: &[&str]) -> String {
        let mut body = String::new();
        for text in texts.iter().chain(&[""]) {
            let signature = self.chunk(text.as_bytes());
            body.push_str(&format!("{:x};chunk-signature={signature}\r\n", text.len()));
            if !text.is_empty() {
                body.push_str(&format!("{text}\r\n"));
            }
        }
        body
    }

    /// Signed trailer with one line.
    pub(crate) fn trailer(&mut self, line: &str) -> String {
        let hash = sha256(format!("{line}\n").as_bytes());
        let to_sign = format!(
            "AWS4-HMAC-SHA256-TRAILER\n{}\n{}\n{}\n{hash}",
            self.time,
            self.scope(),
            self.previous
        );
        let signature = self.sign_text(&to_sign);
        format!("{line}\r\nx-amz-trailer-signature:{signature}\r\n\r\n")
    }
}
