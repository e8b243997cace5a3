//! Sample data.

use std::time::Duration;

use tabla::entity::{Db, Id, UtcTime};
use tabla::{Number, Result};
use tabla_kit::Progress;

use crate::accounts::CryptoCards;
use crate::authorise::Authorised;
use crate::entities::*;
use crate::rules::Authorisation;
use crate::texts::{CardNumberHash, LastFour};

/// Accounts at scale 1, two of each user.
pub(crate) const ACCOUNTS: u32 = 24;
/// Cards of each account; the last is blocked.
pub(crate) const CARDS_EACH: u32 = 2;
/// Payments of each account: the first are completed, then some fail, one is being exchanged, and
/// the last is authorised.
pub(crate) const PAYMENTS: u32 = 8;
pub(crate) const COMPLETED: u32 = 4;
pub(crate) const FAILED: u32 = 2;

/// Moment of the first payment.
const FIRST: u64 = 1_740_819_600; // 2025-03-01T09:00:00Z
const HOUR: u64 = 3600;

/// Multiplier from which the hashes of the cards are made. They are of no card number.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

pub(crate) fn id(text: impl Into<String>) -> Result<Id> {
    Id::new(text)
}

pub(crate) fn user(account: u32) -> Result<Id> {
    id(format!("user-{:04}", account / 2))
}

pub(crate) fn account(number: u32) -> Result<Id> {
    id(format!("acc-{number:04}"))
}

pub(crate) fn card(account: u32, number: u32) -> Result<Id> {
    id(format!("card-{account:04}-{number}"))
}

pub(crate) fn transaction(account: u32, number: u32) -> Result<Id> {
    id(format!("lemon-{account:04}-{number:02}"))
}

/// Moment of a payment of an account.
pub(crate) fn moment(account: u32, payment: u32) -> UtcTime {
    UtcTime::from_secs(FIRST + u64::from(payment) * 10 * HOUR + u64::from(account) * 60)
}

/// Number of units of a decimal place.
pub(crate) fn scaled(units: u64, decimals: u32) -> Result<Number> {
    Ok(Number::parse(&format!("{units}e-{decimals}"))?)
}

/// A payment with an amount in cents of USDT, at 1050 ARS for a USDT, 100 000 USDT for a BTC and
/// 4 000 USDT for an ETH.
pub(crate) fn payment(
    transaction: Id,
    card: Id,
    currency: Currency,
    cents: u64,
) -> Result<Authorisation> {
    Ok(Authorisation {
        transaction_id: transaction,
        card_id: card,
        amount_ars: scaled(cents * 1050, 2)?,
        amount_usdt: scaled(cents, 2)?,
        exchange_rate: 1050.into(),
        user_currency: currency,
        amount_reserved: match currency {
            Currency::Usdt => scaled(cents, 2)?,
            Currency::Btc => scaled(cents, 7)?,
            Currency::Eth => scaled(cents * 25, 7)?,
        },
    })
}

pub(crate) fn new_account(account_id: Id, user_id: Id, currency: Currency) -> Result<NewAccount> {
    Ok(NewAccount {
        account_id,
        user_id,
        payment_currency: currency,
        usdt: 1000.into(),
        btc: scaled(50_000_001, 8)?,
        eth: Number::parse("10.000000000000000001")?,
    })
}

/// A card that is valid for three years.
pub(crate) fn new_card(db: &Db, card_id: Id, account_id: Id, number: u64) -> Result<NewCard> {
    let mut hash = String::new();
    for part in 1..=4 {
        hash.push_str(&format!("{:016x}", (number + 1).wrapping_mul(MIX).rotate_left(part * 11)));
    }
    let years = Duration::from_secs(3 * 365 * 24 * HOUR);
    Ok(NewCard {
        card_id,
        account_id,
        card_number_hash: CardNumberHash::new(hash)?,
        last_four: LastFour::new(format!("{:04}", number % 10_000))?,
        holder_name: format!("Holder {number}"),
        expiry_date: db.now().second().plus(years).month(),
        daily_limit_usdt: 300.into(),
    })
}

/// Payment currency of an account.
pub(crate) fn currency(account: u32) -> Currency {
    Currency::ALL[account as usize % Currency::ALL.len()]
}

/// Amount of a payment, in cents.
pub(crate) fn cents(account: u32, payment: u32) -> u64 {
    u64::from(150 + 37 * payment + 11 * account)
}

pub(crate) async fn seed(db: &Db, scale: u32, progress: Progress<'_>) -> Result<()> {
    let app = CryptoCards::new(db.clone());
    let accounts = ACCOUNTS * scale;
    for number in 0..accounts {
        seed_account(&app, db, number).await?;
        for payment in 0..PAYMENTS {
            seed_payment(&app, number, payment).await?;
        }
        progress(u64::from(number) + 1, u64::from(accounts));
    }
    Ok(())
}

async fn seed_account(app: &CryptoCards, db: &Db, number: u32) -> Result<()> {
    let opened = UtcTime::from_secs(FIRST)
        .minus(Duration::from_secs((1000 - u64::from(number % 1000)) * HOUR));
    let account_id = account(number)?;
    let new = new_account(account_id.clone(), user(number)?, currency(number))?;
    app.open_account_at(new, opened).await?.done();
    for index in 0..CARDS_EACH {
        let card_id = card(number, index)?;
        let serial = u64::from(number * CARDS_EACH + index);
        let new = new_card(db, card_id.clone(), account_id.clone(), serial)?;
        let issued = opened.plus(Duration::from_secs(u64::from(index + 1) * HOUR));
        let _ = app.issue_card_at(new, issued).await?;
        if index + 1 == CARDS_EACH {
            app.set_card_status(&card_id, CardStatus::Blocked).await?.done();
        }
    }
    Ok(())
}

async fn seed_payment(app: &CryptoCards, number: u32, index: u32) -> Result<()> {
    let transaction_id = transaction(number, index)?;
    let at = moment(number, index);
    let request =
        payment(transaction_id.clone(), card(number, 0)?, currency(number), cents(number, index))?;
    let answer = app.authorise_at(&request, Some(at)).await?;
    // Existing data stay as they are.
    if !matches!(answer, Authorised::Done(_)) {
        return Ok(());
    }
    if index < COMPLETED || index == COMPLETED + FAILED {
        let trade = id(format!("trade-{transaction_id}"))?;
        app.begin_trade(&transaction_id, &trade, "PENDING").await?.done();
    }
    if index < COMPLETED {
        let _ = app.complete_at(&transaction_id, at.plus(Duration::from_secs(30))).await?;
    } else if index < COMPLETED + FAILED {
        let _ = app.fail(&transaction_id, Some("REJECTED")).await?;
    }
    Ok(())
}
