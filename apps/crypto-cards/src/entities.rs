//! The three tables, each with one entity. Keys are plain attributes, without templates.

#![allow(missing_docs)]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tabla::Number;
use tabla::entity::{Day, Entity, Field, Id, KeyPart, Month, TableDesign, UtcTime};

use crate::texts::{CardNumberHash, LastFour};

/// Table `accounts`.
pub static ACCOUNTS: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("accounts").partition_only("account_id").index(
        "user-accounts",
        "user_id",
        "created_at",
    )
});

/// Table `transactions`.
pub static TRANSACTIONS: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("transactions")
        .partition_only("transaction_id")
        .index("account-transactions", "account_id", "authorized_at")
        .index("status-transactions", "status", "authorized_at")
});

/// Table `cards`.
pub static CARDS: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("cards").partition_only("card_id").index(
        "account-cards",
        "account_id",
        "created_at",
    )
});

/// Currency of a balance and of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Currency {
    Usdt,
    Btc,
    Eth,
}

impl Currency {
    pub const ALL: [Self; 3] = [Self::Usdt, Self::Btc, Self::Eth];
}

/// Status of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum AccountStatus {
    /// Payments can be authorised.
    Active,
    /// No payment can be authorised. Open ones can be settled.
    Suspended,
    /// Suspended permanently.
    Closed,
}

/// An account. Every write raises its `version`, on which a write after a read is conditional.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = ACCOUNTS,
    pk = account_id,
    index("user-accounts", query = by_user, pk = user_id, sk = created_at),
    revision = version,
    updated_at = updated_at
)]
pub struct Account {
    pub account_id: Id,
    #[entity(immutable)]
    pub user_id: Id,
    /// Balance in USDT, reserved amounts included.
    pub balance_usdt: Number,
    pub balance_btc: Number,
    pub balance_eth: Number,
    /// Sum of the open payments in USDT.
    pub reserved_usdt: Number,
    pub reserved_btc: Number,
    pub reserved_eth: Number,
    /// Currency that payments reserve.
    pub payment_currency: Currency,
    pub status: AccountStatus,
    /// Number of writes. It never falls, not even when funds are released.
    pub version: u64,
    #[entity(immutable)]
    pub created_at: UtcTime,
    pub updated_at: UtcTime,
}

impl Account {
    pub fn balance(&self, currency: Currency) -> Number {
        match currency {
            Currency::Usdt => self.balance_usdt,
            Currency::Btc => self.balance_btc,
            Currency::Eth => self.balance_eth,
        }
    }

    pub fn reserved(&self, currency: Currency) -> Number {
        match currency {
            Currency::Usdt => self.reserved_usdt,
            Currency::Btc => self.reserved_btc,
            Currency::Eth => self.reserved_eth,
        }
    }

    pub fn balance_field(currency: Currency) -> Field<Self, Number> {
        match currency {
            Currency::Usdt => Self::BALANCE_USDT,
            Currency::Btc => Self::BALANCE_BTC,
            Currency::Eth => Self::BALANCE_ETH,
        }
    }

    pub fn reserved_field(currency: Currency) -> Field<Self, Number> {
        match currency {
            Currency::Usdt => Self::RESERVED_USDT,
            Currency::Btc => Self::RESERVED_BTC,
            Currency::Eth => Self::RESERVED_ETH,
        }
    }
}

/// Account to be opened, with its balances.
#[derive(Clone, Debug, PartialEq)]
pub struct NewAccount {
    pub account_id: Id,
    pub user_id: Id,
    pub payment_currency: Currency,
    pub usdt: Number,
    pub btc: Number,
    pub eth: Number,
}

/// Status of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, KeyPart)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// The funds are reserved.
    Authorized,
    /// The funds are reserved and being exchanged.
    Trading,
    /// The funds are debited.
    Completed,
    /// The funds are released.
    Failed,
}

impl Status {
    /// Statuses in which the funds are reserved.
    pub const OPEN: [Self; 2] = [Self::Authorized, Self::Trading];

    pub fn is_open(self) -> bool {
        Self::OPEN.contains(&self)
    }
}

/// A payment with a card. The provider assigns its id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = TRANSACTIONS,
    pk = transaction_id,
    index("account-transactions", query = by_account, pk = account_id, sk = authorized_at),
    index("status-transactions", query = by_status, pk = status, sk = authorized_at)
)]
pub struct Transaction {
    pub transaction_id: Id,
    #[entity(immutable)]
    pub account_id: Id,
    #[entity(immutable)]
    pub card_id: Id,
    #[entity(immutable)]
    pub amount_ars: Number,
    /// The amount in USDT, which counts for the card's daily limit.
    #[entity(immutable)]
    pub amount_usdt: Number,
    /// The amount in `user_currency`, which is reserved, and debited or released. Zero: another
    /// program has written the transaction, without the amount.
    #[entity(immutable)]
    #[serde(default)]
    pub amount_reserved: Number,
    /// ARS for one USDT.
    #[entity(immutable)]
    pub exchange_rate: Number,
    #[entity(immutable)]
    pub user_currency: Currency,
    pub status: Status,
    /// Exchange of the funds.
    pub trade_id: Option<Id>,
    /// Status of the exchange, as it reports it.
    pub trade_status: Option<String>,
    /// Number of retries of the exchange.
    pub retry_count: u32,
    /// Day of the card for which the payment counts; `None` if it counts for none.
    #[entity(immutable)]
    pub spend_day: Option<Day>,
    #[entity(immutable)]
    pub authorized_at: UtcTime,
    pub completed_at: Option<UtcTime>,
}

/// Status of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum CardStatus {
    /// Payments can be authorised.
    Active,
    /// No payment can be authorised.
    Blocked,
    /// Blocked permanently.
    Expired,
}

/// A card of an account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = CARDS,
    pk = card_id,
    index("account-cards", query = by_account, pk = account_id, sk = created_at)
)]
pub struct Card {
    pub card_id: Id,
    #[entity(immutable)]
    pub account_id: Id,
    #[entity(immutable)]
    pub card_number_hash: CardNumberHash,
    #[entity(immutable)]
    pub last_four: LastFour,
    pub holder_name: String,
    /// Last month in which payments can be authorised. A renewed card is another card.
    #[entity(immutable)]
    pub expiry_date: Month,
    pub status: CardStatus,
    pub daily_limit_usdt: Number,
    /// Sum of the payments on `spent_day`.
    #[serde(default)]
    pub spent_usdt: Number,
    /// Day of the last payment, in UTC; `None` before the first.
    pub spent_day: Option<Day>,
    /// Sums of up to [`DAYS`](Self::DAYS) - 1 other days: clocks of callers differ, so that the days
    /// of payments need not be in order.
    pub spent_other_days: Option<BTreeMap<Day, Number>>,
    #[entity(immutable)]
    pub created_at: UtcTime,
}

impl Card {
    /// Days whose sums a card keeps, `spent_day` included. One more day drops the earliest. Payments
    /// on days before the kept ones are rejected.
    pub const DAYS: usize = 31;

    /// Sum of the payments on a day.
    pub fn spent_on(&self, day: Day) -> Number {
        if self.spent_day == Some(day) {
            return self.spent_usdt;
        }
        let others = self.spent_other_days.as_ref();
        others.and_then(|days| days.get(&day)).copied().unwrap_or_default()
    }

    /// Sums of the kept days. A day whose payments all failed has zero.
    pub fn days(&self) -> BTreeMap<Day, Number> {
        let mut days = self.spent_other_days.clone().unwrap_or_default();
        days.extend(self.spent_day.map(|day| (day, self.spent_usdt)));
        days
    }

    /// Whether the sum of a day may be dropped. The number of kept days never falls.
    pub(crate) fn is_forgotten(&self, day: Day) -> bool {
        let days = self.days();
        days.len() >= Self::DAYS && days.first_key_value().is_some_and(|(first, _)| day < *first)
    }

    /// Sums to keep beside a day that becomes `spent_day`.
    pub(crate) fn other_days(&self, day: Day) -> BTreeMap<Day, Number> {
        let mut days = self.days();
        days.remove(&day);
        while days.len() >= Self::DAYS {
            days.pop_first();
        }
        days
    }
}

/// Card to be issued.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCard {
    pub card_id: Id,
    pub account_id: Id,
    pub card_number_hash: CardNumberHash,
    pub last_four: LastFour,
    pub holder_name: String,
    pub expiry_date: Month,
    pub daily_limit_usdt: Number,
}
