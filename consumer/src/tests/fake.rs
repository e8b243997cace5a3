//! Store with scripted streams: a test splits, closes, trims and deletes shards.
//!
//! Its tables are those of a [`MemoryStore`], and its calls can be made to fail.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tabla_core::Store;
use tabla_core::backend::record;
use tabla_core::env::{Clock, Env, ManualClock, Random, SeededRandom, Timestamp};
use tabla_core::ops::*;
use tabla_core::{Applied, Error, ErrorKind, Result};
use tabla_core::{KeyType, MemoryStore, item};

pub(super) const TABLE: &str = "orders";

#[derive(Debug)]
pub(super) struct Fake {
    tables: MemoryStore,
    pub(super) clock: ManualClock,
    script: Mutex<Script>,
    /// Whether every write of an item fails before it reaches the store.
    pub(super) writes_fail: AtomicBool,
    /// Number of reads of records.
    pub(super) reads: AtomicUsize,
    trouble: Mutex<Trouble>,
}

/// Random failures that are injected, per 1000 calls.
#[derive(Debug)]
struct Trouble {
    random: SeededRandom,
    per_mille: u64,
}

#[derive(Debug, Default)]
struct Script {
    streams: Vec<ScriptedStream>,
    numbers: u64,
    page: usize,
}

#[derive(Debug)]
struct ScriptedStream {
    label: String,
    shards: Vec<ScriptedShard>,
}

#[derive(Debug)]
struct ScriptedShard {
    id: String,
    parent: Option<String>,
    records: Vec<Record>,
    /// Number of records that have been trimmed.
    trimmed: usize,
    is_closed: bool,
    is_listed: bool,
}

impl Fake {
    /// Creates a store with a table, and one stream without shards.
    pub(super) async fn new() -> Arc<Self> {
        let clock = ManualClock::new(Timestamp::from_secs(1_000_000));
        let tables = MemoryStore::with_env(Env::test(clock.clone(), 1));
        let table = CreateTable::new(TABLE).partition_key("pk", KeyType::S);
        tables.create_table(table).await.unwrap();
        let fake = Arc::new(Self {
            tables,
            clock,
            script: Mutex::new(Script { page: 2, ..Script::default() }),
            writes_fail: AtomicBool::new(false),
            reads: AtomicUsize::new(0),
            trouble: Mutex::new(Trouble { random: SeededRandom::new(1), per_mille: 0 }),
        });
        fake.add_stream("1");
        fake
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap()
    }

    pub(super) fn add_stream(&self, label: &str) {
        self.script().streams.push(ScriptedStream { label: label.to_owned(), shards: Vec::new() });
    }

    pub(super) fn forget_stream(&self, label: &str) {
        self.script().streams.retain(|stream| stream.label != label);
    }

    /// Adds a shard to the newest stream.
    pub(super) fn add_shard(&self, id: &str, parent: Option<&str>) {
        let mut script = self.script();
        let stream = script.streams.last_mut().expect("the script has a stream");
        stream.shards.push(ScriptedShard {
            id: id.to_owned(),
            parent: parent.map(str::to_owned),
            records: Vec::new(),
            trimmed: 0,
            is_closed: false,
            is_listed: true,
        });
    }

    fn with_shard<T>(&self, id: &str, change: impl FnOnce(&mut ScriptedShard) -> T) -> T {
        let mut script = self.script();
        let shards = script.streams.iter_mut().rev().flat_map(|stream| &mut stream.shards);
        change(shards.into_iter().find(|shard| shard.id == id).expect("the script has the shard"))
    }

    /// Writes the `n`th change of an item to a shard.
    pub(super) fn write(&self, shard: &str, pk: &str, n: u64) {
        let number = {
            let mut script = self.script();
            script.numbers += 1;
            script.numbers
        };
        let record = Record::new(
            format!("event-{number}"),
            EventName::Modify,
            record::sequence_number(number),
            Timestamp::from_secs(self.clock.now().as_secs()),
            item! { "pk" => pk },
            StreamViewType::NewImage,
        )
        .new_image(Some(item! { "pk" => pk, "n" => n }))
        .size_bytes(10);
        self.with_shard(shard, |shard| {
            assert!(!shard.is_closed, "a closed shard takes no records");
            shard.records.push(record);
        });
    }

    pub(super) fn close(&self, shard: &str) {
        self.with_shard(shard, |shard| shard.is_closed = true);
    }

    /// Trims all present records of the shard.
    pub(super) fn trim(&self, shard: &str) {
        self.with_shard(shard, |shard| shard.trimmed = shard.records.len());
    }

    /// Deletes the shard: it is not listed and cannot be read.
    pub(super) fn forget(&self, shard: &str) {
        self.with_shard(shard, |shard| shard.is_listed = false);
    }

    /// Injects failures into `per_mille` of 1000 calls from now on.
    pub(super) fn trouble(&self, seed: u64, per_mille: u64) {
        *self.trouble.lock().unwrap() = Trouble { random: SeededRandom::new(seed), per_mille };
    }

    fn failure(&self) -> Option<Error> {
        let trouble = self.trouble.lock().unwrap();
        if trouble.per_mille == 0 || trouble.random.next_u64() % 1000 >= trouble.per_mille {
            return None;
        }
        Some(match trouble.random.next_u64() % 3 {
            0 => Error::new(ErrorKind::Throttled, "slow down"),
            1 => Error::new(ErrorKind::Unavailable, "not reached"),
            _ => Error::new(ErrorKind::Unavailable, "lost").with_applied(Applied::Maybe),
        })
    }

    fn list(&self, request: &ListStreams) -> Result<ListStreamsOutput> {
        let arn = |stream: &ScriptedStream| StreamArn(stream.label.clone());
        let script = self.script();
        // One stream per page, the newest first, because consumers must not rely on the order.
        let mut rest = script.streams.iter().rev().filter(|stream| {
            let start = request.exclusive_start_stream.as_ref();
            start.is_none_or(|start| arn(stream) < *start)
        });
        let first = rest.next();
        let summary =
            |stream: &ScriptedStream| StreamSummary::new(arn(stream), TABLE, stream.label.clone());
        Ok(ListStreamsOutput::new(first.map(summary).into_iter().collect())
            .last_evaluated_stream(rest.next().and(first.map(arn))))
    }

    fn describe(&self, request: &DescribeStream) -> Result<StreamDescription> {
        let script = self.script();
        let stream = script.streams.iter().find(|stream| stream.label == request.arn.0);
        let stream = stream.ok_or_else(|| stream_missing(&request.arn.0))?;
        let listed = stream.shards.iter().filter(|shard| shard.is_listed);
        let start = request.exclusive_start_shard.as_ref();
        let skipped = start.map_or(0, |start| {
            1 + listed
                .clone()
                .position(|shard| shard.id == start.0)
                .expect("the start shard is listed")
        });
        let shards: Vec<Shard> = listed
            .clone()
            .skip(skipped)
            .take(script.page)
            .map(|shard| {
                let end = shard.is_closed.then(|| record::sequence_number(u64::MAX));
                Shard::new(ShardId(shard.id.clone()), record::sequence_number(0))
                    .parent(shard.parent.clone().map(ShardId))
                    .ending_sequence_number(end)
            })
            .collect();
        let more = listed.count() > skipped + shards.len();
        let last = shards.last().filter(|_| more).map(|shard| shard.id.clone());
        let summary = StreamSummary::new(request.arn.clone(), TABLE, stream.label.clone());
        Ok(StreamDescription::new(summary, StreamViewType::NewImage, Timestamp::default())
            .shards(shards)
            .last_evaluated_shard(last))
    }

    fn iterator(&self, request: &GetShardIterator) -> Result<ShardIterator> {
        let script = self.script();
        let shard = found(&script, &request.arn.0, &request.shard.0)?;
        let place = |number: &SequenceNumber| {
            let at = shard.records.iter().position(|record| record.sequence_number == *number);
            let at = at.ok_or_else(|| Error::validation("Invalid SequenceNumber for the shard"))?;
            if at < shard.trimmed { Err(record::trimmed_error()) } else { Ok(at) }
        };
        let next = match &request.position {
            ShardPosition::TrimHorizon => shard.trimmed,
            ShardPosition::Latest => shard.records.len(),
            ShardPosition::At(number) => place(number)?,
            ShardPosition::After(number) => place(number)? + 1,
        };
        Ok(self.iterator_at(&request.arn.0, &request.shard.0, next))
    }

    fn iterator_at(&self, label: &str, shard: &str, next: usize) -> ShardIterator {
        ShardIterator(format!("{label}/{shard}/{next}/{}", self.clock.now().as_millis()))
    }

    fn read(&self, request: &GetRecords) -> Result<GetRecordsOutput> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        let parts: Vec<&str> = request.iterator.0.split('/').collect();
        let [label, shard_id, next, issued] = parts[..] else {
            panic!("the iterator is not from this store")
        };
        let (next, issued): (usize, u64) = (next.parse().unwrap(), issued.parse().unwrap());
        if self.clock.now().since(Timestamp::from_millis(issued)) > Duration::from_secs(900) {
            return Err(Error::new(ErrorKind::ExpiredIterator, "Shard iterator has expired"));
        }
        let script = self.script();
        let shard = found(&script, label, shard_id)?;
        if next < shard.trimmed {
            return Err(record::trimmed_error());
        }
        let limit = request.limit.expect("a consumer sets a limit") as usize;
        let records: Vec<Record> = shard.records.iter().skip(next).take(limit).cloned().collect();
        let next = next + records.len();
        let is_end = shard.is_closed && next == shard.records.len();
        let next_iterator = (!is_end).then(|| self.iterator_at(label, shard_id, next));
        Ok(GetRecordsOutput::new(records).next_iterator(next_iterator))
    }
}

/// Error of a missing stream, whose name here is its label.
fn stream_missing(label: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("stream {label} does not exist"))
}

fn found<'s>(script: &'s Script, label: &str, shard: &str) -> Result<&'s ScriptedShard> {
    let stream = script.streams.iter().find(|stream| stream.label == label);
    let stream = stream.ok_or_else(|| stream_missing(label))?;
    let shard = stream.shards.iter().find(|found| found.id == shard && found.is_listed);
    shard.ok_or_else(record::shard_missing_error)
}

/// Calls the implementation of an operation on this store, by the name of the operation.
macro_rules! dispatch {
    ($fake:ident, list_streams, $request:ident) => {
        $fake.list(&$request)
    };
    ($fake:ident, describe_stream, $request:ident) => {
        $fake.describe(&$request)
    };
    ($fake:ident, get_shard_iterator, $request:ident) => {
        $fake.iterator(&$request)
    };
    ($fake:ident, get_records, $request:ident) => {
        $fake.read(&$request)
    };
    ($fake:ident, put, $request:ident) => {
        match $fake.writes_fail.load(Ordering::Relaxed) {
            true => Err(Error::new(ErrorKind::Unavailable, "not reached")),
            false => $fake.tables.put($request).await,
        }
    };
    ($fake:ident, $method:ident, $request:ident) => {
        $fake.tables.$method($request).await
    };
}

macro_rules! faked {
    ($self:ident, $method:ident, $request:ident) => {{
        let failure = $self.failure();
        if failure.as_ref().is_some_and(|error| error.applied() == Applied::No) {
            return Err(failure.expect("the failure was checked above"));
        }
        let response = dispatch!($self, $method, $request);
        match failure {
            Some(error) if response.is_ok() => Err(error),
            _ => response,
        }
    }};
}

tabla_core::wrap_store! {
    impl[] Store for Fake, inner: tables, call: faked
}
