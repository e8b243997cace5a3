//! Streams of a file that several stores write to: every committed change is in the stream of its
//! table exactly once, in order per item, whichever store opened, rotated or closed the stream.
//!
//! `TABLA_KILLS` is the number of killed processes (default 12).

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use proptest::prelude::*;
use tabla_core::env::{Env, ManualClock, Random, SystemRandom, Timestamp};
use tabla_core::ops::*;
use tabla_core::{Item, KeyType, Store, item};
use tabla_sqlite::{SqliteConfig, SqliteStore};

use crate::support::*;

const START: u64 = 1_800_000_000;
const SHARD_LIFETIME: Duration = Duration::from_secs(4 * 60 * 60);

async fn open_at(path: &Path, clock: &ManualClock, seed: u64) -> SqliteStore {
    let config = SqliteConfig::file(path).with_sweep_every(None);
    SqliteStore::open_with(&config, Env::test(clock.clone(), seed)).await.expect("a store")
}

fn table(name: &str) -> CreateTable {
    CreateTable::new(name).partition_key("pk", KeyType::S)
}

fn switch_stream(name: &str, enabled: bool) -> UpdateTable {
    let view_type = enabled.then_some(StreamViewType::NewAndOldImages);
    UpdateTable::new(name).stream(Some(StreamSpecification::new(enabled, view_type)))
}

fn text<'i>(item: &'i Item, name: &str) -> &'i str {
    item.get(name).and_then(|value| value.as_str()).expect("an attribute with text")
}

/// One store holds a block of sequence numbers while another opens a stream.
#[tokio::test]
async fn stream_opened_by_another_store_gets_every_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let (one, other) = (open(&path).await, open(&path).await);
    other.create_table(table("one").stream(StreamViewType::KeysOnly)).await.unwrap();
    other.put(PutItem::new("one", item! { "pk" => "a" })).await.unwrap();
    one.create_table(table("two").stream(StreamViewType::KeysOnly)).await.unwrap();
    for number in 0..5 {
        let item = item! { "pk" => number.to_string() };
        other.put(PutItem::new("two", item)).await.unwrap();
    }
    let described = one.describe_table(DescribeTable::new("two")).await.unwrap();
    let arn = StreamArn(described.latest_stream_arn.unwrap());
    assert_eq!(records_of(&one, &arn).await.len(), 5);
    drop((one, other));
    assert_eq!(checked(&path).await.problems, Vec::<String>::new());
}

/// A reader that has finished a closed shard never reads it again.
#[tokio::test]
async fn shard_closed_by_another_store_gets_no_later_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let clock = ManualClock::new(Timestamp::from_secs(START));
    let (one, other) = (open_at(&path, &clock, 1).await, open_at(&path, &clock, 2).await);
    other.create_table(table("things").stream(StreamViewType::NewImage)).await.unwrap();
    let put = |value: &str| PutItem::new("things", item! { "pk" => "a", "value" => value });
    other.put(put("first")).await.unwrap();
    clock.advance(SHARD_LIFETIME);
    one.put(put("second")).await.unwrap();
    let described = one.describe_table(DescribeTable::new("things")).await.unwrap();
    let arn = StreamArn(described.latest_stream_arn.unwrap());
    let before = one.describe_stream(DescribeStream::new(arn.clone())).await.unwrap().shards;
    other.put(put("third")).await.unwrap();
    let after = one.describe_stream(DescribeStream::new(arn.clone())).await.unwrap().shards;
    assert_eq!(before, after);
    let records = records_of(&one, &arn).await;
    let values: Vec<&str> =
        records.iter().map(|one| text(one.new_image.as_ref().unwrap(), "value")).collect();
    assert_eq!(values, ["first", "second", "third"]);
    for (record, is_closed) in records.iter().zip([true, false, false]) {
        let holds = |shard: &&Shard| {
            let ends_after = |end: &SequenceNumber| record.sequence_number <= *end;
            shard.ending_sequence_number.as_ref().is_none_or(ends_after)
                && record.sequence_number >= shard.starting_sequence_number
        };
        let holding: Vec<&Shard> = after.iter().filter(holds).collect();
        assert!(!holding.is_empty());
        assert!(holding.iter().all(|one| one.ending_sequence_number.is_some() == is_closed));
    }
}

/// Stream labels of a table name increase across stores, within one millisecond, after a restart,
/// and if the clock of one store is behind.
#[tokio::test]
async fn stream_labels_increase_over_stores_restarts_and_clock_steps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let clock = ManualClock::new(Timestamp::from_secs(START));
    let behind = ManualClock::new(Timestamp::from_secs(START - 7 * 24 * 60 * 60));
    let one = open_at(&path, &clock, 1).await;
    let other = open_at(&path, &behind, 2).await;
    let label = async |store: &SqliteStore| {
        let described = store.describe_table(DescribeTable::new("things")).await.unwrap();
        described.latest_stream_label.unwrap()
    };
    one.create_table(table("things").stream(StreamViewType::KeysOnly)).await.unwrap();
    one.put(PutItem::new("things", item! { "pk" => "a" })).await.unwrap();
    let mut labels = vec![label(&one).await];
    let old = one.list_streams(ListStreams::default()).await.unwrap().streams[0].arn.clone();
    one.delete_table(DeleteTable::new("things")).await.unwrap();
    other.create_table(table("things")).await.unwrap();
    other.delete_table(DeleteTable::new("things")).await.unwrap();
    other.create_table(table("things")).await.unwrap();
    one.update_table(switch_stream("things", true)).await.unwrap();
    labels.push(label(&other).await);
    other.update_table(switch_stream("things", false)).await.unwrap();
    other.update_table(switch_stream("things", true)).await.unwrap();
    labels.push(label(&one).await);
    other.delete_table(DeleteTable::new("things")).await.unwrap();
    other.create_table(table("things")).await.unwrap();
    drop((one, other));
    let again = open_at(&path, &behind, 3).await;
    again.update_table(switch_stream("things", true)).await.unwrap();
    labels.push(label(&again).await);
    assert!(labels.is_sorted_by(|one, other| one < other), "{labels:?}");
    assert_eq!(records_of(&again, &old).await.len(), 1);
    drop(again);
    assert_eq!(checked(&path).await.problems, Vec::<String>::new());
}

/// Step of a history.
#[derive(Clone, Debug)]
enum Action {
    Create {
        table: usize,
        with_stream: bool,
    },
    DeleteTable {
        table: usize,
    },
    Enable {
        table: usize,
    },
    Disable {
        table: usize,
    },
    /// The next write to each stream begins a new generation of shards.
    Rotate,
    Put {
        table: usize,
        key: u8,
    },
    Delete {
        table: usize,
        key: u8,
    },
    /// Puts two items of one table in one transaction.
    PutBoth {
        table: usize,
        keys: (u8, u8),
    },
    /// The store is closed and opened again, and so loses its block.
    Reopen,
}

const TABLES: usize = 3;
/// Maximum number of rotations in a history: they take 20 hours, less than the retention of 24.
const ROTATIONS: usize = 5;

fn action() -> impl Strategy<Value = Action> {
    let table = || 0..TABLES;
    let key = || 0..4_u8;
    prop_oneof![
        2 => (table(), any::<bool>())
            .prop_map(|(table, with_stream)| Action::Create { table, with_stream }),
        1 => table().prop_map(|table| Action::DeleteTable { table }),
        2 => table().prop_map(|table| Action::Enable { table }),
        1 => table().prop_map(|table| Action::Disable { table }),
        1 => Just(Action::Rotate),
        8 => (table(), key()).prop_map(|(table, key)| Action::Put { table, key }),
        2 => (table(), key()).prop_map(|(table, key)| Action::Delete { table, key }),
        2 => (table(), key(), key())
            .prop_map(|(table, one, other)| Action::PutBoth { table, keys: (one, other) }),
        1 => Just(Action::Reopen),
    ]
}

/// Expected content of the tables and their streams.
#[derive(Default)]
struct Model {
    tables: BTreeMap<usize, TableModel>,
    /// Expected changes of each stream, by the item's key: value before and value after.
    streams: BTreeMap<StreamArn, BTreeMap<String, Vec<Change>>>,
}

type Change = (Option<String>, Option<String>);

#[derive(Default)]
struct TableModel {
    items: BTreeMap<String, String>,
    stream: Option<StreamArn>,
}

impl Model {
    fn opened(&mut self, table: usize, described: &TableDescription) {
        let arn = StreamArn(described.latest_stream_arn.clone().expect("a stream was enabled"));
        assert!(
            self.streams.insert(arn.clone(), BTreeMap::new()).is_none(),
            "{arn} was used twice"
        );
        self.tables.get_mut(&table).expect("a created table").stream = Some(arn);
    }

    fn change(&mut self, table: usize, key: u8, value: Option<String>) {
        let key = key.to_string();
        let table = self.tables.get_mut(&table).expect("a created table");
        let before = match &value {
            Some(value) => table.items.insert(key.clone(), value.clone()),
            None => table.items.remove(&key),
        };
        if let Some(stream) = &table.stream
            && before != value
        {
            let changes = self.streams.get_mut(stream).expect("an opened stream");
            changes.entry(key).or_default().push((before, value));
        }
    }

    async fn run(&mut self, store: &SqliteStore, action: &Action, step: usize) {
        let name = |table: &usize| format!("table-{table}");
        let item = |key: &u8| item! { "pk" => key.to_string(), "value" => step.to_string() };
        let value = || Some(step.to_string());
        match action {
            Action::Create { table: number, with_stream } => {
                if self.tables.contains_key(number) {
                    return;
                }
                let create = table(&name(number));
                let create = match with_stream {
                    true => create.stream(StreamViewType::NewAndOldImages),
                    false => create,
                };
                let described = store.create_table(create).await.expect("a table");
                self.tables.insert(*number, TableModel::default());
                if *with_stream {
                    self.opened(*number, &described);
                }
            }
            Action::DeleteTable { table } if self.tables.remove(table).is_some() => {
                store.delete_table(DeleteTable::new(name(table))).await.expect("an existing table");
            }
            Action::Enable { table }
                if self.tables.get(table).is_some_and(|table| table.stream.is_none()) =>
            {
                let described = store.update_table(switch_stream(&name(table), true)).await;
                self.opened(*table, &described.expect("a stream"));
            }
            Action::Disable { table } => {
                let found = self.tables.get_mut(table);
                if found.is_some_and(|table| table.stream.take().is_some()) {
                    let disable = switch_stream(&name(table), false);
                    store.update_table(disable).await.expect("a table with a stream");
                }
            }
            Action::Put { table, key } if self.tables.contains_key(table) => {
                store.put(PutItem::new(name(table), item(key))).await.expect("a put");
                self.change(*table, *key, value());
            }
            Action::PutBoth { table, keys: (one, other) }
                if self.tables.contains_key(table) && one != other =>
            {
                let both = TransactWriteItems::new()
                    .item(PutItem::new(name(table), item(one)))
                    .item(PutItem::new(name(table), item(other)));
                store.transact_write(both).await.expect("a transaction");
                self.change(*table, *one, value());
                self.change(*table, *other, value());
            }
            Action::Delete { table, key } if self.tables.contains_key(table) => {
                let key_item = item! { "pk" => key.to_string() };
                store.delete(DeleteItem::new(name(table), key_item)).await.expect("a delete");
                self.change(*table, *key, None);
            }
            _ => {}
        }
    }

    async fn verify(&self, store: &dyn Store) {
        let listed = store.list_streams(ListStreams::default()).await.expect("a list").streams;
        let listed: Vec<&StreamArn> = listed.iter().map(|stream| &stream.arn).collect();
        assert_eq!(listed, self.streams.keys().collect::<Vec<_>>());
        for (arn, expected) in &self.streams {
            let mut found: BTreeMap<String, Vec<Change>> = BTreeMap::new();
            for record in records_of(store, arn).await {
                let value = |image: &Option<Item>| {
                    image.as_ref().map(|image| text(image, "value").to_owned())
                };
                let change = (value(&record.old_image), value(&record.new_image));
                found.entry(text(&record.keys, "pk").to_owned()).or_default().push(change);
            }
            assert_eq!(&found, expected, "{arn}");
        }
    }
}

async fn run_history(stores: usize, steps: &[(usize, Action)]) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.db");
    let clock = ManualClock::new(Timestamp::from_secs(START));
    let mut open = Vec::new();
    for seed in 0..stores {
        open.push(open_at(&path, &clock, seed as u64).await);
    }
    let mut model = Model::default();
    let mut rotations = 0;
    for (number, (store, action)) in steps.iter().enumerate() {
        clock.advance(Duration::from_millis(10));
        let store = store % stores;
        match action {
            Action::Rotate if rotations < ROTATIONS => {
                rotations += 1;
                clock.advance(SHARD_LIFETIME);
            }
            Action::Reopen => {
                let seed = (1000 + number) as u64;
                open[store] = open_at(&path, &clock, seed).await;
            }
            action => model.run(&open[store], action, number).await,
        }
    }
    for store in &open {
        model.verify(store).await;
    }
    drop(open);
    assert_eq!(checked(&path).await.problems, Vec::<String>::new());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_change_of_any_store_is_in_its_stream_once(
        stores in 2..=3_usize,
        steps in proptest::collection::vec((0..6_usize, action()), 20..80),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run_history(stores, &steps));
    }
}

/// Environment variable that marks the child process of a test; its value is the address of the
/// file, the number of the child, and the hours by which its clock is ahead of [`START`].
const CHILD: &str = "TABLA_TEST_SHARED_STREAMS";
const CHILDREN: usize = 3;
const SLOTS: u64 = 4;
const KILLS: usize = 12;

/// Opens streams and counts up items of all tables with a stream, until the process is killed.
/// Prints each acknowledged change.
async fn write_forever(config: &SqliteConfig, child: &str, hours: u64) {
    let clock = ManualClock::new(Timestamp::from_secs(START + hours * 60 * 60));
    let env = Env::system().with_clock(std::sync::Arc::new(clock.clone()));
    let store = SqliteStore::open_with(config, env).await.expect("a store");
    for step in 1_u64.. {
        // Stream labels have a resolution of one millisecond.
        clock.advance(Duration::from_millis(1));
        if step.is_multiple_of(10) {
            let name = format!("table-{}", SystemRandom.next_u64());
            let view = StreamViewType::NewAndOldImages;
            if step.is_multiple_of(20) {
                store.create_table(table(&name).stream(view)).await.expect("a table");
            } else {
                store.create_table(table(&name)).await.expect("a table");
                store.update_table(switch_stream(&name, true)).await.expect("a stream");
            }
            // Gives other children time to write to the new stream before this one allocates
            // numbers.
            continue;
        }
        let tables = table_names(&store).await;
        if tables.is_empty() {
            continue;
        }
        let chosen = &tables[SystemRandom.next_u64() as usize % tables.len()];
        let described = store.describe_table(DescribeTable::new(chosen)).await.expect("a table");
        if described.stream.is_none() {
            // A killed child may not have enabled the stream, or another child is about to.
            continue;
        }
        let key = item! { "pk" => format!("{child}-{}", SystemRandom.next_u64() % SLOTS) };
        let count = UpdateItem::new(chosen, key.clone()).update("ADD n :one").value(":one", 1);
        let count = count.return_values(ReturnValues::UpdatedNew);
        let counted = store.update(count).await.expect("an update").attributes.expect("values");
        let n = number(&counted);
        let line = format!("ack {chosen} {} {n}\n", text(&key, "pk"));
        std::io::stdout().lock().write_all(line.as_bytes()).expect("a parent that reads");
    }
}

async fn table_names(store: &dyn Store) -> Vec<String> {
    let (mut names, mut request) = (Vec::new(), ListTables::default());
    loop {
        let page = store.list_tables(request.clone()).await.expect("a list");
        names.extend(page.table_names);
        request.exclusive_start_table_name = page.last_evaluated_table_name;
        if request.exclusive_start_table_name.is_none() {
            return names;
        }
    }
}

fn number(item: &Item) -> u64 {
    let number = item.get("n").and_then(|value| value.as_number()).expect("a count");
    number.to_string().parse().expect("a small number")
}

/// Body of the child process that a test starts; does nothing in a normal test run.
#[test]
fn child_that_shares_streams() {
    let Ok(given) = std::env::var(CHILD) else { return };
    let [address, child, hours] = given.split('|').collect::<Vec<_>>()[..] else {
        panic!("{CHILD} must be an address, a number and hours, separated by `|`: {given}")
    };
    let config = SqliteConfig::from_address(address.parse().expect("an address"));
    let config = config.expect("a store's address").with_sweep_every(None);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let write = write_forever(&config, child, hours.parse().expect("a number"));
    runtime.expect("a runtime").block_on(write);
}

fn spawn(path: &Path, child: usize, hours: usize) -> Child {
    let durability = ["durable", "relaxed"][child % 2];
    let address = format!("sqlite:{}?durability={durability}&log=200", path.display());
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "shared_streams::child_that_shares_streams", "--nocapture"])
        .env(CHILD, format!("{address}|{child}|{hours}"))
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child")
}

/// Last acknowledged count of each item of a table.
type Acknowledged = BTreeMap<(String, String), u64>;

/// Kills a child after a number of acknowledged changes, and returns them.
fn read_and_kill(mut child: Child, count: usize) -> Acknowledged {
    let mut acknowledged = Acknowledged::new();
    let (mut seen, mut killed) = (0, false);
    let lines = BufReader::new(child.stdout.take().expect("piped output")).lines();
    for line in lines.map_while(Result::ok) {
        let Some((_, acknowledgment)) = line.split_once("ack ") else { continue };
        let [table, key, n] = acknowledgment.split(' ').collect::<Vec<_>>()[..] else { continue };
        acknowledged.insert((table.to_owned(), key.to_owned()), n.parse().expect("a count"));
        seen += 1;
        if seen >= count && !killed {
            child.kill().expect("a running child");
            killed = true;
        }
    }
    child.wait().expect("a killed child");
    assert!(killed, "the child ended by itself after {seen} acknowledged changes");
    acknowledged
}

#[test]
fn stream_of_killed_processes_has_every_change_once_and_in_order() {
    let kills = std::env::var("TABLA_KILLS").map_or(KILLS, |text| text.parse().expect("a number"));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    // Within a file, the clocks advance by less than the retention of records.
    for first in (0..kills).step_by(ROTATIONS * CHILDREN) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        runtime.block_on(async { drop(open(&path).await) });
        let mut acknowledged = Acknowledged::new();
        for (round, _) in
            (first..kills.min(first + ROTATIONS * CHILDREN)).step_by(CHILDREN).enumerate()
        {
            let readers: Vec<_> = (0..CHILDREN)
                .map(|number| {
                    // The clocks of the children differ, so that some of them rotate streams.
                    let child = spawn(&path, number, (4 * round + number).min(20));
                    let count = 50 + SystemRandom.next_u64() as usize % 300;
                    std::thread::spawn(move || read_and_kill(child, count))
                })
                .collect();
            for reader in readers {
                acknowledged
                    .extend(reader.join().expect("the acknowledged changes of a killed child"));
            }
            runtime.block_on(verify(&path, &mut acknowledged));
        }
    }
}

/// Verifies the file. A change that is found counts as acknowledged afterwards, because it must not
/// disappear again.
async fn verify(path: &Path, acknowledged: &mut Acknowledged) {
    assert_eq!(checked(path).await.problems, Vec::<String>::new());
    let clock = ManualClock::new(Timestamp::from_secs(START + 20 * 60 * 60));
    let store = open_at(path, &clock, 7).await;
    let mut found = Acknowledged::new();
    for name in table_names(&store).await {
        let described = store.describe_table(DescribeTable::new(&name)).await.expect("a table");
        let Some(arn) = described.latest_stream_arn.map(StreamArn) else { continue };
        let mut counts: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for record in records_of(&store, &arn).await {
            let image = record.new_image.expect("a new image, because no item is deleted");
            counts.entry(text(&image, "pk").to_owned()).or_default().push(number(&image));
        }
        for item in store.scan(Scan::new(&name)).await.expect("a page").items {
            let (key, n) = (text(&item, "pk").to_owned(), number(&item));
            let expected: Vec<u64> = (1..=n).collect();
            assert_eq!(counts.remove(&key).unwrap_or_default(), expected, "{name}, {key}");
            found.insert((name.clone(), key), n);
        }
        assert!(counts.is_empty(), "{name} has records of changes that were not made: {counts:?}");
    }
    for (key, n) in &*acknowledged {
        let kept = found.get(key).copied().unwrap_or(0);
        assert!(kept == *n || kept == n + 1, "{key:?}: {kept} is stored, {n} was acknowledged");
    }
    *acknowledged = found;
}
