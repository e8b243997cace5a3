//! Comparison of two stores on random histories.
//!
//! A [`History`] is a table of a random shape and a sequence of operations on a small key space, so
//! that many of them touch the same items: valid and invalid, with conditions, updates, batches,
//! transactions, queries and scans. [`compare`] makes the same calls on both stores. It compares
//! responses and errors and, at the end, the contents of the tables and indexes and the records of
//! the stream, if there is one.
//!
//! Normalized before the comparison:
//! - the order of a scan, and of entries that tie in an index: all pages are read and sorted;
//! - a `LastEvaluatedKey` on the last page;
//! - lagging reads of an index: they are repeated up to a limit;
//! - texts for the same constraint ([`wording`](crate::wording));
//! - known deviations of an engine ([`KnownDeviations`]), each with its reason.

mod compare;
mod history;
mod known;
mod partial_errors;
mod records;
mod shapes;

pub use self::compare::{Difference, compare};
pub use self::history::{History, HistoryOperation, histories};
pub use self::known::KnownDeviations;
pub use self::shapes::{SHAPES, TableShape};

use std::sync::Arc;

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tabla_core::Store;

/// Compares stores on `cases` random histories. The same seed gives the same histories. `fresh`
/// makes a pair of stores for each history: the specification, and the store compared with it.
///
/// # Panics
/// If the stores differ: after the last history or the eighth difference, with the smallest
/// histories found on which they differ.
pub fn run<F, Fut>(
    cases: u32,
    seed: u64,
    known: KnownDeviations,
    runtime: &tokio::runtime::Runtime,
    fresh: F,
) where
    F: Fn() -> Fut + Send,
    Fut: Future<Output = (Arc<dyn Store>, Arc<dyn Store>)>,
{
    // Without optimization, generating and shrinking such large values takes more stack than a test
    // thread has.
    const STACK: usize = 64 << 20;
    std::thread::scope(|scope| {
        let run = || search(cases, seed, known, runtime, fresh);
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run);
        if let Err(panic) = thread.expect("cannot start a thread").join() {
            std::panic::resume_unwind(panic);
        }
    });
}

/// Number of differences after which the search ends: more of them rarely show anything new.
const REPORTED: usize = 8;
/// Limit on the attempts to shrink one history.
const SHRINKING_STEPS: usize = 600;

fn search<F, Fut>(
    cases: u32,
    seed: u64,
    known: KnownDeviations,
    runtime: &tokio::runtime::Runtime,
    fresh: F,
) where
    F: Fn() -> Fut,
    Fut: Future<Output = (Arc<dyn Store>, Arc<dyn Store>)>,
{
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    let strategy = histories();
    let differs = |history: &History| {
        runtime.block_on(async {
            let (specification, compared) = fresh().await;
            compare(&*specification, &*compared, history, known).await.err()
        })
    };
    let mut found = Vec::new();
    for case in 1..=cases {
        let mut tree = strategy.new_tree(&mut runner).expect("generating a history does not fail");
        if let Some(difference) = differs(&tree.current()) {
            let smallest = smallest(&mut tree, difference, differs);
            // Printed at once, so that a long run can be stopped early.
            println!("history {case} differs:\n{smallest}");
            found.push(smallest);
        }
        if found.len() == REPORTED {
            break;
        }
        if case.is_multiple_of(1000) {
            println!("{case} of {cases} histories, {} differences", found.len());
        }
    }
    assert!(found.is_empty(), "the stores differ:\n{}", found.join("\n"));
}

/// Shrinks a history while the stores differ on it; returns the smallest with its difference.
fn smallest(
    tree: &mut impl ValueTree<Value = History>,
    difference: Difference,
    differs: impl Fn(&History) -> Option<Difference>,
) -> String {
    let mut smallest = (tree.current(), difference);
    let mut may_shrink = tree.simplify();
    for _ in 0..SHRINKING_STEPS {
        if !may_shrink {
            break;
        }
        let history = tree.current();
        may_shrink = match differs(&history) {
            Some(difference) => {
                smallest = (history, difference);
                tree.simplify()
            }
            None => tree.complicate(),
        };
    }
    let (history, difference) = smallest;
    format!("{difference}\nafter this history:\n{history}\n")
}
