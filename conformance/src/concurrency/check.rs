//! Check that a recorded history is strictly serializable, round by round.

use std::collections::HashSet;

use super::explain::{Violation, explain};
use super::follow::{Followed, MAX_POSSIBILITIES, Possibility, RoundPart, without_the_covered};
use super::history::Entry;
use super::model::{ModelOperation, Outcome, State, Verdict};
use super::search::Budget;

/// Checker that a history is strictly serializable: that there is an order of all operations,
/// transactions included, which keeps the real-time order and in which the model gives every
/// recorded outcome.
///
/// A history consists of rounds. All operations of a round are answered before the next round
/// begins, so each round is checked by itself, from the possible ends of the round before. An
/// operation of unknown outcome ([`Outcome::Unknown`]) may take effect at any time after its call,
/// in a later round too, or never.
#[derive(Clone, Debug)]
pub struct Checker {
    reasons: ReasonTiming,
    patience: usize,
    max_states: usize,
    round: usize,
    /// Operations of unknown outcome that at least one possibility has not used.
    unknown: Vec<Unknown>,
    /// All possible ends of the rounds so far; never empty.
    possible: Vec<Possibility>,
}

/// Meaning of the cancellation reasons of one transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReasonTiming {
    /// All conditions were evaluated at one moment: those without a reason held, and those with one
    /// failed. An engine that locks before it evaluates behaves like this.
    #[default]
    AtOnce,
    /// Each failed condition was evaluated at its own moment during the call, and the others are
    /// unknown. DynamoDB documents no more than that.
    EachAlone,
}

/// Operation of unknown outcome, with the round in which it was called.
#[derive(Clone, Debug)]
struct Unknown {
    entry: Entry,
    round: usize,
}

impl Checker {
    /// Checker for a history that begins without items, on items numbered below `keys`.
    pub fn new(keys: usize) -> Self {
        Self {
            reasons: ReasonTiming::default(),
            patience: 2,
            max_states: 200_000,
            round: 0,
            unknown: Vec::new(),
            possible: vec![Possibility { state: State::empty(keys), open: Vec::new() }],
        }
    }

    /// Sets the meaning of cancellation reasons. Default: [`ReasonTiming::AtOnce`].
    #[must_use]
    pub fn reasons(mut self, reasons: ReasonTiming) -> Self {
        self.reasons = reasons;
        self
    }

    /// Sets within how many rounds after its own an unknown operation is expected to take effect,
    /// if at all. Default: 2.
    ///
    /// After these rounds it is considered only in rounds in which its tag is seen, or which have
    /// no order without it. Otherwise the work would grow with every lost response.
    #[must_use]
    pub fn patience(mut self, rounds: usize) -> Self {
        self.patience = rounds;
        self
    }

    /// Sets the limit on the search points of a round. Default: 200,000.
    #[must_use]
    pub fn max_states(mut self, max_states: usize) -> Self {
        self.max_states = max_states;
        self
    }

    /// Checks the next round, and returns the number of search points visited.
    ///
    /// # Errors
    /// [`Violation::Disorder`] if no order explains the rounds so far, [`Violation::Undecided`] if
    /// the search reached its limit. After an error, the checker cannot be used again.
    pub fn round(&mut self, entries: &[Entry]) -> Result<usize, Violation> {
        self.round += 1;
        let mut known = Vec::new();
        for entry in entries {
            match entry.outcome {
                Outcome::NoEffect(_) => {}
                Outcome::Unknown(_) => {
                    for possibility in &mut self.possible {
                        possibility.open.push(self.unknown.len());
                    }
                    self.unknown.push(Unknown { entry: entry.clone(), round: self.round });
                }
                _ => known.extend(said(entry, self.reasons)),
            }
        }

        let mut budget = Budget::new(self.max_states);
        let expected = self.expected(&known);
        let mut followed = self.follow(&known, &expected, &mut budget);
        if matches!(followed, Followed::Nowhere { .. }) && expected.len() < self.unknown.len() {
            let all: Vec<usize> = (0..self.unknown.len()).collect();
            let with_all = self.follow(&known, &all, &mut Budget::new(self.max_states));
            if let Followed::To(_) = with_all {
                followed = with_all;
            }
        }
        match followed {
            Followed::To(after) if after.len() <= MAX_POSSIBILITIES => {
                self.possible = after;
                self.forget_what_is_used_up();
                Ok(budget.spent)
            }
            Followed::To(_) | Followed::TooFar => {
                Err(Violation::Undecided { round: self.round, states: budget.spent })
            }
            Followed::Nowhere { problem, .. } => {
                Err(explain(self.round, entries, &problem, self.max_states))
            }
        }
    }

    /// Operations of unknown outcome that are considered in a round.
    fn expected(&self, known: &[Entry]) -> Vec<usize> {
        let seen: HashSet<(usize, u64)> = known.iter().flat_map(Entry::tags_seen).collect();
        let is_expected = |unknown: &Unknown| {
            self.round - unknown.round <= self.patience
                || unknown.entry.tags_written().any(|tag| seen.contains(&tag))
        };
        (0..self.unknown.len()).filter(|number| is_expected(&self.unknown[*number])).collect()
    }

    /// Checks a round from each possible end of the round before.
    fn follow<'a>(
        &'a self,
        known: &'a [Entry],
        expected: &[usize],
        budget: &mut Budget,
    ) -> Followed<'a> {
        let keys = self.possible[0].state.keys();
        let unknown = expected.iter().map(|number| (*number, &self.unknown[*number].entry));
        let part = RoundPart::new(keys, known, unknown.collect());
        let mut after = Vec::new();
        let mut nowhere = None;
        for possibility in &self.possible {
            match part.follow(possibility, budget) {
                Followed::To(more) => after.extend(more),
                Followed::TooFar => return Followed::TooFar,
                Followed::Nowhere { explained, problem } => {
                    let most = nowhere.as_ref().map(|(most, _)| *most);
                    if most < Some(explained) {
                        nowhere = Some((explained, problem));
                    }
                }
            }
        }
        match nowhere {
            Some((explained, problem)) if after.is_empty() => {
                Followed::Nowhere { explained, problem }
            }
            _ => Followed::To(without_the_covered(after)),
        }
    }

    fn forget_what_is_used_up(&mut self) {
        let is_open =
            |number: &usize| self.possible.iter().any(|possible| possible.open.contains(number));
        let kept: Vec<usize> = (0..self.unknown.len()).filter(is_open).collect();
        self.unknown = kept.iter().map(|number| self.unknown[*number].clone()).collect();
        for possibility in &mut self.possible {
            let open = &possibility.open;
            possibility.open = (0..kept.len()).filter(|new| open.contains(&kept[*new])).collect();
        }
    }
}

/// Entries that the search has to explain for one recorded entry, each at one moment.
fn said(entry: &Entry, reasons: ReasonTiming) -> Vec<Entry> {
    let (
        ModelOperation::TransactWrite(writes),
        Outcome::Refused(verdicts),
        ReasonTiming::EachAlone,
    ) = (&entry.operation, &entry.outcome, reasons)
    else {
        return vec![entry.clone()];
    };
    let failed = writes
        .iter()
        .zip(verdicts)
        .filter(|(_, verdict)| matches!(verdict, Verdict::Failed(_)))
        .map(|(write, verdict)| Entry {
            operation: ModelOperation::Write(write.clone()),
            outcome: Outcome::Refused(vec![*verdict]),
            ..entry.clone()
        });
    failed.collect()
}
