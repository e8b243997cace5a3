//! Transactions over entities of several kinds.

use tabla_entity::{Change, Entity, Transacted, UtcMillis};

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
    let attempt = |status, payment: Payment, email: &str, key: &BasketKey| {
        let change =
            Change::of(&order).set(Order::STATUS, Status::Paid).when(Order::STATUS.eq(status));
        let friend = customer("eva", Some(email), None);
        db.transaction()
            .update("order", change)?
            .check("customer", &ana.key(), Some(Customer::VISITS.eq(0_u32)))?
            .create("payment", payment)?
            .create("friend", friend)?
            .delete("basket", key, None)
    };
    let lost = ctx.ok(attempt(Status::Paid, payment("p1"), "a@x", &basket.key()));
    let Transacted::Lost(lost) = ctx.ok(lost.run().await) else {
        panic!("four operations must fail")
    };
    assert_eq!(lost.names(), ["order", "payment", "friend", "basket"]);
    let is_lost = |name: &str| lost.is_lost(name);
    assert!(is_lost("order") && is_lost("payment") && is_lost("basket"));
    assert!(
        !is_lost("customer") && !is_lost("friend"),
        "the email is taken, but the customer is unchanged"
    );
    assert_eq!(ctx.ok(lost.current::<Order>("order")), Some(order.clone()));
    assert_eq!(ctx.ok(lost.current::<Payment>("payment")), Some(paid.clone()));
    assert_eq!(ctx.ok(lost.current::<Basket>("basket")), None);
    assert_eq!(ctx.ok(lost.current::<Customer>("customer")), None, "the customer did not fail");
    assert_eq!(lost.taken("friend"), Some("email"));
    assert_eq!(lost.taken("order"), None);
    ctx.expect_unchanged(&before).await;
    ctx.expect_unchanged(&payments_before).await;

    // One failed operation undoes the others.
    let alone = ctx.ok(attempt(Status::Open, payment("p2"), "e@x", &basket.key()));
    let Transacted::Lost(lost) = ctx.ok(alone.run().await) else {
        panic!("the missing basket must fail")
    };
    assert_eq!(lost.names(), ["basket"]);
    ctx.expect_unchanged(&before).await;
    ctx.expect_unchanged(&payments_before).await;

    created(&ctx, &db, basket.clone()).await;
    let done = ctx.ok(attempt(Status::Open, payment("p2"), "e@x", &basket.key()));
    let done = ctx.ok(done.run().await);
    assert!(matches!(done, Transacted::Done), "{done:?}");
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
    let count = |amount: u64| {
        let change =
            Change::at(empty.key()).add(Basket::COUNT, amount).append(Basket::THINGS, ["pen"]);
        ctx.ok(db.transaction().token(&token).update("basket", change))
    };
    for _ in 0..3 {
        let done = ctx.ok(count(2).run().await);
        assert!(matches!(done, Transacted::Done), "{done:?}");
    }
    let error = ctx.expect_error(count(3).run().await);
    assert_eq!(error.code(), "IdempotentParameterMismatchException");
    let full = Basket { count: 2, things: vec!["pen".to_owned()], ..empty };
    ctx.expect_table(&table, &[item_of(&full)]).await;
}

pub(super) async fn resent_transaction_is_executed_once(ctx: Ctx) {
    let (db, clock) = database(&ctx);
    let (db, table) = with_table(&ctx, db, &SHOP).await;
    let empty = created(&ctx, &db, basket("ana", "b1")).await;
    let token = fresh_token();
    let fill = |moment: Option<UtcMillis>| {
        let transaction = match moment {
            Some(moment) => db.transaction_at(moment),
            None => db.transaction(),
        };
        let change = Change::at(empty.key()).add(Basket::COUNT, 2);
        transaction.token(&token).create("order", order("ana", 1))?.update("basket", change)
    };
    // The order contains its time of creation, which is that of `prepare`, so repetitions are
    // equal.
    let prepared = ctx.ok(ctx.ok(fill(None)).prepare());
    for _ in 0..3 {
        let done = ctx.ok(prepared.run().await);
        assert!(matches!(done, Transacted::Done), "{done:?}");
        pass(&clock, 60);
    }
    let first = UtcMillis::from_millis(START.as_secs() * 1000);
    let done = ctx.ok(ctx.ok(fill(Some(first))).run().await);
    assert!(matches!(done, Transacted::Done), "{done:?}");
    let error = ctx.expect_error(ctx.ok(fill(None)).run().await);
    assert_eq!(error.code(), "IdempotentParameterMismatchException");
    let full = Basket { count: 2, ..empty };
    let placed = Order { placed_at: START, updated_at: START, revision: 1, ..order("ana", 1) };
    ctx.expect_table(&table, &[item_of(&full), item_of(&placed)]).await;
}
