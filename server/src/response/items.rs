//! Writers of responses with items.

use tabla_core::Item;
use tabla_core::expr::{Expr, Projection};
use tabla_core::ops::{
    BatchGetItemOutput, BatchWriteItemOutput, GetItemOutput, KeysAndAttributes, Page,
    TransactGetItemsOutput, TransactWriteItemsOutput, WriteOutput, WriteRequest,
};

use super::{Array, Object, capacity, object, object_with_items};

pub(crate) fn get(output: &GetItemOutput) -> Vec<u8> {
    object_with_items(&output.item, |answer| {
        if let Some(item) = &output.item {
            answer.item("Item", item);
        }
        capacity::one(answer, output.consumed_capacity.as_ref());
    })
}

pub(crate) fn write(output: &WriteOutput) -> Vec<u8> {
    object_with_items(&output.attributes, |answer| {
        if let Some(attributes) = &output.attributes {
            answer.item("Attributes", attributes);
        }
        capacity::one(answer, output.consumed_capacity.as_ref());
        capacity::collection(answer, output.item_collection_metrics.as_ref());
    })
}

/// Returns a page of Query or Scan, without items if `only_counts` is set.
pub(crate) fn page(page: &Page, only_counts: bool) -> Vec<u8> {
    let found = if only_counts { &[] } else { &page.items[..] };
    object_with_items(found, |answer| {
        if !only_counts {
            answer.array("Items", |array| items(array, found));
        }
        answer.number("Count", page.count);
        answer.number("ScannedCount", page.scanned_count);
        if let Some(key) = &page.last_evaluated_key {
            answer.item("LastEvaluatedKey", key);
        }
        capacity::one(answer, page.consumed_capacity.as_ref());
    })
}

fn items(array: &mut Array<'_>, items: &[Item]) {
    for item in items {
        array.item(item);
    }
}

pub(crate) fn batch_get(output: &BatchGetItemOutput) -> Vec<u8> {
    object_with_items(output.responses.values().flatten(), |answer| {
        answer.object("Responses", |object| {
            for (table, found) in &output.responses {
                object.array(table, |array| items(array, found));
            }
        });
        answer.object("UnprocessedKeys", |object| {
            for (table, keys) in &output.unprocessed_keys {
                object.object(table, |object| unprocessed(object, keys));
            }
        });
        capacity::several(answer, &output.consumed_capacity);
    })
}

/// Writes unprocessed keys, in the form in which a client can send them again.
fn unprocessed(object: &mut Object<'_>, keys: &KeysAndAttributes) {
    object.array("Keys", |array| items(array, &keys.keys));
    match &keys.projection {
        Some(Expr::Text(text)) => object.text("ProjectionExpression", text),
        Some(Expr::Tree(projection)) => attributes_to_get(object, projection),
        None => {}
    }
    if !keys.names.is_empty() {
        object.object("ExpressionAttributeNames", |object| {
            for (placeholder, name) in &keys.names {
                object.text(placeholder, name);
            }
        });
    }
    if keys.consistent_read {
        object.flag("ConsistentRead", true);
    }
}

/// Writes a projection that the request had as `AttributesToGet`.
fn attributes_to_get(object: &mut Object<'_>, projection: &Projection) {
    object.array("AttributesToGet", |array| {
        for path in projection.paths() {
            array.text(path.root());
        }
    });
}

pub(crate) fn batch_write(output: &BatchWriteItemOutput) -> Vec<u8> {
    object(|answer| {
        answer.object("UnprocessedItems", |object| {
            for (table, writes) in &output.unprocessed_items {
                object.array(table, |array| write_requests(array, writes));
            }
        });
        capacity::collections(answer, &output.item_collection_metrics);
        capacity::several(answer, &output.consumed_capacity);
    })
}

fn write_requests(array: &mut Array<'_>, writes: &[WriteRequest]) {
    for write in writes {
        array.object(|object| match write {
            WriteRequest::Put(item) => {
                object.object("PutRequest", |object| object.item("Item", item));
            }
            WriteRequest::Delete(key) => {
                object.object("DeleteRequest", |object| object.item("Key", key));
            }
        });
    }
}

pub(crate) fn transact_get(output: &TransactGetItemsOutput) -> Vec<u8> {
    object_with_items(output.responses.iter().flatten(), |answer| {
        answer.array("Responses", |array| {
            for found in &output.responses {
                array.object(|object| {
                    if let Some(item) = found {
                        object.item("Item", item);
                    }
                });
            }
        });
        capacity::several(answer, &output.consumed_capacity);
    })
}

pub(crate) fn transact_write(output: &TransactWriteItemsOutput) -> Vec<u8> {
    object(|answer| {
        capacity::several(answer, &output.consumed_capacity);
        capacity::collections(answer, &output.item_collection_metrics);
    })
}
