//! Every access pattern of all apps over a failing server, through a store as `tabla::open` gives it.
//!
//! The server is on a socket, over a store that throttles, reports transaction conflicts, leaves batch
//! items unprocessed and loses answers after the commit. Each pattern also runs on a reference store
//! without failures, which records the state after every write. A pattern that succeeds must leave the
//! reference's last state: everything happened exactly once. One that fails must say
//! [`Applied::Maybe`], and leave one of the states between the first and the last.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures::TryStreamExt;
use tabla::entity::Db;
use tabla::env::{Env, ManualClock, SeededRandom, Timestamp};
use tabla::ops::{DeleteItem, DescribeTable, PutItem, Scan};
use tabla::{Applied, Item, MemoryStore, Result, RetryPolicy, Store, StoreExt};
use tabla_conformance::fault::{Failure, Failures, FaultStore, When};
use tabla_kit::App;

/// Part of all calls that fail in each of the five ways.
const CHANCE: f64 = 0.08;

/// Runs of each pattern, each with other failures.
const ROUNDS: u64 = 2;

/// Items of all tables, by table and key.
type State = BTreeMap<String, BTreeMap<String, Item>>;

/// The key attributes of an item, as text that identifies it in its table.
fn key_text(item: &Item, keys: &[String]) -> String {
    let values: Vec<String> = keys.iter().map(|name| format!("{:?}", item.get(name))).collect();
    values.join(" ")
}

/// Names of the key attributes of a table.
async fn keys(store: &dyn Store, table: &str) -> Vec<String> {
    let described = store.describe_table(DescribeTable::new(table)).await.expect("a table");
    described.key_schema.into_iter().map(|key| key.name).collect()
}

async fn state(store: &dyn Store) -> State {
    let mut state = State::new();
    for table in store.all_tables().await.expect("tables") {
        let keys = keys(store, &table).await;
        let scan = Scan::new(&table).consistent_read(true);
        let items: Vec<Item> = store.scan_items(scan).try_collect().await.expect("items");
        let items = items.into_iter().map(|item| (key_text(&item, &keys), item)).collect();
        state.insert(table, items);
    }
    state
}

/// Makes the tables of a store hold this state.
async fn load(store: &dyn Store, wanted: &State) {
    for (table, items) in state(store).await {
        let keys = keys(store, &table).await;
        let wanted = &wanted[&table];
        for item in items.iter().filter(|(key, _)| !wanted.contains_key(*key)).map(|(_, it)| it) {
            let mut key = Item::new();
            for name in &keys {
                key.insert(name.as_str(), item.get(name).expect("a key").to_value());
            }
            store.delete(DeleteItem::new(&table, key)).await.expect("a delete");
        }
        for (key, item) in wanted.iter().filter(|(key, item)| items.get(*key) != Some(item)) {
            store.put(PutItem::new(&table, item.clone())).await.expect(key);
        }
    }
}

/// A store that records its state after each write.
#[derive(Debug)]
struct Recording {
    store: Arc<MemoryStore>,
    states: Mutex<Vec<State>>,
}

macro_rules! recorded {
    ($self:ident, get, $request:ident) => {
        $self.store.get($request).await
    };
    ($self:ident, query, $request:ident) => {
        $self.store.query($request).await
    };
    ($self:ident, $method:ident, $request:ident) => {{
        let answer = $self.store.$method($request).await;
        let now = state(&$self.store).await;
        let mut states = $self.states.lock().expect("no panic");
        if states.last() != Some(&now) {
            states.push(now);
        }
        answer
    }};
}

tabla::wrap_store! {
    impl[] Store for Recording, inner: store, call: recorded
}

/// Noon of a day, at which the clock of the apps stands still: so the same operation writes the same
/// item on both stores.
fn still(seed: u64) -> Env {
    Env::test(ManualClock::new(Timestamp::from_secs(1_786_190_400)), seed)
}

/// Seed of the random numbers while data is filled in.
const SEEDING: u64 = 5;
/// Seed of the random numbers while the first pattern runs, counted up for the others: no id repeats.
const RUNNING: u64 = 7;

/// Entities on a store, with ids drawn from the sequence of this seed. Optimistic retries draw and wait
/// elsewhere, since the reference makes none.
fn entities(store: Arc<dyn Store>, seed: u64) -> Db {
    let elsewhere = Env::test(ManualClock::new(Timestamp::from_secs(1)), 6);
    Db::with_env(store, still(seed)).with_retries(RetryPolicy::contended(elsewhere))
}

fn failures() -> Failures {
    let all = [
        Failure::Throttled,
        Failure::Unavailable,
        Failure::AnswerLost,
        Failure::Conflict,
        Failure::Unprocessed(2),
    ];
    let none = Failures::new().random(Arc::new(SeededRandom::new(3)));
    all.into_iter().fold(none, |plan, failure| plan.everywhere(When::Chance(CHANCE), failure))
}

/// Outcomes of all runs of an app: succeeded, and failed with `applied: Maybe`.
#[derive(Debug, Default)]
struct Outcomes {
    succeeded: u32,
    uncertain: u32,
}

async fn run(app: &dyn App) -> Result<Outcomes> {
    let reference = Arc::new(MemoryStore::with_env(still(SEEDING)).with_sweep_every(None));
    let db = entities(reference.clone(), SEEDING);
    app.create_tables(&db).await?;
    app.seed(&db, 1, &|_, _| {}).await?;

    let behind = Arc::new(MemoryStore::with_env(still(SEEDING)).with_sweep_every(None));
    app.create_tables(&entities(behind.clone(), SEEDING)).await?;
    let faulty = FaultStore::new(behind.clone() as Arc<dyn Store>).failures(failures());
    let server = tabla::server::spawn(Arc::new(faulty)).await?;
    let store = tabla::open(&format!("dynamodb://{}", server.address())).await?;
    let mut outcomes = Outcomes::default();
    let name = app.design().name;
    for (number, pattern) in app.design().patterns.into_iter().enumerate() {
        // On what the patterns before have left: some of them prepare others.
        let before = state(&reference).await;
        let ids = RUNNING + number as u64;
        let states = Mutex::new(vec![before.clone()]);
        let recording = Arc::new(Recording { store: reference.clone(), states });
        let right = app.run(&entities(recording.clone(), ids), pattern.name).await;
        right.unwrap_or_else(|error| panic!("{name}: {}: {error}", pattern.name));
        let states = std::mem::take(&mut *recording.states.lock().expect("no panic"));
        for round in 0..ROUNDS {
            load(&behind, &before).await;
            let outcome = app.run(&entities(store.clone(), ids), pattern.name).await;
            let now = state(&behind).await;
            let place = states.iter().position(|known| *known == now);
            let what = format!("{name}: {}, round {round}: {outcome:?}", pattern.name);
            match outcome {
                Ok(_) => {
                    assert_eq!(place, Some(states.len() - 1), "{what}");
                    outcomes.succeeded += 1;
                }
                Err(error) => {
                    assert_eq!(error.applied(), Applied::Maybe, "{what}");
                    assert!(place.is_some(), "{what}: a state that no operation leaves: {now:#?}");
                    outcomes.uncertain += 1;
                }
            }
        }
    }
    server.stop().await;
    Ok(outcomes)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_pattern_of_all_apps_happens_once_over_a_failing_server() {
    let mut all = Outcomes::default();
    for app in crate::all() {
        let outcomes = run(&*app).await.expect("the app is sound");
        all.succeeded += outcomes.succeeded;
        all.uncertain += outcomes.uncertain;
    }
    // Most succeed, and some meet a lost answer that nothing can resolve.
    assert!(all.succeeded > 10 * all.uncertain && all.uncertain > 0, "{all:?}");
}
