//! Model of the operations on a plain list of rows.
//!
//! It has only what the recorded operations need, and shares no code with the stores that it
//! checks.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Item of the model, without its key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Row {
    /// Attribute `v`: different for every write, so that a read identifies the write that it saw.
    pub tag: Option<u64>,
    /// Attribute `n`, to which ADD adds.
    pub count: Option<i64>,
}

impl Row {
    /// Row with this tag and no count.
    pub fn tagged(tag: u64) -> Self {
        Self { tag: Some(tag), count: None }
    }
}

/// Operation on items, each identified by its number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ModelOperation {
    /// Consistent read of one item.
    Get(usize),
    /// Write of one item.
    Write(Write),
    /// Transactional read of several items.
    TransactGet(Vec<usize>),
    /// Transactional write of different items.
    TransactWrite(Vec<Write>),
}

impl ModelOperation {
    /// Numbers of the items that are read or written.
    pub fn keys(&self) -> Vec<usize> {
        match self {
            Self::Get(key) => vec![*key],
            Self::Write(write) => vec![write.key],
            Self::TransactGet(keys) => keys.clone(),
            Self::TransactWrite(writes) => writes.iter().map(|write| write.key).collect(),
        }
    }

    /// Writes of the operation; empty for a read.
    pub fn writes(&self) -> &[Write] {
        match self {
            Self::Get(_) | Self::TransactGet(_) => &[],
            Self::Write(write) => std::slice::from_ref(write),
            Self::TransactWrite(writes) => writes,
        }
    }
}

/// Write of one item, alone or in a transaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Write {
    /// Number of the item.
    pub key: usize,
    /// Change of the item.
    pub action: Action,
    /// Condition on the item before the change.
    pub condition: Option<Condition>,
    /// Whether a failed condition returns the item.
    pub item_on_failure: bool,
    /// Item returned on success; always [`Returns::Nothing`] in a transaction.
    pub returns: Returns,
}

impl Write {
    /// Write without condition that returns nothing.
    pub fn new(key: usize, action: Action) -> Self {
        Self { key, action, condition: None, item_on_failure: false, returns: Returns::Nothing }
    }

    /// Sets the condition.
    #[must_use]
    pub fn when(mut self, condition: Condition) -> Self {
        self.condition = Some(condition);
        self
    }

    /// Returns the item if the condition fails.
    #[must_use]
    pub fn item_on_failure(mut self) -> Self {
        self.item_on_failure = true;
        self
    }

    /// Sets what is returned on success.
    #[must_use]
    pub fn returning(mut self, returns: Returns) -> Self {
        self.returns = returns;
        self
    }

    /// Verdict of the condition on a row.
    fn evaluate(&self, row: Option<Row>) -> Verdict {
        if self.condition.is_none_or(|condition| condition.holds(row)) {
            return Verdict::Held;
        }
        Verdict::Failed(if self.item_on_failure { row } else { None })
    }
}

/// Change that a write makes to its item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Replaces the whole item.
    Put(Row),
    /// Sets the tag, adds to the count, or both; other attributes stay.
    Update {
        /// New tag; `None` keeps the old one.
        tag: Option<u64>,
        /// Number added to the count; `None` keeps the count.
        add: Option<i64>,
    },
    /// Deletes the item.
    Delete,
    /// Leaves the item unchanged: a condition check, in transactions only.
    Check,
}

impl Action {
    /// Row after the change.
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

/// Condition on an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Condition {
    /// The item does not exist.
    Absent,
    /// The item exists.
    Present,
    /// The item has this tag.
    Tag(u64),
    /// The item has a count of at least this.
    CountAtLeast(i64),
}

impl Condition {
    /// Whether the condition holds for this row.
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

/// Item that a single write returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Returns {
    /// No item.
    #[default]
    Nothing,
    /// Item before the write.
    Old,
    /// Item after the write. Updates only.
    New,
}

/// Outcome of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Items that were read, in the order of the request.
    Read(Vec<Option<Row>>),
    /// The write was executed and returned this item.
    Written(Option<Row>),
    /// A condition failed; one verdict per write.
    Refused(Vec<Verdict>),
    /// The operation failed with this code and changed nothing.
    NoEffect(Cow<'static, str>),
    /// The operation failed with this code and may have been executed, or may still be.
    Unknown(Cow<'static, str>),
}

/// Information about one condition in a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The condition held.
    Held,
    /// The condition failed; the item, if it was requested and existed.
    Failed(Option<Row>),
    /// Not reported, because another reason kept the condition from being evaluated.
    NotReported,
}

impl Outcome {
    /// Whether a recorded outcome agrees with this one, which the model gives, in everything that
    /// it reports.
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

/// All items, by number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State(Vec<Option<Row>>);

impl State {
    /// State of `keys` numbers without any item.
    pub fn empty(keys: usize) -> Self {
        Self(vec![None; keys])
    }

    /// Number of items that the state can have.
    pub fn keys(&self) -> usize {
        self.0.len()
    }

    /// Item of this number.
    pub fn row(&self, key: usize) -> Option<Row> {
        self.0[key]
    }

    /// Replaces the item of this number.
    pub fn set(&mut self, key: usize, row: Option<Row>) {
        self.0[key] = row;
    }

    /// Outcome of an operation in this state, and the state afterwards if it differs.
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
    fn transaction_evaluates_all_conditions_before_it_writes() {
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
    fn update_keeps_other_attributes_and_returns_requested_item() {
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
    fn unreported_verdict_agrees_with_any() {
        let given = Outcome::Refused(vec![Verdict::Held, Verdict::Failed(None)]);
        assert!(
            given.explains(&Outcome::Refused(vec![Verdict::NotReported, Verdict::Failed(None)]))
        );
        assert!(
            !given.explains(&Outcome::Refused(vec![Verdict::Failed(None), Verdict::NotReported]))
        );
    }
}
