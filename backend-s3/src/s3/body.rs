//! Bodies of requests and responses: known checksums, exact length, and the end of a stream.

use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use aws_sdk_s3::primitives::ByteStream as SdkStream;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use futures::future::{self, Either};
use futures::{Stream, stream};
use http_body::{Frame, SizeHint};
use tabla_core::blobs::{Body, ByteStream, Checksum, ChecksumAlgorithm, ChecksumPlan, Digests};
use tabla_core::env::Clock;
use tabla_core::{Error, Result};
use tokio::sync::Notify;

use super::error::{Access, broken_download, no_answer};

/// Content of a put or part, ready to send.
pub(super) struct UploadBody {
    pub(super) content: SdkStream,
    pub(super) length: u64,
    /// Checksum to send as a header, for the service to verify and store.
    pub(super) checksum: Option<Checksum>,
    /// Algorithm of the checksum that the SDK computes while it sends, and sends last.
    pub(super) trailer: Option<ChecksumAlgorithm>,
    /// Content-MD5.
    pub(super) md5: Option<Checksum>,
    /// SHA-256 of the content, if it is known already.
    pub(super) sha256: Option<Checksum>,
    /// Progress of a stream; `None` for bytes.
    pub(super) progress: Option<Arc<Progress>>,
}

impl UploadBody {
    /// Computes and compares the checksums of bytes, and prepares a stream to do so.
    ///
    /// `stored` is the algorithm of the checksum that the service stores, if it stores one.
    ///
    /// # Errors
    /// `BadDigest`: the bytes have another checksum than expected; and the errors of a stream of
    /// 0 bytes.
    pub(super) async fn new(
        body: Body,
        plan: &ChecksumPlan,
        stored: Option<ChecksumAlgorithm>,
    ) -> Result<Self> {
        let length = body.length();
        // The HTTP client does not poll a body of 0 bytes, so nobody would see that it is longer.
        let bytes = match (body.as_bytes(), length) {
            (Some(bytes), _) => Ok(bytes.clone()),
            (None, 0) => Ok(body.into_bytes().await?),
            (None, _) => Err(body.into_stream()),
        };
        let expected = plan.expected();
        let of = |all: &[Checksum], algorithm| {
            all.iter().find(|checksum| checksum.algorithm() == algorithm).cloned()
        };
        let md5 = of(expected, ChecksumAlgorithm::Md5);
        match bytes {
            Ok(bytes) => {
                let algorithms = expected.iter().map(Checksum::algorithm).chain(stored);
                let mut digests = Digests::new(algorithms);
                digests.update(&bytes);
                let (_, checksum) = plan.finish(digests)?;
                let checksum = checksum.filter(|_| stored.is_some());
                let sha256 = of(checksum.as_slice(), ChecksumAlgorithm::Sha256)
                    .or_else(|| of(expected, ChecksumAlgorithm::Sha256));
                let content = bytes.into();
                Ok(Self { content, length, checksum, trailer: None, md5, sha256, progress: None })
            }
            Err(stream) => {
                let checksum = stored.and_then(|stored| of(expected, stored));
                let trailer = stored.filter(|_| checksum.is_none());
                let progress = Arc::new(Progress::default());
                let body = SizedBody {
                    stream: Mutex::new(stream),
                    left: length,
                    held: None,
                    digests: Some(Digests::new(expected.iter().map(Checksum::algorithm))),
                    plan: plan.clone(),
                    progress: Arc::clone(&progress),
                };
                Ok(Self {
                    content: SdkStream::new(SdkBody::from_body_1_x(body)),
                    length,
                    checksum,
                    // Beside a trailer, the header would be of the chunks on some engines.
                    md5: md5.filter(|_| trailer.is_none()),
                    trailer,
                    sha256: None,
                    progress: Some(progress),
                })
            }
        }
    }
}

/// Progress of a stream that is being sent.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Error of the stream, which the HTTP client would hide behind its own.
    error: Mutex<Option<Error>>,
    /// Notified when the last byte has been handed over.
    end: Notify,
}

impl Progress {
    fn fail(&self, error: Error) -> BodyFailure {
        *self.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        BodyFailure
    }

    fn take_error(&self) -> Option<Error> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Waits for a call whose body may be a stream. The time limit counts from the last byte.
///
/// # Errors
/// That of the stream, of which the service has not got all bytes; that of the call; or
/// [`no_answer`].
pub(super) async fn sent<T>(
    call: impl Future<Output = Result<T>>,
    progress: Option<Arc<Progress>>,
    clock: &dyn Clock,
    limit: Duration,
) -> Result<T> {
    let Some(progress) = progress else { return call.await };
    let late = async {
        progress.end.notified().await;
        clock.sleep_until(clock.monotonic() + limit).await;
    };
    let result = match future::select(pin!(call), pin!(late)).await {
        Either::Left((result, _)) => result,
        Either::Right(((), _)) => Err(no_answer(Access::Write)),
    };
    result.map_err(|error| progress.take_error().unwrap_or(error))
}

/// Stand-in for the error in [`Progress`].
#[derive(Debug)]
struct BodyFailure;

impl std::fmt::Display for BodyFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the stream of the body failed")
    }
}

impl std::error::Error for BodyFailure {}

/// Stream as a body of HTTP, of exactly the announced length.
///
/// It holds back the last piece until the stream has ended and its checksums are compared. Without
/// that piece the request is incomplete, and the service writes nothing.
struct SizedBody {
    /// The SDK needs a `Sync` body, and a stream is `Send` alone.
    stream: Mutex<ByteStream>,
    /// Bytes that are not handed over yet.
    left: u64,
    held: Option<Bytes>,
    /// `None` after the end of the stream.
    digests: Option<Digests>,
    plan: ChecksumPlan,
    progress: Arc<Progress>,
}

impl http_body::Body for SizedBody {
    type Data = Bytes;
    type Error = BodyFailure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyFailure>>> {
        let this = &mut *self;
        while let Some(digests) = &mut this.digests {
            let stream = this.stream.get_mut().unwrap_or_else(PoisonError::into_inner);
            match ready!(stream.as_mut().poll_next(context)) {
                Some(Ok(piece)) if piece.is_empty() => {}
                Some(Ok(piece)) => {
                    digests.update(&piece);
                    if let Some(before) = this.held.replace(piece) {
                        this.left -= before.len() as u64;
                        return Poll::Ready(Some(Ok(Frame::data(before))));
                    }
                }
                Some(Err(error)) => {
                    this.digests = None;
                    this.held = None;
                    return Poll::Ready(Some(Err(this.progress.fail(error))));
                }
                None => {
                    let Some(digests) = this.digests.take() else { break };
                    if let Err(error) = this.plan.finish(digests) {
                        this.held = None;
                        return Poll::Ready(Some(Err(this.progress.fail(error))));
                    }
                }
            }
        }
        let Some(last) = this.held.take() else { return Poll::Ready(None) };
        this.left -= last.len() as u64;
        this.progress.end.notify_one();
        Poll::Ready(Some(Ok(Frame::data(last))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// Bytes of a download.
pub(super) fn download(content: SdkStream) -> ByteStream {
    let next = |mut content: SdkStream| async move {
        let piece = content.next().await?;
        Some((piece.map_err(broken_download), content))
    };
    Box::pin(ended_by_error(stream::unfold(content, next)))
}

/// Stream that ends after its first error.
fn ended_by_error(
    stream: impl Stream<Item = Result<Bytes>> + Send,
) -> impl Stream<Item = Result<Bytes>> + Send {
    use futures::StreamExt;
    let mut has_failed = false;
    stream.take_while(move |piece| {
        let is_before = !has_failed;
        has_failed |= piece.is_err();
        future::ready(is_before)
    })
}

#[cfg(test)]
mod tests;
