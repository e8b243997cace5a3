//! Buckets in memory: [`MemoryBuckets`] and [`MemoryBlobs`].

mod rows;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream;
use tabla_core::Result;
use tabla_core::blobs::{BlobInfo, Blobs, Body, ByteStream, ChecksumPlan, no_such_bucket};
use tabla_core::env::{Env, Timestamp};

use crate::buckets::{
    BucketInfo, Buckets, DEFAULT_BUCKET, bucket_exists, bucket_not_empty, check_bucket_name,
};
use crate::storage::{Content, Found, Rows, Storage, Written};
use crate::stored::StoredBlobs;
use crate::{SigningKey, UrlSigner};

use self::rows::MemoryRows;

/// Buckets in memory, lost when the last clone is dropped. They are the executable specification of
/// [`Blobs`].
///
/// The bucket `default` exists from the start. Clones share the buckets.
#[derive(Clone, Debug)]
pub struct MemoryBuckets {
    buckets: Shared,
    key: SigningKey,
    public: Option<String>,
    env: Env,
}

/// Blobs of one bucket of [`MemoryBuckets`].
#[derive(Debug)]
pub struct MemoryBlobs(StoredBlobs<MemoryBucket>);

/// All buckets, under the one lock.
type Shared = Arc<Mutex<BTreeMap<String, BucketState>>>;

#[derive(Debug)]
struct BucketState {
    created: Timestamp,
    rows: MemoryRows,
}

impl BucketState {
    fn new(env: &Env) -> Self {
        Self { created: env.clock.now().to_millis(), rows: MemoryRows::default() }
    }
}

impl MemoryBuckets {
    /// Creates the bucket `default`, on the clock and randomness of the system.
    pub fn new() -> Self {
        Self::with_env(Env::system())
    }

    /// Creates the bucket `default`, on this clock and randomness.
    pub fn with_env(env: Env) -> Self {
        let buckets = BTreeMap::from([(DEFAULT_BUCKET.to_owned(), BucketState::new(&env))]);
        let key = SigningKey::random(&env);
        Self { buckets: Arc::new(Mutex::new(buckets)), key, public: None, env }
    }

    /// Sets the address of the gateway in presigned URLs, such as `http://127.0.0.1:9000`.
    #[must_use]
    pub fn with_public(self, public: impl Into<String>) -> Self {
        Self { public: Some(public.into()), ..self }
    }

    /// Opens a bucket.
    ///
    /// # Errors
    /// - [`tabla_core::ErrorKind::NotFound`]: no such bucket (`NoSuchBucket`).
    /// - [`tabla_core::ErrorKind::Config`]: the address of the gateway is malformed.
    pub fn blobs(&self, bucket: &str) -> Result<MemoryBlobs> {
        lock(&self.buckets).get(bucket).ok_or_else(|| no_such_bucket(bucket))?;
        let storage = MemoryBucket { buckets: Arc::clone(&self.buckets), name: bucket.to_owned() };
        let public = self.public.as_deref();
        let signer = UrlSigner::new(self.key.clone(), bucket, public, self.env.clone())?;
        Ok(MemoryBlobs(StoredBlobs::new("memory", storage, signer, self.env.clone())))
    }
}

impl Default for MemoryBuckets {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryBlobs {
    /// Creates blobs in a bucket of their own, on the clock and randomness of the system.
    pub fn new() -> Self {
        Self::with_env(Env::system())
    }

    /// Creates blobs in a bucket of their own, on this clock and randomness.
    pub fn with_env(env: Env) -> Self {
        let buckets = MemoryBuckets::with_env(env);
        buckets.blobs(DEFAULT_BUCKET).expect("the default bucket exists")
    }
}

impl Default for MemoryBlobs {
    fn default() -> Self {
        Self::new()
    }
}

macro_rules! stored {
    ($self:ident, $method:ident, $request:ident) => {
        $self.0.$method($request).await
    };
}

tabla_core::wrap_blobs! {
    impl[] Blobs for MemoryBlobs, inner: 0, call: stored
}

#[async_trait]
impl Buckets for MemoryBuckets {
    fn signing_key(&self) -> &SigningKey {
        &self.key
    }

    async fn create_bucket(&self, name: &str) -> Result<()> {
        check_bucket_name(name)?;
        let mut buckets = lock(&self.buckets);
        if buckets.contains_key(name) {
            return Err(bucket_exists(name));
        }
        buckets.insert(name.to_owned(), BucketState::new(&self.env));
        Ok(())
    }

    async fn delete_bucket(&self, name: &str) -> Result<()> {
        let mut buckets = lock(&self.buckets);
        let bucket = buckets.get(name).ok_or_else(|| no_such_bucket(name))?;
        if !bucket.rows.is_empty() {
            return Err(bucket_not_empty(name));
        }
        buckets.remove(name);
        Ok(())
    }

    async fn list_buckets(&self) -> Result<Vec<BucketInfo>> {
        let buckets = lock(&self.buckets);
        let describe = |(name, bucket): (&String, &BucketState)| {
            BucketInfo::new(name, bucket.created, bucket.rows.keeps_versions())
        };
        Ok(buckets.iter().map(describe).collect())
    }

    async fn open_bucket(&self, name: &str) -> Result<Arc<dyn Blobs>> {
        Ok(Arc::new(self.blobs(name)?))
    }

    async fn enable_versions(&self, name: &str) -> Result<()> {
        let mut buckets = lock(&self.buckets);
        let bucket = buckets.get_mut(name).ok_or_else(|| no_such_bucket(name))?;
        bucket.rows.enable_versions();
        Ok(())
    }
}

fn lock(
    buckets: &Mutex<BTreeMap<String, BucketState>>,
) -> MutexGuard<'_, BTreeMap<String, BucketState>> {
    buckets.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Storage of one bucket.
#[derive(Debug)]
struct MemoryBucket {
    buckets: Shared,
    name: String,
}

/// Bytes of a blob in one or more segments, which are those of its parts.
#[derive(Clone, Debug)]
struct Segments(Arc<[Bytes]>);

impl Content for Segments {
    fn concat<'a>(contents: impl Iterator<Item = &'a Self>) -> Self {
        Self(contents.flat_map(|content| content.0.iter().cloned()).collect())
    }
}

impl Segments {
    /// Stream of the bytes at these positions.
    fn stream(&self, range: Range<u64>) -> ByteStream {
        let mut begin = 0;
        let mut pieces = Vec::new();
        for segment in self.0.iter() {
            let length = segment.len() as u64;
            let first = range.start.clamp(begin, begin + length) - begin;
            let end = range.end.clamp(begin, begin + length) - begin;
            if first < end {
                pieces.push(Ok(segment.slice(first as usize..end as usize)));
            }
            begin += length;
        }
        stream::iter(pieces).boxed()
    }
}

impl MemoryBucket {
    /// Executes a transaction under the lock. Operations on rows check first and change last, so a
    /// failed one has changed nothing.
    fn run<R>(&self, work: impl FnOnce(&mut dyn Rows<Segments>) -> Result<R>) -> Result<R> {
        let mut buckets = lock(&self.buckets);
        let bucket = buckets.get_mut(&self.name).ok_or_else(|| no_such_bucket(&self.name))?;
        work(&mut bucket.rows)
    }
}

impl Storage for MemoryBucket {
    type Content = Segments;

    async fn write<R: Send + 'static>(
        &self,
        body: Body,
        plan: ChecksumPlan,
        commit: impl FnOnce(&mut dyn Rows<Segments>, Written<Segments>) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        // The body is read before the lock is taken: it may take for ever.
        let bytes = body.into_bytes().await?;
        let mut digests = plan.start();
        digests.update(&bytes);
        let (etag, checksum) = plan.finish(digests)?;
        let size = bytes.len() as u64;
        let content = Segments(Arc::new([bytes]));
        self.run(|rows| commit(rows, Written { content, size, etag, checksum }))
    }

    async fn transact<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Rows<Segments>) -> Result<R> + Send + 'static,
    ) -> Result<R> {
        self.run(work)
    }

    fn read<R>(&self, work: impl FnOnce(&dyn Rows<Segments>) -> Result<R>) -> Result<R> {
        self.run(|rows| work(rows))
    }

    fn open(
        &self,
        find: impl Fn(&dyn Rows<Segments>) -> Result<Found<Segments>>,
    ) -> Result<(BlobInfo, Range<u64>, ByteStream)> {
        let Found { info, content, range } = self.read(find)?;
        let stream = content.stream(range.clone());
        Ok((info, range, stream))
    }
}
