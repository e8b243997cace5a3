//! Accounts and cards, and the reads of everything.

use std::time::Duration;

use tabla::entity::Commit::{Canceled, Committed};
use tabla::entity::{Change, Db, Id, Outcome, Page, UtcTime};
use tabla::{Cursor, Error, Number, Result, RetryPolicy};

use crate::entities::*;
use crate::patterns;

/// Operations on the accounts, cards and transactions of a database.
#[derive(Clone, Debug)]
pub struct CryptoCards {
    pub(crate) db: Db,
    pub(crate) retries: RetryPolicy,
}

/// Outcome of issuing a card.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Issued {
    /// The card as it was created.
    Done(Card),
    /// A card has this id. Nothing was written.
    Exists(Card),
    /// The account does not exist or is closed. Nothing was written.
    NoAccount(Option<Account>),
}

impl CryptoCards {
    /// Operations with up to 30 attempts, at most 100 ms apart.
    pub fn new(db: Db) -> Self {
        let retries = RetryPolicy::contended(db.env().clone())
            .with_attempts(30)
            .with_cap(Duration::from_millis(100));
        Self { db: db.with_retries(retries.clone()), retries }
    }

    /// Sets the attempts and their waits.
    #[must_use]
    pub fn with_retries(self, retries: RetryPolicy) -> Self {
        Self { db: self.db.with_retries(retries.clone()), retries }
    }

    /// A1: an account, with its version.
    pub async fn account(&self, account: &Id) -> Result<Option<Account>> {
        self.db.get(&Account::key(account)).await
    }

    /// A2: page of the accounts of a user, oldest first.
    pub async fn accounts(&self, user: &Id, after: Option<Cursor>) -> Result<Page<Account>> {
        self.db.page(patterns::accounts(user).after(after)).await
    }

    /// T1: a transaction.
    pub async fn transaction(&self, transaction: &Id) -> Result<Option<Transaction>> {
        self.db.get(&Transaction::key(transaction)).await
    }

    /// T2: page of the transactions of an account, newest first.
    pub async fn transactions(
        &self,
        account: &Id,
        after: Option<Cursor>,
    ) -> Result<Page<Transaction>> {
        self.db.page(patterns::transactions(account).after(after)).await
    }

    /// T2b: page of the transactions of an account, from one moment to another, newest first.
    pub async fn transactions_between(
        &self,
        account: &Id,
        from: UtcTime,
        to: UtcTime,
        after: Option<Cursor>,
    ) -> Result<Page<Transaction>> {
        self.db.page(patterns::transactions_between(account, from, to).after(after)).await
    }

    /// T3: page of the transactions in a status, oldest first.
    pub async fn transactions_in(
        &self,
        status: Status,
        after: Option<Cursor>,
    ) -> Result<Page<Transaction>> {
        self.db.page(patterns::transactions_in(status).after(after)).await
    }

    /// T3b: page of the transactions in a status that were authorised up to a moment, oldest first.
    /// Those in an open status must be reconciled.
    pub async fn stuck(
        &self,
        status: Status,
        until: UtcTime,
        after: Option<Cursor>,
    ) -> Result<Page<Transaction>> {
        self.db.page(patterns::stuck(status, until).after(after)).await
    }

    /// C1: a card.
    pub async fn card(&self, card: &Id) -> Result<Option<Card>> {
        self.db.get(&Card::key(card)).await
    }

    /// C2: page of the cards of an account, newest first.
    pub async fn cards(&self, account: &Id, after: Option<Cursor>) -> Result<Page<Card>> {
        self.db.page(patterns::cards(account).after(after)).await
    }

    /// Opens an account. [`Outcome::Lost`] has the existing one.
    ///
    /// # Errors
    /// A balance is below zero, or does not fit its currency.
    pub async fn open_account(&self, new: NewAccount) -> Result<Outcome<Account>> {
        self.open_account_at(new, self.db.now().second()).await
    }

    pub(crate) async fn open_account_at(
        &self,
        new: NewAccount,
        now: UtcTime,
    ) -> Result<Outcome<Account>> {
        let balances = [new.usdt, new.btc, new.eth];
        for (currency, amount) in Currency::ALL.into_iter().zip(balances) {
            not_negative("a balance", amount)?;
            currency.check("a balance", amount)?;
        }
        let account = Account {
            account_id: new.account_id,
            user_id: new.user_id,
            balance_usdt: new.usdt,
            balance_btc: new.btc,
            balance_eth: new.eth,
            reserved_usdt: Number::ZERO,
            reserved_btc: Number::ZERO,
            reserved_eth: Number::ZERO,
            payment_currency: new.payment_currency,
            status: AccountStatus::Active,
            version: 0,
            created_at: now,
            updated_at: now,
        };
        self.db.create(account).await
    }

    /// Adds to a balance of an account that was read and has not changed since. A second call with
    /// the same account therefore writes nothing. [`Outcome::Lost`] has the current account.
    ///
    /// # Errors
    /// The amount is not above zero; it or the new balance does not fit the currency.
    pub async fn credit(
        &self,
        read: &Account,
        currency: Currency,
        amount: Number,
    ) -> Result<Outcome<Account>> {
        if amount <= Number::ZERO {
            return Err(Error::validation(format!("cannot credit {amount}: it is not above zero")));
        }
        currency.check("a credit", amount)?;
        let balance = read.balance(currency).checked_add(amount)?;
        currency.check("a balance", balance)?;
        self.update_account(read.change().increment(Account::balance_field(currency), amount)).await
    }

    /// Suspends, closes or reactivates an account. A closed one stays closed: [`Outcome::Lost`].
    pub async fn set_account_status(
        &self,
        account: &Id,
        status: AccountStatus,
    ) -> Result<Outcome<Account>> {
        self.update_account(Account::key(account).change().set(Account::STATUS, status)).await
    }

    /// Sets the currency of further payments. Reserved amounts stay in their currency.
    pub async fn set_payment_currency(
        &self,
        account: &Id,
        currency: Currency,
    ) -> Result<Outcome<Account>> {
        let change = Account::key(account).change();
        self.update_account(change.set(Account::PAYMENT_CURRENCY, currency)).await
    }

    /// Changes an account that is not closed.
    async fn update_account(&self, change: Change<Account>) -> Result<Outcome<Account>> {
        self.db.update(change.when(Account::STATUS.ne(AccountStatus::Closed))).await
    }

    /// Issues a card of an account that exists and is not closed.
    ///
    /// # Errors
    /// The limit is below zero, or does not fit USDT.
    pub async fn issue_card(&self, new: NewCard) -> Result<Issued> {
        self.issue_card_at(new, self.db.now().second()).await
    }

    pub(crate) async fn issue_card_at(&self, new: NewCard, now: UtcTime) -> Result<Issued> {
        check_limit(new.daily_limit_usdt)?;
        let card = Card {
            card_id: new.card_id,
            account_id: new.account_id,
            card_number_hash: new.card_number_hash,
            last_four: new.last_four,
            holder_name: new.holder_name,
            expiry_date: new.expiry_date,
            status: CardStatus::Active,
            daily_limit_usdt: new.daily_limit_usdt,
            spent_usdt: Number::ZERO,
            spent_day: None,
            spent_other_days: None,
            created_at: now,
        };
        let mut tx = self.db.transaction();
        let account = Account::key(&card.account_id);
        let account = tx.check(&account, Account::STATUS.ne(AccountStatus::Closed));
        let created = tx.create(card.clone());
        match tx.commit().await? {
            Committed => Ok(Issued::Done(card)),
            Canceled(c) => Ok(match c.current(&created)? {
                Some(present) => Issued::Exists(present),
                None => Issued::NoAccount(c.current(&account)?),
            }),
        }
    }

    /// Blocks, expires or reactivates a card. An expired one stays expired: [`Outcome::Lost`].
    pub async fn set_card_status(&self, card: &Id, status: CardStatus) -> Result<Outcome<Card>> {
        let change = Card::key(card).change().set(Card::STATUS, status);
        self.db.update(change.when(Card::STATUS.ne(CardStatus::Expired))).await
    }

    /// Sets the daily limit of a card, from today on.
    ///
    /// # Errors
    /// The limit is below zero, or does not fit USDT.
    pub async fn set_daily_limit(&self, card: &Id, limit_usdt: Number) -> Result<Outcome<Card>> {
        check_limit(limit_usdt)?;
        self.db.update(Card::key(card).change().set(Card::DAILY_LIMIT_USDT, limit_usdt)).await
    }
}

fn check_limit(limit_usdt: Number) -> Result<()> {
    not_negative("a daily limit", limit_usdt)?;
    Currency::Usdt.check("a daily limit", limit_usdt)
}

fn not_negative(what: &str, amount: Number) -> Result<()> {
    match amount.is_negative() {
        true => Err(Error::validation(format!("{what} cannot be below zero: {amount}"))),
        false => Ok(()),
    }
}
