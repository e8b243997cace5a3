//! Every app on every store: its design is sound, every pattern gives the right answer to what it
//! declares, every race has the winners that it can have.

use std::sync::Arc;

use tabla::entity::Db;
use tabla::sqlite::{SqliteConfig, SqliteStore};
use tabla::{RetryPolicy, Store, StoreExt};
use tabla_kit::{App, check};

use crate::places::{Place, server};

async fn check_on(app: &dyn App, store: Arc<dyn Store>) {
    let design = app.design();
    let engine = store.capabilities().engine;
    let ran = check(app, &Db::new(store)).await;
    let ran = ran.unwrap_or_else(|error| panic!("on {engine}: {error}"));
    assert_eq!(ran.len(), design.patterns.len(), "{} on {engine}", design.name);
}

#[tokio::test(flavor = "multi_thread")]
async fn apps_on_sqlite_in_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    for app in crate::all() {
        let place = Place::file(folder.path(), format!("{}.db", app.design().name));
        check_on(&*app, place.open().await).await;
        assert_eq!(place.problems().await, Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn apps_on_sqlite_in_memory() {
    for app in crate::all() {
        let store = SqliteStore::open(&SqliteConfig::in_memory()).await.expect("a store");
        check_on(&*app, Arc::new(store)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn apps_on_dynamodb_local() {
    let Some(server) = server("the apps") else { return };
    for app in crate::all() {
        let place = Place::server(&server);
        // The service reports conflicts of transactions that an embedded store has wait.
        let store = place.open().await.with_retries(RetryPolicy::default());
        check_on(&*app, Arc::new(store)).await;
        place.clear().await;
    }
}
