//! Tests of the checker on histories that are hand-written or generated.

mod bad;
mod good;
mod naive;
mod random;

use super::model::{Action, Condition, ModelOperation, Outcome, Row, Verdict, Write};
use super::{Checker, Disorder, Entry, ReasonTiming, Violation};

/// Operation with the ticks of its call and its response.
fn entry(ticks: [u64; 2], operation: ModelOperation, outcome: Outcome) -> Entry {
    let [called, answered] = ticks;
    Entry { task: 0, called, answered, operation, outcome }
}

fn put(key: usize, tag: u64) -> Write {
    Write::new(key, Action::Put(Row::tagged(tag)))
}

fn set(key: usize, tag: u64) -> Write {
    Write::new(key, Action::Update { tag: Some(tag), add: None })
}

fn add(key: usize, add: i64) -> Write {
    Write::new(key, Action::Update { tag: None, add: Some(add) })
}

fn delete(key: usize) -> Write {
    Write::new(key, Action::Delete)
}

fn check(key: usize, condition: Condition) -> Write {
    Write::new(key, Action::Check).when(condition)
}

fn tag(tag: u64) -> Condition {
    Condition::Tag(tag)
}

/// Write that was executed and returned nothing.
fn done(ticks: [u64; 2], write: Write) -> Entry {
    entry(ticks, ModelOperation::Write(write), Outcome::Written(None))
}

/// Write whose condition failed.
fn refused(ticks: [u64; 2], write: Write) -> Entry {
    entry(ticks, ModelOperation::Write(write), Outcome::Refused(vec![Verdict::Failed(None)]))
}

/// Write whose response was lost.
fn lost(ticks: [u64; 2], write: Write) -> Entry {
    entry(ticks, ModelOperation::Write(write), Outcome::Unknown("lost".into()))
}

/// Read that returned this tag, or no item.
fn got(ticks: [u64; 2], key: usize, tag: impl Into<Option<u64>>) -> Entry {
    entry(ticks, ModelOperation::Get(key), Outcome::Read(vec![tag.into().map(Row::tagged)]))
}

/// Transactional read that returned these tags.
fn got_all(ticks: [u64; 2], seen: &[(usize, u64)]) -> Entry {
    let keys = seen.iter().map(|(key, _)| *key).collect();
    let rows = seen.iter().map(|(_, tag)| Some(Row::tagged(*tag))).collect();
    entry(ticks, ModelOperation::TransactGet(keys), Outcome::Read(rows))
}

/// Transaction that was committed.
fn committed<const N: usize>(ticks: [u64; 2], writes: [Write; N]) -> Entry {
    entry(ticks, ModelOperation::TransactWrite(writes.into()), Outcome::Written(None))
}

/// Transaction that was canceled, with these verdicts.
fn canceled<const N: usize>(ticks: [u64; 2], writes: [Write; N], verdicts: [Verdict; N]) -> Entry {
    entry(ticks, ModelOperation::TransactWrite(writes.into()), Outcome::Refused(verdicts.into()))
}

/// Transaction whose response was lost.
fn lost_all<const N: usize>(ticks: [u64; 2], writes: [Write; N]) -> Entry {
    entry(ticks, ModelOperation::TransactWrite(writes.into()), Outcome::Unknown("lost".into()))
}

const KEYS: usize = 4;

/// Checks rounds that are all valid.
#[track_caller]
fn accept<const N: usize>(rounds: [&[Entry]; N]) {
    let mut checker = Checker::new(KEYS);
    for round in rounds {
        if let Err(violation) = checker.round(round) {
            panic!("{violation}");
        }
    }
}

/// Checks rounds of which the last one is invalid.
#[track_caller]
fn reject<const N: usize>(rounds: [&[Entry]; N]) -> Disorder {
    let mut checker = Checker::new(KEYS);
    let (last, before) = rounds.split_last().expect("at least one round");
    for round in before {
        checker.round(round).expect("only the last round is invalid");
    }
    match checker.round(last) {
        Err(Violation::Disorder(disorder)) => *disorder,
        other => panic!("the history has no order, but the checker returned {other:?}"),
    }
}
