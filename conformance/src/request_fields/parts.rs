//! Parts of requests that have fields of their own.

use tabla_core::ops::{
    AttributeDefinition, BatchGetItem, ConditionCheck, CreateTable, DeleteItem, GetItem,
    IndexProjection, IndexUpdate, KeySchemaElement, KeysAndAttributes, ProvisionedThroughput,
    PutItem, SecondaryIndex, SseSpecification, StreamSpecification, TransactGetItems,
    TransactWriteItem, TransactWriteItems, UpdateItem, UpdateTable,
};

/// Request itself, as its only part.
pub(super) fn whole<T>(request: &mut T) -> Vec<&mut T> {
    vec![request]
}

pub(super) fn batch_reads(request: &mut BatchGetItem) -> Vec<&mut KeysAndAttributes> {
    request.requests.values_mut().collect()
}

pub(super) fn transaction_gets(request: &mut TransactGetItems) -> Vec<&mut GetItem> {
    request.items.iter_mut().collect()
}

/// Defines a function that gives the operations of one kind in a transaction.
macro_rules! operations {
    ($($function:ident: $variant:ident($operation:ident);)+) => {
        $(pub(super) fn $function(request: &mut TransactWriteItems) -> Vec<&mut $operation> {
            let operations = request.items.iter_mut().filter_map(|item| match item {
                TransactWriteItem::$variant(operation) => Some(operation),
                _ => None,
            });
            operations.collect()
        })+
    };
}

operations! {
    transaction_puts: Put(PutItem);
    transaction_updates: Update(UpdateItem);
    transaction_deletes: Delete(DeleteItem);
    transaction_checks: ConditionCheck(ConditionCheck);
}

pub(super) fn new_attributes(request: &mut CreateTable) -> Vec<&mut AttributeDefinition> {
    request.attribute_definitions.iter_mut().collect()
}

pub(super) fn new_keys(request: &mut CreateTable) -> Vec<&mut KeySchemaElement> {
    request.key_schema.iter_mut().collect()
}

pub(super) fn new_global_indexes(request: &mut CreateTable) -> Vec<&mut SecondaryIndex> {
    request.global_secondary_indexes.iter_mut().collect()
}

pub(super) fn new_local_indexes(request: &mut CreateTable) -> Vec<&mut SecondaryIndex> {
    request.local_secondary_indexes.iter_mut().collect()
}

fn new_indexes(request: &mut CreateTable) -> impl Iterator<Item = &mut SecondaryIndex> {
    request.global_secondary_indexes.iter_mut().chain(&mut request.local_secondary_indexes)
}

pub(super) fn new_index_keys(request: &mut CreateTable) -> Vec<&mut KeySchemaElement> {
    new_indexes(request).flat_map(|index| &mut index.key_schema).collect()
}

pub(super) fn new_projections(request: &mut CreateTable) -> Vec<&mut IndexProjection> {
    new_indexes(request).map(|index| &mut index.projection).collect()
}

pub(super) fn new_throughput(request: &mut CreateTable) -> Vec<&mut ProvisionedThroughput> {
    request.provisioned_throughput.iter_mut().collect()
}

pub(super) fn new_index_throughput(request: &mut CreateTable) -> Vec<&mut ProvisionedThroughput> {
    new_indexes(request).filter_map(|index| index.provisioned_throughput.as_mut()).collect()
}

pub(super) fn new_stream(request: &mut CreateTable) -> Vec<&mut StreamSpecification> {
    request.stream.iter_mut().collect()
}

pub(super) fn new_sse(request: &mut CreateTable) -> Vec<&mut SseSpecification> {
    request.sse.iter_mut().collect()
}

pub(super) fn added_attributes(request: &mut UpdateTable) -> Vec<&mut AttributeDefinition> {
    request.attribute_definitions.iter_mut().collect()
}

fn added(request: &mut UpdateTable) -> impl Iterator<Item = &mut SecondaryIndex> {
    request.index_updates.iter_mut().filter_map(|update| match update {
        IndexUpdate::Create(index) => Some(index),
        _ => None,
    })
}

pub(super) fn added_indexes(request: &mut UpdateTable) -> Vec<&mut SecondaryIndex> {
    added(request).collect()
}

pub(super) fn added_index_keys(request: &mut UpdateTable) -> Vec<&mut KeySchemaElement> {
    added(request).flat_map(|index| &mut index.key_schema).collect()
}

pub(super) fn added_projections(request: &mut UpdateTable) -> Vec<&mut IndexProjection> {
    added(request).map(|index| &mut index.projection).collect()
}

pub(super) fn added_index_throughput(request: &mut UpdateTable) -> Vec<&mut ProvisionedThroughput> {
    added(request).filter_map(|index| index.provisioned_throughput.as_mut()).collect()
}

pub(super) fn changed_index_throughput(
    request: &mut UpdateTable,
) -> Vec<&mut ProvisionedThroughput> {
    let throughput = request.index_updates.iter_mut().filter_map(|update| match update {
        IndexUpdate::Update { provisioned_throughput, .. } => Some(provisioned_throughput),
        _ => None,
    });
    throughput.collect()
}

pub(super) fn changed_throughput(request: &mut UpdateTable) -> Vec<&mut ProvisionedThroughput> {
    request.provisioned_throughput.iter_mut().collect()
}

pub(super) fn changed_stream(request: &mut UpdateTable) -> Vec<&mut StreamSpecification> {
    request.stream.iter_mut().collect()
}

pub(super) fn changed_sse(request: &mut UpdateTable) -> Vec<&mut SseSpecification> {
    request.sse.iter_mut().collect()
}
