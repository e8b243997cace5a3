//! Tests of the app.
#![allow(clippy::unwrap_used)]

mod assets;
mod design;
mod interleaved;
mod network;
mod panels;
mod users;

use tabla::Item;
use tabla::entity::{Db, Id, UtcTime};
use tabla::env::{Env, ManualClock, Timestamp};
use tabla::ops::Scan;
use tabla_kit::stage::Stage;

use crate::*;

fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

fn time(text: &str) -> UtcTime {
    text.parse().unwrap()
}

/// App at 2025-08-18T10:30:00Z, with its database, stage and clock.
struct Fixture {
    app: Gamificacion,
    db: Db,
    stage: Stage,
    clock: ManualClock,
}

impl Fixture {
    async fn new() -> Self {
        let clock = ManualClock::new(Timestamp::from_secs(1_755_513_000));
        let env = Env::test(clock.clone(), 7);
        let stage = Stage::new(&env).await;
        let db = Db::with_env(stage.store(), env);
        db.create_table(&GAMIFICACION).await.unwrap();
        Self { app: Gamificacion::new(db.clone()), db, stage, clock }
    }

    /// Fixture with the user `ana`, whose code is `ABC`.
    async fn with_ana() -> Self {
        let fixture = Self::new().await;
        assert_eq!(fixture.app.create_user(profile("ana", "ABC")).await.unwrap(), Created::Done);
        fixture
    }

    /// All items, sorted by key.
    async fn items(&self) -> Vec<Item> {
        let mut items = self.db.store().scan(Scan::new("Gamificacion")).await.unwrap().items;
        items.sort_by_key(|item| (text(item, "PK"), text(item, "SK")));
        items
    }

    /// Keys of all items, sorted.
    async fn keys(&self) -> Vec<String> {
        let items = self.items().await;
        items.iter().map(|item| format!("{}|{}", text(item, "PK"), text(item, "SK"))).collect()
    }

    async fn dashboard(&self) -> Dashboard {
        self.app.dashboard(&id("ana")).await.unwrap().unwrap()
    }
}

fn text(item: &Item, attribute: &str) -> String {
    item.get(attribute).unwrap().as_str().unwrap().to_owned()
}

fn profile(user: &str, code: &str) -> Profile {
    Profile {
        user_id: id(user),
        user_code: id(code),
        name: "Ana".into(),
        level: id("ORO"),
        email: None,
        leaving: None,
        created_at: UtcTime::default(),
        updated_at: UtcTime::default(),
    }
}

fn goal(goal: &str, target: u64) -> Goal {
    Goal {
        user_id: id("ana"),
        goal_id: id(goal),
        title: "Sell".into(),
        target,
        progress: 0,
        done: false,
        created_at: UtcTime::default(),
        updated_at: UtcTime::default(),
    }
}

fn product(product: &str, badge: Option<&str>) -> Product {
    Product {
        user_id: id("ana"),
        product_id: id(product),
        name: "Plan".into(),
        badge: badge.map(id),
        points: 50,
        created_at: UtcTime::default(),
        updated_at: UtcTime::default(),
    }
}

fn featured(featured: &str) -> Featured {
    Featured {
        user_id: id("ana"),
        featured_id: id(featured),
        title: "Offer".into(),
        product_id: None,
        created_at: UtcTime::default(),
        updated_at: UtcTime::default(),
    }
}

fn member(user: &str, member: &str, level: &str, status: &str) -> NetworkMember {
    NetworkMember {
        user_id: id(user),
        member_id: id(member),
        name: "Bruno".into(),
        level: id(level),
        status: id(status),
        bio: None,
        joined_at: time("2025-01-01T00:00:00Z"),
        created_at: UtcTime::default(),
        updated_at: UtcTime::default(),
    }
}

fn upload(asset: &str) -> Upload {
    Upload {
        asset_id: id(asset),
        user_id: id("ana"),
        product_id: Some(id("p1")),
        featured_id: None,
        object_key: "ana/banner.png".into(),
        content_type: "image/png".into(),
        size: 7,
    }
}
