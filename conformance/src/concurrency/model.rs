//! What an operation means, on a plain list of rows.
//!
//! The model is small on purpose: it has only what the recorded operations need, and shares no
//! code with the stores that are judged by it.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// What the model knows of an item, besides its key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Row {
    /// The attribute `v`: different for every write, so that a read names the write it saw.
    pub tag: Option<u64>,
    /// The attribute `n`: what ADD counts.
    pub count: Option<i64>,
}

impl Row {
    /// An item with this tag and no count.
    pub fn tagged(tag: u64) -> Self {
        Self { tag: Some(tag), count: None }
    }
}

/// An operation on items, each named by its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ModelOperation {
    /// A consistent read of one item.
    Get(usize),
    /// A write of one item.
    Write(Write),
    /// A read of several items at one moment.
    TransactGet(Vec<usize>),
    /// Writes of different items, together or not at all.
    TransactWrite(Vec<Write>),
}

impl ModelOperation {
    /// The items that are read or written.
    pub fn keys(&self) -> Vec<usize> {
        match self {
            Self::Get(key) => vec![*key],
            Self::Write(write) => vec![write.key],
            Self::TransactGet(keys) => keys.clone(),
            Self::TransactWrite(writes) => writes.iter().map(|write| write.key).collect(),
        }
    }

    /// The writes that it consists of.
    pub fn writes(&self) -> &[Write] {
        match self {
            Self::Get(_) | Self::TransactGet(_) => &[],
            Self::Write(write) => std::slice::from_ref(write),
            Self::TransactWrite(writes) => writes,
        }
    }
}

/// A write of one item, alone or in a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Write {
    /// The item.
    pub key: usize,
    /// What becomes of it.
    pub action: Action,
    /// What must hold of it before.
    pub condition: Option<Condition>,
    /// Whether a failed condition returns the item.
    pub item_on_failure: bool,
    /// What is returned otherwise; nothing in a transaction.
    pub returns: Returns,
}

impl Write {
    /// Does this to this item, unconditionally, and asks for nothing.
    pub fn new(key: usize, action: Action) -> Self {
        Self { key, action, condition: None, item_on_failure: false, returns: Returns::Nothing }
    }

    /// Only if this holds.
    #[must_use]
    pub fn when(mut self, condition: Condition) -> Self {
        self.condition = Some(condition);
        self
    }

    /// Returns the item if the condition does not hold.
    #[must_use]
    pub fn item_on_failure(mut self) -> Self {
        self.item_on_failure = true;
        self
    }

    /// Returns this.
    #[must_use]
    pub fn returning(mut self, returns: Returns) -> Self {
        self.returns = returns;
        self
    }

    /// How the condition stands towards this row.
    fn evaluate(&self, row: Option<Row>) -> Verdict {
        if self.condition.is_none_or(|condition| condition.holds(row)) {
            return Verdict::Held;
        }
        Verdict::Failed(if self.item_on_failure { row } else { None })
    }
}

/// What a write does to its item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Puts a whole item in its place.
    Put(Row),
    /// Sets the tag, adds to the count, or both; the rest of the item stays.
    Update {
        /// The new tag.
        tag: Option<u64>,
        /// What is added.
        add: Option<i64>,
    },
    /// Deletes it.
    Delete,
    /// Leaves it as it is. In transactions only.
    Check,
}

impl Action {
    /// What a row becomes.
    pub fn apply(self, row: Option<Row>) -> Option<Row> {
        match self {
            Self::Put(new) => Some(new),
            Self::Update { tag, add } => {
                let old = row.unwrap_or_default();
                let count = match add {
                    Some(add) => Some(old.count.unwrap_or(0) + add),
                    None => old.count,
                };
                Some(Row { tag: tag.or(old.tag), count })
            }
            Self::Delete => None,
            Self::Check => row,
        }
    }
}

/// What must hold of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Condition {
    /// There is none.
    Absent,
    /// There is one.
    Present,
    /// It has this tag.
    Tag(u64),
    /// It has a count, of at least this.
    CountAtLeast(i64),
}

impl Condition {
    /// Whether it holds of this row.
    pub fn holds(self, row: Option<Row>) -> bool {
        match self {
            Self::Absent => row.is_none(),
            Self::Present => row.is_some(),
            Self::Tag(tag) => row.is_some_and(|row| row.tag == Some(tag)),
            Self::CountAtLeast(least) => {
                row.and_then(|row| row.count).is_some_and(|count| count >= least)
            }
        }
    }
}

/// What a single write returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Returns {
    /// Nothing.
    #[default]
    Nothing,
    /// The item before.
    Old,
    /// The item after. Updates only.
    New,
}

/// What came of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The items that were read, in the order of the request.
    Read(Vec<Option<Row>>),
    /// It was written, and this was returned.
    Written(Option<Row>),
    /// A condition did not hold: a verdict for each write.
    Refused(Vec<Verdict>),
    /// It failed with this code and changed nothing.
    NoEffect(Cow<'static, str>),
    /// It failed with this code and may have been carried out, or may yet be.
    Unknown(Cow<'static, str>),
}

/// What an answer says of one condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// It held.
    Held,
    /// It did not hold, of this item if that was asked for and there was one.
    Failed(Option<Row>),
    /// Nothing: another reason stood in the way of judging it.
    NotReported,
}

impl Outcome {
    /// Whether a recorded outcome is the same as this one, which the model gives, in everything
    /// that the answer says.
    pub fn explains(&self, recorded: &Outcome) -> bool {
        match (self, recorded) {
            (Self::Refused(given), Self::Refused(recorded)) => {
                given.len() == recorded.len()
                    && given
                        .iter()
                        .zip(recorded)
                        .all(|(given, said)| *said == Verdict::NotReported || given == said)
            }
            (given, recorded) => given == recorded,
        }
    }
}

/// All items, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State(Vec<Option<Row>>);

impl State {
    /// This many numbers, with an item for none of them.
    pub fn empty(keys: usize) -> Self {
        Self(vec![None; keys])
    }

    /// How many numbers there are.
    pub fn keys(&self) -> usize {
        self.0.len()
    }

    /// The item of this number.
    pub fn row(&self, key: usize) -> Option<Row> {
        self.0[key]
    }

    /// Replaces the item of this number.
    pub fn set(&mut self, key: usize, row: Option<Row>) {
        self.0[key] = row;
    }

    /// What an operation answers here, and the state afterwards if it is another.
    pub fn answer(&self, operation: &ModelOperation) -> (Outcome, Option<State>) {
        match operation {
            ModelOperation::Get(key) => (Outcome::Read(vec![self.row(*key)]), None),
            ModelOperation::TransactGet(keys) => {
                (Outcome::Read(keys.iter().map(|key| self.row(*key)).collect()), None)
            }
            ModelOperation::Write(_) | ModelOperation::TransactWrite(_) => {
                self.write(operation.writes())
            }
        }
    }

    fn write(&self, writes: &[Write]) -> (Outcome, Option<State>) {
        let verdicts: Vec<Verdict> =
            writes.iter().map(|write| write.evaluate(self.row(write.key))).collect();
        if verdicts.iter().any(|verdict| *verdict != Verdict::Held) {
            return (Outcome::Refused(verdicts), None);
        }
        let mut after = self.clone();
        let mut returned = None;
        for write in writes {
            let old = self.row(write.key);
            let new = write.action.apply(old);
            after.set(write.key, new);
            returned = match write.returns {
                Returns::Nothing => returned,
                Returns::Old => old,
                Returns::New => new,
            };
        }
        let after = (after != *self).then_some(after);
        (Outcome::Written(returned), after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_is_judged_before_it_writes_and_reports_every_failure() {
        let mut state = State::empty(3);
        state.set(0, Some(Row { tag: Some(1), count: Some(5) }));
        let put = Write::new(1, Action::Put(Row::tagged(2)));
        let check = Write::new(0, Action::Check).when(Condition::CountAtLeast(6));
        let delete = Write::new(2, Action::Delete).when(Condition::Present);
        let writes = vec![put.clone(), check.clone().item_on_failure(), delete];
        let (outcome, after) = state.answer(&ModelOperation::TransactWrite(writes));
        let failed = Verdict::Failed(state.row(0));
        assert_eq!(outcome, Outcome::Refused(vec![Verdict::Held, failed, Verdict::Failed(None)]));
        assert_eq!(after, None);
        let writes = vec![put, check.when(Condition::CountAtLeast(5))];
        let (outcome, after) = state.answer(&ModelOperation::TransactWrite(writes));
        assert_eq!(outcome, Outcome::Written(None));
        assert_eq!(after.unwrap().row(1), Some(Row::tagged(2)));
    }

    #[test]
    fn updates_keep_what_they_do_not_touch_and_return_what_was_asked_for() {
        let mut state = State::empty(1);
        let add = |add| Write::new(0, Action::Update { tag: None, add: Some(add) });
        let (outcome, after) = state.answer(&ModelOperation::Write(add(2).returning(Returns::Old)));
        assert_eq!(outcome, Outcome::Written(None));
        state = after.unwrap();
        let tag = Action::Update { tag: Some(7), add: None };
        state = state.answer(&ModelOperation::Write(Write::new(0, tag))).1.unwrap();
        let (outcome, _) = state.answer(&ModelOperation::Write(add(3).returning(Returns::New)));
        assert_eq!(outcome, Outcome::Written(Some(Row { tag: Some(7), count: Some(5) })));
        assert!(outcome.explains(&outcome.clone()));
    }

    #[test]
    fn what_an_answer_does_not_say_is_not_held_against_it() {
        let given = Outcome::Refused(vec![Verdict::Held, Verdict::Failed(None)]);
        assert!(
            given.explains(&Outcome::Refused(vec![Verdict::NotReported, Verdict::Failed(None)]))
        );
        assert!(
            !given.explains(&Outcome::Refused(vec![Verdict::Failed(None), Verdict::NotReported]))
        );
    }
}
