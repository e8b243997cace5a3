//! Items of the document, and outcomes of conditional writes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tabla::entity::{Db, Entity, Id, Outcome, UtcTime, export, lint, listing};
use tabla::env::{Clock, Env, ManualClock, Monotonic, Sleep, SystemClock, Timestamp};
use tabla::ops::{BillingMode, PutItem, SseSpecification};
use tabla::{Item, MemoryStore, StoreExt, Value, item, list, map};
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
    // Seeded randomness would repeat the request tokens of other tests on one server.
    let env = Env::system().with_clock(Arc::new(clock.clone()));
    let db = Db::with_env(Stage::new(&env).await.store(), env);
    db.create_table(&BRANDING).await.expect("the table");
    (Branding::new(db.clone()), db, clock)
}

async fn draft(app: &Branding, business: &str) -> Theme {
    app.create_draft(&id(business), BTreeMap::new(), Vec::new()).await.expect("a draft")
}

#[test]
fn theme_item_is_that_of_document() {
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
        // The document lacks this attribute: its condition on `version` asserts only that the theme
        // exists.
        "revision" => 3,
    };
    assert_eq!(theme.to_item().expect("an item"), item);
    assert_eq!(Theme::from_item(&item).expect("a theme"), theme);
}

#[test]
fn marker_and_asset_items_are_those_of_document() {
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

/// The example items of the document, with an attribute that the entities do not have, and a business
/// without the attributes that the document leaves open.
fn items_of_document() -> [Item; 4] {
    let theme = item! {
        "PK" => "BUS#123", "SK" => "THEME#00000042", "type" => "THEME", "version" => 42,
        "status" => "draft", "metadata" => Value::M(map! {
            "primaryColor" => "#0F172A", "secondaryColor" => "#22D3EE",
            "typography" => "intrale-regular",
        }),
        "assets" => list!["ASSET#logo-123", "ASSET#banner-123"],
        "updatedAt" => "2025-09-21T10:00:00Z",
    };
    let marker = item! {
        "PK" => "BUS#123", "SK" => "PUBLISHED", "type" => "PUBLISHED_MARKER", "version" => 41,
        "publishedAt" => "2025-09-10T08:30:00Z", "publishedBy" => "user-789",
    };
    let asset = item! {
        "PK" => "ASSET#logo-123", "SK" => "META", "type" => "ASSET", "businessId" => "123",
        "assetType" => "logo", "uri" => "s3://intrale-branding/assets/logo-123.png",
        "checksum" => "md5:abcdef", "updatedAt" => "2025-09-18T12:45:00Z",
    };
    let business = item! { "PK" => "BUS#123", "SK" => "META", "type" => "BUSINESS" };
    [theme, marker, asset, business].map(|item| item.with("importedFrom", list!["v1", 7]))
}

#[tokio::test]
async fn changed_items_of_document_keep_their_other_attributes() {
    let (app, db, _) = branding().await;
    let [theme, marker, asset, business] = items_of_document();
    for item in items_of_document() {
        db.store().put(PutItem::new("branding", item)).await.expect("a write");
    }
    let (intrale, now) = (id("123"), "2025-08-18T10:30:00Z");
    let stored = async |item: &Item| {
        let text = |name| item.get(name).and_then(|value| value.as_str()).expect("a text");
        let key = item! { "PK" => text("PK"), "SK" => text("SK") };
        db.store().get_item("branding", key).await.expect("a response").expect("an item")
    };

    let read = app.theme(&intrale, 42).await.expect("a response").expect("a theme");
    let edited = app.edit_draft(&read, BTreeMap::new()).await.expect("a response");
    assert!(edited.is_done());
    let expected = theme.with("metadata", Value::M(map! {})).with("updatedAt", now);
    assert_eq!(stored(&expected).await, expected.clone().with("revision", 1));
    let stale = app.edit_draft(&read, BTreeMap::new()).await.expect("a response");
    assert_eq!(stale, Outcome::Lost(edited.done()));

    let moved = app.publish(&intrale, 42, Some(41), &id("ana")).await;
    assert_eq!(moved.expect("a response"), Moved::Done);
    let expected = marker.with("version", 42).with("publishedBy", "ana").with("publishedAt", now);
    assert_eq!(stored(&expected).await, expected.clone().with("updatedAt", now));

    let read = app.asset(&id("logo-123")).await.expect("a response").expect("an asset");
    let change = read.change().set(Asset::CHECKSUM, "md5:0");
    assert!(db.update(change).await.expect("a response").is_done());
    let expected = asset.with("checksum", "md5:0").with("updatedAt", now);
    assert_eq!(stored(&expected).await, expected);

    assert_eq!(draft(&app, "123").await.version, 1);
    let expected = business.with("lastVersion", 1).with("updatedAt", now);
    assert_eq!(stored(&expected).await, expected);
}

#[tokio::test]
async fn second_first_publisher_gets_marker_of_winner() {
    let (app, _, _) = branding().await;
    let (one, other) = (draft(&app, "acme").await, draft(&app, "acme").await);
    let (acme, by) = (id("acme"), id("ana"));
    assert_eq!(app.publish(&acme, one.version, None, &by).await.expect("a response"), Moved::Done);
    let marker = app.marker(&acme).await.expect("a response");
    let second = app.publish(&acme, other.version, None, &by).await.expect("a response");
    assert_eq!(second, Moved::Elsewhere(marker.clone()));
    // Nothing was written: the second theme is still a draft, and the marker is unchanged.
    let theme =
        app.theme(&acme, other.version).await.expect("a response").expect("the theme exists");
    assert_eq!(theme.status, Status::Draft);
    assert_eq!(app.marker(&acme).await.expect("a response"), marker);
}

#[tokio::test]
async fn publish_and_rollback_move_marker_from_expected_version() {
    let (app, _, clock) = branding().await;
    let (acme, by) = (id("acme"), id("ana"));
    for expected in [None, Some(1), Some(2)] {
        let theme = draft(&app, "acme").await;
        clock.advance(Duration::from_secs(1));
        let moved = app.publish(&acme, theme.version, expected, &by).await.expect("a response");
        assert_eq!(moved, Moved::Done);
    }
    let marker = app.marker(&acme).await.expect("a response").expect("a marker");
    assert_eq!((marker.version, marker.published_at), (3, time("2025-08-18T10:30:03Z")));
    let stale = app.roll_back(&acme, 1, 2, &by).await.expect("a response");
    assert_eq!(stale, Moved::Elsewhere(Some(marker)));
    let back = app.roll_back(&acme, 1, 3, &id("eva")).await.expect("a response");
    assert_eq!(back, Moved::Done);
    let shown = app.published_theme(&acme).await.expect("a response").expect("a theme");
    assert_eq!((shown.version, shown.status), (1, Status::Published));
    // A theme that was published once stays so, and can be shown again.
    assert_eq!(app.roll_back(&acme, 3, 1, &by).await.expect("a response"), Moved::Done);
}

#[tokio::test]
async fn publish_needs_current_draft_and_rollback_published_theme() {
    let (app, db, _) = branding().await;
    let (acme, by) = (id("acme"), id("ana"));
    let (one, other) = (draft(&app, "acme").await, draft(&app, "acme").await);
    assert_eq!(
        app.publish(&acme, 9, None, &by).await.expect("a response"),
        Moved::Unsuitable(None),
        "the version does not exist"
    );
    app.publish(&acme, one.version, None, &by).await.expect("a response");
    let again = app.publish(&acme, one.version, Some(one.version), &by).await.expect("a response");
    assert!(matches!(again, Moved::Unsuitable(Some(theme)) if theme.status == Status::Published));
    let back = app.roll_back(&acme, other.version, one.version, &by).await.expect("a response");
    assert!(matches!(back, Moved::Unsuitable(Some(theme)) if theme.status == Status::Draft));
    // An expired draft counts as deleted.
    let past = db.now().second().minus(Duration::from_secs(1));
    app.archive_draft(&acme, other.version, past).await.expect("a response").done();
    let expired = app.publish(&acme, other.version, Some(one.version), &by).await;
    assert!(matches!(expired.expect("a response"), Moved::Unsuitable(Some(_))));
}

#[tokio::test]
async fn published_theme_neither_changes_nor_expires() {
    let (app, db, _) = branding().await;
    let acme = id("acme");
    let theme = draft(&app, "acme").await;
    let later = db.now().second().plus(Duration::from_secs(60));
    let theme = app.archive_draft(&acme, theme.version, later).await.expect("a response").done();
    let theme = theme.expect("a draft");
    app.publish(&acme, 1, None, &id("ana")).await.expect("a response");
    let shown = app.theme(&acme, 1).await.expect("a response").expect("the theme exists");
    assert_eq!((shown.status, shown.time_to_archive), (Status::Published, None));
    let edit = app.edit_draft(&shown, BTreeMap::new()).await.expect("a response");
    assert_eq!(edit, Outcome::Lost(Some(shown.clone())));
    let stale = app.edit_draft(&theme, BTreeMap::new()).await.expect("a response");
    assert_eq!(stale, Outcome::Lost(Some(shown)));
    assert!(!app.archive_draft(&acme, 1, later).await.expect("a response").is_done());
}

#[tokio::test]
async fn second_edit_of_one_read_is_refused() {
    let (app, _, _) = branding().await;
    let read = draft(&app, "acme").await;
    let colours = |colour: &str| [("primaryColor".to_owned(), colour.to_owned())].into();
    let mine = app.edit_draft(&read, colours("#111111")).await.expect("a response").done();
    let theirs = app.edit_draft(&read, colours("#222222")).await.expect("a response");
    assert_eq!(theirs, Outcome::Lost(mine));
}

#[tokio::test]
async fn version_of_deleted_draft_is_not_reused() {
    let (app, db, _) = branding().await;
    let theme = draft(&app, "acme").await;
    db.delete(&theme.to_key()).await.expect("a response").done().expect("the draft existed");
    assert_eq!(draft(&app, "acme").await.version, 2);
}

/// With paused time, waits between attempts take no time.
#[tokio::test(start_paused = true)]
async fn design_is_sound_and_every_pattern_is_right() {
    let db = Db::new(Arc::new(InterleavingStore::new(MemoryStore::new())));
    let ran = tabla_kit::check(&BrandingApp, &db).await.expect("a sound design and right results");
    let design = tabla_kit::App::design(&BrandingApp);
    assert_eq!(ran.len(), design.patterns.len());
    let open: Vec<_> =
        lint::check(&design).into_iter().filter(|finding| finding.accepted.is_none()).collect();
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn table_is_that_of_document() {
    let create = BRANDING.create("branding");
    assert_eq!(create.billing_mode, Some(BillingMode::PayPerRequest));
    // Without a request for encryption, the service uses its default.
    assert_eq!(create.sse, None);
    let managed = SseSpecification::enabled();
    assert_eq!(BRANDING.clone().sse(managed.clone()).create("branding").sse, Some(managed));
    let template = export::cloudformation(&[("branding".to_owned(), &BRANDING)]);
    let properties = &template["Resources"]["BrandingTable"]["Properties"];
    let recovery = &properties["PointInTimeRecoverySpecification"];
    assert_eq!(recovery["PointInTimeRecoveryEnabled"], true);
    assert_eq!(properties["TimeToLiveSpecification"]["AttributeName"], "timeToArchive");
    // The document has no index; an index changes no key of the table.
    assert!(create.global_secondary_indexes.is_empty());
    let wider = BRANDING.clone().index("status-index", "status", "SK").create("branding");
    assert_eq!(wider.global_secondary_indexes.len(), 1);
    assert_eq!(wider.key_schema, create.key_schema);
}

#[test]
fn readme_lists_patterns() {
    let table = listing::markdown(&tabla_kit::App::design(&BrandingApp), 1024).expect("a table");
    let readme = include_str!("../README.md");
    assert!(readme.contains(&table), "README.md lacks this table:\n{table}");
}

/// Clock that advances by a second with each call.
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
async fn returned_entities_are_those_stored() {
    let env = Env::system().with_clock(Arc::new(Restless::default()));
    let db = Db::with_env(Stage::new(&env).await.store(), env);
    db.create_table(&BRANDING).await.expect("the table");
    let app = Branding::new(db);
    let acme = id("acme");
    // The first draft of a business creates the business, the second one updates it.
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
