//! Items that cannot be read as entities: their causes, and what they must not hide.

use serde::{Deserialize, Serialize};
use tabla_core::Applied;
use tabla_entity::Commit::Canceled;
use tabla_entity::{Entity, EntityQuery, Id, Outcome};

use super::super::prelude::*;
use super::design::*;

/// Returns an order with an undefined status.
fn unreadable(order: &Order) -> Item {
    item_of(order).with("status", "lost")
}

fn key_item(number: u32) -> Item {
    item! { "PK" => "CUSTOMER#ana", "SK" => format!("ORDER#{number:08}") }
}

/// Asserts an error for an entity that is unreadable after its write was committed.
fn expect_committed(error: &tabla_core::Error) {
    assert_eq!(error.applied(), Applied::Maybe, "{error:?}");
    assert!(matches!(error.kind(), ErrorKind::Corrupt), "{error:?}");
    let text = "the write is committed, but its result is not known: an item cannot be read as ";
    assert!(error.message().starts_with(text), "{error}");
}

pub(super) async fn unreadable_result_is_reported_as_committed(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let read = created(&ctx, &db, order("ana", 1)).await;
    ctx.put(&table, unreadable(&read)).await;
    let note = || read.to_key().change().set(Order::NOTE, "late".to_owned());
    expect_committed(&ctx.expect_error(db.update(note()).await));
    let after =
        unreadable(&Order { note: Some("late".to_owned()), updated_at: START, ..read.clone() })
            .with("revision", 2);
    ctx.expect_table(&table, std::slice::from_ref(&after)).await;

    // Errors of writes that were not applied report that.
    let lost = note().when(Order::NOTE.eq("early".to_owned()));
    let error = ctx.expect_error(db.update(lost).await);
    assert_eq!(error.applied(), Applied::No, "{error:?}");
    let error = ctx.expect_error(db.create(order("ana", 1)).await);
    assert_eq!(error.applied(), Applied::No, "{error:?}");
    ctx.expect_table(&table, std::slice::from_ref(&after)).await;

    expect_committed(&ctx.expect_error(db.delete(&read.to_key()).await));
    ctx.expect_table(&table, &[]).await;
}

pub(super) async fn unreadable_unique_result_is_reported_as_committed(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let ana = created(&ctx, &db, customer("ana", Some("a@x"), None)).await;
    let odd = item_of(&ana).with("visits", -1);
    ctx.put(&table, odd.clone()).await;
    // The entity was read before, so the transaction commits, but its result is unreadable.
    let change = ana.change().set(Customer::EMAIL, "b@x".to_owned());
    expect_committed(&ctx.expect_error(db.update(change).await));
    let moved = [odd.with("email", "b@x"), guard("EMAIL#b@x", "ana")];
    ctx.expect_table(&table, &moved).await;
    // Its unique values are unknown, so it cannot be deleted.
    let error = ctx.expect_error(db.delete(&ana.to_key()).await);
    assert_eq!(error.applied(), Applied::No, "{error:?}");
    ctx.expect_table(&table, &moved).await;
}

/// Entity with numbers of several types.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
#[entity(table = SHOP, pk = "METER#{id}", sk = "METER")]
struct Meter {
    #[entity(key_only)]
    id: Id,
    small: u8,
    count: u32,
    signed: i64,
    ratio: f64,
    exact: Number,
    maybe: Option<u32>,
}

fn number(text: &str) -> Number {
    Number::parse(text).expect("valid number")
}

pub(super) async fn sum_out_of_range_fails(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let meter = Meter {
        id: id("1"),
        small: 250,
        count: 7,
        signed: -1,
        ratio: 0.5,
        exact: number("1"),
        maybe: None,
    };
    let mut meter = created(&ctx, &db, meter).await;
    let change = || Meter::key(id("1")).change();
    let refused = || {
        [
            change().increment(Meter::SMALL, 6),
            change().increment(Meter::COUNT, u32::MAX),
            change().increment(Meter::COUNT, -8),
            change().increment(Meter::COUNT, number("0.5")),
            change().increment(Meter::COUNT, number("1e30")),
            change().increment(Meter::COUNT, number("1e90")),
            change().increment(Meter::SIGNED, i64::MIN),
            change().increment(Meter::SIGNED, number("9223372036854775809")),
            change().increment(Meter::MAYBE, -1),
            change().increment(Meter::MAYBE, number("4294967296")),
            // One sum out of range fails the whole change.
            change().increment(Meter::EXACT, 1).increment(Meter::SMALL, 6),
        ]
    };
    for (at, change) in refused().into_iter().enumerate() {
        let outcome = ctx.ok(db.update(change).await);
        assert_eq!(outcome, Outcome::Lost(Some(meter.clone())), "change {at}");
    }
    for (at, change) in refused().into_iter().enumerate() {
        let mut tx = db.transaction();
        let meter = tx.update(change);
        let Canceled(c) = ctx.ok(tx.commit().await) else { panic!("change {at} was applied") };
        assert!(c.failed(&meter), "change {at}");
    }
    ctx.expect_table(&table, &[item_of(&meter)]).await;

    // Sums up to both ends of the range are accepted, and a missing value counts as zero.
    let ends = change()
        .increment(Meter::SMALL, 5)
        .increment(Meter::COUNT, u32::MAX - 7)
        .increment(Meter::SIGNED, i64::MIN + 1)
        .increment(Meter::RATIO, number("-0.75"))
        .increment(Meter::EXACT, number("-1.000000000000000000001"))
        .increment(Meter::MAYBE, u32::MAX);
    meter.small = u8::MAX;
    meter.count = u32::MAX;
    meter.signed = i64::MIN;
    meter.ratio = -0.25;
    meter.exact = number("-0.000000000000000000001");
    meter.maybe = Some(u32::MAX);
    assert_eq!(ctx.ok(db.update(ends).await), Outcome::Done(meter.clone()));
    let back = change().increment(Meter::SMALL, -255).increment(Meter::COUNT, -i64::from(u32::MAX));
    (meter.small, meter.count) = (0, 0);
    assert_eq!(ctx.ok(db.update(back).await), Outcome::Done(meter.clone()));
    ctx.expect_table(&table, &[item_of(&meter)]).await;
}

pub(super) async fn unreadable_item_does_not_hide_its_page(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let mut orders = Vec::new();
    for number in 1..=5 {
        orders.push(created(&ctx, &db, order("ana", number)).await);
    }
    ctx.put_all(&table, [unreadable(&orders[1]), unreadable(&orders[3])]).await;
    let find = || Order::of(id("ana"));
    let readable = [orders[0].clone(), orders[2].clone(), orders[4].clone()];
    for limit in [1, 2, 10] {
        let (mut items, mut keys, mut cursor) = (Vec::new(), Vec::new(), None);
        loop {
            let page = ctx.ok(db.page(find().limit(limit).after(cursor)).await);
            items.extend(page.items);
            for found in page.unreadable {
                assert!(found.reason.starts_with("an item cannot be read as Order"), "{found}");
                keys.push(found.key);
            }
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(items, readable, "in pages of {limit}");
        assert_eq!(keys, [key_item(2), key_item(4)], "in pages of {limit}");
    }
    // Reading all of them fails, and the error names the unreadable item.
    let error = ctx.expect_error(db.all(find()).await);
    assert!(error.message().contains("ORDER#00000002"), "{error}");
    let whole = ctx.ok(db.page(find()).await).whole();
    assert!(ctx.expect_error(whole).message().contains("ORDER#00000002"));

    // Each of several keys has its own result.
    let keys: Vec<OrderKey> = (1..=6).map(|number| Order::key(id("ana"), number)).collect();
    let each = ctx.ok(db.get_each(&keys).await);
    let found: Vec<Option<Order>> =
        each.iter().map(|read| read.as_ref().ok().cloned().flatten()).collect();
    let expected = [Some(&readable[0]), None, Some(&readable[1]), None, Some(&readable[2]), None];
    assert_eq!(found.iter().map(Option::as_ref).collect::<Vec<_>>(), expected);
    let wrong: Vec<Item> = each.into_iter().filter_map(Result::err).map(|read| read.key).collect();
    assert_eq!(wrong, [key_item(2), key_item(4)]);
    ctx.expect_error(db.get_all(&keys).await);

    // The same holds for an index, whose entries have the table's key too.
    let by_status: fn() -> EntityQuery<Order> = || Order::by_status(Status::Open).into_query();
    let page = || async {
        let page = ctx.ok(db.page(by_status()).await);
        let keys: Vec<Item> = page.unreadable.into_iter().map(|found| found.key).collect();
        (page.items == readable && keys == [key_item(2), key_item(4)]).then_some(())
    };
    let found = match ctx.capabilities().index_reads_lag {
        true => ctx.poll(page).await,
        false => page().await,
    };
    assert!(found.is_some(), "the page has the readable entities and the keys of the others");
}
