//! Tables are there, and can be used, once they were created.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use tabla_core::env::{Env, ManualClock, Timestamp};
use tabla_core::ops::{DescribeTimeToLive, TableStatus, TimeToLiveStatus};
use tabla_core::{ErrorKind, MemoryStore, Result, StoreExt};
use tabla_entity::AppDesign;
use tabla_entity::{Db, TableDesign, UtcTime};
use tabla_kit::{Answer, App, Progress, Race};

use crate::scripted::Scripted;

static MAIN: LazyLock<TableDesign> =
    LazyLock::new(|| TableDesign::new("main").key("PK", "SK").ttl("expires"));

static LOG: LazyLock<TableDesign> =
    LazyLock::new(|| TableDesign::new("log").key("PK", "SK").by_period());

fn scripted() -> (Db, Arc<Scripted>, ManualClock) {
    // 2025-08-18T10:30:00Z
    let clock = ManualClock::new(Timestamp::from_secs(1_755_513_000));
    let env = Env::test(clock.clone(), 7);
    let store = Arc::new(Scripted::new(MemoryStore::with_env(env.clone())));
    (Db::with_env(store.clone(), env), store, clock)
}

async fn expires(db: &Db) -> TimeToLiveStatus {
    db.store().describe_time_to_live(DescribeTimeToLive::new("main")).await.unwrap().status
}

#[tokio::test]
async fn a_table_that_is_there_is_not_waited_for() {
    let (db, store, clock) = scripted();
    db.create_table(&MAIN).await.unwrap();
    assert_eq!(expires(&db).await, TimeToLiveStatus::Enabled);
    db.create_table(&MAIN).await.unwrap();
    store.stand([Some(TableStatus::Updating)]);
    db.create_table(&MAIN).await.unwrap();
    assert!(clock.sleeps().is_empty());
}

#[tokio::test]
async fn a_table_that_another_creates_is_waited_for() {
    let (db, store, clock) = scripted();
    // Another has created it, and got no further.
    db.store().create_table(MAIN.create("main")).await.unwrap();
    assert_eq!(expires(&db).await, TimeToLiveStatus::Disabled);
    store.stand([Some(TableStatus::Creating), Some(TableStatus::Creating), None]);
    db.create_table(&MAIN).await.unwrap();
    assert_eq!(clock.sleeps(), [Duration::from_secs(1); 3]);
    assert_eq!(expires(&db).await, TimeToLiveStatus::Enabled);
}

#[tokio::test]
async fn a_table_that_is_being_deleted_is_created_again() {
    let (db, store, _) = scripted();
    db.store().create_table(MAIN.create("main")).await.unwrap();
    store.stand([Some(TableStatus::Deleting), None]);
    db.create_table(&MAIN).await.unwrap();
    assert_eq!(store.created(), 3, "by the first, in vain, and when it was gone");
    // Not for ever.
    store.stand([Some(TableStatus::Deleting); 400]);
    let error = db.create_table(&MAIN).await.unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Unavailable);
    assert_eq!(
        error.message(),
        "table `main` is still DELETING after 300 s; check it with describe_table"
    );
}

/// An app with a table for each month; it says which, or not.
#[derive(Debug)]
struct Monthly {
    says: bool,
}

#[async_trait]
impl App for Monthly {
    fn design(&self) -> AppDesign {
        AppDesign::new("monthly", "a log").tables(vec![&MAIN, &LOG])
    }

    fn periods(&self, _: &TableDesign, now: UtcTime) -> Vec<String> {
        let months = now.month().through(now.month().next());
        months.filter(|_| self.says).map(|month| month.to_string()).collect()
    }

    async fn seed(&self, _: &Db, _: u32, _: Progress<'_>) -> Result<()> {
        Ok(())
    }

    async fn run(&self, _: &Db, _: &str) -> Result<Answer> {
        Ok(Answer::new(0, ""))
    }

    async fn race(&self, _: &Db) -> Result<Vec<Race>> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn an_app_has_the_tables_of_its_periods() {
    let (db, _, _) = scripted();
    Monthly { says: true }.create_tables(&db).await.unwrap();
    assert_eq!(db.store().all_tables().await.unwrap(), ["log-2025-08", "log-2025-09", "main"]);
}

#[tokio::test]
async fn an_app_has_the_table_of_the_period_that_is_given() {
    let (db, _, _) = scripted();
    for says in [true, false] {
        Monthly { says }.create_tables(&db.period("2024-01")).await.unwrap();
        assert_eq!(db.store().all_tables().await.unwrap(), ["log-2024-01", "main"]);
    }
}

#[tokio::test]
async fn table_of_a_period_is_not_created_without_a_period() {
    let (db, _, _) = scripted();
    let error = Monthly { says: false }.create_tables(&db).await.unwrap_err();
    assert_eq!(
        error.message(),
        "monthly has a table log for each period: choose one with Db::period, or list them in App::periods"
    );
}
