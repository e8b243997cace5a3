//! Reading the stream of a table.

use std::future::Future;
use std::panic::Location;

use tabla_core::ops::{
    DescribeStream, DescribeTable, GetRecords, GetShardIterator, Record, ShardPosition, StreamArn,
};

use super::{Ctx, fail, ok_at};
use crate::table_spec::Table;

impl Ctx {
    /// The latest stream of a table.
    #[track_caller]
    pub fn stream_of<'a>(
        &'a self,
        table: &'a Table,
    ) -> impl Future<Output = StreamArn> + Send + 'a {
        let at = Location::caller();
        async move { self.stream_at(at, table).await }
    }

    /// All records of the table's latest stream, in the order of their sequence numbers: the
    /// records of an item are in the order of its changes.
    ///
    /// A stream may lag behind on a service: there, records are awaited until there are at least
    /// `at_least` of them, up to a bound. To prove that something wrote no record, write something
    /// that does after it.
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
                // What is missing is then missing in the records that are returned.
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

    /// All records that can be read of a stream, shard after shard, parents before children.
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
                // An open shard has no end: it is read until it has nothing more for now.
                while let Some(iterator) = next {
                    let page = ok_at(at, store.get_records(GetRecords::new(iterator)).await);
                    next = page.next_iterator.filter(|_| !page.records.is_empty());
                    records.extend(page.records);
                }
            }
            describe.exclusive_start_shard = description.last_evaluated_shard;
            if describe.exclusive_start_shard.is_none() {
                // Numbers are told in 21 to 40 digits.
                records.sort_by_cached_key(|record| format!("{:0>40}", record.sequence_number.0));
                return records;
            }
        }
    }
}
