//! Reads of a table's stream.

use std::future::Future;
use std::panic::Location;

use tabla_core::ops::{
    DescribeStream, DescribeTable, GetRecords, GetShardIterator, Record, ShardPosition, StreamArn,
};

use super::{Ctx, fail, ok_at};
use crate::table_spec::Table;

impl Ctx {
    /// ARN of the table's latest stream, which must exist.
    #[track_caller]
    pub fn stream_of<'a>(
        &'a self,
        table: &'a Table,
    ) -> impl Future<Output = StreamArn> + Send + 'a {
        let at = Location::caller();
        async move { self.stream_at(at, table).await }
    }

    /// Reads all records of the table's latest stream, sorted by sequence number: the records of an
    /// item are in the order of its changes.
    ///
    /// A stream of a service may lag: the read is repeated for about 10 seconds until there are
    /// `at_least` records. To prove that an operation wrote no record, follow it with one that
    /// writes a record.
    #[track_caller]
    pub fn records<'a>(
        &'a self,
        table: &'a Table,
        at_least: usize,
    ) -> impl Future<Output = Vec<Record>> + Send + 'a {
        let at = Location::caller();
        async move {
            let arn = self.stream_at(at, table).await;
            if self.is_service() {
                let enough = || async {
                    let records = self.read_stream(at, &arn).await;
                    (records.len() >= at_least).then_some(())
                };
                // If records are still missing, the caller's assertion shows which.
                let _ = self.poll(enough).await;
            }
            self.read_stream(at, &arn).await
        }
    }

    async fn stream_at(&self, at: &Location<'_>, table: &Table) -> StreamArn {
        let description = self.store().describe_table(DescribeTable::new(table)).await;
        match ok_at(at, description).latest_stream_arn {
            Some(arn) => StreamArn(arn),
            None => fail(at, format_args!("the table {table} has no stream")),
        }
    }

    /// Reads all records of a stream, shard by shard, parents before children.
    async fn read_stream(&self, at: &Location<'_>, arn: &StreamArn) -> Vec<Record> {
        let store = self.store();
        let mut records: Vec<Record> = Vec::new();
        let mut describe = DescribeStream::new(arn.clone());
        loop {
            let description = ok_at(at, store.describe_stream(describe.clone()).await);
            for shard in description.shards {
                let position = ShardPosition::TrimHorizon;
                let request = GetShardIterator::new(arn.clone(), shard.id, position);
                let mut next = Some(ok_at(at, store.get_shard_iterator(request).await));
                // An open shard has no end: stop at the first empty page.
                while let Some(iterator) = next {
                    let page = ok_at(at, store.get_records(GetRecords::new(iterator)).await);
                    next = page.next_iterator.filter(|_| !page.records.is_empty());
                    records.extend(page.records);
                }
            }
            describe.exclusive_start_shard = description.last_evaluated_shard;
            if describe.exclusive_start_shard.is_none() {
                // Sequence numbers have 21 to 40 digits.
                records.sort_by_cached_key(|record| format!("{:0>40}", record.sequence_number.0));
                return records;
            }
        }
    }
}
