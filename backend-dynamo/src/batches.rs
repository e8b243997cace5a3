//! Operations on several items: batches and transactions.
//!
//! Requests and responses are converted in `convert`.

use tabla_core::ops::{
    BatchGetItem, BatchGetItemOutput, BatchWriteItem, BatchWriteItemOutput, TransactGetItems,
    TransactGetItemsOutput, TransactWriteItems, TransactWriteItemsOutput,
};
use tabla_core::{Requirement, Result, backend};

use crate::DynamoStore;
use crate::convert::*;
use crate::error::{Access, from_sdk};

impl DynamoStore {
    pub(crate) async fn batch_get_item(&self, request: BatchGetItem) -> Result<BatchGetItemOutput> {
        let BatchGetItem { requests, return_consumed_capacity: asked, .. } = request;
        let output = self
            .client
            .batch_get_item()
            .set_request_items(Some(batch_reads_to_sdk(&self.prefix, requests)?))
            .set_return_consumed_capacity(return_capacity(asked))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Read, error))?;
        let responses: Result<_> = output
            .responses
            .into_iter()
            .flatten()
            .map(|(table, items)| Ok((self.prefix.strip_own(table), items_from_sdk(items)?)))
            .collect();
        let unprocessed = batch_reads_from_sdk(&self.prefix, output.unprocessed_keys)?;
        let consumed = capacities_from_sdk(&self.prefix, asked, output.consumed_capacity);
        Ok(BatchGetItemOutput::new()
            .responses(responses?)
            .unprocessed_keys(unprocessed)
            .consumed_capacity(consumed))
    }

    pub(crate) async fn batch_write_item(
        &self,
        request: BatchWriteItem,
    ) -> Result<BatchWriteItemOutput> {
        let BatchWriteItem {
            requests,
            return_consumed_capacity: asked,
            return_item_collection_metrics: metrics,
            ..
        } = request;
        self.require_metrics(metrics, "batch_write")?;
        let output = self
            .client
            .batch_write_item()
            .set_request_items(Some(batch_writes_to_sdk(&self.prefix, requests)?))
            .set_return_consumed_capacity(return_capacity(asked))
            .set_return_item_collection_metrics(return_metrics(metrics))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Write, error))?;
        let unprocessed = batch_writes_from_sdk(&self.prefix, output.unprocessed_items)?;
        let consumed = capacities_from_sdk(&self.prefix, asked, output.consumed_capacity);
        let metrics = table_metrics_from_sdk(&self.prefix, output.item_collection_metrics)?;
        Ok(BatchWriteItemOutput::new()
            .unprocessed_items(unprocessed)
            .consumed_capacity(consumed)
            .item_collection_metrics(metrics))
    }

    pub(crate) async fn transact_get_items(
        &self,
        request: TransactGetItems,
    ) -> Result<TransactGetItemsOutput> {
        let TransactGetItems { items, return_consumed_capacity: asked, .. } = request;
        self.require(Requirement::Transactions, "transact_get", "")?;
        let items: Result<Vec<_>> =
            items.into_iter().map(|item| transact_get_to_sdk(&self.prefix, item)).collect();
        let output = self
            .client
            .transact_get_items()
            .set_transact_items(Some(items?))
            .set_return_consumed_capacity(return_capacity(asked))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Read, error))?;
        let responses: Result<_> = output
            .responses
            .into_iter()
            .flatten()
            .map(|response| response.item.map(item_from_sdk).transpose())
            .collect();
        let consumed = capacities_from_sdk(&self.prefix, asked, output.consumed_capacity);
        Ok(TransactGetItemsOutput::new(responses?).consumed_capacity(consumed))
    }

    /// Executes a transaction. Without a client request token the SDK draws one per call.
    pub(crate) async fn transact_write_items(
        &self,
        request: TransactWriteItems,
    ) -> Result<TransactWriteItemsOutput> {
        let TransactWriteItems {
            items,
            client_request_token,
            return_consumed_capacity: asked,
            return_item_collection_metrics: metrics,
            ..
        } = request;
        self.require(Requirement::Transactions, "transact_write", "")?;
        self.require_metrics(metrics, "transact_write")?;
        backend::check_transaction_operations(&items)?;
        let items: Result<Vec<_>> = (1..)
            .zip(items)
            .map(|(number, item)| transact_write_to_sdk(&self.prefix, number, item))
            .collect();
        let output = self
            .client
            .transact_write_items()
            .set_transact_items(Some(items?))
            .set_client_request_token(client_request_token)
            .set_return_consumed_capacity(return_capacity(asked))
            .set_return_item_collection_metrics(return_metrics(metrics))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Write, error))?;
        let consumed = capacities_from_sdk(&self.prefix, asked, output.consumed_capacity);
        let metrics = table_metrics_from_sdk(&self.prefix, output.item_collection_metrics)?;
        Ok(TransactWriteItemsOutput::new()
            .consumed_capacity(consumed)
            .item_collection_metrics(metrics))
    }
}
