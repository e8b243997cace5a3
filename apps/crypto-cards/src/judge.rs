//! Whether a payment can be authorised, by what was read of its card and its account.

use tabla::entity::{Day, Id, UtcTime};
use tabla::{Error, Number, Result};

use crate::entities::*;
use crate::money::{ARS_DECIMALS, check_places};

/// A payment that wants to be authorised, with its amount in each currency.
#[derive(Clone, Debug, PartialEq)]
pub struct Authorisation {
    /// The provider's id for it.
    pub transaction_id: Id,
    /// The card.
    pub card_id: Id,
    /// What the shop wants, in ARS: at most [`ARS_DECIMALS`] decimal places.
    pub amount_ars: Number,
    /// The same in USDT, rounded to its [decimal places](Currency::decimals).
    pub amount_usdt: Number,
    /// ARS for one USDT.
    pub exchange_rate: Number,
    /// What the account pays with.
    pub user_currency: Currency,
    /// The same amount in that, rounded to its decimal places: what is reserved.
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

    /// Refuses amounts that do not fit their currencies: what does not could be reserved, and then
    /// not be debited without rounding.
    pub(crate) fn check_places(&self) -> Result<()> {
        check_places("amount_ars", self.amount_ars, "ARS", ARS_DECIMALS)?;
        Currency::Usdt.check("amount_usdt", self.amount_usdt)?;
        self.user_currency.check("amount_reserved", self.amount_reserved)
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
    /// The card has only this much left of the payment's day, in USDT; nothing of a day that is
    /// too long past to be remembered.
    DailyLimit(Number),
    /// Others have changed the account or the card each time that it was tried.
    Contention,
}

/// How a payment counts for its card's day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spend {
    /// The day.
    pub(crate) day: Day,
    /// The most that the card may have spent before it.
    pub(crate) most_before: Number,
    /// What it has spent with it.
    pub(crate) after: Number,
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
    let free = balance.checked_sub(reserved)?;
    if free < request.amount_reserved {
        return Ok(Err(Rejection::InsufficientFunds(free)));
    }
    // What is reserved here is debited later: both sums have to be exact. They are, unless somebody
    // else has written a balance that does not fit its currency.
    reserved.checked_add(request.amount_reserved)?;
    balance.checked_sub(request.amount_reserved)?;
    // The day is that of the payment, whatever day was paid on last: a clock that was ahead leaves a
    // day of its own, and one that is behind finds its day as it was left.
    let day = now.day();
    if card.is_forgotten(day) {
        return Ok(Err(Rejection::DailyLimit(Number::ZERO)));
    }
    let before = card.spent_on(day);
    let most_before = card.daily_limit_usdt.checked_sub(request.amount_usdt)?;
    if before > most_before {
        let left = card.daily_limit_usdt.checked_sub(before)?;
        // A limit that was lowered may be below what is spent.
        return Ok(Err(Rejection::DailyLimit(left.max(Number::ZERO))));
    }
    Ok(Ok(Spend { day, most_before, after: before.checked_add(request.amount_usdt)? }))
}
