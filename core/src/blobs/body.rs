//! Content of blobs: bytes in memory, or a stream with a known length.

use std::fmt;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures::stream::{self, BoxStream, Stream, StreamExt, TryStreamExt};

use super::checksum::{Checksum, Digests};
use super::errors;
use crate::error::Result;

/// Stream of the bytes of a blob, in pieces.
pub type ByteStream = BoxStream<'static, Result<Bytes>>;

/// Content of a blob or part to write, with its exact length.
///
/// A retry can send bytes again, but no stream.
pub struct Body {
    length: u64,
    source: Source,
}

enum Source {
    Bytes(Bytes),
    /// A stream is `Send` alone. The mutex, which nothing locks, makes requests `Sync`, as futures
    /// that borrow them need.
    Stream(Mutex<ByteStream>),
}

impl Body {
    /// Content from a stream of exactly `length` bytes. A write whose stream is shorter or longer
    /// fails with `IncompleteBody`, and one whose stream fails returns that error.
    pub fn stream(length: u64, stream: impl Stream<Item = Result<Bytes>> + Send + 'static) -> Self {
        Self { length, source: Source::Stream(Mutex::new(stream.boxed())) }
    }

    /// Length in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The bytes, if the content is in memory.
    pub fn as_bytes(&self) -> Option<&Bytes> {
        match &self.source {
            Source::Bytes(bytes) => Some(bytes),
            Source::Stream(_) => None,
        }
    }

    /// Stream of exactly [`length`](Self::length) bytes, or one that ends with an error.
    pub fn into_stream(self) -> ByteStream {
        match self.source {
            Source::Bytes(bytes) if bytes.is_empty() => stream::empty().boxed(),
            Source::Bytes(bytes) => stream::iter([Ok(bytes)]).boxed(),
            Source::Stream(stream) => {
                let stream = stream.into_inner().unwrap_or_else(PoisonError::into_inner);
                ExactLength { stream, left: Some(self.length) }.boxed()
            }
        }
    }

    /// All bytes, in memory.
    ///
    /// # Errors
    /// Those of the stream; `IncompleteBody` for another length.
    pub async fn into_bytes(self) -> Result<Bytes> {
        match self.source {
            Source::Bytes(bytes) => Ok(bytes),
            Source::Stream(_) => collect(self.into_stream()).await,
        }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self { length: bytes.len() as u64, source: Source::Bytes(bytes) }
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Bytes::from(bytes).into()
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Bytes::from(text).into()
    }
}

impl From<&'static [u8]> for Body {
    fn from(bytes: &'static [u8]) -> Self {
        Bytes::from_static(bytes).into()
    }
}

impl From<&'static str> for Body {
    fn from(text: &'static str) -> Self {
        Bytes::from_static(text.as_bytes()).into()
    }
}

impl Default for Body {
    fn default() -> Self {
        Bytes::new().into()
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.source {
            Source::Bytes(_) => "bytes",
            Source::Stream(_) => "streamed bytes",
        };
        write!(f, "Body({} {kind})", self.length)
    }
}

/// Stream that fails unless it has exactly the announced number of bytes.
struct ExactLength {
    stream: ByteStream,
    /// Bytes that are still to come; `None` after the end or an error.
    left: Option<u64>,
}

impl Stream for ExactLength {
    type Item = Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(left) = self.left else { return Poll::Ready(None) };
        let piece = match self.stream.poll_next_unpin(context) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(piece) => piece,
        };
        let item = match piece {
            Some(Ok(piece)) => match left.checked_sub(piece.len() as u64) {
                Some(rest) => {
                    self.left = Some(rest);
                    return Poll::Ready(Some(Ok(piece)));
                }
                None => Some(Err(errors::body_too_long())),
            },
            Some(Err(error)) => Some(Err(error)),
            None if left > 0 => Some(Err(errors::incomplete_body(left))),
            None => None,
        };
        self.left = None;
        Poll::Ready(item)
    }
}

/// Content of a blob that is being read.
///
/// It is a [`Stream`] of bytes. A whole blob with a stored checksum is verified: the stream ends
/// with [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if its bytes have another one. So use
/// the bytes only after the stream has ended without an error.
pub struct BlobStream(ByteStream);

impl BlobStream {
    /// Content from a stream that verifies whole blobs itself.
    pub fn new(stream: impl Stream<Item = Result<Bytes>> + Send + 'static) -> Self {
        // Readers of other crates poll again after the end.
        Self(stream.fuse().boxed())
    }

    /// Content from bytes in memory, which need no verification.
    pub fn from_bytes(bytes: Bytes) -> Self {
        Self(Body::from(bytes).into_stream())
    }

    /// All bytes, in memory.
    ///
    /// # Errors
    /// Those of the stream.
    pub async fn collect(self) -> Result<Bytes> {
        collect(self.0).await
    }

    /// The stream itself.
    pub fn into_inner(self) -> ByteStream {
        self.0
    }
}

impl Stream for BlobStream {
    type Item = Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(context)
    }
}

impl fmt::Debug for BlobStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BlobStream")
    }
}

/// Concatenates a stream. One that has a single piece is not copied.
async fn collect(mut stream: ByteStream) -> Result<Bytes> {
    let Some(first) = stream.try_next().await? else { return Ok(Bytes::new()) };
    let Some(second) = stream.try_next().await? else { return Ok(first) };
    let mut all = BytesMut::with_capacity(first.len() + second.len());
    all.extend_from_slice(&first);
    all.extend_from_slice(&second);
    while let Some(piece) = stream.try_next().await? {
        all.extend_from_slice(&piece);
    }
    Ok(all.freeze())
}

/// Verifies a stream of a whole blob: it ends with [`ErrorKind::Corrupt`] if its bytes do not have
/// the stored checksum. A composite checksum is not verified: it depends on the sizes of the parts.
///
/// [`ErrorKind::Corrupt`]: crate::ErrorKind::Corrupt
pub fn stream_verified(key: &str, stored: Option<Checksum>, stream: ByteStream) -> BlobStream {
    let Some(stored) = stored.filter(|stored| stored.is_full_object()) else {
        return BlobStream::new(stream);
    };
    let digests = Digests::new([stored.algorithm()]);
    let state = Some((stream, digests, stored, key.to_owned()));
    BlobStream::new(stream::unfold(state, |state| async move {
        let (mut stream, mut digests, stored, key) = state?;
        match stream.next().await {
            Some(Ok(piece)) => {
                digests.update(&piece);
                Some((Ok(piece), Some((stream, digests, stored, key))))
            }
            Some(Err(error)) => Some((Err(error), None)),
            None => match digests.finish().contains(&stored) {
                true => None,
                false => Some((Err(errors::corrupt(&key, &stored)), None)),
            },
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::blobs::ChecksumAlgorithm;

    fn pieces(pieces: &'static [&'static str]) -> impl Stream<Item = Result<Bytes>> + Send {
        stream::iter(pieces.iter().map(|piece| Ok(Bytes::from_static(piece.as_bytes()))))
    }

    #[tokio::test]
    async fn stream_of_another_length_fails() {
        let read = |length| Body::stream(length, pieces(&["ab", "c"])).into_bytes();
        assert_eq!(read(3).await.unwrap(), "abc");
        for (length, text) in [(2, "more bytes"), (5, "2 bytes")] {
            let error = read(length).await.unwrap_err();
            assert_eq!((error.kind(), error.code()), (&ErrorKind::Validation, "IncompleteBody"));
            assert!(error.message().contains(text), "{error}");
        }
    }

    #[tokio::test]
    async fn stream_ends_after_its_error() {
        let mut stream = Body::stream(1, pieces(&["ab", "c"])).into_stream();
        assert!(stream.next().await.is_some_and(|piece| piece.is_err()));
        assert!(stream.next().await.is_none());
    }

    #[tokio::test]
    async fn damaged_bytes_end_with_an_error() {
        for algorithm in ChecksumAlgorithm::ALL {
            let stored = Checksum::of(algorithm, b"abc");
            let read = |stream: ByteStream| {
                stream_verified("photo", Some(stored.clone()), stream).collect()
            };
            assert_eq!(read(pieces(&["a", "bc"]).boxed()).await.unwrap(), "abc");
            let mut polled_again =
                stream_verified("photo", Some(stored.clone()), pieces(&["abc"]).boxed());
            assert!(polled_again.next().await.is_some_and(|piece| piece.is_ok()));
            assert!(polled_again.next().await.is_none() && polled_again.next().await.is_none());
            let error = read(pieces(&["abd"]).boxed()).await.unwrap_err();
            assert_eq!(error.kind(), &ErrorKind::Corrupt, "{algorithm}");
            assert!(error.message().contains("photo"), "{error}");
        }
    }
}
