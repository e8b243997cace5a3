//! Puts of bytes and of streams.

use ::object_store::path::Path;
use ::object_store::{
    Attributes, MultipartUpload, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult,
    UpdateVersion,
};
use bytes::{Bytes, BytesMut};
use futures::TryStreamExt;
use futures::future::try_join_all;
use tabla_core::blobs::{
    ByteStream, Checksum, ChecksumPlan, Digests, PutBlob, PutBlobOutput, WriteCondition,
};
use tabla_core::{Applied, Error, Result};

use super::ObjectStoreBlobs;
use super::convert::{to_attributes, unquoted};
use super::error::{Access, conflict, from_store};
use super::path;

/// Length of the parts of a streamed put, in bytes. All but the last have it: some services refuse
/// parts of different lengths.
const PART_BYTES: usize = 8 << 20;

/// Parts of a streamed put that are sent at the same time.
const CONCURRENT_PARTS: usize = 4;

impl ObjectStoreBlobs {
    pub(super) async fn put_object(&self, request: PutBlob) -> Result<PutBlobOutput> {
        let plan = request.plan()?;
        let path = path::of_key(&request.key)?;
        self.capabilities.check_put(&request)?;
        let PutBlob { key, body, headers, metadata, condition, .. } = request;
        let attributes = to_attributes(&headers, &metadata);
        if body.as_bytes().is_none() && body.length() > self.buffered_bytes {
            self.check_streamed(&condition, body.length())?;
            return self.put_stream(&key, &path, body.into_stream(), attributes, &plan).await;
        }
        let bytes = body.into_bytes().await?;
        let mut digests = start(&plan);
        digests.update(&bytes);
        plan.finish(digests)?;
        self.put_bytes(&key, &path, bytes, attributes, &condition).await
    }

    /// Refuses a condition of a put whose bytes are not sent at once.
    pub(super) fn check_streamed(&self, condition: &WriteCondition, length: u64) -> Result<()> {
        match condition {
            WriteCondition::None => Ok(()),
            WriteCondition::IfAbsent | WriteCondition::IfMatch(_) => {
                Err(Error::unsupported(format!(
                    "the blobs `{}` do not support the condition of a stream of {length} bytes: at \
                     most {} are read into memory; raise `buffered_bytes`, or put bytes",
                    path::ENGINE,
                    self.buffered_bytes
                )))
            }
        }
    }

    async fn put_bytes(
        &self,
        key: &str,
        path: &Path,
        bytes: Bytes,
        attributes: Attributes,
        condition: &WriteCondition,
    ) -> Result<PutBlobOutput> {
        let (access, mode) = match condition {
            WriteCondition::None => (Access::Write, PutMode::Overwrite),
            WriteCondition::IfAbsent => (Access::ConditionalWrite, PutMode::Create),
            WriteCondition::IfMatch(etag) => {
                let version = self.present_version(key, path, condition).await?;
                // The present ETag was right, so another write has changed it since.
                let access = if etag == "*" { Access::Write } else { Access::ConditionalWrite };
                (access, PutMode::Update(version))
            }
        };
        let options = PutOptions { mode, attributes, ..PutOptions::default() };
        let result = self
            .store
            .put_opts(path, PutPayload::from(bytes), options)
            .await
            .map_err(|error| from_store(access, key, error))?;
        self.written(key, path, result).await
    }

    /// Evaluates the condition on the present object, and returns the version to replace. The
    /// condition of the store is on this version, in the form that the store itself uses.
    async fn present_version(
        &self,
        key: &str,
        path: &Path,
        condition: &WriteCondition,
    ) -> Result<UpdateVersion> {
        let (info, meta) = self.describe(key, path).await?;
        condition.evaluate(key, Some(&info.etag))?;
        match (&meta.e_tag, &meta.version) {
            (None, None) => Err(Error::unsupported(format!(
                "the blob `{key}` has neither ETag nor version, which a write if match needs"
            ))),
            _ => Ok(UpdateVersion { e_tag: meta.e_tag, version: meta.version }),
        }
    }

    /// Writes a stream as an upload, and aborts it if the stream or a part fails.
    async fn put_stream(
        &self,
        key: &str,
        path: &Path,
        stream: ByteStream,
        attributes: Attributes,
        plan: &ChecksumPlan,
    ) -> Result<PutBlobOutput> {
        let options = PutMultipartOptions { attributes, ..PutMultipartOptions::default() };
        let mut upload = self
            .store
            .put_multipart_opts(path, options)
            .await
            // Nothing is visible yet.
            .map_err(|error| from_store(Access::Write, key, error).with_applied(Applied::No))?;
        let result = match send_parts(&mut *upload, key, stream, plan).await {
            Ok(()) => {
                upload.complete().await.map_err(|error| from_store(Access::Write, key, error))
            }
            Err(error) => Err(error),
        };
        match result {
            Ok(result) => self.written(key, path, result).await,
            Err(error) if error.applied() == Applied::No => match upload.abort().await {
                Ok(()) => Err(error),
                Err(left) => Err(error.with_source(left)),
            },
            // A completion that may have been executed has ended the upload.
            Err(error) => Err(error),
        }
    }

    /// Output of a write. A store that does not return the ETag is asked for it.
    pub(super) async fn written(
        &self,
        key: &str,
        path: &Path,
        result: PutResult,
    ) -> Result<PutBlobOutput> {
        match result.e_tag {
            Some(etag) => Ok(PutBlobOutput::new(unquoted(&etag))),
            None => self.present_output(key, path).await,
        }
    }

    /// Output of a write that has succeeded, from the present object.
    pub(super) async fn present_output(&self, key: &str, path: &Path) -> Result<PutBlobOutput> {
        match self.describe(key, path).await {
            Ok((info, _)) => {
                Ok(PutBlobOutput::new(info.etag).last_modified(Some(info.last_modified)))
            }
            Err(error) if error.is_not_found() => {
                Err(conflict().with_applied(Applied::Maybe).with_source(error))
            }
            Err(error) => Err(error.with_applied(Applied::Maybe)),
        }
    }
}

/// Digests of the expected checksums alone: none is stored.
fn start(plan: &ChecksumPlan) -> Digests {
    Digests::new(plan.expected().iter().map(Checksum::algorithm))
}

/// Sends a stream in parts of equal length, and verifies its checksums.
async fn send_parts(
    upload: &mut dyn MultipartUpload,
    key: &str,
    mut stream: ByteStream,
    plan: &ChecksumPlan,
) -> Result<()> {
    let mut digests = start(plan);
    let mut rest = BytesMut::new();
    let mut parts = Vec::with_capacity(CONCURRENT_PARTS);
    // A request is not polled while the stream is, and would time out: so the parts are gathered
    // first.
    let sent = async |parts: &mut Vec<_>| match try_join_all(parts.drain(..)).await {
        Ok(_) => Ok(()),
        Err(error) => Err(from_store(Access::Write, key, error).with_applied(Applied::No)),
    };
    while let Some(piece) = stream.try_next().await? {
        digests.update(&piece);
        rest.extend_from_slice(&piece);
        while rest.len() >= PART_BYTES {
            parts.push(upload.put_part(rest.split_to(PART_BYTES).freeze().into()));
            if parts.len() == CONCURRENT_PARTS {
                sent(&mut parts).await?;
            }
        }
    }
    plan.finish(digests)?;
    if !rest.is_empty() {
        parts.push(upload.put_part(rest.freeze().into()));
    }
    sent(&mut parts).await
}
