//! Every app on every store: its design is sound, every pattern gives the right answer to what it
//! declares, every race has the winners that it can have. Stores are opened at their addresses, with
//! the retries that users get.

use tabla::Store;
use tabla::entity::Db;
use tabla_kit::{App, check};

use crate::places::{Place, server};

async fn check_on(app: &dyn App, address: &str) {
    let store = tabla::open(address).await.expect("a store");
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
        check_on(&*app, &place.address()).await;
        assert_eq!(place.problems().await, Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn apps_on_sqlite_in_memory() {
    for app in crate::all() {
        check_on(&*app, "sqlite::memory:").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn apps_on_dynamodb_local() {
    let Some(server) = server("the apps") else { return };
    for app in crate::all() {
        let place = Place::server(&server);
        check_on(&*app, &place.address()).await;
        place.clear().await;
    }
}
