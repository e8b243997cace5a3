//! Keys that are made of fields, in the table and in its indexes, under every kind of change.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tabla_entity::{Change, Db, Entity, Id, Outcome, TableDesign};

use super::super::prelude::*;
use super::design::*;

pub(super) async fn entity_is_stored_as_designed(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let full =
        Order { courier: Some(id("zoe")), note: Some("ring twice".to_owned()), ..order("ana", 42) };
    let full = created(&ctx, &db, full).await;
    let bare = created(&ctx, &db, order("ana", 7)).await;
    let event = Event { user: id("ana"), event: id("e1"), at: 12, kind: "open".to_owned() };
    let event = created(&ctx, &db, event).await;
    let shard = tabla_entity::Sharded::<10>::by("e1").number();
    let items = [
        item! {
            "PK" => "CUSTOMER#ana", "SK" => "ORDER#00000042", "type" => "ORDER",
            "GSI1PK" => "STATUS#open", "GSI1SK" => "004200",
            "GSI2PK" => "COURIER#zoe", "GSI2SK" => "CUSTOMER#ana",
            "number" => 42, "status" => "open", "total" => 4200, "courier" => "zoe",
            "placedAt" => "2100-01-01T00:00:00Z", "updatedAt" => "2100-01-01T00:00:00Z",
            "revision" => 1, "note" => "ring twice",
        },
        item! {
            "PK" => "CUSTOMER#ana", "SK" => "ORDER#00000007", "type" => "ORDER",
            "GSI1PK" => "STATUS#open", "GSI1SK" => "000700",
            "number" => 7, "status" => "open", "total" => 700,
            "placedAt" => "2100-01-01T00:00:00Z", "updatedAt" => "2100-01-01T00:00:00Z",
            "revision" => 1, "note" => Value::Null,
        },
        item! {
            "PK" => format!("EVENTS#ana#shard{shard}"), "SK" => "0012#e1", "kind" => "open",
        },
    ];
    ctx.expect_table(&table, &items).await;
    ctx.expect_index(&table, "GSI1", &items[..2]).await;
    ctx.expect_index(&table, "GSI2", &items[..1]).await;
    assert_eq!(ctx.ok(db.get(&full.to_key()).await), Some(full));
    assert_eq!(ctx.ok(db.get(&bare.to_key()).await), Some(bare));
    assert_eq!(ctx.ok(db.get(&event.to_key()).await), Some(event));
}

pub(super) async fn keys_can_be_plain_attributes(ctx: Ctx) {
    let (db, table) = with_table(&ctx, database(&ctx).0, &PAYMENTS).await;
    let payment = |payment: &str, user: &str, at: u64| Payment {
        payment_id: id(payment),
        user_id: id(user),
        paid_at: later(at),
        amount: Number::from(3),
    };
    let mut of_ana = [payment("p3", "ana", 1), payment("p1", "ana", 2), payment("p2", "ana", 3)];
    let mut of_eva = payment("p4", "eva", 2);
    for payment in of_ana.iter().chain([&of_eva]) {
        created(&ctx, &db, payment.clone()).await;
    }
    let of = |user: &'static str| move || Payment::by_user(id(user));
    expect_found(&ctx, &db, of("ana"), &of_ana).await;
    let range = || of("ana")().paid_at(later(2)..=later(3));
    expect_found(&ctx, &db, range, &of_ana[1..]).await;
    // A change of a field that is a key attribute moves the entity directly.
    let change = of_ana[2].to_key().change().set(Payment::PAID_AT, later(0));
    of_ana[2].paid_at = later(0);
    assert_eq!(ctx.ok(db.update(change).await), Outcome::Done(of_ana[2].clone()));
    let change = of_eva.to_key().change().set(Payment::USER_ID, id("ana"));
    of_eva.user_id = id("ana");
    assert_eq!(ctx.ok(db.update(change).await), Outcome::Done(of_eva.clone()));
    let [first, second, third] = of_ana;
    let moved = [third, first];
    expect_found(&ctx, &db, || of("ana")().paid_at(..=later(1)), &moved).await;
    expect_found(&ctx, &db, of("eva"), &[]).await;
    let [third, first] = &moved;
    let items = [first, &second, third, &of_eva].map(item_of);
    ctx.expect_table(&table, &items).await;
    ctx.expect_index(&table, "by-user", &items).await;
}

pub(super) async fn change_rewrites_index_keys(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let (one, two) =
        (created(&ctx, &db, order("ana", 1)).await, created(&ctx, &db, order("eva", 2)).await);
    let by = |status: Status| move || Order::by_status(status);
    expect_found(&ctx, &db, by(Status::Open), &[one.clone(), two.clone()]).await;
    let change = one.change().set(Order::STATUS, Status::Paid).set(Order::TOTAL, 150_u32);
    let one = ctx.ok(db.update(change).await).done().expect("the entity exists");
    expect_found(&ctx, &db, by(Status::Open), std::slice::from_ref(&two)).await;
    expect_found(&ctx, &db, by(Status::Paid), std::slice::from_ref(&one)).await;
    // One field of a key of several fields is changed, with the others as read.
    let change = two.change().set(Order::STATUS, Status::Paid);
    let two = ctx.ok(db.update(change).await).done().expect("the entity exists");
    expect_found(&ctx, &db, by(Status::Paid), &[one.clone(), two.clone()]).await;
    let change = one.change().set(Order::TOTAL, 999_999_u32);
    let one = ctx.ok(db.update(change).await).done().expect("the entity exists");
    expect_found(&ctx, &db, by(Status::Paid), &[two.clone(), one.clone()]).await;
    let above = || by(Status::Paid)().total(201..);
    expect_found(&ctx, &db, above, std::slice::from_ref(&one)).await;
    // The changed entities are stored as if they had been written whole.
    ctx.expect_table(&table, &[item_of(&one), item_of(&two)]).await;
}

pub(super) async fn entity_is_indexed_while_key_fields_have_values(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let order = created(&ctx, &db, order("ana", 1)).await;
    ctx.expect_index(&table, "GSI2", &[]).await;
    let by = |courier: &'static str| move || Order::by_courier(id(courier));
    // The index key needs only the courier and the table's key.
    let change = order.to_key().change().set(Order::COURIER, id("zoe"));
    let order = ctx.ok(db.update(change).await).done().expect("the entity exists");
    expect_found(&ctx, &db, by("zoe"), std::slice::from_ref(&order)).await;
    let change = order.to_key().change().set(Order::COURIER, id("max"));
    let order = ctx.ok(db.update(change).await).done().expect("the entity exists");
    expect_found(&ctx, &db, by("zoe"), &[]).await;
    expect_found(&ctx, &db, by("max"), std::slice::from_ref(&order)).await;
    let change = order.change().clear(Order::COURIER);
    let order = ctx.ok(db.update(change).await).done().expect("the entity exists");
    assert_eq!(order.courier, None);
    ctx.expect_index(&table, "GSI2", &[]).await;
    ctx.expect_index(&table, "GSI1", &[item_of(&order)]).await;
    ctx.expect_table(&table, &[item_of(&order)]).await;
}

/// Table in which GSI2 begins with the attribute that GSI1 begins with.
static DESK: LazyLock<TableDesign> = LazyLock::new(|| {
    TableDesign::new("desk")
        .key("PK", "SK")
        .index("GSI1", "GSI1PK", "GSI1SK")
        .index("GSI2", "GSI1PK", "GSI2SK")
});

/// Ticket: in GSI1 by due day if it has one, in GSI2 by agent while it is urgent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(
    table = DESK,
    pk = "TICKET#{number:06}",
    sk = "TICKET",
    index(GSI1, query = by_due, pk = "QUEUE#{queue}", sk = "{due:03}"),
    index(GSI2, query = urgent, pk = "QUEUE#{queue}", sk = "AGENT#{agent}", when = urgent)
)]
struct Ticket {
    #[entity(key_only)]
    number: u32,
    queue: Id,
    #[entity(null)]
    due: Option<u32>,
    agent: Option<Id>,
    #[entity(null)]
    urgent: Option<bool>,
}

/// Makes a change, and asserts that the item is as if the entity had been written whole, and in
/// which of the two indexes it is.
async fn changed(
    ctx: &Ctx,
    (db, table): (&Db, &Table),
    change: Change<Ticket>,
    indexes: [bool; 2],
) -> Ticket {
    let after = ctx.ok(db.update(change).await).done().expect("no concurrent change");
    let item = [item_of(&after)];
    ctx.expect_table(table, &item).await;
    for (index, is_in) in ["GSI1", "GSI2"].into_iter().zip(indexes) {
        ctx.expect_index(table, index, if is_in { &item } else { &[] }).await;
    }
    after
}

pub(super) async fn entity_is_indexed_while_its_when_field_has_a_value(ctx: Ctx) {
    let (db, table) = with_table(&ctx, database(&ctx).0, &DESK).await;
    let at = (&db, &table);
    let new = Ticket { number: 1, queue: id("sales"), due: None, agent: None, urgent: None };
    let ticket = created(&ctx, &db, new).await;
    let item = item! {
        "PK" => "TICKET#000001", "SK" => "TICKET", "queue" => "sales",
        "due" => Value::Null, "urgent" => Value::Null,
    };
    ctx.expect_table(&table, &[item]).await;
    // Without an agent it is not in GSI2, as without the flag.
    let flag = ticket.change().set(Ticket::URGENT, true);
    let ticket = changed(&ctx, at, flag, [false, false]).await;
    let agent = ticket.change().set(Ticket::AGENT, id("zoe"));
    let ticket = changed(&ctx, at, agent, [false, true]).await;
    let due = ticket.change().set(Ticket::DUE, 3_u32);
    let ticket = changed(&ctx, at, due, [true, true]).await;
    let queue = ticket.change().set(Ticket::QUEUE, id("help"));
    let ticket = changed(&ctx, at, queue, [true, true]).await;
    let of_help = || Ticket::urgent(id("help"));
    expect_found(&ctx, &db, of_help, std::slice::from_ref(&ticket)).await;
    let of_sales = || Ticket::by_due(id("sales"));
    expect_found(&ctx, &db, of_sales, &[]).await;
    // It leaves one index, but the other still needs the attribute.
    let done = ticket.change().clear(Ticket::DUE);
    let ticket = changed(&ctx, at, done, [false, true]).await;
    expect_found(&ctx, &db, of_help, std::slice::from_ref(&ticket)).await;
    let calm = ticket.change().clear(Ticket::URGENT);
    let ticket = changed(&ctx, at, calm, [false, false]).await;
    let due = ticket.change().set(Ticket::DUE, 4_u32);
    changed(&ctx, at, due, [true, false]).await;
}

pub(super) async fn increment_of_an_index_field_pins_what_was_read(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let read = created(&ctx, &db, order("ana", 1)).await;
    let more = read.change().increment(Order::TOTAL, 5);
    let order = ctx.ok(db.update(more).await).done().expect("the order is as it was read");
    assert_eq!(order.total, read.total + 5);
    ctx.expect_table(&table, &[item_of(&order)]).await;
    ctx.expect_index(&table, "GSI1", &[item_of(&order)]).await;
    // A change of an order that was read before would write a key with an old sum.
    let stale = Order { revision: order.revision, ..read };
    let outcome = ctx.ok(db.update(stale.change().increment(Order::TOTAL, 7)).await);
    assert_eq!(outcome, Outcome::Lost(Some(order.clone())));
    // A sum that the field's type cannot hold fails like a condition.
    let below = order.change().increment(Order::TOTAL, -1 - i64::from(order.total));
    assert_eq!(ctx.ok(db.update(below).await), Outcome::Lost(Some(order.clone())));
    ctx.expect_table(&table, &[item_of(&order)]).await;
    ctx.expect_index(&table, "GSI1", &[item_of(&order)]).await;
}

pub(super) async fn change_that_leaves_a_stale_key_is_rejected(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let order = created(&ctx, &db, order("ana", 1)).await;
    let before = ctx.snapshot(&table).await;
    for (change, text) in [
        (
            order.to_key().change().increment(Order::TOTAL, 1),
            "Order: `total` is part of an index key: read the entity and use its change(), so that \
             the sum can be written, or set `total` to a value",
        ),
        (order.change().set(Order::NUMBER, 2_u32), "Order: `number` is part of the key"),
        (order.change().set(Order::PLACED_AT, START), "Order: `placed_at` is immutable"),
        (order.change().set(Order::REVISION, 9_u32), "Order: `revision` counts by itself"),
        (
            order.change().clear(Order::STATUS),
            "Order: `status` is no Option, and always has a value: set it to one",
        ),
    ] {
        let error = ctx.expect_error(db.update(change).await);
        assert!(matches!(error.kind(), ErrorKind::Validation), "{error:?}");
        assert_eq!(error.message(), text);
    }
    // A number with too many digits for its key would sort in the wrong place.
    let wide = order.change().set(Order::TOTAL, 1_000_000_u32);
    let error = ctx.expect_error(db.update(wide).await);
    assert_eq!(error.message(), "1000000 does not fit the 6 digits that its key has for it");
    ctx.expect_unchanged(&before).await;
    // A change that sets all fields of the rewritten half of a key needs no read.
    let change = order.to_key().change().set(Order::STATUS, Status::Paid);
    let changed = ctx.ok(db.update(change).await).done().expect("the entity exists");
    ctx.expect_table(&table, &[item_of(&changed)]).await;
    let paid = || Order::by_status(Status::Paid);
    expect_found(&ctx, &db, paid, &[changed]).await;

    // Without a read it is unknown whether the ticket enters the index.
    let (db, table) = with_table(&ctx, db, &DESK).await;
    let ticket = created(&ctx, &db, full_ticket()).await;
    let blind = ticket.to_key().change().set(Ticket::DUE, 2_u32);
    let error = ctx.expect_error(db.update(blind).await);
    assert_eq!(
        error.message(),
        "Ticket: a change of `due` rewrites the key of index GSI1, which also has `queue`: read \
         the entity and use `entity.change()`, or set `queue` too"
    );
    ctx.expect_table(&table, &[item_of(&ticket)]).await;
}

fn full_ticket() -> Ticket {
    Ticket {
        number: 1,
        queue: id("sales"),
        due: Some(1),
        agent: Some(id("zoe")),
        urgent: Some(true),
    }
}

pub(super) async fn change_of_stale_entity_fails(ctx: Ctx) {
    let (db, table) = with_table(&ctx, database(&ctx).0, &DESK).await;
    let read = created(&ctx, &db, full_ticket()).await;
    let change = read.change().clear(Ticket::AGENT);
    let left = ctx.ok(db.update(change).await).done().expect("no concurrent change");
    let before = ctx.snapshot(&table).await;
    // These changes would write only half of an index key.
    for change in [
        read.change().set(Ticket::QUEUE, id("help")),
        read.change().set(Ticket::AGENT, id("max")),
        read.change().set(Ticket::URGENT, false),
    ] {
        assert_eq!(ctx.ok(db.update(change).await), Outcome::Lost(Some(left.clone())));
        ctx.expect_unchanged(&before).await;
    }
    // A change of the current entity succeeds, and so does one that needs no changed field.
    for change in
        [left.change().set(Ticket::QUEUE, id("help")), read.change().set(Ticket::DUE, 2_u32)]
    {
        let changed = ctx.ok(db.update(change).await).done().expect("its keys are unchanged");
        ctx.expect_table(&table, &[item_of(&changed)]).await;
        ctx.expect_index(&table, "GSI1", &[item_of(&changed)]).await;
        ctx.expect_index(&table, "GSI2", &[]).await;
    }
}

pub(super) async fn changes_of_two_key_halves_do_not_conflict(ctx: Ctx) {
    let (db, table) = with_table(&ctx, database(&ctx).0, &DESK).await;
    let read = created(&ctx, &db, full_ticket()).await;
    // Each change starts from the first read, and changes another half of the keys.
    let changes = [
        read.change().set(Ticket::QUEUE, id("help")),
        read.change().set(Ticket::DUE, 2_u32),
        read.change().set(Ticket::AGENT, id("max")),
    ];
    for change in changes {
        let changed =
            ctx.ok(db.update(change).await).done().expect("no concurrent change of the same half");
        ctx.expect_table(&table, &[item_of(&changed)]).await;
    }
    let last = Ticket { queue: id("help"), due: Some(2), agent: Some(id("max")), ..read };
    ctx.expect_table(&table, &[item_of(&last)]).await;
    ctx.expect_index(&table, "GSI1", &[item_of(&last)]).await;
    ctx.expect_index(&table, "GSI2", &[item_of(&last)]).await;
    // Concurrent changes of different halves do not conflict.
    let changes = [
        last.change().set(Ticket::QUEUE, id("back")),
        last.change().set(Ticket::DUE, 3_u32),
        last.change().set(Ticket::AGENT, id("eva")),
    ];
    let callers = changes.map(|change| {
        let (ctx, db) = (ctx.clone(), db.clone());
        async move { ctx.ok(db.update(change).await).is_done() }
    });
    assert_eq!(ctx.at_once(callers).await, [true; 3]);
    let last = Ticket { queue: id("back"), due: Some(3), agent: Some(id("eva")), ..last };
    ctx.expect_table(&table, &[item_of(&last)]).await;
    ctx.expect_index(&table, "GSI1", &[item_of(&last)]).await;
    ctx.expect_index(&table, "GSI2", &[item_of(&last)]).await;
}

pub(super) async fn range_of_a_field_stays_within_the_entity(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let numbers = [1, 2, 9, 10, 99, 100, 99_999_999];
    let mut all = Vec::new();
    for number in numbers {
        let order = Order { total: 1, ..order("ana", number) };
        all.push(created(&ctx, &db, order).await);
    }
    // These items are before and after the orders in the same partition, and in others.
    let mut items: Vec<Item> = all.iter().map(item_of).collect();
    let basket = created(&ctx, &db, basket("ana", "b1")).await;
    let others = [
        item_of(&basket),
        item! { "PK" => "CUSTOMER#ana", "SK" => "ORDERS", "type" => "OTHER" },
        item_of(&order("an", 2)),
        item_of(&order("anab", 2)),
    ];
    ctx.put_all(&table, others.clone()).await;
    items.extend(others);
    let of_ana = || Order::of(id("ana"));
    expect_found(&ctx, &db, of_ana, &all).await;
    expect_found(&ctx, &db, || of_ana().number(9), &all[2..3]).await;
    expect_found(&ctx, &db, || of_ana().number(10..), &all[3..]).await;
    expect_found(&ctx, &db, || of_ana().number(..=10), &all[..4]).await;
    expect_found(&ctx, &db, || of_ana().number(3..=99), &all[2..5]).await;
    let backwards: Vec<Order> = all[..3].iter().rev().cloned().collect();
    expect_found(&ctx, &db, || of_ana().number(..=9).descending(), &backwards).await;
    expect_found(&ctx, &db, || of_ana().number(2..).limit(2), &all[1..]).await;
    ctx.expect_table(&table, &items).await;
}
