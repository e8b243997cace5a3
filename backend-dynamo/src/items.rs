//! Operations on one item, and pages of queries and scans.
//!
//! Reads without the SDK's maps are in `direct_read`.

use aws_sdk_dynamodb::types::{ConsumedCapacity, ItemCollectionMetrics};
use tabla_core::expr::{ExpressionKind, Values};
use tabla_core::ops::{
    DeleteItem, GetItem, GetItemOutput, Page, PutItem, Query, ReturnConsumedCapacity, Scan,
    UpdateItem, WriteOutput,
};
use tabla_core::{DynamoJson, Result};

use crate::DynamoStore;
use crate::convert::*;
use crate::direct_read::{self, DirectOutput, DirectRead};
use crate::error::{Access, from_sdk};

impl DynamoStore {
    pub(crate) async fn get_item(&self, request: GetItem) -> Result<GetItemOutput> {
        let GetItem {
            table,
            key,
            projection,
            names,
            consistent_read,
            return_consumed_capacity,
            ..
        } = request;
        let mut expressions = Expressions::new(names, Values::new());
        let projection = expressions.projection(projection)?;
        let call = self
            .client
            .get_item()
            .table_name(self.prefix.add(table))
            .set_key(Some(item_to_sdk(key)?))
            .set_projection_expression(projection)
            .set_expression_attribute_names(expressions.finish()?.names)
            .set_consistent_read(true_or_absent(consistent_read))
            .set_return_consumed_capacity(return_capacity(return_consumed_capacity))
            .send();
        let (output, direct) =
            direct_read::read(DirectRead::GetItem, return_consumed_capacity, call)
                .await
                .map_err(|error| from_sdk(Access::Read, error))?;
        let item = match direct {
            Some(direct) => direct.item.map(|DynamoJson(item)| item),
            None => output.item.map(item_from_sdk).transpose()?,
        };
        let consumed = self.capacity(return_consumed_capacity, output.consumed_capacity);
        Ok(GetItemOutput::new(item).consumed_capacity(consumed))
    }

    pub(crate) async fn put_item(&self, request: PutItem) -> Result<WriteOutput> {
        let PutItem {
            table,
            item,
            condition,
            names,
            values,
            return_values: returned,
            return_values_on_condition_check_failure: returned_on_failure,
            return_consumed_capacity: asked,
            return_item_collection_metrics: metrics,
            ..
        } = request;
        self.require_metrics(metrics, "put")?;
        let mut expressions = Expressions::new(names, values);
        let condition = expressions.condition(ExpressionKind::Condition, condition)?;
        let placeholders = expressions.finish()?;
        let output = self
            .client
            .put_item()
            .table_name(self.prefix.add(table))
            .set_item(Some(item_to_sdk(item)?))
            .set_condition_expression(condition)
            .set_expression_attribute_names(placeholders.names)
            .set_expression_attribute_values(placeholders.values)
            .set_return_values(return_values(returned))
            .set_return_values_on_condition_check_failure(on_failure(returned_on_failure))
            .set_return_consumed_capacity(return_capacity(asked))
            .set_return_item_collection_metrics(return_metrics(metrics))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Write, error))?;
        self.write_output(
            asked,
            output.attributes,
            output.consumed_capacity,
            output.item_collection_metrics,
        )
    }

    pub(crate) async fn update_item(&self, request: UpdateItem) -> Result<WriteOutput> {
        let UpdateItem {
            table,
            key,
            update,
            condition,
            names,
            values,
            return_values: returned,
            return_values_on_condition_check_failure: returned_on_failure,
            return_consumed_capacity: asked,
            return_item_collection_metrics: metrics,
            ..
        } = request;
        self.require_metrics(metrics, "update")?;
        let mut expressions = Expressions::new(names, values);
        let update = expressions.update(update)?;
        let condition = expressions.condition(ExpressionKind::Condition, condition)?;
        let placeholders = expressions.finish()?;
        let output = self
            .client
            .update_item()
            .table_name(self.prefix.add(table))
            .set_key(Some(item_to_sdk(key)?))
            .set_update_expression(update)
            .set_condition_expression(condition)
            .set_expression_attribute_names(placeholders.names)
            .set_expression_attribute_values(placeholders.values)
            .set_return_values(return_values(returned))
            .set_return_values_on_condition_check_failure(on_failure(returned_on_failure))
            .set_return_consumed_capacity(return_capacity(asked))
            .set_return_item_collection_metrics(return_metrics(metrics))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Write, error))?;
        self.write_output(
            asked,
            output.attributes,
            output.consumed_capacity,
            output.item_collection_metrics,
        )
    }

    pub(crate) async fn delete_item(&self, request: DeleteItem) -> Result<WriteOutput> {
        let DeleteItem {
            table,
            key,
            condition,
            names,
            values,
            return_values: returned,
            return_values_on_condition_check_failure: returned_on_failure,
            return_consumed_capacity: asked,
            return_item_collection_metrics: metrics,
            ..
        } = request;
        self.require_metrics(metrics, "delete")?;
        let mut expressions = Expressions::new(names, values);
        let condition = expressions.condition(ExpressionKind::Condition, condition)?;
        let placeholders = expressions.finish()?;
        let output = self
            .client
            .delete_item()
            .table_name(self.prefix.add(table))
            .set_key(Some(item_to_sdk(key)?))
            .set_condition_expression(condition)
            .set_expression_attribute_names(placeholders.names)
            .set_expression_attribute_values(placeholders.values)
            .set_return_values(return_values(returned))
            .set_return_values_on_condition_check_failure(on_failure(returned_on_failure))
            .set_return_consumed_capacity(return_capacity(asked))
            .set_return_item_collection_metrics(return_metrics(metrics))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Write, error))?;
        self.write_output(
            asked,
            output.attributes,
            output.consumed_capacity,
            output.item_collection_metrics,
        )
    }

    pub(crate) async fn query_page(&self, request: Query) -> Result<Page> {
        let Query {
            table,
            index,
            key_condition,
            filter,
            projection,
            names,
            values,
            select: selected,
            limit,
            scan_index_forward,
            consistent_read,
            exclusive_start_key,
            return_consumed_capacity: asked,
            ..
        } = request;
        let mut expressions = Expressions::new(names, values);
        let key_condition = expressions.condition(ExpressionKind::KeyCondition, key_condition)?;
        let filter = expressions.condition(ExpressionKind::Filter, filter)?;
        let projection = expressions.projection(projection)?;
        let placeholders = expressions.finish()?;
        let call = self
            .client
            .query()
            .table_name(self.prefix.add(table))
            .set_index_name(index)
            .set_key_condition_expression(key_condition)
            .set_filter_expression(filter)
            .set_projection_expression(projection)
            .set_expression_attribute_names(placeholders.names)
            .set_expression_attribute_values(placeholders.values)
            .set_select(selected.map(select))
            .set_limit(limit)
            .set_scan_index_forward((!scan_index_forward).then_some(false))
            .set_consistent_read(true_or_absent(consistent_read))
            .set_exclusive_start_key(exclusive_start_key.map(item_to_sdk).transpose()?)
            .set_return_consumed_capacity(return_capacity(asked))
            .send();
        let (output, direct) = direct_read::read(DirectRead::Query, asked, call)
            .await
            .map_err(|error| from_sdk(Access::Read, error))?;
        if let Some(direct) = direct {
            return Ok(direct.into_page());
        }
        Ok(Page::new(items_from_sdk(output.items.unwrap_or_default())?)
            .count(page_count(output.count))
            .scanned_count(page_count(output.scanned_count))
            .last_evaluated_key(last_key(output.last_evaluated_key)?)
            .consumed_capacity(self.capacity(asked, output.consumed_capacity)))
    }

    pub(crate) async fn scan_page(&self, request: Scan) -> Result<Page> {
        let Scan {
            table,
            index,
            filter,
            projection,
            names,
            values,
            select: selected,
            limit,
            segment,
            total_segments,
            consistent_read,
            exclusive_start_key,
            return_consumed_capacity: asked,
            ..
        } = request;
        let mut expressions = Expressions::new(names, values);
        let filter = expressions.condition(ExpressionKind::Filter, filter)?;
        let projection = expressions.projection(projection)?;
        let placeholders = expressions.finish()?;
        let call = self
            .client
            .scan()
            .table_name(self.prefix.add(table))
            .set_index_name(index)
            .set_filter_expression(filter)
            .set_projection_expression(projection)
            .set_expression_attribute_names(placeholders.names)
            .set_expression_attribute_values(placeholders.values)
            .set_select(selected.map(select))
            .set_limit(limit)
            .set_segment(segment)
            .set_total_segments(total_segments)
            .set_consistent_read(true_or_absent(consistent_read))
            .set_exclusive_start_key(exclusive_start_key.map(item_to_sdk).transpose()?)
            .set_return_consumed_capacity(return_capacity(asked))
            .send();
        let (output, direct) = direct_read::read(DirectRead::Scan, asked, call)
            .await
            .map_err(|error| from_sdk(Access::Read, error))?;
        if let Some(direct) = direct {
            return Ok(direct.into_page());
        }
        Ok(Page::new(items_from_sdk(output.items.unwrap_or_default())?)
            .count(page_count(output.count))
            .scanned_count(page_count(output.scanned_count))
            .last_evaluated_key(last_key(output.last_evaluated_key)?)
            .consumed_capacity(self.capacity(asked, output.consumed_capacity)))
    }

    fn write_output(
        &self,
        asked: ReturnConsumedCapacity,
        attributes: Option<Attributes>,
        consumed: Option<ConsumedCapacity>,
        metrics: Option<ItemCollectionMetrics>,
    ) -> Result<WriteOutput> {
        Ok(WriteOutput::new()
            .attributes(attributes.map(item_from_sdk).transpose()?)
            .consumed_capacity(self.capacity(asked, consumed))
            .item_collection_metrics(metrics_from_sdk(metrics)?))
    }

    fn capacity(
        &self,
        asked: ReturnConsumedCapacity,
        consumed: Option<ConsumedCapacity>,
    ) -> Option<tabla_core::ops::ConsumedCapacity> {
        capacity_from_sdk(&self.prefix, asked, consumed)
    }
}

impl DirectOutput {
    fn into_page(self) -> Page {
        let last_key = self.last_evaluated_key.map(|DynamoJson(key)| key);
        Page::new(self.items.into_iter().map(|DynamoJson(item)| item).collect())
            .count(page_count(self.count))
            .scanned_count(page_count(self.scanned_count))
            .last_evaluated_key(last_key.filter(|key| !key.is_empty()))
    }
}

/// Converts a count of the service, a signed 32-bit number; a negative one becomes 0.
fn page_count(count: i32) -> usize {
    usize::try_from(count).unwrap_or_default()
}

/// Converts the last evaluated key. Some engines return an empty key at the end, which becomes
/// `None`.
fn last_key(key: Option<Attributes>) -> Result<Option<tabla_core::Item>> {
    key.filter(|key| !key.is_empty()).map(item_from_sdk).transpose()
}
