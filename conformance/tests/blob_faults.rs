//! Mutation check of the suite for blobs: each injected fault is caught by the case that it names.

mod blobs_in_memory;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use tabla_conformance::blobs::fault::{BlobFault, BlobFaultHarness};
use tabla_conformance::blobs::{BlobCase, BlobHarness, cases, run};
use tabla_conformance::{CaseResult, Filter, Status, SuiteCase};
use tabla_core::blobs::BlobCapabilities;

use self::blobs_in_memory::{
    LimitedHarness, MemoryBlobsHarness, with_plain_uploads, without_capabilities,
};

fn main() -> ExitCode {
    let mut trials = vec![
        Trial::test("blob_faults::list_has_at_least_12", || match BlobFault::ALL.len() {
            12.. => Ok(()),
            count => Err(Failed::from(format!("{count} faults, expected at least 12"))),
        }),
        Trial::test("blob_faults::blobs_without_fault_pass_every_case", || {
            sound().map_err(Failed::from)
        }),
        Trial::test("blob_faults::missing_capabilities_that_are_refused_pass", || {
            refused(without_capabilities())
        }),
        Trial::test("blob_faults::missing_capabilities_that_are_not_refused_fail", || {
            not_refused(without_capabilities())
        }),
        Trial::test("blob_faults::plain_uploads_that_refuse_conditions_and_gaps_pass", || {
            refused(with_plain_uploads())
        }),
        Trial::test("blob_faults::plain_uploads_that_accept_conditions_fail", || {
            let mut capabilities = BlobCapabilities::full("limited");
            capabilities.conditional_uploads = false;
            not_refused(capabilities)
        }),
        Trial::test("blob_faults::plain_uploads_that_accept_gaps_fail", || {
            let mut capabilities = BlobCapabilities::full("limited");
            capabilities.any_parts = false;
            not_refused(capabilities)
        }),
    ];
    trials.extend(BlobFault::ALL.iter().map(|fault| {
        Trial::test(format!("blob_faults::{fault}"), move || caught(*fault).map_err(Failed::from))
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Checks that a wrapper without fault changes nothing: every case passes.
fn sound() -> Result<(), String> {
    let wrapped = BlobFaultHarness::new(MemoryBlobsHarness, None);
    let failed = failures(results(wrapped, &Filter::All));
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// Checks that blobs that refuse requests for the capabilities that they lack pass every case.
fn refused(capabilities: BlobCapabilities) -> Result<(), Failed> {
    let harness = LimitedHarness { capabilities, refuses: true };
    let failed = failures(results(harness, &Filter::All));
    if failed.is_empty() { Ok(()) } else { Err(Failed::from(failed.join("\n"))) }
}

/// Checks that blobs that accept such requests fail the case for refusals.
fn not_refused(capabilities: BlobCapabilities) -> Result<(), Failed> {
    let harness = LimitedHarness { capabilities, refuses: false };
    let filter = Filter::Named(vec!["missing_capabilities_are_refused".to_owned()]);
    match failures(results(harness, &filter)).is_empty() {
        false => Ok(()),
        true => Err(Failed::from("the case passes although nothing is refused")),
    }
}

fn failures(results: Vec<CaseResult<BlobCase>>) -> Vec<String> {
    let failed = results.into_iter().filter(|result| result.status == Status::Fail);
    failed.map(|result| format!("{}: {}", result.case.id, result.message)).collect()
}

/// Checks that the case that the fault names passes without the fault and fails with it.
fn caught(fault: BlobFault) -> Result<(), String> {
    let case = cases().find(|case| case.id == fault.caught_by()).ok_or_else(|| {
        format!("the fault names the case {}, which does not exist", fault.caught_by())
    })?;
    let without = result(case, None);
    if without.status != Status::Pass {
        return Err(format!("{} fails without the fault: {}", case.id, without.message));
    }
    if result(case, Some(fault)).status != Status::Fail {
        return Err(format!("case {} passes with the fault: {}", case.id, fault.description()));
    }
    Ok(())
}

fn result(case: &BlobCase, fault: Option<BlobFault>) -> CaseResult<BlobCase> {
    let harness = BlobFaultHarness::new(MemoryBlobsHarness, fault);
    let results = results(harness, &Filter::Named(vec![case.test_name()]));
    results.into_iter().find(|result| result.case.id == case.id).expect("the case ran")
}

fn results(harness: impl BlobHarness, filter: &Filter) -> Vec<CaseResult<BlobCase>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("cannot start the threads of a tokio runtime");
    let report = runtime.block_on(run(Arc::new(harness), filter, |_| {}));
    report.columns.into_iter().flat_map(|column| column.results).collect()
}
