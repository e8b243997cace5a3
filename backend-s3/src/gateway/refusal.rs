//! Refusals of requests before they reach the storage, with S3's code, status and XML.

use std::fmt::Write as _;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Response, StatusCode};
use tabla_core::Error;

use super::errors;

/// Refused request.
#[derive(Debug)]
pub(super) struct Refusal(Box<Inner>);

#[derive(Debug)]
struct Inner {
    status: StatusCode,
    code: &'static str,
    message: String,
    /// Elements of the XML besides code and message, such as `HeadersNotSigned`.
    details: Vec<(&'static str, String)>,
    has_body: bool,
}

impl Refusal {
    /// Refusal with S3's code, and the status that S3 sends with it.
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        let status = match code {
            ACCESS_DENIED
            | ACCESS_FORBIDDEN
            | INVALID_ACCESS_KEY_ID
            | SIGNATURE_DOES_NOT_MATCH
            | REQUEST_TIME_TOO_SKEWED => StatusCode::FORBIDDEN,
            MISSING_CONTENT_LENGTH => StatusCode::LENGTH_REQUIRED,
            NOT_IMPLEMENTED => StatusCode::NOT_IMPLEMENTED,
            _ => StatusCode::BAD_REQUEST,
        };
        Self::with_status(status, code, message.into())
    }

    pub(super) fn with_status(status: StatusCode, code: &'static str, message: String) -> Self {
        Self(Box::new(Inner { status, code, message, details: Vec::new(), has_body: true }))
    }

    /// Refusal with status 400 and nothing else, as S3 sends it for a path that it does not read.
    pub(super) fn without_body() -> Self {
        let mut refusal = Self::new(BAD_REQUEST, "");
        refusal.0.has_body = false;
        refusal
    }

    /// Adds an element to the XML.
    pub(super) fn detail(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.0.details.push((name, value.into()));
        self
    }

    /// S3's code.
    pub(super) fn code(&self) -> &'static str {
        self.0.code
    }

    #[cfg(test)]
    pub(super) fn message(&self) -> &str {
        &self.0.message
    }

    #[cfg(test)]
    pub(super) fn detail_of(&self, name: &str) -> Option<&str> {
        let mut details = self.0.details.iter();
        details.find(|(given, _)| *given == name).map(|(_, value)| value.as_str())
    }

    /// Response with S3's XML, if the refusal has a body.
    pub(super) fn response(&self, resource: &str, request_id: &str) -> Response<Bytes> {
        let Inner { status, code, message, details, has_body } = &*self.0;
        if !has_body {
            let mut response = Response::new(Bytes::new());
            *response.status_mut() = *status;
            return response;
        }
        let mut xml = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code><Message>"
        );
        escape(&mut xml, message);
        xml.push_str("</Message>");
        let about = [("Resource", resource), ("RequestId", request_id)];
        let details = details.iter().map(|(name, value)| (*name, value.as_str()));
        for (name, value) in details.chain(about) {
            // A `String` accepts every write.
            let _ = write!(xml, "<{name}>");
            escape(&mut xml, value);
            let _ = write!(xml, "</{name}>");
        }
        xml.push_str("</Error>");
        let mut response = Response::new(Bytes::from(xml));
        *response.status_mut() = *status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/xml"));
        response
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let (code, status) = errors::code_and_status(&error);
        Self::with_status(status, code, errors::message(&error))
    }
}

/// Appends text as XML; characters that XML cannot contain become numeric references, as in S3's
/// own responses.
pub(super) fn escape(xml: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' => xml.push_str("&quot;"),
            control if control.is_control() && control != '\n' => {
                let _ = write!(xml, "&#x{:X};", u32::from(control));
            }
            other => xml.push(other),
        }
    }
}

pub(super) const ACCESS_DENIED: &str = "AccessDenied";
pub(super) const ACCESS_FORBIDDEN: &str = "AccessForbidden";
/// Name of a refusal in the log that has no code of S3's.
const BAD_REQUEST: &str = "BadRequest";
pub(super) const HEADER_MALFORMED: &str = "AuthorizationHeaderMalformed";
pub(super) const INVALID_ACCESS_KEY_ID: &str = "InvalidAccessKeyId";
pub(super) const INVALID_ARGUMENT: &str = "InvalidArgument";
pub(super) const INVALID_REQUEST: &str = "InvalidRequest";
pub(super) const INVALID_TOKEN: &str = "InvalidToken";
pub(super) const INVALID_URI: &str = "InvalidURI";
pub(super) const MALFORMED_TRAILER: &str = "MalformedTrailerError";
pub(super) const MESSAGE_TOO_LONG: &str = "MaxMessageLengthExceeded";
pub(super) const MISSING_CONTENT_LENGTH: &str = "MissingContentLength";
pub(super) const NOT_IMPLEMENTED: &str = "NotImplemented";
pub(super) const PAYLOAD_MISMATCH: &str = "XAmzContentSHA256Mismatch";
pub(super) const QUERY_MALFORMED: &str = "AuthorizationQueryParametersError";
pub(super) const REQUEST_TIMEOUT: &str = "RequestTimeout";
pub(super) const REQUEST_TIME_TOO_SKEWED: &str = "RequestTimeTooSkewed";
pub(super) const SIGNATURE_DOES_NOT_MATCH: &str = "SignatureDoesNotMatch";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_escapes_values_and_names_the_request() {
        let refusal = Refusal::new(ACCESS_DENIED, "a < b & \"c\"").detail("Detail", "x\u{1}\n");
        let response = refusal.response("/bucket/<key>", "ID");
        assert_eq!(response.status(), StatusCode::FORBIDDEN);
        assert_eq!(
            String::from_utf8_lossy(response.body()),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>AccessDenied</Code>\
             <Message>a &lt; b &amp; &quot;c&quot;</Message><Detail>x&#x1;\n</Detail>\
             <Resource>/bucket/&lt;key&gt;</Resource><RequestId>ID</RequestId></Error>"
        );
    }
}
