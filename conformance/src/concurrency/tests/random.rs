//! Histories of a simulated serial store, and the same with one falsified outcome.

use tabla_core::env::{Random, SeededRandom};

use super::super::generate::Generator;
use super::super::model::State;
use super::*;

const TASKS: usize = 5;
const OPERATIONS: usize = 60;

/// Tasks and a store that advance in random order. Each operation is called, executed and answered
/// in three steps, with steps of other tasks in between.
struct Simulation {
    random: SeededRandom,
    state: State,
    tick: u64,
    tasks: Vec<(Generator, Phase)>,
    /// Operations whose responses were lost and that are executed later.
    late: Vec<ModelOperation>,
    /// Whether responses are lost.
    loses_responses: bool,
}

enum Phase {
    Idle,
    Called(u64, ModelOperation),
    Applied(u64, ModelOperation, Outcome),
}

impl Simulation {
    fn new(seed: u64, loses_responses: bool) -> Self {
        let tasks = (0..TASKS as u64)
            .map(|task| (Generator::new(seed * 100 + task, KEYS, true), Phase::Idle));
        Self {
            tasks: tasks.collect(),
            random: SeededRandom::new(seed),
            state: State::empty(KEYS),
            tick: 0,
            late: Vec::new(),
            loses_responses,
        }
    }

    fn below(&self, bound: usize) -> usize {
        (self.random.next_u64() % bound as u64) as usize
    }

    fn tick(&mut self) -> u64 {
        self.tick += 1;
        self.tick
    }

    fn apply_pending(&mut self, operation: &ModelOperation) -> Outcome {
        let (outcome, after) = self.state.answer(operation);
        if let Some(after) = after {
            self.state = after;
        }
        outcome
    }

    /// Simulates a round, with reads of all items at its end.
    fn round(&mut self) -> Vec<Entry> {
        let mut entries = Vec::new();
        let mut left = OPERATIONS;
        while left > 0 || self.tasks.iter().any(|(_, phase)| !matches!(phase, Phase::Idle)) {
            let task = self.below(TASKS);
            let phase = std::mem::replace(&mut self.tasks[task].1, Phase::Idle);
            self.tasks[task].1 = match phase {
                Phase::Idle if left == 0 => Phase::Idle,
                Phase::Idle => {
                    left -= 1;
                    let called = self.tick();
                    Phase::Called(called, self.tasks[task].0.next(called))
                }
                Phase::Called(called, operation) => {
                    let outcome = self.answer(&operation);
                    Phase::Applied(called, operation, outcome)
                }
                Phase::Applied(called, operation, outcome) => {
                    self.tasks[task].0.learn(&operation, &outcome);
                    let answered = self.tick();
                    entries.push(Entry { task, called, answered, operation, outcome });
                    Phase::Idle
                }
            };
            if !self.late.is_empty() && self.below(40) == 0 {
                let operation = self.late.swap_remove(self.below(self.late.len()));
                self.apply_pending(&operation);
            }
        }
        for key in 0..KEYS {
            let ticks = [self.tick(), self.tick()];
            entries.push(entry(
                ticks,
                ModelOperation::Get(key),
                Outcome::Read(vec![self.state.row(key)]),
            ));
        }
        entries
    }

    fn answer(&mut self, operation: &ModelOperation) -> Outcome {
        if self.loses_responses && !operation.writes().is_empty() && self.below(12) == 0 {
            match self.below(3) {
                0 => {}
                1 => drop(self.apply_pending(operation)),
                _ => self.late.push(operation.clone()),
            }
            return Outcome::Unknown("lost".into());
        }
        if self.below(20) == 0 {
            return Outcome::NoEffect("conflict".into());
        }
        self.apply_pending(operation)
    }
}

#[test]
fn history_of_serial_store_is_accepted() {
    for seed in 0..40 {
        let mut simulation = Simulation::new(seed, false);
        let mut checker = Checker::new(KEYS);
        for _ in 0..4 {
            let round = simulation.round();
            if let Err(violation) = checker.round(&round) {
                panic!("seed {seed}: {violation}");
            }
        }
    }
}

#[test]
fn history_of_serial_store_with_lost_responses_is_accepted() {
    for seed in 0..20 {
        let mut simulation = Simulation::new(seed, true);
        let mut checker = Checker::new(KEYS);
        for _ in 0..4 {
            let round = simulation.round();
            if let Err(violation) = checker.round(&round) {
                panic!("seed {seed}: {violation}");
            }
        }
    }
}

/// Falsifies the outcome of one operation; returns whether it changed.
fn falsify(entry: &mut Entry, other: Option<Row>) -> bool {
    let truth = entry.outcome.clone();
    match &mut entry.outcome {
        Outcome::Read(rows) => rows[0] = other,
        // An executed write is reported as refused, and the other way round.
        Outcome::Written(_) => {
            let verdicts = entry.operation.writes().iter().map(|_| Verdict::Failed(None));
            entry.outcome = Outcome::Refused(verdicts.collect());
        }
        Outcome::Refused(_) => entry.outcome = Outcome::Written(None),
        Outcome::NoEffect(_) | Outcome::Unknown(_) => {}
    }
    entry.outcome != truth
}

#[test]
fn falsified_outcome_is_detected() {
    let (mut falsified, mut found) = (0, 0);
    for seed in 0..120 {
        let mut simulation = Simulation::new(seed, false);
        let mut round = simulation.round();
        let random = SeededRandom::new(seed);
        let below = |bound: usize| (random.next_u64() % bound as u64) as usize;
        // Tag that another operation has written, or no item.
        let other = round[below(round.len())].called;
        let other = (below(4) > 0).then(|| Row::tagged(other));
        let victim = below(round.len());
        if falsify(&mut round[victim], other) {
            falsified += 1;
            found += usize::from(Checker::new(KEYS).round(&round).is_err());
        }
    }
    // A write that no other operation saw may as well have been refused, and the other way round.
    assert!(falsified >= 100 && found * 100 >= falsified * 95, "found {found} of {falsified}");
}
