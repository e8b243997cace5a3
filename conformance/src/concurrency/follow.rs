//! Propagation of the possible states from one round to the next.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::groups::DisjointSets;
use super::history::Entry;
use super::model::{Outcome, State};
use super::search::{Budget, End, Found, Problem, Wanted};

/// Limit on the possible ends of a round.
pub(super) const MAX_POSSIBILITIES: usize = 1_000;

/// Possible end of the rounds so far.
#[derive(Clone, Debug)]
pub(super) struct Possibility {
    pub(super) state: State,
    /// Operations of unknown outcome, by number, that can still take effect.
    pub(super) open: Vec<usize>,
}

/// Result of following a possibility through a round.
pub(super) enum Followed<'a> {
    To(Vec<Possibility>),
    /// No order explains these operations; `explained` is the length of the longest partial order.
    Nowhere {
        explained: usize,
        problem: Problem<'a>,
    },
    /// The search reached its limit.
    TooFar,
}

/// Operations of one round.
pub(super) struct RoundPart<'a> {
    known: &'a [Entry],
    /// Operations of unknown outcome that are considered, by number.
    unknown: Vec<(usize, &'a Entry)>,
    groups: DisjointSets,
}

impl<'a> RoundPart<'a> {
    pub(super) fn new(keys: usize, known: &'a [Entry], unknown: Vec<(usize, &'a Entry)>) -> Self {
        let mut groups = DisjointSets::new(keys);
        for entry in known.iter().chain(unknown.iter().map(|(_, entry)| *entry)) {
            groups.join(&entry.operation.keys());
        }
        Self { known, unknown, groups }
    }

    /// Checks the round from one possible start, each group of keys by itself.
    pub(super) fn follow(&self, from: &Possibility, budget: &mut Budget) -> Followed<'a> {
        let mut possible = vec![from.clone()];
        for group in self.groups.names() {
            let is_here = |entry: &Entry| {
                let keys = entry.operation.keys();
                keys.first().is_some_and(|key| self.groups.of(*key) == group)
            };
            let open: Vec<(usize, &'a Entry)> = self
                .unknown
                .iter()
                .copied()
                .filter(|(number, entry)| from.open.contains(number) && is_here(entry))
                .collect();
            let problem = Problem::new(
                from.state.clone(),
                self.known.iter().filter(|entry| is_here(entry)),
                open.iter().map(|(_, entry)| *entry),
            );
            let is_settled = open.is_empty() && is_read_at_the_end(problem.known());
            let wanted = if is_settled { Wanted::One } else { Wanted::Each };
            match problem.solve(wanted, budget) {
                Found::Ends(ends) => {
                    let is_in_group = |key: usize| self.groups.of(key) == group;
                    possible = combine(&possible, &ends, &open, is_in_group);
                }
                Found::Stuck(stuck) => {
                    return Followed::Nowhere { explained: stuck.order.len(), problem };
                }
                Found::GaveUp => return Followed::TooFar,
            }
            if possible.len() > MAX_POSSIBILITIES {
                return Followed::TooFar;
            }
        }
        Followed::To(possible)
    }
}

/// Combines each possibility with each end of one group.
fn combine(
    possible: &[Possibility],
    ends: &[End],
    unknown: &[(usize, &Entry)],
    is_in_group: impl Fn(usize) -> bool,
) -> Vec<Possibility> {
    let mut all = Vec::new();
    for possibility in possible {
        for end in ends {
            let mut both = possibility.clone();
            for key in (0..both.state.keys()).filter(|key| is_in_group(*key)) {
                both.state.set(key, end.state.row(key));
            }
            for (place, (number, _)) in unknown.iter().enumerate() {
                if end.used.has(place) {
                    both.open.retain(|open| open != number);
                }
            }
            all.push(both);
        }
    }
    all
}

/// Possibilities without those that another one covers: one with the same items, and with at least
/// the same operations that can still take effect.
pub(super) fn without_the_covered(mut possible: Vec<Possibility>) -> Vec<Possibility> {
    possible.sort_by_key(|possibility| Reverse(possibility.open.len()));
    let mut kept: Vec<Possibility> = Vec::new();
    for possibility in possible {
        let covers = |by: &Possibility| {
            by.state == possibility.state
                && possibility.open.iter().all(|number| by.open.contains(number))
        };
        if !kept.iter().any(covers) {
            kept.push(possibility);
        }
    }
    kept
}

/// Whether every written item was read afterwards, so that all orders end in the same state.
fn is_read_at_the_end(known: &[&Entry]) -> bool {
    let is_read = |entry: &Entry| matches!(entry.outcome, Outcome::Read(_));
    let last_written = |key: usize| {
        let writes = known
            .iter()
            .filter(|entry| entry.operation.writes().iter().any(|write| write.key == key));
        writes.map(|entry| entry.answered).max()
    };
    let last_read = |key: usize| {
        let reads =
            known.iter().filter(|entry| is_read(entry) && entry.operation.keys().contains(&key));
        reads.map(|entry| entry.called).max()
    };
    let keys: BTreeSet<usize> = known.iter().flat_map(|entry| entry.operation.keys()).collect();
    keys.into_iter().all(|key| match (last_written(key), last_read(key)) {
        (Some(written), Some(read)) => written < read,
        (Some(_), None) => false,
        (None, _) => true,
    })
}
