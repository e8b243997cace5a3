//! Whether an account and its transactions agree.

use std::collections::BTreeMap;

use tabla::entity::Id;
use tabla::{Number, Result};

use crate::accounts::CryptoCards;
use crate::entities::*;
use crate::patterns;

/// An account against its transactions.
#[derive(Clone, Debug, PartialEq)]
pub struct Books {
    /// The account.
    pub account: Account,
    /// What its open transactions have reserved.
    open: BTreeMap<Currency, Number>,
    /// What its completed transactions have debited.
    completed: BTreeMap<Currency, Number>,
}

impl Books {
    /// The books of an account with these transactions, which are all that it has.
    ///
    /// # Errors
    /// A sum has more digits than a number can have.
    pub fn new(account: Account, transactions: &[Transaction]) -> Result<Self> {
        let mut books = Self { account, open: BTreeMap::new(), completed: BTreeMap::new() };
        for row in transactions {
            let sums = match row.status {
                Status::Authorized | Status::Trading => &mut books.open,
                Status::Completed => &mut books.completed,
                Status::Failed => continue,
            };
            let sum = sums.entry(row.user_currency).or_default();
            *sum = sum.checked_add(row.amount_reserved)?;
        }
        Ok(books)
    }

    /// What open transactions have reserved.
    pub fn open(&self, currency: Currency) -> Number {
        self.open.get(&currency).copied().unwrap_or_default()
    }

    /// What completed transactions have debited.
    pub fn completed(&self, currency: Currency) -> Number {
        self.completed.get(&currency).copied().unwrap_or_default()
    }

    /// What was ever put into the account: what is there, and what was paid with it.
    ///
    /// # Errors
    /// The sum has more digits than a number can have.
    pub fn total(&self, currency: Currency) -> Result<Number> {
        Ok(self.account.balance(currency).checked_add(self.completed(currency))?)
    }

    /// What is wrong, currency by currency; empty if the books agree.
    pub fn wrong(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for currency in Currency::ALL {
            let (balance, reserved) =
                (self.account.balance(currency), self.account.reserved(currency));
            let open = self.open(currency);
            if balance.is_negative() {
                wrong.push(format!("the balance in {currency:?} is {balance}"));
            }
            if reserved > balance {
                wrong.push(format!("{reserved} of {balance} {currency:?} are reserved"));
            }
            if reserved != open {
                wrong.push(format!(
                    "{reserved} {currency:?} are reserved, and open transactions have {open}"
                ));
            }
        }
        wrong
    }
}

impl CryptoCards {
    /// The books of an account, from the index of its transactions: where an index lags behind, or
    /// while payments are being made, they may not agree for a moment.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn books(&self, account: &Id) -> Result<Option<Books>> {
        let rows = self.db.all(patterns::transactions(account)).await?;
        let account = self.account(account).await?;
        account.map(|account| Books::new(account, &rows)).transpose()
    }
}
