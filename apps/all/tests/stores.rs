//! Every app on every store: its design is sound, every pattern gives the right answer to what it
//! declares, every race has the winners that it can have.

use std::sync::Arc;

use tabla::entity::Db;
use tabla::entity::app::{App, check};
use tabla::env::Env;
use tabla::{RetryPolicy, Store, StoreExt};
use tabla_dynamo::{DynamoConfig, DynamoStore};
use tabla_sqlite::{SqliteConfig, SqliteStore};

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
    for app in tabla_apps::all() {
        let path = folder.path().join(format!("{}.db", app.design().name));
        let store = SqliteStore::open(&SqliteConfig::file(&path)).await.expect("a store");
        check_on(&*app, Arc::new(store)).await;
        let report = tabla_sqlite::check(&path, |_| {}).await.expect("the file can be read");
        assert!(report.is_sound(), "{:?}", report.problems);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn apps_on_sqlite_in_memory() {
    for app in tabla_apps::all() {
        let store = SqliteStore::open(&SqliteConfig::in_memory()).await.expect("a store");
        check_on(&*app, Arc::new(store)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn apps_on_dynamodb_local() {
    if tabla_testkit::dynamodb::is_excluded() {
        println!("not run, as asked: the apps on DynamoDB Local");
        return;
    }
    let server = tabla_testkit::dynamodb::endpoint().expect("a server for the tests");
    for app in tabla_apps::all() {
        let prefix = format!("app-{}-", Env::system().token());
        let config = DynamoConfig::at(server.url()).with_table_prefix(&prefix);
        let store = DynamoStore::open(&config).await.expect("the server answers");
        // The service reports conflicts of transactions that an embedded store has wait.
        let store: Arc<dyn Store> = Arc::new(store.with_retries(RetryPolicy::default()));
        check_on(&*app, Arc::clone(&store)).await;
        for table in store.all_tables().await.expect("the tables") {
            store.delete_table(tabla::ops::DeleteTable::new(&table)).await.expect("it goes");
        }
    }
}
