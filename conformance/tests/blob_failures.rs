//! Injected failures of blobs, and their effect with and without retries.

use std::sync::Arc;
use std::time::Duration;

use futures::stream;
use tabla_conformance::blobs::fault::{BlobFailure, BlobFailures, BlobOperation, FaultBlobs};
use tabla_conformance::fault::When;
use tabla_core::blobs::*;
use tabla_core::env::{Env, ManualClock, Random, SeededRandom, Timestamp};
use tabla_core::{Applied, ErrorKind, Result, Retry, RetryPolicy};
use tabla_s3::{Buckets, MemoryBlobs, MemoryBuckets};

type Failing = Arc<FaultBlobs<MemoryBlobs>>;

fn failing(failures: BlobFailures) -> Failing {
    Arc::new(FaultBlobs::new(MemoryBlobs::new()).failures(failures))
}

/// Content in the wrapped blobs, which never fail.
async fn held(blobs: &Failing, key: &str) -> Option<String> {
    let bytes = blobs.inner().read(key).await.expect("the wrapped blobs never fail")?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn retrying(blobs: &Failing, attempts: u32) -> RetryingBlobs<Failing> {
    let clock = ManualClock::new(Timestamp::from_secs(1));
    let policy = RetryPolicy::default()
        .with_attempts(attempts)
        .with_base(Duration::from_millis(100))
        .with_env(Env::test(clock, 7));
    Arc::clone(blobs).with_retries(policy)
}

#[tokio::test]
async fn only_nth_call_is_throttled() {
    let plan = BlobFailures::new().on(BlobOperation::Put, When::Call(2), BlobFailure::Throttled);
    let blobs = failing(plan);
    blobs.put(PutBlob::new("a", "one")).await.unwrap();
    blobs.get(GetBlob::new("a")).await.unwrap();
    let error = blobs.put(PutBlob::new("a", "two")).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (&ErrorKind::Throttled, "SlowDown"));
    assert_eq!((error.retry(), error.applied()), (Retry::Later, Applied::No));
    assert_eq!(held(&blobs, "a").await.as_deref(), Some("one"));
    blobs.put(PutBlob::new("a", "two")).await.unwrap();
    assert_eq!(held(&blobs, "a").await.as_deref(), Some("two"));
}

#[tokio::test]
async fn write_with_lost_response_is_executed() {
    let blobs = failing(BlobFailures::new().on_any(When::Always, BlobFailure::ResponseLost));
    let error = blobs.put(PutBlob::new("a", "one")).await.unwrap_err();
    assert_eq!((error.kind(), error.applied()), (&ErrorKind::Unavailable, Applied::Maybe));
    assert_eq!(held(&blobs, "a").await.as_deref(), Some("one"));
    let error = blobs.get(GetBlob::new("a")).await.unwrap_err();
    assert_eq!(error.applied(), Applied::No, "a read changes nothing");
    // An invalid call has no response to lose.
    let error = blobs.put(PutBlob::new("", "one")).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Validation);
}

#[tokio::test]
async fn write_with_lost_request_is_not_executed() {
    let blobs = failing(BlobFailures::new().on_any(When::Always, BlobFailure::RequestLost));
    let error = blobs.put(PutBlob::new("a", "one")).await.unwrap_err();
    assert_eq!((error.kind(), error.applied()), (&ErrorKind::Unavailable, Applied::Maybe));
    assert_eq!(held(&blobs, "a").await, None);
    let error = blobs.list(ListBlobs::new()).await.unwrap_err();
    assert_eq!(error.applied(), Applied::No, "a read changes nothing");
}

#[tokio::test]
async fn conflict_affects_conditional_writes_alone() {
    let blobs = failing(BlobFailures::new().on_any(When::Always, BlobFailure::Conflict));
    blobs.put(PutBlob::new("a", "one")).await.unwrap();
    let error = blobs.put(PutBlob::new("a", "two").if_match("x")).await.unwrap_err();
    assert_eq!(error.code(), codes::CONDITIONAL_REQUEST_CONFLICT);
    assert_eq!(error.retry(), Retry::Later);
    let error = blobs.delete(DeleteBlob::new("a").if_match("x")).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::TransactionConflict);
    assert!(blobs.copy(CopyBlob::new("a", "b").if_absent()).await.is_err());
    blobs.delete(DeleteBlob::new("a")).await.unwrap();
}

#[tokio::test]
async fn chance_is_drawn_from_given_random_source() {
    let failed = |seed: u64| async move {
        let random: Arc<dyn Random> = Arc::new(SeededRandom::new(seed));
        let plan = BlobFailures::new()
            .on(BlobOperation::Head, When::Chance(0.25), BlobFailure::Unavailable)
            .random(random);
        let blobs = failing(plan);
        blobs.put(PutBlob::new("a", "")).await.unwrap();
        let mut failed = Vec::new();
        for call in 0..400 {
            if blobs.head(HeadBlob::new("a")).await.is_err() {
                failed.push(call);
            }
        }
        failed
    };
    let calls = failed(1).await;
    assert!((60..140).contains(&calls.len()), "{} of 400 failed", calls.len());
    assert_eq!(calls, failed(1).await);
    assert_ne!(calls, failed(2).await);
}

#[tokio::test]
async fn transient_plan_causes_every_kind_of_failure() {
    let mut names = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let blobs = failing(BlobFailures::transient(Arc::new(SeededRandom::new(seed)), 0.5));
        for number in 0..50 {
            let put = PutBlob::new(number.to_string(), "x").if_absent();
            names.insert(match blobs.put(put).await {
                Ok(_) => "done".to_owned(),
                Err(error) => {
                    assert_eq!(error.retry(), Retry::Later, "{error}");
                    format!("{} {:?}", error.code(), error.applied())
                }
            });
        }
    }
    let all = [
        "ConditionalRequestConflict No",
        "InternalError Maybe",
        "ServiceUnavailable No",
        "SlowDown No",
        "done",
    ];
    assert_eq!(Vec::from_iter(names), all);
}

#[tokio::test]
async fn unconditional_put_is_repeated_after_a_lost_response() {
    for failure in [BlobFailure::ResponseLost, BlobFailure::RequestLost] {
        let blobs = failing(BlobFailures::new().on_any(When::First(2), failure));
        retrying(&blobs, 5).put(PutBlob::new("a", "one")).await.unwrap();
        assert_eq!(held(&blobs, "a").await.as_deref(), Some("one"));
    }
}

#[tokio::test]
async fn conditional_writes_are_not_repeated_after_a_lost_response() {
    for failure in [BlobFailure::ResponseLost, BlobFailure::RequestLost] {
        let plan = BlobFailures::new().on_any(When::Always, failure);
        let blobs = failing(plan);
        let present = blobs.inner().put(PutBlob::new("a", "old")).await.unwrap().etag;
        let retrying = retrying(&blobs, 5);
        let is_executed = failure == BlobFailure::ResponseLost;

        let put = retrying.put(PutBlob::new("b", "new").if_absent()).await;
        assert_eq!(put.unwrap_err().applied(), Applied::Maybe, "{failure:?}");
        assert_eq!(held(&blobs, "b").await.is_some(), is_executed);

        let copy = retrying.copy(CopyBlob::new("a", "c").if_absent()).await;
        assert_eq!(copy.unwrap_err().applied(), Applied::Maybe, "{failure:?}");
        assert_eq!(held(&blobs, "c").await.is_some(), is_executed);

        let delete = retrying.delete(DeleteBlob::new("a").if_match(present)).await;
        assert_eq!(delete.unwrap_err().applied(), Applied::Maybe, "{failure:?}");
        assert_eq!(held(&blobs, "a").await.is_none(), is_executed);
    }
}

#[tokio::test]
async fn conditional_writes_are_repeated_if_nothing_was_applied() {
    let plan = BlobFailures::new()
        .on_any(When::Call(1), BlobFailure::Throttled)
        .on_any(When::Call(2), BlobFailure::Unavailable)
        .on_any(When::Call(3), BlobFailure::Conflict);
    let blobs = failing(plan);
    retrying(&blobs, 5).put(PutBlob::new("a", "one").if_absent()).await.unwrap();
    assert_eq!(held(&blobs, "a").await.as_deref(), Some("one"));
}

#[tokio::test]
async fn stream_is_sent_once() {
    let plan = BlobFailures::new().on(BlobOperation::Put, When::Call(1), BlobFailure::Throttled);
    let blobs = failing(plan);
    let body = Body::stream(3, stream::iter([Ok("one".into())]));
    let error = retrying(&blobs, 5).put(PutBlob::new("a", body)).await.unwrap_err();
    assert_eq!((error.kind(), error.applied()), (&ErrorKind::Throttled, Applied::No));
    assert_eq!(held(&blobs, "a").await, None);
}

#[tokio::test]
async fn completion_with_a_lost_response_is_not_repeated() {
    let lost = BlobFailure::ResponseLost;
    let plan = BlobFailures::new().on(BlobOperation::CompleteUpload, When::Always, lost);
    let blobs = failing(plan);
    let content = stream::iter([Ok(vec![7; 6 << 20].into())]);
    let upload = Upload::new("a").part_bytes(5 << 20);
    let retrying = retrying(&blobs, 5);
    let error = retrying.upload(upload, Box::pin(content)).await.unwrap_err();
    assert_eq!(error.applied(), Applied::Maybe);
    assert_eq!(blobs.inner().info("a").await.unwrap().map(|info| info.size), Some(6 << 20));
}

#[tokio::test]
async fn retries_end_after_the_last_attempt() {
    let blobs = failing(BlobFailures::new().on_any(When::Always, BlobFailure::Unavailable));
    let result: Result<BlobPage> = retrying(&blobs, 3).list(ListBlobs::new()).await;
    assert_eq!(result.unwrap_err().retry(), Retry::Exhausted);
}

#[tokio::test]
async fn operations_on_versions_fail_and_are_retried() {
    let buckets = MemoryBuckets::new();
    buckets.enable_versions("default").await.unwrap();
    let plan = BlobFailures::new()
        .on(BlobOperation::GetVersion, When::First(2), BlobFailure::Throttled)
        .on(BlobOperation::RestoreVersion, When::Always, BlobFailure::ResponseLost);
    let blobs = Arc::new(FaultBlobs::new(buckets.blobs("default").unwrap()).failures(plan));
    let first = blobs.put(PutBlob::new("a", "one")).await.unwrap().version.unwrap();
    blobs.put(PutBlob::new("a", "two")).await.unwrap();
    let retrying = retrying(&blobs, 5);
    let versions = retrying.versions().unwrap();
    let found = versions.get_version(&first, GetBlob::new("a")).await.unwrap();
    assert_eq!(found.body.collect().await.unwrap(), "one");
    // A second restoration would create a second version.
    let error = versions.restore_version("a", &first).await.unwrap_err();
    assert_eq!(error.applied(), Applied::Maybe);
    assert_eq!(held(&blobs, "a").await.as_deref(), Some("one"));
    let page = versions.list_versions(ListVersions::new()).await.unwrap();
    assert_eq!(page.versions.len(), 3);
}
