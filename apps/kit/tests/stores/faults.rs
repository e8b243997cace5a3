//! Two hundred clients who reserve funds on real stores that fail in every way that passes.

use std::sync::{Arc, Mutex};

use futures::future::join_all;
use tabla::Store;
use tabla::entity::Db;
use tabla::env::SeededRandom;
use tabla::sqlite::{SqliteConfig, SqliteStore};
use tabla_conformance::fault::{Failures, Fault, FaultStore};
use tabla_conformance::interleave::InterleavingStore;
use tabla_crypto_cards::CryptoCardsApp;
use tabla_crypto_cards::drill::{Drill, Ledger};
use tabla_kit::App;

use crate::places::{Place, server};

const CLIENTS: u64 = 200;
/// What each pays for: less on the server, where everything takes much longer.
const PAYMENTS: u64 = 2;
const PAYMENTS_ON_SERVER: u64 = 1;
/// The most of each failure, as a part of all calls.
const MOST: f64 = 0.1;

type Faulty = FaultStore<Arc<dyn Store>>;

/// What is wrong after everybody has paid through a store like this, and what they were told. There
/// are turns between the calls: in memory, and where it reads, SQLite does not wait.
async fn paid(
    store: Arc<dyn Store>,
    payments: u64,
    through: impl FnOnce(Faulty) -> Faulty,
) -> (Vec<String>, Ledger) {
    let db = Db::new(Arc::clone(&store));
    CryptoCardsApp.create_tables(&db).await.expect("tables");
    let drill = Drill::new(&db, CLIENTS, payments);
    drill.open().await.expect("accounts");
    let through = InterleavingStore::new(through(FaultStore::new(store)));
    let through = Drill::new(&db.on(Arc::new(through)), CLIENTS, payments);
    let ledger = Arc::new(Mutex::new(Ledger::default()));
    let clients = (0..CLIENTS).map(|number| {
        let (drill, ledger) = (through.clone(), Arc::clone(&ledger));
        tokio::spawn(async move {
            let tell = |told| ledger.lock().expect("nobody has panicked").note(told);
            drill.client(number, tell).await
        })
    });
    for end in join_all(clients.collect::<Vec<_>>()).await {
        end.expect("no panic").expect("everything passes");
    }
    let ledger = ledger.lock().expect("nobody has panicked").clone();
    (drill.audit().await.expect("an audit").wrong(&ledger), ledger)
}

/// All is right although this store fails.
async fn passes(store: Arc<dyn Store>, payments: u64, seed: u64) {
    let failures = Failures::transient(Arc::new(SeededRandom::new(seed)), MOST);
    let (wrong, ledger) = paid(store, payments, |store| store.failures(failures)).await;
    assert_eq!(wrong, Vec::<String>::new(), "seed {seed}");
    let (authorised, rejected) = ledger.authorised_and_rejected();
    assert!(authorised > 0 && rejected > 0, "{authorised} and {rejected}");
}

async fn in_memory() -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(&SqliteConfig::in_memory()).await.expect("a store"))
}

#[tokio::test(flavor = "multi_thread")]
async fn reservations_on_sqlite_in_a_file_that_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    for seed in 1..=2 {
        let place = Place::file(folder.path(), format!("{seed}.db"));
        passes(place.open().await, PAYMENTS, seed).await;
        assert_eq!(place.problems().await, Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reservations_on_sqlite_in_memory_that_fails() {
    for seed in 11..=12 {
        passes(in_memory().await, PAYMENTS, seed).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reservations_on_dynamodb_local_that_fails() {
    let Some(server) = server("reservations on a store that fails") else { return };
    let place = Place::server(&server);
    passes(place.open().await, PAYMENTS_ON_SERVER, 21).await;
    place.clear().await;
}

/// The audit would notice if the condition on the version of an account were not there.
#[tokio::test]
async fn reservations_without_conditions_do_not_pass() {
    let broken = |store: Faulty| store.fault(Fault::TransactionUnconditional);
    let (wrong, _) = paid(in_memory().await, PAYMENTS, broken).await;
    let found = |what| wrong.iter().any(|found| found.contains(what));
    assert!(found("are reserved") && found("Authorized twice"), "{wrong:#?}");
}
