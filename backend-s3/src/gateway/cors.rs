//! CORS: which web pages may read the responses of the gateway.
//!
//! Only pages of the configured origins may. A request of another page is executed if it is signed,
//! as one of any other program, but its response has no CORS headers, so that the browser hides it
//! from the page; and the browser sends no request that needs a preflight. There is no `*`, and
//! loopback origins have to be configured as well.

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderValue, Response};

use super::refusal::{ACCESS_FORBIDDEN, Refusal};

const METHODS: &str = "GET, HEAD, PUT, POST, DELETE";

/// Response headers that a page may read, besides those that every page may read.
const EXPOSED: &str = "accept-ranges, content-disposition, content-encoding, content-length, \
                       content-range, date, etag, x-amz-checksum-crc32, x-amz-checksum-crc32c, \
                       x-amz-checksum-crc64nvme, x-amz-checksum-sha1, x-amz-checksum-sha256, \
                       x-amz-checksum-type, x-amz-copy-source-version-id, x-amz-delete-marker, \
                       x-amz-request-id, x-amz-version-id";

/// Time for which a browser may cache the response to a preflight, in seconds.
const MAX_AGE: &str = "3600";

/// Origins of the pages that may read responses.
#[derive(Debug)]
pub(super) struct Origins(Vec<String>);

impl Origins {
    pub(super) fn new(origins: &[String]) -> Self {
        Self(origins.iter().map(|origin| canonical(origin)).collect())
    }

    /// Returns the origin of a request if its page may read the response.
    pub(super) fn allowed<'a>(&self, request: &'a HeaderMap) -> Option<&'a HeaderValue> {
        let mut given = request.get_all(ORIGIN).iter();
        let origin = given.next().filter(|_| given.next().is_none())?;
        self.0.contains(&canonical(origin.to_str().ok()?)).then_some(origin)
    }

    /// Response to a preflight.
    ///
    /// # Errors
    /// `AccessForbidden`, as on S3: the origin is not configured, or the request is no preflight.
    pub(super) fn preflight(&self, request: &HeaderMap) -> Result<Response<Bytes>, Refusal> {
        let method = request.get(ACCESS_CONTROL_REQUEST_METHOD).and_then(|name| name.to_str().ok());
        let is_method = method.is_some_and(|given| METHODS.split(", ").any(|name| name == given));
        if self.allowed(request).is_none() || !is_method {
            return Err(Refusal::new(
                ACCESS_FORBIDDEN,
                "CORSResponse: This CORS request is not allowed: start the gateway with --cors and \
                 the origin of the page (ListenerConfig::origins)",
            ));
        }
        let mut response = Response::new(Bytes::new());
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
        if let Some(names) = request.get(ACCESS_CONTROL_REQUEST_HEADERS) {
            headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
        }
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
        Ok(response)
    }
}

/// Adds the headers with which a page of this origin can read a response.
pub(super) fn allow(origin: Option<&HeaderValue>, response: &mut HeaderMap) {
    // A cache must not pass a response without the headers on to a page that may read it.
    response.append(VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = origin {
        response.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        response.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    }
}

/// Origin as browsers write it: in lower case, without the default port of its scheme.
fn canonical(origin: &str) -> String {
    let origin = origin.strip_suffix('/').unwrap_or(origin).to_ascii_lowercase();
    let usual = match origin.split_once("://") {
        Some(("http", _)) => ":80",
        Some(("https", _)) => ":443",
        _ => "",
    };
    origin.strip_suffix(usual).unwrap_or(&origin).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(origin: &str) -> HeaderMap {
        HeaderMap::from_iter([
            (ORIGIN, origin.parse().unwrap()),
            (ACCESS_CONTROL_REQUEST_METHOD, HeaderValue::from_static("PUT")),
            (ACCESS_CONTROL_REQUEST_HEADERS, HeaderValue::from_static("content-type")),
        ])
    }

    #[test]
    fn configured_origins_are_allowed() {
        let origins = Origins::new(&["https://App.example:443/".to_owned()]);
        let allowed = request("https://app.example");
        assert_eq!(origins.allowed(&allowed).unwrap(), "https://app.example");
        let response = origins.preflight(&allowed).unwrap();
        assert_eq!(response.headers()[ACCESS_CONTROL_ALLOW_METHODS], METHODS);
        assert_eq!(response.headers()[ACCESS_CONTROL_ALLOW_HEADERS], "content-type");
    }

    #[test]
    fn other_origins_are_not_allowed() {
        let origins = Origins::new(&["https://app.example".to_owned()]);
        for other in [
            "http://app.example",
            "https://app.example:8443",
            "https://app.example.evil.example",
            "http://localhost",
            "http://127.0.0.1:9000",
            "null",
            "*",
            "",
        ] {
            let request = request(other);
            assert!(origins.allowed(&request).is_none(), "{other}");
            assert_eq!(origins.preflight(&request).unwrap_err().code(), "AccessForbidden");
        }
        let mut both = request("https://app.example");
        both.append(ORIGIN, HeaderValue::from_static("https://evil.example"));
        assert!(origins.allowed(&both).is_none());
    }

    #[test]
    fn only_methods_of_s3_are_allowed() {
        let origins = Origins::new(&["https://app.example".to_owned()]);
        let mut headers = request("https://app.example");
        headers.insert(ACCESS_CONTROL_REQUEST_METHOD, HeaderValue::from_static("PATCH"));
        assert!(origins.preflight(&headers).is_err());
        headers.remove(ACCESS_CONTROL_REQUEST_METHOD);
        assert!(origins.preflight(&headers).is_err());
    }
}
