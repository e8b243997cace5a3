//! Execution of the cases, as tests or from a program.
//!
//! Formats of the results are in `report`.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::{Either, select};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use tabla_core::env::{Clock, SystemClock};
use tokio::runtime::Runtime;

use crate::case::{Case, Need};
use crate::catch_panic::catch_panic;
use crate::clauses::{self, Clause};
use crate::ctx::Ctx;
use crate::harness::{CaseStore, Harness};
use crate::report::{CaseResult, Report, Status};
use crate::suite::SuiteCase;
use crate::{deviations, refusal};

/// Time limit of a case. One that takes longer fails.
const CASE_TIMEOUT: Duration = Duration::from_secs(120);

/// Selection of the cases to run.
#[derive(Clone, Debug, Default)]
pub enum Filter {
    /// All cases.
    #[default]
    All,
    /// Cases whose [test name](SuiteCase::test_name) contains any of these parts.
    Named(Vec<String>),
}

impl Filter {
    /// Whether the filter selects the case.
    pub fn takes<C: SuiteCase>(&self, case: &C) -> bool {
        match self {
            Filter::All => true,
            Filter::Named(parts) => {
                let name = case.test_name();
                parts.iter().any(|part| name.contains(part.as_str()))
            }
        }
    }
}

/// Progress of a run, reported after each case.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Progress<'a, C: 'static = Case> {
    /// Number of cases that have ended.
    pub done: usize,
    /// Number of cases that the filter selects.
    pub total: usize,
    /// Result of the case that has just ended.
    pub last: &'a CaseResult<C>,
}

/// Runs the selected cases on a harness, several at once, and reports their results.
///
/// Needs a tokio runtime with its timer enabled; on a runtime with several threads the cases run
/// in parallel.
pub async fn run(
    harness: Arc<dyn Harness>,
    filter: &Filter,
    progress: impl FnMut(Progress<'_>),
) -> Report {
    let results = run_cases(filter, harness.parallelism(), progress, |case| {
        run_case(Arc::clone(&harness), case)
    })
    .await;
    harness.finish().await;
    Report::new(harness.engine(), results)
}

/// Runs the selected cases of a suite, several at once. `start` runs one of them.
pub(crate) async fn run_cases<C: SuiteCase, F>(
    filter: &Filter,
    parallelism: usize,
    mut progress: impl FnMut(Progress<'_, C>),
    start: impl Fn(&'static C) -> F,
) -> Vec<CaseResult<C>>
where
    F: Future<Output = CaseResult<C>> + Send + 'static,
{
    let chosen: Vec<&'static C> = C::all().filter(|case| filter.takes(*case)).collect();
    let total = chosen.len();
    let mut running = futures::stream::iter(chosen)
        .map(|case| {
            let task = tokio::spawn(start(case));
            async move {
                task.await.unwrap_or_else(|error| CaseResult {
                    case,
                    status: Status::Fail,
                    message: format!("the task of the case was canceled or panicked: {error}"),
                })
            }
        })
        .buffer_unordered(parallelism.max(1));
    let mut results = Vec::with_capacity(total);
    while let Some(result) = running.next().await {
        progress(Progress { done: results.len() + 1, total, last: &result });
        results.push(result);
    }
    results
}

/// Entry point of a test target with `harness = false`. Each case is a test named
/// [`Case::test_name`], selected by the usual arguments of a test binary.
///
/// A case that the engine does not support is reported as ignored, with the reason.
pub fn main(harness: impl Harness) -> ExitCode {
    let harness: Arc<dyn Harness> = Arc::new(harness);
    let clauses = Trial::test("conformance::clauses::every_clause_has_a_case", || {
        match unproved(clauses::without_case()) {
            None => Ok(()),
            Some(text) => Err(Failed::from(text)),
        }
    });
    let mut trials = Trials::new();
    trials.add(clauses);
    let shared = Arc::clone(&harness);
    let start = move |case| run_case(Arc::clone(&shared), case);
    trials.add_cases("", harness.parallelism(), start);
    trials.run(harness.finish())
}

/// Tests of a test target without the standard harness, and the runtime of their cases.
pub(crate) struct Trials {
    runtime: Runtime,
    arguments: Arguments,
    trials: Vec<Trial>,
    parallelism: usize,
}

impl Trials {
    /// Reads the arguments of the program, and starts the runtime.
    pub(crate) fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .expect("cannot start the threads of a tokio runtime");
        Self { runtime, arguments: Arguments::from_args(), trials: Vec::new(), parallelism: 1 }
    }

    pub(crate) fn add(&mut self, trial: Trial) {
        self.trials.push(trial);
    }

    /// Adds each case of a suite as a test, which `start` runs. An `engine` is part of the tests'
    /// names, in brackets; empty: none.
    pub(crate) fn add_cases<C: SuiteCase, F>(
        &mut self,
        engine: &str,
        parallelism: usize,
        start: impl Fn(&'static C) -> F + Clone + Send + 'static,
    ) where
        F: Future<Output = CaseResult<C>> + Send + 'static,
    {
        self.parallelism = self.parallelism.max(parallelism);
        self.trials.extend(C::all().map(|case| {
            let (start, handle) = (start.clone(), self.runtime.handle().clone());
            Trial::ignorable_test(case.test_name(), move || {
                let result = handle.block_on(start(case));
                match result.status {
                    Status::Pass | Status::Deviates => Ok(Completion::Completed),
                    Status::Unsupported => Ok(Completion::ignored_with(result.message)),
                    Status::Fail => {
                        Err(Failed::from(format!("{}\n{}", case.title(), result.message)))
                    }
                }
            })
            .with_kind(engine)
        }));
    }

    /// Runs the tests that the arguments select. `finish` runs at the end, unless the tests are
    /// only listed.
    pub(crate) fn run(self, finish: impl Future<Output = ()>) -> ExitCode {
        let Self { runtime, mut arguments, trials, parallelism } = self;
        arguments.test_threads.get_or_insert(parallelism);
        let conclusion = libtest_mimic::run(&arguments, trials);
        if !arguments.list {
            runtime.block_on(finish);
        }
        conclusion.exit_code()
    }
}

/// Failure text that lists these clauses without a case; `None` if there are none.
fn unproved<'a>(clauses: impl Iterator<Item = &'a Clause>) -> Option<String> {
    let rows: Vec<String> = clauses
        .map(|clause| format!("{} ({}): {}", clause.id, clause.family, clause.text))
        .collect();
    (!rows.is_empty())
        .then(|| format!("{} clauses have no case:\n  {}", rows.len(), rows.join("\n  ")))
}

/// Runs one case on a fresh store and classifies its result.
pub(crate) async fn run_case(harness: Arc<dyn Harness>, case: &'static Case) -> CaseResult {
    let known = deviations::find(harness.engine(), case.id);
    run_and_classify(&*harness, case, known).await
}

async fn run_and_classify(
    harness: &dyn Harness,
    case: &'static Case,
    known: Option<&deviations::Deviation>,
) -> CaseResult {
    let fresh = match catch_panic(harness.case_store()).await {
        Ok(fresh) => fresh,
        Err(panic) => {
            let message = format!("the harness failed to make a store: {panic}");
            return CaseResult { case, status: Status::Fail, message };
        }
    };
    let ctx = Ctx::new(case.id, harness.wording(), &fresh);
    let unsupported = if let Some(missing) = case.missing(&fresh.store.capabilities()) {
        let refused = with_timeout(refusal::check(ctx.clone(), missing)).await;
        Some(refused.map_or(Ok(format!("no {missing}; requests are refused")), Err))
    } else {
        missing_in_harness(case, &fresh).map(|need| Ok(format!("needs {need}")))
    };
    let (status, message) = match unsupported {
        None => deviations::classify(with_timeout((case.run)(ctx)).await, known),
        Some(Err(failure)) => (Status::Fail, failure),
        Some(Ok(why)) if harness.is_complete() => {
            (Status::Fail, format!("the harness is_complete, but the case is unsupported: {why}"))
        }
        Some(Ok(why)) if known.is_some() => {
            (Status::Fail, format!("the case cannot run; delete its row in src/deviations: {why}"))
        }
        Some(Ok(why)) => (Status::Unsupported, why),
    };
    if let Some(cleanup) = fresh.cleanup {
        // A failed cleanup does not change the result of the case.
        let _ = catch_panic(cleanup()).await;
    }
    CaseResult { case, status, message }
}

fn missing_in_harness(case: &Case, fresh: &CaseStore) -> Option<Need> {
    case.all_needs().find(|need| match need {
        Need::Clock => fresh.clock.is_none(),
        Need::Sweep => fresh.sweep.is_none(),
        _ => false,
    })
}

/// Runs the future; returns the text of the failure if it panics or exceeds the time limit.
pub(crate) async fn with_timeout(future: impl Future<Output = ()> + Send) -> Option<String> {
    let clock = SystemClock;
    match select(Box::pin(catch_panic(future)), clock.sleep(CASE_TIMEOUT)).await {
        Either::Left((ended, _)) => ended.err(),
        Either::Right(((), _)) => {
            Some(format!("the case did not end within {} seconds", CASE_TIMEOUT.as_secs()))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use tabla_core::{Capabilities, Error, ErrorKind};

    use super::*;
    use crate::case::CaseFuture;
    use crate::cases;
    use crate::deviations::Deviation;
    use crate::fake::{FakeHarness, FakeStore};
    use crate::family::Family;

    const fn case(needs: &'static [Need], run: fn(Ctx) -> CaseFuture) -> Case {
        let (clause, family, title) = ("", Family::Writes, "A rule.");
        Case { id: "fake", clause, family, name: "fake", title, needs, run }
    }

    static PASSES: Case = case(&[], |_| Box::pin(async {}));
    static FAILS: Case = case(&[], |_| Box::pin(async { panic!("lost an item") }));
    static HANGS: Case = case(&[], |_| Box::pin(futures::future::pending()));
    static NEEDS_CLOCK: Case = case(&[Need::Clock], |_| Box::pin(async {}));
    static NEEDS_LOCAL_INDEXES: Case = case(&[Need::LocalIndexes], |_| Box::pin(async {}));

    const KNOWN: Deviation = Deviation {
        engine: "fake",
        case: "fake",
        aws: "keeps it",
        source: "a page",
        does: "loses it",
        observed: "lost an item",
    };

    async fn classified(case: &'static Case, known: Option<&Deviation>) -> CaseResult {
        run_and_classify(&FakeHarness::new(FakeStore::empty()), case, known).await
    }

    #[tokio::test]
    async fn failed_case_reports_panic_text_and_location() {
        assert_eq!(classified(&PASSES, None).await.status, Status::Pass);
        let failed = classified(&FAILS, None).await;
        assert_eq!(failed.status, Status::Fail);
        assert!(failed.message.starts_with("lost an item\n  at "), "{}", failed.message);
    }

    #[tokio::test]
    async fn known_deviation_is_reported_and_its_absence_fails() {
        let result = classified(&FAILS, Some(&KNOWN)).await;
        assert_eq!((result.status, result.message.as_str()), (Status::Deviates, "loses it"));
        assert_eq!(classified(&PASSES, Some(&KNOWN)).await.status, Status::Fail);
    }

    #[tokio::test(start_paused = true)]
    async fn hanging_case_fails_at_time_limit() {
        let result = classified(&HANGS, None).await;
        assert_eq!(result.status, Status::Fail);
        assert!(result.message.starts_with("the case did not end within"), "{}", result.message);
    }

    #[tokio::test]
    async fn case_whose_need_the_harness_lacks_is_unsupported() {
        let result = classified(&NEEDS_CLOCK, None).await;
        assert_eq!(result.status, Status::Unsupported);
        assert_eq!(result.message, "needs a movable clock");
        assert_eq!(classified(&NEEDS_CLOCK, Some(&KNOWN)).await.status, Status::Fail);
    }

    #[tokio::test]
    async fn complete_engine_fails_unsupported_case() {
        let mut harness = FakeHarness::new(FakeStore::empty());
        harness.complete = true;
        let result = run_and_classify(&harness, &NEEDS_CLOCK, None).await;
        assert_eq!(result.status, Status::Fail);
        assert!(result.message.contains("harness is_complete"), "{}", result.message);
    }

    fn without_local_indexes(error: fn(&'static str) -> Error) -> FakeHarness {
        let mut capabilities = Capabilities::full("fake");
        capabilities.local_indexes = false;
        FakeHarness::new(FakeStore { capabilities, error })
    }

    #[tokio::test]
    async fn missing_capability_must_be_rejected_as_unsupported() {
        let refuses = without_local_indexes(|operation| match operation {
            "create_table" => Error::unsupported("no local indexes"),
            _ => Error::table_not_found(),
        });
        let result = run_and_classify(&refuses, &NEEDS_LOCAL_INDEXES, None).await;
        assert_eq!(result.status, Status::Unsupported, "{}", result.message);

        let other_kind = without_local_indexes(|_| Error::new(ErrorKind::NotFound, "what?"));
        let result = run_and_classify(&other_kind, &NEEDS_LOCAL_INDEXES, None).await;
        assert_eq!(result.status, Status::Fail);
        assert!(result.message.contains("is not of kind Unsupported"), "{}", result.message);
    }

    #[tokio::test]
    async fn cleanup_runs_after_passed_failed_and_unsupported_cases() {
        let harness = FakeHarness::new(FakeStore::empty());
        for case in [&PASSES, &FAILS, &NEEDS_CLOCK] {
            run_and_classify(&harness, case, None).await;
        }
        assert_eq!(harness.cleaned.load(Ordering::Relaxed), 3);
    }

    #[tokio::test]
    async fn run_reports_progress_and_sorts_results() {
        let harness = Arc::new(FakeHarness::new(FakeStore::empty()));
        let filter = Filter::Named(vec!["::values::1".to_owned(), "::values::3a".to_owned()]);
        let mut steps = Vec::new();
        let report = run(harness, &filter, |it| steps.push((it.done, it.total))).await;
        let chosen: Vec<&str> =
            cases().filter(|case| filter.takes(*case)).map(|case| case.id).collect();
        assert!(chosen.contains(&"1a") && chosen.contains(&"3a"), "{chosen:?}");
        let total = chosen.len();
        assert_eq!(steps, (1..=total).map(|done| (done, total)).collect::<Vec<_>>());
        let column = &report.columns[0];
        assert_eq!(column.engine, "fake");
        let order: Vec<&str> = column.results.iter().map(|result| result.case.id).collect();
        assert_eq!(order, chosen);
        // Every case fails on a store without tables.
        assert_eq!(column.count(Status::Fail), total);
        assert!(report.failed());
    }

    #[test]
    fn failure_text_names_clauses_without_case() {
        assert_eq!(unproved([].iter()), None);
        let clause = Clause { id: "1z", text: "a rule", family: Family::Values };
        assert_eq!(
            unproved([clause].iter()).as_deref(),
            Some("1 clauses have no case:\n  1z (values): a rule")
        );
    }
}
