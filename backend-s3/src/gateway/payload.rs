//! Body of a request, verified while it is read.
//!
//! The last piece is held back until everything about the body is verified: its length, its hash,
//! the signatures of its chunks, and its trailing checksum. So a storage that has received all bytes
//! has received bytes that are right, and one that has received an error writes nothing.

mod chunked;
mod trailer;

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tabla_core::blobs::{
    Checksum, ChecksumAlgorithm, Digests, body_too_long, codes, incomplete_body, validation,
};
use tabla_core::{Error, ErrorKind, Result};
use tabla_server::listener::RequestBodyError;

pub(super) use self::chunked::ChunkDecoder;
pub(super) use self::trailer::{CHECKSUM, Trailer, stored_algorithm};
use super::refusal::{PAYLOAD_MISMATCH, REQUEST_TIMEOUT};

/// Error of a body, as it was received.
pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// How a body is decoded and verified.
#[derive(Debug)]
pub(super) enum Decoding {
    /// The body as it is.
    None,
    /// The body as it is, with this SHA-256.
    Hash([u8; 32]),
    /// The chunks of a body with the coding `aws-chunked`.
    Chunked(Box<ChunkDecoder>),
}

/// Body of exactly the announced length, verified while it is read.
pub(super) struct VerifiedBody<B> {
    body: Pin<Box<B>>,
    work: Option<Work>,
    /// Decoded bytes that are still to be received.
    left: u64,
    /// Decoded pieces; the last one is held back until the end is verified.
    pieces: VecDeque<Bytes>,
    /// Length of `pieces` in bytes.
    buffered: u64,
}

/// Verification in progress; there is none after the end.
enum Work {
    None,
    Hash(Digests, [u8; 32]),
    Chunked(Box<ChunkDecoder>),
}

impl<B> VerifiedBody<B> {
    /// Body of `length` decoded bytes.
    pub(super) fn new(body: B, length: u64, decoding: Decoding) -> Self {
        let work = match decoding {
            Decoding::None => Work::None,
            Decoding::Hash(expected) => {
                Work::Hash(Digests::new([ChecksumAlgorithm::Sha256]), expected)
            }
            Decoding::Chunked(decoder) => Work::Chunked(decoder),
        };
        Self {
            body: Box::pin(body),
            work: Some(work),
            left: length,
            pieces: VecDeque::new(),
            buffered: 0,
        }
    }

    /// Decodes received bytes.
    fn receive(&mut self, bytes: Bytes) -> Result<()> {
        let mut decoded = VecDeque::new();
        match &mut self.work {
            Some(Work::Chunked(decoder)) => decoder.receive(bytes, &mut decoded)?,
            Some(Work::Hash(digests, _)) => {
                digests.update(&bytes);
                decoded.push_back(bytes);
            }
            _ => decoded.push_back(bytes),
        }
        for piece in decoded.into_iter().filter(|piece| !piece.is_empty()) {
            let length = piece.len() as u64;
            self.left = self.left.checked_sub(length).ok_or_else(body_too_long)?;
            self.buffered += length;
            self.pieces.push_back(piece);
        }
        Ok(())
    }

    /// Verifies the whole body at its end.
    fn finish(work: Work, left: u64) -> Result<()> {
        if left > 0 {
            return Err(incomplete_body(left));
        }
        match work {
            Work::None => Ok(()),
            Work::Chunked(decoder) => decoder.finish(),
            Work::Hash(digests, expected) => {
                let computed = digests.finish();
                match computed.first().map(Checksum::value) == Some(expected.as_slice()) {
                    true => Ok(()),
                    false => Err(validation(
                        PAYLOAD_MISMATCH,
                        "The provided 'x-amz-content-sha256' header does not match what was \
                         computed."
                            .to_owned(),
                    )),
                }
            }
        }
    }

    /// Piece that may be passed on: any but the last one, and after the end the last one, too.
    fn next_piece(&mut self) -> Option<Bytes> {
        if self.work.is_some() && self.pieces.len() < 2 {
            return None;
        }
        let piece = self.pieces.pop_front()?;
        self.buffered -= piece.len() as u64;
        Some(piece)
    }
}

impl<B: Body<Data = Bytes, Error: Into<BoxError>>> Body for VerifiedBody<B> {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>>>> {
        loop {
            if let Some(piece) = self.next_piece() {
                return Poll::Ready(Some(Ok(Frame::data(piece))));
            }
            if self.work.is_none() {
                return Poll::Ready(None);
            }
            let outcome = match ready!(self.body.as_mut().poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => self.receive(bytes),
                    // HTTP's own trailers are not used.
                    Err(_) => Ok(()),
                },
                Some(Err(error)) => Err(unreceived(error.into())),
                None => match self.work.take() {
                    Some(work) => Self::finish(work, self.left),
                    None => Ok(()),
                },
            };
            if let Err(error) = outcome {
                self.work = None;
                self.pieces.clear();
                return Poll::Ready(Some(Err(error)));
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.work.is_none() && self.pieces.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left + self.buffered)
    }
}

/// Error for a body that was not received.
fn unreceived(error: BoxError) -> Error {
    let code = match error.downcast_ref::<RequestBodyError>() {
        Some(RequestBodyError::Late(_) | RequestBodyError::Stalled(_)) => REQUEST_TIMEOUT,
        Some(RequestBodyError::ShuttingDown) => {
            return Error::new(ErrorKind::Throttled, error.to_string()).with_source(error);
        }
        _ => codes::INCOMPLETE_BODY,
    };
    validation(code, format!("{error}; nothing was written")).with_source(error)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http_body_util::{BodyExt, StreamBody};
    use sha2::{Digest, Sha256};

    use super::*;

    /// Pieces that are passed on, and the error at the end.
    async fn read(
        pieces: &[&'static str],
        length: u64,
        decoding: Decoding,
    ) -> (String, Option<&'static str>) {
        let frames: Vec<Result<_, Infallible>> = pieces
            .iter()
            .map(|piece| Ok(Frame::data(Bytes::from_static(piece.as_bytes()))))
            .collect();
        let mut body =
            VerifiedBody::new(StreamBody::new(futures::stream::iter(frames)), length, decoding);
        assert_eq!(body.size_hint().exact(), Some(length));
        let mut text = String::new();
        while let Some(frame) = body.frame().await {
            match frame {
                Ok(frame) => text.push_str(&String::from_utf8_lossy(&frame.into_data().unwrap())),
                Err(error) => return (text, Some(error.code())),
            }
        }
        (text, None)
    }

    #[tokio::test]
    async fn last_piece_is_passed_on_after_the_hash_is_verified() {
        let hash: [u8; 32] = Sha256::digest("abcdef").into();
        let pieces = ["abc", "", "def"];
        assert_eq!(read(&pieces, 6, Decoding::Hash(hash)).await, ("abcdef".into(), None));
        let other = read(&pieces, 6, Decoding::Hash([0; 32])).await;
        assert_eq!(other, ("abc".into(), Some("XAmzContentSHA256Mismatch")));
    }

    #[tokio::test]
    async fn body_of_another_length_fails() {
        assert_eq!(read(&["abc", "d"], 4, Decoding::None).await, ("abcd".into(), None));
        let short = read(&["abc", "d"], 5, Decoding::None).await;
        assert_eq!(short, ("abc".into(), Some("IncompleteBody")));
        let long = read(&["abc", "d"], 3, Decoding::None).await;
        assert_eq!(long, (String::new(), Some("IncompleteBody")));
        assert_eq!(read(&[], 0, Decoding::None).await, (String::new(), None));
        assert_eq!(read(&["a"], 0, Decoding::None).await.1, Some("IncompleteBody"));
    }
}
