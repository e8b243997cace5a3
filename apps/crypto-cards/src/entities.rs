//! The three tables, each with its one entity. Keys are attributes as they are, without templates.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tabla::Number;
use tabla::entity::{Day, Entity, Field, Id, KeyPart, Month, TableDesign, UtcTime};

use crate::texts::{CardNumberHash, LastFour};

/// The table `accounts`.
pub static ACCOUNTS: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("accounts").partition_only("account_id").index(
        "user-accounts",
        "user_id",
        "created_at",
    )
});

/// The table `transactions`.
pub static TRANSACTIONS: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("transactions")
        .partition_only("transaction_id")
        .index("account-transactions", "account_id", "authorized_at")
        .index("status-transactions", "status", "authorized_at")
});

/// The table `cards`.
pub static CARDS: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("cards").partition_only("card_id").index(
        "account-cards",
        "account_id",
        "created_at",
    )
});

/// What an account is held in, and paid with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs)]
pub enum Currency {
    Usdt,
    Btc,
    Eth,
}

impl Currency {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Usdt, Self::Btc, Self::Eth];
}

/// What an account is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum AccountStatus {
    /// Can be paid with.
    Active,
    /// Cannot be paid with for now. What was authorised before is still settled.
    Suspended,
    /// Will never be paid with again.
    Closed,
}

/// An account. Every write raises its `version`: whoever has read it notices that it has changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = ACCOUNTS,
    pk = account_id,
    index("user-accounts", pk = user_id, sk = created_at),
    revision = version,
    updated_at = updated_at
)]
pub struct Account {
    /// Which.
    pub account_id: Id,
    /// Whose.
    #[entity(immutable)]
    pub user_id: Id,
    /// What is there in USDT, with what is reserved.
    pub balance_usdt: Number,
    /// What is there in BTC.
    pub balance_btc: Number,
    /// What is there in ETH.
    pub balance_eth: Number,
    /// What open authorisations have reserved in USDT.
    pub reserved_usdt: Number,
    /// What they have reserved in BTC.
    pub reserved_btc: Number,
    /// What they have reserved in ETH.
    pub reserved_eth: Number,
    /// What its owner pays with.
    pub payment_currency: Currency,
    /// What it is.
    pub status: AccountStatus,
    /// How often it was written; it never falls, not even when funds are released.
    pub version: u64,
    /// When it was opened.
    #[entity(immutable)]
    pub created_at: UtcTime,
    /// When it last changed.
    pub updated_at: UtcTime,
}

impl Account {
    /// What is there.
    pub fn balance(&self, currency: Currency) -> Number {
        match currency {
            Currency::Usdt => self.balance_usdt,
            Currency::Btc => self.balance_btc,
            Currency::Eth => self.balance_eth,
        }
    }

    /// What is reserved of it.
    pub fn reserved(&self, currency: Currency) -> Number {
        match currency {
            Currency::Usdt => self.reserved_usdt,
            Currency::Btc => self.reserved_btc,
            Currency::Eth => self.reserved_eth,
        }
    }

    /// The field that holds the balance.
    pub fn balance_field(currency: Currency) -> Field<Self, Number> {
        match currency {
            Currency::Usdt => Self::BALANCE_USDT,
            Currency::Btc => Self::BALANCE_BTC,
            Currency::Eth => Self::BALANCE_ETH,
        }
    }

    /// The field that holds what is reserved.
    pub fn reserved_field(currency: Currency) -> Field<Self, Number> {
        match currency {
            Currency::Usdt => Self::RESERVED_USDT,
            Currency::Btc => Self::RESERVED_BTC,
            Currency::Eth => Self::RESERVED_ETH,
        }
    }
}

/// What a transaction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, KeyPart)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// Its funds are reserved.
    Authorized,
    /// Its funds are reserved, and are being exchanged.
    Trading,
    /// Its funds are gone.
    Completed,
    /// Its funds were released.
    Failed,
}

impl Status {
    /// Those in which the funds of a transaction are reserved.
    pub const OPEN: [Self; 2] = [Self::Authorized, Self::Trading];

    /// Whether the funds are reserved.
    pub fn is_open(self) -> bool {
        Self::OPEN.contains(&self)
    }
}

/// A payment with a card, under the id that the provider gave it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = TRANSACTIONS,
    pk = transaction_id,
    index("account-transactions", pk = account_id, sk = authorized_at),
    index("status-transactions", pk = status, sk = authorized_at)
)]
pub struct Transaction {
    /// Which.
    pub transaction_id: Id,
    /// The account that pays.
    #[entity(immutable)]
    pub account_id: Id,
    /// The card that it was paid with.
    #[entity(immutable)]
    pub card_id: Id,
    /// What the shop gets, in ARS.
    #[entity(immutable)]
    pub amount_ars: Number,
    /// The same in USDT: what counts for the card's day.
    #[entity(immutable)]
    pub amount_usdt: Number,
    /// The same in `user_currency`: exactly what was reserved, and is debited or released.
    #[entity(immutable)]
    pub amount_reserved: Number,
    /// ARS for one USDT.
    #[entity(immutable)]
    pub exchange_rate: Number,
    /// What the account pays with.
    #[entity(immutable)]
    pub user_currency: Currency,
    /// What it is.
    pub status: Status,
    /// The exchange of the funds.
    pub trade_id: Option<Id>,
    /// What the exchange says of it.
    pub trade_status: Option<String>,
    /// How often the exchange was tried again.
    pub retry_count: u32,
    /// The card's day that it counts for.
    #[entity(immutable)]
    pub spend_day: Day,
    /// When the funds were reserved.
    #[entity(immutable)]
    pub authorized_at: UtcTime,
    /// When they were debited.
    pub completed_at: Option<UtcTime>,
}

/// What a card is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CardStatus {
    /// Can be paid with.
    Active,
    /// Cannot be paid with for now.
    Blocked,
    /// Will never be paid with again.
    Expired,
}

/// A card of an account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = CARDS, pk = card_id, index("account-cards", pk = account_id, sk = created_at))]
pub struct Card {
    /// Which.
    pub card_id: Id,
    /// The account that pays.
    #[entity(immutable)]
    pub account_id: Id,
    /// What stands for its number, which is never stored.
    #[entity(immutable)]
    pub card_number_hash: CardNumberHash,
    /// What its owner knows it by.
    #[entity(immutable)]
    pub last_four: LastFour,
    /// The name on it.
    pub holder_name: String,
    /// The last month in which it can be paid with. A renewed card is another card.
    #[entity(immutable)]
    pub expiry_date: Month,
    /// What it is.
    pub status: CardStatus,
    /// How much can be paid with it on one day.
    pub daily_limit_usdt: Number,
    /// How much was paid with it on `spent_day`.
    pub spent_usdt: Number,
    /// The day of the payment that was made last, in UTC; none before the first.
    pub spent_day: Option<Day>,
    /// How much was paid with it on other days, as far as they are remembered: a clock that is
    /// ahead or behind has payments on days that do not follow each other.
    pub spent_other_days: Option<BTreeMap<Day, Number>>,
    /// When it was issued.
    #[entity(immutable)]
    pub created_at: UtcTime,
}

impl Card {
    /// Days that a card remembers, the one that was paid on last included. With one more, the
    /// earliest is forgotten, and no day before those that are left can be paid on any more.
    pub const DAYS: usize = 31;

    /// How much was paid with it on a day.
    pub fn spent_on(&self, day: Day) -> Number {
        if self.spent_day == Some(day) {
            return self.spent_usdt;
        }
        let others = self.spent_other_days.as_ref();
        others.and_then(|days| days.get(&day)).copied().unwrap_or_default()
    }

    /// The days that it remembers, in order; a day whose payments have all failed has zero.
    pub fn days(&self) -> BTreeMap<Day, Number> {
        let mut days = self.spent_other_days.clone().unwrap_or_default();
        days.extend(self.spent_day.map(|day| (day, self.spent_usdt)));
        days
    }

    /// Whether it may have forgotten what was paid with it on a day. The number of days that it
    /// remembers never falls.
    pub(crate) fn is_forgotten(&self, day: Day) -> bool {
        let days = self.days();
        days.len() >= Self::DAYS && days.first_key_value().is_some_and(|(first, _)| day < *first)
    }

    /// The days to remember beside this one, which becomes the one that was paid on last.
    pub(crate) fn other_days(&self, day: Day) -> BTreeMap<Day, Number> {
        let mut days = self.days();
        days.remove(&day);
        while days.len() >= Self::DAYS {
            days.pop_first();
        }
        days
    }
}
