//! Characters of keys that XML 1.0 cannot contain.

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, Response};
use s3s::Body;

/// Replaces control characters in the XML of a response by numeric references, as S3 sends them:
/// a key may contain them, and `s3s` writes them as they are.
pub(super) fn escape_controls(response: Response<Body>) -> Response<Body> {
    let kind = response.headers().get(CONTENT_TYPE);
    let is_xml = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/xml"));
    let Some(bytes) = response.body().bytes().filter(|_| is_xml) else { return response };
    let Some(escaped) = escaped(&bytes) else { return response };
    let (mut head, _) = response.into_parts();
    if head.headers.contains_key(CONTENT_LENGTH) {
        head.headers.insert(CONTENT_LENGTH, HeaderValue::from(escaped.len()));
    }
    Response::from_parts(head, Body::from(escaped))
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
    fn controls_become_references() {
        let escape = |text: &'static str| escaped(&Bytes::from_static(text.as_bytes()));
        assert_eq!(escape("<Key>a\tb\nc é</Key>"), None);
        assert_eq!(escape("a\u{1}b\r").unwrap(), "a&#x1;b&#xD;");
        assert_eq!(escape("\u{ffff}").unwrap(), "&#xFFFF;");
    }
}
