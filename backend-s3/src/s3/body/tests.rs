//! Bodies that are streams: length, checksums, and what the HTTP client sees.

use futures::StreamExt;
use http_body::Body as _;
use tabla_core::blobs::PutBlob;
use tabla_core::env::{ManualClock, Timestamp};

use super::*;

fn body(length: u64, pieces: &'static [&'static str]) -> Body {
    Body::stream(
        length,
        stream::iter(pieces.iter().map(|piece| Ok(Bytes::from_static(piece.as_bytes())))),
    )
}

async fn upload(request: PutBlob) -> Result<UploadBody> {
    let plan = request.plan().unwrap();
    let stored = plan.stored();
    UploadBody::new(request.body, &plan, stored).await
}

/// Returns the pieces that are handed over, and the error of the stream.
async fn sent_pieces(upload: UploadBody) -> (Vec<Bytes>, Option<&'static str>) {
    let mut content = upload.content;
    let mut pieces = Vec::new();
    while let Some(Ok(piece)) = content.next().await {
        pieces.push(piece);
    }
    let error = upload.progress.and_then(|progress| progress.take_error());
    (pieces, error.map(|error| error.code()))
}

#[tokio::test]
async fn last_piece_is_held_back_until_the_stream_has_ended_well() {
    let put = |length, pieces| upload(PutBlob::new("k", body(length, pieces)));
    let pieces = |texts: &[&'static str]| -> Vec<Bytes> {
        texts.iter().map(|text| Bytes::from_static(text.as_bytes())).collect()
    };
    assert_eq!(
        sent_pieces(put(3, &["ab", "", "c"]).await.unwrap()).await,
        (pieces(&["ab", "c"]), None)
    );
    for (length, texts) in [(2, &["ab", "c"][..]), (4, &["ab", "c"]), (2, &["abc"])] {
        let (sent, error) = sent_pieces(put(length, texts).await.unwrap()).await;
        assert!(sent.iter().map(Bytes::len).sum::<usize>() < length as usize, "{sent:?}");
        assert_eq!(error, Some("IncompleteBody"));
    }
}

#[tokio::test]
async fn stream_with_another_checksum_is_not_sent_to_its_end() {
    let expected = Checksum::of(ChecksumAlgorithm::Md5, b"abc");
    let put = |pieces| PutBlob::new("k", body(3, pieces)).expect(expected.clone());
    let (sent, error) = sent_pieces(upload(put(&["ab", "c"])).await.unwrap()).await;
    assert_eq!((sent.len(), error), (2, None));
    let (sent, error) = sent_pieces(upload(put(&["ab", "d"])).await.unwrap()).await;
    assert_eq!((sent.len(), error), (1, Some("BadDigest")));
}

#[tokio::test]
async fn stream_of_0_bytes_is_read_before_it_is_sent() {
    assert!(upload(PutBlob::new("k", body(0, &["", ""]))).await.unwrap().progress.is_none());
    let error = upload(PutBlob::new("k", body(0, &["", "a"]))).await.err().unwrap();
    assert_eq!(error.code(), "IncompleteBody");
}

#[tokio::test]
async fn checksum_is_a_header_if_it_is_known_and_a_trailer_otherwise() {
    let algorithm = ChecksumAlgorithm::Crc32c;
    let crc = Checksum::of(algorithm, b"abc");
    let known = upload(PutBlob::new("k", "abc").checksum_algorithm(algorithm)).await.unwrap();
    assert_eq!((known.checksum.as_ref(), known.trailer), (Some(&crc), None));
    let expected = upload(PutBlob::new("k", body(3, &["abc"])).expect(crc.clone())).await.unwrap();
    assert_eq!((expected.checksum.as_ref(), expected.trailer), (Some(&crc), None));
    let unknown = upload(PutBlob::new("k", body(3, &["abc"]))).await.unwrap();
    assert_eq!((unknown.checksum, unknown.trailer), (None, Some(ChecksumAlgorithm::Sha256)));
}

#[tokio::test]
async fn bytes_with_another_checksum_are_not_sent() {
    let put = PutBlob::new("k", "abd").expect(Checksum::of(ChecksumAlgorithm::Sha1, b"abc"));
    assert_eq!(upload(put).await.err().unwrap().code(), "BadDigest");
}

#[tokio::test]
async fn length_of_a_stream_is_exact_and_shrinks() {
    let sdk = upload(PutBlob::new("k", body(3, &["ab", "c"]))).await.unwrap().content.into_inner();
    assert_eq!(sdk.size_hint().exact(), Some(3));
}

#[tokio::test]
async fn time_limit_counts_from_the_last_byte() {
    let clock = ManualClock::new(Timestamp::default());
    let limit = Duration::from_secs(15);
    let progress = Arc::new(Progress::default());
    let wait = async |seconds| {
        tokio::task::yield_now().await;
        clock.advance(Duration::from_secs(seconds));
        tokio::task::yield_now().await;
    };
    let slow = async {
        wait(100).await;
        progress.end.notify_one();
        wait(14).await;
        Ok(())
    };
    sent(slow, Some(Arc::clone(&progress)), &clock, limit).await.unwrap();
    let silent = async {
        progress.end.notify_one();
        wait(15).await;
        future::pending::<Result<()>>().await
    };
    let error = sent(silent, Some(Arc::clone(&progress)), &clock, limit).await.unwrap_err();
    assert_eq!(error.applied(), tabla_core::Applied::Maybe);
}

#[tokio::test]
async fn download_ends_after_its_error() {
    let pieces = [Ok(Bytes::from_static(b"a")), Err(no_answer(Access::Read)), Ok(Bytes::new())];
    assert_eq!(ended_by_error(stream::iter(pieces)).collect::<Vec<_>>().await.len(), 2);
}
