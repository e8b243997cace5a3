//! Violations, and the reduction of a failed history to the part that shows the violation.

use std::error::Error as StdError;
use std::fmt;

use tabla_core::Error;

use super::history::Entry;
use super::model::{Outcome, State};
use super::search::{Budget, Found, Problem, Stuck, Wanted};

/// Reason for which a run failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Violation {
    /// No order of the operations explains their outcomes.
    Disorder(Box<Disorder>),
    /// The search reached its limit before it found an order or excluded one.
    Undecided {
        /// Number of the round, from 1.
        round: usize,
        /// Number of search points visited.
        states: usize,
    },
    /// A response that no order explains: an error that a valid call cannot have, or an item that
    /// no operation wrote.
    UnexpectedResponse {
        /// Operation that was called.
        asked: String,
        /// Response of the store.
        answer: String,
    },
    /// An invariant of [`bank_transfers`](super::bank_transfers) or
    /// [`counters()`](fn@super::counters) is broken.
    Invariant(String),
    /// The store failed: a table could not be created, or a call failed in every attempt.
    Store(Error),
    /// The file of the [`Ticks`](super::Ticks) cannot be read or written.
    Ticks(std::io::Error),
}

impl From<Error> for Violation {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disorder(disorder) => disorder.fmt(f),
            Self::Undecided { round, states } => {
                write!(
                    f,
                    "round {round}: the search found neither an order nor a violation in {states} \
                     search points; raise `max_states`"
                )
            }
            Self::UnexpectedResponse { asked, answer } => {
                write!(f, "{asked} returned {answer}, which no order explains")
            }
            Self::Invariant(text) => f.write_str(text),
            Self::Store(error) => write!(f, "the store failed: {error}"),
            Self::Ticks(error) => write!(f, "cannot read or write the file of the ticks: {error}"),
        }
    }
}

impl StdError for Violation {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Store(error) => Some(error),
            Self::Ticks(error) => Some(error),
            _ => None,
        }
    }
}

/// History without a valid order, cut after the first response that excludes all orders, and
/// reduced to the operations that matter.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Disorder {
    /// Number of the round, from 1.
    pub round: usize,
    /// Items at the beginning of the round.
    pub start: State,
    /// Longest order in which every outcome is explained.
    pub order: Vec<Entry>,
    /// Items at the end of that order.
    pub state: State,
    /// Operations of which one had to come next, each with the outcome that the model gives.
    pub unexplained: Vec<(Entry, Outcome)>,
    /// Writes that those operations saw, although their outcome says that they had no effect.
    pub disowned: Vec<Entry>,
}

/// Limit on the operations of the order that are printed.
const MAX_SHOWN: usize = 16;

impl fmt::Display for Disorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "round {}: no order of the operations explains their outcomes", self.round)?;
        writeln!(f, "  [called, answered] in ticks; the round began with {}", self.start)?;
        let keys: Vec<usize> =
            self.unexplained.iter().flat_map(|(entry, _)| entry.operation.keys()).collect();
        let concerned: Vec<&Entry> = self
            .order
            .iter()
            .filter(|entry| entry.operation.keys().iter().any(|key| keys.contains(key)))
            .collect();
        let shown = &concerned[concerned.len().saturating_sub(MAX_SHOWN)..];
        writeln!(
            f,
            "  the longest valid order has {} operations; the last {} on the same items are:",
            self.order.len(),
            shown.len()
        )?;
        for entry in shown {
            writeln!(f, "    {entry}")?;
        }
        writeln!(f, "  which leaves {}", self.state)?;
        writeln!(f, "  one of these would have to come next:")?;
        for (entry, would) in &self.unexplained {
            writeln!(f, "    {entry}")?;
            if !would.explains(&entry.outcome) {
                writeln!(f, "      but the model returns: {would}")?;
            }
        }
        if !self.disowned.is_empty() {
            writeln!(f, "  they saw writes that were reported as not executed:")?;
        }
        for entry in &self.disowned {
            writeln!(f, "    {entry}")?;
        }
        Ok(())
    }
}

/// Violation that a problem without a solution shows; the problem is a part of these entries.
pub(super) fn explain(
    round: usize,
    entries: &[Entry],
    problem: &Problem<'_>,
    max_states: usize,
) -> Violation {
    let mut attempt = Attempt { budget: Budget::new(max_states) };
    let cut = attempt.cut(problem);
    let cut = attempt.without_idle_reads(cut);
    let stuck =
        attempt.stuck(&cut).or_else(|| Attempt { budget: Budget::new(max_states) }.stuck(problem));
    let Some(stuck) = stuck else { return Violation::Undecided { round, states: max_states } };
    let seen: Vec<(usize, u64)> =
        stuck.next.iter().flat_map(|(entry, _)| entry.tags_seen()).collect();
    let disowned = entries.iter().filter(|entry| {
        entry.is_without_effect() && entry.tags_written().any(|tag| seen.contains(&tag))
    });
    Violation::Disorder(Box::new(Disorder {
        round,
        start: problem.start().clone(),
        order: stuck.order.into_iter().cloned().collect(),
        state: stuck.state,
        disowned: disowned.cloned().collect(),
        unexplained: stuck.next.into_iter().map(|(entry, would)| (entry.clone(), would)).collect(),
    }))
}

/// Reduction of a history, with a limit on the search points.
struct Attempt {
    budget: Budget,
}

impl Attempt {
    fn stuck<'a>(&mut self, problem: &Problem<'a>) -> Option<Stuck<'a>> {
        match problem.solve(Wanted::One, &mut self.budget) {
            Found::Stuck(stuck) => Some(stuck),
            Found::Ends(_) | Found::GaveUp => None,
        }
    }

    /// Cuts the history after the first response that excludes all orders.
    ///
    /// If a history up to some response has no order, no longer one has.
    fn cut<'a>(&mut self, problem: &Problem<'a>) -> Problem<'a> {
        let mut answers: Vec<u64> = problem.known().iter().map(|entry| entry.answered).collect();
        answers.sort_unstable();
        let first = answers.partition_point(|tick| self.stuck(&until(problem, *tick)).is_none());
        answers.get(first).map_or_else(|| problem.clone(), |tick| until(problem, *tick))
    }

    /// Removes reads and refusals without which the history still has no order.
    ///
    /// Only operations without effect are removed, so that the rest fails for the same reason.
    fn without_idle_reads<'a>(&mut self, problem: Problem<'a>) -> Problem<'a> {
        let mut problem = problem;
        let mut size = problem.known().len().div_ceil(2);
        while size > 0 {
            let mut from = 0;
            while from < problem.known().len() {
                let place = |number: usize| (from..from + size).contains(&number);
                let kept = problem.known().iter().enumerate();
                let kept: Vec<&'a Entry> = kept
                    .filter(|(number, entry)| !place(*number) || !entry.is_without_effect())
                    .map(|(_, entry)| *entry)
                    .collect();
                let fewer = kept.len() < problem.known().len();
                let smaller =
                    Problem::new(problem.start().clone(), kept, problem.unknown().iter().copied());
                if fewer && self.stuck(&smaller).is_some() {
                    problem = smaller;
                } else {
                    from += size;
                }
            }
            size /= 2;
        }
        problem
    }
}

/// History up to a tick; an operation that is called but not answered by then is unknown.
fn until<'a>(problem: &Problem<'a>, tick: u64) -> Problem<'a> {
    let (known, open): (Vec<&'a Entry>, Vec<&'a Entry>) =
        problem.known().iter().partition(|entry| entry.answered <= tick);
    let unknown = open.iter().chain(problem.unknown()).filter(|entry| entry.called < tick);
    Problem::new(problem.start().clone(), known, unknown.copied())
}
