//! Goals, points, products and featured entries.

use tabla::entity::Outcome;

use super::*;

#[tokio::test]
async fn existing_entity_is_not_created_again() {
    let fixture = Fixture::with_ana().await;
    let app = &fixture.app;
    assert_eq!(app.add_goal(goal("g1", 10)).await.unwrap(), Added::Done);
    assert_eq!(app.add_product(product("p1", None)).await.unwrap(), Added::Done);
    assert_eq!(app.add_featured(featured("f1")).await.unwrap(), Added::Done);
    let before = fixture.items().await;
    let panel = app.panel(&id("ana")).await.unwrap();
    let again = app.add_goal(goal("g1", 99)).await.unwrap();
    assert_eq!(again, Added::Exists(panel.goals[0].clone()));
    let again = app.add_product(product("p1", Some("NUEVO"))).await.unwrap();
    assert_eq!(again, Added::Exists(panel.products[0].clone()));
    let again = app.add_featured(featured("f1")).await.unwrap();
    assert_eq!(again, Added::Exists(panel.featured[0].clone()));
    let nobody = Goal { user_id: id("nobody"), ..goal("g1", 1) };
    assert_eq!(app.add_goal(nobody).await.unwrap(), Added::NoUser);
    assert_eq!(fixture.items().await, before);
}

#[tokio::test]
async fn reached_goal_is_completed_once() {
    let fixture = Fixture::with_ana().await;
    let (app, ana, g1) = (&fixture.app, id("ana"), id("g1"));
    assert_eq!(app.complete_goal(&ana, &g1).await.unwrap(), Completed::Missing);
    assert_eq!(app.add_goal(goal("g1", 10)).await.unwrap(), Added::Done);
    let near = app.advance_goal(&ana, &g1, 9).await.unwrap().done().unwrap();
    assert_eq!(near.progress, 9);
    let before = fixture.items().await;
    assert_eq!(app.complete_goal(&ana, &g1).await.unwrap(), Completed::NotReached(near));
    assert_eq!(fixture.items().await, before);
    let beyond = app.advance_goal(&ana, &g1, 2).await.unwrap().done().unwrap();
    assert_eq!((beyond.progress, beyond.done), (11, false));
    assert_eq!(app.complete_goal(&ana, &g1).await.unwrap(), Completed::Done);
    let done = Goal { done: true, ..beyond };
    let before = fixture.items().await;
    let again = app.complete_goal(&ana, &g1).await.unwrap();
    assert_eq!(again, Completed::AlreadyDone(done.clone()));
    // A completed goal does not change.
    let late = app.advance_goal(&ana, &g1, 1).await.unwrap();
    assert_eq!(late, Outcome::Lost(Some(done)));
    let missing = app.advance_goal(&ana, &id("g2"), 1).await.unwrap();
    assert_eq!(missing, Outcome::Lost(None), "a missing goal is not created");
    assert_eq!(fixture.items().await, before);
    assert_eq!(fixture.dashboard().await.completed_goals, 1);
}

#[tokio::test]
async fn points_are_added() {
    let fixture = Fixture::with_ana().await;
    for points in [1, 20, 300] {
        assert!(fixture.app.award_points(&id("ana"), points).await.unwrap().is_done());
    }
    assert_eq!(fixture.dashboard().await.points, 321);
    let before = fixture.items().await;
    let nobody = fixture.app.award_points(&id("nobody"), 1).await.unwrap();
    assert_eq!(nobody, Outcome::Lost(None));
    assert_eq!(fixture.items().await, before);
}

#[tokio::test]
async fn product_is_found_by_its_current_badge() {
    let fixture = Fixture::with_ana().await;
    let (app, ana, nuevo) = (&fixture.app, id("ana"), id("NUEVO"));
    assert!(app.add_product(product("p1", None)).await.unwrap().is_done());
    assert!(app.add_product(product("p2", Some("NUEVO"))).await.unwrap().is_done());
    let found = |badge: &str| {
        let badge = id(badge);
        async move {
            let page = app.products_by_badge(&badge, None).await.unwrap();
            page.items.iter().map(|product| product.product_id.to_string()).collect::<Vec<_>>()
        }
    };
    assert_eq!(found("NUEVO").await, ["p2"]);
    let set = app.set_badge(&ana, &id("p1"), Some(&nuevo)).await.unwrap().done().unwrap();
    assert_eq!(set.badge, Some(nuevo));
    assert_eq!(found("NUEVO").await, ["p1", "p2"]);
    assert!(app.set_badge(&ana, &id("p1"), Some(&id("OFERTA"))).await.unwrap().is_done());
    assert_eq!(
        (found("NUEVO").await, found("OFERTA").await),
        (vec!["p2".into()], vec!["p1".into()])
    );
    let cleared = app.set_badge(&ana, &id("p1"), None).await.unwrap().done().unwrap();
    assert_eq!(cleared.badge, None);
    assert!(found("OFERTA").await.is_empty());
    let item = fixture.items().await.into_iter().find(|item| text(item, "SK") == "PRODUCT#p1");
    let item = item.unwrap();
    assert!(["badge", "GSI4PK", "GSI4SK"].iter().all(|attribute| !item.contains(attribute)));
    let missing = app.set_badge(&ana, &id("p9"), None).await.unwrap();
    assert_eq!(missing, Outcome::Lost(None));
}

#[tokio::test]
async fn list_has_one_kind_of_entity_in_order() {
    let Fixture { app, .. } = Fixture::with_ana().await;
    for number in ["2", "1", "3"] {
        assert!(app.add_goal(goal(number, 1)).await.unwrap().is_done());
        assert!(app.add_product(product(number, None)).await.unwrap().is_done());
        assert!(app.add_featured(featured(number)).await.unwrap().is_done());
    }
    let ana = id("ana");
    let goals = app.goals(&ana, None).await.unwrap().items;
    assert_eq!(goals.iter().map(|g| g.goal_id.as_str()).collect::<Vec<_>>(), ["1", "2", "3"]);
    let products = app.products(&ana, None).await.unwrap().items;
    assert_eq!(products.iter().map(|p| p.product_id.as_str()).collect::<Vec<_>>(), ["1", "2", "3"]);
    let featured = app.featured(&ana, None).await.unwrap().items;
    assert_eq!(
        featured.iter().map(|f| f.featured_id.as_str()).collect::<Vec<_>>(),
        ["1", "2", "3"]
    );
}
