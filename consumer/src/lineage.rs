//! Streams of a table with their shards, and the order in which shards become ready.
//!
//! Whether a ready shard is free is decided in `worker`.

use std::collections::BTreeMap;

use super::checkpoint_table::ShardEntry;
use tabla_core::Result;
use tabla_core::Store;
use tabla_core::ops::{DescribeStream, ListStreams, Shard, ShardId, StreamArn, StreamSummary};

/// Stream with all its shards.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    pub(super) arn: StreamArn,
    pub(super) label: String,
    pub(super) shards: Vec<Shard>,
}

impl Stream {
    /// Returns the shards with their references.
    pub(super) fn shard_refs(&self) -> Vec<(ShardRef, Shard)> {
        let place = |shard: &Shard| ShardRef {
            arn: self.arn.clone(),
            label: self.label.clone(),
            shard: shard.id.clone(),
            parent: shard.parent.clone(),
        };
        self.shards.iter().map(|shard| (place(shard), shard.clone())).collect()
    }
}

/// Reference to a shard: its stream, its id and its parent.
#[derive(Clone, Debug)]
pub(super) struct ShardRef {
    pub(super) arn: StreamArn,
    pub(super) label: String,
    pub(super) shard: ShardId,
    pub(super) parent: Option<ShardId>,
}

/// Lists the streams of a table, oldest first: labels are times in an order-preserving notation.
pub(super) async fn streams_of(store: &impl Store, table: &str) -> Result<Vec<Stream>> {
    let mut summaries: Vec<StreamSummary> = Vec::new();
    let mut list = ListStreams::of_table(table);
    loop {
        let page = store.list_streams(list.clone()).await?;
        summaries.extend(page.streams);
        list.exclusive_start_stream = page.last_evaluated_stream;
        if list.exclusive_start_stream.is_none() {
            break;
        }
    }
    summaries.sort_by(|one, other| one.label.cmp(&other.label));
    let mut streams = Vec::new();
    for StreamSummary { arn, label, .. } in summaries {
        match shards_of(store, &arn).await {
            Ok(shards) => streams.push(Stream { arn, label, shards }),
            // The stream was deleted after it was listed.
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(streams)
}

async fn shards_of(store: &impl Store, arn: &StreamArn) -> Result<Vec<Shard>> {
    let mut shards = Vec::new();
    let mut describe = DescribeStream::new(arn.clone());
    loop {
        let page = store.describe_stream(describe.clone()).await?;
        shards.extend(page.shards);
        describe.exclusive_start_shard = page.last_evaluated_shard;
        if describe.exclusive_start_shard.is_none() {
            return Ok(shards);
        }
    }
}

/// Returns the shards that are ready: not finished, their parents finished or deleted, and every
/// older stream of the table finished.
///
/// A parent or an older stream that is not listed but has an unfinished entry still blocks. A
/// worker may be processing it, or has to report a gap in it first.
pub(super) fn ready(streams: &[Stream], entries: &[ShardEntry]) -> Vec<ShardRef> {
    let by_shard: BTreeMap<(&str, &str), &ShardEntry> =
        entries.iter().map(|entry| ((entry.label(), entry.shard.as_str()), entry)).collect();
    let is_finished = |label: &str, shard: &ShardId| {
        by_shard.get(&(label, shard.0.as_str())).is_some_and(|entry| entry.finished)
    };
    for stream in streams {
        let is_behind_unlisted = entries.iter().any(|entry| {
            let is_listed = || streams.iter().any(|stream| stream.label == entry.label());
            entry.label() < stream.label.as_str() && !entry.finished && !is_listed()
        });
        if is_behind_unlisted {
            return Vec::new();
        }
        let is_listed = |shard: &ShardId| stream.shards.iter().any(|listed| listed.id == *shard);
        let is_done = |shard: &ShardId| match by_shard.get(&(&stream.label, &shard.0)) {
            Some(entry) => entry.finished,
            None => !is_listed(shard),
        };
        let has_unlisted = entries.iter().any(|entry| {
            entry.label() == stream.label
                && !entry.finished
                && !is_listed(&ShardId(entry.shard.clone()))
        });
        let mut is_last = has_unlisted;
        let mut places = Vec::new();
        for (place, _) in stream.shard_refs() {
            if is_finished(&stream.label, &place.shard) {
                continue;
            }
            is_last = true;
            if place.parent.as_ref().is_none_or(is_done) {
                places.push(place);
            }
        }
        if is_last {
            return places;
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabla_core::ops::SequenceNumber;

    fn stream(label: &str, shards: &[(&str, Option<&str>)]) -> Stream {
        let shard = |(id, parent): &(&str, Option<&str>)| {
            Shard::new(ShardId::from(*id), SequenceNumber::from("1"))
                .parent(parent.map(ShardId::from))
        };
        Stream {
            arn: StreamArn(format!("arn/{label}")),
            label: label.to_owned(),
            shards: shards.iter().map(shard).collect(),
        }
    }

    fn entry(label: &str, shard: &str, finished: bool) -> ShardEntry {
        let place = ShardRef {
            arn: StreamArn(format!("arn/{label}")),
            label: label.to_owned(),
            shard: ShardId::from(shard),
            parent: None,
        };
        ShardEntry { finished, ..ShardEntry::new("c", "t", &place) }
    }

    fn ready_ids(streams: &[Stream], entries: &[ShardEntry]) -> Vec<String> {
        ready(streams, entries).into_iter().map(|place| place.shard.0).collect()
    }

    #[test]
    fn child_shard_waits_for_its_parent() {
        let streams = [stream(
            "1",
            &[("a", None), ("b", Some("a")), ("c", Some("b")), ("d", Some("deleted"))],
        )];
        assert_eq!(ready_ids(&streams, &[]), ["a", "d"]);
        assert_eq!(ready_ids(&streams, &[entry("1", "a", false)]), ["a", "d"]);
        assert_eq!(ready_ids(&streams, &[entry("1", "a", true)]), ["b", "d"]);
        // The parent is not listed any more, but its entry is unfinished.
        assert_eq!(ready_ids(&streams, &[entry("1", "deleted", false)]), ["a"]);
        assert_eq!(ready_ids(&streams, &[entry("1", "deleted", true)]), ["a", "d"]);
    }

    #[test]
    fn newer_stream_waits_for_all_older_ones() {
        let streams = [stream("1", &[("a", None)]), stream("2", &[("b", None)])];
        assert_eq!(ready_ids(&streams, &[]), ["a"]);
        assert_eq!(ready_ids(&streams, &[entry("1", "a", true)]), ["b"]);
        // A shard of the same id in another stream is another shard.
        assert_eq!(ready_ids(&streams, &[entry("2", "a", true)]), ["a"]);
        // The older stream no longer lists one shard, and a still older stream is deleted.
        let unlisted = [entry("1", "a", true), entry("1", "z", false)];
        assert_eq!(ready_ids(&streams, &unlisted), [""; 0]);
        let unlisted = [entry("0", "z", false)];
        assert_eq!(ready_ids(&streams, &unlisted), [""; 0]);
        assert_eq!(ready_ids(&streams, &[entry("0", "z", true)]), ["a"]);
    }

    #[test]
    fn stream_without_shards_does_not_block() {
        let streams = [stream("1", &[]), stream("2", &[("b", None)])];
        assert_eq!(ready_ids(&streams, &[]), ["b"]);
    }
}
