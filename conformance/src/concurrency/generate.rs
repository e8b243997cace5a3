//! Random operations on few items, so that they conflict.

use tabla_core::env::{Random, SeededRandom};

use super::model::{
    Action, Condition, ModelOperation, Outcome, Returns, Row, State, Verdict, Write,
};

/// Generator of the operations of one task.
///
/// It remembers the items that the task has seen, so that conditions refer to recent values: some
/// hold, and some fail because the item has changed.
#[derive(Debug)]
pub(super) struct Generator {
    random: SeededRandom,
    transactions: bool,
    seen: State,
    /// Item that was read last, which the next operation may write.
    at_hand: Option<usize>,
}

impl Generator {
    pub(super) fn new(seed: u64, keys: usize, transactions: bool) -> Self {
        let seen = State::empty(keys);
        Self { random: SeededRandom::new(seed), transactions, seen, at_hand: None }
    }

    /// Draws a number below a bound.
    pub(super) fn below(&self, bound: u64) -> u64 {
        self.random.next_u64() % bound
    }

    fn coin(&self) -> bool {
        self.below(2) == 0
    }

    /// Draws the next operation. Its writes have the tag `tag`, which is never reused.
    pub(super) fn next(&mut self, tag: u64) -> ModelOperation {
        if let Some(key) = self.at_hand.take()
            && self.coin()
        {
            return ModelOperation::Write(self.optimistic(key, tag));
        }
        let key = self.key();
        match self.below(if self.transactions { 100 } else { 65 }) {
            0..15 => ModelOperation::Get(key),
            15..27 => {
                let write = Write::new(key, self.put(tag));
                ModelOperation::Write(self.returning(write))
            }
            27..37 => ModelOperation::Write(self.optimistic(key, tag)),
            37..44 => {
                let put = Write::new(key, self.put(tag)).when(Condition::Absent);
                ModelOperation::Write(self.curious(put))
            }
            44..51 => {
                let delete = Write::new(key, Action::Delete);
                let delete = if self.coin() { self.conditional(delete) } else { delete };
                ModelOperation::Write(self.returning(delete))
            }
            51..65 => {
                let write = Write::new(key, self.add(tag));
                ModelOperation::Write(self.returning(write))
            }
            65..87 => {
                let keys = self.several_keys();
                ModelOperation::TransactWrite(
                    keys.into_iter().map(|key| self.part(key, tag)).collect(),
                )
            }
            _ => ModelOperation::TransactGet(self.several_keys()),
        }
    }

    /// Remembers the items that an outcome shows.
    pub(super) fn learn(&mut self, operation: &ModelOperation, outcome: &Outcome) {
        self.at_hand = None;
        match outcome {
            Outcome::Read(rows) => {
                let keys = operation.keys();
                for (key, row) in keys.iter().zip(rows) {
                    self.seen.set(*key, *row);
                }
                self.at_hand = keys.first().copied();
            }
            Outcome::Written(_) => {
                for write in operation.writes() {
                    let row = write.action.apply(self.seen.row(write.key));
                    self.seen.set(write.key, row);
                }
            }
            Outcome::Refused(verdicts) => {
                for (write, verdict) in operation.writes().iter().zip(verdicts) {
                    if let (Verdict::Failed(row), true) = (verdict, write.item_on_failure) {
                        self.seen.set(write.key, *row);
                        self.at_hand = Some(write.key);
                    }
                }
            }
            Outcome::NoEffect(_) | Outcome::Unknown(_) => {}
        }
    }

    fn key(&self) -> usize {
        self.below(self.seen.keys() as u64) as usize
    }

    /// Draws two to four different items, or fewer if there are not as many.
    fn several_keys(&self) -> Vec<usize> {
        let mut left: Vec<usize> = (0..self.seen.keys()).collect();
        let count = (2 + self.below(3) as usize).min(left.len());
        (0..count).map(|_| left.swap_remove(self.below(left.len() as u64) as usize)).collect()
    }

    fn put(&self, tag: u64) -> Action {
        let count = self.coin().then(|| self.below(1_000) as i64);
        Action::Put(Row { tag: Some(tag), count })
    }

    /// Update that adds the tag to the count, so that sums of different additions differ.
    fn add(&self, tag: u64) -> Action {
        Action::Update { tag: self.coin().then_some(tag), add: Some(tag as i64) }
    }

    /// Draws a write with the condition that the item is as it was last seen.
    fn optimistic(&self, key: usize, tag: u64) -> Write {
        let action = match self.below(3) {
            0 => self.put(tag),
            1 => Action::Update { tag: Some(tag), add: None },
            _ => Action::Update { tag: Some(tag), add: Some(1) },
        };
        let write = Write::new(key, action);
        self.curious(match self.seen.row(key) {
            Some(Row { tag: Some(seen), .. }) => write.when(Condition::Tag(seen)),
            Some(Row { tag: None, .. }) => write.when(Condition::Present),
            None => write.when(Condition::Absent),
        })
    }

    /// Adds a condition that held recently or might hold now.
    fn conditional(&self, write: Write) -> Write {
        let condition = match (self.below(4), self.seen.row(write.key)) {
            (0, _) => Condition::Present,
            (1, Some(Row { count: Some(count), .. })) => Condition::CountAtLeast(count),
            (_, Some(Row { tag: Some(seen), .. })) => Condition::Tag(seen),
            (_, Some(_)) => Condition::Present,
            (_, None) => Condition::Absent,
        };
        self.curious(write.when(condition))
    }

    /// Requests the item of a failed condition, for half of the writes.
    fn curious(&self, write: Write) -> Write {
        if self.coin() { write.item_on_failure() } else { write }
    }

    /// Requests the old item for a third of the writes, the new item for a third of the updates.
    fn returning(&self, write: Write) -> Write {
        match (self.below(3), write.action) {
            (0, _) => write.returning(Returns::Old),
            (1, Action::Update { .. }) => write.returning(Returns::New),
            _ => write,
        }
    }

    /// Draws one operation of a transaction.
    fn part(&self, key: usize, tag: u64) -> Write {
        let action = match self.below(10) {
            0..3 => self.put(tag),
            3..5 => Action::Update { tag: Some(tag), add: None },
            5..7 => self.add(tag),
            7 => Action::Delete,
            _ => return self.conditional(Write::new(key, Action::Check)),
        };
        let write = Write::new(key, action);
        if self.below(3) == 0 { self.conditional(write) } else { write }
    }
}
