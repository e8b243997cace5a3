//! Signature Version 4, written from its documentation, for requests that the AWS SDK does not sign.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use tabla_s3::SigningKey;

use crate::support::Plain;

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

    /// Signature of a request whose path and query are in canonical form.
    fn signature(&self, request: &Plain, names: &[&str], payload: &str) -> String {
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let mut pairs: Vec<String> = query
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| if pair.contains('=') { pair.to_owned() } else { format!("{pair}=") })
            .collect();
        pairs.sort();
        let mut canonical = format!("{}\n{path}\n{}\n", request.method, pairs.join("&"));
        for name in names {
            let value = request.headers.iter().find(|(given, _)| given == name);
            let value = value.map_or("", |(_, value)| value.as_str());
            canonical.push_str(&format!("{name}:{value}\n"));
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
        let signature = self.signature(&request, names, "UNSIGNED-PAYLOAD");
        request.target.push_str(&format!("&X-Amz-Signature={signature}"));
        request
    }

    /// Body with signed chunks of these texts, the empty last one included.
    pub(crate) fn chunks(&mut self, texts: &[&str]) -> String {
        let mut body = String::new();
        for text in texts.iter().chain(&[""]) {
            let to_sign = format!(
                "AWS4-HMAC-SHA256-PAYLOAD\n{}\n{}\n{}\n{}\n{}",
                self.time,
                self.scope(),
                self.previous,
                sha256(b""),
                sha256(text.as_bytes())
            );
            self.previous = self.sign_text(&to_sign);
            body.push_str(&format!("{:x};chunk-signature={}\r\n", text.len(), self.previous));
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
