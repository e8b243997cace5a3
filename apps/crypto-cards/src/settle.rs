//! Settlement of a payment: completion, which debits its funds, or failure, which releases them.

use tabla::Result;
use tabla::entity::Commit::{Canceled, Committed};
use tabla::entity::{self, Change, Id, UtcTime};

use crate::accounts::CryptoCards;
use crate::authorise::{other_days_are, with_other_days};
use crate::entities::*;

/// Outcome of settling a transaction.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Settled {
    /// The transaction, which this call has settled.
    Done(Transaction),
    /// The transaction, which an earlier call has settled in this way.
    Already(Transaction),
    /// The transaction, which an earlier call has settled in the other way. Nothing was written.
    Otherwise(Transaction),
    /// There is no such transaction.
    Unknown,
    /// The account does not exist, or has less reserved than the transaction: the books must be
    /// reconciled. Nothing was written.
    Reconcile {
        /// The transaction, which is still open.
        transaction: Transaction,
        /// Account of the transaction.
        account: Option<Box<Account>>,
    },
}

impl CryptoCards {
    /// Completes a payment: debits the balance and the reservation together.
    ///
    /// The account may have changed since the authorisation, and may be suspended: the reserved
    /// amount is there.
    ///
    /// # Errors
    /// With [`Applied::Maybe`](tabla::Applied::Maybe), the payment may be completed: a later call
    /// returns the outcome.
    pub async fn complete(&self, id: &Id, trade_status: Option<&str>) -> Result<Settled> {
        self.settle(id, Status::Completed, trade_status, None).await
    }

    /// Fails a payment: releases the reservation, and subtracts the amount from its day on the card,
    /// if the card keeps the day.
    ///
    /// # Errors
    /// With [`Applied::Maybe`](tabla::Applied::Maybe), the payment may have failed: a later call
    /// returns the outcome.
    pub async fn fail(&self, id: &Id, trade_status: Option<&str>) -> Result<Settled> {
        self.settle(id, Status::Failed, trade_status, None).await
    }

    /// Completes a payment at this moment: for sample data of the past.
    pub(crate) async fn complete_at(&self, id: &Id, now: UtcTime) -> Result<Settled> {
        self.settle(id, Status::Completed, Some("FILLED"), Some(now)).await
    }

    async fn settle(
        &self,
        id: &Id,
        wanted: Status,
        trade_status: Option<&str>,
        moment: Option<UtcTime>,
    ) -> Result<Settled> {
        let mut attempts = self.db.optimistic("settle a payment");
        loop {
            let mut tx = attempts.begin().await?;
            let now = moment.unwrap_or_else(|| tx.now().second());
            let Some(row) = tx.get(&Transaction::key(id)).await? else {
                return Ok(Settled::Unknown);
            };
            if row.status == wanted {
                return Ok(Settled::Already(row));
            }
            if !row.status.is_open() {
                return Ok(Settled::Otherwise(row));
            }
            if row.amount_reserved.is_zero() {
                let account = tx.get(&Account::key(&row.account_id)).await?.map(Box::new);
                return Ok(Settled::Reconcile { transaction: row, account });
            }
            let mut settled = Transaction { status: wanted, ..row.clone() };
            let mut change = row.change().set(Transaction::STATUS, wanted);
            if let Some(trade_status) = trade_status {
                change = change.set(Transaction::TRADE_STATUS, trade_status);
                settled.trade_status = Some(trade_status.to_owned());
            }
            if wanted == Status::Completed {
                change = change.set(Transaction::COMPLETED_AT, now);
                settled.completed_at = Some(now);
            }
            let account = tx.update(paid(&row, wanted));
            tx.update(change.when(Transaction::STATUS.is_in(Status::OPEN)));
            if wanted == Status::Failed
                && let Some(given_back) = given_back(&mut tx, &row).await?
            {
                tx.update(given_back);
            }
            match tx.commit().await? {
                Committed => return Ok(Settled::Done(settled)),
                Canceled(c) if c.only(&account) => {
                    let account = c.current(&account)?.map(Box::new);
                    return Ok(Settled::Reconcile { transaction: row, account });
                }
                Canceled(_) => {}
            }
        }
    }
}

/// Subtracts the amount from its day on the card; `None` if the card does not keep the day.
async fn given_back(
    tx: &mut entity::Transaction<'_>,
    row: &Transaction,
) -> Result<Option<Change<Card>>> {
    let (Some(day), amount) = (row.spend_day, row.amount_usdt) else { return Ok(None) };
    let card = tx.get(&Card::key(&row.card_id)).await?;
    let Some(card) = card.filter(|card| card.spent_on(day) >= amount) else { return Ok(None) };
    if card.spent_day == Some(day) {
        let change = card.change().increment(Card::SPENT_USDT, amount.negated());
        let is_counted = Card::SPENT_DAY.eq(day).and(Card::SPENT_USDT.ge(amount));
        return Ok(Some(change.when(is_counted)));
    }
    let mut days = card.spent_other_days.clone().unwrap_or_default();
    days.insert(day, card.spent_on(day).checked_sub(amount)?);
    Ok(Some(with_other_days(card.change().when(other_days_are(&card)), days)))
}

/// Subtracts the amount from the reservation, and from the balance if the payment is completed. The
/// change does not require the version of the account, only that the amount is there.
fn paid(row: &Transaction, wanted: Status) -> Change<Account> {
    let amount = row.amount_reserved;
    let reserved = Account::reserved_field(row.user_currency);
    let balance = Account::balance_field(row.user_currency);
    let change = Account::key(&row.account_id).change().increment(reserved, amount.negated());
    let change = change.when(reserved.ge(amount));
    match wanted {
        Status::Completed => change.increment(balance, amount.negated()).when(balance.ge(amount)),
        _ => change,
    }
}
