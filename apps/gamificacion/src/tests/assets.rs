//! Files: uploads, confirmations, links.

use std::time::Duration;

use super::*;

const HOUR: Duration = Duration::from_secs(3600);

fn links(links: &[AssetLink]) -> Vec<&str> {
    links.iter().map(|link| link.asset_id.as_str()).collect()
}

#[tokio::test]
async fn confirmed_file_is_ready_and_linked() {
    let Fixture { app, .. } = Fixture::with_ana().await;
    let (ana, a1) = (id("ana"), id("a1"));
    assert_eq!(app.begin_upload(upload("a1")).await.unwrap(), Added::Done);
    let pending = app.asset(&a1).await.unwrap().unwrap();
    assert_eq!(pending.status, AssetStatus::Pending);
    assert!(app.assets(&ana, None).await.unwrap().items.is_empty());
    assert_eq!(app.confirm_upload(&a1).await.unwrap(), Confirmed::Done);
    let ready = app.asset(&a1).await.unwrap().unwrap();
    assert_eq!((ready.status, ready.expires_at), (AssetStatus::Ready, None));
    assert_eq!(links(&app.assets(&ana, None).await.unwrap().items), ["a1"]);
    assert_eq!(links(&app.panel(&ana).await.unwrap().assets), ["a1"]);
}

#[tokio::test]
async fn files_are_filtered_by_product_and_by_featured_entry() {
    let Fixture { app, .. } = Fixture::with_ana().await;
    let ana = id("ana");
    let of_featured = Upload { product_id: None, featured_id: Some(id("f1")), ..upload("a2") };
    let of_other = Upload { product_id: Some(id("p2")), ..upload("a3") };
    let of_nothing = Upload { product_id: None, ..upload("a4") };
    for upload in [upload("a1"), of_featured, of_other, of_nothing] {
        let asset = upload.asset_id.clone();
        assert_eq!(app.begin_upload(upload).await.unwrap(), Added::Done);
        assert_eq!(app.confirm_upload(&asset).await.unwrap(), Confirmed::Done);
    }
    assert_eq!(links(&app.assets(&ana, None).await.unwrap().items), ["a1", "a2", "a3", "a4"]);
    let found = app.assets_of_product(&ana, &id("p1"), None).await.unwrap().items;
    assert_eq!(links(&found), ["a1"]);
    let found = app.assets_of_featured(&ana, &id("f1"), None).await.unwrap().items;
    assert_eq!(links(&found), ["a2"]);
}

#[tokio::test]
async fn upload_needs_a_user_and_a_free_id() {
    let fixture = Fixture::with_ana().await;
    let app = &fixture.app;
    assert_eq!(app.begin_upload(upload("a1")).await.unwrap(), Added::Done);
    let before = fixture.items().await;
    let present = app.asset(&id("a1")).await.unwrap().unwrap();
    let again = app.begin_upload(Upload { size: 9, ..upload("a1") }).await.unwrap();
    assert_eq!(again, Added::Exists(present));
    let nobody = Upload { user_id: id("nobody"), ..upload("a2") };
    assert_eq!(app.begin_upload(nobody).await.unwrap(), Added::NoUser);
    assert_eq!(fixture.items().await, before);
}

#[tokio::test]
async fn second_confirmation_reports_the_ready_file() {
    let fixture = Fixture::with_ana().await;
    let (app, a1) = (&fixture.app, id("a1"));
    assert_eq!(app.begin_upload(upload("a1")).await.unwrap(), Added::Done);
    assert_eq!(app.confirm_upload(&a1).await.unwrap(), Confirmed::Done);
    let before = fixture.items().await;
    let ready = app.asset(&a1).await.unwrap().unwrap();
    assert_eq!(app.confirm_upload(&a1).await.unwrap(), Confirmed::Already(ready));
    assert_eq!(app.confirm_upload(&id("a2")).await.unwrap(), Confirmed::Missing);
    assert_eq!(fixture.items().await, before, "no item is created");
}

#[tokio::test]
async fn expired_upload_cannot_be_confirmed() {
    let fixture = Fixture::with_ana().await;
    let (app, a1) = (&fixture.app, id("a1"));
    assert_eq!(app.begin_upload(upload("a1")).await.unwrap(), Added::Done);
    fixture.clock.advance(HOUR - Duration::from_secs(1));
    assert!(app.asset(&a1).await.unwrap().is_some());
    fixture.clock.advance(Duration::from_secs(1));
    // The expired asset is still stored.
    let before = fixture.items().await;
    assert!(before.iter().any(|item| text(item, "PK") == "ASSET#a1"));
    assert_eq!(app.asset(&a1).await.unwrap(), None);
    assert_eq!(app.confirm_upload(&a1).await.unwrap(), Confirmed::Expired);
    assert_eq!(fixture.items().await, before);
    fixture.clock.advance(HOUR);
    assert_eq!(fixture.stage.sweep_expired().await, 1);
    assert_eq!(app.confirm_upload(&a1).await.unwrap(), Confirmed::Missing);
    let keys = fixture.keys().await;
    assert_eq!(keys, ["USER#ana|DASHBOARD", "USER#ana|PROFILE", "USERCODE#ABC|UNIQUE"]);
}

#[tokio::test]
async fn expired_upload_is_replaced_by_a_new_one() {
    let fixture = Fixture::with_ana().await;
    let (app, a1) = (&fixture.app, id("a1"));
    assert_eq!(app.begin_upload(upload("a1")).await.unwrap(), Added::Done);
    fixture.clock.advance(HOUR - Duration::from_secs(1));
    let open = app.asset(&a1).await.unwrap().unwrap();
    let again = Upload { product_id: None, size: 9, ..upload("a1") };
    assert_eq!(app.begin_upload(again.clone()).await.unwrap(), Added::Exists(open));
    fixture.clock.advance(Duration::from_secs(1));
    assert_eq!(app.asset(&a1).await.unwrap(), None);
    assert_eq!(app.begin_upload(again).await.unwrap(), Added::Done);
    let again = app.asset(&a1).await.unwrap().unwrap();
    assert_eq!(
        (again.size, again.product_id.as_ref()),
        (9, None),
        "no attribute of the expired asset is left"
    );
    assert_eq!(again.created_at, time("2025-08-18T11:30:00Z"));
    assert_eq!(again.expires_at, Some(1_755_513_000 + 2 * 3600));
    assert_eq!(app.confirm_upload(&a1).await.unwrap(), Confirmed::Done);
    // A ready file keeps its id taken.
    fixture.clock.advance(HOUR * 1000);
    let ready = app.asset(&a1).await.unwrap().unwrap();
    assert_eq!(app.begin_upload(upload("a1")).await.unwrap(), Added::Exists(ready));
}

#[tokio::test]
async fn ready_file_does_not_expire() {
    let fixture = Fixture::with_ana().await;
    assert_eq!(fixture.app.begin_upload(upload("a1")).await.unwrap(), Added::Done);
    assert_eq!(fixture.app.confirm_upload(&id("a1")).await.unwrap(), Confirmed::Done);
    fixture.clock.advance(HOUR * 1000);
    assert_eq!(fixture.stage.sweep_expired().await, 0);
    assert!(fixture.app.asset(&id("a1")).await.unwrap().is_some());
}

#[tokio::test]
async fn settings_have_the_upload_window() {
    let Fixture { db, .. } = Fixture::with_ana().await;
    let settings = Settings { upload_window: Duration::from_secs(60) };
    let app = Gamificacion::with_settings(db, settings);
    assert_eq!(app.begin_upload(upload("a1")).await.unwrap(), Added::Done);
    let pending = app.asset(&id("a1")).await.unwrap().unwrap();
    assert_eq!(pending.expires_at, Some(1_755_513_060));
}

#[tokio::test]
async fn file_of_a_deleted_user_cannot_be_confirmed() {
    let fixture = Fixture::with_ana().await;
    let app = &fixture.app;
    assert_eq!(app.begin_upload(upload("a1")).await.unwrap(), Added::Done);
    assert!(app.delete_user(&id("ana")).await.unwrap());
    assert_eq!(app.confirm_upload(&id("a1")).await.unwrap(), Confirmed::NoUser);
    assert_eq!(fixture.keys().await, ["ASSET#a1|METADATA"], "the pending asset expires");
}

#[tokio::test]
async fn deletion_of_a_file_deletes_its_link() {
    let fixture = Fixture::with_ana().await;
    let app = &fixture.app;
    let before = fixture.items().await;
    for asset in ["ready", "pending"] {
        assert_eq!(app.begin_upload(upload(asset)).await.unwrap(), Added::Done);
    }
    assert_eq!(app.confirm_upload(&id("ready")).await.unwrap(), Confirmed::Done);
    for asset in ["ready", "pending"] {
        assert!(app.delete_asset(&id(asset)).await.unwrap());
        assert!(!app.delete_asset(&id(asset)).await.unwrap());
    }
    assert_eq!(fixture.items().await, before);
}
