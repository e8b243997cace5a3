//! Listings of [`BlobsObjectStore`].

use std::sync::Arc;

use ::object_store::list::{PaginatedListOptions, PaginatedListResult, PaginatedListStore};
use ::object_store::path::Path;
use ::object_store::{Error, ListResult, ObjectMeta, Result};
use async_trait::async_trait;
use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};
use tabla_core::blobs::{BlobPage, ListBlobs};

use super::super::error::{Condition, to_store};
use super::super::path;
use super::BlobsObjectStore;
use super::read::to_listed;

impl BlobsObjectStore {
    /// All objects in the folder of the prefix and below it, behind the offset.
    pub(super) fn list_below(
        &self,
        prefix: Option<&Path>,
        offset: Option<&Path>,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        let first = ListBlobs::with_prefix(folder(prefix)).after(offset.map(Path::to_string));
        let store = self.clone();
        let next = move |state: Option<ListBlobs>| {
            let store = store.clone();
            async move {
                let Some(request) = state else { return Ok::<_, Error>(None) };
                let page = store.page(request.clone()).await?;
                let objects: Vec<_> = page.blobs.iter().filter_map(to_listed).map(Ok).collect();
                let rest = page.next.map(|next| request.after(Some(next)));
                Ok(Some((stream::iter(objects), rest)))
            }
        };
        stream::try_unfold(Some(first), next).try_flatten().boxed()
    }

    /// Objects and folders directly in the folder of the prefix.
    pub(super) async fn list_level(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let mut request = ListBlobs::with_prefix(folder(prefix)).delimiter("/");
        let mut level = empty();
        loop {
            let page = self.page(request.clone()).await?;
            add(&mut level, &page, "/");
            match page.next {
                Some(next) => request.after = Some(next),
                None => return Ok(level),
            }
        }
    }

    async fn page(&self, request: ListBlobs) -> Result<BlobPage> {
        let blobs = Arc::clone(&self.blobs);
        let prefix = request.prefix.clone();
        blobs.list(request).await.map_err(|error| to_store(Condition::Read, &prefix, error))
    }
}

#[async_trait]
impl PaginatedListStore for BlobsObjectStore {
    async fn list_paginated(
        &self,
        prefix: Option<&str>,
        options: PaginatedListOptions,
    ) -> Result<PaginatedListResult> {
        let PaginatedListOptions { offset, delimiter, max_keys, page_token, extensions: _ } =
            options;
        let delimiter = delimiter.unwrap_or_default();
        let request = ListBlobs::with_prefix(prefix.unwrap_or_default())
            .delimiter(delimiter.as_ref())
            // The later of the two, since a page token is behind the offset of its listing.
            .after(page_token.max(offset))
            .limit(max_keys);
        let page = self.page(request).await?;
        let mut result = empty();
        add(&mut result, &page, &delimiter);
        Ok(PaginatedListResult { result, page_token: page.next })
    }
}

/// Prefix of the keys in a folder: `foo` contains `foo/bar` and not `foobar`.
fn folder(prefix: Option<&Path>) -> String {
    match prefix {
        Some(prefix) if !prefix.is_root() => format!("{prefix}/"),
        _ => String::new(),
    }
}

fn empty() -> ListResult {
    ListResult { common_prefixes: Vec::new(), objects: Vec::new(), extensions: Default::default() }
}

/// Adds a page, without the delimiter at the end of common prefixes.
fn add(result: &mut ListResult, page: &BlobPage, delimiter: &str) {
    result.objects.extend(page.blobs.iter().filter_map(to_listed));
    let without_delimiter = |prefix: &String| prefix.strip_suffix(delimiter).and_then(path::exact);
    let prefixes = page.prefixes.iter().filter_map(without_delimiter);
    result.common_prefixes.extend(prefixes.filter(|prefix| !prefix.is_root()));
}
