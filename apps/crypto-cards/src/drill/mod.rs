//! Many who pay with few accounts at the same time, and the audit of what they leave behind.
//!
//! A drill is held on any store, through whatever fails, by processes that are killed and started
//! again: its clients send the same payments each time. Whatever happens to them, the books agree
//! afterwards, and all that anybody was told is so.
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
//!     drill.client(client, |told| ledger.note(told)).await?;
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
use crate::judge::{Authorisation, Rejection};
use crate::race::patient;
use crate::seed::{id, new_account, new_card, payment, scaled};
use crate::settle::Settled;

pub use audit::Audit;
pub use ledger::Ledger;

/// The accounts; each has a card. Every other one runs out of funds, the rest out of their days.
const ACCOUNTS: u64 = 4;

/// Clients who pay, complete and fail payments of a few accounts.
#[derive(Clone, Debug)]
pub struct Drill {
    app: CryptoCards,
    clients: u64,
    payments: u64,
}

/// An answer that a client was given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// The client.
    pub client: u64,
    /// The transaction.
    pub transaction: Id,
    /// What this call has made of the transaction; `None` if it was so before, or was rejected.
    pub done: Option<Status>,
    /// The status that the transaction has; `None` if the payment was rejected.
    pub status: Option<Status>,
}

impl Drill {
    /// So many clients with so many payments each, on this database. Each payment is sent by two
    /// clients. Nobody gives up because others were faster.
    pub fn new(db: &Db, clients: u64, payments: u64) -> Self {
        let app = CryptoCards::new(db.clone()).with_retries(patient(db));
        Self { app, clients, payments }
    }

    /// How many clients there are.
    pub fn clients(&self) -> u64 {
        self.clients
    }

    /// Opens the accounts and issues their cards, in tables that are there.
    ///
    /// # Errors
    /// Those of the store; they are there already.
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
                return Err(wrong("the accounts of the drill are there already"));
            }
        }
        Ok(())
    }

    /// The numbers of all payments.
    fn numbers(&self) -> std::ops::Range<u64> {
        0..self.clients.div_ceil(2) * self.payments
    }

    /// The payment of this number.
    ///
    /// # Errors
    /// An amount has more digits than a number can have.
    pub fn payment(&self, number: u64) -> Result<Authorisation> {
        let cents = 100 * (1 + number % 3) + number % 100;
        payment(transaction(number)?, card(number % ACCOUNTS)?, Currency::Usdt, cents)
    }

    /// What is in an account: enough for some of its payments, or for all.
    fn deposit(&self, account: u64) -> Result<Number> {
        let each = if account.is_multiple_of(2) { 25 } else { 500 };
        scaled(each * self.numbers().end + 50, 2)
    }

    /// How much can be paid with a card in a day: enough for all payments, or for some.
    fn daily_limit(&self, account: u64) -> Result<Number> {
        let each = if account.is_multiple_of(2) { 500 } else { 30 };
        scaled(each * self.numbers().end + 50, 2)
    }

    /// What a client does: it pays, and completes or fails or begins to exchange what is paid, or
    /// leaves it open. It tells each answer, and does the same each time that it is called.
    ///
    /// # Errors
    /// Those of the store that do not pass; an answer that cannot be.
    pub async fn client(&self, client: u64, mut tell: impl FnMut(Told)) -> Result<()> {
        // The second half sends the payments of the first once more.
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
                Authorised::Done(row) => tell(answer(Some(Status::Authorized), Some(row.status))),
                Authorised::Already(row) => tell(answer(None, Some(row.status))),
                Authorised::Rejected(
                    Rejection::InsufficientFunds(_) | Rejection::DailyLimit(_),
                ) => {
                    tell(answer(None, None));
                    continue;
                }
                other => return Err(wrong(format!("{client} was told {other:?}"))),
            }
            // Twins want different ends; some they leave open.
            let id = &request.transaction_id;
            let (done, status) = match (number + 2 * is_twin) % 7 {
                0 => begun(self.app.begin_trade(id, &trade(client)?, "PENDING").await?)?,
                1 | 2 => settled(self.app.complete(id, Some("FILLED")).await?)?,
                3 => settled(self.app.fail(id, Some("REJECTED")).await?)?,
                _ => continue,
            };
            tell(answer(done, Some(status)));
        }
        Ok(())
    }

    /// Completes everything that is open.
    ///
    /// # Errors
    /// Those of the store; an answer that cannot be.
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

/// What a call has made of a transaction, and what it is.
type End = (Option<Status>, Status);

fn settled(answer: Settled) -> Result<End> {
    match answer {
        Settled::Done(row) => Ok((Some(row.status), row.status)),
        Settled::Already(row) | Settled::Otherwise(row) => Ok((None, row.status)),
        other => Err(wrong(format!("a payment that was authorised was not settled: {other:?}"))),
    }
}

fn begun(answer: Outcome<Transaction>) -> Result<End> {
    match answer {
        // If the answer was lost and looked up, others may have settled it since.
        Outcome::Done(row) => Ok((Some(Status::Trading), row.status)),
        Outcome::Lost(Some(row)) => Ok((None, row.status)),
        other => Err(wrong(format!("a payment that was authorised was not changed: {other:?}"))),
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
