//! Pages of a listing: request, output, and the one walk over ordered keys.

use std::ops::Bound;

use super::rules;
use crate::env::Timestamp;
use crate::error::Result;
use crate::ops::setters;

/// Size of a page without a limit.
pub const DEFAULT_PAGE: usize = rules::PAGE;

/// List of one page of blobs; see [`Blobs::list`](super::Blobs::list).
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ListBlobs {
    /// Only keys that begin with this.
    pub prefix: String,
    /// Groups keys by what is before this text, such as `/`. Empty: no groups.
    pub delimiter: String,
    /// Only keys and common prefixes behind this one. For the next page:
    /// [`BlobPage::next`].
    pub after: Option<String>,
    /// Most blobs and common prefixes of the page: at most 1000, which is the default.
    pub limit: Option<usize>,
}

impl ListBlobs {
    /// All blobs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Blobs whose keys begin with this.
    pub fn with_prefix(prefix: impl Into<String>) -> Self {
        Self { prefix: prefix.into(), ..Self::default() }
    }

    /// Groups keys by what is before this text.
    #[must_use]
    pub fn delimiter(mut self, delimiter: impl Into<String>) -> Self {
        self.delimiter = delimiter.into();
        self
    }

    setters! {
        /// Sets the key behind which the page begins.
        after: Option<String>,
        /// Sets the most blobs and common prefixes of the page.
        limit: Option<usize>,
    }

    /// Most blobs and common prefixes of the page.
    pub fn page_size(&self) -> usize {
        self.limit.unwrap_or(DEFAULT_PAGE).min(rules::PAGE)
    }
}

/// One blob of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlobSummary {
    /// Key of the blob.
    pub key: String,
    /// Length in bytes.
    pub size: u64,
    /// ETag, without quotes.
    pub etag: String,
    /// Time of the write. Some backends round it to seconds.
    pub last_modified: Timestamp,
}

impl BlobSummary {
    /// One blob of a listing.
    pub fn new(
        key: impl Into<String>,
        size: u64,
        etag: impl Into<String>,
        last_modified: Timestamp,
    ) -> Self {
        Self { key: key.into(), size, etag: etag.into(), last_modified }
    }
}

/// One page of a listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlobPage {
    /// Blobs, in the order of their keys.
    pub blobs: Vec<BlobSummary>,
    /// Common prefixes, up to and including the delimiter, in order.
    pub prefixes: Vec<String>,
    /// Position for [`ListBlobs::after`] of the next page; `None` on the last page.
    pub next: Option<String>,
}

impl BlobPage {
    /// Empty last page.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Sets the blobs.
        blobs: Vec<BlobSummary>,
        /// Sets the common prefixes.
        prefixes: Vec<String>,
        /// Sets the position of the next page.
        next: Option<String>,
    }
}

/// Entry of an ordered listing, with the key that it is ordered by.
pub trait ListEntry {
    /// The key.
    fn key(&self) -> &str;
}

impl ListEntry for BlobSummary {
    fn key(&self) -> &str {
        &self.key
    }
}

/// Gathers one page from a backend that finds its entries in the order of keys.
///
/// `read(start, end, count)` returns up to `count` entries whose keys are behind `start` and
/// before `end`, in order; fewer only at the end. A common prefix is skipped with a new `start`, so
/// that the cost of a page does not depend on the number of keys below the prefix.
///
/// # Errors
/// Those of `read`.
pub fn page_of_keys(
    request: &ListBlobs,
    mut read: impl FnMut(Bound<&str>, Option<&str>, usize) -> Result<Vec<BlobSummary>>,
) -> Result<BlobPage> {
    let ListBlobs { prefix, delimiter, after, limit: _ } = request;
    let size = request.page_size();
    let mut page = BlobPage::new();
    if size == 0 {
        return Ok(page);
    }
    let end = prefix_end(prefix);
    // A position inside of a common prefix continues behind the prefix.
    let mut start = match after {
        Some(after) if after.as_str() >= prefix.as_str() => {
            match common_prefix(after, prefix, delimiter).and_then(prefix_end) {
                Some(next) => Bound::Included(next),
                None => Bound::Excluded(after.clone()),
            }
        }
        _ => Bound::Included(prefix.clone()),
    };
    let mut last = None;
    // Entries behind the first one of a common prefix are read in vain, so a listing with a
    // delimiter reads few at a time where prefixes are frequent.
    let mut few = if delimiter.is_empty() { usize::MAX } else { 2 };
    loop {
        let left = size - page.blobs.len() - page.prefixes.len();
        // One entry more than fits shows whether there is a next page.
        let count = (left + 1).min(few);
        let found = read(as_bound(&start), end.as_deref(), count)?;
        let is_end = found.len() < count;
        let mut skip = None;
        for entry in found {
            if page.blobs.len() + page.prefixes.len() == size {
                return Ok(page.next(last));
            }
            match common_prefix(&entry.key, prefix, delimiter) {
                Some(common) => {
                    last = Some(common.to_owned());
                    page.prefixes.push(common.to_owned());
                    skip = Some(prefix_end(common));
                    break;
                }
                None => {
                    last = Some(entry.key.clone());
                    page.blobs.push(entry);
                }
            }
        }
        few = if skip.is_some() { 2 } else { few.saturating_mul(2) };
        start = match (skip, &last) {
            (Some(Some(behind)), _) => Bound::Included(behind),
            // No key is behind a prefix of the highest characters.
            (Some(None), _) => return Ok(page),
            (None, _) if is_end => return Ok(page),
            (None, Some(last)) => Bound::Excluded(last.clone()),
            (None, None) => return Ok(page),
        };
    }
}

fn as_bound(bound: &Bound<String>) -> Bound<&str> {
    match bound {
        Bound::Included(key) => Bound::Included(key),
        Bound::Excluded(key) => Bound::Excluded(key),
        Bound::Unbounded => Bound::Unbounded,
    }
}

/// Part of a key up to and including the first delimiter behind the prefix.
fn common_prefix<'a>(key: &'a str, prefix: &str, delimiter: &str) -> Option<&'a str> {
    if delimiter.is_empty() {
        return None;
    }
    let rest = key.strip_prefix(prefix)?;
    let position = rest.find(delimiter)?;
    Some(&key[..prefix.len() + position + delimiter.len()])
}

/// Lowest text that is behind all texts with this prefix; `None` if there is none.
pub fn prefix_end(prefix: &str) -> Option<String> {
    let mut characters: Vec<char> = prefix.chars().collect();
    while let Some(last) = characters.pop() {
        // The scalar values behind U+D7FF begin again at U+E000.
        let next = match last {
            '\u{D7FF}' => Some('\u{E000}'),
            last => char::from_u32(last as u32 + 1),
        };
        if let Some(next) = next {
            characters.push(next);
            return Some(characters.into_iter().collect());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    fn list(keys: &BTreeSet<String>, request: &ListBlobs) -> BlobPage {
        let all: BTreeMap<&str, ()> = keys.iter().map(|key| (key.as_str(), ())).collect();
        page_of_keys(request, |start, end, count| {
            let end = end.map_or(Bound::Unbounded, Bound::Excluded);
            let is_empty = matches!((&start, &end),
                (Bound::Included(start) | Bound::Excluded(start), Bound::Excluded(end)) if start >= end);
            let keys = (!is_empty).then(|| all.range::<str, _>((start, end)));
            Ok(keys
                .into_iter()
                .flatten()
                .take(count)
                .map(|(key, ())| BlobSummary::new(*key, 0, "", Timestamp::default()))
                .collect())
        })
        .unwrap()
    }

    /// All pages, with keys and prefixes in one list.
    fn pages(keys: &BTreeSet<String>, request: &ListBlobs) -> Vec<String> {
        let mut all = Vec::new();
        let mut request = request.clone();
        loop {
            let page = list(keys, &request);
            let count = page.blobs.len() + page.prefixes.len();
            assert!(count <= request.page_size());
            assert!(page.next.is_none() || count == request.page_size());
            let mut both: Vec<String> = page.blobs.into_iter().map(|blob| blob.key).collect();
            both.extend(page.prefixes);
            both.sort();
            all.extend(both);
            match page.next {
                Some(next) => request.after = Some(next),
                None => return all,
            }
        }
    }

    #[test]
    fn pages_with_a_delimiter_skip_what_is_below_it() {
        let keys = ["a", "a/1", "a/2", "b/1/x", "b/2", "c"].map(str::to_owned).into();
        let request = ListBlobs::new().delimiter("/").limit(Some(2));
        let first = list(&keys, &request);
        assert_eq!(first.blobs[0].key, "a");
        assert_eq!((first.prefixes, first.next), (vec!["a/".to_owned()], Some("a/".to_owned())));
        assert_eq!(pages(&keys, &request), ["a", "a/", "b/", "c"]);
        let below = ListBlobs::with_prefix("b/").delimiter("/");
        assert_eq!(pages(&keys, &below), ["b/1/", "b/2"]);
    }

    #[test]
    fn limit_of_zero_is_an_empty_last_page() {
        let keys = ["a".to_owned()].into();
        assert_eq!(list(&keys, &ListBlobs::new().limit(Some(0))), BlobPage::new());
    }

    #[test]
    fn end_of_a_prefix_skips_surrogates_and_the_highest_character() {
        assert_eq!(prefix_end("ab").as_deref(), Some("ac"));
        assert_eq!(prefix_end("a\u{10FFFF}").as_deref(), Some("b"));
        assert_eq!(prefix_end("a\u{D7FF}").as_deref(), Some("a\u{E000}"));
        assert_eq!(prefix_end("\u{10FFFF}"), None);
        assert_eq!(prefix_end(""), None);
    }

    proptest! {
        #[test]
        fn pages_are_the_groups_of_all_keys(
            keys in proptest::collection::btree_set("[ab/\u{10FFFF}]{1,5}", 0..30),
            prefix in "[ab/]{0,2}",
            delimiter in "(|/|ab|\u{10FFFF})",
            limit in 1_usize..5,
        ) {
            let expected: BTreeSet<String> = keys
                .iter()
                .filter(|key| key.starts_with(&prefix))
                .map(|key| common_prefix(key, &prefix, &delimiter).unwrap_or(key).to_owned())
                .collect();
            let request =
                ListBlobs::with_prefix(prefix).delimiter(delimiter).limit(Some(limit));
            prop_assert_eq!(pages(&keys, &request), Vec::from_iter(expected));
        }
    }
}
