//! Collections of several entity kinds, and expired entities in reads.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tabla_entity::{Entity, EntityQuery, Id, TableDesign};

use super::super::prelude::*;
use super::design::*;
use super::shards::pages;

tabla_entity::collection! {
    /// All items of a customer.
    struct Everything {
        customer: Option<Customer>,
        orders: Vec<Order>,
        baskets: Vec<Basket>,
    }
}

fn of_ana() -> EntityQuery<Order> {
    Order::of(id("ana")).into_query()
}

pub(super) async fn collection_returns_every_kind(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let mut orders = Vec::new();
    for number in 1..=7 {
        orders.push(created(&ctx, &db, order("ana", number)).await);
    }
    let baskets = vec![
        created(&ctx, &db, basket("ana", "b1")).await,
        created(&ctx, &db, basket("ana", "b2")).await,
    ];
    let unknown = vec![
        item! { "PK" => "CUSTOMER#ana", "SK" => "ADDRESS", "city" => "Lima" },
        item! { "PK" => "CUSTOMER#ana", "SK" => "BASKET#b1#NOTE", "text" => "gift" },
        item! { "PK" => "CUSTOMER#ana", "SK" => "ZZZ", "type" => "OTHER", "n" => 1 },
    ];
    let ana = customer("ana", None, None);
    let other = item_of(&order("anab", 1));
    ctx.put_all(&table, unknown.iter().cloned().chain([item_of(&ana), other.clone()])).await;
    let mut stored: Vec<Item> = orders.iter().map(item_of).collect();
    stored.extend(baskets.iter().map(item_of).chain(unknown.clone()).chain([item_of(&ana), other]));
    let mut expected =
        Everything { customer: Some(ana), orders, baskets, unknown, unreadable: Vec::new() };
    for limit in [1, 4, 13, 100] {
        let found: Everything = ctx.ok(db.collect(of_ana().limit(limit)).await);
        assert_eq!(found, expected, "in pages of {limit}");
    }
    let missing: Everything = ctx.ok(db.collect(Order::of(id("max"))).await);
    assert_eq!(missing, Everything::default());
    // An unreadable item of a known kind is reported as unreadable, not as unknown.
    let broken = item! { "PK" => "CUSTOMER#ana", "SK" => "ORDER#00000099", "type" => "ORDER" };
    ctx.put(&table, broken.clone()).await;
    let found: Everything = ctx.ok(db.collect(of_ana().limit(4)).await);
    let [unreadable] = &found.unreadable[..] else { panic!("{:?}", found.unreadable) };
    assert_eq!(unreadable.key, item! { "PK" => "CUSTOMER#ana", "SK" => "ORDER#00000099" });
    assert!(unreadable.reason.starts_with("an item cannot be read as Order"), "{unreadable}");
    expected.unreadable = found.unreadable.clone();
    assert_eq!(found, expected, "the other entities must be returned");
    stored.push(broken);
    ctx.expect_table(&table, &stored).await;
}

pub(super) async fn collection_over_1_mb_is_complete(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let mut baskets = Vec::new();
    for number in 0..12 {
        let name = format!("b{number:02}");
        let large = Basket { things: vec!["x".repeat(100_000)], ..basket("ana", &name) };
        baskets.push(created(&ctx, &db, large).await);
    }
    let ana = created(&ctx, &db, customer("ana", None, None)).await;
    let query = Query::new(&table, attr("PK").eq("CUSTOMER#ana"));
    let first = ctx.ok(ctx.store().query(query).await);
    assert!(first.last_evaluated_key.is_some(), "the collection fits one page");
    let found: Everything = ctx.ok(db.collect(of_ana()).await);
    assert!(
        found.baskets == baskets,
        "{} of {} entities were returned",
        found.baskets.len(),
        baskets.len()
    );
    assert_eq!(found.customer.as_ref(), Some(&ana));
    assert!(found.orders.is_empty() && found.unknown.is_empty());
    let all = ctx.ok(db.all(Basket::of(id("ana"))).await);
    assert!(all == baskets, "{} of {} entities were returned", all.len(), baskets.len());
    let stored: Vec<Item> = baskets.iter().map(item_of).chain([item_of(&ana)]).collect();
    ctx.expect_table(&table, &stored).await;
}

static SESSIONS: LazyLock<TableDesign> =
    LazyLock::new(|| TableDesign::new("sessions").key("PK", "SK").ttl("expires"));

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = SESSIONS, pk = "SESSIONS#{user}", sk = "{number:04}", ttl = expires)]
struct Session {
    #[entity(key_only)]
    user: Id,
    #[entity(key_only)]
    number: u32,
    expires: Option<u64>,
    kind: String,
}

/// A visit in one of four partitions, whose expiry time is NULL if it never expires.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = SESSIONS, pk = "VISITS{number:shard 4}", sk = "{number:04}", ttl = expires)]
struct Visit {
    #[entity(key_only)]
    number: u32,
    #[entity(null)]
    expires: Option<u64>,
}

pub(super) async fn expired_entities_can_be_left_out(ctx: Ctx) {
    let (db, clock) = database(&ctx);
    let (db, table) = with_table(&ctx, db, &SESSIONS).await;
    let now = START.as_secs();
    let times = [None, Some(now - 1), Some(now), Some(now + 1), Some(now + 60), None];
    let (mut sessions, mut visits, mut stored) = (Vec::new(), Vec::new(), Vec::new());
    for (number, expires) in (0..).zip(times) {
        let kind = if number == 4 { "rare" } else { "often" }.to_owned();
        let session = created(&ctx, &db, Session { user: id("ana"), number, expires, kind }).await;
        let visit = created(&ctx, &db, Visit { number, expires }).await;
        stored.extend([item_of(&session), item_of(&visit)]);
        sessions.push(session);
        visits.push(visit);
    }
    let of_ana = || Session::of(id("ana"));
    assert_eq!(ctx.ok(db.all(of_ana()).await), sessions);
    assert_eq!(ctx.ok(db.all(Visit::all()).await), visits);
    let left = |numbers: &[usize]| {
        let sessions: Vec<Session> = numbers.iter().map(|at| sessions[*at].clone()).collect();
        let visits: Vec<Visit> = numbers.iter().map(|at| visits[*at].clone()).collect();
        (sessions, visits)
    };
    let (lasting, visiting) = left(&[0, 3, 4, 5]);
    assert_eq!(ctx.ok(db.all(of_ana().unexpired()).await), lasting);
    assert_eq!(pages(&ctx, &db, || Visit::all().unexpired(), 2).await.concat(), visiting);
    let rare = of_ana().unexpired().filter(Session::KIND.eq("rare"));
    assert_eq!(ctx.ok(db.all(rare).await), lasting[2..3]);

    // A cursor stays valid although time has passed.
    let page = ctx.ok(db.page(of_ana().unexpired().limit(3)).await);
    assert_eq!(page.items, lasting[..1]);
    let merged = ctx.ok(db.page(Visit::all().unexpired().limit(1)).await);
    assert_eq!(merged.items, visiting[..1]);
    pass(&clock, 1);
    let (lasting, visiting) = left(&[0, 4, 5]);
    let rest = ctx.ok(db.all(of_ana().unexpired().after(page.next)).await);
    assert_eq!(rest, lasting[1..]);
    let rest = ctx.ok(db.all(Visit::all().unexpired().after(merged.next)).await);
    assert_eq!(rest, visiting[1..]);
    assert_eq!(ctx.ok(db.get(&sessions[1].to_key()).await).as_ref(), Some(&sessions[1]));
    ctx.expect_table(&table, &stored).await;
}
