//! Users and their codes.

use tabla::entity::Outcome;
use tabla::item;
use tabla::ops::PutItem;

use super::*;

#[tokio::test]
async fn existing_user_is_not_created_again() {
    let fixture = Fixture::with_ana().await;
    let before = fixture.items().await;
    let present = fixture.app.profile(&id("ana")).await.unwrap();
    for code in ["ABC", "XYZ"] {
        let created = fixture.app.create_user(profile("ana", code)).await.unwrap();
        assert_eq!(created, Created::Exists(present.clone()), "reported before a taken code");
    }
    assert_eq!(fixture.items().await, before);
}

#[tokio::test]
async fn taken_code_is_refused_for_a_new_user() {
    let fixture = Fixture::with_ana().await;
    let before = fixture.items().await;
    let created = fixture.app.create_user(profile("eva", "ABC")).await.unwrap();
    assert_eq!(created, Created::CodeTaken);
    assert_eq!(fixture.items().await, before, "neither a profile nor a dashboard is written");
}

#[tokio::test]
async fn user_is_found_by_the_whole_code_only() {
    let Fixture { app, .. } = Fixture::with_ana().await;
    assert_eq!(app.create_user(profile("eva", "ABCD")).await.unwrap(), Created::Done);
    let found = app.user_by_code(&id("ABC")).await.unwrap().unwrap();
    assert_eq!(found.user_id, id("ana"));
    assert_eq!(app.user_by_code(&id("AB")).await.unwrap(), None);
    assert_eq!(app.panel_by_code(&id("AB")).await.unwrap(), None);
    let panel = app.panel_by_code(&id("ABCD")).await.unwrap().unwrap();
    assert_eq!(panel.profile.unwrap().user_id, id("eva"));
    assert_eq!(panel.dashboard.unwrap().user_id, id("eva"));
}

#[tokio::test]
async fn user_is_found_by_the_new_code_only() {
    let Fixture { app, clock, .. } = Fixture::with_ana().await;
    let ana = app.profile(&id("ana")).await.unwrap().unwrap();
    clock.advance(std::time::Duration::from_secs(60));
    let changed = app.change_code(&ana, &id("NEW")).await.unwrap().done().unwrap();
    assert_eq!(changed.user_code, id("NEW"));
    assert_eq!(changed.created_at, time("2025-08-18T10:30:00Z"));
    assert_eq!(changed.updated_at, time("2025-08-18T10:31:00Z"));
    assert_eq!(app.user_by_code(&id("NEW")).await.unwrap(), Some(changed));
    assert_eq!(app.user_by_code(&id("ABC")).await.unwrap(), None);
    // The old code is free.
    assert_eq!(app.create_user(profile("eva", "ABC")).await.unwrap(), Created::Done);
}

#[tokio::test]
async fn change_to_a_taken_code_fails() {
    let fixture = Fixture::with_ana().await;
    assert_eq!(fixture.app.create_user(profile("eva", "XYZ")).await.unwrap(), Created::Done);
    let before = fixture.items().await;
    let ana = fixture.app.profile(&id("ana")).await.unwrap().unwrap();
    let changed = fixture.app.change_code(&ana, &id("XYZ")).await.unwrap();
    assert_eq!(changed, Outcome::Taken { field: "user_code" });
    assert_eq!(fixture.items().await, before);
}

#[tokio::test]
async fn code_change_from_an_outdated_profile_fails() {
    let fixture = Fixture::with_ana().await;
    let app = &fixture.app;
    let read = app.profile(&id("ana")).await.unwrap().unwrap();
    let current = app.change_code(&read, &id("NEW")).await.unwrap().done().unwrap();
    let before = fixture.items().await;
    for code in ["OTHER", "ABC"] {
        let lost = app.change_code(&read, &id(code)).await.unwrap();
        assert_eq!(lost, Outcome::Lost(Some(current.clone())), "{code}");
    }
    let gone = app.change_code(&profile("eva", "EVA"), &id("OTHER")).await.unwrap();
    assert_eq!(gone, Outcome::Lost(None));
    assert_eq!(fixture.items().await, before);
}

#[tokio::test]
async fn deleted_user_leaves_no_item() {
    let fixture = Fixture::with_ana().await;
    let app = &fixture.app;
    assert_eq!(app.create_user(profile("eva", "EVA")).await.unwrap(), Created::Done);
    let others = fixture.keys().await.into_iter().filter(|key| !key.contains("ana"));
    let others: Vec<String> = others.filter(|key| !key.contains("ABC")).collect();
    assert!(app.add_goal(goal("g1", 1)).await.unwrap().is_done());
    assert!(app.add_product(product("p1", Some("NUEVO"))).await.unwrap().is_done());
    assert!(app.add_featured(featured("f1")).await.unwrap().is_done());
    assert!(app.add_member(member("ana", "m1", "ORO", "ACTIVO")).await.unwrap().is_done());
    assert!(app.begin_upload(upload("a1")).await.unwrap().is_done());
    assert_eq!(app.confirm_upload(&id("a1")).await.unwrap(), Confirmed::Done);
    assert!(app.delete_user(&id("ana")).await.unwrap());
    assert_eq!(fixture.keys().await, others);
    assert!(!app.delete_user(&id("ana")).await.unwrap());
    // Nothing can be added to a deleted user, and the code is free.
    assert_eq!(app.add_goal(goal("g1", 1)).await.unwrap(), Added::NoUser);
    let added = app.add_member(member("ana", "m1", "ORO", "ACTIVO")).await.unwrap();
    assert_eq!(added, Added::NoUser);
    assert_eq!(app.begin_upload(upload("a1")).await.unwrap(), Added::NoUser);
    assert_eq!(fixture.keys().await, others);
    assert_eq!(app.create_user(profile("new", "ABC")).await.unwrap(), Created::Done);
}

#[tokio::test]
async fn panel_has_the_item_collection_of_one_user() {
    let Fixture { app, db, .. } = Fixture::with_ana().await;
    // An id that begins with another id.
    assert_eq!(app.create_user(profile("ana2", "DEF")).await.unwrap(), Created::Done);
    assert!(app.add_goal(goal("g1", 1)).await.unwrap().is_done());
    assert!(app.add_member(member("ana2", "m1", "ORO", "ACTIVO")).await.unwrap().is_done());
    let stray = item! { "PK" => "USER#ana", "SK" => "STRAY#1", "entityType" => "stray" };
    db.store().put(PutItem::new("Gamificacion", stray.clone())).await.unwrap();
    let panel = app.panel(&id("ana")).await.unwrap();
    assert_eq!(panel.profile.unwrap().user_code, id("ABC"));
    assert_eq!(panel.goals.len(), 1);
    assert!(panel.network.is_empty());
    assert_eq!(panel.unknown, [stray], "an item of an unknown kind is kept");
    assert_eq!(app.panel(&id("nobody")).await.unwrap(), Panel::default());
}

#[tokio::test]
async fn panel_is_read_over_all_pages() {
    let Fixture { app, .. } = Fixture::with_ana().await;
    for number in 0..8 {
        let bio = Some("x".repeat(300_000));
        let member = member("ana", &format!("{number:03}"), "ORO", "ACTIVO");
        assert!(app.add_member(NetworkMember { bio, ..member }).await.unwrap().is_done());
    }
    let panel = app.panel(&id("ana")).await.unwrap();
    let members: Vec<&str> = panel.network.iter().map(|member| member.member_id.as_str()).collect();
    assert_eq!(members, ["000", "001", "002", "003", "004", "005", "006", "007"]);
    assert_eq!(panel.dashboard.unwrap().network_size, 8);
    assert!(panel.profile.is_some(), "the profile sorts after 2.4 MB of members");
}
