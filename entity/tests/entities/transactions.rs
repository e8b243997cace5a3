//! Transactions: what their operations are called, and what sending one again means.

use std::time::Duration;

use tabla_entity::{Change, Entity, Transacted, Transaction};

use crate::design::*;

#[tokio::test]
async fn names_may_be_made_at_run_time() {
    let (db, _) = db().await;
    let orders = [order("ana", 1), order("ana", 2), order("ana", 3)];
    db.create(orders[1].clone()).await.unwrap().done().unwrap();
    let mut transaction = db.transaction().create("ana", customer("ana", None)).unwrap();
    for order in &orders {
        let name = format!("order {}", order.number);
        transaction = transaction.create(name, order.clone()).unwrap();
    }
    let again = transaction.create(String::from("ana"), customer("eva", None)).map(|_| ());
    assert_eq!(again.unwrap_err().message(), "two operations of a transaction are called \"ana\"");
    let all = orders.into_iter().try_fold(db.transaction(), |all, order| {
        all.create(format!("order {}", order.number), order)
    });
    let Transacted::Lost(lost) = all.unwrap().run().await.unwrap() else {
        panic!("the second is there")
    };
    assert_eq!(lost.names(), ["order 2"]);
    assert!(lost.is_lost("order 2") && !lost.is_lost("order 1") && !lost.is_lost("order 9"));
    assert_eq!(lost.current::<Order>("order 2").unwrap().unwrap().number, 2);
}

/// Counts a visit, and places an order, which is stamped with the time.
fn visit(transaction: Transaction<'_>) -> Transaction<'_> {
    let change = Change::at(CustomerKey { id: id("ana") }).add(Customer::VISITS, 1);
    let transaction = transaction.token("visit-1").create("order", order("ana", 1)).unwrap();
    transaction.update("customer", change).unwrap()
}

#[tokio::test]
async fn what_was_prepared_is_carried_out_once_though_time_goes_on() {
    let (db, clock) = db().await;
    let ana = db.create(customer("ana", None)).await.unwrap().done().unwrap();
    let first = db.now();
    let prepared = visit(db.transaction()).prepare().unwrap();
    assert_eq!(prepared.token(), Some("visit-1"));
    for _ in 0..3 {
        let done = prepared.run().await.unwrap();
        assert!(matches!(done, Transacted::Done), "{done:?}");
        clock.advance(Duration::from_secs(60));
    }
    // Built again as of the first moment it is the same; as of another it is not.
    let same = visit(db.transaction_at(first)).run().await.unwrap();
    assert!(matches!(same, Transacted::Done), "{same:?}");
    let other = visit(db.transaction()).run().await.map(|_| ()).unwrap_err();
    assert_eq!(other.code(), "IdempotentParameterMismatchException");
    assert_eq!(db.get(&ana.key()).await.unwrap().unwrap().visits, 1);
    let placed = db.get(&order("ana", 1).key()).await.unwrap().unwrap();
    assert_eq!(placed.placed_at, first.second());
}

#[tokio::test]
async fn a_transaction_that_is_prepared_has_a_token() {
    let (db, _) = db().await;
    let ana = db.create(customer("ana", None)).await.unwrap().done().unwrap();
    let count = || {
        let change = Change::at(ana.key()).add(Customer::VISITS, 1);
        db.transaction().update("ana", change).unwrap().prepare().unwrap()
    };
    let (one, other) = (count(), count());
    assert_ne!(one.token(), other.token());
    for prepared in [&one, &other, &one, &other] {
        let done = prepared.run().await.unwrap();
        assert!(matches!(done, Transacted::Done), "{done:?}");
    }
    assert_eq!(db.get(&ana.key()).await.unwrap().unwrap().visits, 2);
}
