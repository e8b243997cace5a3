//! The records of streams in files: what is kept of them, and for how long.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use tabla::env::{Env, ManualClock, Timestamp};
use tabla::ops::*;
use tabla::{Store, item};
use tabla_sqlite::{SqliteConfig, SqliteStore};

use crate::support::*;

const HOUR: Duration = Duration::from_secs(60 * 60);

fn clock() -> ManualClock {
    ManualClock::new(Timestamp::from_secs(1_800_000_000))
}

async fn open_at(path: &Path, clock: &ManualClock) -> SqliteStore {
    let env = Env::test(clock.clone(), 7);
    SqliteStore::open_with(&SqliteConfig::file(path), env).await.expect("a store")
}

async fn shards(store: &SqliteStore) -> (StreamArn, Vec<Shard>) {
    let listed = store.list_streams(ListStreams::default()).await.expect("a list");
    let arn = listed.streams[0].arn.clone();
    let stream = store.describe_stream(DescribeStream::new(arn.clone())).await.expect("a stream");
    (arn, stream.shards)
}

/// All records of the only stream, shard after shard.
async fn records(store: &SqliteStore) -> Vec<Record> {
    let (arn, shards) = shards(store).await;
    let mut records = Vec::new();
    for shard in shards {
        let position = ShardPosition::TrimHorizon;
        let request = GetShardIterator { arn: arn.clone(), shard: shard.id, position };
        let mut next = Some(store.get_shard_iterator(request).await.expect("an iterator"));
        while let Some(iterator) = next {
            let page = store.get_records(GetRecords::new(iterator)).await.expect("a page");
            next = page.next_iterator.filter(|_| !page.records.is_empty());
            records.extend(page.records);
        }
    }
    records
}

/// What the orders of the records became.
fn statuses(records: &[Record]) -> Vec<String> {
    let status =
        |record: &Record| record.new_image.as_ref()?.get("status")?.as_str().map(str::to_owned);
    records.iter().filter_map(status).collect()
}

fn orders_with_stream() -> CreateTable {
    orders().stream(StreamViewType::NewAndOldImages)
}

fn rows_of_records(file: &rusqlite::Connection) -> i64 {
    let names: Vec<String> = file
        .prepare("SELECT name FROM sqlite_schema WHERE name LIKE '%records_%'")
        .and_then(|mut select| select.query_map([], |row| row.get(0))?.collect())
        .expect("the tables of the file");
    let count = |name: &String| -> i64 {
        file.query_row(&format!("SELECT count(*) FROM {name}"), [], |row| row.get(0))
            .expect("a count")
    };
    names.iter().map(count).sum()
}

/// Waits until the store's thread has left this many records in the file.
async fn wait_for_rows(file: &rusqlite::Connection, expected: i64) {
    for _ in 0..1000 {
        if rows_of_records(file) == expected {
            return;
        }
        Env::system().clock.sleep(Duration::from_millis(10)).await;
    }
    panic!("{} records are in the file, not {expected}", rows_of_records(file));
}

#[tokio::test]
async fn event_ids_are_unique_in_a_file_that_is_opened_again_and_in_its_copy() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("a.db"), folder.path().join("copy.db"));
    let store = open(&path).await;
    store.create_table(orders_with_stream()).await.unwrap();
    fill(&store, 20).await;
    drop(store);
    std::fs::copy(&path, &copy).unwrap();
    let mut ids = BTreeSet::new();
    let mut places = BTreeSet::new();
    for path in [&path, &copy] {
        let store = open(path).await;
        let other = open(path).await;
        for number in 100..110 {
            store.put(PutItem::new("orders", order("c", number, "open"))).await.unwrap();
            other.put(PutItem::new("orders", order("c", number, "paid"))).await.unwrap();
        }
        let records = records(&store).await;
        assert_eq!(records.len(), 40);
        ids.extend(records.iter().map(|record| record.event_id.clone()));
        places.extend(records.iter().map(|record| record.sequence_number.clone()));
        // Whoever wrote them, the records of an item are in order.
        let of_item = |record: &&Record| record.keys == item! { "pk" => "c", "sk" => 105 };
        let of_item: Vec<Record> = records.iter().filter(of_item).cloned().collect();
        assert_eq!(statuses(&of_item), ["open", "paid"]);
        drop((store, other));
        assert_eq!(checked(path).await.problems, Vec::<String>::new());
    }
    assert_eq!(ids.len(), 20 + 20 + 20, "the first 20 are in both files");
    assert!(places.len() < ids.len(), "the copy gave numbers again: {places:?}");
}

/// The stream of the sample was written when a stream had one shard.
#[tokio::test]
async fn a_stream_of_one_shard_is_read_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sample.db");
    let sample = format!("{}/tests/data/format-1.db", env!("CARGO_MANIFEST_DIR"));
    std::fs::copy(&sample, &path).unwrap();
    let log: String = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("SELECT log FROM tabla_streams", [], |row| row.get(0))
        .unwrap();
    assert!(!log.contains("lanes"), "{log}");
    let opened_at = serde_json::from_str::<serde_json::Value>(&log).unwrap()["opened_at"].as_u64();
    let clock = ManualClock::new(Timestamp::from_millis(opened_at.unwrap()));
    let store = open_at(&path, &clock).await;
    let (_, before) = shards(&store).await;
    assert_eq!(before.len(), 1);
    let old = records(&store).await;
    assert!(!old.is_empty());
    store.put(PutItem::new("orders", order("new", 1, "open"))).await.unwrap();
    assert_eq!(records(&store).await.len(), old.len() + 1);
    clock.advance(4 * HOUR);
    store.put(PutItem::new("orders", order("new", 2, "open"))).await.unwrap();
    let (_, after) = shards(&store).await;
    assert_eq!(after.len(), 2);
    assert_eq!(after[1].parent.as_ref(), Some(&before[0].id));
    let all = records(&store).await;
    assert_eq!(all.len(), old.len() + 2);
    assert!(all.starts_with(&old));
    drop(store);
    assert_eq!(checked(&path).await.problems, Vec::<String>::new());
}

#[tokio::test]
async fn records_past_retention_are_taken_out_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let clock = clock();
    let store = open_at(&path, &clock).await;
    store.create_table(orders_with_stream()).await.unwrap();
    let quiet = CreateTable::new("quiet").partition_key("pk", tabla::KeyType::S);
    store.create_table(quiet.stream(StreamViewType::KeysOnly)).await.unwrap();
    // More than one step takes away.
    fill(&store, 2500).await;
    store.put(PutItem::new("quiet", item! { "pk" => "a" })).await.unwrap();
    let file = rusqlite::Connection::open(&path).unwrap();
    assert_eq!(rows_of_records(&file), 2501);
    clock.advance(24 * HOUR);
    store.put(PutItem::new("orders", order("new", 1, "open"))).await.unwrap();
    assert_eq!(rows_of_records(&file), 2502, "a day is not over before its end");
    clock.advance(4 * HOUR);
    // One write has the records of all tables looked at.
    store.put(PutItem::new("orders", order("new", 2, "open"))).await.unwrap();
    wait_for_rows(&file, 2).await;
    // A store that nobody writes to looks at its records whenever it looks for expired items.
    clock.advance(25 * HOUR);
    wait_for_rows(&file, 0).await;
    store.put(PutItem::new("orders", order("new", 3, "open"))).await.unwrap();
    assert_eq!(rows_of_records(&file), 1);
    drop(store);
    // A file that nobody has open, when it is opened.
    clock.advance(25 * HOUR);
    let store = open_at(&path, &clock).await;
    wait_for_rows(&file, 0).await;
    drop((store, file));
    assert_eq!(checked(&path).await.problems, Vec::<String>::new());
}

#[tokio::test]
async fn a_stream_that_was_closed_a_day_ago_leaves_nothing_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let clock = clock();
    let store = open_at(&path, &clock).await;
    store.create_table(orders_with_stream()).await.unwrap();
    fill(&store, 30).await;
    store.delete_table(DeleteTable::new("orders")).await.unwrap();
    drop(store);
    clock.advance(24 * HOUR);
    let store = open_at(&path, &clock).await;
    let file = rusqlite::Connection::open(&path).unwrap();
    wait_for_rows(&file, 0).await;
    let left = |sql: &str| -> i64 { file.query_row(sql, [], |row| row.get(0)).unwrap() };
    assert_eq!(left("SELECT count(*) FROM tabla_streams"), 0);
    assert_eq!(left("SELECT count(*) FROM sqlite_schema WHERE name LIKE '%records%'"), 0);
    drop(store);
}

/// Numbers are taken from the file in blocks; a process that ends leaves a gap, and no number is
/// given twice.
#[tokio::test]
async fn numbers_rise_whoever_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    open(&path).await.create_table(orders_with_stream()).await.unwrap();
    let mut written = 0;
    for _ in 0..3 {
        let (one, other) = (open(&path).await, open(&path).await);
        for store in [&one, &other, &one, &one, &other] {
            written += 1;
            store.put(PutItem::new("orders", order("c", 1, &written.to_string()))).await.unwrap();
        }
    }
    let store = open(&path).await;
    let records = records(&store).await;
    assert_eq!(statuses(&records), (1..=written).map(|n| n.to_string()).collect::<Vec<_>>());
    assert!(records.is_sorted_by(|a, b| a.sequence_number < b.sequence_number), "{records:?}");
}

#[tokio::test]
async fn a_check_finds_what_is_wrong_with_records() {
    let folder = tempfile::tempdir().unwrap();
    let damage = async |name: &str, sql: &str, expected: &str| {
        let path = folder.path().join(name);
        let store = open(&path).await;
        store.create_table(orders_with_stream()).await.unwrap();
        fill(&store, 30).await;
        drop(store);
        let report = checked(&path).await;
        assert_eq!((report.records, report.problems), (30, Vec::new()));
        let raw = rusqlite::Connection::open(&path).unwrap();
        // Numbers 1 to 3 are the table's and its indexes'; the four lanes follow.
        let lane = (4..8).find(|lane| {
            let select = format!("SELECT count(*) FROM records_{lane} WHERE number = 1");
            raw.query_row(&select, [], |row| row.get::<_, i64>(0)).unwrap() == 1
        });
        let lane = lane.expect("one of the lanes has it");
        let other = if lane == 4 { 5 } else { 4 };
        let sql = sql.replace("LANE", &lane.to_string()).replace("OTHER", &other.to_string());
        raw.execute_batch(&sql).unwrap();
        drop(raw);
        let report = checked(&path).await;
        let found = report.problems.iter().any(|problem| problem.contains(expected));
        assert!(found, "{name}: {report:?}");
    };
    let record = "record 1: ";
    let with = |problem: &str| format!("{record}{problem}");
    damage("keys", "UPDATE records_LANE SET keys = x'00' WHERE number = 1", record).await;
    damage("old", "UPDATE records_LANE SET old = x'0102' WHERE number = 1", record).await;
    damage("new", "UPDATE records_LANE SET new = NULL WHERE number = 1", record).await;
    damage("size", "UPDATE records_LANE SET size = 5 WHERE number = 1", &with("its size is")).await;
    damage(
        "event",
        "UPDATE records_LANE SET event = 'MOVE' WHERE number = 1",
        "a stream record has an unknown event: MOVE",
    )
    .await;
    damage(
        "view",
        "UPDATE records_LANE SET view = 'KEYS_ONLY' WHERE number = 1",
        &with("it has another view than the stream"),
    )
    .await;
    damage("by", "UPDATE records_LANE SET by = '{' WHERE number = 1", record).await;
    damage(
        "before",
        "UPDATE records_LANE SET number = 0 WHERE number = 1",
        "record 0: its number is in none",
    )
    .await;
    damage(
        "after",
        "UPDATE records_LANE SET number = 5000 WHERE number = 1",
        "record 5000: its number is in none",
    )
    .await;
    damage(
        "lane",
        "INSERT INTO records_OTHER SELECT * FROM records_LANE WHERE number = 1",
        &with("its item belongs to another shard"),
    )
    .await;
    damage("log", "UPDATE tabla_streams SET log = substr(log, 2)", "stored JSON").await;
}
