//! Expiry of items: the store's own sweeps, and the index of expiry times.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use tabla_core::env::{Clock, Env, ManualClock, Timestamp};
use tabla_core::ops::*;
use tabla_core::{ErrorKind, Item, KeyType, Store, StoreExt, attr, item};
use tabla_sqlite::{Durability, SqliteConfig, SqliteStore, Sweeps};

use crate::support::*;

const PERIOD: Duration = Duration::from_secs(60);
/// Duration of the sweep lease.
const LEASE: Duration = Duration::from_secs(30);

fn clock() -> ManualClock {
    ManualClock::new(Timestamp::from_secs(1_800_000_000))
}

async fn open_at(config: &SqliteConfig, clock: &ManualClock) -> SqliteStore {
    let env = Env::system().with_clock(Arc::new(clock.clone()));
    SqliteStore::open_with(config, env).await.expect("a store")
}

/// Creates the table `orders`, with a stream and with TTL by the attribute `expires`.
async fn create(store: &SqliteStore) {
    store.create_table(orders().stream(StreamViewType::NewAndOldImages)).await.expect("a table");
    expire_by(store, "expires").await;
}

async fn expire_by(store: &SqliteStore, attribute: &str) {
    let request = UpdateTimeToLive::new("orders", attribute, true);
    store.update_time_to_live(request).await.expect("a table with TTL");
}

/// Returns an order that expires `from_now` seconds from now.
fn expiring(clock: &ManualClock, number: i64, from_now: i64) -> Item {
    let at = clock.now().as_secs().checked_add_signed(from_now).expect("a time");
    order("expiring", number, "open").with("expires", at)
}

async fn put(store: &SqliteStore, item: Item) {
    store.put(PutItem::new("orders", item)).await.expect("a put");
}

async fn put_expiring(store: &SqliteStore, clock: &ManualClock, numbers: std::ops::Range<i64>) {
    for number in numbers {
        put(store, expiring(clock, number, 1)).await;
    }
}

/// Waits until `count` of the store's own sweeps have ended, at most a minute.
async fn swept(store: &SqliteStore, count: u64) -> Sweeps {
    let swept = tokio::time::timeout(Duration::from_secs(60), store.wait_for_sweeps(count)).await;
    swept.expect("the store sweeps by itself")
}

async fn left(store: &SqliteStore) -> usize {
    let page = store.query(Query::new("orders", attr("pk").eq("expiring")).consistent_read(true));
    page.await.expect("a page").items.len()
}

async fn is_sound(path: &Path) {
    assert_eq!(checked(path).await.problems, Vec::<String>::new());
}

/// Returns the events of the table's stream: name, number of the order, and whether the sweep was
/// the author.
async fn events(store: &SqliteStore) -> Vec<(EventName, i64, bool)> {
    let event = |record: Record| {
        let number = record.keys.get("sk").and_then(|sk| sk.as_number()).expect("a number");
        (record.event_name, number.to_i64().expect("a small one"), record.user_identity.is_some())
    };
    records(store).await.into_iter().map(event).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn store_deletes_expired_items_when_its_clock_moves() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    for config in [
        SqliteConfig::in_memory(),
        SqliteConfig::file(&path),
        SqliteConfig::file(folder.path().join("b.db")).with_durability(Durability::Relaxed),
    ] {
        let clock = clock();
        let store = open_at(&config.with_sweep_every(Some(PERIOD)), &clock).await;
        create(&store).await;
        put_expiring(&store, &clock, 0..200).await;
        put(&store, expiring(&clock, 500, 1000)).await;
        put(&store, order("lasting", 1, "open")).await;
        let put_off = UpdateItem::new("orders", item! { "pk" => "expiring", "sk" => 7 });
        store.update(put_off.update("REMOVE expires")).await.unwrap();
        clock.advance(PERIOD - Duration::from_secs(1));
        assert_eq!((left(&store).await, store.sweeps()), (201, Sweeps::default()));
        clock.advance(Duration::from_secs(1));
        let sweeps = swept(&store, 1).await;
        assert_eq!((sweeps.deleted, sweeps.last), (199, Some(clock.now())));
        assert_eq!(sweeps.problem, None);
        assert_eq!(left(&store).await, 2);
        let removed: Vec<_> = events(&store).await.into_iter().skip(203).collect();
        let expected: Vec<_> = (0..200).filter(|number| *number != 7).collect();
        assert!(removed.iter().all(|(event, _, by)| (*event, *by) == (EventName::Remove, true)));
        assert_eq!(removed.iter().map(|(_, number, _)| *number).collect::<Vec<_>>(), expected);
        // The next sweep is due a period later, and deletes what has expired since.
        clock.advance(Duration::from_secs(1000));
        assert_eq!(swept(&store, 2).await.deleted, 200);
        assert_eq!(left(&store).await, 1);
    }
    is_sound(&path).await;
}

#[tokio::test]
async fn store_without_sweeps_deletes_only_in_sweep_expired() {
    let clock = clock();
    let store = open_at(&SqliteConfig::in_memory().with_sweep_every(None), &clock).await;
    create(&store).await;
    put_expiring(&store, &clock, 0..100).await;
    clock.advance(Duration::from_secs(1));
    assert_eq!(store.sweep_expired().await.unwrap(), 0, "the second of expiry has not ended yet");
    clock.advance(10 * PERIOD);
    put(&store, order("lasting", 1, "open")).await;
    assert_eq!(left(&store).await, 100);
    assert_eq!(store.sweep_expired().await.unwrap(), 100);
    assert_eq!(store.sweep_expired().await.unwrap(), 0);
    assert_eq!((left(&store).await, store.sweeps()), (0, Sweeps::default()));
}

#[tokio::test(flavor = "multi_thread")]
async fn sweep_ends_while_callers_write_without_pause() {
    let folder = tempfile::tempdir().unwrap();
    for config in [
        SqliteConfig::in_memory(),
        SqliteConfig::file(folder.path().join("a.db")),
        SqliteConfig::file(folder.path().join("b.db")).with_durability(Durability::Relaxed),
    ] {
        let clock = clock();
        let store = open_at(&config.with_sweep_every(Some(PERIOD)), &clock).await;
        create(&store).await;
        put_expiring(&store, &clock, 0..400).await;
        clock.advance(PERIOD);
        let mut callers = tokio::task::JoinSet::new();
        for caller in 0..8 {
            let store = store.clone();
            callers.spawn(async move {
                let mut number = 0;
                while store.sweeps().count == 0 || number < 20 {
                    put(&store, order(&format!("c{caller}"), number, "open")).await;
                    number += 1;
                }
                number as usize
            });
        }
        let written: usize = callers.join_all().await.iter().sum();
        let swept = store.sweeps();
        assert_eq!((swept.deleted, swept.problem), (400, None));
        let described = store.describe_table(DescribeTable::new("orders")).await.unwrap();
        assert_eq!(described.item_count as usize, written);
        assert!(
            described.global_secondary_indexes.iter().all(|i| i.item_count as usize == written)
        );
    }
    for name in ["a.db", "b.db"] {
        is_sound(&folder.path().join(name)).await;
    }
}

#[tokio::test]
async fn expiry_index_is_filled_with_the_times_of_existing_items() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let clock = clock();
    let config = SqliteConfig::file(&path).with_durability(Durability::Relaxed);
    let store = open_at(&config.with_sweep_every(None), &clock).await;
    store.create_table(orders()).await.unwrap();
    put_expiring(&store, &clock, 0..700).await;
    expire_by(&store, "expires").await;
    // These writes change items before or after the backfill reads them.
    for number in (0..700).step_by(7) {
        let key = item! { "pk" => "expiring", "sk" => number };
        let later = UpdateItem::new("orders", key).update("SET expires = expires + :day");
        store.update(later.value(":day", 86_400)).await.unwrap();
    }
    clock.advance(Duration::from_secs(10));
    assert_eq!(store.sweep_expired().await.unwrap(), 600);
    clock.advance(Duration::from_secs(86_400));
    assert_eq!(store.sweep_expired().await.unwrap(), 100);
    drop(store);
    is_sound(&path).await;
}

#[tokio::test]
async fn expiry_index_is_dropped_when_time_to_live_is_turned_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let clock = clock();
    let config = SqliteConfig::file(&path).with_durability(Durability::Relaxed);
    let store = open_at(&config.with_sweep_every(None), &clock).await;
    store.create_table(orders()).await.unwrap();
    expire_by(&store, "expires").await;
    // More rows than are dropped at once, and all in one second.
    put_expiring(&store, &clock, 0..1200).await;
    clock.advance(Duration::from_secs(3600));
    let off = UpdateTimeToLive::new("orders", "expires", false);
    store.update_time_to_live(off).await.unwrap();
    assert_eq!(store.sweep_expired().await.unwrap(), 0);
    let raw = Connection::open(&path).unwrap();
    let tables = |like: &str| -> i64 {
        let select = "SELECT count(*) FROM sqlite_schema WHERE name LIKE ?1";
        raw.query_row(select, [like], |row| row.get(0)).unwrap()
    };
    assert_eq!(tables("expiry%"), 0);
    let mut turns = 0;
    while tables("garbage%") > 0 {
        // Each write lets the thread execute its next step.
        put(&store, order("lasting", 1, "open")).await;
        turns += 1;
        assert!(turns < 10_000, "the discarded expiry index was not emptied");
    }
    clock.advance(Duration::from_secs(3600));
    expire_by(&store, "expires").await;
    assert_eq!(store.sweep_expired().await.unwrap(), 1200);
    store.delete_table(DeleteTable::new("orders")).await.unwrap();
    assert_eq!(tables("expiry%"), 0);
    let filling: i64 =
        raw.query_row("SELECT count(*) FROM tabla_backfills", [], |row| row.get(0)).unwrap();
    assert_eq!(filling, 0);
    drop(store);
    is_sound(&path).await;
}

#[tokio::test]
async fn check_finds_damage_of_the_expiry_index() {
    let folder = tempfile::tempdir().unwrap();
    for (name, sql) in [
        ("missing", "DELETE FROM TIMES WHERE id = 3"),
        ("extra", "INSERT INTO TIMES (at, id) VALUES (1, 3)"),
        ("nowhere", "INSERT INTO TIMES (at, id) VALUES (1, 99)"),
        ("earlier", "UPDATE TIMES SET at = at - 1 WHERE id = 3"),
        ("swapped", "UPDATE TIMES SET id = 99 WHERE id = 3"),
    ] {
        let path = folder.path().join(name);
        let clock = clock();
        let store = open_at(&SqliteConfig::file(&path), &clock).await;
        create(&store).await;
        put_expiring(&store, &clock, 0..10).await;
        put(&store, order("lasting", 1, "open")).await;
        // This fills the expiry index.
        assert_eq!(store.sweep_expired().await.unwrap(), 0);
        drop(store);
        is_sound(&path).await;
        let raw = Connection::open(&path).unwrap();
        raw.execute_batch(&sql.replace("TIMES", &times(&raw))).unwrap();
        let report = checked(&path).await;
        let expected = "table orders: the expiry index does not match the items";
        assert!(report.problems.iter().any(|one| one.contains(expected)), "{name}: {report:?}");
    }
}

/// Returns the name of the SQL table with the expiry index of the only table.
fn times(file: &Connection) -> String {
    let number = "SELECT 'expiry_' || expiry FROM tabla_tables";
    file.query_row(number, [], |row| row.get(0)).expect("an expiry index")
}

#[tokio::test(flavor = "multi_thread")]
async fn second_store_on_a_file_sweeps_after_the_lease_has_expired() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let clock = clock();
    let often = Duration::from_secs(1);
    let config = SqliteConfig::file(&path).with_durability(Durability::Relaxed);
    let one = open_at(&config.clone().with_sweep_every(Some(often)), &clock).await;
    create(&one).await;
    put_expiring(&one, &clock, 0..10).await;
    clock.advance(Duration::from_secs(2));
    assert_eq!(swept(&one, 1).await.deleted, 10);
    let other = open_at(&config.with_sweep_every(Some(often)), &clock).await;
    // The first store renews its lease with each sweep.
    for round in 1..=20_u64 {
        put_expiring(&other, &clock, 0..10).await;
        clock.advance(Duration::from_secs(2));
        assert_eq!(swept(&one, round + 1).await.deleted, 10 * (round + 1));
        assert_eq!(other.sweeps().deleted, 0);
    }
    // `sweep_expired` needs no lease.
    put_expiring(&one, &clock, 0..5).await;
    drop(one);
    clock.advance(Duration::from_secs(2));
    assert_eq!(other.sweep_expired().await.unwrap(), 5);
    // The other store takes over when the lease of the first has expired, and not before.
    put_expiring(&other, &clock, 0..10).await;
    clock.advance(LEASE / 3);
    put(&other, order("lasting", 1, "open")).await;
    assert_eq!((left(&other).await, other.sweeps().deleted), (10, 0));
    clock.advance(LEASE);
    let before = other.sweeps().count;
    assert_eq!(swept(&other, before + 1).await.deleted, 10);
    drop(other);
    is_sound(&path).await;
}

/// Each sweep skips the damaged items, reports them, and deletes the rest.
#[tokio::test(flavor = "multi_thread")]
async fn sweep_skips_and_reports_damaged_items() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let clock = clock();
    let config = SqliteConfig::file(&path).with_sweep_every(Some(PERIOD));
    let store = open_at(&config, &clock).await;
    create(&store).await;
    put_expiring(&store, &clock, 0..150).await;
    let raw = Connection::open(&path).unwrap();
    raw.execute_batch("UPDATE items_1 SET sum = 1 WHERE id = 3; DELETE FROM items_1 WHERE id = 70")
        .unwrap();
    for count in 1..=2 {
        clock.advance(PERIOD);
        let sweeps = swept(&store, count).await;
        assert_eq!((sweeps.count, sweeps.deleted), (count, 148));
        let problem = sweeps.problem.expect("a reported problem");
        assert!(problem.contains("the checksum of the item in row 3 is wrong"), "{problem}");
    }
    put(&store, expiring(&clock, 500, -1)).await;
    let error = store.sweep_expired().await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Corrupt);
    assert!(error.message().ends_with("other expired items deleted: 1"), "{error}");
    // A wrong entry of the expiry index deletes nothing.
    put(&store, order("expiring", 600, "open")).await;
    let sql = format!("INSERT INTO {} SELECT 1800000000, max(id) FROM items_1", times(&raw));
    raw.execute_batch(&sql).unwrap();
    assert!(store.sweep_expired().await.is_err());
    let kept = store.get_item("orders", item! { "pk" => "expiring", "sk" => 600 }).await.unwrap();
    assert!(kept.is_some());
}

/// SQLite fails with one item in the middle of a step. The sweep skips that item.
#[tokio::test(flavor = "multi_thread")]
async fn step_that_fails_with_one_item_fails_no_caller() {
    let folder = tempfile::tempdir().unwrap();
    for durability in [Durability::Durable, Durability::Relaxed] {
        let path = folder.path().join(format!("{durability:?}.db"));
        fail_with_one_item(&path, SqliteConfig::file(&path).with_durability(durability)).await;
    }
}

async fn fail_with_one_item(path: &Path, config: SqliteConfig) {
    let clock = clock();
    let config = config.with_sweep_every(Some(PERIOD));
    let store = open_at(&config, &clock).await;
    create(&store).await;
    put_expiring(&store, &clock, 0..150).await;
    drop(store);
    let raw = Connection::open(path).expect("an open file");
    raw.execute_batch(
        "CREATE TRIGGER fails BEFORE DELETE ON index_3 WHEN old.id = 90 \
         BEGIN SELECT raise(ABORT, 'injected failure'); END",
    )
    .expect("a trigger");
    let store = open_at(&config, &clock).await;
    clock.advance(PERIOD);
    let mut number = 0;
    while store.sweeps().count == 0 {
        // Steps piggyback on the groups of these writes.
        put(&store, order("caller", number, "open")).await;
        number += 1;
    }
    let sweeps = store.sweeps();
    assert_eq!(sweeps.deleted, 149);
    assert!(
        sweeps.problem.as_ref().is_some_and(|one| one.contains("injected failure")),
        "{sweeps:?}"
    );
    assert!(store.sweep_expired().await.is_err());
    assert_eq!(left(&store).await, 1);
    raw.execute_batch("DROP TRIGGER fails").expect("an open file");
    clock.advance(PERIOD);
    let sweeps = swept(&store, 2).await;
    assert_eq!((sweeps.deleted, sweeps.problem), (150, None));
    drop(store);
    is_sound(path).await;
}

/// A store without expired items takes no write lock; a sweep waits while another connection
/// has it.
#[tokio::test(flavor = "multi_thread")]
async fn sweep_waits_while_the_file_is_locked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let clock = clock();
    let config = SqliteConfig::file(&path).with_sweep_every(Some(PERIOD));
    let store = open_at(&config, &clock).await;
    create(&store).await;
    put(&store, expiring(&clock, 1, 100)).await;
    assert_eq!(store.sweep_expired().await.unwrap(), 0);
    let mut raw = Connection::open(&path).unwrap();
    let lock = raw.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    clock.advance(PERIOD);
    let idle = swept(&store, 1).await;
    assert_eq!((idle.deleted, idle.problem), (0, None), "the idle store does not write");
    clock.advance(PERIOD);
    // Each read gives the thread time to find the file locked.
    for _ in 0..100 {
        assert_eq!(left(&store).await, 1);
    }
    assert_eq!(store.sweeps().count, 1);
    drop(lock);
    assert_eq!(swept(&store, 2).await.deleted, 1);
}

/// The clock keeps the waker of a dropped store, but not its connections.
#[tokio::test]
async fn clock_does_not_keep_a_dropped_store_open() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let clock = clock();
    let store = open_at(&SqliteConfig::file(&path), &clock).await;
    store.create_table(CreateTable::new("things").partition_key("pk", KeyType::S)).await.unwrap();
    drop(store);
    // SQLite deletes the log when the last connection is closed.
    assert!(!folder.path().join("a.db-wal").exists());
    clock.advance(10 * PERIOD);
}
