//! Stores, tables and records that several of these tests use.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tabla_core::ops::*;
use tabla_core::{Item, KeyType, Store, item};
use tabla_sqlite::{CheckReport, SqliteConfig, SqliteStore};

pub(crate) async fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(&SqliteConfig::file(path)).await.expect("a store")
}

/// Table with a sort key, an index that projects all attributes, and one that projects the keys.
pub(crate) fn orders() -> CreateTable {
    CreateTable::new("orders")
        .partition_key("pk", KeyType::S)
        .sort_key("sk", KeyType::N)
        .attribute("status", KeyType::S)
        .global_index(SecondaryIndex::new("by-status").partition_key("status").sort_key("sk"))
        .global_index(
            SecondaryIndex::new("keys")
                .partition_key("status")
                .projection(IndexProjection::keys_only()),
        )
}

pub(crate) fn order(customer: &str, number: i64, status: &str) -> Item {
    item! { "pk" => customer, "sk" => number, "status" => status, "note" => "x".repeat(100) }
}

pub(crate) async fn fill(store: &dyn Store, orders: i64) {
    for number in 0..orders {
        let status = ["open", "paid", "sent"][number as usize % 3];
        let order = order(&format!("c{}", number % 7), number, status);
        store.put(PutItem::new("orders", order)).await.expect("a put");
    }
}

/// Path of the sample file of the current format.
pub(crate) fn sample_path() -> PathBuf {
    let name = format!("format-{}.db", tabla_sqlite::FORMAT_VERSION);
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Copies the sample file to this folder, and returns the path of the copy.
pub(crate) fn sample(folder: &Path) -> PathBuf {
    let copy = folder.join("sample.db");
    std::fs::copy(sample_path(), &copy).expect("a sample of the current format");
    copy
}

pub(crate) async fn checked(path: &Path) -> CheckReport {
    tabla_sqlite::check(path, |_| ()).await.expect("a readable file of tabla")
}

pub(crate) async fn count(store: &Arc<dyn Store>, index: Option<&str>) -> usize {
    let mut scan = Scan::new("orders").select(Select::Count);
    scan.index = index.map(str::to_owned);
    let mut count = 0;
    loop {
        let page = store.scan(scan.clone()).await.expect("a page");
        count += page.count;
        scan.exclusive_start_key = page.last_evaluated_key;
        if scan.exclusive_start_key.is_none() {
            return count;
        }
    }
}

/// Returns all records of the only stream of a store, shard after shard.
pub(crate) async fn records(store: &dyn Store) -> Vec<Record> {
    let streams = store.list_streams(ListStreams::default()).await.expect("streams").streams;
    records_of(store, &streams[0].arn).await
}

/// Returns all records of a stream, parent shards before their children.
pub(crate) async fn records_of(store: &dyn Store, arn: &StreamArn) -> Vec<Record> {
    let described = store.describe_stream(DescribeStream::new(arn.clone())).await;
    let mut records = Vec::new();
    for shard in described.expect("a stream").shards {
        let (arn, position) = (arn.clone(), ShardPosition::TrimHorizon);
        let begin = GetShardIterator::new(arn, shard.id, position);
        let mut iterator = Some(store.get_shard_iterator(begin).await.expect("an iterator"));
        while let Some(from) = iterator {
            let page = store.get_records(GetRecords::new(from)).await.expect("records");
            iterator = page.next_iterator.filter(|_| !page.records.is_empty());
            records.extend(page.records);
        }
    }
    records
}
