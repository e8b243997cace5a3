//! Design of the test entities, and its tables in the store of a case.

use std::sync::LazyLock;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tabla_core::env::{Env, ManualClock, Timestamp};
use tabla_entity::{Db, Entity, Id, IntoQuery, KeyPart, TableDesign, UtcTime};

use super::super::prelude::*;

pub(super) static SHOP: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("shop")
        .key("PK", "SK")
        .index("GSI1", "GSI1PK", "GSI1SK")
        .index("GSI2", "GSI2PK", "GSI2SK")
});

/// Table whose keys are plain attributes.
pub(super) static PAYMENTS: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("payments").partition_only("payment_id").index("by-user", "user_id", "paid_at")
});

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, KeyPart)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Open,
    Paid,
}

/// Order of a customer: in GSI1 by status, in GSI2 by courier if it has one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[serde(rename_all = "camelCase")]
#[entity(
    table = SHOP,
    tag("type" = "ORDER"),
    pk = "CUSTOMER#{customer}",
    sk = "ORDER#{number:08}",
    index(GSI1, query = by_status, pk = "STATUS#{status}", sk = "{total:06}"),
    index(GSI2, query = by_courier, pk = "COURIER#{courier}", sk = "{@pk}"),
    created_at = placed_at,
    updated_at = updated_at,
    revision = revision
)]
pub(super) struct Order {
    #[entity(key_only)]
    pub(super) customer: Id,
    pub(super) number: u32,
    pub(super) status: Status,
    pub(super) total: u32,
    pub(super) courier: Option<Id>,
    #[entity(immutable)]
    pub(super) placed_at: UtcTime,
    pub(super) updated_at: UtcTime,
    pub(super) revision: u32,
    #[entity(null)]
    pub(super) note: Option<String>,
}

/// Customer with a unique email and a unique phone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = SHOP,
    tag("type" = "CUSTOMER"),
    pk = "CUSTOMER#{id}",
    sk = "PROFILE",
    unique(email, pk = "EMAIL#{email:escaped}", sk = "UNIQUE"),
    unique(phone, pk = "PHONE#{phone}", sk = "UNIQUE")
)]
pub(super) struct Customer {
    #[entity(key_only)]
    pub(super) id: Id,
    pub(super) email: Option<String>,
    pub(super) phone: Option<u32>,
    pub(super) visits: u32,
}

/// Basket of a customer; it has neither a tag nor a write counter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = SHOP,
    pk = "CUSTOMER#{customer}",
    sk = "BASKET#{name}",
    index(GSI1, query = by_shop, pk = "BASKETS#{shop}", sk = "{customer}")
)]
pub(super) struct Basket {
    #[entity(key_only)]
    pub(super) customer: Id,
    #[entity(key_only)]
    pub(super) name: Id,
    pub(super) shop: Option<Id>,
    pub(super) things: Vec<String>,
    pub(super) count: u64,
}

/// Event of a user, in one of ten partitions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = SHOP, pk = "EVENTS#{user}{event:shard 10}", sk = "{at:04}#{event}")]
pub(super) struct Event {
    #[entity(key_only)]
    pub(super) user: Id,
    #[entity(key_only)]
    pub(super) event: Id,
    #[entity(key_only)]
    pub(super) at: u32,
    pub(super) kind: String,
}

/// Job in one of three queues of an index, ordered by due time; many are due at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = SHOP,
    pk = "JOB#{job}",
    sk = "JOB",
    index(GSI1, query = by_due, pk = "JOBS{job:shard 3}", sk = "{due:02}")
)]
pub(super) struct Job {
    #[entity(key_only)]
    pub(super) job: Id,
    pub(super) due: u8,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = PAYMENTS, pk = payment_id, index("by-user", pk = user_id, sk = paid_at))]
pub(super) struct Payment {
    pub(super) payment_id: Id,
    pub(super) user_id: Id,
    pub(super) paid_at: UtcTime,
    pub(super) amount: Number,
}

pub(super) fn id(text: &str) -> Id {
    Id::new(text).expect("valid id")
}

/// Start of the entities' clock: a time that the store's clock has not reached, so that the store
/// does not delete what has expired for the entities.
pub(super) const START: UtcTime = UtcTime::from_secs(4_102_444_800);

/// Returns the time `seconds` after the start.
pub(super) fn later(seconds: u64) -> UtcTime {
    UtcTime::from_secs(START.as_secs() + seconds)
}

/// Entities on the store of the case. They have a manual clock of their own, so that a case does
/// not need a store whose clock it can move.
pub(super) fn database(ctx: &Ctx) -> (Db, ManualClock) {
    let clock = ManualClock::new(Timestamp::from_secs(START.as_secs()));
    (Db::with_env(ctx.store(), Env::test(clock.clone(), 7)), clock)
}

/// Returns such entities with a table of the design under a free name.
pub(super) async fn with_table(ctx: &Ctx, db: Db, design: &TableDesign) -> (Db, Table) {
    let name = ctx.unused_table_name();
    let table = Table::new(&design.create(&name));
    let db = db.rename(design, name);
    ctx.ok(db.create_table(design).await);
    (db, table)
}

/// Returns entities on the store of the case, and the table `SHOP`.
pub(super) async fn shop(ctx: &Ctx) -> (Db, Table) {
    with_table(ctx, database(ctx).0, &SHOP).await
}

pub(super) fn order(customer: &str, number: u32) -> Order {
    Order {
        customer: id(customer),
        number,
        status: Status::Open,
        total: number.saturating_mul(100),
        courier: None,
        placed_at: UtcTime::default(),
        updated_at: UtcTime::default(),
        revision: 0,
        note: None,
    }
}

pub(super) fn customer(name: &str, email: Option<&str>, phone: Option<u32>) -> Customer {
    Customer { id: id(name), email: email.map(str::to_owned), phone, visits: 0 }
}

pub(super) fn basket(customer: &str, name: &str) -> Basket {
    Basket { customer: id(customer), name: id(name), shop: None, things: Vec::new(), count: 0 }
}

/// Creates an entity that must not exist, and returns it as written.
pub(super) async fn created<E: Entity>(ctx: &Ctx, db: &Db, entity: E) -> E {
    ctx.ok(db.create(entity).await).done().expect("no such entity exists")
}

/// Returns the stored item of an entity.
pub(super) fn item_of(entity: &impl Entity) -> Item {
    entity.to_item().expect("the fields are valid in keys")
}

/// Returns the guard item of a unique value of a customer.
pub(super) fn guard(key: &str, owner: &str) -> Item {
    let owner = item! { "PK" => format!("CUSTOMER#{owner}"), "SK" => "PROFILE" };
    item! { "PK" => key, "SK" => "UNIQUE", "uniqueOwner" => Value::M(owner.into_map()) }
}

/// Asserts that a query finds these entities in this order. Where index reads lag, it repeats the
/// query up to a bound.
pub(super) async fn expect_found<Q: IntoQuery>(
    ctx: &Ctx,
    db: &Db,
    find: impl Fn() -> Q,
    expected: &[Q::View],
) where
    Q::View: PartialEq + std::fmt::Debug,
{
    let read = || async { ctx.ok(db.all(find()).await) };
    if ctx.capabilities().index_reads_lag {
        let same = || async { (read().await == expected).then_some(()) };
        if ctx.poll(same).await.is_some() {
            return;
        }
    }
    assert_eq!(read().await, expected);
}

/// Moves the clock of the entities forward.
pub(super) fn pass(clock: &ManualClock, seconds: u64) {
    clock.advance(Duration::from_secs(seconds));
}
