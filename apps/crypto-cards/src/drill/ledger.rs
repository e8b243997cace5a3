//! Responses of all clients, and their check.

use std::collections::{BTreeMap, BTreeSet};

use tabla::entity::Id;

use super::Told;
use crate::entities::{Status, Transaction};

/// Responses that the clients of all processes got.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    responses: Vec<Told>,
}

impl Ledger {
    /// Adds a response.
    pub fn note(&mut self, response: Told) {
        self.responses.push(response);
    }

    /// Number of responses with an authorisation by the call, and number of those with a rejection.
    pub fn authorised_and_rejected(&self) -> (usize, usize) {
        let authorised = |response: &&Told| response.done == Some(Status::Authorized);
        let rejected = |response: &&Told| response.status.is_none();
        (
            self.responses.iter().filter(authorised).count(),
            self.responses.iter().filter(rejected).count(),
        )
    }

    /// Responses that contradict these transactions, which are all of the drill.
    pub(super) fn wrong(&self, rows: &BTreeMap<Id, Transaction>) -> Vec<String> {
        let mut wrong = Vec::new();
        let mut done = BTreeSet::new();
        for Told { client, transaction, done: by_this, status } in &self.responses {
            if let Some(status) = by_this {
                // Two calls that report the same step have applied it twice. Completion and failure
                // exclude each other.
                let end = if status.is_open() { *status } else { Status::Completed };
                if !done.insert((transaction, end)) {
                    wrong.push(format!("{transaction} became {status:?} twice"));
                }
            }
            let Some(reported) = status else { continue };
            match rows.get(transaction).map(|row| row.status) {
                None => wrong.push(format!(
                    "{transaction} was {reported:?} to {client}, and does not exist"
                )),
                Some(is) if is != *reported && stage(is) <= stage(*reported) => {
                    wrong
                        .push(format!("{transaction} was {reported:?} to {client}, and is {is:?}"));
                }
                Some(_) => {}
            }
        }
        wrong
    }
}

/// Stage of a transaction, which never falls.
fn stage(status: Status) -> u8 {
    match status {
        Status::Authorized => 0,
        Status::Trading => 1,
        Status::Completed | Status::Failed => 2,
    }
}
