//! Outcomes of create, replace, save, update and delete, for winner and loser.

use tabla_entity::{Entity, Outcome};

use super::super::prelude::*;
use super::design::*;

pub(super) async fn entity_is_created_once(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let first = created(&ctx, &db, order("ana", 1)).await;
    let stamped = Order { placed_at: START, updated_at: START, revision: 1, ..order("ana", 1) };
    assert_eq!(first, stamped);
    let before = ctx.snapshot(&table).await;
    let second = Order { total: 7, courier: Some(id("zoe")), ..order("ana", 1) };
    assert_eq!(ctx.ok(db.create(second).await), Outcome::Lost(Some(first.clone())));
    ctx.expect_unchanged(&before).await;
    assert_eq!(ctx.ok(db.get(&first.to_key()).await), Some(first.clone()));
    ctx.expect_table(&table, &[item_of(&first)]).await;
}

pub(super) async fn concurrent_creates_return_one_entity(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let creators = (0..8).map(|total| {
        let (ctx, db) = (ctx.clone(), db.clone());
        async move { ctx.ok(db.create(Order { total, ..order("ana", 1) }).await) }
    });
    let outcomes = ctx.at_once(creators).await;
    let done: Vec<Order> = outcomes.iter().cloned().filter_map(Outcome::done).collect();
    let [winner] = &done[..] else { panic!("not exactly one create succeeded: {done:?}") };
    for outcome in outcomes.iter().filter(|outcome| !outcome.is_done()) {
        assert_eq!(*outcome, Outcome::Lost(Some(winner.clone())));
    }
    ctx.expect_table(&table, &[item_of(winner)]).await;
    ctx.expect_index(&table, "GSI1", &[item_of(winner)]).await;
}

pub(super) async fn replace_leaves_nothing_of_the_old_entity(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let full = Basket { shop: Some(id("north")), count: 3, ..basket("ana", "b1") };
    assert_eq!(ctx.ok(db.replace(full.clone()).await), Outcome::Lost(None));
    ctx.expect_table(&table, &[]).await;
    created(&ctx, &db, full.clone()).await;
    ctx.expect_index(&table, "GSI1", &[item_of(&full)]).await;
    let empty = basket("ana", "b1");
    assert_eq!(ctx.ok(db.replace(empty.clone()).await), Outcome::Done(empty.clone()));
    let left = item! {
        "PK" => "CUSTOMER#ana", "SK" => "BASKET#b1", "things" => list![], "count" => 0,
    };
    ctx.expect_table(&table, &[left]).await;
    ctx.expect_index(&table, "GSI1", &[]).await;

    // Replace could reset the write counter of an entity.
    let order = created(&ctx, &db, order("ana", 1)).await;
    let before = ctx.snapshot(&table).await;
    ctx.expect_validation_with(db.replace(order).await, "counts its writes in `revision`");
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn save_needs_the_read_version(ctx: Ctx) {
    let (db, clock) = database(&ctx);
    let (db, table) = with_table(&ctx, db, &SHOP).await;
    let first = ctx.ok(db.save(order("ana", 1)).await).done().expect("no such entity exists");
    assert_eq!((first.revision, first.placed_at), (1, START));
    assert_eq!(ctx.ok(db.save(order("ana", 1)).await), Outcome::Lost(Some(first.clone())));
    pass(&clock, 60);
    let mine = Order { total: 5, status: Status::Paid, ..first.clone() };
    let saved = ctx.ok(db.save(mine.clone()).await).done().expect("no concurrent change");
    assert_eq!(saved, Order { revision: 2, updated_at: later(60), ..mine });
    let before = ctx.snapshot(&table).await;
    let theirs = Order { total: 6, ..first.clone() };
    assert_eq!(ctx.ok(db.save(theirs).await), Outcome::Lost(Some(saved.clone())));
    ctx.expect_unchanged(&before).await;
    ctx.expect_index(&table, "GSI1", &[item_of(&saved)]).await;
    // A deleted entity cannot be saved.
    assert_eq!(ctx.ok(db.delete(&saved.to_key()).await), Outcome::Done(saved.clone()));
    assert_eq!(ctx.ok(db.save(saved).await), Outcome::Lost(None));
    ctx.expect_table(&table, &[]).await;
}

pub(super) async fn concurrent_saves_lose_nothing(ctx: Ctx) {
    const SAVERS: u32 = 6;
    let (db, table) = shop(&ctx).await;
    let first = created(&ctx, &db, Order { total: 0, ..order("ana", 1) }).await;
    let savers = (0..SAVERS).map(|_| {
        let (ctx, db, mut read) = (ctx.clone(), db.clone(), first.clone());
        async move {
            loop {
                let next = Order { total: read.total + 1, ..read };
                match ctx.ok(db.save(next).await) {
                    Outcome::Done(_) => return,
                    Outcome::Lost(present) => read = present.expect("no concurrent delete"),
                    Outcome::Taken { field } => panic!("{field} is not unique"),
                }
            }
        }
    });
    ctx.at_once(savers).await;
    let last = Order { total: SAVERS, revision: 1 + SAVERS, ..first };
    ctx.expect_table(&table, &[item_of(&last)]).await;
    ctx.expect_index(&table, "GSI1", &[item_of(&last)]).await;
}

pub(super) async fn update_needs_entity_and_condition(ctx: Ctx) {
    let (db, clock) = database(&ctx);
    let (db, table) = with_table(&ctx, db, &SHOP).await;
    let open = created(&ctx, &db, order("ana", 1)).await;
    pass(&clock, 5);
    let pay = |read: &Order| {
        read.change().set(Order::STATUS, Status::Paid).when(Order::STATUS.eq(Status::Open))
    };
    let paid = ctx.ok(db.update(pay(&open)).await).done().expect("the order is open");
    let expected =
        Order { status: Status::Paid, revision: 2, updated_at: later(5), ..open.clone() };
    assert_eq!(paid, expected);
    ctx.expect_table(&table, &[item_of(&paid)]).await;
    let before = ctx.snapshot(&table).await;
    assert_eq!(ctx.ok(db.update(pay(&paid)).await), Outcome::Lost(Some(paid.clone())));
    // A change of a stale entity fails, whatever it changes.
    let note = open.change().set(Order::NOTE, "ring twice".to_owned());
    assert_eq!(ctx.ok(db.update(note).await), Outcome::Lost(Some(paid)));
    // A change of a missing entity creates none.
    let missing = Order::key(id("ana"), 9);
    let note = missing.change().set(Order::NOTE, "ring twice".to_owned());
    assert_eq!(ctx.ok(db.update(note).await), Outcome::Lost(None));
    ctx.expect_unchanged(&before).await;
}

pub(super) async fn concurrent_changes_in_place_all_count(ctx: Ctx) {
    const CALLERS: u64 = 8;
    let (db, table) = shop(&ctx).await;
    let empty = created(&ctx, &db, basket("ana", "b1")).await;
    let callers = (0..CALLERS).map(|caller| {
        let (ctx, db, key) = (ctx.clone(), db.clone(), empty.to_key());
        async move {
            let thing = format!("thing{}", caller / 2);
            let change = key
                .change()
                .append(Basket::THINGS, [&thing])
                .increment(Basket::COUNT, 1)
                .when(!Basket::THINGS.contains(&thing));
            ctx.ok(db.update(change).await).is_done()
        }
    });
    let done = ctx.at_once(callers).await.into_iter().filter(|done| *done).count();
    assert_eq!(done, 4, "each thing must be added by one of two writers");
    let full = ctx.ok(db.get(&empty.to_key()).await).expect("the entity exists");
    let mut things = full.things.clone();
    things.sort();
    assert_eq!(things, ["thing0", "thing1", "thing2", "thing3"]);
    assert_eq!(full.count, 4);
    ctx.expect_table(&table, &[item_of(&full)]).await;
}

pub(super) async fn delete_returns_the_entity(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let with_courier = Order { courier: Some(id("zoe")), ..order("ana", 1) };
    let (order, other) =
        (created(&ctx, &db, with_courier).await, created(&ctx, &db, order("ana", 2)).await);
    let before = ctx.snapshot(&table).await;
    let lost = ctx.ok(db.delete_if(&order.to_key(), Order::STATUS.eq(Status::Paid)).await);
    assert_eq!(lost, Outcome::Lost(Some(order.clone())));
    ctx.expect_unchanged(&before).await;
    let deleted = ctx.ok(db.delete_if(&order.to_key(), Order::STATUS.eq(Status::Open)).await);
    assert_eq!(deleted, Outcome::Done(order.clone()));
    assert_eq!(ctx.ok(db.delete(&order.to_key()).await), Outcome::Lost(None));
    assert_eq!(ctx.ok(db.get(&order.to_key()).await), None);
    ctx.expect_table(&table, &[item_of(&other)]).await;
    ctx.expect_index(&table, "GSI1", &[item_of(&other)]).await;
    ctx.expect_index(&table, "GSI2", &[]).await;
}

pub(super) async fn numbers_of_38_digits_are_exact(ctx: Ctx) {
    let (db, table) = with_table(&ctx, database(&ctx).0, &PAYMENTS).await;
    let number = |text: &str| Number::parse(text).expect("valid number");
    let amounts = [
        "0.1",
        "12345678901234567890.123456789012345678",
        "99999999999999999999999999999999999999",
        "-1E-130",
        "9E125",
    ];
    let mut payments = Vec::new();
    for (at, amount) in amounts.iter().enumerate() {
        let payment = Payment {
            payment_id: id(&format!("p{at}")),
            user_id: id("ana"),
            paid_at: later(at as u64),
            amount: number(amount),
        };
        payments.push(created(&ctx, &db, payment).await);
    }
    for payment in &payments {
        assert_eq!(ctx.ok(db.get(&payment.to_key()).await).as_ref(), Some(payment));
    }
    // A tenth and the last of 38 digits are exact.
    let change = payments[0].to_key().change().increment(Payment::AMOUNT, number("0.2"));
    payments[0].amount = number("0.3");
    assert_eq!(ctx.ok(db.update(change).await), Outcome::Done(payments[0].clone()));
    let change = payments[1]
        .to_key()
        .change()
        .increment(Payment::AMOUNT, number("0.000000000000000001"))
        .when(Payment::AMOUNT.eq(number("12345678901234567890.123456789012345678")));
    payments[1].amount = number("12345678901234567890.123456789012345679");
    assert_eq!(ctx.ok(db.update(change).await), Outcome::Done(payments[1].clone()));
    let change = payments[2].to_key().change().increment(Payment::AMOUNT, number("0.1"));
    let error = ctx.expect_error(db.update(change).await);
    assert!(matches!(error.kind(), ErrorKind::Validation), "39 digits: {error}");
    let found = || {
        let above = number("12345678901234567890.123456789012345678");
        Payment::by_user(id("ana")).filter(Payment::AMOUNT.gt(above))
    };
    let above = [payments[1].clone(), payments[2].clone(), payments[4].clone()];
    expect_found(&ctx, &db, found, &above).await;
    let items: Vec<Item> = payments.iter().map(item_of).collect();
    ctx.expect_table(&table, &items).await;
}
