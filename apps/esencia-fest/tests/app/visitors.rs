//! Users and rooms.

use tabla::entity::Outcome;
use tabla_esencia_fest::*;

use crate::{email, fest, id, main_table, newcomer, opened, room, time};

#[tokio::test]
async fn address_of_admitted_domain_registers_once() {
    let (fest, db, _) = opened().await;
    let before = main_table(&db).await;
    let stranger = Newcomer { email: Email::new("ana@else.com").unwrap(), ..newcomer("ana") };
    assert_eq!(fest.register(stranger).await.unwrap(), Registered::NotAdmitted);
    // A domain that ends with an admitted one is another domain.
    let trick = Email::new("ana@x.sura.com.co").unwrap();
    let trick = Newcomer { email: trick, ..newcomer("ana") };
    assert_eq!(fest.register(trick).await.unwrap(), Registered::NotAdmitted);
    let ana = fest.get_user(&email("ana")).await.unwrap().unwrap();
    let again = Newcomer {
        email: Email::new("ANA@Sura.com.CO").unwrap(),
        name: "Another".into(),
        ..newcomer("ana")
    };
    assert_eq!(fest.register(again).await.unwrap(), Registered::Already(ana));
    assert_eq!(main_table(&db).await, before, "nothing was written");
}

#[tokio::test]
async fn registration_without_domains_is_refused() {
    assert_eq!(fest().await.register(newcomer("ana")).await.unwrap(), Registered::NotAdmitted);
}

#[tokio::test]
async fn room_is_completed_once() {
    let (fest, db, _) = opened().await;
    let ana = email("ana");
    for name in ["sala1", "sala3"] {
        assert!(fest.update_user_progress(&ana, &room(name)).await.unwrap().is_done());
    }
    let progress = fest.get_user_progress(&ana).await.unwrap();
    assert_eq!(progress, Some(vec![room("sala1"), room("sala3")]));
    let before = main_table(&db).await;
    let again = fest.update_user_progress(&ana, &room("sala1")).await.unwrap();
    let current = fest.get_user(&ana).await.unwrap();
    assert!(current.is_some());
    assert_eq!(again, Outcome::Lost(current), "the room was completed before");
    let missing = fest.update_user_progress(&email("zoe"), &room("sala1")).await.unwrap();
    assert_eq!(missing, Outcome::Lost(None));
    assert_eq!(fest.get_user_progress(&email("zoe")).await.unwrap(), None);
    assert_eq!(main_table(&db).await, before, "nothing was written");
}

#[tokio::test]
async fn users_are_found_by_country_and_day() {
    let (fest, _, _) = opened().await;
    let late = fest.at(time("2025-08-20T23:59:59Z"));
    late.register(newcomer("zoe")).await.unwrap();
    let names = |users: Vec<User>| users.into_iter().map(|user| user.name).collect::<Vec<_>>();
    let all = fest.get_users_by_country(&id("Colombia"), None, None).await.unwrap().items;
    assert_eq!(all.len(), 4);
    let days = Span::new(time("2025-08-19T00:00:00Z"), time("2025-08-20T00:00:00Z")).unwrap();
    let some = fest.get_users_by_country(&id("Colombia"), Some(days), None).await.unwrap().items;
    assert_eq!(names(some), ["zoe"], "days are whole");
    let none = fest.get_users_by_country(&id("Chile"), None, None).await.unwrap().items;
    assert!(none.is_empty());
}

fn schedule(opens: &[(&str, &str)]) -> ConfigSchedule {
    let times = opens.iter().map(|(name, opens)| (room(name), time(opens)));
    ConfigSchedule { sala_open_times: times.collect() }
}

#[tokio::test]
async fn schedule_sets_opening_of_its_rooms() {
    let (fest, _, clock) = opened().await;
    let first = schedule(&[("sala2", "2025-08-20T09:00:00Z"), ("sala1", "2025-08-20T08:00:00Z")]);
    assert_eq!(fest.set_schedule(first).await.unwrap().new_rooms, 2);
    fest.set_manual_override(&room("sala1"), ManualOverride::Open).await.unwrap().done().unwrap();
    clock.advance(std::time::Duration::from_secs(60));
    let second = schedule(&[("sala1", "2025-08-21T08:00:00Z"), ("sala3", "2025-08-21T09:00:00Z")]);
    assert_eq!(fest.set_schedule(second.clone()).await.unwrap().new_rooms, 1);
    assert_eq!(fest.get_schedule().await.unwrap(), Some(second));
    let rooms = fest.get_all_rooms_status().await.unwrap();
    let shown: Vec<(&str, String)> =
        rooms.iter().map(|room| (room.room_id.as_str(), room.open_at.to_string())).collect();
    let expected = [
        ("sala1", "2025-08-21T08:00:00Z".to_owned()),
        ("sala2", "2025-08-20T09:00:00Z".to_owned()),
        ("sala3", "2025-08-21T09:00:00Z".to_owned()),
    ];
    assert_eq!(shown, expected);
    assert_eq!(rooms[0].manual_override, ManualOverride::Open, "the override is unchanged");
    assert_eq!(rooms[0].updated_at.to_string(), "2025-08-18T10:31:00Z");
    assert_eq!(rooms[0].created_at.to_string(), "2025-08-18T10:30:00Z");
    let many = (0..100).map(|n| (room(&format!("r{n}")), time("2025-08-21T08:00:00Z")));
    let many = ConfigSchedule { sala_open_times: many.collect() };
    assert!(fest.set_schedule(many).await.is_err());
}

#[tokio::test]
async fn cleared_override_is_null() {
    let (fest, db, _) = opened().await;
    let missing = fest.set_manual_override(&room("sala9"), ManualOverride::Open).await.unwrap();
    assert_eq!(missing, Outcome::Lost(None));
    fest.set_schedule(schedule(&[("sala1", "2025-08-20T09:00:00Z")])).await.unwrap();
    for (decided, stored) in [
        (ManualOverride::Closed, tabla::Value::from("closed")),
        (ManualOverride::Automatic, tabla::Value::Null),
    ] {
        fest.set_manual_override(&room("sala1"), decided).await.unwrap().done().unwrap();
        let item = crate::stored(&db, "ROOM#STATUS", "ROOM#sala1").await;
        assert_eq!(item.get("manualOverride").map(|value| value.to_value()), Some(stored));
    }
}

fn content(title: &str) -> NewContent {
    NewContent {
        kind: "video".into(),
        title: title.into(),
        vimeo_url: "https://vimeo.com/1".into(),
    }
}

#[tokio::test]
async fn room_shows_one_version() {
    let (fest, db, _) = opened().await;
    let sala = room("sala1");
    let no_room = fest.update_room_content(&sala, None, content("a")).await.unwrap();
    assert_eq!(no_room, ContentUpdated::NoRoom);
    fest.set_schedule(schedule(&[("sala1", "2025-08-20T09:00:00Z")])).await.unwrap();
    assert_eq!(fest.get_room_content(&sala).await.unwrap(), None);
    for (seen, title) in [(None, "a"), (Some(1), "b"), (Some(2), "c")] {
        let updated = fest.update_room_content(&sala, seen, content(title)).await.unwrap();
        let shown = fest.get_room_content(&sala).await.unwrap().unwrap();
        assert_eq!(updated, ContentUpdated::Done(shown.clone()));
        assert_eq!((shown.version, shown.title.as_str()), (seen.unwrap_or(0) + 1, title));
        assert_eq!(shown.open_at, time("2025-08-20T09:00:00Z"));
    }
    let before = main_table(&db).await;
    // The outcome has the version after the one that was seen.
    for (seen, next) in [(None, 1), (Some(1), 2), (Some(2), 3)] {
        let late = fest.update_room_content(&sala, seen, content("late")).await.unwrap();
        let current = fest.get_content_version(&sala, next).await.unwrap();
        assert!(current.is_some());
        assert_eq!(late, ContentUpdated::Outdated(current));
    }
    // The seen version does not exist.
    let late = fest.update_room_content(&sala, Some(7), content("early")).await.unwrap();
    assert_eq!(late, ContentUpdated::Outdated(None));
    assert_eq!(main_table(&db).await, before, "nothing was written");
    // The seen version is no longer shown and has no successor.
    let shown = fest.get_room_content(&sala).await.unwrap().unwrap();
    let away = RoomContent { version: 9, active_since: None, ..shown };
    db.create(away.clone()).await.unwrap().done().unwrap();
    let late = fest.update_room_content(&sala, Some(9), content("next")).await.unwrap();
    assert_eq!(late, ContentUpdated::Outdated(Some(away)));
}
