//! Running the cases: as tests, or from a program.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::{Either, select};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use tabla::env::{Clock, SystemClock};

use crate::case::{Case, Need};
use crate::caught::caught;
use crate::clauses::{self, Clause};
use crate::ctx::Ctx;
use crate::harness::{Fresh, Harness};
use crate::report::{CaseResult, Report, Status};
use crate::{cases, deviations, refusal};

/// A case that takes longer than this hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// Which cases to run.
#[derive(Clone, Debug, Default)]
pub enum Filter {
    /// All.
    #[default]
    All,
    /// Those whose [test name](Case::test_name) has any of these in it.
    Named(Vec<String>),
}

impl Filter {
    /// Whether the case is to be run.
    pub fn takes(&self, case: &Case) -> bool {
        match self {
            Filter::All => true,
            Filter::Named(parts) => {
                let name = case.test_name();
                parts.iter().any(|part| name.contains(part.as_str()))
            }
        }
    }
}

/// How far a run has come: told after each case.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// How many cases have ended.
    pub done: usize,
    /// How many there are.
    pub total: usize,
    /// The case that has just ended.
    pub last: &'a CaseResult,
}

/// Runs the cases on a harness, several at once, and reports.
///
/// Needs a tokio runtime with its timer enabled; on one with several threads the cases run in
/// parallel.
pub async fn run(
    harness: Arc<dyn Harness>,
    filter: &Filter,
    mut progress: impl FnMut(Progress<'_>),
) -> Report {
    let chosen: Vec<&'static Case> = cases().filter(|case| filter.takes(case)).collect();
    let total = chosen.len();
    let mut running = futures::stream::iter(chosen)
        .map(|case| {
            let task = tokio::spawn(run_case(Arc::clone(&harness), case));
            async move {
                task.await.unwrap_or_else(|error| CaseResult {
                    case,
                    status: Status::Fail,
                    message: format!("the harness failed: {error}"),
                })
            }
        })
        .buffer_unordered(harness.parallelism().max(1));
    let mut results = Vec::with_capacity(total);
    while let Some(result) = running.next().await {
        progress(Progress { done: results.len() + 1, total, last: &result });
        results.push(result);
    }
    drop(running);
    harness.finish().await;
    Report::new(harness.engine(), results)
}

/// The `main` of a test declared with `harness = false`: each case is a test of its own, named
/// [`Case::test_name`], chosen by the usual arguments of a test binary.
///
/// A case that the engine does not support is reported as ignored, with the reason.
pub fn main(harness: impl Harness) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .expect("the machine has threads for a runtime");
    let harness: Arc<dyn Harness> = Arc::new(harness);
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(harness.parallelism());
    let mut trials = vec![Trial::test("conformance::clauses::every_clause_has_a_case", || {
        match unproved(clauses::without_case()) {
            None => Ok(()),
            Some(text) => Err(Failed::from(text)),
        }
    })];
    trials.extend(cases().map(|case| {
        let (harness, handle) = (Arc::clone(&harness), runtime.handle().clone());
        Trial::ignorable_test(case.test_name(), move || {
            let result = handle.block_on(run_case(harness, case));
            match result.status {
                Status::Pass | Status::Deviates => Ok(Completion::Completed),
                Status::Unsupported => Ok(Completion::ignored_with(result.message)),
                Status::Fail => Err(Failed::from(format!("{}\n{}", case.title, result.message))),
            }
        })
    }));
    let list = arguments.list;
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !list {
        runtime.block_on(harness.finish());
    }
    conclusion.exit_code()
}

/// What is wrong if these clauses have no case.
fn unproved<'a>(clauses: impl Iterator<Item = &'a Clause>) -> Option<String> {
    let rows: Vec<String> = clauses
        .map(|clause| format!("{} ({}): {}", clause.id, clause.family, clause.text))
        .collect();
    (!rows.is_empty())
        .then(|| format!("{} clauses have no case:\n  {}", rows.len(), rows.join("\n  ")))
}

/// Runs one case on a fresh store and judges it.
pub(crate) async fn run_case(harness: Arc<dyn Harness>, case: &'static Case) -> CaseResult {
    let known = deviations::find(harness.engine(), case.id);
    run_judged(&*harness, case, known).await
}

async fn run_judged(
    harness: &dyn Harness,
    case: &'static Case,
    known: Option<&deviations::Deviation>,
) -> CaseResult {
    let fresh = match caught(harness.fresh()).await {
        Ok(fresh) => fresh,
        Err(panic) => {
            let message = format!("the harness gives no store: {panic}");
            return CaseResult { case, status: Status::Fail, message };
        }
    };
    let ctx = Ctx::new(case.id, harness.wording(), &fresh);
    let (status, message) = if let Some(missing) = case.missing(&fresh.store.capabilities()) {
        match within_patience(refusal::check(ctx, missing)).await {
            None => (Status::Unsupported, format!("no {missing}; refused as it should be")),
            Some(failure) => (Status::Fail, failure),
        }
    } else if let Some(need) = missing_in_harness(case, &fresh) {
        (Status::Unsupported, format!("the engine has no {need}"))
    } else {
        deviations::judge(within_patience((case.run)(ctx)).await, known)
    };
    if let Some(cleanup) = fresh.cleanup {
        // The case is over: what goes wrong in the cleaning does not change its answer.
        let _ = caught(cleanup()).await;
    }
    CaseResult { case, status, message }
}

fn missing_in_harness(case: &Case, fresh: &Fresh) -> Option<&'static str> {
    case.all_needs().find_map(|need| match need {
        Need::Clock if fresh.clock.is_none() => Some("clock that can be moved"),
        Need::Sweep if fresh.sweep.is_none() => Some("sweep of expired items on demand"),
        _ => None,
    })
}

/// Runs to the end; the text of the failure if it panics or hangs.
async fn within_patience(future: impl Future<Output = ()> + Send) -> Option<String> {
    let clock = SystemClock;
    match select(Box::pin(caught(future)), clock.sleep(PATIENCE)).await {
        Either::Left((ended, _)) => ended.err(),
        Either::Right(((), _)) => Some(format!("no end after {} seconds", PATIENCE.as_secs())),
    }
}
