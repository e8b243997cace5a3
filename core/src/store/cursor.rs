//! Where a query or scan goes on: opaque, bound to its query, safe in a URL.

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

/// Where a query or scan goes on.
///
/// It can be handed to a client and taken back by another process or another backend. It belongs
/// to the query that made it: the same table, index, conditions and direction. Another query
/// refuses it. Limit and projection may change from page to page.
///
/// It is not secret: it holds the key of the last item read, in base64.
#[derive(Clone, Debug, PartialEq)]
pub struct Cursor {
    query: u64,
    key: Item,
}

const VERSION: u8 = 1;

impl Cursor {
    /// The place `key` of the query of this fingerprint.
    pub fn new(query: u64, key: Item) -> Self {
        Self { query, key }
    }

    /// The place, if this belongs to the query of this fingerprint.
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
        // Catches a cursor that was cut off or mistyped.
        bytes.extend(&xxh3_64(&bytes).to_be_bytes()[..4]);
        f.write_str(&URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl FromStr for Cursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let invalid = || Error::validation("the cursor is not one that a query has given");
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| invalid())?;
        let (content, check) = bytes.split_last_chunk::<4>().ok_or_else(invalid)?;
        if xxh3_64(content).to_be_bytes()[..4] != *check {
            return Err(invalid());
        }
        let (version, rest) = content.split_first().ok_or_else(invalid)?;
        if *version != VERSION {
            return Err(Error::validation(
                "the cursor was made by another version; begin again at the first page",
            ));
        }
        let (query, key) = rest.split_first_chunk::<8>().ok_or_else(invalid)?;
        let key = Item::decode(Bytes::copy_from_slice(key)).map_err(|_| invalid())?;
        Ok(Self { query: u64::from_be_bytes(*query), key })
    }
}

impl Query {
    /// Where this query goes on after this page; `None` after the last.
    ///
    /// # Errors
    /// If an expression of the query cannot be parsed.
    pub fn cursor(&self, page: &Page) -> Result<Option<Cursor>> {
        cursor(page, || self.fingerprint())
    }

    /// The same query, going on where a page of it has ended.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Validation`] if the cursor belongs to another query.
    pub fn resume(mut self, cursor: &Cursor) -> Result<Self> {
        check(cursor, self.fingerprint()?)?;
        self.exclusive_start_key = Some(cursor.key.clone());
        Ok(self)
    }

    /// Fingerprint of table, index, conditions and direction: a cursor is accepted only by a query of
    /// the same fingerprint.
    ///
    /// # Errors
    /// An expression of the query cannot be parsed.
    pub fn fingerprint(&self) -> Result<u64> {
        let mut parts = Parts::new("query", &self.table, self.index.as_deref());
        parts.condition(&self.names, &self.values, self.key_condition.as_ref())?;
        parts.condition(&self.names, &self.values, self.filter.as_ref())?;
        parts.push(if self.scan_index_forward { "forward" } else { "backward" });
        Ok(parts.fingerprint())
    }
}

impl Scan {
    /// Where this scan goes on after this page; `None` after the last.
    ///
    /// # Errors
    /// If an expression of the scan cannot be parsed.
    pub fn cursor(&self, page: &Page) -> Result<Option<Cursor>> {
        cursor(page, || self.fingerprint())
    }

    /// The same scan, going on where a page of it has ended.
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
        parts.push(&format!("{:?}/{:?}", self.segment, self.total_segments));
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

/// What makes two queries the same, as bytes that do not depend on how they were written.
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
    fn a_cursor_goes_through_text() {
        let cursor = query().cursor(&page()).unwrap().expect("there is a next page");
        let text = cursor.to_string();
        assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'));
        assert_eq!(text.parse::<Cursor>().unwrap(), cursor);
        let resumed = query().resume(&cursor).unwrap();
        assert_eq!(resumed.exclusive_start_key, page().last_evaluated_key);
    }

    #[test]
    fn text_and_tree_are_the_same_query() {
        let cursor = query().cursor(&page()).unwrap().expect("there is a next page");
        let text = Query::new("songs", "#p = :p AND sk > :s")
            .name("#p", "pk")
            .value(":p", "a")
            .value(":s", 3);
        assert!(text.resume(&cursor).is_ok());
    }

    #[test]
    fn another_query_refuses_it() {
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
    fn a_damaged_cursor_is_refused() {
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
