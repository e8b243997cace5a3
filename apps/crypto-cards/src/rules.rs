//! Rules of an authorisation: evaluation of a payment by its card and its account.

use tabla::entity::{Day, Id, UtcTime};
use tabla::{Error, Number, Result};

use crate::entities::*;
use crate::money::{ARS_DECIMALS, check_places};

/// Payment to be authorised, with its amount in each currency.
#[derive(Clone, Debug, PartialEq)]
pub struct Authorisation {
    /// Id that the provider assigned.
    pub transaction_id: Id,
    /// Card of the payment.
    pub card_id: Id,
    /// Amount in ARS, with at most [`ARS_DECIMALS`] decimal places.
    pub amount_ars: Number,
    /// The amount in USDT, rounded to its [decimal places](Currency::decimals).
    pub amount_usdt: Number,
    /// ARS for one USDT.
    pub exchange_rate: Number,
    /// Payment currency of the account.
    pub user_currency: Currency,
    /// The amount in that currency, rounded to its decimal places. It is reserved.
    pub amount_reserved: Number,
}

impl Authorisation {
    /// Whether the transaction is this payment: id, card and ARS amount are the same. The rate, and
    /// with it the other amounts, may have changed since the first call.
    pub fn is_same(&self, transaction: &Transaction) -> bool {
        self.transaction_id == transaction.transaction_id
            && self.card_id == transaction.card_id
            && self.amount_ars == transaction.amount_ars
    }

    /// Refuses amounts that are not above zero.
    pub(crate) fn check(&self) -> Result<()> {
        let amounts = [
            ("amount_ars", self.amount_ars),
            ("amount_usdt", self.amount_usdt),
            ("exchange_rate", self.exchange_rate),
            ("amount_reserved", self.amount_reserved),
        ];
        if let Some((name, amount)) = amounts.iter().find(|(_, amount)| *amount <= Number::ZERO) {
            return Err(Error::validation(format!("{name} must be above zero, not {amount}")));
        }
        if self.user_currency == Currency::Usdt && self.amount_reserved != self.amount_usdt {
            return Err(Error::validation(format!(
                "amount_reserved must be amount_usdt ({}) in USDT, not {}",
                self.amount_usdt, self.amount_reserved
            )));
        }
        Ok(())
    }

    /// Refuses amounts that do not fit their currencies: they could be reserved, and then not debited
    /// without rounding.
    pub(crate) fn check_places(&self) -> Result<()> {
        check_places("amount_ars", self.amount_ars, "ARS", ARS_DECIMALS)?;
        Currency::Usdt.check("amount_usdt", self.amount_usdt)?;
        self.user_currency.check("amount_reserved", self.amount_reserved)
    }
}

/// Reason to reject a payment. Nothing was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Rejection {
    /// There is no such card.
    UnknownCard,
    /// The card's account does not exist.
    UnknownAccount,
    /// The card is blocked or expired.
    CardNotActive(CardStatus),
    /// The card's last month is over.
    CardExpired,
    /// The account is suspended or closed.
    AccountNotActive(AccountStatus),
    /// The account pays with this currency. Convert the amount to it.
    OtherCurrency(Currency),
    /// The unreserved balance, which is below the amount.
    InsufficientFunds(Number),
    /// The rest of the daily limit in USDT, which is below the amount. It is zero for a day that the
    /// card does not keep any more.
    DailyLimit(Number),
    /// A concurrent writer has changed the account or the card in each attempt.
    Contention,
}

/// Effect of a payment on the daily sum of its card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spend {
    /// Day of the payment.
    pub(crate) day: Day,
    /// Largest sum before the payment, so that the limit holds.
    pub(crate) most_before: Number,
    /// Sum after the payment.
    pub(crate) after: Number,
}

/// Evaluates a payment at this moment.
///
/// # Errors
/// A sum would have more than 38 digits.
pub(crate) fn evaluate(
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
    // The reserved amount is debited later, and both sums must be exact. They are, unless another
    // program has written a balance that does not fit its currency.
    reserved.checked_add(request.amount_reserved)?;
    balance.checked_sub(request.amount_reserved)?;
    // The day is that of the payment, and need not follow the day of the last payment: clocks of
    // callers differ.
    let day = now.day();
    if card.is_forgotten(day) {
        return Ok(Err(Rejection::DailyLimit(Number::ZERO)));
    }
    let before = card.spent_on(day);
    let most_before = card.daily_limit_usdt.checked_sub(request.amount_usdt)?;
    if before > most_before {
        let left = card.daily_limit_usdt.checked_sub(before)?;
        // A lowered limit may be below the sum.
        return Ok(Err(Rejection::DailyLimit(left.max(Number::ZERO))));
    }
    Ok(Ok(Spend { day, most_before, after: before.checked_add(request.amount_usdt)? }))
}
