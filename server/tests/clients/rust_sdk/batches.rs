//! Batches of writes and gets.

use aws_sdk_dynamodb::types::{DeleteRequest, KeysAndAttributes, PutRequest, WriteRequest};

use super::{Attributes, Sdk, invalid, numbers, order};

pub(super) async fn check(sdk: &Sdk) {
    batch_puts_and_deletes_in_several_tables(sdk).await;
    batch_with_duplicate_keys_writes_nothing(sdk).await;
}

fn put(item: Attributes) -> WriteRequest {
    let put = PutRequest::builder().set_item(Some(item)).build().expect("all fields are set");
    WriteRequest::builder().put_request(put).build()
}

fn delete(key: Attributes) -> WriteRequest {
    let delete = DeleteRequest::builder().set_key(Some(key)).build().expect("all fields are set");
    WriteRequest::builder().delete_request(delete).build()
}

fn keys(keys: impl IntoIterator<Item = Attributes>) -> KeysAndAttributes {
    let keys = KeysAndAttributes::builder().set_keys(Some(keys.into_iter().collect()));
    keys.consistent_read(true).build().expect("all fields are set")
}

async fn batch_puts_and_deletes_in_several_tables(sdk: &Sdk) {
    let (one, other) = (sdk.table("Batch-one").await, sdk.table("Batch-other").await);
    sdk.put(&one, order("ana", 0)).await;
    let mut writes: Vec<_> = (1..=20).map(|number| put(order("ana", number))).collect();
    writes.push(delete(order("ana", 0)));
    let batch = sdk.client.batch_write_item().request_items(&one, writes);
    let written = batch.request_items(&other, vec![put(order("eva", 1))]).send().await;
    let left = written.expect("the batch is written").unprocessed_items;
    assert!(left.is_none_or(|left| left.is_empty()));

    let batch = sdk.client.batch_get_item();
    let answer = batch
        .request_items(&one, keys((0..=20).map(|number| order("ana", number))))
        .request_items(&other, keys([order("eva", 1), order("eva", 2)]))
        .send()
        .await
        .expect("the batch is read");
    assert!(answer.unprocessed_keys().is_none_or(|left| left.is_empty()));
    let found = answer.responses().expect("the response has items");
    let mut of_one = numbers(&found[&one]);
    of_one.sort();
    assert_eq!(of_one, Vec::from_iter(1..=20));
    assert_eq!(found[&other], [order("eva", 1)]);
}

async fn batch_with_duplicate_keys_writes_nothing(sdk: &Sdk) {
    let table = sdk.table("Batch-refused").await;
    let twice = vec![put(order("ana", 1)), put(order("ana", 1))];
    let batch = sdk.client.batch_write_item().request_items(&table, twice).send().await;
    let error = batch.expect_err("the batch puts one item twice").into_service_error();
    assert_eq!(invalid(&error), "Provided list of item keys contains duplicates");
    assert_eq!(sdk.get(&table, order("ana", 1)).await, None);
}
