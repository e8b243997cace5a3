//! Drill: concurrent clients that pay with a few accounts, and the audit of the result.
//!
//! A drill runs on any store, with any failures, in processes that are killed and started again: its
//! clients send the same payments each time. Afterwards the books must be right, and every response
//! that a client got must be true.
//!
//! ```
//! # use std::sync::Arc;
//! # use tabla::MemoryStore;
//! # use tabla::entity::Db;
//! use tabla_crypto_cards::CryptoCardsApp;
//! use tabla_kit::App;
//! use tabla_crypto_cards::drill::{Drill, Ledger};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! # let db = Db::new(Arc::new(MemoryStore::new()));
//! CryptoCardsApp.create_tables(&db).await?;
//! let drill = Drill::new(&db, 20, 2);
//! drill.open().await?;
//! let mut ledger = Ledger::default();
//! for client in 0..drill.clients() {
//!     drill.client(client, |response| ledger.note(response)).await?;
//! }
//! let audit = drill.audit().await?;
//! assert!(audit.wrong(&ledger).is_empty());
//! # Ok::<(), tabla::Error>(())
//! # }).unwrap();
//! ```

mod audit;
mod ledger;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use tabla::entity::{Db, Id, Outcome};
use tabla::{Error, ErrorKind, Number, Result};

use crate::accounts::{CryptoCards, Issued};
use crate::authorise::Authorised;
use crate::entities::*;
use crate::race::patient;
use crate::rules::{Authorisation, Rejection};
use crate::seed::{id, new_account, new_card, payment, scaled};
use crate::settle::Settled;

pub use audit::Audit;
pub use ledger::Ledger;

/// Number of accounts, each with a card. Half of them run out of funds, half reach the daily limit.
const ACCOUNTS: u64 = 4;

/// Clients that authorise, complete and fail payments of a few accounts.
#[derive(Clone, Debug)]
pub struct Drill {
    app: CryptoCards,
    clients: u64,
    payments: u64,
}

/// Response that a client got.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// Number of the client.
    pub client: u64,
    /// Transaction of the call.
    pub transaction: Id,
    /// Status that the call has set; `None` if an earlier call has set it, or the payment was rejected.
    pub done: Option<Status>,
    /// Status of the transaction; `None` if the payment was rejected.
    pub status: Option<Status>,
}

impl Drill {
    /// Drill with this number of clients, and of payments of each. Two clients send each payment. The
    /// attempts are enough that no client gives up.
    pub fn new(db: &Db, clients: u64, payments: u64) -> Self {
        let app = CryptoCards::new(db.clone()).with_retries(patient(db));
        Self { app, clients, payments }
    }

    /// Number of clients.
    pub fn clients(&self) -> u64 {
        self.clients
    }

    /// Opens the accounts and issues their cards. The tables must exist.
    ///
    /// # Errors
    /// An account or a card exists.
    pub async fn open(&self) -> Result<()> {
        for number in 0..ACCOUNTS {
            let mut account = new_account(account(number)?, id("drill")?, Currency::Usdt)?;
            account.usdt = self.deposit(number)?;
            let mut card =
                new_card(&self.app.db, card(number)?, account.account_id.clone(), number)?;
            card.daily_limit_usdt = self.daily_limit(number)?;
            let is_opened = self.app.open_account(account).await?.is_done();
            let is_issued = matches!(self.app.issue_card(card).await?, Issued::Done(_));
            if !is_opened || !is_issued {
                return Err(wrong("cannot open the drill: its accounts exist already"));
            }
        }
        Ok(())
    }

    /// Numbers of all payments.
    fn numbers(&self) -> std::ops::Range<u64> {
        0..self.clients.div_ceil(2) * self.payments
    }

    /// Payment with a number.
    ///
    /// # Errors
    /// An amount has more than 38 digits.
    pub fn payment(&self, number: u64) -> Result<Authorisation> {
        let cents = 100 * (1 + number % 3) + number % 100;
        payment(transaction(number)?, card(number % ACCOUNTS)?, Currency::Usdt, cents)
    }

    /// Deposit of an account, which is enough for some of its payments, or for all.
    fn deposit(&self, account: u64) -> Result<Number> {
        let each = if account.is_multiple_of(2) { 25 } else { 500 };
        scaled(each * self.numbers().end + 50, 2)
    }

    /// Daily limit of a card, which is enough for all payments, or for some.
    fn daily_limit(&self, account: u64) -> Result<Number> {
        let each = if account.is_multiple_of(2) { 500 } else { 30 };
        scaled(each * self.numbers().end + 50, 2)
    }

    /// Runs a client: it authorises its payments, and completes, fails or begins to exchange each, or
    /// leaves it open. `report` gets each response. Every run does the same.
    ///
    /// # Errors
    /// An error of the store that retries do not resolve; an impossible response.
    pub async fn client(&self, client: u64, mut report: impl FnMut(Told)) -> Result<()> {
        // The second half of the clients sends the payments of the first half again.
        let half = self.clients.div_ceil(2);
        let (first, is_twin) = (client % half * self.payments, client / half);
        for number in first..first + self.payments {
            let request = self.payment(number)?;
            let answer = |done, status| Told {
                client,
                transaction: request.transaction_id.clone(),
                done,
                status,
            };
            match self.app.authorise(&request).await? {
                Authorised::Done(row) => report(answer(Some(Status::Authorized), Some(row.status))),
                Authorised::Already(row) => report(answer(None, Some(row.status))),
                Authorised::Rejected(
                    Rejection::InsufficientFunds(_) | Rejection::DailyLimit(_),
                ) => {
                    report(answer(None, None));
                    continue;
                }
                other => return Err(wrong(format!("client {client} got {other:?}"))),
            }
            // The two clients of a payment settle it in different ways, or leave it open.
            let id = &request.transaction_id;
            let (done, status) = match (number + 2 * is_twin) % 7 {
                0 => begun(self.app.begin_trade(id, &trade(client)?, "PENDING").await?)?,
                1 | 2 => settled(self.app.complete(id, Some("FILLED")).await?)?,
                3 => settled(self.app.fail(id, Some("REJECTED")).await?)?,
                _ => continue,
            };
            report(answer(done, Some(status)));
        }
        Ok(())
    }

    /// Completes all open payments.
    ///
    /// # Errors
    /// Those of the store; an impossible response.
    pub async fn complete_all(&self) -> Result<()> {
        for number in self.numbers() {
            let row = self.app.transaction(&transaction(number)?).await?;
            if let Some(row) = row.filter(|row| row.status.is_open()) {
                settled(self.app.complete(&row.transaction_id, None).await?)?;
            }
        }
        Ok(())
    }
}

/// Status that a call has set, and status of the transaction.
type End = (Option<Status>, Status);

fn settled(answer: Settled) -> Result<End> {
    match answer {
        Settled::Done(row) => Ok((Some(row.status), row.status)),
        Settled::Already(row) | Settled::Otherwise(row) => Ok((None, row.status)),
        other => Err(wrong(format!("an authorised payment was not settled: {other:?}"))),
    }
}

fn begun(answer: Outcome<Transaction>) -> Result<End> {
    match answer {
        // After a lost response, another client may have settled it since.
        Outcome::Done(row) => Ok((Some(Status::Trading), row.status)),
        Outcome::Lost(Some(row)) => Ok((None, row.status)),
        other => Err(wrong(format!("an authorised payment was not changed: {other:?}"))),
    }
}

fn account(number: u64) -> Result<Id> {
    id(format!("drill-account-{number}"))
}

fn card(number: u64) -> Result<Id> {
    id(format!("drill-card-{number}"))
}

fn transaction(number: u64) -> Result<Id> {
    id(format!("drill-{number:04}"))
}

fn trade(client: u64) -> Result<Id> {
    id(format!("drill-trade-{client}"))
}

fn wrong(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unexpected, what)
}
