//! What stands for a unique value expires with its entity.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tabla_core::env::{Env, ManualClock, Timestamp};
use tabla_core::ops::DeleteItem;
use tabla_core::{Item, MemoryStore, StoreExt, Value, item};
use tabla_entity::{Change, Db, Entity, Id, Outcome, TableDesign};

use crate::design::id;

static LEASES: LazyLock<TableDesign> =
    LazyLock::new(|| TableDesign::new("leases").key("PK", "SK").ttl("expires"));

/// A desk, which one person has for a time, or for good.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = LEASES,
    pk = "DESK#{desk}",
    sk = "DESK",
    ttl = until,
    unique(person, pk = "PERSON#{person}", sk = "UNIQUE"),
    unique(badge, pk = "BADGE#{badge}", sk = "UNIQUE")
)]
struct Desk {
    #[entity(key_only)]
    desk: Id,
    person: Id,
    badge: Option<u32>,
    #[serde(rename = "expires")]
    until: Option<u64>,
    note: String,
}

const NOW: u64 = 1_755_513_000;

struct Office {
    db: Db,
    store: Arc<MemoryStore>,
    clock: ManualClock,
}

impl Office {
    async fn new() -> Self {
        let clock = ManualClock::new(Timestamp::from_secs(NOW));
        let env = Env::test(clock.clone(), 7);
        let store = Arc::new(MemoryStore::with_env(env.clone()).with_sweep_every(None));
        let db = Db::with_env(store.clone(), env);
        db.create_table(&LEASES).await.unwrap();
        Self { db, store, clock }
    }

    async fn taken(&self, desk: &str, person: &str, until: Option<u64>) -> Desk {
        let (desk, person, note) = (id(desk), id(person), String::new());
        let desk = Desk { desk, person, badge: None, until, note };
        self.db.create(desk).await.unwrap().done().unwrap()
    }

    async fn changed(&self, change: Change<Desk>) -> Desk {
        self.db.update(change).await.unwrap().done().unwrap()
    }

    async fn guard(&self, key: &str) -> Option<Item> {
        let key = item! { "PK" => key, "SK" => "UNIQUE" };
        self.db.store().get_item("leases", key).await.unwrap()
    }

    /// How many items expire in so many seconds.
    fn swept_after(&self, seconds: u64) -> usize {
        self.clock.advance(Duration::from_secs(seconds));
        self.store.sweep_expired()
    }
}

#[tokio::test]
async fn nothing_is_left_of_what_has_expired() {
    let office = Office::new().await;
    let ana = office.taken("1", "ana", Some(NOW + 60)).await;
    office.taken("2", "eva", None).await;
    let owner = Value::M(item! { "PK" => "DESK#1", "SK" => "DESK" }.into_map());
    let guard = item! {
        "PK" => "PERSON#ana", "SK" => "UNIQUE", "uniqueOwner" => owner, "expires" => NOW + 60,
    };
    assert_eq!(office.guard("PERSON#ana").await, Some(guard));
    assert_eq!(office.swept_after(60), 0);
    assert_eq!(office.swept_after(1), 2);
    assert_eq!(office.db.get(&ana.to_key()).await.unwrap(), None);
    office.taken("3", "ana", None).await;
    assert!(office.guard("PERSON#eva").await.unwrap().get("expires").is_none());
}

#[tokio::test]
async fn guards_follow_a_change_of_the_time() {
    let office = Office::new().await;
    let desk = office.taken("1", "ana", Some(NOW + 60)).await;
    let desk = office.changed(desk.change().set(Desk::BADGE, 7_u32)).await;
    let longer = office.changed(desk.change().set(Desk::UNTIL, NOW + 600)).await;
    assert_eq!(office.swept_after(61), 0);
    for key in ["PERSON#ana", "BADGE#7"] {
        let guard = office.guard(key).await.unwrap();
        assert_eq!(guard.get("expires").unwrap().to_value(), Value::from(NOW + 600));
    }
    let kept = office.changed(longer.change().clear(Desk::UNTIL)).await;
    assert_eq!(office.swept_after(600), 0);
    // Anything else leaves the guards alone.
    let noted = office.changed(kept.to_key().change().set(Desk::NOTE, "by the door")).await;
    office.changed(noted.change().set(Desk::UNTIL, NOW + 700)).await;
    assert_eq!(office.swept_after(100), 3);
}

#[tokio::test]
async fn a_value_that_moves_expires_when_the_entity_does() {
    let office = Office::new().await;
    let read = office.taken("1", "ana", Some(NOW + 60)).await;
    let longer = office.changed(read.change().set(Desk::UNTIL, NOW + 600)).await;
    // By what was read, the guard would be gone too soon.
    let stale = office.db.update(read.change().set(Desk::PERSON, id("eva"))).await.unwrap();
    assert_eq!(stale, Outcome::Lost(Some(longer.clone())));
    office.changed(longer.change().set(Desk::PERSON, id("eva"))).await;
    assert_eq!(office.swept_after(599), 0);
    assert_eq!(office.swept_after(2), 2);
    // Both at once.
    let read = office.taken("1", "ana", None).await;
    let both = read.change().set(Desk::PERSON, id("eva")).set(Desk::UNTIL, NOW + 700);
    office.changed(both).await;
    assert_eq!(office.swept_after(100), 2);
}

#[tokio::test]
async fn the_time_of_guards_is_set_and_known() {
    let office = Office::new().await;
    let desk = office.taken("1", "ana", Some(NOW + 60)).await;
    for (change, text) in [
        (
            desk.to_key().change().set(Desk::UNTIL, NOW + 600),
            "Desk: `person` is unique, and expires, too: read the entity and use `entity.change()`",
        ),
        (
            desk.change().increment(Desk::UNTIL, 60),
            "Desk: `until` stands in the item for a unique `person`: set it to a value, so that \
             the item can be written with it",
        ),
    ] {
        assert_eq!(office.db.update(change).await.unwrap_err().message(), text);
    }
}

/// The service deletes what has expired in any order.
#[tokio::test]
async fn a_guard_may_go_before_its_entity() {
    let office = Office::new().await;
    let sweep_guard = || {
        let key = item! { "PK" => "PERSON#ana", "SK" => "UNIQUE" };
        office.db.store().delete(DeleteItem::new("leases", key))
    };
    let desk = office.taken("1", "ana", Some(NOW + 60)).await;
    sweep_guard().await.unwrap();
    assert_eq!(office.db.delete(&desk.to_key()).await.unwrap(), Outcome::Done(desk));
    // Who is given more time has the value again, unless another has taken it.
    let desk = office.taken("1", "ana", Some(NOW + 60)).await;
    sweep_guard().await.unwrap();
    let longer = office.changed(desk.change().set(Desk::UNTIL, NOW + 600)).await;
    assert!(office.guard("PERSON#ana").await.is_some());
    sweep_guard().await.unwrap();
    office.taken("2", "ana", None).await;
    let late = office.db.update(longer.change().clear(Desk::UNTIL)).await.unwrap();
    assert_eq!(late, Outcome::Taken { field: "person" });
}
