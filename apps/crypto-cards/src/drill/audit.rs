//! Whether the accounts of a drill and their transactions agree.

use std::collections::BTreeMap;

use tabla::entity::{Day, Id};
use tabla::{Number, Result};

use super::{ACCOUNTS, Drill, Ledger, account, card, wrong};
use crate::books::Books;
use crate::entities::*;
use crate::judge::Authorisation;

/// How often an account is read anew if somebody has changed it meanwhile: who was killed may have
/// sent a request that arrives late.
const READS: u32 = 100;

/// The accounts of a drill, each as it was at one moment.
#[derive(Clone, Debug)]
pub struct Audit {
    pub(super) accounts: Vec<Snapshot>,
}

/// An account, its card and its transactions.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) deposit: Number,
    pub(super) account: Account,
    pub(super) card: Card,
    pub(super) rows: Vec<Transaction>,
    pub(super) requests: Vec<Authorisation>,
    /// The books by the index of the account's transactions, where it does not lag behind.
    pub(super) indexed: Option<Books>,
}

impl Drill {
    /// Reads everything, to be judged.
    ///
    /// # Errors
    /// Those of the store; an account or a card is gone; somebody goes on changing an account.
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
            let card = card.ok_or_else(|| wrong("a card is gone"))?;
            let indexed = match self.app.db.store().capabilities().index_reads_lag {
                true => None,
                false => self.app.books(&account.account_id).await?,
            };
            // Whatever changes what was read changes the account with it.
            if self.account(number).await? == account {
                let (deposit, requests) = (self.deposit(number)?, requests);
                return Ok(Snapshot { deposit, account, card, rows, requests, indexed });
            }
        }
        Err(wrong("an account goes on changing"))
    }

    async fn account(&self, number: u64) -> Result<Account> {
        let found = self.app.account(&account(number)?).await?;
        found.ok_or_else(|| wrong("an account is gone"))
    }
}

impl Audit {
    /// What is wrong, with the books or with what was told; empty if all is right.
    ///
    /// No account is below zero, what is reserved is the sum of the open transactions, money has
    /// neither come nor gone, every transaction was authorised once and settled at most once, a
    /// card's day is the sum of its payments and within its limit; and all that anybody was told is
    /// so.
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

    /// What all accounts have reserved.
    ///
    /// # Errors
    /// The sum has more digits than a number can have.
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
            wrong.push(format!("{} were put in, and are not all there", deposit));
        }
        // Opened once; written once by each authorisation, and once by each end.
        let ends = rows.iter().filter(|row| !row.status.is_open()).count();
        if account.version != (1 + rows.len() + ends) as u64 {
            wrong.push("something was done twice, or not at all".to_owned());
        }
        let mut days: BTreeMap<Day, Number> = BTreeMap::new();
        for row in rows.iter().filter(|row| row.status != Status::Failed) {
            let day = days.entry(row.spend_day).or_default();
            *day = day.checked_add(row.amount_usdt)?;
        }
        let remembered = card.days().into_iter().filter(|(_, spent)| !spent.is_zero());
        if !remembered.eq(days.clone()) {
            wrong.push("the card's day is not the sum of its payments".to_owned());
        }
        if days.values().any(|spent| *spent > card.daily_limit_usdt) {
            wrong.push("the card's day has more than its limit".to_owned());
        }
        for row in rows {
            let is_it = |request: &&Authorisation| {
                request.is_same(row)
                    && request.amount_reserved == row.amount_reserved
                    && row.account_id == account.account_id
            };
            if !requests.iter().any(|request| is_it(&request)) {
                wrong.push(format!("{} is not what was asked for", row.transaction_id));
            }
        }
        if indexed.as_ref().is_some_and(|indexed| *indexed != books) {
            wrong.push("the index of its transactions has others".to_owned());
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
