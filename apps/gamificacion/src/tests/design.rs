//! Design of the table, and the items as they are stored.

use std::sync::Arc;

use tabla::entity::{Db, lint, listing};
use tabla::{Item, MemoryStore, Value, item, map};
use tabla_conformance::interleave::InterleavingStore;
use tabla_kit::App;

use super::*;

// Paused, so that the waits of losers take no time.
#[tokio::test(start_paused = true)]
async fn design_has_no_finding_and_every_pattern_the_right_answer() {
    let db = Db::new(Arc::new(InterleavingStore::new(MemoryStore::new())));
    let ran = tabla_kit::check(&GamificacionApp, &db).await.expect("every pattern and race passes");
    assert_eq!(ran.len(), GamificacionApp.design().patterns.len());
    let open: Vec<_> = lint::check(&GamificacionApp.design())
        .into_iter()
        .filter(|finding| finding.accepted.is_none())
        .collect();
    assert!(open.is_empty(), "{open:?}");
    let panel = ran.iter().find(|ran| ran.pattern.name == "panel").unwrap();
    assert!(panel.traces.len() > 1, "the large panel takes several pages");
}

#[test]
fn every_accepted_finding_is_found() {
    let design = GamificacionApp.design();
    let findings = lint::check(&design);
    for accepted in &design.accepted {
        let is_it = |finding: &lint::Finding| {
            finding.rule == accepted.rule && finding.subject == accepted.subject
        };
        assert!(findings.iter().any(is_it), "{accepted:?}");
    }
}

#[test]
fn readme_lists_the_patterns() {
    let readme = include_str!("../../README.md");
    let (_, rest) = readme.split_once("<!-- patterns -->\n").unwrap();
    let (listed, _) = rest.split_once("<!-- /patterns -->").unwrap();
    let expected = listing::markdown(&GamificacionApp.design(), 1024).unwrap();
    assert_eq!(listed.trim(), expected.trim(), "the README should have:\n{expected}");
}

#[test]
fn readme_names_existing_tests() {
    let sources = [
        ("assets", include_str!("assets.rs")),
        ("design", include_str!("design.rs")),
        ("interleaved", include_str!("interleaved.rs")),
        ("network", include_str!("network.rs")),
        ("panels", include_str!("panels.rs")),
        ("users", include_str!("users.rs")),
    ];
    let mut named = 0;
    for name in include_str!("../../README.md").split('`').skip(1).step_by(2) {
        let Some((module, test)) = name.split_once("::") else { continue };
        let source = sources.iter().find(|(known, _)| *known == module);
        let Some((_, source)) = source else { continue };
        assert!(source.contains(&format!("fn {test}()")), "there is no test {name}");
        named += 1;
    }
    assert!(named > 30, "{named}");
}

#[test]
fn table_has_the_documented_keys() {
    let table = &*GAMIFICACION;
    assert_eq!(table.name, "Gamificacion");
    assert_eq!(table.partition.attribute, "PK");
    assert_eq!(table.sort.as_ref().unwrap().attribute, "SK");
    let indexes: Vec<_> = table
        .indexes
        .iter()
        .map(|index| {
            let sort = index.sort.as_ref().unwrap().attribute.as_str();
            (index.name.as_str(), index.partition.attribute.as_str(), sort)
        })
        .collect();
    assert_eq!(
        indexes,
        [
            ("GSI1", "GSI1PK", "GSI1SK"),
            ("GSI2", "GSI2PK", "GSI2SK"),
            ("GSI3", "GSI3PK", "GSI3SK"),
            ("GSI4", "GSI4PK", "GSI4SK"),
        ]
    );
    assert_eq!(table.ttl.as_deref(), Some("expiresAt"));
}

#[tokio::test]
async fn environment_renames_the_table() {
    let db = Db::new(Stage::new(&Env::system()).await.store());
    let db = db.rename(&GAMIFICACION, "Gamificacion-test");
    db.create_table(&GAMIFICACION).await.unwrap();
    let app = Gamificacion::new(db.clone());
    assert_eq!(app.create_user(profile("ana", "ABC")).await.unwrap(), Created::Done);
    let items = db.store().scan(Scan::new("Gamificacion-test")).await.unwrap().items;
    assert_eq!(items.len(), 3);
    assert!(db.store().scan(Scan::new("Gamificacion")).await.is_err());
}

/// Adds the times of all items of these tests.
fn at_once(item: Item) -> Item {
    item.with("createdAt", "2025-08-18T10:30:00Z").with("updatedAt", "2025-08-18T10:30:00Z")
}

#[tokio::test]
async fn user_has_the_documented_items() {
    let fixture = Fixture::with_ana().await;
    assert_eq!(
        fixture.items().await,
        [
            at_once(item! {
                "PK" => "USER#ana", "SK" => "DASHBOARD", "entityType" => "dashboard",
                "points" => 0, "completedGoals" => 0, "networkSize" => 0,
            }),
            at_once(item! {
                "PK" => "USER#ana", "SK" => "PROFILE", "entityType" => "profile",
                "GSI1PK" => "USERCODE#ABC", "GSI1SK" => "USER#ana",
                "userCode" => "ABC", "name" => "Ana", "level" => "ORO",
            }),
            item! {
                "PK" => "USERCODE#ABC", "SK" => "UNIQUE",
                "uniqueOwner" => Value::M(map! { "PK" => "USER#ana", "SK" => "PROFILE" }),
            },
        ]
    );
}

#[tokio::test]
async fn entities_of_a_user_have_the_documented_items() {
    let Fixture { app, db, .. } = Fixture::with_ana().await;
    assert_eq!(app.add_goal(goal("g1", 10)).await.unwrap(), Added::Done);
    assert_eq!(app.add_product(product("p1", Some("NUEVO"))).await.unwrap(), Added::Done);
    assert_eq!(app.add_product(product("p2", None)).await.unwrap(), Added::Done);
    assert_eq!(app.add_featured(featured("f1")).await.unwrap(), Added::Done);
    let added = app.add_member(member("ana", "m1", "ORO", "ACTIVO")).await.unwrap();
    assert_eq!(added, Added::Done);
    let all = db.store().scan(Scan::new("Gamificacion")).await.unwrap().items;
    let stored = |sort: &str| all.iter().find(|item| text(item, "SK") == sort).unwrap().clone();
    let of_ana = |sort: &str, kind: &str| {
        at_once(item! { "PK" => "USER#ana", "SK" => sort, "entityType" => kind })
    };
    assert_eq!(
        stored("GOAL#g1"),
        of_ana("GOAL#g1", "goal")
            .with("title", "Sell")
            .with("target", 10)
            .with("progress", 0)
            .with("done", false)
    );
    let plain = |sort: &str| of_ana(sort, "product").with("name", "Plan").with("points", 50);
    assert_eq!(
        stored("PRODUCT#p1"),
        plain("PRODUCT#p1")
            .with("badge", "NUEVO")
            .with("GSI4PK", "BADGE#NUEVO")
            .with("GSI4SK", "USER#ana#PRODUCT#p1")
    );
    assert_eq!(
        stored("PRODUCT#p2"),
        plain("PRODUCT#p2"),
        "without a badge, the index has no entry"
    );
    assert_eq!(stored("FEATURED#f1"), of_ana("FEATURED#f1", "featured").with("title", "Offer"));
    assert_eq!(
        stored("NETWORK#m1"),
        of_ana("NETWORK#m1", "network")
            .with("name", "Bruno")
            .with("level", "ORO")
            .with("status", "ACTIVO")
            .with("joinedAt", "2025-01-01T00:00:00Z")
            .with("GSI2PK", "LEVEL#ORO")
            .with("GSI2SK", "USER#ana#MEMBER#m1")
            .with("GSI3PK", "STATUS#ACTIVO")
            .with("GSI3SK", "USER#ana#MEMBER#m1")
    );
}

#[tokio::test]
async fn file_has_the_documented_items() {
    let Fixture { app, db, .. } = Fixture::with_ana().await;
    assert_eq!(app.begin_upload(upload("a1")).await.unwrap(), Added::Done);
    let stored = || async {
        let all = db.store().scan(Scan::new("Gamificacion")).await.unwrap().items;
        let is_file =
            |item: &&Item| text(item, "PK") == "ASSET#a1" || text(item, "SK") == "ASSET#a1";
        let mut files: Vec<Item> = all.iter().filter(is_file).cloned().collect();
        files.sort_by_key(|item| text(item, "PK"));
        files
    };
    let file = at_once(item! {
        "PK" => "ASSET#a1", "SK" => "METADATA", "entityType" => "asset",
        "userId" => "ana", "productId" => "p1", "objectKey" => "ana/banner.png",
        "contentType" => "image/png", "size" => 7,
    });
    let pending = file.clone().with("status", "pending").with("expiresAt", 1_755_516_600);
    assert_eq!(stored().await, [pending], "expires in an hour, without a link");
    assert_eq!(app.confirm_upload(&id("a1")).await.unwrap(), Confirmed::Done);
    let link = at_once(item! {
        "PK" => "USER#ana", "SK" => "ASSET#a1", "entityType" => "assetLink", "productId" => "p1",
    });
    assert_eq!(stored().await, [file.with("status", "ready"), link]);
}

#[test]
fn id_in_a_key_rejects_the_separator() {
    for design in GamificacionApp.design().entities {
        let sources =
            design.indexes.iter().flat_map(|keys| [Some(&keys.partition), keys.sort.as_ref()]);
        let own = [Some(&design.partition), design.sort.as_ref()];
        for source in sources.chain(own).flatten() {
            let template = source.template().unwrap();
            // An id rejects the separator. A template that escapes or checks it has a format.
            assert!(template.parts().all(|part| part.format.is_empty()), "{source}");
        }
    }
    assert!(Id::new("ana#MEMBER#m1").is_err());
}
