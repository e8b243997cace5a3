//! Faults of transactions and their request tokens.

use tabla_core::ops::{TransactWriteItem, TransactWriteItems, TransactWriteItemsOutput};
use tabla_core::{CancellationCode, CancellationReason, Error, ErrorKind, Expr, Result, Store};

use super::{Fault, FaultStore};

impl<S: Store> FaultStore<S> {
    pub(super) async fn faulty_transact_write(
        &self,
        mut request: TransactWriteItems,
    ) -> Result<TransactWriteItemsOutput> {
        if self.has(Fault::TokenIgnored) {
            request.client_request_token = None;
        }
        if self.has(Fault::TransactionUnconditional) {
            request.items.iter_mut().for_each(without_condition);
        }
        if let Some(token) = &request.client_request_token
            && self.memory().tokens.contains(token)
        {
            return Ok(TransactWriteItemsOutput::default());
        }
        let token = request.client_request_token.clone();
        let answer = self.store.transact_write(request.clone()).await;
        let remembered = match &answer {
            Ok(_) => self.has(Fault::TokenForever),
            Err(_) => self.has(Fault::FailedTokenKept),
        };
        if remembered {
            self.memory().tokens.extend(token);
        }
        match answer {
            Ok(answer) => Ok(self.cheaper(answer)),
            Err(error) => self.faulty_cancellation(request, error).await,
        }
    }

    fn cheaper(&self, mut answer: TransactWriteItemsOutput) -> TransactWriteItemsOutput {
        if self.has(Fault::TransactionCostsOnce) {
            for row in &mut answer.consumed_capacity {
                row.capacity_units /= 2.0;
                row.write_capacity_units = row.write_capacity_units.map(|units| units / 2.0);
                if let Some(table) = &mut row.table {
                    table.capacity_units /= 2.0;
                    table.write_capacity_units =
                        table.write_capacity_units.map(|units| units / 2.0);
                }
            }
        }
        answer
    }

    async fn faulty_cancellation(
        &self,
        mut request: TransactWriteItems,
        error: Error,
    ) -> Result<TransactWriteItemsOutput> {
        match error.kind() {
            ErrorKind::IdempotentParameterMismatch if self.has(Fault::TokenMismatchAccepted) => {
                request.client_request_token = None;
                self.store.transact_write(request).await
            }
            ErrorKind::Validation
                if self.has(Fault::OneItemTwice)
                    && error.message().contains("multiple operations") =>
            {
                for item in request.items {
                    self.alone(item).await?;
                }
                Ok(TransactWriteItemsOutput::default())
            }
            ErrorKind::TransactionCanceled { reasons } => {
                if self.has(Fault::HalfTransaction) {
                    let innocent =
                        |reason: &CancellationReason| reason.code == CancellationCode::None;
                    let before = reasons.iter().take_while(|reason| innocent(reason)).count();
                    for item in request.items.into_iter().take(before) {
                        self.alone(item).await?;
                    }
                }
                Err(self.faulty_reasons(reasons.clone()).unwrap_or(error))
            }
            _ => Err(error),
        }
    }

    /// Cancellation with reasons changed by the fault, if it changes them.
    fn faulty_reasons(&self, mut reasons: Vec<CancellationReason>) -> Option<Error> {
        if self.has(Fault::FirstReasonOnly) {
            let guilty = |reason: &CancellationReason| reason.code != CancellationCode::None;
            let first = reasons.iter().position(guilty);
            for (number, reason) in reasons.iter_mut().enumerate() {
                if Some(number) != first {
                    *reason = CancellationReason::none();
                }
            }
        } else if self.has(Fault::ReasonsOutOfPlace) {
            reasons.retain(|reason| reason.code != CancellationCode::None);
        } else if self.has(Fault::ReasonWithoutItem) {
            for reason in &mut reasons {
                reason.item = None;
            }
        } else {
            return None;
        }
        Some(Error::transaction_canceled(reasons))
    }

    /// Executes an operation of a transaction as a single write.
    async fn alone(&self, item: TransactWriteItem) -> Result<()> {
        match item {
            TransactWriteItem::Put(put) => drop(self.store.put(put).await?),
            TransactWriteItem::Update(update) => drop(self.store.update(update).await?),
            TransactWriteItem::Delete(delete) => drop(self.store.delete(delete).await?),
            TransactWriteItem::ConditionCheck(_) => {}
        }
        Ok(())
    }
}

/// Removes the condition of a write if it is a tree. A text condition stays: without it, its
/// placeholders would be rejected as unused.
fn without_condition(item: &mut TransactWriteItem) {
    let condition = match item {
        TransactWriteItem::Put(put) => &mut put.condition,
        TransactWriteItem::Update(update) => &mut update.condition,
        TransactWriteItem::Delete(delete) => &mut delete.condition,
        TransactWriteItem::ConditionCheck(_) => return,
    };
    condition.take_if(|condition| matches!(condition, Expr::Tree(_)));
}
