//! All that is wrong with a request, not only what is told first.

use futures::FutureExt;
use tabla_core::ops::{
    BatchWriteItem, DeleteItem, PutItem, TransactWriteItem, TransactWriteItems, UpdateItem,
    WriteRequest,
};
use tabla_core::{Error, Item, MemoryStore, Store, assign};

use super::compare::answer;
use super::history::{History, HistoryOperation, TABLE};

/// What the specification refuses of the parts of a write, each part by itself.
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

/// The specification's refusal by an empty table.
fn refusal(history: &History, operation: &HistoryOperation) -> Option<Error> {
    let store = MemoryStore::new();
    let create = store.create_table(history.shape.create(TABLE));
    create.now_or_never()?.ok()?;
    answer(&store, history, operation).now_or_never()?.err()
}

/// A put without its condition, with nothing but its key, and with each other attribute alone.
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

/// Each write of a batch alone, puts also in their parts; and two of them on one item.
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

/// An update without its condition, and one that only has it.
fn updates(update: &UpdateItem) -> Vec<UpdateItem> {
    vec![assign!(update.clone(), { condition: None }), assign!(update.clone(), { update: None })]
}

/// A delete without its condition, and one that has it.
fn deletes(delete: &DeleteItem) -> Vec<DeleteItem> {
    vec![assign!(delete.clone(), { condition: None }), delete.clone()]
}

/// Each operation of a transaction alone, and in its parts; and two operations on one item.
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
