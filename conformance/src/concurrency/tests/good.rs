//! Histories that an order explains, some of them barely.

use super::*;

#[test]
fn accepts_empty_rounds() {
    accept([&[], &[]]);
}

#[test]
fn accepts_concurrent_writes_in_either_order() {
    for last in [1, 2] {
        accept([&[done([1, 3], put(0, 1)), done([2, 4], put(0, 2)), got([5, 6], 0, last)]]);
    }
}

#[test]
fn accepts_either_value_in_read_concurrent_with_write() {
    for seen in [1, 3] {
        accept([&[done([1, 2], put(0, 1)), done([3, 6], put(0, 3)), got([4, 5], 0, seen)]]);
    }
}

#[test]
fn accepts_one_winner_of_two_optimistic_updates() {
    accept([&[
        done([1, 2], put(0, 1)),
        done([3, 6], put(0, 3).when(tag(1))),
        refused([4, 5], put(0, 4).when(tag(1))),
        got([7, 8], 0, 3),
    ]]);
}

#[test]
fn finds_order_that_only_later_reads_determine() {
    // The later reads show that the puts took effect in the reverse order of their calls.
    let puts: Vec<Entry> = (1..=8).map(|n| done([n, 100 + n], put(0, 10 + n))).collect();
    let reads: Vec<Entry> = (1..=8).map(|n| got([20 + 2 * n, 21 + 2 * n], 0, 19 - n)).collect();
    accept([&[puts, reads].concat()]);
}

#[test]
fn accepts_canceled_transaction_without_effect() {
    let verdicts = [Verdict::Held, Verdict::Failed(None)];
    accept([&[
        done([1, 2], put(0, 1)),
        canceled([3, 4], [put(0, 3), check(1, Condition::Present)], verdicts),
        got([5, 6], 0, 1),
        got([7, 8], 1, None),
    ]]);
}

#[test]
fn accepts_any_state_for_unreported_verdict() {
    let verdicts = [Verdict::NotReported, Verdict::Failed(None)];
    accept([&[canceled(
        [3, 4],
        [put(0, 3).when(Condition::Present), check(1, Condition::Present)],
        verdicts,
    )]]);
}

#[test]
fn accepts_all_or_nothing_in_transactional_read() {
    for seen in [[(0, 1), (1, 2)], [(0, 3), (1, 4)]] {
        accept([&[
            committed([1, 2], [put(0, 1), put(1, 2)]),
            committed([3, 6], [put(0, 3), put(1, 4)]),
            got_all([4, 5], &seen),
        ]]);
    }
}

#[test]
fn accepts_serial_transactions_that_check_each_other() {
    let verdicts = [Verdict::Failed(None), Verdict::Held];
    accept([&[
        committed([1, 2], [put(0, 1), put(1, 2)]),
        committed([3, 6], [check(0, tag(1)), put(1, 3)]),
        canceled([4, 5], [check(1, tag(2)), put(0, 4)], verdicts),
    ]]);
}

#[test]
fn accepts_unknown_write_that_took_effect() {
    accept([&[done([1, 2], put(0, 1)), lost([3, 4], put(0, 3)), got([5, 6], 0, 3)]]);
}

#[test]
fn accepts_unknown_write_without_effect() {
    accept([
        &[done([1, 2], put(0, 1)), lost([3, 4], put(0, 3)), got([5, 6], 0, 1)],
        &[got([7, 8], 0, 1)],
    ]);
}

#[test]
fn accepts_unknown_write_that_took_effect_late() {
    let first = [done([1, 2], put(0, 1)), lost([3, 4], put(0, 3)), got([5, 6], 0, 1)];
    let seen = [got([7, 8], 0, 3)];
    accept([&[&first[..], &seen[..]].concat()]);
    // Later still, after rounds without its effect.
    accept([&first, &seen]);
    accept([&first, &[got([5, 6], 0, 1)], &seen, &[got([9, 10], 0, 3)]]);
    // Two unknown writes, of which the second took effect first.
    let other = [lost([5, 6], delete(0)), got([7, 8], 0, None), got([9, 10], 0, 3)];
    accept([&first, &other]);
}

#[test]
fn accepts_unknown_write_that_took_effect_after_patience() {
    let first = [
        done([1, 2], put(0, 1)),
        lost([3, 4], put(0, 3)),
        lost([5, 6], delete(0)),
        got([7, 8], 0, 1),
    ];
    let idle = [got([9, 10], 0, 1)];
    let long = [&first[..], &idle, &idle, &idle, &idle];
    let (put, deleted) = ([got([11, 12], 0, 3)], [got([13, 14], 0, None)]);
    let rounds = |more: &[&[Entry]]| {
        let mut checker = Checker::new(KEYS).patience(1);
        long.iter().chain(more).all(|round| checker.round(round).is_ok())
    };
    assert!(rounds(&[&put]) && rounds(&[&deleted]) && rounds(&[&put, &deleted]));
    assert!(!rounds(&[&put, &deleted, &put]), "it took effect twice");
}

#[test]
fn accepts_unknown_transaction_between_last_reads_of_round() {
    let before = [committed([1, 2], [put(0, 1), put(1, 2)])];
    let lost = [lost_all([3, 4], [put(0, 3), put(1, 4)])];
    let reads = [got([5, 6], 0, 1), got([7, 8], 1, 4)];
    let after = [got([9, 10], 0, 3), got([11, 12], 1, 4)];
    accept([&before, &[&lost[..], &reads[..]].concat(), &after]);
    reject([&before, &[&lost[..], &reads[..]].concat(), &[got([9, 10], 0, 1)]]);
}

#[test]
fn either_of_two_unknown_deletes_may_take_effect_later_once() {
    let first = [
        done([1, 2], put(0, 1)),
        lost([3, 4], delete(0).when(tag(1))),
        lost([5, 6], delete(0)),
        got([7, 8], 0, None),
        done([9, 10], put(0, 9)),
        got([11, 12], 0, 9),
    ];
    // If the first delete was executed, the second may still take effect, but only once.
    accept([&first, &[got([13, 14], 0, None)]]);
    let again = [got([13, 14], 0, None), done([15, 16], put(0, 15)), got([17, 18], 0, 15)];
    reject([&first, &again, &[got([19, 20], 0, None)]]);
}

#[test]
fn round_without_last_reads_leaves_order_open() {
    let first = [done([1, 3], put(0, 1)), done([2, 4], put(0, 2))];
    for last in [1, 2] {
        accept([&first, &[got([5, 6], 0, last)], &[got([7, 8], 0, last)]]);
        reject([&first, &[got([5, 6], 0, last)], &[got([7, 8], 0, 3 - last)]]);
    }
}

#[test]
fn unconnected_items_are_checked_separately() {
    // Checked together, the numbers of orders would multiply.
    let puts = |key: usize| (1..=7).map(move |n| done([n, 100 + n], put(key, 10 + n)));
    let reads = [got([200, 201], 0, 13), got([202, 203], 1, 12)];
    let round: Vec<Entry> = puts(0).chain(puts(1)).chain(reads).collect();
    let apart = Checker::new(KEYS).round(&round).unwrap();
    let joined = got_all([204, 205], &[(0, 13), (1, 12)]);
    let together = Checker::new(KEYS).round(&[&round[..], &[joined]].concat()).unwrap();
    assert!(10 * apart < together, "{apart} search points separately, {together} together");
}

#[test]
fn accepts_operation_without_effect() {
    let conflict = Outcome::NoEffect("TransactionConflictException".into());
    accept([&[
        done([1, 2], put(0, 1)),
        entry([3, 4], ModelOperation::Write(put(0, 3)), conflict),
        got([5, 6], 0, 1),
    ]]);
}
