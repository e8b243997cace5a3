//! The networks of users.

use tabla::entity::{EntityQuery, Outcome};

use super::*;

/// Members of `ana` and of `ana2`. The second id begins with the first.
async fn networks() -> Fixture {
    let fixture = Fixture::with_ana().await;
    let app = &fixture.app;
    assert_eq!(app.create_user(profile("ana2", "DEF")).await.unwrap(), Created::Done);
    for member in [
        member("ana2", "d", "ORO", "ACTIVO"),
        member("ana", "c", "ORO", "INACTIVO"),
        member("ana", "b", "PLATA", "ACTIVO"),
        member("ana", "a", "ORO", "ACTIVO"),
    ] {
        assert_eq!(app.add_member(member).await.unwrap(), Added::Done);
    }
    fixture
}

fn names(members: &[NetworkMember]) -> String {
    members.iter().map(|member| member.member_id.as_str()).collect()
}

#[tokio::test]
async fn members_are_found_by_level_and_status_of_one_user_and_of_all() {
    let Fixture { db, .. } = networks().await;
    let (ana, oro, activo) = (id("ana"), id("ORO"), id("ACTIVO"));
    let found = |query: EntityQuery<NetworkMember>| async { names(&db.all(query).await.unwrap()) };
    assert_eq!(found(network(&ana)).await, "abc");
    // Members of `ana2` sort after those of `ana`, because `#` sorts before digits.
    assert_eq!(found(members_by_level(&oro)).await, "acd");
    assert_eq!(found(members_of_user_by_level(&ana, &oro)).await, "ac");
    assert_eq!(found(members_by_status(&activo)).await, "abd");
    assert_eq!(found(members_of_user_by_status(&ana, &activo)).await, "ab");
    assert_eq!(found(members_by_level_and_status(&oro, &activo)).await, "ad");
    assert_eq!(found(members_of_user_by_level_and_status(&ana, &oro, &activo)).await, "a");
    assert_eq!(
        found(members_by_level(&id("OR"))).await,
        "",
        "the partition key has the whole level"
    );
}

#[tokio::test]
async fn operations_find_the_same_members_as_the_patterns() {
    let Fixture { app, .. } = networks().await;
    let (ana, oro, activo) = (id("ana"), id("ORO"), id("ACTIVO"));
    let found = app.members_by_level(None, &oro, None).await.unwrap().items;
    assert_eq!(names(&found), "acd");
    let found = app.members_by_level(Some(&ana), &oro, None).await.unwrap().items;
    assert_eq!(names(&found), "ac");
    let found = app.members_by_status(None, &activo, None).await.unwrap().items;
    assert_eq!(names(&found), "abd");
    let found = app.members_by_status(Some(&ana), &activo, None).await.unwrap().items;
    assert_eq!(names(&found), "ab");
    let found = app.members_by_level_and_status(None, &oro, &activo, None).await.unwrap().items;
    assert_eq!(names(&found), "ad");
    let found =
        app.members_by_level_and_status(Some(&ana), &oro, &activo, None).await.unwrap().items;
    assert_eq!(names(&found), "a");
}

#[tokio::test]
async fn large_network_is_read_in_pages() {
    let Fixture { app, .. } = Fixture::with_ana().await;
    for number in 0..PAGE * 2 + 10 {
        let member = member("ana", &format!("{number:04}"), "ORO", "ACTIVO");
        assert!(app.add_member(member).await.unwrap().is_done());
    }
    let (ana, oro) = (id("ana"), id("ORO"));
    let (mut sizes, mut seen, mut after) = (Vec::new(), Vec::new(), None);
    loop {
        let page = app.members_by_level(Some(&ana), &oro, after).await.unwrap();
        sizes.push(page.items.len());
        seen.extend(page.items.into_iter().map(|member| member.member_id));
        // A cursor survives a round trip as text.
        after = page.next.map(|next| next.to_string().parse().unwrap());
        if after.is_none() {
            break;
        }
    }
    assert_eq!(sizes, [50, 50, 10]);
    let expected: Vec<Id> = (0..PAGE * 2 + 10).map(|number| id(&format!("{number:04}"))).collect();
    assert_eq!(seen, expected, "each once, in order");
    let page = app.network(&ana, None).await.unwrap();
    let other = app.members_by_level(Some(&ana), &oro, page.next).await.unwrap_err();
    assert!(other.message().contains("another query"), "{other}");
}

#[tokio::test]
async fn change_of_level_or_status_moves_the_index_entry() {
    let fixture = networks().await;
    let (app, db, ana) = (&fixture.app, &fixture.db, id("ana"));
    let (b, plata, oro) = (id("b"), id("PLATA"), id("ORO"));
    let moved = app.change_level(&ana, &b, &plata, &oro).await.unwrap().done().unwrap();
    assert_eq!((&moved.level, &moved.status), (&oro, &id("ACTIVO")));
    assert_eq!(names(&db.all(members_by_level(&oro)).await.unwrap()), "abcd");
    assert_eq!(names(&db.all(members_by_level(&plata)).await.unwrap()), "");
    let (activo, inactivo) = (id("ACTIVO"), id("INACTIVO"));
    let moved = app.change_status(&ana, &b, &activo, &inactivo).await.unwrap().done().unwrap();
    assert_eq!((&moved.level, &moved.status), (&oro, &inactivo));
    assert_eq!(names(&db.all(members_by_status(&inactivo)).await.unwrap()), "bc");
    assert_eq!(names(&db.all(members_by_status(&activo)).await.unwrap()), "ad");
}

#[tokio::test]
async fn change_from_another_level_or_status_fails() {
    let fixture = networks().await;
    let (app, ana, b) = (&fixture.app, id("ana"), id("b"));
    let before = fixture.items().await;
    let members = app.network(&ana, None).await.unwrap().items;
    let present = members.into_iter().find(|member| member.member_id == b);
    let lost = app.change_level(&ana, &b, &id("BRONCE"), &id("ORO")).await.unwrap();
    assert_eq!(lost, Outcome::Lost(present.clone()));
    let lost = app.change_status(&ana, &b, &id("INACTIVO"), &id("BAJA")).await.unwrap();
    assert_eq!(lost, Outcome::Lost(present));
    let missing = app.change_level(&ana, &id("z"), &id("ORO"), &id("PLATA")).await.unwrap();
    assert_eq!(missing, Outcome::Lost(None));
    assert_eq!(fixture.items().await, before, "no item is created");
}

#[tokio::test]
async fn dashboard_counts_the_members() {
    let fixture = networks().await;
    let (app, ana) = (&fixture.app, id("ana"));
    assert_eq!(fixture.dashboard().await.network_size, 3);
    let before = fixture.items().await;
    let present = app.network(&ana, None).await.unwrap().items.remove(0);
    let again = app.add_member(member("ana", "a", "BRONCE", "BAJA")).await.unwrap();
    assert_eq!(again, Added::Exists(present));
    let nobody = app.add_member(member("nobody", "a", "ORO", "ACTIVO")).await.unwrap();
    assert_eq!(nobody, Added::NoUser);
    assert!(!app.remove_member(&ana, &id("z")).await.unwrap());
    assert_eq!(fixture.items().await, before);
    assert!(app.remove_member(&ana, &id("a")).await.unwrap());
    assert!(!app.remove_member(&ana, &id("a")).await.unwrap());
    assert_eq!(fixture.dashboard().await.network_size, 2);
    assert_eq!(names(&app.network(&ana, None).await.unwrap().items), "bc");
}
