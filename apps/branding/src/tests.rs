//! What the document shows, and what the losers of its conditional writes see.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tabla::entity::{Db, Entity, Id, Outcome, UtcTime, export, lint, listing};
use tabla::env::{Clock, Env, ManualClock, Monotonic, Sleep, SystemClock, Timestamp};
use tabla::ops::{BillingMode, SseSpecification};
use tabla::{MemoryStore, Value, item, list, map};
use tabla_conformance::interleave::InterleavingStore;
use tabla_kit::stage::Stage;

use crate::*;

fn id(text: &str) -> Id {
    Id::new(text).expect("an identifier")
}

fn time(text: &str) -> UtcTime {
    text.parse().expect("a moment")
}

async fn branding() -> (Branding, Db, ManualClock) {
    let clock = ManualClock::new(Timestamp::from_secs(1_755_513_000));
    let env = Env::test(clock.clone(), 1);
    let db = Db::with_env(Stage::new(&env).await.store(), env);
    db.create_table(&BRANDING).await.expect("the table");
    (Branding::new(db.clone()), db, clock)
}

async fn draft(app: &Branding, business: &str) -> Theme {
    app.create_draft(&id(business), BTreeMap::new(), Vec::new()).await.expect("a draft")
}

#[test]
fn a_theme_is_the_documents_item() {
    let theme = Theme {
        business_id: id("acme"),
        version: 42,
        status: Status::Published,
        metadata: [("primaryColor".to_owned(), "#0055FF".to_owned())].into(),
        assets: vec![AssetRef(id("logo-123")), AssetRef(id("banner-456"))],
        updated_at: time("2025-08-18T10:30:00Z"),
        revision: 3,
        time_to_archive: None,
    };
    let item = item! {
        "PK" => "BUS#acme", "SK" => "THEME#00000042", "type" => "THEME", "version" => 42,
        "status" => "published", "metadata" => Value::M(map! { "primaryColor" => "#0055FF" }),
        "assets" => list!["ASSET#logo-123", "ASSET#banner-456"],
        "updatedAt" => "2025-08-18T10:30:00Z",
        // The document has no such field: its condition on `version` asserts only that the theme is
        // there.
        "revision" => 3,
    };
    assert_eq!(theme.to_item().expect("an item"), item);
    assert_eq!(Theme::from_item(&item).expect("a theme"), theme);
}

#[test]
fn a_marker_and_an_asset_are_the_documents_items() {
    let marker = Marker {
        business_id: id("acme"),
        version: 42,
        published_at: time("2025-08-18T10:30:00Z"),
        published_by: id("ana"),
        updated_at: time("2025-08-18T10:30:00Z"),
    };
    assert_eq!(
        marker.to_item().expect("an item"),
        item! {
            "PK" => "BUS#acme", "SK" => "PUBLISHED", "type" => "PUBLISHED_MARKER", "version" => 42,
            "publishedAt" => "2025-08-18T10:30:00Z", "publishedBy" => "ana",
            "updatedAt" => "2025-08-18T10:30:00Z",
        }
    );
    let asset = Asset {
        asset_id: id("logo-123"),
        business_id: id("acme"),
        asset_type: AssetKind::Logo,
        uri: "s3://assets/logo.png".into(),
        checksum: "md5:0".into(),
        updated_at: time("2025-08-18T10:30:00Z"),
    };
    assert_eq!(
        asset.to_item().expect("an item"),
        item! {
            "PK" => "ASSET#logo-123", "SK" => "META", "type" => "ASSET", "businessId" => "acme",
            "assetType" => "logo", "uri" => "s3://assets/logo.png", "checksum" => "md5:0",
            "updatedAt" => "2025-08-18T10:30:00Z",
        }
    );
}

#[tokio::test]
async fn a_second_first_publisher_sees_the_first() {
    let (app, _, _) = branding().await;
    let (one, other) = (draft(&app, "acme").await, draft(&app, "acme").await);
    let (acme, by) = (id("acme"), id("ana"));
    assert_eq!(app.publish(&acme, one.version, None, &by).await.expect("an answer"), Moved::Done);
    let marker = app.marker(&acme).await.expect("an answer");
    let lost = app.publish(&acme, other.version, None, &by).await.expect("an answer");
    assert_eq!(lost, Moved::Lost(marker.clone()));
    // Nothing was written: the other is still a draft, and the marker is where it was.
    let theme = app.theme(&acme, other.version).await.expect("an answer").expect("it is there");
    assert_eq!(theme.status, Status::Draft);
    assert_eq!(app.marker(&acme).await.expect("an answer"), marker);
}

#[tokio::test]
async fn publishing_and_going_back_move_the_marker_from_where_it_is_believed() {
    let (app, _, clock) = branding().await;
    let (acme, by) = (id("acme"), id("ana"));
    for expected in [None, Some(1), Some(2)] {
        let theme = draft(&app, "acme").await;
        clock.advance(Duration::from_secs(1));
        let moved = app.publish(&acme, theme.version, expected, &by).await.expect("an answer");
        assert_eq!(moved, Moved::Done);
    }
    let marker = app.marker(&acme).await.expect("an answer").expect("a marker");
    assert_eq!((marker.version, marker.published_at), (3, time("2025-08-18T10:30:03Z")));
    let stale = app.roll_back(&acme, 1, 2, &by).await.expect("an answer");
    assert_eq!(stale, Moved::Lost(Some(marker)));
    let back = app.roll_back(&acme, 1, 3, &id("eva")).await.expect("an answer");
    assert_eq!(back, Moved::Done);
    let shown = app.published_theme(&acme).await.expect("an answer").expect("a theme");
    assert_eq!((shown.version, shown.status), (1, Status::Published));
    // What was published once stays so, and may be shown again.
    assert_eq!(app.roll_back(&acme, 3, 1, &by).await.expect("an answer"), Moved::Done);
}

#[tokio::test]
async fn only_a_draft_is_published_and_only_a_published_theme_is_gone_back_to() {
    let (app, db, _) = branding().await;
    let (acme, by) = (id("acme"), id("ana"));
    let (one, other) = (draft(&app, "acme").await, draft(&app, "acme").await);
    assert_eq!(
        app.publish(&acme, 9, None, &by).await.expect("an answer"),
        Moved::Unsuitable(None),
        "a version that is not there"
    );
    app.publish(&acme, one.version, None, &by).await.expect("an answer");
    let again = app.publish(&acme, one.version, Some(one.version), &by).await.expect("an answer");
    assert!(matches!(again, Moved::Unsuitable(Some(theme)) if theme.status == Status::Published));
    let back = app.roll_back(&acme, other.version, one.version, &by).await.expect("an answer");
    assert!(matches!(back, Moved::Unsuitable(Some(theme)) if theme.status == Status::Draft));
    // A draft that has expired is as good as gone.
    let past = db.now().second().minus(Duration::from_secs(1));
    app.archive_draft(&acme, other.version, past).await.expect("an answer").done();
    let expired = app.publish(&acme, other.version, Some(one.version), &by).await;
    assert!(matches!(expired.expect("an answer"), Moved::Unsuitable(Some(_))));
}

#[tokio::test]
async fn a_published_theme_neither_changes_nor_expires() {
    let (app, db, _) = branding().await;
    let acme = id("acme");
    let theme = draft(&app, "acme").await;
    let later = db.now().second().plus(Duration::from_secs(60));
    let theme = app.archive_draft(&acme, theme.version, later).await.expect("an answer").done();
    let theme = theme.expect("a draft");
    app.publish(&acme, 1, None, &id("ana")).await.expect("an answer");
    let shown = app.theme(&acme, 1).await.expect("an answer").expect("it is there");
    assert_eq!((shown.status, shown.time_to_archive), (Status::Published, None));
    let edit = app.edit_draft(&shown, BTreeMap::new()).await.expect("an answer");
    assert_eq!(edit, Outcome::Lost(Some(shown.clone())));
    let stale = app.edit_draft(&theme, BTreeMap::new()).await.expect("an answer");
    assert_eq!(stale, Outcome::Lost(Some(shown)));
    assert!(!app.archive_draft(&acme, 1, later).await.expect("an answer").is_done());
}

#[tokio::test]
async fn two_who_edit_a_draft_notice_each_other() {
    let (app, _, _) = branding().await;
    let read = draft(&app, "acme").await;
    let colours = |colour: &str| [("primaryColor".to_owned(), colour.to_owned())].into();
    let mine = app.edit_draft(&read, colours("#111111")).await.expect("an answer").done();
    let theirs = app.edit_draft(&read, colours("#222222")).await.expect("an answer");
    assert_eq!(theirs, Outcome::Lost(mine));
}

#[tokio::test]
async fn the_number_of_a_draft_that_is_gone_is_not_given_out_again() {
    let (app, db, _) = branding().await;
    let theme = draft(&app, "acme").await;
    db.delete(&theme.key()).await.expect("an answer").done().expect("it was there");
    assert_eq!(draft(&app, "acme").await.version, 2);
}

/// The waits of those who lose a race take no time.
#[tokio::test(start_paused = true)]
async fn the_design_is_sound_and_every_pattern_is_right() {
    let db = Db::new(Arc::new(InterleavingStore::new(MemoryStore::new())));
    let ran = tabla_kit::check(&BrandingApp, &db).await.expect("all is well");
    let design = tabla_kit::App::design(&BrandingApp);
    assert_eq!(ran.len(), design.patterns.len());
    let open: Vec<_> =
        lint::check(&design).into_iter().filter(|finding| finding.accepted.is_none()).collect();
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn the_table_is_the_documents() {
    let create = BRANDING.create("branding");
    assert_eq!(create.billing_mode, Some(BillingMode::PayPerRequest));
    // The service's default is meant, and passed on is what somebody else wishes for.
    assert_eq!(create.sse, None);
    let managed = SseSpecification::enabled();
    assert_eq!(BRANDING.clone().sse(managed.clone()).create("branding").sse, Some(managed));
    let template = export::cloudformation(&[("branding".to_owned(), &BRANDING)]);
    let properties = &template["Resources"]["BrandingTable"]["Properties"];
    let recovery = &properties["PointInTimeRecoverySpecification"];
    assert_eq!(recovery["PointInTimeRecoveryEnabled"], true);
    assert_eq!(properties["TimeToLiveSpecification"]["AttributeName"], "timeToArchive");
    // No index for now; one more changes no key that is there.
    assert!(create.global_secondary_indexes.is_empty());
    let wider = BRANDING.clone().index("status-index", "status", "SK").create("branding");
    assert_eq!(wider.global_secondary_indexes.len(), 1);
    assert_eq!(wider.key_schema, create.key_schema);
}

#[test]
fn the_readme_lists_the_patterns_as_they_are() {
    let table = listing::markdown(&tabla_kit::App::design(&BrandingApp), 1024).expect("a table");
    let readme = include_str!("../README.md");
    assert!(readme.contains(&table), "put this into README.md:\n{table}");
}

/// A clock that is a second further at every look.
#[derive(Debug, Default)]
struct Restless(AtomicU64);

impl Clock for Restless {
    fn now(&self) -> Timestamp {
        Timestamp::from_secs(self.0.fetch_add(1, Ordering::Relaxed))
    }

    fn monotonic(&self) -> Monotonic {
        SystemClock.monotonic()
    }

    fn sleep(&self, _: Duration) -> Sleep<'_> {
        Box::pin(async {})
    }
}

#[tokio::test]
async fn what_is_answered_is_what_is_stored() {
    let env = Env::system().with_clock(Arc::new(Restless::default()));
    let db = Db::with_env(Stage::new(&env).await.store(), env);
    db.create_table(&BRANDING).await.expect("the table");
    let app = Branding::new(db);
    let acme = id("acme");
    // The first draft of a business creates it, the second one finds it.
    for version in [1, 2] {
        let theme = draft(&app, "acme").await;
        let stored = app.theme(&acme, version).await.expect("a read");
        assert_eq!(stored, Some(theme), "version {version}");
    }
    let logo = Asset {
        asset_id: id("logo"),
        business_id: acme,
        asset_type: AssetKind::Logo,
        uri: "s3://bucket/logo".to_owned(),
        checksum: "0".to_owned(),
        updated_at: UtcTime::default(),
    };
    let added = app.add_asset(logo, "web").await.expect("a write").done();
    assert!(added.is_some());
    assert_eq!(app.asset(&id("logo")).await.expect("a read"), added);
}
