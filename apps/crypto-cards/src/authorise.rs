//! Authorisation of a payment: the reservation of its funds, or its rejection.

use std::collections::BTreeMap;

use tabla::entity::Commit::{Canceled, Committed};
use tabla::entity::{self, Change, Check, Day, UtcTime};
use tabla::{Applied, Error, ErrorKind, Number, Result};

use crate::accounts::CryptoCards;
use crate::entities::*;
use crate::rules::{Authorisation, Rejection, Spend, evaluate};

/// Outcome of an authorisation.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Authorised {
    /// The transaction, whose funds this call has reserved.
    Done(Transaction),
    /// The transaction, whose funds an earlier call has reserved. It may be settled by now.
    Already(Transaction),
    /// Another payment has this id. Nothing was written.
    Mismatch(Transaction),
    /// The payment is not authorised. Nothing was written.
    Rejected(Rejection),
}

impl Authorised {
    /// The transaction, if the payment is authorised.
    pub fn transaction(&self) -> Option<&Transaction> {
        match self {
            Self::Done(transaction) | Self::Already(transaction) => Some(transaction),
            Self::Mismatch(_) | Self::Rejected(_) => None,
        }
    }
}

impl CryptoCards {
    /// Authorises a payment, once for each id: reserves its amount on the account, records it, and
    /// counts it for its day on the card, all or none.
    ///
    /// A condition cannot add, so that the balance is compared in code. The write is conditional on
    /// the version of the account that was read.
    ///
    /// # Errors
    /// An amount is not above zero, or does not fit its currency. With [`Applied::Maybe`], the
    /// payment may be authorised: a later call with the same payment returns the outcome.
    pub async fn authorise(&self, request: &Authorisation) -> Result<Authorised> {
        self.authorise_at(request, None).await
    }

    /// Authorises a payment at this moment: for sample data of the past.
    pub(crate) async fn authorise_at(
        &self,
        request: &Authorisation,
        moment: Option<UtcTime>,
    ) -> Result<Authorised> {
        request.check()?;
        match self.attempt_to_authorise(request, moment).await {
            Err(error)
                if *error.kind() == ErrorKind::TransactionConflict
                    && error.applied() == Applied::No =>
            {
                Ok(Authorised::Rejected(Rejection::Contention))
            }
            outcome => outcome,
        }
    }

    async fn attempt_to_authorise(
        &self,
        request: &Authorisation,
        moment: Option<UtcTime>,
    ) -> Result<Authorised> {
        let key = Transaction::key(&request.transaction_id);
        let mut attempts = self.db.optimistic("authorise a payment");
        loop {
            let mut tx = attempts.begin().await?;
            let now = moment.unwrap_or_else(|| tx.now().second());
            if let Some(known) = tx.get(&key).await? {
                return Ok(known_outcome(request, known));
            }
            request.check_places()?;
            let (card, account, spend) = match read(&mut tx, request, now).await? {
                Ok(read) => read,
                // A concurrent call with this payment may have reserved the funds.
                Err(rejection) => {
                    return Ok(match tx.get(&key).await? {
                        Some(known) => known_outcome(request, known),
                        None => Authorised::Rejected(rejection),
                    });
                }
            };
            let row = row(request, &account, spend, now);
            let reserved = Account::reserved_field(request.user_currency);
            let reserve = account.change().increment(reserved, request.amount_reserved);
            let reserve = tx.update(reserve.when(Account::STATUS.eq(AccountStatus::Active)));
            let created = tx.create(row.clone());
            tx.update(counted(request, &card, spend));
            match tx.commit().await? {
                Committed => return Ok(Authorised::Done(row)),
                Canceled(c) => match c.current(&created)? {
                    Some(known) => return Ok(known_outcome(request, known)),
                    // The account has the version that the first request requires: a rejection
                    // could be contradicted.
                    None if c.may_be_applied() && !c.failed(&reserve) => {
                        return Err(unknown(request));
                    }
                    None => {}
                },
            }
        }
    }
}

/// Card, account and daily sum of a payment; or the reason to reject it.
async fn read(
    tx: &mut entity::Transaction<'_>,
    request: &Authorisation,
    now: UtcTime,
) -> Result<Result<(Card, Account, Spend), Rejection>> {
    let Some(card) = tx.get(&Card::key(&request.card_id)).await? else {
        return Ok(Err(Rejection::UnknownCard));
    };
    let Some(account) = tx.get(&Account::key(&card.account_id)).await? else {
        return Ok(Err(Rejection::UnknownAccount));
    };
    Ok(evaluate(request, &card, &account, now)?.map(|spend| (card, account, spend)))
}

/// Outcome of a payment whose id has a transaction.
fn known_outcome(request: &Authorisation, known: Transaction) -> Authorised {
    match request.is_same(&known) {
        true => Authorised::Already(known),
        false => Authorised::Mismatch(known),
    }
}

fn unknown(request: &Authorisation) -> Error {
    let message = format!(
        "the response to the authorisation of {} was lost, and it may still be executed: call again",
        request.transaction_id
    );
    Error::new(ErrorKind::Unavailable, message).with_applied(Applied::Maybe)
}

fn row(request: &Authorisation, account: &Account, spend: Spend, now: UtcTime) -> Transaction {
    Transaction {
        transaction_id: request.transaction_id.clone(),
        account_id: account.account_id.clone(),
        card_id: request.card_id.clone(),
        amount_ars: request.amount_ars,
        amount_usdt: request.amount_usdt,
        amount_reserved: request.amount_reserved,
        exchange_rate: request.exchange_rate,
        user_currency: request.user_currency,
        status: Status::Authorized,
        trade_id: None,
        trade_status: None,
        retry_count: 0,
        spend_day: Some(spend.day),
        authorized_at: now,
        completed_at: None,
    }
}

/// Counts the payment for its day, if the daily limit is the one that was read.
fn counted(request: &Authorisation, card: &Card, spend: Spend) -> Change<Card> {
    let change = card
        .change()
        .when(Card::STATUS.eq(CardStatus::Active))
        .when(Card::DAILY_LIMIT_USDT.eq(card.daily_limit_usdt));
    if card.spent_day == Some(spend.day) {
        return change
            .increment(Card::SPENT_USDT, request.amount_usdt)
            .when(Card::SPENT_DAY.eq(spend.day).and(Card::SPENT_USDT.le(spend.most_before)));
    }
    // The sum of the last day moves to the other days.
    let is_last_day = match card.spent_day {
        Some(day) => Card::SPENT_DAY.eq(day),
        None => Card::SPENT_DAY.not_exists(),
    };
    let change = change
        .set(Card::SPENT_DAY, spend.day)
        .set(Card::SPENT_USDT, spend.after)
        .when(is_last_day.and(Card::SPENT_USDT.eq(card.spent_usdt)))
        .when(other_days_are(card));
    with_other_days(change, card.other_days(spend.day))
}

/// Holds if the sums of other days are those that were read.
pub(crate) fn other_days_are(card: &Card) -> Check<Card> {
    match &card.spent_other_days {
        Some(days) => Card::SPENT_OTHER_DAYS.eq(days.clone()),
        None => Card::SPENT_OTHER_DAYS.not_exists(),
    }
}

/// Sets the sums of other days.
pub(crate) fn with_other_days(change: Change<Card>, days: BTreeMap<Day, Number>) -> Change<Card> {
    match days.is_empty() {
        true => change.clear(Card::SPENT_OTHER_DAYS),
        false => change.set(Card::SPENT_OTHER_DAYS, days),
    }
}
