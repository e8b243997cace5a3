//! Whether a payment can be authorised, by what was read of its card and its account.

use tabla::entity::{Day, Id, UtcTime};
use tabla::{Error, Number, Result};

use crate::entities::*;

/// A payment that wants to be authorised, with its amount in each currency.
#[derive(Clone, Debug, PartialEq)]
pub struct Authorisation {
    /// The provider's id for it.
    pub transaction_id: Id,
    /// The card.
    pub card_id: Id,
    /// What the shop wants, in ARS.
    pub amount_ars: Number,
    /// The same in USDT.
    pub amount_usdt: Number,
    /// ARS for one USDT.
    pub exchange_rate: Number,
    /// What the account pays with.
    pub user_currency: Currency,
    /// The same amount in that: what is reserved.
    pub amount_reserved: Number,
}

impl Authorisation {
    /// Whether the provider means the same payment as this transaction: the same card and the same
    /// amount. What the amount is in other currencies may have changed since the first time.
    pub fn is_same(&self, transaction: &Transaction) -> bool {
        self.transaction_id == transaction.transaction_id
            && self.card_id == transaction.card_id
            && self.amount_ars == transaction.amount_ars
    }

    /// Refuses amounts that are none.
    pub(crate) fn check(&self) -> Result<()> {
        let amounts = [
            ("amount_ars", self.amount_ars),
            ("amount_usdt", self.amount_usdt),
            ("exchange_rate", self.exchange_rate),
            ("amount_reserved", self.amount_reserved),
        ];
        if let Some((name, amount)) = amounts.iter().find(|(_, amount)| *amount <= Number::ZERO) {
            return Err(Error::validation(format!("{name} has to be above zero, not {amount}")));
        }
        if self.user_currency == Currency::Usdt && self.amount_reserved != self.amount_usdt {
            return Err(Error::validation(format!(
                "an account that pays with USDT has {} of it reserved, not {}",
                self.amount_usdt, self.amount_reserved
            )));
        }
        Ok(())
    }
}

/// Why a payment is not authorised. Nothing was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Rejection {
    /// There is no such card.
    UnknownCard,
    /// The card's account is not there.
    UnknownAccount,
    /// The card cannot be paid with.
    CardNotActive(CardStatus),
    /// The card's last month is over.
    CardExpired,
    /// The account cannot be paid with.
    AccountNotActive(AccountStatus),
    /// The account pays with another currency: the amount has to be converted to that.
    OtherCurrency(Currency),
    /// The account has only this much that is not reserved.
    InsufficientFunds(Number),
    /// The card has only this much left of its day, in USDT.
    DailyLimit(Number),
    /// Others have changed the account or the card each time that it was tried.
    Contention,
}

/// How a payment counts for its card's day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spend {
    /// The day.
    pub(crate) day: Day,
    /// Whether it is the first of the day.
    pub(crate) is_first: bool,
    /// The most that the card may have spent before it.
    pub(crate) most_before: Number,
}

/// Judges a payment at this moment.
///
/// # Errors
/// A sum would have more digits than a number can have.
pub(crate) fn judge(
    request: &Authorisation,
    card: &Card,
    account: &Account,
    now: UtcTime,
) -> Result<Result<Spend, Rejection>> {
    if card.status != CardStatus::Active {
        return Ok(Err(Rejection::CardNotActive(card.status)));
    }
    if now.month() > card.expiry_date {
        return Ok(Err(Rejection::CardExpired));
    }
    if account.status != AccountStatus::Active {
        return Ok(Err(Rejection::AccountNotActive(account.status)));
    }
    if request.user_currency != account.payment_currency {
        return Ok(Err(Rejection::OtherCurrency(account.payment_currency)));
    }
    let (balance, reserved) =
        (account.balance(request.user_currency), account.reserved(request.user_currency));
    if balance < request.amount_reserved.checked_add(reserved)? {
        return Ok(Err(Rejection::InsufficientFunds(balance.checked_sub(reserved)?)));
    }
    // Where another's clock is ahead, the card's day may have begun already: it is not begun again.
    let day = card.spent_day.map_or(now.day(), |last| last.max(now.day()));
    let is_first = card.spent_day != Some(day);
    let before = if is_first { Number::ZERO } else { card.spent_usdt };
    let most_before = card.daily_limit_usdt.checked_sub(request.amount_usdt)?;
    if before > most_before {
        let left = card.daily_limit_usdt.checked_sub(before)?;
        // A limit that was lowered may be below what is spent.
        return Ok(Err(Rejection::DailyLimit(left.max(Number::ZERO))));
    }
    Ok(Ok(Spend { day, is_first, most_before }))
}
