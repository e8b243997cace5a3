//! Two stores, one random history: they must agree.
//!
//! A [`History`] is a table of a random shape and a sequence of operations on a small key space,
//! so that they meet: valid and invalid, with conditions, updates, batches, transactions, queries
//! and scans. [`compare`] makes the same calls on both stores and compares answers, errors and,
//! at the end, what the tables and indexes hold.
//!
//! Only this is normalised:
//! - the order of a scan, and of entries that tie in an index: all pages are read and sorted;
//! - a `LastEvaluatedKey` on the last page;
//! - late reads of an index: they are repeated up to a bound;
//! - texts for the same constraint ([`wording`](crate::wording));
//! - what an engine is known to do differently ([`Known`]), each with its reason.

mod compare;
mod history;
mod known;
mod shapes;

pub use self::compare::{Difference, compare};
pub use self::history::{History, Operation, histories};
pub use self::known::Known;
pub use self::shapes::{SHAPES, TableShape};

use std::sync::Arc;

use proptest::test_runner::{
    Config, FileFailurePersistence, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner,
};
use tabla::Store;

/// Compares the stores on this many random histories, those of a seed: the same seed gives the
/// same histories, so that a run can be repeated. `fresh` makes a pair of stores for each:
/// the specification, and the one that is compared with it.
///
/// # Panics
/// With the smallest history that was found on which they differ.
pub fn run<F, Fut>(cases: u32, seed: u64, known: Known, runtime: &tokio::runtime::Runtime, fresh: F)
where
    F: Fn() -> Fut + Send,
    Fut: Future<Output = (Arc<dyn Store>, Arc<dyn Store>)>,
{
    // Without optimisation, making and shrinking such large values takes more stack than the
    // thread of a test has.
    const STACK: usize = 64 << 20;
    std::thread::scope(|scope| {
        let run = || search(cases, seed, known, runtime, fresh);
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
        if let Err(panic) = thread.expect("the machine has a thread to spare").join() {
            std::panic::resume_unwind(panic);
        }
    });
}

fn search<F, Fut>(cases: u32, seed: u64, known: Known, runtime: &tokio::runtime::Runtime, fresh: F)
where
    F: Fn() -> Fut,
    Fut: Future<Output = (Arc<dyn Store>, Arc<dyn Store>)>,
{
    let config = Config {
        cases,
        max_shrink_iters: 600,
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..Config::default()
    };
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let outcome = TestRunner::new_with_rng(config, random).run(&histories(), |history| {
        runtime.block_on(async {
            let (specification, compared) = fresh().await;
            compare(&*specification, &*compared, &history, known)
                .await
                .map_err(|difference| TestCaseError::fail(difference.to_string()))
        })
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, history)) => {
            panic!("the stores differ: {reason}\nafter this history:\n{history}")
        }
        Err(TestError::Abort(reason)) => panic!("no histories could be made: {reason}"),
    }
}
