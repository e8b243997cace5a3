//! A signing client for the tests. It shares no code with the verification, and supports only the
//! simple requests that clients of DynamoDB send.

use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderValue, Request};
use sha2::{Digest, Sha256};
use tabla_core::env::Timestamp;

/// Time of the signatures, in the basic format.
pub(super) const SIGNED_AT: &str = "20150830T123600Z";

/// Time of the signatures, [`SIGNED_AT`], as a timestamp.
pub(super) const NOW: Timestamp = Timestamp::from_secs(1_440_938_160);

/// Client with an access key.
#[derive(Clone, Copy)]
pub(super) struct Signer {
    pub(super) id: &'static str,
    pub(super) secret: &'static str,
    /// Header with the time of the signature. `None` if the request has one already.
    pub(super) date_header: Option<&'static str>,
    /// Text to sign instead of the hash of the body.
    pub(super) body_hash: Option<&'static str>,
}

impl Default for Signer {
    fn default() -> Self {
        Self {
            id: "AKIDEXAMPLE",
            secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
            date_header: Some("x-amz-date"),
            body_hash: None,
        }
    }
}

impl Signer {
    /// Signs a request, with all of its headers.
    pub(super) fn sign(&self, request: &mut Request<Vec<u8>>) {
        if let Some(name) = self.date_header {
            request.headers_mut().insert(name, HeaderValue::from_static(SIGNED_AT));
        }
        let mut names: Vec<&str> = request.headers().keys().map(|name| name.as_str()).collect();
        names.sort_unstable();
        let mut headers = String::new();
        for name in &names {
            let values = request.headers().get_all(*name).iter();
            let values: Vec<&str> = values.map(|value| value.to_str().unwrap()).collect();
            headers += &format!("{name}:{}\n", values.join(","));
        }
        let names = names.join(";");
        let canonical = format!(
            "{}\n{}\n\n{headers}\n{names}\n{}",
            request.method(),
            request.uri().path(),
            self.body_hash.map_or_else(|| sha256(request.body()), str::to_owned),
        );
        let scope = "20150830/us-east-1/dynamodb/aws4_request";
        let to_sign =
            format!("AWS4-HMAC-SHA256\n{SIGNED_AT}\n{scope}\n{}", sha256(canonical.as_bytes()));
        let mut key = format!("AWS4{}", self.secret).into_bytes();
        for part in scope.split('/').chain([to_sign.as_str()]) {
            let mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
            key = mac.chain_update(part).finalize().into_bytes().to_vec();
        }
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={}",
            self.id,
            hexadecimal(&key)
        );
        let authorization = HeaderValue::try_from(authorization).unwrap();
        request.headers_mut().insert("authorization", authorization);
    }
}

/// Returns an unsigned request as an SDK sends it.
pub(super) fn get_item() -> Request<Vec<u8>> {
    Request::post("/")
        .header("host", "localhost:8000")
        .header("content-type", "application/x-amz-json-1.0")
        .header("x-amz-target", "DynamoDB_20120810.GetItem")
        .body(br#"{"TableName":"music","Key":{"artist":{"S":"No One You Know"}}}"#.to_vec())
        .unwrap()
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
