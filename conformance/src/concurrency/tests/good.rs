//! Histories that an order explains, some of which only just.

use super::*;

#[test]
fn nothing() {
    accept([&[], &[]]);
}

#[test]
fn writes_at_the_same_time_in_either_order() {
    for last in [1, 2] {
        accept([&[done([1, 3], put(0, 1)), done([2, 4], put(0, 2)), got([5, 6], 0, last)]]);
    }
}

#[test]
fn a_read_beside_a_write_sees_either() {
    for seen in [1, 3] {
        accept([&[done([1, 2], put(0, 1)), done([3, 6], put(0, 3)), got([4, 5], 0, seen)]]);
    }
}

#[test]
fn an_optimistic_update_of_which_one_is_refused() {
    accept([&[
        done([1, 2], put(0, 1)),
        done([3, 6], put(0, 3).when(tag(1))),
        refused([4, 5], put(0, 4).when(tag(1))),
        got([7, 8], 0, 3),
    ]]);
}

#[test]
fn the_order_within_a_round_is_found_by_what_comes_late() {
    // The reads at the end say that the puts happened in the reverse order of their calls.
    let puts: Vec<Entry> = (1..=8).map(|n| done([n, 100 + n], put(0, 10 + n))).collect();
    let reads: Vec<Entry> = (1..=8).map(|n| got([20 + 2 * n, 21 + 2 * n], 0, 19 - n)).collect();
    accept([&[puts, reads].concat()]);
}

#[test]
fn a_cancelled_transaction_leaves_no_trace() {
    let verdicts = [Verdict::Held, Verdict::Failed(None)];
    accept([&[
        done([1, 2], put(0, 1)),
        cancelled([3, 4], [put(0, 3), check(1, Condition::Present)], verdicts),
        got([5, 6], 0, 1),
        got([7, 8], 1, None),
    ]]);
}

#[test]
fn what_a_conflict_kept_from_being_judged_may_have_been_anything() {
    let verdicts = [Verdict::NotReported, Verdict::Failed(None)];
    accept([&[cancelled(
        [3, 4],
        [put(0, 3).when(Condition::Present), check(1, Condition::Present)],
        verdicts,
    )]]);
}

#[test]
fn a_transactional_read_beside_a_transaction_sees_all_or_nothing() {
    for seen in [[(0, 1), (1, 2)], [(0, 3), (1, 4)]] {
        accept([&[
            committed([1, 2], [put(0, 1), put(1, 2)]),
            committed([3, 6], [put(0, 3), put(1, 4)]),
            got_all([4, 5], &seen),
        ]]);
    }
}

#[test]
fn transactions_that_check_each_other_one_after_the_other() {
    let verdicts = [Verdict::Failed(None), Verdict::Held];
    accept([&[
        committed([1, 2], [put(0, 1), put(1, 2)]),
        committed([3, 6], [check(0, tag(1)), put(1, 3)]),
        cancelled([4, 5], [check(1, tag(2)), put(0, 4)], verdicts),
    ]]);
}

#[test]
fn an_unknown_write_that_was_made() {
    accept([&[done([1, 2], put(0, 1)), lost([3, 4], put(0, 3)), got([5, 6], 0, 3)]]);
}

#[test]
fn an_unknown_write_that_was_not_made() {
    accept([
        &[done([1, 2], put(0, 1)), lost([3, 4], put(0, 3)), got([5, 6], 0, 1)],
        &[got([7, 8], 0, 1)],
    ]);
}

#[test]
fn an_unknown_write_that_took_effect_late() {
    let first = [done([1, 2], put(0, 1)), lost([3, 4], put(0, 3)), got([5, 6], 0, 1)];
    let seen = [got([7, 8], 0, 3)];
    accept([&[&first[..], &seen[..]].concat()]);
    // And later still, after rounds in which it did not.
    accept([&first, &seen]);
    accept([&first, &[got([5, 6], 0, 1)], &seen, &[got([9, 10], 0, 3)]]);
    // Two of them, of which the second was first.
    let other = [lost([5, 6], delete(0)), got([7, 8], 0, None), got([9, 10], 0, 3)];
    accept([&first, &other]);
}

#[test]
fn an_unknown_write_that_took_effect_when_nobody_expected_it_anymore() {
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
fn an_unknown_transaction_between_the_last_reads_of_a_round() {
    let before = [committed([1, 2], [put(0, 1), put(1, 2)])];
    let lost = [lost_all([3, 4], [put(0, 3), put(1, 4)])];
    let reads = [got([5, 6], 0, 1), got([7, 8], 1, 4)];
    let after = [got([9, 10], 0, 3), got([11, 12], 1, 4)];
    accept([&before, &[&lost[..], &reads[..]].concat(), &after]);
    reject([&before, &[&lost[..], &reads[..]].concat(), &[got([9, 10], 0, 1)]]);
}

#[test]
fn which_of_two_unknown_deletes_was_made_stays_open() {
    let first = [
        done([1, 2], put(0, 1)),
        lost([3, 4], delete(0).when(tag(1))),
        lost([5, 6], delete(0)),
        got([7, 8], 0, None),
        done([9, 10], put(0, 9)),
        got([11, 12], 0, 9),
    ];
    // If the first was made, the second may still come, but only once.
    accept([&first, &[got([13, 14], 0, None)]]);
    let again = [got([13, 14], 0, None), done([15, 16], put(0, 15)), got([17, 18], 0, 15)];
    reject([&first, &again, &[got([19, 20], 0, None)]]);
}

#[test]
fn a_round_that_ends_without_reads_leaves_its_order_open() {
    let first = [done([1, 3], put(0, 1)), done([2, 4], put(0, 2))];
    for last in [1, 2] {
        accept([&first, &[got([5, 6], 0, last)], &[got([7, 8], 0, last)]]);
        reject([&first, &[got([5, 6], 0, last)], &[got([7, 8], 0, 3 - last)]]);
    }
}

#[test]
fn groups_of_items_are_checked_apart() {
    // Together, the orders of the two would multiply.
    let puts = |key: usize| (1..=7).map(move |n| done([n, 100 + n], put(key, 10 + n)));
    let reads = [got([200, 201], 0, 13), got([202, 203], 1, 12)];
    let round: Vec<Entry> = puts(0).chain(puts(1)).chain(reads).collect();
    let apart = Checker::new(KEYS).round(&round).unwrap();
    let joined = got_all([204, 205], &[(0, 13), (1, 12)]);
    let together = Checker::new(KEYS).round(&[&round[..], &[joined]].concat()).unwrap();
    assert!(10 * apart < together, "{apart} and {together} points");
}

#[test]
fn an_operation_without_effect_does_not_matter() {
    let conflict = Outcome::NoEffect("TransactionConflictException".into());
    accept([&[
        done([1, 2], put(0, 1)),
        entry([3, 4], ModelOperation::Write(put(0, 3)), conflict),
        got([5, 6], 0, 1),
    ]]);
}
