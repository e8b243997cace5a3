//! What clients were told, and whether it is so.

use std::collections::{BTreeMap, BTreeSet};

use tabla::entity::Id;

use super::Told;
use crate::entities::{Status, Transaction};

/// The answers of all clients, over all processes and their ends.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    answers: Vec<Told>,
}

impl Ledger {
    /// Notes an answer.
    pub fn note(&mut self, told: Told) {
        self.answers.push(told);
    }

    /// How many payments were authorised by a call whose answer was seen, and how many answers said
    /// that one is rejected.
    pub fn authorised_and_rejected(&self) -> (usize, usize) {
        let authorised = |told: &&Told| told.done == Some(Status::Authorized);
        let rejected = |told: &&Told| told.status.is_none();
        (
            self.answers.iter().filter(authorised).count(),
            self.answers.iter().filter(rejected).count(),
        )
    }

    /// What was told and is not so, if these are all transactions.
    pub(super) fn wrong(&self, rows: &BTreeMap<Id, Transaction>) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut done = BTreeSet::new();
        for Told { client, transaction, done: by_this, status } in &self.answers {
            if let Some(status) = by_this {
                // Two calls that both say that they have done it have done it twice; and what is
                // completed cannot have failed.
                let end = if status.is_open() { *status } else { Status::Completed };
                if !done.insert((transaction, end)) {
                    wrong.push(format!("{transaction} became {status:?} twice"));
                }
            }
            let Some(told) = status else { continue };
            match rows.get(transaction).map(|row| row.status) {
                None => wrong.push(format!("{transaction} was {told:?} to {client}, and is gone")),
                Some(is) if is != *told && stage(is) <= stage(*told) => {
                    wrong.push(format!("{transaction} was {told:?} to {client}, and is {is:?}"));
                }
                Some(_) => {}
            }
        }
        wrong
    }
}

/// A transaction goes from stage to stage, and never back.
fn stage(status: Status) -> u8 {
    match status {
        Status::Authorized => 0,
        Status::Trading => 1,
        Status::Completed | Status::Failed => 2,
    }
}
