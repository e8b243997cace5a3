//! What was found to be wrong, cut down to what shows it.

use std::error::Error as StdError;
use std::fmt;

use tabla_core::Error;

use super::history::Entry;
use super::model::{Outcome, State};
use super::search::{Budget, Found, Problem, Stuck, Wanted};

/// Why a run did not end well.
#[derive(Debug)]
#[non_exhaustive]
pub enum Violation {
    /// No order of the operations explains their answers.
    Disorder(Box<Disorder>),
    /// Whether there is such an order was not found out: the search was given up.
    Undecided {
        /// The round, from 1.
        round: usize,
        /// How many points of the search were looked at.
        states: usize,
    },
    /// An answer that no order could make right: an error that has no business here, or an item
    /// that nobody wrote.
    UnexpectedAnswer {
        /// What was asked.
        asked: String,
        /// What was answered.
        answer: String,
    },
    /// An invariant does not hold.
    Invariant(String),
    /// The store cannot be used: a table could not be made, or calls failed again and again.
    Store(Error),
    /// The file of the ticks cannot be used.
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
                write!(f, "round {round}: undecided after {states} points of the search")
            }
            Self::UnexpectedAnswer { asked, answer } => {
                write!(f, "{asked} was answered with {answer}")
            }
            Self::Invariant(text) => f.write_str(text),
            Self::Store(error) => write!(f, "the store cannot be used: {error}"),
            Self::Ticks(error) => write!(f, "the file of the ticks cannot be used: {error}"),
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

/// A history without an order, up to the first answer that rules all orders out, and without the
/// reads that do not matter.
#[derive(Clone, Debug)]
pub struct Disorder {
    /// The round, from 1.
    pub round: usize,
    /// The items at the beginning of the round.
    pub start: State,
    /// The longest order that explains what is in it.
    pub order: Vec<Entry>,
    /// The items at its end.
    pub state: State,
    /// The operations of which one had to come next, each with what it would have answered.
    pub unexplained: Vec<(Entry, Outcome)>,
    /// Writes that those saw although they are said not to have been made.
    pub disowned: Vec<Entry>,
}

/// So much of the order is told.
const MAX_SHOWN: usize = 16;

impl fmt::Display for Disorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "round {}: no order of the operations explains their answers", self.round)?;
        writeln!(f, "  [called, answered] in ticks; the round began with {}", self.start)?;
        let keys: Vec<usize> =
            self.unexplained.iter().flat_map(|(entry, _)| entry.operation.keys()).collect();
        let concerned: Vec<&Entry> = self
            .order
            .iter()
            .filter(|entry| entry.operation.keys().iter().any(|key| keys.contains(key)))
            .collect();
        let told = &concerned[concerned.len().saturating_sub(MAX_SHOWN)..];
        writeln!(
            f,
            "  an order can begin with {} operations, of which the last {} on the same items are:",
            self.order.len(),
            told.len()
        )?;
        for entry in told {
            writeln!(f, "    {entry}")?;
        }
        writeln!(f, "  after which there is {}", self.state)?;
        writeln!(f, "  and one of these would have to come next:")?;
        for (entry, would) in &self.unexplained {
            writeln!(f, "    {entry}")?;
            if !would.explains(&entry.outcome) {
                writeln!(f, "      but the answer would have been: {would}")?;
            }
        }
        if !self.disowned.is_empty() {
            writeln!(f, "  they saw what is said not to have been done:")?;
        }
        for entry in &self.disowned {
            writeln!(f, "    {entry}")?;
        }
        Ok(())
    }
}

/// Tells why a problem, which is a part of these entries, has no solution.
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

/// Attempts to do without a part of a history, within a budget.
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

    /// The history up to the first answer that rules all orders out.
    ///
    /// If the history up to some answer has no order, then none that goes further has one.
    fn cut<'a>(&mut self, problem: &Problem<'a>) -> Problem<'a> {
        let mut answers: Vec<u64> = problem.known().iter().map(|entry| entry.answered).collect();
        answers.sort_unstable();
        let first = answers.partition_point(|tick| self.stuck(&until(problem, *tick)).is_none());
        answers.get(first).map_or_else(|| problem.clone(), |tick| until(problem, *tick))
    }

    /// The history without reads and refusals that it has no order without, either.
    ///
    /// Only what has no effect may be left out: what remains must be wrong for the same reason.
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

/// The history up to a tick: what was called and not answered by then is unknown.
fn until<'a>(problem: &Problem<'a>, tick: u64) -> Problem<'a> {
    let (known, open): (Vec<&'a Entry>, Vec<&'a Entry>) =
        problem.known().iter().partition(|entry| entry.answered <= tick);
    let unknown = open.iter().chain(problem.unknown()).filter(|entry| entry.called < tick);
    Problem::new(problem.start().clone(), known, unknown.copied())
}
