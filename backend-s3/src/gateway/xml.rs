//! XML that `s3s` reads and writes, made that of S3.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, Response};
use s3s::Body;

use super::refusal::escape;

/// Writes the CDATA sections of a document as text: `s3s` reads a document without them, so that
/// `<Key>a<![CDATA[b]]></Key>` would name another key.
pub(super) fn without_cdata(document: Bytes) -> Bytes {
    const BEGIN: &[u8] = b"<![CDATA[";
    if !document.windows(BEGIN.len()).any(|text| text == BEGIN) {
        return document;
    }
    let mut out = Vec::with_capacity(document.len());
    let mut rest = &document[..];
    while let Some(byte) = rest.first() {
        let (begin, end) = match rest {
            rest if rest.starts_with(BEGIN) => (BEGIN, &b"]]>"[..]),
            rest if rest.starts_with(b"<!--") => (&b"<!--"[..], &b"-->"[..]),
            _ => {
                out.push(*byte);
                rest = &rest[1..];
                continue;
            }
        };
        // Without an end, the rest is no document.
        let Some(section) = until(rest, end) else { break };
        let content =
            if begin == BEGIN { &section[BEGIN.len()..section.len() - end.len()] } else { &[] };
        for byte in content {
            match byte {
                b'&' => out.extend_from_slice(b"&amp;"),
                b'<' => out.extend_from_slice(b"&lt;"),
                b'>' => out.extend_from_slice(b"&gt;"),
                other => out.push(*other),
            }
        }
        rest = &rest[section.len()..];
    }
    out.extend_from_slice(rest);
    out.into()
}

/// Beginning of a text up to and including `end`.
fn until<'a>(text: &'a [u8], end: &[u8]) -> Option<&'a [u8]> {
    let position = text.windows(end.len()).position(|found| found == end)?;
    Some(&text[..position + end.len()])
}

/// Adds what every error of S3 has, and some of `s3s` lack: a message, the resource, and the id of
/// the request.
pub(super) fn complete_error(response: Response<Body>, resource: &str, id: &str) -> Response<Body> {
    let is_error = response.status().is_client_error() || response.status().is_server_error();
    let body = response.body().bytes().filter(|_| is_error);
    match body.and_then(|xml| completed(&xml, resource, id)) {
        Some(xml) => with_body(response, xml),
        None => response,
    }
}

/// Error in XML with the missing elements; `None` if it is no error in XML.
fn completed(xml: &[u8], resource: &str, id: &str) -> Option<Bytes> {
    const END: &str = "</Error>";
    let mut text = std::str::from_utf8(xml).ok()?.strip_suffix(END)?.to_owned();
    let has = |text: &str, name: &str| text.contains(&format!("<{name}>"));
    if !has(&text, "Message") {
        let code = text.split_once("<Code>").and_then(|(_, rest)| rest.split_once('<'));
        let message = default_message(code.map_or("", |(code, _)| code));
        text.push_str(&format!("<Message>{message}</Message>"));
    }
    for (name, value) in [("Resource", resource), ("RequestId", id)] {
        if !has(&text, name) {
            text.push_str(&format!("<{name}>"));
            escape(&mut text, value);
            text.push_str(&format!("</{name}>"));
        }
    }
    Some((text + END).into())
}

/// Message that S3 sends with a code.
fn default_message(code: &str) -> &'static str {
    match code {
        "InternalError" => "We encountered an internal error. Please try again.",
        "InvalidBucketName" => "The specified bucket is not valid.",
        "KeyTooLongError" => "Your key is too long",
        "MalformedXML" => {
            "The XML you provided was not well-formed or did not validate against our published \
             schema"
        }
        "MethodNotAllowed" => "The specified method is not allowed against this resource.",
        "MissingRequestBodyError" => "Request Body is empty",
        "NotImplemented" => "A header you provided implies functionality that is not implemented",
        _ => "The request is not valid.",
    }
}

/// Replaces control characters in the XML of a response by numeric references, as S3 sends them:
/// a key may contain them, and `s3s` writes them as they are.
pub(super) fn escape_controls(response: Response<Body>) -> Response<Body> {
    let kind = response.headers().get(CONTENT_TYPE);
    let is_xml = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/xml"));
    let body = response.body().bytes().filter(|_| is_xml);
    match body.and_then(|xml| escaped(&xml)) {
        Some(xml) => with_body(response, xml),
        None => response,
    }
}

fn with_body(response: Response<Body>, xml: Bytes) -> Response<Body> {
    let (mut head, _) = response.into_parts();
    if head.headers.contains_key(CONTENT_LENGTH) {
        head.headers.insert(CONTENT_LENGTH, HeaderValue::from(xml.len()));
    }
    Response::from_parts(head, Body::from(xml))
}

/// XML with numeric references; `None` if it needs none.
fn escaped(bytes: &Bytes) -> Option<Bytes> {
    // A raw carriage return would be read as a line feed.
    let is_forbidden = |c: char| matches!(c, '\0'..'\t' | '\u{b}'..' ' | '\u{fffe}' | '\u{ffff}');
    let text = std::str::from_utf8(bytes).ok()?;
    if !text.contains(is_forbidden) {
        return None;
    }
    let mut out = String::with_capacity(text.len() + 64);
    for character in text.chars() {
        match is_forbidden(character) {
            true => out.push_str(&format!("&#x{:X};", u32::from(character))),
            false => out.push(character),
        }
    }
    Some(out.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_gets_message_resource_and_request_id() {
        let short = b"<?xml version=\"1.0\"?><Error><Code>KeyTooLongError</Code></Error>";
        assert_eq!(
            completed(short, "/bucket/<key>", "ID").unwrap(),
            "<?xml version=\"1.0\"?><Error><Code>KeyTooLongError</Code>\
             <Message>Your key is too long</Message><Resource>/bucket/&lt;key&gt;</Resource>\
             <RequestId>ID</RequestId></Error>"
        );
        let whole = b"<Error><Code>NoSuchKey</Code><Message>x</Message></Error>";
        let text = completed(whole, "/", "ID").unwrap();
        assert!(text.starts_with(b"<Error><Code>NoSuchKey</Code><Message>x</Message><Resource>"));
        assert_eq!(completed(b"<ListBucketResult/>", "/", "ID"), None);
    }

    #[test]
    fn cdata_becomes_text() {
        let text = |document: &'static str| {
            let bytes = without_cdata(Bytes::from_static(document.as_bytes()));
            String::from_utf8(bytes.to_vec()).unwrap()
        };
        assert_eq!(text("<Key>a<![CDATA[b&<]]>c</Key>"), "<Key>ab&amp;&lt;c</Key>");
        assert_eq!(text("<!-- <![CDATA[ --><Key><![CDATA[]]>a</Key>"), "<Key>a</Key>");
        for same in ["<Key>a]]></Key>", "<Key><![CDATA[a</Key>", "<Key>a</Key><!-- b -->"] {
            assert_eq!(text(same), same);
        }
    }

    #[test]
    fn controls_become_references() {
        let escape = |text: &'static str| escaped(&Bytes::from_static(text.as_bytes()));
        assert_eq!(escape("<Key>a\tb\nc é</Key>"), None);
        assert_eq!(escape("a\u{1}b\r").unwrap(), "a&#x1;b&#xD;");
        assert_eq!(escape("\u{ffff}").unwrap(), "&#xFFFF;");
    }
}
