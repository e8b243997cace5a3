//! Cursors: positions in a query or scan as text that can be handed to a client.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

use crate::Item;
use crate::error::{Error, Result};
use crate::expr::{Condition, Expr, ExpressionKind, Names, Placeholders, Renderer, Values};
use crate::ops::{Page, Query, Scan};

/// Position in a query or scan, as text that is safe in a URL ([`Display`](fmt::Display) and
/// [`FromStr`]).
///
/// Another process and another backend can resume from it. It is bound by a fingerprint to its
/// request: table, index, conditions and direction, or segment. A request with another fingerprint
/// refuses it. Limit and projection may change from page to page. It does not expire.
///
/// It is not encrypted: it holds the key of the last item read, in base64.
#[derive(Clone, Debug, PartialEq)]
pub struct Cursor {
    query: u64,
    key: Item,
}

const VERSION: u8 = 1;

impl Cursor {
    /// Creates the cursor after the item with this key, for the request with this fingerprint.
    pub fn new(query: u64, key: Item) -> Self {
        Self { query, key }
    }

    /// Returns the key after which the request with this fingerprint resumes.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] if the cursor belongs to another request.
    pub fn key_of(&self, query: u64) -> Result<&Item> {
        check(self, query)?;
        Ok(&self.key)
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = vec![VERSION];
        bytes.extend(self.query.to_be_bytes());
        bytes.extend(self.key.encode());
        // A checksum detects a cursor that was cut off or mistyped.
        bytes.extend(&xxh3_64(&bytes).to_be_bytes()[..4]);
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl FromStr for Cursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let invalid = || Error::validation("the cursor is damaged; begin again at the first page");
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| invalid())?;
        let (content, check) = bytes.split_last_chunk::<4>().ok_or_else(invalid)?;
        if xxh3_64(content).to_be_bytes()[..4] != *check {
            return Err(invalid());
        }
        let (version, rest) = content.split_first().ok_or_else(invalid)?;
        if *version != VERSION {
            return Err(Error::validation(
                "the cursor has another format version; begin again at the first page",
            ));
        }
        let (query, key) = rest.split_first_chunk::<8>().ok_or_else(invalid)?;
        let key = Item::decode(Bytes::copy_from_slice(key)).map_err(|_| invalid())?;
        Ok(Self { query: u64::from_be_bytes(*query), key })
    }
}

impl Query {
    /// Creates the cursor that resumes this query after a page of it; `None` after the last page.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] if an expression of the query cannot be parsed.
    pub fn cursor(&self, page: &Page) -> Result<Option<Cursor>> {
        cursor(page, || self.fingerprint())
    }

    /// Sets the position at which this query resumes.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] if the cursor belongs to another query.
    pub fn resume(mut self, cursor: &Cursor) -> Result<Self> {
        check(cursor, self.fingerprint()?)?;
        self.exclusive_start_key = Some(cursor.key.clone());
        Ok(self)
    }

    /// Computes the fingerprint of table, index, conditions and direction. A query accepts only
    /// cursors with its own fingerprint.
    ///
    /// Text and builder forms of one condition have the same fingerprint.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] if an expression of the query cannot be parsed.
    pub fn fingerprint(&self) -> Result<u64> {
        let mut parts = Parts::new("query", &self.table, self.index.as_deref());
        parts.condition(&self.names, &self.values, self.key_condition.as_ref())?;
        parts.condition(&self.names, &self.values, self.filter.as_ref())?;
        parts.push(if self.scan_index_forward { "forward" } else { "backward" });
        Ok(parts.fingerprint())
    }
}

impl Scan {
    /// Creates the cursor that resumes this scan after a page of it; `None` after the last page.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] if an expression of the scan cannot be parsed.
    pub fn cursor(&self, page: &Page) -> Result<Option<Cursor>> {
        cursor(page, || self.fingerprint())
    }

    /// Sets the position at which this scan resumes.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] if the cursor belongs to another scan.
    pub fn resume(mut self, cursor: &Cursor) -> Result<Self> {
        check(cursor, self.fingerprint()?)?;
        self.exclusive_start_key = Some(cursor.key.clone());
        Ok(self)
    }

    fn fingerprint(&self) -> Result<u64> {
        let mut parts = Parts::new("scan", &self.table, self.index.as_deref());
        parts.condition(&self.names, &self.values, self.filter.as_ref())?;
        parts.number(self.segment);
        parts.number(self.total_segments);
        Ok(parts.fingerprint())
    }
}

fn cursor(page: &Page, fingerprint: impl FnOnce() -> Result<u64>) -> Result<Option<Cursor>> {
    let Some(key) = &page.last_evaluated_key else { return Ok(None) };
    Ok(Some(Cursor { query: fingerprint()?, key: key.clone() }))
}

fn check(cursor: &Cursor, query: u64) -> Result<()> {
    if cursor.query != query {
        return Err(Error::validation(
            "the cursor belongs to another query; use it with the same table, index, conditions \
             and direction, or begin again at the first page",
        ));
    }
    Ok(())
}

/// Canonical bytes of a request that its fingerprint is the hash of. They do not depend on whether
/// a condition was given as text or as a tree.
struct Parts(Vec<u8>);

impl Parts {
    fn new(operation: &str, table: &str, index: Option<&str>) -> Self {
        let mut parts = Self(Vec::new());
        parts.push(operation);
        parts.push(table);
        parts.push(index.unwrap_or_default());
        parts
    }

    fn push(&mut self, part: &str) {
        self.0.extend((part.len() as u64).to_be_bytes());
        self.0.extend(part.as_bytes());
    }

    /// Adds a number in decimal digits; a missing number is the empty text.
    fn number(&mut self, number: Option<i32>) {
        self.push(&number.map_or_else(String::new, |number| number.to_string()));
    }

    fn condition(
        &mut self,
        names: &Names,
        values: &Values,
        condition: Option<&Expr<Condition>>,
    ) -> Result<()> {
        let Some(condition) = condition else {
            self.push("");
            return Ok(());
        };
        let tree =
            Placeholders::new(names, values)?.condition(ExpressionKind::Filter, condition)?;
        let mut renderer = Renderer::new();
        let text = tree.render(&mut renderer);
        self.push(&text);
        for (placeholder, name) in renderer.names() {
            self.push(placeholder);
            self.push(name);
        }
        for (placeholder, value) in renderer.values() {
            self.push(placeholder);
            self.push(&value.to_json().to_string());
        }
        Ok(())
    }

    fn fingerprint(self) -> u64 {
        xxh3_64(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{attr, item};

    fn page() -> Page {
        let key = item! { "pk" => "a", "sk" => 7 };
        Page { last_evaluated_key: Some(key), ..Page::default() }
    }

    fn query() -> Query {
        Query::new("songs", attr("pk").eq("a").and(attr("sk").gt(3)))
    }

    #[test]
    fn cursor_survives_a_round_trip_through_text() {
        let cursor = query().cursor(&page()).unwrap().expect("there is a next page");
        let text = cursor.to_string();
        assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
        assert_eq!(text.parse::<Cursor>().unwrap(), cursor);
        let resumed = query().resume(&cursor).unwrap();
        assert_eq!(resumed.exclusive_start_key, page().last_evaluated_key);
    }

    #[test]
    fn text_and_tree_of_a_condition_have_the_same_fingerprint() {
        let cursor = query().cursor(&page()).unwrap().expect("there is a next page");
        let text = Query::new("songs", "#p = :p AND sk > :s")
            .name("#p", "pk")
            .value(":p", "a")
            .value(":s", 3);
        assert!(text.resume(&cursor).is_ok());
    }

    #[test]
    fn query_refuses_a_cursor_of_another_query() {
        let cursor = query().cursor(&page()).unwrap().expect("there is a next page");
        for other in [
            Query { table: "other".into(), ..query() },
            query().index("by-date"),
            query().descending(),
            query().filter(attr("x").eq(1)),
            Query::new("songs", attr("pk").eq("b").and(attr("sk").gt(3))),
            Query::new("songs", attr("pk").eq("a").and(attr("sk").gt(4))),
        ] {
            let error = other.resume(&cursor).expect_err("it is another query");
            assert!(error.message().contains("belongs to another query"));
        }
        assert!(Scan::new("songs").resume(&cursor).is_err());
        assert!(query().limit(5).resume(&cursor).is_ok());
    }

    #[test]
    fn scan_refuses_a_cursor_of_another_segment() {
        let scan = |segment, total| Scan::new("songs").segment(segment, total);
        let cursor = scan(1, 4).cursor(&page()).unwrap().expect("there is a next page");
        assert!(scan(1, 4).limit(5).resume(&cursor).is_ok());
        for other in [scan(0, 4), scan(1, 5), scan(1, 14), Scan::new("songs")] {
            assert!(other.resume(&cursor).is_err());
        }
    }

    #[test]
    fn damaged_cursor_is_refused() {
        let cursor = query().cursor(&page()).unwrap().expect("there is a next page");
        let text = cursor.to_string();
        for damaged in ["", "A", "%%%", &text[1..], &text[..text.len() - 1]] {
            assert!(damaged.parse::<Cursor>().is_err(), "{damaged}");
        }
        let mut flipped = text.into_bytes();
        flipped[14] = if flipped[14] == b'A' { b'B' } else { b'A' };
        assert!(String::from_utf8(flipped).unwrap().parse::<Cursor>().is_err());
    }
}
