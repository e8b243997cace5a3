//! [`BlobsObjectStore`]: any blobs as an object store.

mod list;
mod multipart;
mod read;
mod upload;

use std::fmt;
use std::sync::Arc;

use ::object_store::path::Path;
use ::object_store::{
    Attributes, CopyMode, CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload,
    ObjectMeta, ObjectStore, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult,
    RenameOptions, RenameTargetMode, Result, TagSet, UpdateVersion,
};
use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use tabla_core::blobs::{
    BlobHeaders, Blobs, CopyBlob, CreateUpload, DeleteBlob, DeleteBlobs, HeadBlob, PutBlob,
    PutBlobOutput, WriteCondition, rules,
};

use self::upload::BlobsUpload;
use super::convert::{from_attributes, quoted, unquoted};
use super::error::{Condition, invalid, not_implemented, to_store};

/// Object store of the crate `object_store` on any [`Blobs`], for Parquet, Arrow, DataFusion and
/// other crates that read and write through it.
///
/// ```
/// use std::sync::Arc;
/// use object_store::{ObjectStore, ObjectStoreExt, path::Path};
/// use tabla_s3::{BlobsObjectStore, MemoryBlobs};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> object_store::Result<()> {
/// let store: Arc<dyn ObjectStore> =
///     Arc::new(BlobsObjectStore::new(Arc::new(MemoryBlobs::new())));
/// store.put(&Path::from("tables/part-0.parquet"), "bytes".into()).await?;
/// assert_eq!(store.head(&Path::from("tables/part-0.parquet")).await?.size, 5);
/// # Ok(())
/// # }
/// ```
///
/// # Semantics
/// - A missing capability of the blobs is [`NotImplemented`](::object_store::Error::NotImplemented),
///   and so are tags and storage classes.
/// - Listings skip keys that are no [`Path`], such as `a//b` and `folder/`.
/// - ETags have quotes, as in HTTP.
/// - [`GetOptions::version`] reads a version of a bucket that keeps versions.
/// - A rename is a copy and a delete. If the blobs support deletes if match, an object that is
///   written in between stays, and the rename fails with
///   [`Precondition`](::object_store::Error::Precondition).
/// - Parts of a multipart upload may have any length: shorter ones are gathered to 5 MB. A total
///   below 5 MB is one put. Without [`complete`](MultipartUpload::complete) or
///   [`abort`](MultipartUpload::abort) the parts stay until a sweep of the blobs.
/// - It is also a [`MultipartStore`](::object_store::multipart::MultipartStore), whose parts need
///   5 MB, and a [`PaginatedListStore`](::object_store::list::PaginatedListStore).
///
/// # Integration tests
/// `tests/object_store` runs the public tests of `object_store::integration`, version 0.14.2, on
/// memory and on `file:`: `put_get_delete_list`, `put_get_attributes`, `get_opts` (with and without
/// versions), `put_opts` (with updates), `stream_get`, `list_uses_directories_correctly`,
/// `list_with_delimiter`, `get_nonexistent_object`, `rename_and_copy`, `copy_if_not_exists`,
/// `copy_rename_nonexistent_object`, `multipart`, `multipart_with_opts`,
/// `multipart_put_part_out_of_order`, `multipart_race_condition` (the last writer wins),
/// `multipart_out_of_order`, `list_paginated` and `list_with_offset_exclusivity`.
///
/// One does not run: `response_extensions` tests object stores that are built on that crate's own
/// HTTP client.
#[derive(Clone, Debug)]
pub struct BlobsObjectStore {
    blobs: Arc<dyn Blobs>,
}

impl BlobsObjectStore {
    /// Object store on these blobs.
    pub fn new(blobs: Arc<dyn Blobs>) -> Self {
        Self { blobs }
    }

    /// Returns the blobs.
    pub fn blobs(&self) -> &Arc<dyn Blobs> {
        &self.blobs
    }

    /// Begin of an upload with these options.
    fn create_upload(&self, location: &Path, options: PutMultipartOptions) -> Result<CreateUpload> {
        check_tags(&options.tags)?;
        let (headers, metadata) = to_headers(&options.attributes)?;
        let mut create = CreateUpload::new(location.as_ref()).headers(headers);
        create.metadata = metadata;
        let capabilities = self.blobs.capabilities();
        capabilities
            .check_upload(&create)
            .map_err(|error| to_store(Condition::Read, location.as_ref(), error))?;
        Ok(create)
    }

    /// Result of a rename or copy of an object to itself.
    async fn keep(&self, location: &Path, condition: Condition) -> Result<()> {
        let head = self.blobs.head(HeadBlob::new(location.as_ref())).await;
        match (head, condition) {
            (Err(error), _) => Err(to_store(Condition::Read, location.as_ref(), error)),
            (Ok(_), Condition::Create) => {
                let error = tabla_core::blobs::precondition_failed();
                Err(to_store(condition, location.as_ref(), error))
            }
            (Ok(_), _) => Ok(()),
        }
    }
}

impl fmt::Display for BlobsObjectStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BlobsObjectStore({})", self.blobs.capabilities().engine)
    }
}

/// Headers and user metadata of a blob.
type Headers = (BlobHeaders, std::collections::BTreeMap<String, String>);

fn to_headers(attributes: &Attributes) -> Result<Headers> {
    let (headers, metadata, others) = from_attributes(attributes);
    match others.as_slice() {
        [] => Ok((headers, metadata)),
        [other, ..] => Err(not_implemented(&format!("the attribute {other:?}"))),
    }
}

fn check_tags(tags: &TagSet) -> Result<()> {
    match tags.is_empty() {
        true => Ok(()),
        false => Err(not_implemented("tags")),
    }
}

fn to_result(output: PutBlobOutput) -> PutResult {
    PutResult {
        e_tag: Some(quoted(&output.etag)),
        version: output.version,
        extensions: Default::default(),
    }
}

/// Condition of a put, and how its failure is reported.
fn to_condition(mode: PutMode) -> Result<(Condition, WriteCondition)> {
    match mode {
        PutMode::Overwrite => Ok((Condition::Read, WriteCondition::None)),
        PutMode::Create => Ok((Condition::Create, WriteCondition::IfAbsent)),
        PutMode::Update(UpdateVersion { e_tag: Some(etag), version: _ }) => {
            Ok((Condition::Update, WriteCondition::IfMatch(unquoted(&etag))))
        }
        PutMode::Update(UpdateVersion { e_tag: None, .. }) => {
            Err(invalid("an update needs the ETag of the object"))
        }
    }
}

/// Deletes up to 1000 objects; returns their results in order.
async fn delete_batch(blobs: Arc<dyn Blobs>, batch: Vec<Result<Path>>) -> Vec<Result<Path>> {
    let keys: Vec<String> =
        batch.iter().flatten().map(|location| location.as_ref().to_owned()).collect();
    let to_error = |location: &Path, error| to_store(Condition::Read, location.as_ref(), error);
    let mut failed = Vec::new();
    let mut whole = None;
    match keys.as_slice() {
        [] => {}
        [key] => whole = blobs.delete(DeleteBlob::new(key)).await.err(),
        _ => match blobs.delete_many(DeleteBlobs::new(keys)).await {
            Ok(output) => failed = output.failed,
            Err(error) => whole = Some(error),
        },
    }
    let mut results = Vec::with_capacity(batch.len());
    for location in batch {
        let location = match location {
            Ok(location) => location,
            Err(error) => {
                results.push(Err(error));
                continue;
            }
        };
        let own = failed.iter().position(|(key, _)| key == location.as_ref());
        results.push(match (own, &whole) {
            (Some(position), _) => Err(to_error(&location, failed.swap_remove(position).1)),
            (None, Some(error)) => Err(to_error(&location, same(error))),
            (None, None) => Ok(location),
        });
    }
    results
}

/// Error of a request, for one more of its objects.
fn same(error: &tabla_core::Error) -> tabla_core::Error {
    tabla_core::Error::new(error.kind().clone(), error.message())
        .with_code(error.code())
        .with_retry(error.retry())
        .with_applied(error.applied())
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl ObjectStore for BlobsObjectStore {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        check_tags(&options.tags)?;
        let (headers, metadata) = to_headers(&options.attributes)?;
        let (reported, condition) = to_condition(options.mode)?;
        let mut put = PutBlob::new(location.as_ref(), Bytes::from(payload))
            .headers(headers)
            .condition(condition);
        put.metadata = metadata;
        let result = self.blobs.put(put).await;
        result.map(to_result).map_err(|error| to_store(reported, location.as_ref(), error))
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        let create = self.create_upload(location, options)?;
        Ok(Box::new(BlobsUpload::new(Arc::clone(&self.blobs), create)))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.read(location, options).await
    }

    async fn get_ranges(
        &self,
        location: &Path,
        ranges: &[std::ops::Range<u64>],
    ) -> Result<Vec<Bytes>> {
        self.read_ranges(location, ranges).await
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let blobs = Arc::clone(&self.blobs);
        locations
            .chunks(rules::DELETES)
            .then(move |batch| delete_batch(Arc::clone(&blobs), batch))
            .flat_map(stream::iter)
            .boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.list_below(prefix, None)
    }

    fn list_with_offset(
        &self,
        prefix: Option<&Path>,
        offset: &Path,
    ) -> BoxStream<'static, Result<ObjectMeta>> {
        self.list_below(prefix, Some(offset))
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.list_level(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        let condition = match options.mode {
            CopyMode::Overwrite => Condition::Read,
            CopyMode::Create => Condition::Create,
        };
        if from == to {
            return self.keep(from, condition).await;
        }
        let copy = CopyBlob::new(from.as_ref(), to.as_ref());
        self.copy(copy, condition).await.map(|_| ())
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        let condition = match options.target_mode {
            RenameTargetMode::Overwrite => Condition::Read,
            RenameTargetMode::Create => Condition::Create,
        };
        // A copy and a delete would delete the object.
        if from == to {
            return self.keep(from, condition).await;
        }
        let mut copy = CopyBlob::new(from.as_ref(), to.as_ref());
        let mut delete = DeleteBlob::new(from.as_ref());
        let failed = |error| to_store(Condition::Read, from.as_ref(), error);
        if self.blobs.capabilities().delete_if_match {
            let source = self.blobs.head(HeadBlob::new(from.as_ref())).await.map_err(failed)?;
            copy = copy.source_if_match(Some(source.etag.clone()));
            delete = delete.if_match(source.etag);
        }
        self.copy(copy, condition).await?;
        self.blobs.delete(delete).await.map(|_| ()).map_err(failed)
    }
}

impl BlobsObjectStore {
    async fn copy(&self, copy: CopyBlob, condition: Condition) -> Result<PutBlobOutput> {
        let (from, to) = (copy.source.clone(), copy.key.clone());
        let copy = match condition {
            Condition::Create => copy.if_absent(),
            Condition::Read | Condition::Update => copy,
        };
        self.blobs.copy(copy).await.map_err(|error| {
            let path = if error.is_not_found() { &from } else { &to };
            to_store(condition, path, error)
        })
    }
}
