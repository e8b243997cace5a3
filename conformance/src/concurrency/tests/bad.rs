//! Histories that no order explains.

use super::*;

#[test]
fn rejects_lost_update() {
    let disorder = reject([&[
        done([1, 2], put(0, 1)),
        done([3, 6], put(0, 3).when(tag(1))),
        done([4, 7], put(0, 4).when(tag(1))),
    ]]);
    let text = disorder.to_string();
    assert!(text.contains("put k0 = {v=4} if v=1 => done"), "{text}");
    assert!(text.contains("but the model returns: refused: failed"), "{text}");
}

#[test]
fn rejects_lost_addition() {
    let read = Outcome::Read(vec![Some(Row { tag: None, count: Some(2) })]);
    reject([&[
        done([1, 4], add(0, 2)),
        done([2, 3], add(0, 3)),
        entry([5, 6], ModelOperation::Get(0), read),
    ]]);
}

#[test]
fn rejects_two_creators_of_one_item() {
    let create = |tag| put(0, tag).when(Condition::Absent);
    reject([&[done([1, 3], create(1)), done([2, 4], create(2))]]);
}

#[test]
fn rejects_stale_read_after_completed_write() {
    let disorder = reject([&[
        done([1, 2], put(0, 1)),
        got([3, 4], 0, 1),
        done([5, 6], put(0, 5)),
        got([7, 8], 0, 1),
        // Later operations are not in the report.
        done([9, 10], put(0, 9)),
    ]]);
    let [(read, would)] = &disorder.unexplained[..] else { panic!("{disorder}") };
    assert_eq!((read.called, read.answered), (7, 8));
    assert_eq!(would, &Outcome::Read(vec![Some(Row::tagged(5))]));
    // Nor is the first read, which does not matter.
    let order: Vec<u64> = disorder.order.iter().map(|entry| entry.called).collect();
    assert_eq!(order, [1, 5]);
}

#[test]
fn rejects_dirty_read_of_canceled_transaction() {
    let verdicts = [Verdict::Held, Verdict::Failed(None)];
    reject([&[
        done([1, 2], put(0, 1)),
        canceled([3, 6], [put(0, 3), check(1, Condition::Present)], verdicts),
        got([4, 5], 0, 3),
    ]]);
}

#[test]
fn rejects_partial_effect_of_canceled_transaction() {
    let verdicts = [Verdict::Held, Verdict::Failed(None)];
    reject([&[
        canceled([1, 2], [put(0, 1), check(1, Condition::Present)], verdicts),
        got([3, 4], 0, 1),
    ]]);
}

#[test]
fn rejects_fractured_read() {
    reject([&[
        committed([1, 2], [put(0, 1), put(1, 2)]),
        committed([3, 8], [put(0, 3), put(1, 4)]),
        got_all([4, 7], &[(0, 3), (1, 2)]),
    ]]);
}

#[test]
fn rejects_transaction_seen_in_halves_by_single_reads() {
    reject([&[
        committed([1, 2], [put(0, 1), put(1, 2)]),
        committed([3, 8], [put(0, 3), put(1, 4)]),
        got([4, 5], 0, 3),
        got([6, 7], 1, 2),
    ]]);
}

#[test]
fn rejects_write_skew() {
    // Each requires that the other has not been committed.
    reject([&[
        committed([1, 2], [put(0, 1), put(1, 2)]),
        committed([3, 6], [check(0, tag(1)), put(1, 3)]),
        committed([4, 5], [check(1, tag(2)), put(0, 4)]),
    ]]);
}

#[test]
fn rejects_failure_of_condition_that_holds_in_every_order() {
    reject([&[
        done([1, 2], put(0, 1)),
        done([3, 6], put(1, 3)),
        refused([4, 5], put(0, 4).when(tag(1))),
    ]]);
}

#[test]
fn rejects_refusal_that_returns_another_item() {
    let write = put(0, 5).when(tag(9)).item_on_failure();
    let verdict = Verdict::Failed(Some(Row::tagged(1)));
    reject([&[
        done([1, 2], put(0, 1)),
        done([3, 4], put(0, 3)),
        entry([5, 6], ModelOperation::Write(write), Outcome::Refused(vec![verdict])),
    ]]);
}

#[test]
fn rejects_two_readers_that_see_writes_in_different_orders() {
    let writes = [done([5, 20], put(0, 5)), done([6, 21], put(1, 6))];
    let before = [done([1, 2], put(0, 1)), done([3, 4], put(1, 3))];
    let one = [got([7, 8], 0, 5), got([9, 10], 1, 3)];
    let other = [got([11, 12], 1, 6), got([13, 14], 0, 1)];
    let all = |more: &[Entry]| [&before, &writes, more].concat();
    accept([&all(&one)]);
    accept([&all(&other)]);
    reject([&all(&[one, other].concat())]);
}

#[test]
fn rejects_value_that_reappears() {
    reject([&[
        done([1, 9], put(0, 1)),
        done([2, 10], put(0, 2)),
        got([3, 4], 0, 1),
        got([5, 6], 0, 2),
        got([7, 8], 0, 1),
    ]]);
}

#[test]
fn rejects_value_that_was_never_written() {
    reject([&[done([1, 2], put(0, 1)), got([3, 4], 0, 7)]]);
}

#[test]
fn rejects_read_of_write_before_its_call() {
    reject([&[got([1, 2], 0, 3), done([3, 4], put(0, 3))]]);
}

#[test]
fn rejects_returned_item_that_was_not_the_last() {
    let swap = delete(0).returning(super::super::model::Returns::Old);
    let old = Outcome::Written(Some(Row::tagged(1)));
    reject([&[
        done([1, 2], put(0, 1)),
        done([3, 4], set(0, 3)),
        entry([5, 6], ModelOperation::Write(swap), old),
    ]]);
}

#[test]
fn rejects_cancellation_reasons_that_never_held_together() {
    let verdicts = [Verdict::Failed(None), Verdict::Failed(None)];
    let writes = [check(0, tag(1)), check(1, tag(2))];
    // Each of the conditions failed at some moment, but at each moment one of them held.
    let history = [
        committed([1, 2], [put(0, 1), put(1, 7)]),
        committed([3, 6], [put(0, 3), put(1, 2)]),
        canceled([4, 5], writes, verdicts),
    ];
    reject([&history]);
    let mut alone = Checker::new(KEYS).reasons(ReasonTiming::EachAlone);
    alone.round(&history).expect("each condition failed at some moment");
}

#[test]
fn rejects_unknown_write_that_disappears() {
    reject([&[
        done([1, 2], put(0, 1)),
        lost([3, 4], put(0, 3)),
        got([5, 6], 0, 3),
        got([7, 8], 0, 1),
    ]]);
}

#[test]
fn rejects_partial_effect_of_unknown_transaction() {
    reject([&[
        committed([1, 2], [put(0, 1), put(1, 2)]),
        lost_all([3, 4], [put(0, 3), put(1, 4)]),
        got([5, 6], 0, 3),
        got([7, 8], 1, 2),
    ]]);
}

#[test]
fn rejects_unknown_write_that_took_effect_twice() {
    let first = [
        done([1, 2], put(0, 1)),
        lost([3, 4], put(0, 3)),
        got([5, 6], 0, 3),
        done([7, 8], put(0, 7)),
        got([9, 10], 0, 7),
    ];
    reject([&first, &[got([11, 12], 0, 3)]]);
}

#[test]
fn rejects_unknown_write_whose_condition_never_held() {
    reject([&[done([1, 2], put(0, 1)), lost([3, 4], put(0, 3).when(tag(9))), got([5, 6], 0, 3)]]);
}

#[test]
fn rejects_write_that_is_lost_in_next_round() {
    reject([&[done([1, 2], put(0, 1)), got([3, 4], 0, 1)], &[got([5, 6], 0, None)]]);
}

#[test]
fn rejects_conflict_that_took_effect() {
    let conflict = Outcome::NoEffect("TransactionConflictException".into());
    let disorder = reject([&[
        done([1, 2], put(0, 1)),
        entry([3, 4], ModelOperation::Write(put(0, 3)), conflict),
        got([5, 6], 0, 3),
    ]]);
    let [disowned] = &disorder.disowned[..] else { panic!("{disorder}") };
    assert_eq!(disowned.called, 3);
    assert!(disorder.to_string().contains("put k0 = {v=3} => not executed"), "{disorder}");
}

#[test]
fn search_beyond_limit_is_undecided() {
    let puts: Vec<Entry> = (1..=12).map(|n| done([n, 100 + n], put(0, n))).collect();
    let all = [&puts[..], &[got([200, 201], 0, 77)]].concat();
    let mut checker = Checker::new(KEYS).max_states(1_000);
    match checker.round(&all) {
        Err(Violation::Undecided { round: 1, states: 1_000 }) => {}
        other => panic!("{other:?}"),
    }
}
