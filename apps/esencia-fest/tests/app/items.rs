//! Items as the document shows them.

use std::collections::BTreeMap;

use tabla::entity::{Entity, EntityKey, KeyPart, Sharded};
use tabla::{Item, Map, Number, Value, ValueRef, item, list};
use tabla_esencia_fest::*;

use crate::{db, email, id, opened, post, room, time};

/// Item of an entity, after a check that it is read back unchanged.
fn item<E: Entity + PartialEq + std::fmt::Debug>(entity: &E) -> Item {
    let item = entity.to_item().unwrap();
    assert_eq!(E::from_item(&item).unwrap(), *entity);
    assert!(E::design().recognises(&item));
    item
}

#[test]
fn user_item_is_that_of_document() {
    let user = User {
        email: Email::new("Email@Domain.com").unwrap(),
        name: "Ana".into(),
        country: id("Colombia"),
        role: id("visitor"),
        created_at: time("2025-08-18T10:30:00Z"),
        progress: vec![room("sala1"), room("sala3")],
    };
    assert_eq!(
        item(&user),
        item! {
            "PK" => "USER#email@domain.com", "SK" => "PROFILE",
            "GSI1PK" => "USER#Colombia", "GSI1SK" => "2025-08-18",
            "name" => "Ana", "country" => "Colombia", "role" => "visitor",
            "createdAt" => "2025-08-18T10:30:00Z", "progress" => list!["sala1", "sala3"],
        }
    );
}

#[test]
fn room_and_content_items_are_those_of_document() {
    let at = time("2025-08-18T10:30:00Z");
    let status = |manual_override| RoomStatus {
        room_id: room("sala1"),
        open_at: at,
        manual_override,
        created_at: at,
        updated_at: at,
    };
    let shown = |manual: Value| {
        item! {
            "PK" => "ROOM#STATUS", "SK" => "ROOM#sala1",
            "openAt" => "2025-08-18T10:30:00Z", "manualOverride" => manual,
            "createdAt" => "2025-08-18T10:30:00Z", "updatedAt" => "2025-08-18T10:30:00Z",
        }
    };
    assert_eq!(item(&status(ManualOverride::Automatic)), shown(Value::Null));
    assert_eq!(item(&status(ManualOverride::Open)), shown("open".into()));
    assert_eq!(item(&status(ManualOverride::Closed)), shown("closed".into()));

    let content = RoomContent {
        room_id: room("sala1"),
        version: 1,
        kind: "video".into(),
        title: "Bienvenida".into(),
        vimeo_url: "https://vimeo.com/1".into(),
        open_at: at,
        active_since: None,
    };
    let old = item! {
        "PK" => "ROOM#sala1", "SK" => "CONTENT#v1", "type" => "video", "title" => "Bienvenida",
        "vimeoUrl" => "https://vimeo.com/1", "openAt" => "2025-08-18T10:30:00Z",
    };
    assert_eq!(item(&content), old);
    let active = RoomContent { active_since: Some(at), ..content };
    let shown = old
        .with("activeSince", "2025-08-18T10:30:00Z")
        .with("GSI1PK", "CONTENT#ACTIVE")
        .with("GSI1SK", "sala1");
    assert_eq!(item(&active), shown);
    assert!(!RoomStatus::design().recognises(&shown), "content is not recognised as a room");
}

#[test]
fn override_wins_over_schedule() {
    let opens = time("2025-08-18T10:30:00Z");
    for (by_hand, before, after) in [
        (ManualOverride::Automatic, false, true),
        (ManualOverride::Open, true, true),
        (ManualOverride::Closed, false, false),
    ] {
        let status = RoomStatus {
            room_id: room("sala1"),
            open_at: opens,
            manual_override: by_hand,
            created_at: opens,
            updated_at: opens,
        };
        assert_eq!(status.is_open(time("2025-08-18T10:29:59Z")), before);
        assert_eq!(status.is_open(opens), after);
    }
}

fn example_post(status: Status) -> Post {
    Post {
        post_id: id("postId"),
        user_id: email("ana"),
        content: "Hola".into(),
        images: vec!["uploads/1.jpg".into()],
        created_at: time("2025-08-18T10:30:00Z"),
        likes: 9,
        comments_count: 10,
        status,
        banned_at: None,
        banned_by: None,
        ban_reason: None,
        profanity_score: Number::default(),
    }
}

#[test]
fn post_item_is_that_of_document_in_every_status() {
    let shown = item! {
        "PK" => "POST#postId", "SK" => "POST#postId",
        "GSI1PK" => "USER#ana@sura.com.co#POSTS", "GSI1SK" => "2025-08-18T10:30:00Z",
        "GSI2PK" => "POSTS#active", "GSI2SK" => "2025-08-18T10:30:00Z",
        "GSI3PK" => "POSTS#SORTED", "GSI3SK" => "0000000009#2025-08-18T10:30:00Z",
        "GSI4PK" => "POSTS#COMMENTS", "GSI4SK" => "0000000010#2025-08-18T10:30:00Z",
        "userId" => "ana@sura.com.co", "content" => "Hola", "images" => list!["uploads/1.jpg"],
        "createdAt" => "2025-08-18T10:30:00Z", "likes" => 9, "commentsCount" => 10,
        "status" => "active", "profanityScore" => 0,
    };
    assert_eq!(item(&example_post(Status::Active)), shown);
    let banned = Post {
        banned_at: Some(time("2025-08-19T00:00:00Z")),
        banned_by: Some(id("admin1")),
        ban_reason: Some("spam".into()),
        ..example_post(Status::Banned)
    };
    let expected = shown
        .clone()
        .with("status", "banned")
        .with("GSI2PK", "POSTS#banned")
        .with("GSI3PK", "POSTS#SORTED#banned")
        .with("GSI4PK", "POSTS#COMMENTS#banned")
        .with("bannedAt", "2025-08-19T00:00:00Z")
        .with("bannedBy", "admin1")
        .with("banReason", "spam");
    assert_eq!(item(&banned), expected);
    let deleted = item(&example_post(Status::Deleted));
    assert_eq!(deleted.get("GSI3PK"), Some(ValueRef::S("POSTS#SORTED#deleted")));
}

#[test]
fn counts_sort_as_numbers_and_ties_by_date() {
    let place = |likes, created_at: &str| {
        let post = Post { likes, created_at: time(created_at), ..example_post(Status::Active) };
        crate::text(&post.to_item().unwrap(), "GSI3SK")
    };
    let nine = place(9, "2025-08-19T00:00:00Z");
    let ten_early = place(10, "2025-08-18T00:00:00Z");
    let ten_late = place(10, "2025-08-20T00:00:00Z");
    let most = place(u32::MAX, "2025-08-17T00:00:00Z");
    assert!(nine < ten_early && ten_early < ten_late && ten_late < most);
    assert_eq!(most.len(), nine.len(), "counts have a fixed number of digits");
}

#[test]
fn comment_and_like_items_are_those_of_document() {
    let comment = Comment {
        post_id: id("postId"),
        comment_id: id("commentId"),
        user_id: email("eva"),
        content: "Sí".into(),
        created_at: time("2025-08-18T10:31:00Z"),
        status: Status::Active,
        banned_at: None,
        banned_by: None,
        ban_reason: None,
        profanity_score: Number::parse("0.5").unwrap(),
    };
    assert_eq!(
        item(&comment),
        item! {
            "PK" => "POST#postId", "SK" => "COMMENT#commentId", "userId" => "eva@sura.com.co",
            "content" => "Sí", "createdAt" => "2025-08-18T10:31:00Z", "status" => "active",
            "profanityScore" => Value::N(Number::parse("0.5").unwrap()),
        }
    );
    let created_at = time("2025-08-18T10:31:00Z");
    let like = Like { post_id: id("postId"), user_id: email("eva"), created_at };
    assert_eq!(
        item(&like),
        item! {
            "PK" => "POST#postId", "SK" => "LIKE#eva@sura.com.co",
            "createdAt" => "2025-08-18T10:31:00Z",
        }
    );
}

#[test]
fn configuration_items_are_those_of_document() {
    let domains = ConfigDomains { whitelist: vec!["@sura.com.co".into(), "@bancoldex.com".into()] };
    assert_eq!(
        item(&domains),
        item! {
            "PK" => "CONFIG#domains", "SK" => "CONFIG#domains",
            "whitelist" => list!["@sura.com.co", "@bancoldex.com"],
        }
    );
    let opens = [(room("sala1"), time("2025-08-20T09:00:00Z"))];
    let schedule = ConfigSchedule { sala_open_times: opens.into() };
    let times: Map = [("sala1".to_owned(), Value::from("2025-08-20T09:00:00Z"))].into();
    assert_eq!(
        item(&schedule),
        item! {
            "PK" => "CONFIG#schedule", "SK" => "CONFIG#schedule",
            "salaOpenTimes" => Value::M(times),
        }
    );
    let severities = [("palabra1", Severity::High), ("palabra2", Severity::Medium)];
    let profanity = ConfigProfanity {
        blacklist: vec!["palabra1".into(), "palabra2".into()],
        severity: BTreeMap::from(severities.map(|(word, severity)| (word.to_owned(), severity))),
        auto_moderation_threshold: Number::parse("0.8").unwrap(),
    };
    let severity: Map =
        [("palabra1", "high"), ("palabra2", "medium")].map(|(a, b)| (a.into(), b.into())).into();
    assert_eq!(
        item(&profanity),
        item! {
            "PK" => "CONFIG#profanity", "SK" => "CONFIG#profanity",
            "blacklist" => list!["palabra1", "palabra2"], "severity" => Value::M(severity),
            "autoModerationThreshold" => Value::N(Number::parse("0.8").unwrap()),
        }
    );
}

#[test]
fn moderation_log_item_is_that_of_document() {
    let metadata: Map = [("userId".to_owned(), Value::from("ana@sura.com.co"))].into();
    let log = ModerationLog {
        date: time("1970-01-01T00:00:00Z").day(),
        timestamp: time("1970-01-01T00:00:00Z"),
        admin_id: id("admin1"),
        action_id: id("action1"),
        action: Action::Ban,
        target_type: TargetType::Post,
        target_id: id("postId"),
        reason: "spam".into(),
        original_content: Some("Hola".into()),
        metadata: metadata.clone(),
    };
    assert_eq!(
        item(&log.at(time("2025-08-18T12:00:00Z"))),
        item! {
            "PK" => "MODLOG#2025-08-18", "SK" => "2025-08-18T12:00:00Z#admin1#action1",
            "action" => "ban", "targetType" => "post", "targetId" => "postId", "reason" => "spam",
            "adminId" => "admin1", "originalContent" => "Hola", "metadata" => Value::M(metadata),
        }
    );
}

#[test]
fn event_item_is_that_of_document() {
    let timestamp = time("2025-08-18T10:30:00Z");
    let log = ActivityLog {
        user_id: email("ana"),
        timestamp,
        event_id: id("eventId"),
        action: "visit".into(),
        sala_id: Some(room("sala1")),
        country: Some(id("Colombia")),
        metadata: [("seconds".to_owned(), Value::from(7))].into(),
        ttl: timestamp.plus(KEPT).as_secs(),
    };
    let shard = Sharded::<10>::by("eventId");
    let seconds: Map = [("seconds".to_owned(), Value::from(7))].into();
    assert_eq!(
        item(&log),
        item! {
            "PK" => format!("USER#ana@sura.com.co#shard{shard}"),
            "SK" => "2025-08-18T10:30:00Z#eventId",
            "GSI1PK" => format!("COUNTRY#Colombia#2025-08-18#shard{shard}"),
            "GSI1SK" => "2025-08-18T10:30:00Z#eventId",
            "action" => "visit", "salaId" => "sala1", "country" => "Colombia",
            "metadata" => Value::M(seconds),
            // 90 days later, to the second.
            "ttl" => time("2025-11-16T10:30:00Z").as_secs(),
        }
    );
    let nowhere = item(&ActivityLog { country: None, sala_id: None, ..log });
    assert!(!nowhere.contains("GSI1PK") && !nowhere.contains("GSI1SK"));
    assert!(!nowhere.contains("country") && !nowhere.contains("salaId"));
}

#[test]
fn ambiguous_key_part_is_refused() {
    for wrong in ["", "ana", "@sura.com.co", "ana@", "a@b@c", "a#b@c", "a b@c"] {
        assert!(Email::new(wrong).is_err(), "{wrong:?}");
    }
    assert!(Email::read_key("Ana@x").is_err() && Email::read_key("ana@x").is_ok());
    assert_eq!(Email::new("ANA@X.co").unwrap().domain(), "@x.co");
    for wrong in ["", "STATUS", "sala#1"] {
        assert!(RoomId::new(wrong).is_err(), "{wrong:?}");
    }
    // Users of a country and posts of a user never share a partition.
    let users = users_by_country(&id("ana@sura.com.co"), None).describe().unwrap();
    let posts = user_posts(&email("ana"), None).describe().unwrap();
    assert_ne!(users.keys, posts.keys);
    assert!(tabla::entity::Id::new("ana@sura.com.co#POSTS").is_err());
}

#[test]
fn shelf_is_read_back_from_key() {
    for status in [Status::Active, Status::Banned, Status::Deleted] {
        let mut text = String::new();
        Shelf::from(status).write_key(&mut text).unwrap();
        assert_eq!(Shelf::read_key(&text).unwrap(), Shelf::from(status));
    }
    assert!(Shelf::read_key("#active").is_err() && Shelf::read_key("banned").is_err());
}

#[test]
fn lint_refuses_order_of_content_versions() {
    use tabla::entity::Pattern;
    use tabla::entity::lint::{self, Rule};
    use tabla_kit::App;

    // `v10` sorts before `v9`.
    let versions = Pattern::new("Versions", "in order")
        .find(|| RoomContent::of(RoomId::example("roomId")).describe());
    let design = EsenciaFestApp.design().patterns(vec![versions]);
    let found = lint::check(&design);
    assert!(found.iter().any(|finding| finding.rule == Rule::NumbersAsText), "{found:?}");
}

#[tokio::test]
async fn tables_are_those_of_document() {
    use std::collections::BTreeSet;

    use tabla::ops::{BillingMode, DescribeTable, DescribeTimeToLive, ListTables, StreamViewType};

    let (db, _) = db().await;
    let names = db.store().list_tables(ListTables::default()).await.unwrap().table_names;
    for month in ["2025-07", "2025-08", "2025-09"] {
        assert!(names.contains(&format!("EsenciaFest-ActivityLogs-{month}")), "{names:?}");
    }
    let main = DescribeTable::new("EsenciaFest-Main-2025");
    let main = db.store().describe_table(main).await.unwrap();
    // The service lists indexes in any order.
    let indexes: BTreeSet<&str> =
        main.global_secondary_indexes.iter().map(|i| i.name.as_str()).collect();
    assert_eq!(indexes, ["GSI1", "GSI2", "GSI3", "GSI4"].into());
    assert_eq!(ACTIVITY_LOGS.stream, Some(StreamViewType::NewImage));
    for design in [&MAIN, &ACTIVITY_LOGS] {
        assert_eq!(design.create("x").billing_mode, Some(BillingMode::PayPerRequest));
        assert!(design.recovery);
    }
    assert_eq!((MAIN.ttl.as_deref(), ACTIVITY_LOGS.ttl.as_deref()), (None, Some("ttl")));
    let ttl = DescribeTimeToLive::new("EsenciaFest-ActivityLogs-2025-08");
    let ttl = db.store().describe_time_to_live(ttl).await.unwrap();
    assert_eq!(ttl.attribute.as_deref(), Some("ttl"));
}

#[tokio::test]
async fn updated_keys_follow_their_fields() {
    let (fest, db, _) = opened().await;
    let post = post(&fest, "p1").await;
    fest.like_post(&post.post_id, &email("eva")).await.unwrap();
    fest.create_comment(&post.post_id, &email("eva"), "Sí").await.unwrap();
    fest.update_post_status(&post.post_id, Status::Banned, "spam", &id("admin1")).await.unwrap();
    let read = fest.get_post(&post.post_id).await.unwrap().unwrap();
    let item = crate::stored(&db, "POST#p1", "POST#p1").await;
    assert_eq!(item, read.to_item().unwrap(), "keys follow their fields");
    assert_eq!(PostKey::from_item(&item).unwrap(), post.to_key());
    let unchanged = Post { banned_at: None, banned_by: None, ban_reason: None, ..read.clone() };
    let expected = Post { likes: 1, comments_count: 1, status: Status::Banned, ..post };
    assert_eq!(unchanged, expected);
}
