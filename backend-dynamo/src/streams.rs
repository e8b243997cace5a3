//! Operations on streams.
//!
//! Records and positions are converted in `convert`.

use tabla_core::ops::{
    DescribeStream, GetRecords, GetRecordsOutput, GetShardIterator, ListStreams, ListStreamsOutput,
    ShardIterator, StreamArn, StreamDescription,
};
use tabla_core::{Error, ErrorKind, Requirement, Result};

use crate::DynamoStore;
use crate::convert::*;
use crate::error::{Access, from_sdk};

impl DynamoStore {
    /// Lists streams of tables with the store's prefix. A page may be short or empty, because
    /// streams of other prefixes are left out.
    pub(crate) async fn list_own_streams(&self, request: ListStreams) -> Result<ListStreamsOutput> {
        let ListStreams { table, exclusive_start_stream, limit, .. } = request;
        self.require(Requirement::Streams, "list_streams", "")?;
        let output = self
            .streams
            .list_streams()
            .set_table_name(table.map(|table| self.prefix.add(table)))
            .set_exclusive_start_stream_arn(exclusive_start_stream.map(|stream| stream.0))
            .set_limit(limit)
            .send()
            .await
            .map_err(|error| from_sdk(Access::Read, error))?;
        let streams = output
            .streams
            .into_iter()
            .flatten()
            .filter_map(|stream| summary_from_sdk(&self.prefix, stream))
            .collect();
        let last = output.last_evaluated_stream_arn.map(StreamArn);
        Ok(ListStreamsOutput::new(streams).last_evaluated_stream(last))
    }

    pub(crate) async fn stream(&self, request: DescribeStream) -> Result<StreamDescription> {
        let DescribeStream { arn, exclusive_start_shard, shard_filter, limit, .. } = request;
        self.require(Requirement::Streams, "describe_stream", "")?;
        let output = self
            .streams
            .describe_stream()
            .stream_arn(arn.0)
            .set_exclusive_start_shard_id(exclusive_start_shard.map(|shard| shard.0))
            .set_shard_filter(shard_filter.map(filter_to_sdk))
            .set_limit(limit)
            .send()
            .await
            .map_err(|error| from_sdk(Access::Read, error))?;
        let description =
            output.stream_description.ok_or_else(|| empty_output_error("describe_stream"))?;
        stream_description_from_sdk(&self.prefix, description)
    }

    pub(crate) async fn shard_iterator(&self, request: GetShardIterator) -> Result<ShardIterator> {
        let GetShardIterator { arn, shard, position, .. } = request;
        self.require(Requirement::Streams, "get_shard_iterator", "")?;
        let (kind, place) = position_to_sdk(position);
        let output = self
            .streams
            .get_shard_iterator()
            .stream_arn(arn.0)
            .shard_id(shard.0)
            .shard_iterator_type(kind)
            .set_sequence_number(place)
            .send()
            .await
            .map_err(|error| from_sdk(Access::Read, error))?;
        output
            .shard_iterator
            .map(ShardIterator)
            .ok_or_else(|| empty_output_error("get_shard_iterator"))
    }

    pub(crate) async fn records(&self, request: GetRecords) -> Result<GetRecordsOutput> {
        let GetRecords { iterator, limit, .. } = request;
        self.require(Requirement::Streams, "get_records", "")?;
        let output = self
            .streams
            .get_records()
            .shard_iterator(iterator.0)
            .set_limit(limit)
            .send()
            .await
            .map_err(|error| from_sdk(Access::Read, error))?;
        let records: Result<_> =
            output.records.into_iter().flatten().map(record_from_sdk).collect();
        let next = output.next_shard_iterator.map(ShardIterator);
        Ok(GetRecordsOutput::new(records?).next_iterator(next))
    }
}

/// Returns the error of a response without its result.
pub(crate) fn empty_output_error(operation: &str) -> Error {
    Error::new(
        ErrorKind::Unexpected,
        format!("the service returned an empty response to `{operation}`"),
    )
}
