//! Audit of the accounts of a drill.

use std::collections::BTreeMap;

use tabla::entity::{Day, Id};
use tabla::{Number, Result};

use super::{ACCOUNTS, Drill, Ledger, account, card, wrong};
use crate::books::Books;
use crate::entities::*;
use crate::rules::Authorisation;

/// Attempts to read an account without a concurrent change, such as a late request of a killed
/// client process.
const READS: u32 = 100;

/// Snapshots of the accounts of a drill.
#[derive(Clone, Debug)]
pub struct Audit {
    pub(super) accounts: Vec<Snapshot>,
}

/// An account, its card and its transactions at one moment.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) deposit: Number,
    pub(super) account: Account,
    pub(super) card: Card,
    pub(super) rows: Vec<Transaction>,
    pub(super) requests: Vec<Authorisation>,
    /// Books by the index of the account's transactions; `None` where index reads lag.
    pub(super) indexed: Option<Books>,
}

impl Drill {
    /// Reads a snapshot of each account.
    ///
    /// # Errors
    /// An account or a card does not exist; an account has changed during each of 100 reads.
    pub async fn audit(&self) -> Result<Audit> {
        let mut accounts = Vec::new();
        for number in 0..ACCOUNTS {
            accounts.push(self.snapshot(number).await?);
        }
        Ok(Audit { accounts })
    }

    async fn snapshot(&self, number: u64) -> Result<Snapshot> {
        let own = self.numbers().filter(|payment| payment % ACCOUNTS == number);
        let requests = own.map(|payment| self.payment(payment)).collect::<Result<Vec<_>>>()?;
        for _ in 0..READS {
            let account = self.account(number).await?;
            let mut rows = Vec::new();
            for request in &requests {
                rows.extend(self.app.transaction(&request.transaction_id).await?);
            }
            let card = self.app.card(&card(number)?).await?;
            let card = card.ok_or_else(|| wrong("a card does not exist"))?;
            let indexed = match self.app.db.store().capabilities().index_reads_lag {
                true => None,
                false => self.app.books(&account.account_id).await?,
            };
            // Every write of card or transactions that counts for the audit writes the account, too.
            if self.account(number).await? == account {
                let (deposit, requests) = (self.deposit(number)?, requests);
                return Ok(Snapshot { deposit, account, card, rows, requests, indexed });
            }
        }
        Err(wrong(format!("account {number} has changed during each of {READS} reads")))
    }

    async fn account(&self, number: u64) -> Result<Account> {
        let found = self.app.account(&account(number)?).await?;
        found.ok_or_else(|| wrong("an account does not exist"))
    }
}

impl Audit {
    /// Faults of the books and of the responses; empty if there are none.
    ///
    /// No balance is below zero; the reservation is the sum of the open transactions; balance and
    /// completed transactions add up to the deposit; each transaction is authorised once and settled
    /// at most once; the daily sum of a card is that of its payments, and within its limit; and every
    /// response is true.
    pub fn wrong(&self, ledger: &Ledger) -> Vec<String> {
        let rows: BTreeMap<Id, Transaction> = self
            .accounts
            .iter()
            .flat_map(|snapshot| &snapshot.rows)
            .map(|row| (row.transaction_id.clone(), row.clone()))
            .collect();
        let books = self.accounts.iter().flat_map(|snapshot| {
            let of = &snapshot.account.account_id;
            let found = snapshot.wrong().unwrap_or_else(|error| vec![error.to_string()]);
            found.into_iter().map(move |what| format!("{of}: {what}"))
        });
        books.chain(ledger.wrong(&rows)).collect()
    }

    /// Sum of the reservations of all accounts.
    ///
    /// # Errors
    /// The sum has more than 38 digits.
    pub fn reserved(&self) -> Result<Number> {
        sum(self.accounts.iter().map(|snapshot| snapshot.account.reserved_usdt))
    }
}

impl Snapshot {
    fn wrong(&self) -> Result<Vec<String>> {
        let Self { deposit, account, card, rows, requests, indexed } = self;
        let books = Books::new(account.clone(), rows)?;
        let mut wrong = books.wrong();
        if books.total(Currency::Usdt)? != *deposit {
            wrong.push(format!(
                "balance and completed transactions are not the deposit of {deposit}"
            ));
        }
        // One write to open it, one for each authorisation, and one for each settlement.
        let ends = rows.iter().filter(|row| !row.status.is_open()).count();
        if account.version != (1 + rows.len() + ends) as u64 {
            wrong.push(
                "the version is not the number of writes: one was applied twice, or never"
                    .to_owned(),
            );
        }
        let mut days: BTreeMap<Day, Number> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.status != Status::Failed) {
            if let Some(day) = row.spend_day {
                let sum = days.entry(day).or_default();
                *sum = sum.checked_add(row.amount_usdt)?;
            }
        }
        let remembered = card.days().into_iter().filter(|(_, spent)| !spent.is_zero());
        if !remembered.eq(days.clone()) {
            wrong.push("the daily sum of the card is not the sum of its payments".to_owned());
        }
        if days.values().any(|spent| *spent > card.daily_limit_usdt) {
            wrong.push("the daily sum of the card has more than its limit".to_owned());
        }
        for row in rows {
            let is_it = |request: &&Authorisation| {
                request.is_same(row)
                    && request.amount_reserved == row.amount_reserved
                    && row.account_id == account.account_id
            };
            if !requests.iter().any(|request| is_it(&request)) {
                wrong.push(format!("{} is not the requested payment", row.transaction_id));
            }
        }
        if indexed.as_ref().is_some_and(|indexed| *indexed != books) {
            wrong.push("the index has other transactions".to_owned());
        }
        Ok(wrong)
    }
}

fn sum(numbers: impl IntoIterator<Item = Number>) -> Result<Number> {
    let mut sum = Number::ZERO;
    for number in numbers {
        sum = sum.checked_add(number)?;
    }
    Ok(sum)
}
