//! Users and their codes.

use tabla::entity::Outcome;
use tabla::item;
use tabla::ops::PutItem;

use super::*;

#[tokio::test]
async fn a_user_who_is_there_is_not_created_again() {
    let fixture = Fixture::with_ana().await;
    let before = fixture.items().await;
    let present = fixture.app.profile(&id("ana")).await.unwrap();
    for code in ["ABC", "XYZ"] {
        let created = fixture.app.create_user(profile("ana", code)).await.unwrap();
        assert_eq!(created, Created::Exists(present.clone()), "even if the code is taken, too");
    }
    assert_eq!(fixture.items().await, before);
}

#[tokio::test]
async fn a_code_is_one_users() {
    let fixture = Fixture::with_ana().await;
    let before = fixture.items().await;
    let created = fixture.app.create_user(profile("eva", "ABC")).await.unwrap();
    assert_eq!(created, Created::CodeTaken);
    assert_eq!(fixture.items().await, before, "neither a profile nor a dashboard is left");
}

#[tokio::test]
async fn a_user_is_found_by_the_whole_code() {
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
async fn a_user_who_takes_another_code_is_found_by_that_one_only() {
    let Fixture { app, clock, .. } = Fixture::with_ana().await;
    let ana = app.profile(&id("ana")).await.unwrap().unwrap();
    clock.advance(std::time::Duration::from_secs(60));
    let changed = app.change_code(&ana, &id("NEW")).await.unwrap().done().unwrap();
    assert_eq!(changed.user_code, id("NEW"));
    assert_eq!(changed.created_at, time("2025-08-18T10:30:00Z"));
    assert_eq!(changed.updated_at, time("2025-08-18T10:31:00Z"));
    assert_eq!(app.user_by_code(&id("NEW")).await.unwrap(), Some(changed));
    assert_eq!(app.user_by_code(&id("ABC")).await.unwrap(), None);
    // The old code is anybody's.
    assert_eq!(app.create_user(profile("eva", "ABC")).await.unwrap(), Created::Done);
}

#[tokio::test]
async fn a_code_that_is_taken_is_not_changed_to() {
    let fixture = Fixture::with_ana().await;
    assert_eq!(fixture.app.create_user(profile("eva", "XYZ")).await.unwrap(), Created::Done);
    let before = fixture.items().await;
    let ana = fixture.app.profile(&id("ana")).await.unwrap().unwrap();
    let changed = fixture.app.change_code(&ana, &id("XYZ")).await.unwrap();
    assert_eq!(changed, Outcome::Taken { field: "user_code" });
    assert_eq!(fixture.items().await, before);
}

#[tokio::test]
async fn a_code_is_not_changed_by_who_believes_another() {
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
async fn a_deleted_user_leaves_nothing() {
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
    // The code is anybody's, and nothing can be added to somebody who is not there.
    assert_eq!(app.add_goal(goal("g1", 1)).await.unwrap(), Added::NoUser);
    let added = app.add_member(member("ana", "m1", "ORO", "ACTIVO")).await.unwrap();
    assert_eq!(added, Added::NoUser);
    assert_eq!(app.begin_upload(upload("a1")).await.unwrap(), Added::NoUser);
    assert_eq!(fixture.keys().await, others);
    assert_eq!(app.create_user(profile("new", "ABC")).await.unwrap(), Created::Done);
}

#[tokio::test]
async fn a_panel_has_one_user_and_everything_about_them() {
    let Fixture { app, db, .. } = Fixture::with_ana().await;
    // A user whose identifier begins with another's.
    assert_eq!(app.create_user(profile("ana2", "DEF")).await.unwrap(), Created::Done);
    assert!(app.add_goal(goal("g1", 1)).await.unwrap().is_done());
    assert!(app.add_member(member("ana2", "m1", "ORO", "ACTIVO")).await.unwrap().is_done());
    let stray = item! { "PK" => "USER#ana", "SK" => "STRAY#1", "entityType" => "stray" };
    db.store().put(PutItem::new("Gamificacion", stray.clone())).await.unwrap();
    for panel in [app.panel(&id("ana")).await.unwrap(), app.panel_now(&id("ana")).await.unwrap()] {
        assert_eq!(panel.profile.unwrap().user_code, id("ABC"));
        assert_eq!(panel.goals.len(), 1);
        assert!(panel.network.is_empty());
        assert_eq!(panel.unknown, std::slice::from_ref(&stray), "what is unknown is kept");
    }
    assert_eq!(app.panel(&id("nobody")).await.unwrap(), Panel::default());
}

#[tokio::test]
async fn a_panel_of_many_pages_is_whole() {
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
    assert!(panel.profile.is_some(), "it is behind 2.4 MB of members");
}
