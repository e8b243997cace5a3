//! Execution of the cases, as tests or from a program.

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use super::case::{BlobCase, BlobNeed};
use super::ctx::BlobCtx;
use super::deviations;
use super::harness::{BlobHarness, BucketVersions};
use super::{BlobProgress, BlobReport};
use crate::catch_panic::catch_panic;
use crate::deviations::{Deviation, classify};
use crate::report::{CaseResult, Status};
use crate::run::{Filter, Trials, run_cases, with_timeout};

/// Runs the selected cases on a harness, several at once, and reports their results.
///
/// Needs a tokio runtime with its timer enabled; on a runtime with several threads the cases run
/// in parallel.
pub async fn run(
    harness: Arc<dyn BlobHarness>,
    filter: &Filter,
    progress: impl FnMut(BlobProgress<'_>),
) -> BlobReport {
    let results = run_cases(filter, harness.parallelism(), progress, |case| {
        run_case(Arc::clone(&harness), case)
    })
    .await;
    harness.finish().await;
    BlobReport::new(harness.engine(), results)
}

/// Entry point of a test target with `harness = false`. Each case is a test named
/// `[<engine>] blobs::<family>::<id>`, selected by the usual arguments of a test binary.
///
/// A case that the engine does not support is reported as ignored, with the reason.
pub fn main(harness: impl BlobHarness) -> ExitCode {
    main_on(vec![Arc::new(harness)], |_| Ok(()))
}

/// Like [`main`], on several engines. If all cases of all engines have run, and none has failed,
/// `check` gets their results side by side; its error fails the run.
pub fn main_on(
    harnesses: Vec<Arc<dyn BlobHarness>>,
    check: impl FnOnce(&BlobReport) -> Result<(), String>,
) -> ExitCode {
    let mut trials = Trials::new();
    let mut columns = Vec::new();
    for harness in &harnesses {
        let results = Arc::new(Mutex::new(Vec::new()));
        columns.push((harness.engine(), Arc::clone(&results)));
        let shared = Arc::clone(harness);
        trials.add_cases(harness.engine(), harness.parallelism(), move |case| {
            let (harness, results) = (Arc::clone(&shared), Arc::clone(&results));
            async move {
                let result = run_case(harness, case).await;
                results.lock().unwrap_or_else(PoisonError::into_inner).push(result.clone());
                result
            }
        });
    }
    let code = trials.run(async {
        for harness in &harnesses {
            harness.finish().await;
        }
    });
    let reports = columns.iter().map(|(engine, results)| {
        let results = results.lock().unwrap_or_else(PoisonError::into_inner);
        BlobReport::new(*engine, results.clone())
    });
    let Some(report) = reports.reduce(BlobReport::join) else { return code };
    let all = super::cases().count();
    let is_whole = report.columns.iter().all(|column| column.results.len() == all);
    match is_whole && !report.failed() {
        false => code,
        true => match check(&report) {
            Ok(()) => code,
            Err(message) => {
                eprintln!("{message}");
                ExitCode::FAILURE
            }
        },
    }
}

/// Runs one case on an empty bucket and classifies its result.
async fn run_case(harness: Arc<dyn BlobHarness>, case: &'static BlobCase) -> CaseResult<BlobCase> {
    let known = deviations::find(harness.engine(), case.id);
    run_and_classify(&*harness, case, known).await
}

async fn run_and_classify(
    harness: &dyn BlobHarness,
    case: &'static BlobCase,
    known: Option<&Deviation>,
) -> CaseResult<BlobCase> {
    let versions = match case.all_needs().any(|need| need == BlobNeed::Versions) {
        true => BucketVersions::On,
        false => BucketVersions::Off,
    };
    let bucket = match catch_panic(harness.case_bucket(versions)).await {
        Ok(bucket) => bucket,
        Err(panic) => {
            let message = format!("the harness failed to make a bucket: {panic}");
            return CaseResult { case, status: Status::Fail, message };
        }
    };
    let (status, message) = match case.missing(&bucket) {
        None => {
            let ctx = BlobCtx::new(&bucket);
            classify(with_timeout((case.run)(ctx)).await, known)
        }
        Some(need) if harness.is_complete() => (
            Status::Fail,
            format!("the harness is_complete, but the case is unsupported: it needs {need}"),
        ),
        Some(need) if known.is_some() => (
            Status::Fail,
            format!("the case cannot run; delete its row in `deviations`: it needs {need}"),
        ),
        Some(need) => (Status::Unsupported, format!("needs {need}")),
    };
    if let Some(cleanup) = bucket.cleanup {
        // A failed cleanup does not change the result of the case.
        let _ = catch_panic(cleanup()).await;
    }
    CaseResult { case, status, message }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;
    use tabla_core::blobs::*;
    use tabla_s3::{Buckets, MemoryBuckets};

    use super::*;
    use crate::blobs::{BlobFamily, CaseBucket, empty_bucket};
    use crate::case::CaseFuture;

    #[derive(Default)]
    struct FakeHarness {
        is_complete: bool,
        cleaned: Arc<AtomicUsize>,
    }

    #[async_trait]
    impl BlobHarness for FakeHarness {
        fn engine(&self) -> &'static str {
            "fake"
        }

        async fn case_bucket(&self, versions: BucketVersions) -> CaseBucket {
            let buckets = MemoryBuckets::new();
            if versions == BucketVersions::On {
                buckets.enable_versions("default").await.unwrap();
            }
            let cleaned = Arc::clone(&self.cleaned);
            CaseBucket::new(buckets.open_bucket("default").await.unwrap()).cleanup(move || {
                cleaned.fetch_add(1, Ordering::Relaxed);
                std::future::ready(())
            })
        }

        fn is_complete(&self) -> bool {
            self.is_complete
        }
    }

    const fn case(needs: &'static [BlobNeed], run: fn(BlobCtx) -> CaseFuture) -> BlobCase {
        let (family, title) = (BlobFamily::PutGet, "A rule.");
        BlobCase { id: "fake", family, title, needs, run }
    }

    static PASSES: BlobCase = case(&[], |_| Box::pin(async {}));
    static FAILS: BlobCase = case(&[], |_| Box::pin(async { panic!("lost a blob") }));
    static NEEDS_CLOCK: BlobCase = case(&[BlobNeed::Clock], |_| Box::pin(async {}));
    static NEEDS_VERSIONS: BlobCase = case(&[BlobNeed::Versions], |ctx| {
        Box::pin(async move { assert!(ctx.blobs().versions().is_some()) })
    });
    static WITHOUT_VERSIONS: BlobCase =
        case(&[], |ctx| Box::pin(async move { assert!(ctx.blobs().versions().is_none()) }));

    const KNOWN: Deviation = Deviation {
        engine: "fake",
        case: "fake",
        aws: "keeps it",
        source: "a page",
        does: "loses it",
        observed: "lost a blob",
    };

    async fn classified(case: &'static BlobCase, known: Option<&Deviation>) -> (Status, String) {
        let result = run_and_classify(&FakeHarness::default(), case, known).await;
        (result.status, result.message)
    }

    #[tokio::test]
    async fn known_deviation_is_reported_and_its_absence_fails() {
        assert_eq!(classified(&PASSES, None).await.0, Status::Pass);
        assert_eq!(classified(&FAILS, None).await.0, Status::Fail);
        let deviates = (Status::Deviates, "loses it".to_owned());
        assert_eq!(classified(&FAILS, Some(&KNOWN)).await, deviates);
        assert_eq!(classified(&PASSES, Some(&KNOWN)).await.0, Status::Fail);
    }

    #[tokio::test]
    async fn case_whose_need_is_missing_is_unsupported() {
        let unsupported = (Status::Unsupported, "needs a movable clock".to_owned());
        assert_eq!(classified(&NEEDS_CLOCK, None).await, unsupported);
        assert_eq!(classified(&NEEDS_CLOCK, Some(&KNOWN)).await.0, Status::Fail);
        let complete = FakeHarness { is_complete: true, ..FakeHarness::default() };
        let result = run_and_classify(&complete, &NEEDS_CLOCK, None).await;
        assert_eq!(result.status, Status::Fail);
        assert!(result.message.contains("harness is_complete"), "{}", result.message);
    }

    #[tokio::test]
    async fn bucket_keeps_versions_only_for_cases_that_need_them() {
        assert_eq!(classified(&NEEDS_VERSIONS, None).await.0, Status::Pass);
        assert_eq!(classified(&WITHOUT_VERSIONS, None).await.0, Status::Pass);
    }

    #[tokio::test]
    async fn cleanup_runs_after_passed_failed_and_unsupported_cases() {
        let harness = FakeHarness::default();
        for case in [&PASSES, &FAILS, &NEEDS_CLOCK] {
            run_and_classify(&harness, case, None).await;
        }
        assert_eq!(harness.cleaned.load(Ordering::Relaxed), 3);
    }

    #[tokio::test]
    async fn report_has_tables_of_families_and_reasons_of_unsupported_cases() {
        let filter = Filter::Named(vec!["::ranges::".to_owned(), "last_modified".to_owned()]);
        let mut steps = 0;
        let report = run(Arc::new(FakeHarness::default()), &filter, |_| steps += 1).await;
        assert!(!report.failed(), "{}", report.to_terminal());
        assert_eq!(steps, report.columns[0].results.len());
        let text = report.to_markdown();
        assert!(text.starts_with("# Conformance of blobs\n"), "{text}");
        assert!(text.contains("\n## ranges\n\nRanges of bytes.\n"), "{text}");
        assert!(text.contains("| range_includes_its_last_byte |"), "{text}");
        let why = "| fake | last_modified_is_time_of_write | needs a movable clock |";
        assert!(text.contains(why), "{text}");
        assert!(report.to_terminal().contains("ranges"), "{}", report.to_terminal());
    }

    #[tokio::test]
    async fn emptied_bucket_has_no_blobs_versions_or_uploads() {
        for versions in [BucketVersions::Off, BucketVersions::On] {
            let blobs = FakeHarness::default().case_bucket(versions).await.blobs;
            for number in 0..1005 {
                blobs.put(PutBlob::new(format!("k{number}"), "x")).await.unwrap();
            }
            blobs.delete(DeleteBlob::new("k7")).await.unwrap();
            blobs.create_upload(CreateUpload::new("u")).await.unwrap();
            empty_bucket(&*blobs).await.unwrap();
            assert_eq!(blobs.list(ListBlobs::new()).await.unwrap(), BlobPage::new());
            assert_eq!(blobs.list_uploads(ListUploads::new()).await.unwrap().uploads, []);
            if let Some(versions) = blobs.versions() {
                let page = versions.list_versions(ListVersions::new()).await.unwrap();
                assert_eq!(page.versions, []);
            }
        }
    }
}
