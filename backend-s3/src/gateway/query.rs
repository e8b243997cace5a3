//! Path and query of a request: decoded once, and passed on in the form that was signed.

use tabla_core::blobs::rules;

use super::refusal::{INVALID_ARGUMENT, INVALID_URI, Refusal};
use crate::sign::encode;

/// Parameters of a query string, in their order.
///
/// Names and values are decoded in the way in which `s3s` decodes them: `+` is a space. The request
/// that `s3s` receives is encoded again from these, so that what is executed is what was signed.
#[derive(Debug, Default)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// Parses a query string.
    ///
    /// # Errors
    /// `InvalidURI`: a name or value is not UTF-8 after decoding.
    pub(super) fn parse(text: &str) -> Result<Self, Refusal> {
        let mut parameters = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            parameters.push((decode(name, true)?, decode(value, true)?));
        }
        Ok(Self(parameters))
    }

    /// Whether there is a parameter with this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(given, _)| given == name)
    }

    /// Value of the parameter with this name.
    ///
    /// # Errors
    /// `InvalidArgument`: there are several.
    pub(super) fn get(&self, name: &'static str) -> Result<Option<&str>, Refusal> {
        let mut values = self.0.iter().filter(|(given, _)| given == name);
        let first = values.next().map(|(_, value)| value.as_str());
        match values.next() {
            None => Ok(first),
            Some(_) => Err(Refusal::new(
                INVALID_ARGUMENT,
                format!("the query parameter {name} is given more than once"),
            )),
        }
    }

    /// Names and values.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Removes and returns the parameters whose names fulfill a condition.
    pub(super) fn remove(&mut self, is_removed: impl Fn(&str) -> bool) -> Vec<(String, String)> {
        let all = std::mem::take(&mut self.0);
        let (removed, kept) = all.into_iter().partition(|(name, _)| is_removed(name));
        self.0 = kept;
        removed
    }

    /// Canonical form without one parameter: encoded, and sorted by name and value.
    pub(super) fn canonical(&self, without: Option<&str>) -> String {
        let mut pairs: Vec<(String, String)> = self
            .iter()
            .filter(|(name, _)| Some(*name) != without)
            .map(|(name, value)| (encode(name, false), encode(value, false)))
            .collect();
        pairs.sort_unstable();
        let pairs: Vec<String> =
            pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join("&")
    }
}

/// Decodes the path of a request.
///
/// # Errors
/// - `InvalidURI`: it is not UTF-8 after decoding.
/// - Status 400 without a body: the key leads above its root. S3 answers in the same way, whether the
///   path is encoded or not.
pub(super) fn decode_path(path: &str) -> Result<String, Refusal> {
    let path = decode(path, false)?;
    let key = path.strip_prefix('/').and_then(|path| path.split_once('/')).map(|(_, key)| key);
    match key.is_some_and(rules::leads_above_root) {
        true => Err(Refusal::without_body()),
        false => Ok(path),
    }
}

/// Decodes percent-encoding. Malformed escapes are kept as they are.
fn decode(text: &str, plus_is_space: bool) -> Result<String, Refusal> {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut position = 0;
    while let Some(byte) = bytes.get(position) {
        position += 1;
        match byte {
            b'+' if plus_is_space => decoded.push(b' '),
            b'%' => match (digit(bytes.get(position)), digit(bytes.get(position + 1))) {
                (Some(high), Some(low)) => {
                    // Two hexadecimal digits fit into a byte.
                    decoded.push((high << 4 | low) as u8);
                    position += 2;
                }
                _ => decoded.push(b'%'),
            },
            other => decoded.push(*other),
        }
    }
    String::from_utf8(decoded)
        .map_err(|_| Refusal::new(INVALID_URI, "Couldn't parse the specified URI."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_form_is_sorted_and_encoded_again() {
        let query = Query::parse("b=2&a=x%2fy&&a=%7e&c&S=1&d=1+2%2B3").unwrap();
        assert_eq!(query.canonical(Some("S")), "a=x%2Fy&a=~&b=2&c=&d=1%202%2B3");
        assert_eq!(query.canonical(None), "S=1&a=x%2Fy&a=~&b=2&c=&d=1%202%2B3");
    }

    #[test]
    fn parameter_that_is_given_twice_is_refused() {
        let query = Query::parse("a=1&a=2&b=1").unwrap();
        assert_eq!(query.get("a").unwrap_err().code(), "InvalidArgument");
        assert_eq!(query.get("b").unwrap(), Some("1"));
        assert_eq!(query.get("c").unwrap(), None);
    }

    #[test]
    fn bytes_that_are_no_utf_8_are_refused() {
        assert_eq!(Query::parse("a=%ff").unwrap_err().code(), "InvalidURI");
        assert_eq!(decode_path("/%C3%A9+%zz%").unwrap(), "/é+%zz%");
    }

    #[test]
    fn path_whose_key_leads_above_its_root_is_refused_without_a_body() {
        for path in ["/b/..", "/b/../c/k", "/b/%2e%2E/k", "/b/a%2F..%2f../k"] {
            let refusal = decode_path(path).unwrap_err();
            let response = refusal.response(path, "ID");
            assert_eq!(response.status(), http::StatusCode::BAD_REQUEST, "{path}");
            assert!(response.body().is_empty() && response.headers().is_empty(), "{path}");
        }
        for path in ["/b", "/b/", "/b/a/../k", "/..", "/b/..k"] {
            assert_eq!(decode_path(path).unwrap(), path);
        }
    }
}
