//! Stream records in files: event ids, sequence numbers, delta records and retention.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use tabla_core::backend::record;
use tabla_core::env::{Env, ManualClock, Timestamp};
use tabla_core::ops::*;
use tabla_core::{Item, Store, item};
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

async fn shards(store: &dyn Store) -> (StreamArn, Vec<Shard>) {
    let listed = store.list_streams(ListStreams::default()).await.expect("a list");
    let arn = listed.streams[0].arn.clone();
    let stream = store.describe_stream(DescribeStream::new(arn.clone())).await.expect("a stream");
    (arn, stream.shards)
}

/// Returns all records of the only stream, shard after shard.
async fn records(store: &dyn Store) -> Vec<Record> {
    let (arn, shards) = shards(store).await;
    let mut records = Vec::new();
    for shard in shards {
        let position = ShardPosition::TrimHorizon;
        let request = GetShardIterator::new(arn.clone(), shard.id, position);
        let mut next = Some(store.get_shard_iterator(request).await.expect("an iterator"));
        while let Some(iterator) = next {
            let page = store.get_records(GetRecords::new(iterator)).await.expect("a page");
            next = page.next_iterator.filter(|_| !page.records.is_empty());
            records.extend(page.records);
        }
    }
    records
}

/// Returns the status in the new image of each record that has one.
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
        .expect("the schema of the file");
    let count = |name: &String| -> i64 {
        file.query_row(&format!("SELECT count(*) FROM {name}"), [], |row| row.get(0))
            .expect("a count")
    };
    names.iter().map(count).sum()
}

/// Waits until the file has this number of records, at most 10 s.
async fn wait_for_rows(file: &rusqlite::Connection, expected: i64) {
    for _ in 0..1000 {
        if rows_of_records(file) == expected {
            return;
        }
        Env::system().clock.sleep(Duration::from_millis(10)).await;
    }
    panic!("the file has {} records instead of {expected}", rows_of_records(file));
}

#[tokio::test]
async fn event_ids_are_unique_across_reopening_and_copies_of_a_file() {
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
        // The records of an item are in order, although two stores wrote them.
        let of_item = |record: &&Record| record.keys == item! { "pk" => "c", "sk" => 105 };
        let of_item: Vec<Record> = records.iter().filter(of_item).cloned().collect();
        assert_eq!(statuses(&of_item), ["open", "paid"]);
        drop((store, other));
        assert_eq!(checked(path).await.problems, Vec::<String>::new());
    }
    assert_eq!(ids.len(), 20 + 20 + 20, "the first 20 are in both files");
    assert!(places.len() < ids.len(), "the copy repeats no sequence number: {places:?}");
}

#[tokio::test]
async fn sample_file_has_its_stream_records() {
    let folder = tempfile::tempdir().unwrap();
    let path = sample(folder.path());
    let file = rusqlite::Connection::open(&path).unwrap();
    let opened_at: i64 = file
        .query_row("SELECT log ->> 'opened_at' FROM tabla_streams", [], |row| row.get(0))
        .unwrap();
    let forms: Vec<String> = file
        .prepare("SELECT DISTINCT typeof(before) FROM records_4 ORDER BY 1")
        .and_then(|mut select| select.query_map([], |row| row.get(0))?.collect())
        .unwrap();
    assert_eq!(forms, ["blob", "integer", "null"], "the sample has a record of each form");
    drop(file);
    let opened_at = Timestamp::from_millis(opened_at as u64);
    let store = open_at(&path, &ManualClock::new(opened_at)).await;
    let mut found = records(&store).await;
    found.sort_by(|one, other| one.sequence_number.cmp(&other.sequence_number));
    let plain = order("c0", 7, "paid");
    let expiring = plain.clone().with("expires", 4_102_444_800_u64);
    let gone = expiring.clone().with("gone", 4_102_444_800_u64);
    let counted = expiring.clone().with("n", 1);
    let short = item! { "pk" => "c0", "sk" => 99 };
    let mut expected: Vec<(Option<Item>, Option<Item>)> = (0..9)
        .map(|number| {
            let status = ["open", "paid", "sent"][number as usize % 3];
            (None, Some(order(&format!("c{}", number % 7), number, status)))
        })
        .collect();
    expected.extend([
        (Some(plain), Some(gone.clone())),
        (Some(gone), Some(counted.clone())),
        (Some(counted), Some(expiring)),
        (None, Some(short.clone())),
        (Some(short), None),
    ]);
    let images = found.iter().map(|one| (one.old_image.clone(), one.new_image.clone()));
    assert_eq!(images.collect::<Vec<_>>(), expected);
    for (record, (old, new)) in found.iter().zip(&expected) {
        let image = new.as_ref().or(old.as_ref()).unwrap();
        assert_eq!(record.keys.get("sk"), image.get("sk"));
        let event = match (old, new) {
            (None, _) => EventName::Insert,
            (_, None) => EventName::Remove,
            _ => EventName::Modify,
        };
        assert_eq!(record.event_name, event);
        assert!(record.created_at.as_secs() - opened_at.as_secs() <= 1);
        let number = record::parse_sequence_number(&record.sequence_number).unwrap();
        assert_eq!(record.event_id[16..], format!("{number:016x}"));
    }
}

#[tokio::test]
async fn records_past_retention_are_deleted_from_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let clock = clock();
    let store = open_at(&path, &clock).await;
    store.create_table(orders_with_stream()).await.unwrap();
    let quiet = CreateTable::new("quiet").partition_key("pk", tabla_core::KeyType::S);
    store.create_table(quiet.stream(StreamViewType::KeysOnly)).await.unwrap();
    // More records than one step of maintenance deletes.
    fill(&store, 2500).await;
    store.put(PutItem::new("quiet", item! { "pk" => "a" })).await.unwrap();
    let file = rusqlite::Connection::open(&path).unwrap();
    assert_eq!(rows_of_records(&file), 2501);
    clock.advance(24 * HOUR);
    store.put(PutItem::new("orders", order("new", 1, "open"))).await.unwrap();
    assert_eq!(rows_of_records(&file), 2502, "records are kept for 24 hours");
    clock.advance(4 * HOUR);
    // One write makes maintenance examine the streams of all tables.
    store.put(PutItem::new("orders", order("new", 2, "open"))).await.unwrap();
    wait_for_rows(&file, 2).await;
    // An idle store examines its streams when it checks for expired items. It keeps records for one
    // more hour, in which a delta record based on them may still be read.
    clock.advance(26 * HOUR);
    wait_for_rows(&file, 0).await;
    store.put(PutItem::new("orders", order("new", 3, "open"))).await.unwrap();
    assert_eq!(rows_of_records(&file), 1);
    drop(store);
    // A closed file is examined when it is opened.
    clock.advance(26 * HOUR);
    let store = open_at(&path, &clock).await;
    wait_for_rows(&file, 0).await;
    drop((store, file));
    assert_eq!(checked(&path).await.problems, Vec::<String>::new());
}

#[tokio::test]
async fn stream_closed_a_day_ago_is_deleted_from_the_file() {
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

/// Stores allocate sequence numbers in blocks. A store that is closed leaves a gap, and no number
/// is used twice.
#[tokio::test]
async fn sequence_numbers_increase_across_stores() {
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

/// A used sequence number of any shard is a valid position in every open shard, and so is the next
/// one. MemoryStore agrees.
#[tokio::test]
async fn sequence_number_of_one_shard_is_a_position_in_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let stores: [Box<dyn Store>; 2] = [
        Box::new(tabla_core::MemoryStore::new()),
        Box::new(open(&folder.path().join("a.db")).await),
    ];
    for store in stores {
        store.create_table(orders_with_stream()).await.unwrap();
        fill(&*store, 30).await;
        let (arn, shards) = shards(&*store).await;
        let number = |number: u64| SequenceNumber(format!("{number:021}"));
        for shard in shards {
            let at = |place| {
                let position = ShardPosition::At(number(place));
                GetShardIterator::new(arn.clone(), shard.id.clone(), position)
            };
            for place in [1, 30, 31] {
                let iterator = store.get_shard_iterator(at(place)).await.unwrap();
                let page = store.get_records(GetRecords::new(iterator)).await.unwrap();
                let is_after = |record: &Record| record.sequence_number >= number(place);
                assert!(page.records.iter().all(is_after), "{place}: {page:?}");
            }
            assert!(store.get_shard_iterator(at(32)).await.is_err());
        }
    }
}

#[tokio::test]
async fn check_reports_damaged_stream_records() {
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
        // The table and its indexes have the numbers 1 to 3.
        raw.execute_batch(&sql.replace("RECORDS", "records_4")).unwrap();
        drop(raw);
        let report = checked(&path).await;
        let found = report.problems.iter().any(|problem| problem.contains(expected));
        assert!(found, "{name}: {report:?}");
    };
    let record = "record 1: ";
    let with = |problem: &str| format!("{record}{problem}");
    let set = |what: &str| format!("UPDATE RECORDS SET {what} WHERE number = 1");
    damage("image", &set("image = x'0102'"), record).await;
    damage("keys", &set("image = x'010000'"), &with("its item belongs to another shard")).await;
    damage("lane", &set("lane = (lane + 1) % 4"), &with("its item belongs to another shard")).await;
    damage("event", &set("event = 4"), "a stream record has an unknown event: 4").await;
    damage("one", &set("event = 2"), "a stream record lacks its old image").await;
    damage(
        "before",
        &set("event = 2, before = x'FF7F0000'"),
        &with("the bytes are not a delta against the base item"),
    )
    .await;
    damage("by", &set("by = '{'"), record).await;
    let later = "the base of a stream record is not an earlier record";
    damage("itself", &set("event = 2, before = 1"), later).await;
    damage("later", &set("event = 2, before = 2"), later).await;
    damage(
        "missing",
        &set("event = 2, before = -5"),
        "the base record -5 of a stream record is missing",
    )
    .await;
    let on_first = "UPDATE RECORDS SET event = 2, before = 1 WHERE number = 2";
    damage("based", on_first, "record 2: the bytes are not a delta against the base item").await;
    let loops = "UPDATE RECORDS SET before = 3 - number WHERE number < 3";
    damage("loop", loops, later).await;
    damage("early", &set("number = 0"), "record 0: its sequence number is in no shard").await;
    damage("late", &set("number = 5000"), "record 5000: its sequence number is in no shard").await;
    damage("log", "UPDATE tabla_streams SET log = substr(log, 2)", "stored JSON").await;
}

/// Returns an item of which [`count_up`] changes a small part.
fn long_order(n: i64) -> Item {
    order("long", 1, "open").with("note", "n".repeat(3000)).with("n", n)
}

fn count_up() -> UpdateItem {
    let key = item! { "pk" => "long", "sk" => 1 };
    UpdateItem::new("orders", key).update("ADD n :one").value(":one", 1)
}

/// Returns sequence number, base and stored length of the images of each record in the file.
fn stored_records(path: &Path) -> Vec<(i64, Option<i64>, i64)> {
    let file = rusqlite::Connection::open(path).expect("the file");
    let select = "SELECT number, CASE typeof(before) WHEN 'integer' THEN before END, \
                  length(image) + CASE typeof(before) WHEN 'blob' THEN length(before) ELSE 0 END \
                  FROM records_4 ORDER BY number";
    let mut select = file.prepare(select).expect("a table of records");
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    rows.and_then(Iterator::collect).expect("records")
}

fn images(records: &[Record]) -> Vec<(EventName, Option<Item>, Option<Item>)> {
    let images = |one: &Record| (one.event_name, one.old_image.clone(), one.new_image.clone());
    records.iter().map(images).collect()
}

/// The same writes in memory, where images are stored whole, and in a file.
#[tokio::test]
async fn delta_records_return_the_same_images_as_whole_records() {
    use StreamViewType as View;
    for view in [View::NewAndOldImages, View::NewImage, View::OldImage, View::KeysOnly] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let file = open_at(&path, &clock()).await;
        let memory = SqliteStore::open(&SqliteConfig::in_memory()).await.unwrap();
        for store in [&file, &memory] {
            store.create_table(orders().stream(view)).await.unwrap();
            let put = |item: &Item| PutItem::new("orders", item.clone());
            store.put(put(&long_order(0))).await.unwrap();
            for _ in 0..20 {
                store.update(count_up()).await.unwrap();
            }
            // A write without a change leaves no record, and one that changes most is stored whole.
            store.put(put(&long_order(20))).await.unwrap();
            store.put(put(&long_order(20).with("note", "m".repeat(3000)))).await.unwrap();
            let both = [PutItem::new("orders", order("b", 1, "open")), put(&long_order(5))];
            let write = both.into_iter().fold(TransactWriteItems::new(), |all, one| all.item(one));
            store.transact_write(write).await.unwrap();
            let key = item! { "pk" => "long", "sk" => 1 };
            store.delete(DeleteItem::new("orders", key)).await.unwrap();
            store.put(put(&long_order(0))).await.unwrap();
            store.update(count_up()).await.unwrap();
        }
        let (found, expected) = (records(&file).await, records(&memory).await);
        assert_eq!(images(&found), images(&expected), "{view:?}");
        let sizes = |records: &[Record]| -> Vec<u64> {
            records.iter().map(|record| record.size_bytes).collect()
        };
        assert_eq!(sizes(&found), sizes(&expected), "{view:?}");

        let stored = stored_records(&path);
        let based = stored.iter().filter(|(_, base, _)| base.is_some()).count();
        let expected = match view {
            // 18 of 20 updates, because two begin a chain; the deletion; the last update.
            View::NewAndOldImages => 18 + 2,
            View::NewImage => 18 + 1,
            View::OldImage | View::KeysOnly => 0,
        };
        assert_eq!(based, expected, "{view:?}: {stored:?}");
        let short = stored.iter().all(|(_, base, length)| base.is_none() || *length < 20);
        assert!(short, "{view:?}: {stored:?}");
        drop(file);
        assert_eq!(checked(&path).await.problems, Vec::<String>::new());
    }
}

/// Two stores write alternately, and a store opened later has an empty cache of base records.
#[tokio::test]
async fn base_of_a_record_has_the_item_before_the_write() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let clock = clock();
    let one = open_at(&path, &clock).await;
    let other = open_at(&path, &clock).await;
    one.create_table(orders_with_stream()).await.unwrap();
    one.put(PutItem::new("orders", long_order(0))).await.unwrap();
    for turn in 0..12 {
        let store = if turn % 3 == 0 { &one } else { &other };
        store.update(count_up()).await.unwrap();
    }
    // The item returns to the value that the first store has cached, after changes by the other
    // store.
    one.put(PutItem::new("orders", long_order(100))).await.unwrap();
    other.put(PutItem::new("orders", long_order(200))).await.unwrap();
    other.put(PutItem::new("orders", long_order(100))).await.unwrap();
    one.update(count_up()).await.unwrap();
    drop((one, other));
    let store = open_at(&path, &clock).await;
    store.update(count_up()).await.unwrap();

    let counts: Vec<i64> = (0..=12).chain([100, 200, 100, 101, 102]).collect();
    let found = records(&store).await;
    let new: Vec<Option<Item>> = found.iter().map(|record| record.new_image.clone()).collect();
    let old: Vec<Option<Item>> = found.iter().map(|record| record.old_image.clone()).collect();
    let expected: Vec<Option<Item>> = counts.iter().map(|n| Some(long_order(*n))).collect();
    assert_eq!(new, expected);
    assert_eq!(old[0], None);
    assert_eq!(old[1..], expected[..expected.len() - 1]);
    // A store caches only the records that it has written.
    let stored = stored_records(&path);
    let is_based: Vec<bool> = stored.iter().map(|(_, base, _)| base.is_some()).collect();
    let by_other = [2, 3, 5, 6, 8, 9, 11, 12];
    for (index, is_based) in is_based.iter().enumerate() {
        // The other store's first record after one of the first store's begins a chain.
        let expected = match index {
            1 | 15 => true,
            16 => stored[16].1 == Some(stored[13].0),
            _ => by_other.contains(&index) && index % 3 == 0,
        };
        assert_eq!(*is_based, expected, "{index}: {stored:?}");
    }
}

/// A base record is kept as long as a record based on it can be read.
#[tokio::test]
async fn delta_record_can_be_read_for_24_hours() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let clock = clock();
    let store = open_at(&path, &clock).await;
    store.create_table(orders_with_stream()).await.unwrap();
    store.put(PutItem::new("orders", long_order(0))).await.unwrap();
    let step = Duration::from_secs(10 * 60);
    for _ in 0..30 {
        clock.advance(step);
        store.update(count_up()).await.unwrap();
    }
    let stored = stored_records(&path);
    let first_of_chains = stored.iter().filter(|(_, base, _)| base.is_none()).count();
    // A chain spans an hour, six steps: a base record and six delta records.
    assert_eq!(first_of_chains, 5, "{stored:?}");
    let file = rusqlite::Connection::open(&path).unwrap();
    clock.advance(24 * HOUR - 30 * step);
    assert_eq!(records(&store).await.len(), 31);
    clock.advance(Duration::from_secs(1));
    for trimmed in 0..=30 {
        let found = records(&store).await;
        let new: Vec<Item> = found.iter().filter_map(|record| record.new_image.clone()).collect();
        let expected: Vec<Item> = (trimmed + 1..=30).map(long_order).collect();
        assert_eq!(new, expected);
        // Records are deleted an hour after the end of their retention.
        wait_for_rows(&file, 31 - (trimmed - 5).max(0)).await;
        clock.advance(step);
    }
    clock.advance(HOUR);
    wait_for_rows(&file, 0).await;
    drop((store, file));
    assert_eq!(checked(&path).await.problems, Vec::<String>::new());
}
