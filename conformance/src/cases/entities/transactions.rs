//! Transactions over entities of several kinds.

use tabla_entity::Commit::{Canceled, Committed};
use tabla_entity::{Entity, UtcMillis};

use super::super::prelude::*;
use super::super::tokens::fresh_token;
use super::design::*;

pub(super) async fn failed_transaction_names_its_conditions(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let (db, payments) = with_table(&ctx, db, &PAYMENTS).await;
    let payment = |name: &str| Payment {
        payment_id: id(name),
        user_id: id("ana"),
        paid_at: START,
        amount: Number::from(100),
    };
    let ana = created(&ctx, &db, customer("ana", Some("a@x"), None)).await;
    let order = created(&ctx, &db, order("ana", 1)).await;
    let paid = created(&ctx, &db, payment("p1")).await;
    let basket = basket("ana", "b1");
    let (before, payments_before) = (ctx.snapshot(&table).await, ctx.snapshot(&payments).await);
    let attempt = async |status, payment: Payment, email: &str, key: &BasketKey| {
        let change = order.change().set(Order::STATUS, Status::Paid);
        let mut tx = db.transaction();
        let order = tx.update(change.when(Order::STATUS.eq(status)));
        let checked = tx.check(&ana.to_key(), Customer::VISITS.eq(0_u32));
        let payment = tx.create(payment);
        let friend = tx.create(customer("eva", Some(email), None));
        let basket = tx.delete(key);
        (ctx.ok(tx.commit().await), (order, checked, payment, friend, basket))
    };
    let (commit, steps) = attempt(Status::Paid, payment("p1"), "a@x", &basket.to_key()).await;
    let Canceled(c) = commit else { panic!("four steps must fail") };
    let (first, checked, second, friend, third) = &steps;
    assert!(c.failed(first) && c.failed(second) && c.failed(third));
    assert!(
        !c.failed(checked) && !c.failed(friend),
        "the email is taken, but the customer is unchanged"
    );
    assert!(!c.only(first), "others failed, too");
    assert_eq!(ctx.ok(c.current(first)), Some(order.clone()));
    assert_eq!(ctx.ok(c.current(second)), Some(paid.clone()));
    assert_eq!(ctx.ok(c.current(third)), None);
    assert_eq!(ctx.ok(c.current(checked)), None, "the customer did not fail");
    assert_eq!((c.taken(friend), c.taken(first)), (Some(Customer::EMAIL.name), None));
    ctx.expect_unchanged(&before).await;
    ctx.expect_unchanged(&payments_before).await;

    // One failed step undoes the others.
    let (commit, steps) = attempt(Status::Open, payment("p2"), "e@x", &basket.to_key()).await;
    let Canceled(c) = commit else { panic!("the missing basket must fail") };
    assert!(c.only(&steps.4) && !c.failed(&steps.0) && c.taken(&steps.3).is_none());
    ctx.expect_unchanged(&before).await;
    ctx.expect_unchanged(&payments_before).await;

    created(&ctx, &db, basket.clone()).await;
    let (commit, _) = attempt(Status::Open, payment("p2"), "e@x", &basket.to_key()).await;
    assert!(commit.is_committed(), "{commit:?}");
    let order = Order { status: Status::Paid, revision: 2, ..order };
    let items = [
        item_of(&ana),
        guard("EMAIL#a@x", "ana"),
        item_of(&order),
        item_of(&customer("eva", Some("e@x"), None)),
        guard("EMAIL#e@x", "eva"),
    ];
    ctx.expect_table(&table, &items).await;
    ctx.expect_index(&table, "GSI1", &[item_of(&order)]).await;
    ctx.expect_table(&payments, &[item_of(&paid), item_of(&payment("p2"))]).await;
}

pub(super) async fn transaction_with_token_is_executed_once(ctx: Ctx) {
    let (db, table) = shop(&ctx).await;
    let empty = created(&ctx, &db, basket("ana", "b1")).await;
    let token = fresh_token();
    let count = async |amount: u64| {
        let mut tx = db.transaction().token(&token);
        let change = empty.to_key().change().increment(Basket::COUNT, amount);
        tx.update(change.append(Basket::THINGS, ["pen"]));
        tx.commit().await
    };
    for _ in 0..3 {
        let commit = ctx.ok(count(2).await);
        assert!(matches!(commit, Committed), "{commit:?}");
    }
    let error = ctx.expect_error(count(3).await);
    assert_eq!(error.code(), "IdempotentParameterMismatchException");
    let full = Basket { count: 2, things: vec!["pen".to_owned()], ..empty };
    ctx.expect_table(&table, &[item_of(&full)]).await;
}

pub(super) async fn resent_transaction_is_executed_once(ctx: Ctx) {
    let (db, clock) = database(&ctx);
    let (db, table) = with_table(&ctx, db, &SHOP).await;
    let empty = created(&ctx, &db, basket("ana", "b1")).await;
    let token = fresh_token();
    let fill = async |moment: UtcMillis| {
        let mut tx = db.transaction().token(&token).at(moment);
        tx.create(order("ana", 1));
        tx.update(empty.to_key().change().increment(Basket::COUNT, 2));
        tx.commit().await
    };
    // The order contains its time of creation: of the same moment, repetitions are equal.
    let first = UtcMillis::from_millis(START.as_secs() * 1000);
    for _ in 0..3 {
        let commit = ctx.ok(fill(first).await);
        assert!(matches!(commit, Committed), "{commit:?}");
        pass(&clock, 60);
    }
    let error = ctx.expect_error(fill(db.now()).await);
    assert_eq!(error.code(), "IdempotentParameterMismatchException");
    let full = Basket { count: 2, ..empty };
    let placed = Order { placed_at: START, updated_at: START, revision: 1, ..order("ana", 1) };
    ctx.expect_table(&table, &[item_of(&full), item_of(&placed)]).await;
}
