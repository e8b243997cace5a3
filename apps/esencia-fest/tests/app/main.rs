//! Tests of the festival.

#![allow(clippy::unwrap_used)]

mod activity;
mod forum;
mod items;
mod moderating;
mod races;
mod ranges;
mod visitors;
mod whole;

use std::sync::Arc;

use tabla::entity::{Db, Id, UtcTime};
use tabla::env::{Env, ManualClock, Timestamp};
use tabla::ops::Scan;
use tabla::{Item, StoreExt};
use tabla_esencia_fest::*;
use tabla_kit::App;
use tabla_kit::stage::Stage;

fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

fn email(name: &str) -> Email {
    Email::new(format!("{name}@sura.com.co")).unwrap()
}

fn room(text: &str) -> RoomId {
    RoomId::new(text).unwrap()
}

fn time(text: &str) -> UtcTime {
    text.parse().unwrap()
}

/// Database at 2025-08-18T10:30:00Z, and its clock.
async fn db() -> (Db, ManualClock) {
    let clock = ManualClock::new(Timestamp::from_secs(1_755_513_000));
    // Seeded randomness would repeat the request tokens of other tests on one server.
    let env = Env::system().with_clock(Arc::new(clock.clone()));
    let db = Db::with_env(Stage::new(&env).await.store(), env);
    EsenciaFestApp.create_tables(&db).await.unwrap();
    (db, clock)
}

async fn fest() -> EsenciaFest {
    EsenciaFest::new(db().await.0)
}

/// Items of the main table, sorted by key.
async fn main_table(db: &Db) -> Vec<Item> {
    let mut items = db.store().scan(Scan::new("EsenciaFest-Main-2025")).await.unwrap().items;
    items.sort_by_key(|item| (text(item, "PK"), text(item, "SK")));
    items
}

async fn stored(db: &Db, pk: &str, sk: &str) -> Item {
    let key = tabla::item! { "PK" => pk, "SK" => sk };
    db.store().get_item("EsenciaFest-Main-2025", key).await.unwrap().expect("the item exists")
}

fn text(item: &Item, name: &str) -> String {
    item.get(name).and_then(|value| value.as_str()).unwrap_or_default().to_owned()
}

fn newcomer(name: &str) -> Newcomer {
    Newcomer {
        email: email(name),
        name: name.to_owned(),
        country: id("Colombia"),
        role: id("visitor"),
    }
}

/// Festival with the document's configuration and three users.
async fn opened() -> (EsenciaFest, Db, ManualClock) {
    let (db, clock) = db().await;
    let fest = EsenciaFest::new(db.clone());
    let whitelist = vec!["@sura.com.co".to_owned(), "@bancoldex.com".to_owned()];
    fest.set_domains(ConfigDomains { whitelist }).await.unwrap();
    let severities = [("palabra1", Severity::High), ("palabra2", Severity::Medium)];
    let profanity = ConfigProfanity {
        blacklist: severities.iter().map(|(word, _)| (*word).to_owned()).collect(),
        severity: severities.map(|(word, severity)| (word.to_owned(), severity)).into(),
        auto_moderation_threshold: "0.8".parse().unwrap(),
    };
    fest.set_profanity(profanity).await.unwrap();
    for name in ["ana", "eva", "leo"] {
        fest.register(newcomer(name)).await.unwrap();
    }
    (fest, db, clock)
}

async fn post(fest: &EsenciaFest, name: &str) -> Post {
    let created = fest.create_post_as(id(name), &email("ana"), "Hola", Vec::new()).await;
    created.unwrap().done().unwrap()
}
