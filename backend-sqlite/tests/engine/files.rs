//! Files: reopened, foreign, truncated and damaged ones, and the sample file of the format.

use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::time::Duration;

use tabla_core::env::{Env, ManualClock, Timestamp};
use tabla_core::ops::*;
use tabla_core::{Applied, ErrorKind, Item, Store, StoreExt, attr, item};
use tabla_sqlite::{Durability, SqliteConfig, SqliteStore};

use crate::support::*;

#[tokio::test]
async fn reopened_file_has_items_indexes_counts_and_streams() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = open(&path).await;
    let create = orders().stream(StreamViewType::NewAndOldImages);
    store.create_table(create).await.unwrap();
    fill(&store, 50).await;
    store.delete(DeleteItem::new("orders", item! { "pk" => "c0", "sk" => 0 })).await.unwrap();
    let before = store.describe_table(DescribeTable::new("orders")).await.unwrap();
    let streams = store.list_streams(ListStreams::default()).await.unwrap();
    drop(store);

    let report = checked(&path).await;
    assert_eq!(report.problems, Vec::<String>::new());
    assert_eq!((report.tables, report.items, report.entries, report.records), (1, 49, 98, 51));
    let store = open(&path).await;
    assert_eq!(store.describe_table(DescribeTable::new("orders")).await.unwrap(), before);
    assert_eq!(before.item_count, 49);
    assert_eq!(store.list_streams(ListStreams::default()).await.unwrap(), streams);
    let page = store.query(Query::new("orders", attr("status").eq("paid")).index("by-status"));
    assert_eq!(page.await.unwrap().items.len(), 17);
}

/// The TTL attribute of the sample's table is `expires`. One item has it, set to 1 January
/// 2100, UTC.
#[tokio::test]
async fn sample_file_opens_and_has_its_content() {
    let folder = tempfile::tempdir().unwrap();
    let path = sample(folder.path());
    is_sound_sample(&path).await;
    let clock = ManualClock::new(Timestamp::from_secs(4_102_444_801));
    let config = SqliteConfig::file(&path).with_sweep_every(None);
    let store = SqliteStore::open_with(&config, Env::test(clock, 7)).await.unwrap();
    let expiring = order("c0", 7, "paid").with("expires", 4_102_444_800_u64);
    let mut found = store.scan(Scan::new("orders")).await.unwrap().items;
    found.sort_by_key(|item| item.get("sk").unwrap().as_number());
    let expected: Vec<Item> = (0..9)
        .map(|number| match number {
            7 => expiring.clone(),
            _ => {
                let status = ["open", "paid", "sent"][number as usize % 3];
                order(&format!("c{}", number % 7), number, status)
            }
        })
        .collect();
    assert_eq!(found, expected);
    let page = store.query(Query::new("orders", attr("pk").eq("c1"))).await.unwrap();
    assert_eq!(page.items, [order("c1", 1, "paid"), order("c1", 8, "sent")]);
    for index in ["by-status", "keys"] {
        let query = Query::new("orders", attr("status").eq("sent")).index(index);
        assert_eq!(store.query(query).await.unwrap().items.len(), 3);
    }
    let described = store.describe_table(DescribeTable::new("orders")).await.unwrap();
    assert_eq!(described.item_count, 9);
    let streams = store.list_streams(ListStreams::default()).await.unwrap().streams;
    assert_eq!(streams.len(), 1);
    let ttl = store.describe_time_to_live(DescribeTimeToLive::new("orders")).await.unwrap();
    assert_eq!(ttl.attribute.as_deref(), Some("expires"));
    store.put(PutItem::new("orders", order("c1", 9, "open"))).await.unwrap();
    assert_eq!(store.sweep_expired().await.unwrap(), 1);
    store.put(PutItem::new("orders", expiring)).await.unwrap();
    drop(store);
    let report = checked(&path).await;
    assert_eq!(report.problems, Vec::<String>::new());
    assert_eq!((report.items, report.entries), (10, 20));
}

/// The fingerprint in the sample, written by an earlier program, matches that of this program.
#[tokio::test]
async fn sample_file_has_the_token_of_its_transaction() {
    let folder = tempfile::tempdir().unwrap();
    let path = sample(folder.path());
    let completed_at: i64 = rusqlite::Connection::open(&path)
        .and_then(|file| {
            file.query_row("SELECT completed_at FROM tabla_tokens", [], |row| row.get(0))
        })
        .unwrap();
    let clock = ManualClock::new(Timestamp::from_millis(completed_at as u64));
    let config = SqliteConfig::file(&path).with_sweep_every(None);
    let store = SqliteStore::open_with(&config, Env::test(clock, 7)).await.unwrap();
    let key = item! { "pk" => "c0", "sk" => 7 };
    let read = async || store.get(GetItem::new("orders", key.clone())).await.unwrap().item;
    let before = read().await;
    store.transact_write(sample_transaction()).await.unwrap();
    assert_eq!(read().await, before, "a transaction with a request token is executed once");
    let other = sample_transaction().item(PutItem::new("orders", order("c0", 70, "open")));
    let error = store.transact_write(other).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::IdempotentParameterMismatch);
}

/// The sample of the current format has the schema that this code creates. After a change of the
/// format, run this test with `TABLA_SAMPLE=1` in the environment to write the new sample.
#[tokio::test]
async fn sample_file_has_the_current_format() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.db");
    let store = open(&path).await;
    store.create_table(orders().stream(StreamViewType::NewAndOldImages)).await.unwrap();
    store.update_time_to_live(UpdateTimeToLive::new("orders", "expires", true)).await.unwrap();
    fill(&store, 9).await;
    let key = || item! { "pk" => "c0", "sk" => 7 };
    let update = |update: &str| UpdateItem::new("orders", key()).update(update);
    let expires = update("SET expires = :at, gone = :at").value(":at", 4_102_444_800_u64);
    store.update(expires).await.unwrap();
    store.update(update("REMOVE gone SET n = :n").value(":n", 1)).await.unwrap();
    drop(store);
    // The cache of base records of a new store is empty, so it writes both images.
    let store = open(&path).await;
    store.transact_write(sample_transaction()).await.unwrap();
    let other = item! { "pk" => "c0", "sk" => 99 };
    store.put(PutItem::new("orders", other.clone())).await.unwrap();
    store.delete(DeleteItem::new("orders", other)).await.unwrap();
    drop(store);

    is_sound_sample(&path).await;
    if std::env::var_os("TABLA_SAMPLE").is_some() {
        std::fs::copy(&path, sample_path()).expect("a copy in the folder of the samples");
    }
    let tables = |path: &std::path::Path| -> Vec<(String, Option<String>)> {
        rusqlite::Connection::open(path)
            .and_then(|file| {
                let mut select =
                    file.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name")?;
                select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
            })
            .expect("the schema of the file")
    };
    assert_eq!(tables(&path), tables(&sample(folder.path())));
}

/// Returns the only transaction in the sample.
fn sample_transaction() -> TransactWriteItems {
    let update = UpdateItem::new("orders", item! { "pk" => "c0", "sk" => 7 })
        .update(tabla_core::Update::new().remove("n"))
        .condition("#s = :s")
        .name("#s", "status")
        .value(":s", "paid");
    TransactWriteItems::new().item(update).client_request_token("sample")
}

/// Expects a sound sample. The check works before any store has opened the file.
async fn is_sound_sample(path: &std::path::Path) {
    let report = checked(path).await;
    assert_eq!(report.problems, Vec::<String>::new());
    assert_eq!((report.items, report.entries, report.records), (9, 18, 14));
}

#[tokio::test]
async fn request_token_is_valid_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let add = || {
        let key = item! { "pk" => "a", "sk" => 1 };
        let update = UpdateItem::new("orders", key).update("ADD n :one").value(":one", 1);
        TransactWriteItems::new().item(update).client_request_token("once")
    };
    let store = open(&path).await;
    store.create_table(orders()).await.unwrap();
    store.transact_write(add()).await.unwrap();
    drop(store);
    let store = open(&path).await;
    store.transact_write(add()).await.unwrap();
    let item = store.get(GetItem::new("orders", item! { "pk" => "a", "sk" => 1 })).await.unwrap();
    assert_eq!(item.item.unwrap().get("n").unwrap().as_number(), Some(1.into()));
}

#[tokio::test]
async fn index_is_backfilled_during_concurrent_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let config = SqliteConfig::file(&path).with_durability(tabla_sqlite::Durability::Relaxed);
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&config).await.unwrap());
    store.create_table(orders()).await.unwrap();
    fill(&*store, 1500).await;
    let index = SecondaryIndex::new("by-note").partition_key("note");
    let update =
        UpdateTable::new("orders").attribute("note", tabla_core::KeyType::S).create_index(index);
    let writing = {
        let store = Arc::clone(&store);
        tokio::spawn(async move {
            for number in 0..300 {
                let key = item! { "pk" => format!("c{}", number % 7), "sk" => number };
                let change = UpdateItem::new("orders", key.clone())
                    .update("SET note = :n")
                    .value(":n", format!("n{number}"));
                store.update(change).await.unwrap();
                if number % 3 == 0 {
                    store.delete(DeleteItem::new("orders", key)).await.unwrap();
                }
            }
        })
    };
    let described = store.update_table(update).await.unwrap();
    let filled = described.global_secondary_indexes.iter().find(|i| i.name == "by-note").unwrap();
    assert_eq!((filled.status, filled.backfilling), (TableStatus::Active, false));
    writing.await.unwrap();
    assert_eq!(count(&store, Some("by-note")).await, 1400);
    assert_eq!(count(&store, None).await, 1400);
    drop(store);
    assert_eq!(checked(&path).await.problems, Vec::<String>::new());
}

#[tokio::test]
async fn large_deleted_table_is_emptied_in_steps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let config = SqliteConfig::file(&path).with_durability(tabla_sqlite::Durability::Relaxed);
    let store = SqliteStore::open(&config).await.unwrap();
    store.create_table(orders()).await.unwrap();
    fill(&store, 2500).await;
    store.delete_table(DeleteTable::new("orders")).await.unwrap();
    let outcome = store.get(GetItem::new("orders", item! { "pk" => "c0", "sk" => 0 })).await;
    assert!(outcome.unwrap_err().is_not_found());
    // A new table of the same name is empty.
    store.create_table(orders()).await.unwrap();
    fill(&store, 3).await;
    let store: Arc<dyn Store> = Arc::new(store);
    assert_eq!(count(&store, None).await, 3);
    drop(store);
    // A reopened store continues the maintenance that was left.
    let store = open(&path).await;
    let raw = rusqlite::Connection::open(&path).unwrap();
    let left = || -> i64 {
        let select = "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'garbage%'";
        raw.query_row(select, [], |row| row.get(0)).unwrap()
    };
    let mut turns = 0;
    while left() > 0 {
        // Each write lets the thread execute its next step.
        fill(&store, 1).await;
        turns += 1;
        assert!(turns < 10_000, "the discarded table was not emptied");
    }
    drop(store);
    assert_eq!(checked(&path).await.problems, Vec::<String>::new());
}

#[tokio::test]
async fn foreign_files_are_refused_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = async |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let error = SqliteStore::open(&SqliteConfig::file(&path)).await.unwrap_err();
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "{name} was changed");
        let checked = tabla_sqlite::check(&path, |_| ()).await.unwrap_err();
        assert_eq!(checked.kind(), error.kind());
        error
    };
    let error =
        refusal("text", b"dear diary, this is no database at all, but it is long enough").await;
    assert_eq!(error.kind(), &ErrorKind::Corrupt);
    assert!(error.message().contains("not an SQLite file"), "{error}");

    let other = folder.path().join("other.db");
    let raw = rusqlite::Connection::open(&other).unwrap();
    raw.execute_batch("CREATE TABLE songs (title TEXT)").unwrap();
    drop(raw);
    let error = refusal("foreign", &std::fs::read(&other).unwrap()).await;
    assert_eq!(error.kind(), &ErrorKind::Config);
    assert!(error.message().contains("tabla did not write this SQLite file"), "{error}");

    let own = folder.path().join("own.db");
    open(&own).await;
    let raw = rusqlite::Connection::open(&own).unwrap();
    raw.execute_batch("PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(raw);
    let error = refusal("newer", &std::fs::read(&own).unwrap()).await;
    assert_eq!(error.kind(), &ErrorKind::Config);
    let expected = "newer`: file format 99 is newer than this program (1); upgrade tabla";
    assert!(error.message().ends_with(expected), "{error}");

    // A file from before the first release has the same format version and another application id.
    let raw = rusqlite::Connection::open(&own).unwrap();
    let header = "PRAGMA user_version = 1; PRAGMA application_id = 0x7461626C";
    raw.execute_batch(&format!("{header}; PRAGMA wal_checkpoint(TRUNCATE)")).unwrap();
    drop(raw);
    let error = refusal("prerelease", &std::fs::read(&own).unwrap()).await;
    assert_eq!(error.kind(), &ErrorKind::Config);
    assert!(error.message().contains("before the first release"), "{error}");

    let error = SqliteStore::open(&SqliteConfig::file(folder.path())).await.unwrap_err();
    assert!(error.message().contains("it is a directory; name a file in it"), "{error}");
    let below_a_file = own.join("below/a.db");
    let error = SqliteStore::open(&SqliteConfig::file(below_a_file)).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Config);
    let expected = format!("`{}` is a file, not a folder; name a folder", own.display());
    assert!(error.message().ends_with(&expected), "{error}");
    let nowhere = folder.path().join("no/such/folder/a.db");
    let error = SqliteStore::open(&SqliteConfig::file(nowhere)).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Config);
}

#[tokio::test]
async fn truncated_file_is_reported_as_corrupt() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = open(&path).await;
    store.create_table(orders()).await.unwrap();
    fill(&store, 200).await;
    drop(store);
    let length = std::fs::metadata(&path).unwrap().len();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length / 2).unwrap();
    match SqliteStore::open(&SqliteConfig::file(&path)).await {
        Err(error) => assert_eq!(error.kind(), &ErrorKind::Corrupt, "{error}"),
        Ok(store) => {
            let error = store.scan(Scan::new("orders")).await.unwrap_err();
            assert_eq!(error.kind(), &ErrorKind::Corrupt, "{error}");
        }
    }
}

/// One bit is flipped in the middle of an item. SQLite does not detect that, the checksum does.
#[tokio::test]
async fn flipped_bit_fails_only_operations_on_its_item() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = open(&path).await;
    store.create_table(orders()).await.unwrap();
    fill(&store, 20).await;
    let marked = order("c1", 99, "open").with("note", "the one that will be damaged");
    store.put(PutItem::new("orders", marked)).await.unwrap();
    drop(store);

    let mut bytes = Vec::new();
    let mut file = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    file.read_to_end(&mut bytes).unwrap();
    let text = b"the one that will be damaged";
    let at = bytes.windows(text.len()).position(|part| part == text).unwrap();
    file.seek(SeekFrom::Start(at as u64)).unwrap();
    file.write_all(&[bytes[at] ^ 0x01]).unwrap();
    drop(file);

    let store = open(&path).await;
    let key = item! { "pk" => "c1", "sk" => 99 };
    let error = store.get(GetItem::new("orders", key.clone())).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Corrupt);
    assert!(error.message().contains("the checksum of the item"), "{error}");
    // Writes of the damaged item fail too, alone or in a transaction; other items are not affected.
    let put = PutItem::new("orders", order("c1", 99, "paid"));
    assert_eq!(store.put(put).await.unwrap_err().kind(), &ErrorKind::Corrupt);
    let both = TransactWriteItems::new()
        .item(PutItem::new("orders", order("c1", 500, "open")))
        .item(PutItem::new("orders", order("c1", 99, "paid")));
    assert_eq!(store.transact_write(both).await.unwrap_err().kind(), &ErrorKind::Corrupt);
    let batch = BatchWriteItem::new()
        .put("orders", order("c1", 500, "open"))
        .put("orders", order("c1", 99, "paid"));
    assert_eq!(store.batch_write(batch).await.unwrap_err().kind(), &ErrorKind::Corrupt);
    let other = store.get(GetItem::new("orders", item! { "pk" => "c1", "sk" => 500 })).await;
    assert_eq!(other.unwrap().item, None);
    let well = store.get(GetItem::new("orders", item! { "pk" => "c1", "sk" => 1 })).await;
    assert!(well.unwrap().item.is_some());
    drop(store);
    let report = checked(&path).await;
    assert!(
        report.problems.iter().any(|p| p.contains("the checksum of the item is wrong")),
        "{report:?}"
    );
}

#[tokio::test]
async fn check_reports_damaged_rows_index_entries_and_counts() {
    let folder = tempfile::tempdir().unwrap();
    let damage = async |name: &str, sql: &str, expected: &str| {
        let path = folder.path().join(name);
        let store = open(&path).await;
        store.create_table(orders()).await.unwrap();
        fill(&store, 30).await;
        drop(store);
        let raw = rusqlite::Connection::open(&path).unwrap();
        raw.execute_batch(sql).unwrap();
        drop(raw);
        let report = checked(&path).await;
        assert!(report.problems.iter().any(|p| p.contains(expected)), "{name}: {report:?}");
    };
    damage(
        "entry",
        "DELETE FROM index_2 WHERE id = 3",
        "index by-status of table orders: its entries",
    )
    .await;
    damage(
        "extra",
        "INSERT INTO index_2 SELECT x'00', id FROM items_1 LIMIT 1",
        "its entries do not match",
    )
    .await;
    damage("wrong", "UPDATE index_2 SET id = 5 WHERE id = 3", "its entries do not match").await;
    damage("keys", "DELETE FROM index_3 WHERE id = 7", "index keys of table orders").await;
    damage("item", "DELETE FROM items_1 WHERE id = 4", "refers to row 4, which does not exist")
        .await;
    damage("key", "DELETE FROM keys_1 WHERE id = 4", "30 item rows, but keys refer to 29").await;
    damage("swap", "UPDATE keys_1 SET id = 5 WHERE id = 4", "the item does not match its row key")
        .await;
    damage("count", "UPDATE tabla_counts SET bytes = 1 WHERE number = 1", "30 items of 1 bytes")
        .await;
    damage("sum", "UPDATE items_1 SET sum = 1 WHERE id = 9", "the checksum of the item is wrong")
        .await;
}

/// SQLite fails in the middle of a transaction, after some of its writes. Later writes succeed.
#[tokio::test]
async fn transaction_that_fails_in_the_middle_is_rolled_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let store = open(&path).await;
    store.create_table(orders()).await.unwrap();
    drop(store);
    let trigger = "CREATE TRIGGER fails BEFORE INSERT ON index_3 WHEN new.id > 2 \
                   BEGIN SELECT raise(ABORT, 'injected failure'); END";
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.execute_batch(trigger).unwrap();
    let store = open(&path).await;
    let several = (1..=4).fold(TransactWriteItems::new(), |several, number| {
        several.item(PutItem::new("orders", order("c", number, "open")))
    });
    let error = store.transact_write(several.clone()).await.unwrap_err();
    assert_eq!((error.kind(), error.applied()), (&ErrorKind::Unexpected, tabla_core::Applied::No));
    let page = store.query(Query::new("orders", attr("pk").eq("c"))).await.unwrap();
    assert_eq!(page.items, []);
    store.put(PutItem::new("orders", order("c", 9, "open"))).await.unwrap();
    raw.execute_batch("DROP TRIGGER fails").unwrap();
    store.transact_write(several).await.unwrap();
    let page = store.query(Query::new("orders", attr("pk").eq("c"))).await.unwrap();
    assert_eq!(page.items.len(), 5);
    drop((store, raw));
    assert_eq!(checked(&path).await.problems, Vec::<String>::new());
}

/// The state of a stream is read after the item was written. If it is damaged, the transaction is
/// rolled back.
#[tokio::test]
async fn damaged_stream_state_rolls_back_the_whole_transaction() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let clock = ManualClock::new(Timestamp::from_secs(1_800_000_000));
    let config = SqliteConfig::file(&path);
    let store = SqliteStore::open_with(&config, Env::test(clock.clone(), 7)).await.unwrap();
    store.create_table(orders().stream(StreamViewType::NewImage)).await.unwrap();
    fill(&store, 3).await;
    let file = rusqlite::Connection::open(&path).unwrap();
    file.execute("UPDATE tabla_streams SET log = substr(log, 2)", []).unwrap();
    // The next record needs new shards, which changes the state of the stream.
    clock.advance(Duration::from_secs(4 * 60 * 60));
    let both = TransactWriteItems::new()
        .item(PutItem::new("orders", order("new", 1, "open")))
        .item(PutItem::new("orders", order("new", 2, "open")));
    let error = store.transact_write(both).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Corrupt, "{error}");
    assert_eq!(error.applied(), Applied::No);
    for number in [1, 2] {
        let key = item! { "pk" => "new", "sk" => number };
        assert_eq!(store.get_item("orders", key).await.unwrap(), None);
    }
    let select = "SELECT count(*) FROM records_4";
    let kept = file.query_row(select, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(kept, 3, "the records of earlier writes stay");
}

/// The WAL is checkpointed repeatedly, so it does not grow with the amount that is written.
#[tokio::test(flavor = "multi_thread")]
async fn wal_stays_short_during_many_writes() {
    for durability in [Durability::Durable, Durability::Relaxed] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let config = SqliteConfig::file(&path).with_durability(durability).with_wal_pages(100);
        let store = SqliteStore::open(&config).await.unwrap();
        store.create_table(orders()).await.unwrap();
        fill(&store, 1500).await;
        let log = std::fs::metadata(folder.path().join("a.db-wal")).unwrap().len();
        // 1500 orders write about 9,000 pages of 4 KB. The lag of the thread depends on the
        // machine, but it is less than half of all pages.
        assert!(log < 18_000_000, "{durability:?}: the log has {log} bytes");
    }
}
