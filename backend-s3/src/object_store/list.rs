//! Pages of a listing, from stores that list in any order.

use std::collections::BTreeMap;
use std::ops::Bound;

use ::object_store::ObjectMeta;
use futures::TryStreamExt;
use futures::stream::BoxStream;
use tabla_core::Result;
use tabla_core::blobs::{BlobPage, BlobSummary, ListBlobs, page_of_keys};
use tabla_core::env::Timestamp;

use super::ObjectStoreBlobs;
use super::convert::to_summary;
use super::error::{Access, from_store};
use super::path;

impl ObjectStoreBlobs {
    pub(super) async fn list_objects(&self, request: ListBlobs) -> Result<BlobPage> {
        let Some(folder) = path::folder(&request.prefix) else { return Ok(BlobPage::new()) };
        if request.page_size() == 0 {
            return Ok(BlobPage::new());
        }
        let folder = Some(&folder).filter(|folder| !folder.is_root());
        let mut first = FirstEntries::new(&request);
        let failed = |error| from_store(Access::Read, &request.prefix, error);
        if request.delimiter == "/" {
            let level = self.store.list_with_delimiter(folder).await.map_err(failed)?;
            for meta in &level.objects {
                first.add(to_summary(meta));
            }
            for prefix in &level.common_prefixes {
                first.add(group_entry(format!("{prefix}/")));
            }
        } else {
            let mut listing: BoxStream<'_, ::object_store::Result<ObjectMeta>> =
                match request.after.as_deref().and_then(path::floor) {
                    Some(offset) => self.store.list_with_offset(folder, &offset),
                    None => self.store.list(folder),
                };
            while let Some(meta) = listing.try_next().await.map_err(failed)? {
                let is_behind = first.is_behind(meta.location.as_ref());
                if is_behind && self.sorted_lists {
                    break;
                }
                if !is_behind {
                    first.add(to_summary(&meta));
                }
            }
        }
        page_of_keys(&request, |start, end, count| Ok(first.read(start, end, count)))
    }
}

/// Entry that stands for a common prefix: [`page_of_keys`] groups it to itself.
fn group_entry(prefix: String) -> BlobSummary {
    BlobSummary::new(prefix, 0, "", Timestamp::default())
}

/// The first entries of a page, in order: keys, and one entry for each common prefix.
struct FirstEntries<'a> {
    request: &'a ListBlobs,
    entries: BTreeMap<String, BlobSummary>,
    /// One entry more than the page has shows whether there is a next page.
    most: usize,
}

impl<'a> FirstEntries<'a> {
    fn new(request: &'a ListBlobs) -> Self {
        Self { request, entries: BTreeMap::new(), most: request.page_size() + 1 }
    }

    /// Whether this key and all behind it are no entries.
    fn is_behind(&self, key: &str) -> bool {
        let prefix = self.request.prefix.as_str();
        let is_full = self.entries.len() == self.most
            && self.entries.last_key_value().is_some_and(|(last, _)| key > last.as_str());
        is_full || key > prefix && !key.starts_with(prefix)
    }

    /// Adds a key or a common prefix, and removes the last entry if there are too many.
    fn add(&mut self, found: BlobSummary) {
        if !found.key.starts_with(&self.request.prefix) {
            return;
        }
        let entry = match self.group(&found.key) {
            Some(group) => group_entry(group.to_owned()),
            None => found,
        };
        // A position inside of a common prefix is behind the prefix.
        if self.request.after.as_ref().is_some_and(|after| entry.key <= *after) {
            return;
        }
        self.entries.insert(entry.key.clone(), entry);
        if self.entries.len() > self.most {
            self.entries.pop_last();
        }
    }

    /// Common prefix of a key, which contains the delimiter behind the prefix of the request.
    fn group<'k>(&self, key: &'k str) -> Option<&'k str> {
        let ListBlobs { prefix, delimiter, .. } = self.request;
        if delimiter.is_empty() {
            return None;
        }
        let position = key.strip_prefix(prefix)?.find(delimiter)?;
        Some(&key[..prefix.len() + position + delimiter.len()])
    }

    /// Entries of this range, for [`page_of_keys`].
    fn read(&self, start: Bound<&str>, end: Option<&str>, count: usize) -> Vec<BlobSummary> {
        let is_before_end = |entry: &&BlobSummary| end.is_none_or(|end| entry.key.as_str() < end);
        self.entries
            .range::<str, _>((start, Bound::Unbounded))
            .map(|(_, entry)| entry)
            .take_while(is_before_end)
            .take(count)
            .cloned()
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Page of keys that are listed in this order.
    fn page(keys: &[String], request: &ListBlobs, sorted: bool) -> BlobPage {
        let mut first = FirstEntries::new(request);
        for key in keys {
            let is_behind = first.is_behind(key);
            if is_behind && sorted {
                break;
            }
            if !is_behind {
                first.add(BlobSummary::new(key, 1, "e", Timestamp::default()));
            }
            assert!(first.entries.len() <= request.page_size() + 1);
        }
        page_of_keys(request, |start, end, count| Ok(first.read(start, end, count))).unwrap()
    }

    proptest! {
        #[test]
        fn unsorted_listing_has_the_pages_of_a_sorted_one(
            keys in proptest::collection::hash_set("[ab/]{1,5}", 0..30),
            prefix in "[ab/]{0,2}",
            delimiter in "(|b|ab)",
            after in proptest::option::of("[ab/]{0,3}"),
            limit in 1_usize..5,
        ) {
            let shuffled: Vec<String> = keys.into_iter().collect();
            let mut sorted = shuffled.clone();
            sorted.sort();
            let request =
                ListBlobs::with_prefix(prefix).delimiter(delimiter).after(after).limit(Some(limit));
            let expected = page_of_keys(&request, |start, end, count| {
                let all: BTreeMap<&str, ()> = sorted.iter().map(|key| (key.as_str(), ())).collect();
                let range = all.range::<str, _>((start, Bound::Unbounded));
                Ok(range
                    .map(|(key, ())| *key)
                    .take_while(|key| end.is_none_or(|end| *key < end))
                    .take(count)
                    .map(|key| BlobSummary::new(key, 1, "e", Timestamp::default()))
                    .collect())
            })
            .unwrap();
            prop_assert_eq!(&page(&shuffled, &request, false), &expected);
            prop_assert_eq!(&page(&sorted, &request, true), &expected);
        }
    }
}
