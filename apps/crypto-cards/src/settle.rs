//! Completing a transaction, which debits its funds, or failing it, which releases them.

use tabla::entity::{Change, Id, Transacted, UtcTime};
use tabla::{Result, RetryMode};

use crate::accounts::CryptoCards;
use crate::authorise::{other_days_are, with_other_days};
use crate::entities::*;

/// What became of settling a transaction.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Settled {
    /// It is settled as was wanted.
    Done(Transaction),
    /// It was so before: by an earlier call, or by this one whose answer was lost.
    Already(Transaction),
    /// It was settled the other way, for good. Nothing was written.
    Otherwise(Transaction),
    /// There is no such transaction.
    Unknown,
    /// The account has not reserved what the transaction says, or is not there: the books are
    /// wrong, and have to be looked at. Nothing was written.
    Reconcile {
        /// The transaction, which is still open.
        transaction: Transaction,
        /// Its account.
        account: Option<Box<Account>>,
    },
}

/// The two ways to settle.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Complete,
    Fail,
}

impl CryptoCards {
    /// Debits the balance and the reservation of a transaction together, and marks it completed.
    ///
    /// The account need not be what it was when the payment was authorised, and may be suspended:
    /// what is reserved is there.
    ///
    /// # Errors
    /// Those of the store; [`Applied::Maybe`](tabla::Applied::Maybe) if it may be completed: the same call tells later.
    pub async fn complete(&self, id: &Id, trade_status: Option<&str>) -> Result<Settled> {
        self.settle(id, Way::Complete, trade_status, None).await
    }

    /// Releases the reservation of a transaction, marks it failed, and gives its amount back to
    /// its day on the card if the card remembers the day.
    ///
    /// # Errors
    /// Those of the store; [`Applied::Maybe`](tabla::Applied::Maybe) if it may have failed: the same call tells later.
    pub async fn fail(&self, id: &Id, trade_status: Option<&str>) -> Result<Settled> {
        self.settle(id, Way::Fail, trade_status, None).await
    }

    /// Completes as if it were this moment: for data of the past.
    pub(crate) async fn complete_at(&self, id: &Id, now: UtcTime) -> Result<Settled> {
        self.settle(id, Way::Complete, Some("FILLED"), Some(now)).await
    }

    async fn settle(
        &self,
        id: &Id,
        way: Way,
        trade_status: Option<&str>,
        moment: Option<UtcTime>,
    ) -> Result<Settled> {
        let mut tries = self.db.start_attempts(RetryMode::Idempotent, "to settle");
        loop {
            let now = moment.unwrap_or_else(|| self.db.now().second());
            // Whether a try whose answer was lost was carried out shows in the transaction's
            // status, which is read first.
            let tried = self.attempt_to_settle(id, way, trade_status, now).await;
            if let Some(Some(settled)) = tries.check(tried)? {
                return Ok(settled);
            }
            tries.next_attempt().await?;
        }
    }

    /// One attempt; `None` if something has changed, so that all is read again.
    async fn attempt_to_settle(
        &self,
        id: &Id,
        way: Way,
        trade_status: Option<&str>,
        now: UtcTime,
    ) -> Result<Option<Settled>> {
        let Some(row) = self.transaction(id).await? else { return Ok(Some(Settled::Unknown)) };
        let wanted = match way {
            Way::Complete => Status::Completed,
            Way::Fail => Status::Failed,
        };
        if !row.status.is_open() {
            return Ok(Some(match row.status == wanted {
                true => Settled::Already(row),
                false => Settled::Otherwise(row),
            }));
        }
        let mut settled = Transaction { status: wanted, ..row.clone() };
        let mut mark = Change::of(&row)
            .set(Transaction::STATUS, wanted)
            .when(Transaction::STATUS.is_in(Status::OPEN));
        if let Some(trade_status) = trade_status {
            mark = mark.set(Transaction::TRADE_STATUS, trade_status);
            settled.trade_status = Some(trade_status.to_owned());
        }
        if way == Way::Complete {
            mark = mark.set(Transaction::COMPLETED_AT, now);
            settled.completed_at = Some(now);
        }
        let mut transaction = self
            .db
            .transaction()
            .update("account", paid(&row, way))?
            .update("transaction", mark)?;
        if way == Way::Fail
            && let Some(given_back) = self.given_back(&row).await?
        {
            transaction = transaction.update("card", given_back)?;
        }
        match transaction.run().await? {
            Transacted::Done => Ok(Some(Settled::Done(settled))),
            Transacted::Lost(lost) if lost.names() == ["account"] => {
                let account = lost.current("account")?.map(Box::new);
                Ok(Some(Settled::Reconcile { transaction: row, account }))
            }
            Transacted::Lost(_) => Ok(None),
        }
    }

    /// What gives the amount back to its day on the card; `None` if the card has forgotten the day.
    async fn given_back(&self, row: &Transaction) -> Result<Option<Change<Card>>> {
        let (day, amount) = (row.spend_day, row.amount_usdt);
        let card = self.card(&row.card_id).await?;
        let Some(card) = card.filter(|card| card.spent_on(day) >= amount) else { return Ok(None) };
        if card.spent_day == Some(day) {
            let change = Change::of(&card).add(Card::SPENT_USDT, amount.negated());
            let is_there = Card::SPENT_DAY.eq(day).and(Card::SPENT_USDT.ge(amount));
            return Ok(Some(change.when(is_there)));
        }
        let mut days = card.spent_other_days.clone().unwrap_or_default();
        days.insert(day, card.spent_on(day).checked_sub(amount)?);
        let change = Change::of(&card).when(other_days_are(&card));
        Ok(Some(with_other_days(change, days)))
    }
}

/// The account without what was reserved; and, if it is paid, without the amount itself. That the
/// amount is there is enough: whatever else has changed does not matter.
fn paid(row: &Transaction, way: Way) -> Change<Account> {
    let amount = row.amount_reserved;
    let reserved = Account::reserved_field(row.user_currency);
    let balance = Account::balance_field(row.user_currency);
    let change = Change::at(AccountKey { account_id: row.account_id.clone() })
        .add(reserved, amount.negated())
        .when(reserved.ge(amount));
    match way {
        Way::Complete => change.add(balance, amount.negated()).when(balance.ge(amount)),
        Way::Fail => change,
    }
}
