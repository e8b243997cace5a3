//! Presigned URLs of buckets that this crate stores: Signature Version 4 in the query of a URL.

use std::fmt;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use tabla_core::blobs::{Checksum, ChecksumAlgorithm, PresignGet, PresignPut, PresignedRequest};
use tabla_core::env::{Env, Timestamp};
use tabla_core::{Error, Result};
use time::OffsetDateTime;

type HmacSha256 = Hmac<Sha256>;

/// Region in the scope of signatures. Clients of the gateway may use any other one.
pub(crate) const REGION: &str = "us-east-1";

/// Access key with which presigned URLs are signed.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningKey {
    id: String,
    secret: String,
}

impl SigningKey {
    /// Key with this id and secret.
    pub fn new(id: impl Into<String>, secret: impl Into<String>) -> Self {
        Self { id: id.into(), secret: secret.into() }
    }

    /// Random key: 20 characters of id and 40 of secret, as on AWS.
    pub fn random(env: &Env) -> Self {
        const DIGITS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
        let text = |length: usize| -> String {
            let digit = |_| {
                let drawn = env.random.next_u64() % DIGITS.len() as u64;
                char::from(DIGITS[drawn as usize])
            };
            (0..length).map(digit).collect()
        };
        Self { id: format!("TABLA{}", text(15)), secret: text(40) }
    }

    /// Id of the key, which is part of every URL.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Secret of the key. It must not be logged.
    pub fn secret(&self) -> &str {
        &self.secret
    }
}

/// Shows the id alone: logs must not contain secrets.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Signs URLs of one bucket, for the gateway at a public address.
#[derive(Clone, Debug)]
pub struct UrlSigner {
    key: SigningKey,
    bucket: String,
    /// Address of the gateway, such as `http://127.0.0.1:9000`; `None` if there is none.
    public: Option<String>,
    env: Env,
}

impl UrlSigner {
    /// Signer for this bucket. Without a public address of the gateway, signing fails.
    ///
    /// # Errors
    /// [`tabla_core::ErrorKind::Config`]: the address is not `http://host:port` or `https://host`.
    pub fn new(
        key: SigningKey,
        bucket: impl Into<String>,
        public: Option<&str>,
        env: Env,
    ) -> Result<Self> {
        let public = public.map(check_public).transpose()?;
        Ok(Self { key, bucket: bucket.into(), public, env })
    }

    /// Signs a download.
    ///
    /// # Errors
    /// Those of [`Presign`](tabla_core::blobs::Presign).
    pub fn get(&self, request: &PresignGet) -> Result<PresignedRequest> {
        request.check()?;
        let mut query = Vec::new();
        if let Some(version) = &request.version {
            query.push(("versionId".to_owned(), version.clone()));
        }
        for (name, value) in request.response_headers.iter() {
            query.push((format!("response-{name}"), value.to_owned()));
        }
        self.sign("GET", &request.key, request.expires_in, query, Vec::new())
    }

    /// Signs an upload.
    ///
    /// # Errors
    /// Those of [`Presign`](tabla_core::blobs::Presign).
    pub fn put(&self, request: &PresignPut) -> Result<PresignedRequest> {
        request.check()?;
        let mut headers: Vec<(String, String)> = request
            .headers
            .iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        for (name, value) in &request.metadata {
            headers.push((format!("x-amz-meta-{name}"), value.clone()));
        }
        if let Some(length) = request.length {
            headers.push(("content-length".to_owned(), length.to_string()));
        }
        headers.extend(request.checksum.as_ref().map(checksum_header));
        if request.if_absent {
            headers.push(("if-none-match".to_owned(), "*".to_owned()));
        }
        self.sign("PUT", &request.key, request.expires_in, Vec::new(), headers)
    }

    fn sign(
        &self,
        method: &'static str,
        key: &str,
        expires_in: Duration,
        mut query: Vec<(String, String)>,
        mut headers: Vec<(String, String)>,
    ) -> Result<PresignedRequest> {
        let public = self.public.as_deref().ok_or_else(|| {
            Error::config(
                "these blobs have no address for presigned URLs; start the gateway, for example \
                 with `tabla serve --blobs file:assets --blobs-listen 127.0.0.1:9000`, and name it \
                 with the option `public`, as in `file:assets?public=http://127.0.0.1:9000`",
            )
        })?;
        let (_, host) = public.split_once("://").unwrap_or(("", public));
        headers.sort();
        let mut signed = headers.clone();
        signed.push(("host".to_owned(), host.to_owned()));
        signed.sort();
        let names: Vec<&str> = signed.iter().map(|(name, _)| name.as_str()).collect();
        let names = names.join(";");
        let now = self.env.clock.now();
        let (day, time) = amz_date(now)?;
        let scope = format!("{day}/{REGION}/s3/aws4_request");
        // A URL is valid for whole seconds from a time in whole seconds.
        let seconds = expires_in.as_secs();
        for (name, value) in [
            ("X-Amz-Algorithm", "AWS4-HMAC-SHA256"),
            ("X-Amz-Credential", &format!("{}/{scope}", self.key.id)),
            ("X-Amz-Date", &time),
            ("X-Amz-Expires", &seconds.to_string()),
            ("X-Amz-SignedHeaders", &names),
        ] {
            query.push((name.to_owned(), value.to_owned()));
        }
        let mut query: Vec<String> = query
            .iter()
            .map(|(name, value)| format!("{}={}", encode(name, false), encode(value, false)))
            .collect();
        query.sort();
        let query = query.join("&");
        let path = format!("/{}/{}", self.bucket, encode(key, true));
        let lines: String =
            signed.iter().map(|(name, value)| format!("{name}:{}\n", value.trim())).collect();
        let canonical = format!("{method}\n{path}\n{query}\n{lines}\n{names}\nUNSIGNED-PAYLOAD");
        let digest = hexadecimal(&Sha256::digest(canonical.as_bytes()));
        let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{digest}");
        let mut mac = hmac_sha256(format!("AWS4{}", self.key.secret).as_bytes(), &day);
        for part in [REGION, "s3", "aws4_request", &text] {
            mac = hmac_sha256(&mac, part);
        }
        let url = format!("{public}{path}?{query}&X-Amz-Signature={}", hexadecimal(&mac));
        let expires = Timestamp::from_secs(now.as_secs()) + Duration::from_secs(seconds);
        Ok(PresignedRequest::new(method, url, expires).headers(headers))
    }
}

/// Header of S3 that carries a checksum.
pub(crate) fn checksum_header(checksum: &Checksum) -> (String, String) {
    let name = match checksum.algorithm() {
        ChecksumAlgorithm::Md5 => "content-md5".to_owned(),
        other => format!("x-amz-checksum-{}", other.as_str().to_ascii_lowercase()),
    };
    (name, checksum.encoded())
}

/// Address of the gateway without a slash at the end.
pub(crate) fn check_public(address: &str) -> Result<String> {
    let address = address.strip_suffix('/').unwrap_or(address);
    let host = address.strip_prefix("http://").or_else(|| address.strip_prefix("https://"));
    let is_host = |host: &str| {
        !host.is_empty()
            && host.bytes().all(|byte| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b':' | b'[' | b']')
            })
    };
    match host {
        Some(host) if is_host(host) => Ok(address.to_owned()),
        _ => Err(Error::config(format!(
            "the option `public` is the address of the gateway, such as `http://127.0.0.1:9000` or \
             `https://files.example`, not `{address}`"
        ))),
    }
}

/// Day and time of a signature: `20261119` and `20261119T120000Z`.
fn amz_date(now: Timestamp) -> Result<(String, String)> {
    let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    let time = OffsetDateTime::from_unix_timestamp(seconds)
        .ok()
        .filter(|time| time.year() <= 9999)
        .ok_or_else(|| Error::config("the clock is behind the year 9999; set it right"))?;
    let day = format!("{:04}{:02}{:02}", time.year(), u8::from(time.month()), time.day());
    let clock = format!("{:02}{:02}{:02}", time.hour(), time.minute(), time.second());
    let time = format!("{day}T{clock}Z");
    Ok((day, time))
}

/// Escapes everything but letters, digits, `-`, `_`, `.` and `~`; in a path, `/` stays.
pub(crate) fn encode(text: &str, is_path: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            b'/' if is_path => out.push('/'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

fn hmac_sha256(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = HmacSha256::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use tabla_core::env::ManualClock;

    use super::*;

    /// The example of a presigned GET in the S3 API reference, "Authenticating Requests: Using Query
    /// Parameters", has its bucket in the host name; this is the same with the bucket in the path.
    fn signer() -> UrlSigner {
        let key =
            SigningKey::new("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY");
        // 2013-05-24T00:00:00Z
        let env = Env::test(ManualClock::new(Timestamp::from_secs(1_369_353_600)), 1);
        UrlSigner::new(key, "examplebucket", Some("https://s3.amazonaws.com/"), env).unwrap()
    }

    #[test]
    fn download_has_scope_expiry_and_signature() {
        let request = PresignGet::new("test.txt", Duration::from_secs(86_400));
        let signed = signer().get(&request).unwrap();
        assert_eq!((signed.method, signed.headers), ("GET", Vec::new()));
        assert_eq!(signed.expires, Timestamp::from_secs(1_369_440_000));
        let url = "https://s3.amazonaws.com/examplebucket/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256\
                   &X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request\
                   &X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host\
                   &X-Amz-Signature=";
        let signature = signed.url.strip_prefix(url).expect(&signed.url);
        assert_eq!(signature.len(), 64);
    }

    #[test]
    fn upload_binds_type_length_checksum_and_condition() {
        let request = PresignPut::new("a b/é", Duration::from_secs(60))
            .content_type("image/png")
            .length(Some(3))
            .checksum(Some(Checksum::of(ChecksumAlgorithm::Sha256, b"abc")))
            .if_absent();
        let signed = signer().put(&request).unwrap();
        assert!(signed.url.starts_with("https://s3.amazonaws.com/examplebucket/a%20b/%C3%A9?"));
        let names = "X-Amz-SignedHeaders=content-length%3Bcontent-type%3Bhost%3Bif-none-match%3B\
                     x-amz-checksum-sha256&";
        assert!(signed.url.contains(names), "{}", signed.url);
        let names: Vec<&str> = signed.headers.iter().map(|(name, _)| name.as_str()).collect();
        let expected = ["content-length", "content-type", "if-none-match", "x-amz-checksum-sha256"];
        assert_eq!(names, expected);
    }

    #[test]
    fn signing_without_a_gateway_names_the_remedy() {
        let signer = UrlSigner { public: None, ..signer() };
        let request = PresignGet::new("a", Duration::from_secs(60));
        let error = signer.get(&request).unwrap_err();
        assert!(error.message().contains("?public=http://127.0.0.1:9000"), "{error}");
    }

    #[test]
    fn public_address_is_a_scheme_and_a_host() {
        for address in ["http://127.0.0.1:9000", "https://files.example/", "http://[::1]:9000"] {
            assert!(check_public(address).is_ok(), "{address}");
        }
        for address in ["127.0.0.1:9000", "ftp://a", "http://", "http://a/b", "http://a?b"] {
            let error = check_public(address).unwrap_err();
            assert!(error.message().contains(address), "{error}");
        }
    }

    #[test]
    fn debug_text_of_a_key_hides_the_secret() {
        let text = format!("{:?}", signer());
        assert!(text.contains("AKIAIOSFODNN7EXAMPLE") && !text.contains("bPxRfi"), "{text}");
    }
}
