//! Accounts and cards, and how everything is read.

use std::time::Duration;

use tabla::entity::{Change, Db, Id, Month, Outcome, Page, Transacted, UtcTime};
use tabla::{Cursor, Error, Number, Result, RetryPolicy};

use crate::entities::*;
use crate::patterns;
use crate::texts::{CardNumberHash, LastFour};

/// Accounts, cards and transactions on a database.
#[derive(Clone, Debug)]
pub struct CryptoCards {
    pub(crate) db: Db,
}

/// An account that is to be opened.
#[derive(Clone, Debug, PartialEq)]
pub struct NewAccount {
    /// Its id.
    pub account_id: Id,
    /// Whose.
    pub user_id: Id,
    /// What its owner pays with.
    pub payment_currency: Currency,
    /// What is there in USDT.
    pub usdt: Number,
    /// What is there in BTC.
    pub btc: Number,
    /// What is there in ETH.
    pub eth: Number,
}

/// A card that is to be issued.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCard {
    /// Its id.
    pub card_id: Id,
    /// The account that pays.
    pub account_id: Id,
    /// What stands for its number.
    pub card_number_hash: CardNumberHash,
    /// What its owner knows it by.
    pub last_four: LastFour,
    /// The name on it.
    pub holder_name: String,
    /// The last month in which it can be paid with.
    pub expiry_date: Month,
    /// How much can be paid with it on one day.
    pub daily_limit_usdt: Number,
}

/// What became of issuing a card.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Issued {
    /// It is there.
    Done(Card),
    /// A card has this id. Nothing was written.
    Exists(Card),
    /// The account is not there, or is closed. Nothing was written.
    NoAccount(Option<Account>),
}

impl CryptoCards {
    /// On this database. A lost race is tried again up to 30 times, after uneven waits that grow.
    pub fn new(db: Db) -> Self {
        let retries = RetryPolicy::contended(db.env().clone())
            .with_attempts(30)
            .with_cap(Duration::from_millis(100));
        Self { db: db.with_retries(retries) }
    }

    /// Trying again by this policy.
    #[must_use]
    pub fn with_retries(mut self, retries: RetryPolicy) -> Self {
        self.db = self.db.with_retries(retries);
        self
    }

    /// A1: an account, with its version.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn account(&self, account: &Id) -> Result<Option<Account>> {
        self.db.get(&AccountKey { account_id: account.clone() }).await
    }

    /// A2: a page of the accounts of a user, oldest first.
    ///
    /// # Errors
    /// Those of the store; the cursor belongs to something else.
    pub async fn accounts(&self, user: &Id, after: Option<Cursor>) -> Result<Page<Account>> {
        self.db.page(patterns::accounts(user).after(after)).await
    }

    /// T1: a transaction.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn transaction(&self, transaction: &Id) -> Result<Option<Transaction>> {
        self.db.get(&TransactionKey { transaction_id: transaction.clone() }).await
    }

    /// T2: a page of the transactions of an account, newest first.
    ///
    /// # Errors
    /// Those of the store; the cursor belongs to something else.
    pub async fn transactions(
        &self,
        account: &Id,
        after: Option<Cursor>,
    ) -> Result<Page<Transaction>> {
        self.db.page(patterns::transactions(account).after(after)).await
    }

    /// T2b: a page of the transactions of an account that were authorised between these moments.
    ///
    /// # Errors
    /// Those of the store; the cursor belongs to something else.
    pub async fn transactions_between(
        &self,
        account: &Id,
        from: UtcTime,
        to: UtcTime,
        after: Option<Cursor>,
    ) -> Result<Page<Transaction>> {
        self.db.page(patterns::transactions_between(account, from, to).after(after)).await
    }

    /// T3: a page of the transactions in a status, oldest first.
    ///
    /// # Errors
    /// Those of the store; the cursor belongs to something else.
    pub async fn transactions_in(
        &self,
        status: Status,
        after: Option<Cursor>,
    ) -> Result<Page<Transaction>> {
        self.db.page(patterns::transactions_in(status).after(after)).await
    }

    /// T3b: a page of the transactions that are in a status and were authorised no later than
    /// this: open ones have to be reconciled.
    ///
    /// # Errors
    /// Those of the store; the cursor belongs to something else.
    pub async fn stuck(
        &self,
        status: Status,
        until: UtcTime,
        after: Option<Cursor>,
    ) -> Result<Page<Transaction>> {
        self.db.page(patterns::stuck(status, until).after(after)).await
    }

    /// C1: a card.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn card(&self, card: &Id) -> Result<Option<Card>> {
        self.db.get(&CardKey { card_id: card.clone() }).await
    }

    /// C2: a page of the cards of an account, newest first.
    ///
    /// # Errors
    /// Those of the store; the cursor belongs to something else.
    pub async fn cards(&self, account: &Id, after: Option<Cursor>) -> Result<Page<Card>> {
        self.db.page(patterns::cards(account).after(after)).await
    }

    /// Opens an account. [`Outcome::Lost`] has the one that has its id.
    ///
    /// # Errors
    /// Those of the store; an amount is below zero, or does not fit its currency.
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

    /// Adds to the balance of an account that was read, if nobody has changed it since: at most
    /// once for each time that it was read, however often it is called. [`Outcome::Lost`] has the
    /// account as it is.
    ///
    /// # Errors
    /// Those of the store; the amount is not above zero, or it or the new balance does not fit the
    /// currency.
    pub async fn credit(
        &self,
        read: &Account,
        currency: Currency,
        amount: Number,
    ) -> Result<Outcome<Account>> {
        if amount <= Number::ZERO {
            return Err(Error::validation(format!("{amount} cannot be credited")));
        }
        currency.check("a credit", amount)?;
        let balance = read.balance(currency).checked_add(amount)?;
        currency.check("a balance", balance)?;
        let change = Change::of(read)
            .add(Account::balance_field(currency), amount)
            .when(Account::STATUS.ne(AccountStatus::Closed));
        self.db.update(change).await
    }

    /// Suspends, closes or reactivates an account. A closed one stays closed: [`Outcome::Lost`].
    ///
    /// # Errors
    /// Those of the store.
    pub async fn set_account_status(
        &self,
        account: &Id,
        status: AccountStatus,
    ) -> Result<Outcome<Account>> {
        let change = Change::at(AccountKey { account_id: account.clone() })
            .set(Account::STATUS, status)
            .when(Account::STATUS.ne(AccountStatus::Closed));
        self.db.update(change).await
    }

    /// Has an account pay with another currency. What is reserved stays reserved in its own.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn set_payment_currency(
        &self,
        account: &Id,
        currency: Currency,
    ) -> Result<Outcome<Account>> {
        let change = Change::at(AccountKey { account_id: account.clone() })
            .set(Account::PAYMENT_CURRENCY, currency)
            .when(Account::STATUS.ne(AccountStatus::Closed));
        self.db.update(change).await
    }

    /// Issues a card of an account that is there and not closed.
    ///
    /// # Errors
    /// Those of the store; the limit is below zero, or does not fit USDT.
    pub async fn issue_card(&self, new: NewCard) -> Result<Issued> {
        self.issue_card_at(new, self.db.now().second()).await
    }

    pub(crate) async fn issue_card_at(&self, new: NewCard, now: UtcTime) -> Result<Issued> {
        not_negative("a daily limit", new.daily_limit_usdt)?;
        Currency::Usdt.check("a daily limit", new.daily_limit_usdt)?;
        let account = AccountKey { account_id: new.account_id.clone() };
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
        let transaction = self
            .db
            .transaction()
            .check("account", &account, Some(Account::STATUS.ne(AccountStatus::Closed)))?
            .create("card", card.clone())?;
        Ok(match transaction.run().await? {
            Transacted::Done => Issued::Done(card),
            Transacted::Lost(lost) => match lost.current("card")? {
                Some(present) => Issued::Exists(present),
                None => Issued::NoAccount(lost.current("account")?),
            },
        })
    }

    /// Blocks, expires or reactivates a card. An expired one stays expired: [`Outcome::Lost`].
    ///
    /// # Errors
    /// Those of the store.
    pub async fn set_card_status(&self, card: &Id, status: CardStatus) -> Result<Outcome<Card>> {
        let change = Change::at(CardKey { card_id: card.clone() })
            .set(Card::STATUS, status)
            .when(Card::STATUS.ne(CardStatus::Expired));
        self.db.update(change).await
    }

    /// Sets how much can be paid with a card on one day, this one included.
    ///
    /// # Errors
    /// Those of the store; the limit is below zero, or does not fit USDT.
    pub async fn set_daily_limit(&self, card: &Id, limit_usdt: Number) -> Result<Outcome<Card>> {
        not_negative("a daily limit", limit_usdt)?;
        Currency::Usdt.check("a daily limit", limit_usdt)?;
        let change =
            Change::at(CardKey { card_id: card.clone() }).set(Card::DAILY_LIMIT_USDT, limit_usdt);
        self.db.update(change).await
    }
}

fn not_negative(what: &str, amount: Number) -> Result<()> {
    match amount.is_negative() {
        true => Err(Error::validation(format!("{what} cannot be below zero: {amount}"))),
        false => Ok(()),
    }
}
