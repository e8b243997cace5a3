//! Search for an order that explains a history.
//!
//! The algorithm is that of Wing and Gong ("Testing and Verifying Concurrent Objects", 1993) with
//! the cache of Lowe ("Testing for Linearizability", 2017). It appends operations to an order one
//! by one, always one that no other has to precede, while the model gives the recorded outcomes. It
//! does not continue from a point that it has visited before, with the same operations in the order
//! and the same state.
//!
//! Three rules keep the search small:
//!
//! - A read or a refusal that may come next and is explained here comes next at once: every order
//!   that exists from here on also exists with it in front. That does not hold for a write that
//!   happens to change nothing here, such as a delete of a missing item: its effect may be needed
//!   later.
//! - An operation of unknown outcome is placed as late as possible: only where it changes the
//!   state, and directly before an operation for which that makes a difference.
//! - Of two points that differ only in the operations of unknown outcome that they used, the one
//!   that used fewer can continue in every way in which the other can.

use std::collections::HashMap;

use super::bits::BitSet;
use super::history::Entry;
use super::model::{Outcome, State};

/// Operations to be ordered.
#[derive(Clone, Debug)]
pub(super) struct Problem<'a> {
    start: State,
    /// Operations that must be in the order, sorted by the ticks of their calls.
    known: Vec<&'a Entry>,
    /// Operations that may be in the order, at any time after their calls.
    unknown: Vec<&'a Entry>,
}

/// Number of orders that the search looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Any one order.
    One,
    /// One order for each state, and set of unused operations, in which the rest can continue.
    Each,
}

/// Result of a search.
#[derive(Clone, Debug)]
pub(super) enum Found<'a> {
    /// Ends of the orders that explain everything.
    Ends(Vec<End>),
    /// No order explains everything; the longest partial order.
    Stuck(Stuck<'a>),
    /// The search reached its limit.
    GaveUp,
}

/// End of an order: the state, and the operations of unknown outcome that it uses.
#[derive(Clone, Debug)]
pub(super) struct End {
    pub(super) state: State,
    /// Operations of unknown outcome that are in the order.
    pub(super) used: BitSet,
}

/// Longest order in which every outcome is explained.
#[derive(Clone, Debug)]
pub(super) struct Stuck<'a> {
    pub(super) order: Vec<&'a Entry>,
    /// State at the end of the order.
    pub(super) state: State,
    /// Operations that may come next, each with the outcome that the model gives.
    pub(super) next: Vec<(&'a Entry, Outcome)>,
}

/// Limit on the search points, and the number visited.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    pub(super) left: usize,
    pub(super) spent: usize,
}

impl Budget {
    pub(super) fn new(points: usize) -> Self {
        Self { left: points, spent: 0 }
    }

    fn spend(&mut self) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.spent += 1;
        true
    }
}

/// Search point: the operations in the order so far, and the state that they lead to.
struct Point {
    done: BitSet,
    done_count: usize,
    /// Number of the first operation that is not in the order.
    first: usize,
    used: BitSet,
    state: State,
    /// Operations of unknown outcome at the end of the order, and the state before them. Empty
    /// after any other operation.
    chain: Vec<usize>,
    base: State,
    /// Last step of the order, as an index into the list of all steps.
    last: Option<usize>,
}

/// Step of an order: the operation, and the step before.
struct Step<'a> {
    entry: &'a Entry,
    before: Option<usize>,
}

impl<'a> Problem<'a> {
    pub(super) fn new(
        start: State,
        known: impl IntoIterator<Item = &'a Entry>,
        unknown: impl IntoIterator<Item = &'a Entry>,
    ) -> Self {
        let mut known: Vec<&Entry> = known.into_iter().collect();
        known.sort_by_key(|entry| entry.called);
        Self { start, known, unknown: unknown.into_iter().collect() }
    }

    pub(super) fn start(&self) -> &State {
        &self.start
    }

    pub(super) fn known(&self) -> &[&'a Entry] {
        &self.known
    }

    pub(super) fn unknown(&self) -> &[&'a Entry] {
        &self.unknown
    }

    /// Searches for orders.
    pub(super) fn solve(&self, wanted: Wanted, budget: &mut Budget) -> Found<'a> {
        let mut steps: Vec<Step<'a>> = Vec::new();
        let mut seen: HashMap<(BitSet, State), Vec<BitSet>> = HashMap::new();
        let mut ends: Vec<End> = Vec::new();
        let mut deepest: Option<Point> = None;
        let mut open = vec![Point {
            done: BitSet::new(self.known.len()),
            done_count: 0,
            first: 0,
            used: BitSet::new(self.unknown.len()),
            state: self.start.clone(),
            chain: Vec::new(),
            base: self.start.clone(),
            last: None,
        }];
        while let Some(mut point) = open.pop() {
            self.append_without_effect(&mut point, &mut steps);
            if !is_new(&mut seen, &point) {
                continue;
            }
            if !budget.spend() {
                return Found::GaveUp;
            }
            if point.done_count == self.known.len() {
                // An unused operation of unknown outcome may still take effect later.
                keep_end(&mut ends, End { state: point.state, used: point.used });
                match wanted {
                    Wanted::One => break,
                    Wanted::Each => continue,
                }
            }
            self.push_next(&point, &mut steps, &mut open);
            if deepest.as_ref().is_none_or(|deepest| deepest.done_count < point.done_count) {
                deepest = Some(point);
            }
        }
        match deepest {
            Some(point) if ends.is_empty() => Found::Stuck(self.stuck(&point, &steps)),
            _ => Found::Ends(ends),
        }
    }

    /// Operations that may come next, and the first tick of a response: an operation of unknown
    /// outcome may come next if it was called before that tick.
    ///
    /// An operation may come next if none of the operations left was answered before its call.
    fn next(&self, point: &Point) -> (Vec<usize>, u64) {
        let mut next = Vec::new();
        let mut first_answer = u64::MAX;
        for number in point.first..self.known.len() {
            let entry = self.known[number];
            if entry.called > first_answer {
                break;
            }
            if !point.done.has(number) {
                first_answer = first_answer.min(entry.answered);
                next.push(number);
            }
        }
        (next, first_answer)
    }

    /// Appends operations without effect, for as long as one may come next.
    fn append_without_effect(&self, point: &mut Point, steps: &mut Vec<Step<'a>>) {
        loop {
            let before = point.done_count;
            for number in self.next(point).0 {
                let entry = self.known[number];
                if entry.is_without_effect()
                    && point.state.answer(&entry.operation).0.explains(&entry.outcome)
                {
                    self.finish(point, number);
                    point.chain.clear();
                    steps.push(Step { entry, before: point.last });
                    point.last = Some(steps.len() - 1);
                }
            }
            if point.done_count == before {
                return;
            }
        }
    }

    fn finish(&self, point: &mut Point, number: usize) {
        point.done.insert(number);
        point.done_count += 1;
        while point.first < self.known.len() && point.done.has(point.first) {
            point.first += 1;
        }
    }

    /// Pushes the points that follow this one, the most promising last.
    fn push_next(&self, point: &Point, steps: &mut Vec<Step<'a>>, open: &mut Vec<Point>) {
        let (next, first_answer) = self.next(point);
        for (number, entry) in self.unknown.iter().enumerate() {
            if point.used.has(number) || entry.called > first_answer {
                continue;
            }
            let Some(state) = point.state.answer(&entry.operation).1 else { continue };
            steps.push(Step { entry, before: point.last });
            open.push(Point {
                done: point.done.clone(),
                done_count: point.done_count,
                first: point.first,
                used: point.used.with(number),
                state,
                chain: [&point.chain[..], &[number]].concat(),
                base: if point.chain.is_empty() { point.state.clone() } else { point.base.clone() },
                last: Some(steps.len() - 1),
            });
        }
        for number in next.into_iter().rev() {
            let entry = self.known[number];
            let (outcome, after) = point.state.answer(&entry.operation);
            if !outcome.explains(&entry.outcome) {
                continue;
            }
            let state = after.unwrap_or_else(|| point.state.clone());
            if self.can_wait(point, entry, &state) {
                continue;
            }
            steps.push(Step { entry, before: point.last });
            let mut after = Point {
                done: point.done.clone(),
                done_count: point.done_count,
                first: point.first,
                used: point.used.clone(),
                base: state.clone(),
                chain: Vec::new(),
                state,
                last: Some(steps.len() - 1),
            };
            self.finish(&mut after, number);
            open.push(after);
        }
    }

    /// Whether an operation of unknown outcome at the end of the order makes no difference to the
    /// next operation, so that it could come later or not at all.
    fn can_wait(&self, point: &Point, entry: &Entry, after: &State) -> bool {
        point.chain.iter().any(|waiting| {
            let mut state = point.base.clone();
            for number in point.chain.iter().filter(|number| *number != waiting) {
                state = apply_entry(state, self.unknown[*number]);
            }
            let (outcome, next) = state.answer(&entry.operation);
            let state = next.unwrap_or(state);
            outcome.explains(&entry.outcome)
                && (state == *after || apply_entry(state, self.unknown[*waiting]) == *after)
        })
    }

    fn stuck(&self, point: &Point, steps: &[Step<'a>]) -> Stuck<'a> {
        let mut order = Vec::new();
        let mut last = point.last;
        while let Some(step) = last.map(|number| &steps[number]) {
            order.push(step.entry);
            last = step.before;
        }
        order.reverse();
        let next = self.next(point).0.into_iter().map(|number| {
            let entry = self.known[number];
            (entry, point.state.answer(&entry.operation).0)
        });
        Stuck { order, state: point.state.clone(), next: next.collect() }
    }
}

fn apply_entry(state: State, entry: &Entry) -> State {
    state.answer(&entry.operation).1.unwrap_or(state)
}

/// Records the point, unless a visited point can continue in every way in which it can.
fn is_new(seen: &mut HashMap<(BitSet, State), Vec<BitSet>>, point: &Point) -> bool {
    let used = seen.entry((point.done.clone(), point.state.clone())).or_default();
    if used.iter().any(|known| known.is_within(&point.used)) {
        return false;
    }
    used.retain(|known| !point.used.is_within(known));
    used.push(point.used.clone());
    true
}

/// Keeps the end, unless a kept one can continue in every way in which it can.
fn keep_end(ends: &mut Vec<End>, end: End) {
    let is_covered = |one: &End, by: &End| one.state == by.state && by.used.is_within(&one.used);
    if ends.iter().any(|known| is_covered(&end, known)) {
        return;
    }
    ends.retain(|known| !is_covered(known, &end));
    ends.push(end);
}
