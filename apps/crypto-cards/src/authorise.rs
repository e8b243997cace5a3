//! Authorising a payment: its funds are reserved, or it is rejected.

use tabla::entity::{Change, Transacted, UtcTime};
use tabla::{Applied, Error, Result};

use crate::accounts::CryptoCards;
use crate::entities::*;
use crate::judge::{Authorisation, Rejection, Spend, judge};
use crate::retries::{exhausted, passing};

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

/// A write whose answer was lost: it may yet be carried out, but only while the account has the
/// version that was read for it.
struct Doubt {
    version: u64,
    error: Error,
}

impl CryptoCards {
    /// Authorises a payment, once for each id: reserves its amount on the account, records it, and
    /// counts it to the card's day, all or none.
    ///
    /// The balance is compared in code with what is reserved, because no condition of a write can
    /// add; the write holds only if the account still has the version that was read. Who loses
    /// that race reads, judges and tries again.
    ///
    /// # Errors
    /// Those of the store; [`Applied::Maybe`] if it may be authorised: the same call tells later.
    /// An amount is none.
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
        let mut doubt: Option<Doubt> = None;
        let mut last = None;
        for attempt in 1..=self.retries.attempts {
            let now = moment.unwrap_or_else(|| self.db.now().second());
            last = match self.attempt(request, now, &mut doubt).await {
                Ok(Some(answer)) => return Ok(answer),
                Ok(None) => None,
                Err(error) => Some(passing(in_doubt(error, &doubt))?),
            };
            self.retries.wait(attempt).await;
        }
        match (doubt, last) {
            (Some(doubt), _) => Err(exhausted(Some(doubt.error), "authorising")),
            (None, Some(error)) => Err(exhausted(Some(error), "authorising")),
            (None, None) => Ok(Authorised::Rejected(Rejection::Contention)),
        }
    }

    /// One attempt; `None` if the race was lost or the answer was, so that all is read again.
    async fn attempt(
        &self,
        request: &Authorisation,
        now: UtcTime,
        doubt: &mut Option<Doubt>,
    ) -> Result<Option<Authorised>> {
        if let Some(known) = self.transaction(&request.transaction_id).await? {
            return Ok(Some(answer(request, known)));
        }
        let Some(card) = self.card(&request.card_id).await? else {
            return self.reject(request, Rejection::UnknownCard, None, doubt).await;
        };
        let Some(account) = self.account(&card.account_id).await? else {
            return self.reject(request, Rejection::UnknownAccount, None, doubt).await;
        };
        let spend = match judge(request, &card, &account, now)? {
            Ok(spend) => spend,
            Err(rejection) => {
                return self.reject(request, rejection, Some(&account), doubt).await;
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
            Err(error) if error.applied() == Applied::Maybe => {
                *doubt = Some(Doubt { version: account.version, error });
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Rejects, unless the payment was authorised meanwhile or may yet be.
    async fn reject(
        &self,
        request: &Authorisation,
        rejection: Rejection,
        account: Option<&Account>,
        doubt: &mut Option<Doubt>,
    ) -> Result<Option<Authorised>> {
        // A write that may be on its way cannot arrive once the account has another version.
        let is_settled = |doubt: &Doubt| account.is_some_and(|own| own.version > doubt.version);
        if let Some(doubt) = doubt.take_if(|doubt| !is_settled(doubt)) {
            return Err(exhausted(Some(doubt.error), "authorising"));
        }
        // What has taken the funds may be this very payment.
        let known = self.transaction(&request.transaction_id).await?;
        Ok(Some(match known {
            Some(known) => answer(request, known),
            None => Authorised::Rejected(rejection),
        }))
    }
}

/// An error after a write whose answer was lost leaves that open, too.
fn in_doubt(error: Error, doubt: &Option<Doubt>) -> Error {
    match doubt {
        Some(_) => error.with_applied(Applied::Maybe),
        None => error,
    }
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

/// The payment, counted to the card's day; only if the limit is the one that it was judged by.
fn counted(request: &Authorisation, card: &Card, spend: Spend) -> Change<Card> {
    let (change, on_day) = match spend.is_first {
        true => (
            Change::of(card)
                .set(Card::SPENT_USDT, request.amount_usdt)
                .set(Card::SPENT_DAY, spend.day),
            Card::SPENT_DAY.not_exists().or(Card::SPENT_DAY.lt(spend.day)),
        ),
        false => (
            Change::of(card).add(Card::SPENT_USDT, request.amount_usdt),
            Card::SPENT_DAY.eq(spend.day).and(Card::SPENT_USDT.le(spend.most_before)),
        ),
    };
    change
        .when(Card::STATUS.eq(CardStatus::Active))
        .when(Card::DAILY_LIMIT_USDT.eq(card.daily_limit_usdt))
        .when(on_day)
}
