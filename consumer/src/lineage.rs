//! The streams of a table and their shards, and which of them may be begun.

use std::collections::BTreeMap;

use super::checkpoint_table::ShardEntry;
use tabla_core::Result;
use tabla_core::Store;
use tabla_core::ops::{DescribeStream, ListStreams, Shard, ShardId, StreamArn, StreamSummary};

/// A stream with all its shards.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    pub(super) arn: StreamArn,
    pub(super) label: String,
    pub(super) shards: Vec<Shard>,
}

impl Stream {
    /// Its shards, each with its place.
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

/// A shard, and where it is.
#[derive(Clone, Debug)]
pub(super) struct ShardRef {
    pub(super) arn: StreamArn,
    pub(super) label: String,
    pub(super) shard: ShardId,
    pub(super) parent: Option<ShardId>,
}

/// The streams of a table, the oldest first: labels are times in an order-preserving notation.
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
            // It was forgotten since it was listed.
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

/// The shards that are to be worked on: not finished, their parents finished or gone, and every
/// older stream of the table finished.
///
/// A parent or an older stream that is no longer listed but has an unfinished entry is not gone
/// yet: somebody may still be at it, or has to say first that a part of it was lost.
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
    fn children_wait_for_their_parents() {
        let streams =
            [stream("1", &[("a", None), ("b", Some("a")), ("c", Some("b")), ("d", Some("gone"))])];
        assert_eq!(ready_ids(&streams, &[]), ["a", "d"]);
        assert_eq!(ready_ids(&streams, &[entry("1", "a", false)]), ["a", "d"]);
        assert_eq!(ready_ids(&streams, &[entry("1", "a", true)]), ["b", "d"]);
        // It is not listed any more, but somebody was at it.
        assert_eq!(ready_ids(&streams, &[entry("1", "gone", false)]), ["a"]);
        assert_eq!(ready_ids(&streams, &[entry("1", "gone", true)]), ["a", "d"]);
    }

    #[test]
    fn a_newer_stream_waits_for_all_older_ones() {
        let streams = [stream("1", &[("a", None)]), stream("2", &[("b", None)])];
        assert_eq!(ready_ids(&streams, &[]), ["a"]);
        assert_eq!(ready_ids(&streams, &[entry("1", "a", true)]), ["b"]);
        // Shards of the same name in another stream are others.
        assert_eq!(ready_ids(&streams, &[entry("2", "a", true)]), ["a"]);
        // One that the older stream no longer lists, and an older stream that is gone.
        let unlisted = [entry("1", "a", true), entry("1", "z", false)];
        assert_eq!(ready_ids(&streams, &unlisted), [""; 0]);
        let unlisted = [entry("0", "z", false)];
        assert_eq!(ready_ids(&streams, &unlisted), [""; 0]);
        assert_eq!(ready_ids(&streams, &[entry("0", "z", true)]), ["a"]);
    }

    #[test]
    fn a_stream_without_shards_holds_nothing_up() {
        let streams = [stream("1", &[]), stream("2", &[("b", None)])];
        assert_eq!(ready_ids(&streams, &[]), ["b"]);
    }
}
