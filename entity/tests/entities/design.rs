//! A design to try the layer on.

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use tabla_core::MemoryStore;
use tabla_core::env::{Env, ManualClock, Timestamp};
use tabla_entity::{Db, Entity, Id, KeyPart, Sharded, TableDesign, UtcTime};

pub(crate) static SHOP: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("shop")
        .key("PK", "SK")
        .index("GSI1", "GSI1PK", "GSI1SK")
        .index("GSI2", "GSI2PK", "GSI2SK")
        .ttl("expires")
});

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, KeyPart)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    Open,
    Paid,
}

/// An order of a customer: by status in GSI1, by courier in GSI2 while it has one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = SHOP,
    tag("type" = "ORDER"),
    pk = "CUSTOMER#{customer}",
    sk = "ORDER#{number:08}",
    index(GSI1, query = by_status, pk = "STATUS#{status}", sk = "{total:010}#{placed_at}"),
    index(GSI2, query = by_courier, pk = "COURIER#{courier}", sk = "{@pk}"),
    created_at = placed_at,
    updated_at = updated_at,
    revision = revision,
    ttl = expires
)]
pub(crate) struct Order {
    #[entity(key_only)]
    pub(crate) customer: Id,
    pub(crate) number: u32,
    pub(crate) status: Status,
    pub(crate) total: u32,
    pub(crate) courier: Option<Id>,
    #[entity(immutable)]
    pub(crate) placed_at: UtcTime,
    pub(crate) updated_at: UtcTime,
    pub(crate) revision: u32,
    pub(crate) expires: Option<u64>,
    #[entity(null)]
    pub(crate) note: Option<String>,
}

/// A customer, whose email is theirs alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = SHOP,
    tag("type" = "CUSTOMER"),
    pk = "CUSTOMER#{id}",
    sk = "PROFILE",
    unique(email, pk = "EMAIL#{email:escaped}", sk = "UNIQUE")
)]
pub(crate) struct Customer {
    #[entity(key_only)]
    pub(crate) id: Id,
    pub(crate) email: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) visits: u32,
}

/// An event of a user, in one of ten partitions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = SHOP,
    pk = "EVENTS#{user}{event:shard 10}",
    sk = "{at}#{event}",
    index(GSI1, pk = "HOT{event:shard 1}", sk = "{at}#{event}")
)]
pub(crate) struct Event {
    #[entity(key_only)]
    pub(crate) user: Id,
    #[entity(key_only)]
    pub(crate) event: Id,
    pub(crate) at: UtcTime,
    pub(crate) kind: String,
}

/// A count that is spread at random.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = SHOP, pk = "COUNT#{name}{shard}", sk = "COUNT")]
pub(crate) struct Count {
    #[entity(key_only)]
    pub(crate) name: Id,
    #[entity(key_only)]
    pub(crate) shard: Sharded<20>,
    pub(crate) count: u64,
}

/// A table whose keys are plain attributes.
pub(crate) static PAYMENTS: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("payments").partition_only("payment_id").index("by-user", "user_id", "paid_at")
});

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = PAYMENTS, pk = payment_id, index("by-user", pk = user_id, sk = paid_at))]
pub(crate) struct Payment {
    pub(crate) payment_id: Id,
    pub(crate) user_id: Id,
    pub(crate) paid_at: UtcTime,
    pub(crate) amount: u32,
}

pub(crate) fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

pub(crate) fn time(text: &str) -> UtcTime {
    text.parse().unwrap()
}

/// A database at 2025-08-18T10:30:00Z, and its clock.
pub(crate) async fn db() -> (Db, ManualClock) {
    let clock = ManualClock::new(Timestamp::from_secs(1_755_513_000));
    let env = Env::test(clock.clone(), 7);
    let db = Db::with_env(Arc::new(MemoryStore::with_env(env.clone()).with_sweep_every(None)), env);
    db.create_table(&SHOP).await.unwrap();
    db.create_table(&PAYMENTS).await.unwrap();
    (db, clock)
}

pub(crate) fn order(customer: &str, number: u32) -> Order {
    Order {
        customer: id(customer),
        number,
        status: Status::Open,
        total: number.saturating_mul(100),
        courier: None,
        placed_at: UtcTime::default(),
        updated_at: UtcTime::default(),
        revision: 0,
        expires: None,
        note: None,
    }
}

pub(crate) fn customer(name: &str, email: Option<&str>) -> Customer {
    Customer { id: id(name), email: email.map(str::to_owned), tags: Vec::new(), visits: 0 }
}
