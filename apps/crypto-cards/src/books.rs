//! Reconciliation of an account with its transactions.

use std::collections::BTreeMap;

use tabla::entity::Id;
use tabla::{Number, Result};

use crate::accounts::CryptoCards;
use crate::entities::*;
use crate::patterns;

/// An account, with the sums of its transactions.
#[derive(Clone, Debug, PartialEq)]
pub struct Books {
    /// Account of the transactions.
    pub account: Account,
    /// Reserved amounts of the open transactions.
    open: BTreeMap<Currency, Number>,
    /// Debited amounts of the completed transactions.
    completed: BTreeMap<Currency, Number>,
}

impl Books {
    /// Books of an account with all its transactions.
    ///
    /// # Errors
    /// A sum has more than 38 digits.
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

    /// Sum of the open transactions.
    pub fn open(&self, currency: Currency) -> Number {
        self.open.get(&currency).copied().unwrap_or_default()
    }

    /// Sum of the completed transactions.
    pub fn completed(&self, currency: Currency) -> Number {
        self.completed.get(&currency).copied().unwrap_or_default()
    }

    /// Sum of all deposits: the balance, and the completed transactions.
    ///
    /// # Errors
    /// The sum has more than 38 digits.
    pub fn total(&self, currency: Currency) -> Result<Number> {
        Ok(self.account.balance(currency).checked_add(self.completed(currency))?)
    }

    /// Faults of each currency; empty if the books agree.
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
    /// Books of an account, by the index of its transactions. Where index reads lag, and during
    /// payments, they may disagree for a moment.
    pub async fn books(&self, account: &Id) -> Result<Option<Books>> {
        let rows = self.db.all(patterns::transactions(account)).await?;
        let account = self.account(account).await?;
        account.map(|account| Books::new(account, &rows)).transpose()
    }
}
