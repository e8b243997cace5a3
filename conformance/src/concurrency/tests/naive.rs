//! Comparison of the search with one that tries every order.

use tabla_core::env::{Random, SeededRandom};

use super::super::model::State;
use super::*;

/// Whether some order explains the entries. Those of unknown outcome may be left out.
fn is_in_order(state: &State, left: &[Entry]) -> bool {
    let known = || left.iter().filter(|entry| !entry.is_unknown());
    let Some(first_answer) = known().map(|entry| entry.answered).min() else { return true };
    left.iter().enumerate().any(|(number, entry)| {
        let (outcome, after) = state.answer(&entry.operation);
        if entry.called > first_answer || !entry.is_unknown() && !outcome.explains(&entry.outcome) {
            return false;
        }
        let mut rest = left.to_vec();
        rest.remove(number);
        is_in_order(after.as_ref().unwrap_or(state), &rest)
    })
}

/// Generator of small histories with few tags, so that many outcomes are possible.
struct Maker {
    random: SeededRandom,
    state: State,
    tick: u64,
}

impl Maker {
    fn new(seed: u64) -> Self {
        Self { random: SeededRandom::new(seed), state: State::empty(KEYS), tick: 0 }
    }

    fn below(&self, bound: u64) -> u64 {
        self.random.next_u64() % bound
    }

    fn tag(&self) -> u64 {
        1 + self.below(3)
    }

    fn row(&self) -> Option<Row> {
        (self.below(3) > 0).then(|| Row::tagged(self.tag()))
    }

    fn write(&self, key: usize) -> Write {
        let write = match self.below(4) {
            0 => delete(key),
            1 => set(key, self.tag()),
            _ => put(key, self.tag()),
        };
        match self.below(5) {
            0 => write.when(Condition::Absent),
            1 => write.when(Condition::Tag(self.tag())),
            2 => write.when(Condition::Present),
            _ => write,
        }
    }

    fn operation(&self) -> ModelOperation {
        let key = self.below(2) as usize;
        match self.below(6) {
            0 | 1 => ModelOperation::Get(key),
            2 => ModelOperation::TransactGet(vec![0, 1]),
            3 => ModelOperation::TransactWrite(vec![self.write(0), self.write(1)]),
            _ => ModelOperation::Write(self.write(key)),
        }
    }

    /// Generates a round of overlapping operations that has an order.
    fn round(&mut self) -> Vec<Entry> {
        let mut ticks: Vec<u64> = (1..=2 * (2 + self.below(4))).map(|n| self.tick + n).collect();
        self.tick += ticks.len() as u64;
        let mut entries = Vec::new();
        while !ticks.is_empty() {
            let called = ticks.remove(0);
            let answered = ticks.remove(self.below(ticks.len().min(5) as u64) as usize);
            entries.push(entry([called, answered], self.operation(), Outcome::Written(None)));
        }
        // Execute in the order of moments between the calls and the responses.
        entries.sort_by_cached_key(|entry| {
            let moment = entry.called + self.below(entry.answered - entry.called);
            (moment, self.random.next_u64())
        });
        for entry in &mut entries {
            let (outcome, after) = self.state.answer(&entry.operation);
            let is_lost = !entry.operation.writes().is_empty() && self.below(5) == 0;
            let is_executed = !is_lost || self.below(2) == 0;
            entry.outcome = if is_lost { Outcome::Unknown("lost".into()) } else { outcome };
            if let (true, Some(after)) = (is_executed, after) {
                self.state = after;
            }
        }
        entries
    }

    /// Changes one of the outcomes, half of the time.
    fn tamper(&self, entries: &mut [Entry]) {
        if self.below(2) == 0 {
            return;
        }
        let number = self.below(entries.len() as u64) as usize;
        let Entry { operation, outcome, .. } = &mut entries[number];
        match outcome {
            Outcome::Read(rows) => rows[0] = self.row(),
            Outcome::Refused(_) => *outcome = Outcome::Written(None),
            _ => {
                let verdict = |write: &Write| match write.condition {
                    Some(_) => Verdict::Failed(None),
                    None => Verdict::Held,
                };
                *outcome = Outcome::Refused(operation.writes().iter().map(verdict).collect());
            }
        }
    }
}

#[test]
fn search_finds_order_if_and_only_if_one_exists() {
    let (mut good, mut bad) = (0, 0);
    for seed in 0..3_000 {
        let mut maker = Maker::new(seed);
        let mut entries = maker.round();
        maker.tamper(&mut entries);
        let expected = is_in_order(&State::empty(KEYS), &entries);
        let found = Checker::new(KEYS).round(&entries).is_ok();
        assert_eq!(found, expected, "seed {seed}: {entries:#?}");
        if expected { good += 1 } else { bad += 1 }
    }
    assert!(good > 500 && bad > 500, "{good} good and {bad} bad histories");
}

#[test]
fn history_in_rounds_has_same_result_as_in_one_round() {
    let (mut good, mut bad) = (0, 0);
    for seed in 0..1_500 {
        let mut maker = Maker::new(seed);
        let mut rounds = [maker.round(), maker.round(), maker.round()];
        maker.tamper(&mut rounds[2]);
        let expected = Checker::new(KEYS).round(&rounds.concat()).is_ok();
        let mut checker = Checker::new(KEYS);
        let found = rounds.iter().all(|round| checker.round(round).is_ok());
        assert_eq!(found, expected, "seed {seed}: {rounds:#?}");
        if expected { good += 1 } else { bad += 1 }
    }
    assert!(good > 200 && bad > 200, "{good} good and {bad} bad histories");
}
