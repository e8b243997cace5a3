//! The exchange of reserved funds, as far as a transaction knows of it.

use tabla::entity::{Change, Id, Outcome};
use tabla::{Result, RetryMode};

use crate::accounts::CryptoCards;
use crate::entities::*;

impl CryptoCards {
    /// The exchange of an authorised transaction's funds begins: once. [`Outcome::Lost`] has the
    /// transaction as it is.
    ///
    /// # Errors
    /// Those of the store; [`Applied::Maybe`](tabla::Applied::Maybe) if it may have begun.
    pub async fn begin_trade(
        &self,
        id: &Id,
        trade_id: &Id,
        trade_status: &str,
    ) -> Result<Outcome<Transaction>> {
        let change = || {
            Change::at(TransactionKey { transaction_id: id.clone() })
                .set(Transaction::STATUS, Status::Trading)
                .set(Transaction::TRADE_ID, trade_id)
                .set(Transaction::TRADE_STATUS, trade_status)
                .when(Transaction::STATUS.eq(Status::Authorized))
        };
        let is_mine = |row: &Transaction| row.trade_id.as_ref() == Some(trade_id);
        self.change_once(change, is_mine).await
    }

    /// The exchange is tried again, under an id of its own: once for each time that the
    /// transaction was read. [`Outcome::Lost`] has the transaction as it is.
    ///
    /// # Errors
    /// Those of the store; [`Applied::Maybe`](tabla::Applied::Maybe) if it may have been counted.
    pub async fn retry_trade(
        &self,
        read: &Transaction,
        trade_id: &Id,
        trade_status: &str,
    ) -> Result<Outcome<Transaction>> {
        let next = read.retry_count + 1;
        let change = || {
            Change::of(read)
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

    /// Makes a change that can be made only once. If its answer was lost, making it again shows
    /// what stands there, and with that whether it was made.
    async fn change_once(
        &self,
        change: impl Fn() -> Change<Transaction>,
        is_mine: impl Fn(&Transaction) -> bool,
    ) -> Result<Outcome<Transaction>> {
        let mut tries = self.db.start_attempts(RetryMode::Idempotent, "to tell of the exchange");
        loop {
            match tries.check(self.db.update(change()).await)? {
                Some(Outcome::Lost(Some(row))) if tries.may_be_applied() && is_mine(&row) => {
                    return Ok(Outcome::Done(row));
                }
                Some(outcome) => return Ok(outcome),
                None => tries.next_attempt().await?,
            }
        }
    }
}
