//! Parsers of requests on streams.

use tabla_core::ops::{
    DescribeStream, GetRecords, GetShardIterator, ListStreams, SequenceNumber, ShardFilter,
    ShardId, ShardIterator, ShardPosition, StreamArn,
};
use tabla_core::{Error, Result, assign};

use super::{Members, missing};

pub(crate) fn list_streams(members: &Members<'_>) -> Result<ListStreams> {
    Ok(assign!(ListStreams::default(), {
        table: members.text("TableName")?,
        exclusive_start_stream: members.text("ExclusiveStartStreamArn")?.map(StreamArn),
        limit: members.integer("Limit")?,
    }))
}

pub(crate) fn describe_stream(members: &Members<'_>) -> Result<DescribeStream> {
    Ok(assign!(DescribeStream::new(StreamArn(members.need_text("StreamArn")?)), {
        exclusive_start_shard: members.text("ExclusiveStartShardId")?.map(ShardId),
        shard_filter: members.object("ShardFilter")?.map(shard_filter).transpose()?,
        limit: members.integer("Limit")?,
    }))
}

/// Parses a shard filter. `shape` checks that both members are present, and that the type is known.
fn shard_filter(members: Members<'_>) -> Result<ShardFilter> {
    Ok(ShardFilter::ChildrenOf(ShardId(members.need_text("ShardId")?)))
}

pub(crate) fn get_shard_iterator(members: &Members<'_>) -> Result<GetShardIterator> {
    let number = members.text("SequenceNumber")?.map(SequenceNumber);
    let unnumbered = |position| match number {
        None => Ok(position),
        Some(_) => Err(Error::validation(
            "One or more parameter values were invalid: SequenceNumber should not be passed for \
             this iterator type",
        )),
    };
    let numbered = || {
        number.clone().ok_or_else(|| {
            Error::validation("One or more parameter values were invalid: Invalid SequenceNumber")
        })
    };
    let position = match members.need_text("ShardIteratorType")?.as_str() {
        "TRIM_HORIZON" => unnumbered(ShardPosition::TrimHorizon)?,
        "LATEST" => unnumbered(ShardPosition::Latest)?,
        "AT_SEQUENCE_NUMBER" => ShardPosition::At(numbered()?),
        "AFTER_SEQUENCE_NUMBER" => ShardPosition::After(numbered()?),
        // `shape` reports the invalid type.
        _ => return Err(missing("ShardIteratorType")),
    };
    Ok(GetShardIterator::new(
        StreamArn(members.need_text("StreamArn")?),
        ShardId(members.need_text("ShardId")?),
        position,
    ))
}

pub(crate) fn get_records(members: &Members<'_>) -> Result<GetRecords> {
    Ok(GetRecords::new(ShardIterator(members.need_text("ShardIterator")?))
        .limit(members.integer("Limit")?))
}
