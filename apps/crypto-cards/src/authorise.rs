//! Authorising a payment: its funds are reserved, or it is rejected.

use std::collections::BTreeMap;

use tabla::entity::{Change, Check, Day, Transacted, UtcTime};
use tabla::{Applied, Error, ErrorKind, Number, Result, RetryMode};

use crate::accounts::CryptoCards;
use crate::entities::*;
use crate::judge::{Authorisation, Rejection, Spend, judge};

/// What became of an authorisation.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Authorised {
    /// Its funds are reserved.
    Done(Transaction),
    /// They were before: by an earlier call, or by this one whose answer was lost. The transaction
    /// may be completed or failed by now.
    Already(Transaction),
    /// Another payment has this id. Nothing was written.
    Mismatch(Transaction),
    /// It is not authorised, and nothing was written.
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
    /// counts it to its day on the card, all or none.
    ///
    /// The balance is compared in code with what is reserved, because no condition of a write can
    /// add; the write holds only if the account still has the version that was read. Who loses
    /// that race reads, judges and tries again.
    ///
    /// # Errors
    /// Those of the store; [`Applied::Maybe`] if it may be authorised: the same call tells later.
    /// An amount is not above zero, or has more decimal places than its currency.
    pub async fn authorise(&self, request: &Authorisation) -> Result<Authorised> {
        self.authorise_at(request, None).await
    }

    /// The same as if it were this moment: for data of the past.
    pub(crate) async fn authorise_at(
        &self,
        request: &Authorisation,
        moment: Option<UtcTime>,
    ) -> Result<Authorised> {
        request.check()?;
        let mut in_doubt = None;
        let mut tries = self.db.start_attempts(RetryMode::Idempotent, "to authorise");
        loop {
            let now = moment.unwrap_or_else(|| self.db.now().second());
            let tried = self.attempt(request, now, &mut in_doubt).await;
            if let Some(Some(answer)) = tries.check(tried)? {
                return Ok(answer);
            }
            match tries.next_attempt().await {
                Ok(()) => {}
                Err(error) if is_overrun(&error) => {
                    return Ok(Authorised::Rejected(Rejection::Contention));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// One attempt; `None` if the race was lost or nothing can be told yet, so that all is read
    /// again. A write whose answer was lost leaves behind the version of the account that it needs.
    async fn attempt(
        &self,
        request: &Authorisation,
        now: UtcTime,
        in_doubt: &mut Option<u64>,
    ) -> Result<Option<Authorised>> {
        if let Some(known) = self.transaction(&request.transaction_id).await? {
            return Ok(Some(answer(request, known)));
        }
        request.check_places()?;
        let Some(card) = self.card(&request.card_id).await? else {
            return self.reject(request, Rejection::UnknownCard, None, *in_doubt).await;
        };
        let Some(account) = self.account(&card.account_id).await? else {
            return self.reject(request, Rejection::UnknownAccount, None, *in_doubt).await;
        };
        let spend = match judge(request, &card, &account, now)? {
            Ok(spend) => spend,
            Err(rejection) => {
                return self.reject(request, rejection, Some(&account), *in_doubt).await;
            }
        };
        let row = row(request, &account, spend, now);
        let reserve = Change::of(&account)
            .add(Account::reserved_field(request.user_currency), request.amount_reserved)
            .when(Account::STATUS.eq(AccountStatus::Active));
        let transaction = self
            .db
            .transaction()
            .update("account", reserve)?
            .create("transaction", row.clone())?
            .update("card", counted(request, &card, spend))?;
        match transaction.run().await {
            Ok(Transacted::Done) => Ok(Some(Authorised::Done(row))),
            Ok(Transacted::Lost(lost)) => match lost.current("transaction")? {
                Some(known) => Ok(Some(answer(request, known))),
                None => Ok(None),
            },
            Err(error) => {
                if error.applied() == Applied::Maybe {
                    *in_doubt = Some(account.version);
                }
                Err(error)
            }
        }
    }

    /// Rejects, unless the payment was authorised meanwhile or may yet be.
    async fn reject(
        &self,
        request: &Authorisation,
        rejection: Rejection,
        account: Option<&Account>,
        in_doubt: Option<u64>,
    ) -> Result<Option<Authorised>> {
        // A write that may be on its way cannot arrive once the account has another version.
        let is_settled = |version| account.is_some_and(|own| own.version > version);
        if in_doubt.is_some_and(|version| !is_settled(version)) {
            return Ok(None);
        }
        // What has taken the funds may be this very payment.
        let known = self.transaction(&request.transaction_id).await?;
        Ok(Some(match known {
            Some(known) => answer(request, known),
            None => Authorised::Rejected(rejection),
        }))
    }
}

/// Whether others were faster every time, and nothing else stood in the way.
fn is_overrun(error: &Error) -> bool {
    *error.kind() == ErrorKind::TransactionConflict && error.applied() == Applied::No
}

/// What the table says of this id is the last word.
fn answer(request: &Authorisation, known: Transaction) -> Authorised {
    match request.is_same(&known) {
        true => Authorised::Already(known),
        false => Authorised::Mismatch(known),
    }
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
        spend_day: spend.day,
        authorized_at: now,
        completed_at: None,
    }
}

/// The payment, counted to its day; only if the limit is the one that it was judged by.
fn counted(request: &Authorisation, card: &Card, spend: Spend) -> Change<Card> {
    let change = Change::of(card)
        .when(Card::STATUS.eq(CardStatus::Active))
        .when(Card::DAILY_LIMIT_USDT.eq(card.daily_limit_usdt));
    if card.spent_day == Some(spend.day) {
        return change
            .add(Card::SPENT_USDT, request.amount_usdt)
            .when(Card::SPENT_DAY.eq(spend.day).and(Card::SPENT_USDT.le(spend.most_before)));
    }
    // Another day than the last one: what was paid on each of them stays with it.
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

/// Holds if what the card remembers of other days is what was read.
pub(crate) fn other_days_are(card: &Card) -> Check<Card> {
    match &card.spent_other_days {
        Some(days) => Card::SPENT_OTHER_DAYS.eq(days.clone()),
        None => Card::SPENT_OTHER_DAYS.not_exists(),
    }
}

/// The change with these days to remember.
pub(crate) fn with_other_days(change: Change<Card>, days: BTreeMap<Day, Number>) -> Change<Card> {
    match days.is_empty() {
        true => change.clear(Card::SPENT_OTHER_DAYS),
        false => change.set(Card::SPENT_OTHER_DAYS, days),
    }
}
