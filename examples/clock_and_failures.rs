//! Tests with a manual clock and injected failures: they do not sleep, and fail on demand.

use std::sync::Arc;
use std::time::Duration;

use tabla::env::{Clock, Env, ManualClock, Timestamp};
use tabla::ops::{CreateTable, PutItem, TransactWriteItems, UpdateItem, UpdateTimeToLive};
use tabla::sqlite::{SqliteConfig, SqliteStore};
use tabla::{Applied, KeyType, RetryPolicy, Store, StoreExt, Update, attr, item};
use tabla_conformance::fault::{Failure, Failures, FaultStore, Operation, When};
use tempfile::TempDir;

/// Returns a store on this clock, and the folder of its file. The store sweeps only on demand.
async fn sessions(clock: &ManualClock) -> tabla::Result<(TempDir, Arc<SqliteStore>)> {
    let env = Env::test(clock.clone(), 1);
    let folder = tempfile::tempdir().expect("the system has a folder for temporary files");
    let config = SqliteConfig::file(folder.path().join("sessions.db")).with_sweep_every(None);
    let store = SqliteStore::open_with(&config, env).await?;
    store.create_table(CreateTable::new("sessions").partition_key("id", KeyType::S)).await?;
    store.update_time_to_live(UpdateTimeToLive::new("sessions", "expires", true)).await?;
    Ok((folder, Arc::new(store)))
}

fn clock() -> ManualClock {
    ManualClock::new(Timestamp::from_secs(1_700_000_000))
}

#[tokio::test]
async fn session_expires_after_one_hour() -> tabla::Result<()> {
    let clock = clock();
    let (_folder, store) = sessions(&clock).await?;
    let expires = (clock.now() + Duration::from_secs(3600)).as_secs();
    let session = item! { "id" => "ana", "expires" => expires };
    store.put(PutItem::new("sessions", session)).await?;

    let key = item! { "id" => "ana" };
    clock.advance(Duration::from_secs(3599));
    assert_eq!(store.sweep_expired().await?, 0);
    clock.advance(Duration::from_secs(2));
    // DynamoDB deletes an expired item some time later. Until then, the caller filters it.
    assert!(store.get_item("sessions", key.clone()).await?.is_some());
    let unexpired = store.get_unexpired("sessions", key.clone(), "expires", clock.now()).await?;
    assert_eq!(unexpired, None);
    assert_eq!(store.sweep_expired().await?, 1);
    assert_eq!(store.get_item("sessions", key).await?, None);
    Ok(())
}

#[tokio::test]
async fn store_with_retries_survives_throttling_and_a_lost_response() -> tabla::Result<()> {
    let clock = clock();
    let failures = Failures::new()
        .on(Operation::Put, When::First(2), Failure::Throttled)
        .on(Operation::TransactWrite, When::Call(1), Failure::ResponseLost)
        .on(Operation::Update, When::Call(1), Failure::ResponseLost);
    let (_folder, store) = sessions(&clock).await?;
    // The waits between attempts are on the manual clock, and take no time.
    let policy = RetryPolicy::default().with_env(Env::test(clock.clone(), 2));
    let store = FaultStore::new(store).failures(failures).with_retries(policy);

    // The third attempt succeeds.
    store.put(PutItem::new("sessions", item! { "id" => "ana", "visits" => 1 })).await?;
    assert_eq!(clock.sleeps().len(), 2);

    // The transaction was applied, and its response lost. The retry has the same request token, so
    // that the store does not apply it twice.
    let visit = || {
        let update = Update::new().set("visits", attr("visits").plus(1));
        UpdateItem::new("sessions", item! { "id" => "ana" }).update(update)
    };
    store.transact_write(TransactWriteItems::new().item(visit())).await?;

    // A plain update has no token. A retry might count twice: the caller has to decide.
    let error = store.update(visit()).await.expect_err("the response is lost");
    assert_eq!(error.applied(), Applied::Maybe);
    let found = store.get_item("sessions", item! { "id" => "ana" }).await?;
    assert_eq!(found, Some(item! { "id" => "ana", "visits" => 3 }));
    Ok(())
}
