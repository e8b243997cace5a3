//! All mistakes of a request, including those that are not reported first.

use futures::FutureExt;
use tabla_core::ops::{
    BatchWriteItem, DeleteItem, PutItem, TransactWriteItem, TransactWriteItems, UpdateItem,
    WriteRequest,
};
use tabla_core::{Error, Item, MemoryStore, Store, assign};

use super::compare::respond;
use super::history::{History, HistoryOperation, TABLE};

/// Errors with which the specification rejects the parts of a write, each part by itself.
pub(super) fn partial_errors(history: &History, operation: &HistoryOperation) -> Vec<Error> {
    let parts = match operation {
        HistoryOperation::Put(put) => {
            puts(history, put).into_iter().map(HistoryOperation::Put).collect()
        }
        HistoryOperation::Update(update) => {
            updates(update).into_iter().map(HistoryOperation::Update).collect()
        }
        HistoryOperation::Delete(delete) => {
            deletes(delete).into_iter().map(HistoryOperation::Delete).collect()
        }
        HistoryOperation::BatchWrite(request) => batches(history, request),
        HistoryOperation::TransactWrite(request) => transactions(history, request),
        _ => Vec::new(),
    };
    parts.iter().filter_map(|part| refusal(history, part)).collect()
}

/// Error with which the specification rejects an operation on an empty table.
fn refusal(history: &History, operation: &HistoryOperation) -> Option<Error> {
    let store = MemoryStore::new();
    let create = store.create_table(history.shape.create(TABLE));
    create.now_or_never()?.ok()?;
    respond(&store, history, operation).now_or_never()?.err()
}

/// Parts of a put: without its condition, with only its key, and with each other attribute alone.
fn puts(history: &History, put: &PutItem) -> Vec<PutItem> {
    let keys = key_of(history, &put.item);
    let mut parts = vec![assign!(put.clone(), { item: keys.clone() })];
    for (name, value) in put.item.iter().filter(|(name, _)| !keys.contains(name)) {
        parts.push(PutItem::new(TABLE, keys.clone().with(name, value.to_value())));
    }
    parts
}

fn key_of(history: &History, item: &Item) -> Item {
    let is_key = |name: &str| name == "pk" || (name == "sk" && history.shape.sort.is_some());
    let keys = item.iter().filter(|(name, _)| is_key(name));
    keys.map(|(name, value)| (name, value.to_value())).collect()
}

/// Parts of a batch: each write alone, the parts of its puts, and all writes as deletes of
/// their keys.
fn batches(history: &History, request: &BatchWriteItem) -> Vec<HistoryOperation> {
    let writes = || request.requests.values().flatten();
    let parts = writes().flat_map(|write| match write {
        WriteRequest::Put(item) => {
            let parts = puts(history, &PutItem::new(TABLE, item.clone()));
            parts.into_iter().map(|put| WriteRequest::Put(put.item)).collect()
        }
        WriteRequest::Delete(_) => Vec::new(),
    });
    let alone = writes().cloned().chain(parts);
    let alone = alone.map(|write| BatchWriteItem::new().request(TABLE, write));
    let on_keys = writes().fold(BatchWriteItem::new(), |batch, write| match write {
        WriteRequest::Put(item) => batch.delete(TABLE, key_of(history, item)),
        WriteRequest::Delete(key) => batch.delete(TABLE, key.clone()),
    });
    alone.chain([on_keys]).map(HistoryOperation::BatchWrite).collect()
}

/// Parts of an update: without its condition, and with its condition only.
fn updates(update: &UpdateItem) -> Vec<UpdateItem> {
    vec![assign!(update.clone(), { condition: None }), assign!(update.clone(), { update: None })]
}

/// Parts of a delete: without its condition, and with it.
fn deletes(delete: &DeleteItem) -> Vec<DeleteItem> {
    vec![assign!(delete.clone(), { condition: None }), delete.clone()]
}

/// Parts of a transaction: each operation alone, their parts, and all as deletes of their keys.
fn transactions(history: &History, request: &TransactWriteItems) -> Vec<HistoryOperation> {
    let mut parts = Vec::new();
    let mut keys = Vec::new();
    for item in &request.items {
        match item {
            TransactWriteItem::Put(put) => {
                let of_put = puts(history, put);
                keys.push(of_put[0].item.clone());
                parts.extend(of_put.into_iter().map(TransactWriteItem::Put));
            }
            TransactWriteItem::Update(update) => {
                keys.push(update.key.clone());
                let condition = assign!(update.clone(), { condition: None });
                parts.push(TransactWriteItem::Update(condition));
            }
            TransactWriteItem::Delete(delete) => {
                keys.push(delete.key.clone());
                let without = assign!(delete.clone(), { condition: None });
                parts.push(TransactWriteItem::Delete(without));
            }
            TransactWriteItem::ConditionCheck(check) => keys.push(check.key.clone()),
        }
        parts.push(item.clone());
    }
    let transaction = |items: Vec<TransactWriteItem>| {
        HistoryOperation::TransactWrite(assign!(TransactWriteItems::new(), { items }))
    };
    let on_key = |key: &Item| TransactWriteItem::Delete(DeleteItem::new(TABLE, key.clone()));
    let together = transaction(keys.iter().map(on_key).collect());
    parts.into_iter().map(|part| transaction(vec![part])).chain([together]).collect()
}
