//! Mutation check of the suite: each injected fault is caught by the case that it names.

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use tabla_conformance::fault::{Fault, FaultHarness};
use tabla_conformance::{Case, CaseResult, Filter, Harness, MemoryHarness, Status, cases, run};

fn main() -> ExitCode {
    let mut trials = vec![Trial::test("fault::list_has_at_least_25", || {
        let count = Fault::ALL.len();
        if count >= 25 {
            Ok(())
        } else {
            Err(Failed::from(format!("{count} faults, expected at least 25")))
        }
    })];
    trials.push(Trial::test("fault::store_without_fault_changes_no_case", || {
        sound().map_err(Failed::from)
    }));
    trials.extend(Fault::ALL.iter().map(|fault| {
        Trial::test(format!("fault::{fault}"), move || caught(*fault).map_err(Failed::from))
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Checks that a wrapper without fault changes nothing: every case has the same status as on
/// the wrapped store.
fn sound() -> Result<(), String> {
    let inside = results(Arc::new(MemoryHarness), &Filter::All);
    let wrapped = results(Arc::new(FaultHarness::new(MemoryHarness, None)), &Filter::All);
    let texts: Vec<String> = inside
        .iter()
        .zip(&wrapped)
        .filter(|(inside, wrapped)| inside.status != wrapped.status)
        .map(|(_, wrapped)| format!("{}: {}", wrapped.case.id, wrapped.message))
        .collect();
    if texts.is_empty() { Ok(()) } else { Err(texts.join("\n")) }
}

/// Checks that the case that the fault names passes without the fault and fails with it.
fn caught(fault: Fault) -> Result<(), String> {
    let case = cases().find(|case| case.id == fault.caught_by()).ok_or_else(|| {
        format!("the fault names case {}, which does not exist", fault.caught_by())
    })?;
    let without = result(case, None);
    if without.status != Status::Pass {
        return Err(format!("{} fails without the fault: {}", case.id, without.message));
    }
    let with = result(case, Some(fault));
    if with.status != Status::Fail {
        return Err(format!("case {} passes with the fault: {}", case.id, fault.description()));
    }
    Ok(())
}

fn result(case: &Case, fault: Option<Fault>) -> CaseResult {
    let harness = Arc::new(FaultHarness::new(MemoryHarness, fault));
    let results = results(harness, &Filter::Named(vec![case.test_name()]));
    results.into_iter().find(|result| result.case.id == case.id).expect("the case ran")
}

fn results(harness: Arc<dyn Harness>, filter: &Filter) -> Vec<CaseResult> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("cannot start the threads of a tokio runtime");
    let report = runtime.block_on(run(harness, filter, |_| {}));
    report.columns.into_iter().flat_map(|column| column.results).collect()
}
