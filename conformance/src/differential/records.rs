//! Comparison of the stream records of two stores after the same history.

use std::collections::BTreeMap;

use tabla_core::env::{Clock, SystemClock};
use tabla_core::ops::*;
use tabla_core::{Item, Result, Store};

use super::compare::{Difference, LAG_ATTEMPTS, LAG_WAIT};
use super::history::TABLE;

/// Fields of a record that must agree. Its time, sequence number and event id are the store's own.
#[derive(Debug, PartialEq)]
struct RecordSummary {
    event_name: EventName,
    keys: Item,
    old_image: Option<Item>,
    new_image: Option<Item>,
    view_type: StreamViewType,
    user_identity: Option<UserIdentity>,
}

/// Records of each item, by encoded key, in the order of its changes. Records of different items
/// have no defined order.
type ItemHistories = BTreeMap<Vec<u8>, Vec<RecordSummary>>;

/// Compares the streams of both stores.
pub(super) async fn compare(
    specification: &dyn Store,
    compared: &dyn Store,
) -> Result<(), Difference> {
    let expected = item_histories(specification).await;
    let mut actual = item_histories(compared).await;
    // A stream of a service may lag behind its table.
    for _ in 0..LAG_ATTEMPTS {
        if agree(&expected, &actual) || !compared.capabilities().index_reads_lag {
            break;
        }
        SystemClock.sleep(LAG_WAIT).await;
        actual = item_histories(compared).await;
    }
    if agree(&expected, &actual) {
        return Ok(());
    }
    let shown = |histories: &Result<ItemHistories>| match histories {
        Ok(histories) => format!("{:#?}", histories.values().collect::<Vec<_>>()),
        Err(error) => error.to_string(),
    };
    let asked = "stream records of each item".to_owned();
    Err(Difference { asked, expected: shown(&expected), actual: shown(&actual) })
}

fn agree(expected: &Result<ItemHistories>, actual: &Result<ItemHistories>) -> bool {
    matches!((expected, actual), (Ok(expected), Ok(actual)) if expected == actual)
}

/// Reads the stream of the table, shard by shard, parents before children.
async fn item_histories(store: &dyn Store) -> Result<ItemHistories> {
    let table = store.describe_table(DescribeTable::new(TABLE)).await?;
    let arn = StreamArn(table.latest_stream_arn.unwrap_or_default());
    let mut histories = ItemHistories::new();
    let mut describe = DescribeStream::new(arn.clone());
    loop {
        let stream = store.describe_stream(describe.clone()).await?;
        for shard in stream.shards {
            let position = ShardPosition::TrimHorizon;
            let request = GetShardIterator::new(arn.clone(), shard.id, position);
            let mut next = Some(store.get_shard_iterator(request).await?);
            while let Some(iterator) = next {
                let page = store.get_records(GetRecords::new(iterator)).await?;
                next = page.next_iterator.filter(|_| !page.records.is_empty());
                for record in page.records {
                    histories
                        .entry(record.keys.encode().to_vec())
                        .or_default()
                        .push(summarize(record));
                }
            }
        }
        describe.exclusive_start_shard = stream.last_evaluated_shard;
        if describe.exclusive_start_shard.is_none() {
            return Ok(histories);
        }
    }
}

fn summarize(record: Record) -> RecordSummary {
    RecordSummary {
        event_name: record.event_name,
        keys: record.keys,
        old_image: record.old_image,
        new_image: record.new_image,
        view_type: record.view_type,
        user_identity: record.user_identity,
    }
}
