//! Exchange of the reserved funds of a transaction.

use tabla::entity::{Change, Id, Outcome};
use tabla::{Applied, Result, RetryMode};

use crate::accounts::CryptoCards;
use crate::entities::*;

impl CryptoCards {
    /// Begins the exchange of an authorised transaction's funds, once. [`Outcome::Lost`] has the
    /// current transaction.
    ///
    /// # Errors
    /// With [`Applied::Maybe`], the exchange may have begun.
    pub async fn begin_trade(
        &self,
        id: &Id,
        trade_id: &Id,
        trade_status: &str,
    ) -> Result<Outcome<Transaction>> {
        let change = || {
            Transaction::key(id)
                .change()
                .set(Transaction::STATUS, Status::Trading)
                .set(Transaction::TRADE_ID, trade_id)
                .set(Transaction::TRADE_STATUS, trade_status)
                .when(Transaction::STATUS.eq(Status::Authorized))
        };
        self.change_once(change, |row| row.trade_id.as_ref() == Some(trade_id)).await
    }

    /// Retries the exchange under a new id, once for a transaction that was read. [`Outcome::Lost`]
    /// has the current transaction.
    ///
    /// # Errors
    /// With [`Applied::Maybe`], the retry may have been counted.
    pub async fn retry_trade(
        &self,
        read: &Transaction,
        trade_id: &Id,
        trade_status: &str,
    ) -> Result<Outcome<Transaction>> {
        let next = read.retry_count + 1;
        let change = || {
            read.change()
                .set(Transaction::RETRY_COUNT, next)
                .set(Transaction::TRADE_ID, trade_id)
                .set(Transaction::TRADE_STATUS, trade_status)
                .when(Transaction::STATUS.eq(Status::Trading))
                .when(Transaction::RETRY_COUNT.eq(read.retry_count))
        };
        let is_mine =
            |row: &Transaction| row.retry_count == next && row.trade_id.as_ref() == Some(trade_id);
        self.change_once(change, is_mine).await
    }

    /// Makes a change whose condition holds only once. After a lost response it is sent again, and the
    /// item of the failed condition tells whether it was applied: a plain write, which a read can
    /// resolve, costs half of a transaction with a token.
    async fn change_once(
        &self,
        change: impl Fn() -> Change<Transaction>,
        is_mine: impl Fn(&Transaction) -> bool,
    ) -> Result<Outcome<Transaction>> {
        let update = || self.db.update(change());
        match self.retries.run(RetryMode::OnlyIfNotApplied, update).await {
            Err(error) if error.applied() == Applied::Maybe => {}
            outcome => return outcome,
        }
        let again = self.retries.run(RetryMode::Idempotent, update).await;
        match again.map_err(|error| error.with_applied(Applied::Maybe))? {
            Outcome::Lost(Some(row)) if is_mine(&row) => Ok(Outcome::Done(row)),
            outcome => Ok(outcome),
        }
    }
}
