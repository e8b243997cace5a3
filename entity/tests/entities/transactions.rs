//! Transactions: steps and their handles, tokens, and optimistic loops.

use std::time::Duration;

use tabla_core::ErrorKind;
use tabla_core::ops::PutItem;
use tabla_entity::Commit::{Canceled, Committed};
use tabla_entity::{Db, Entity, Outcome, Step, Transaction};

use crate::design::*;

#[tokio::test]
async fn steps_made_in_a_loop_have_handles_of_their_own() {
    let (db, _) = db().await;
    let orders = [order("ana", 1), order("ana", 2), order("ana", 3)];
    db.create(orders[1].clone()).await.unwrap().done().unwrap();
    let mut tx = db.transaction();
    let steps: Vec<Step<Order>> = orders.into_iter().map(|order| tx.create(order)).collect();
    let Canceled(c) = tx.commit().await.unwrap() else { panic!("the second order exists") };
    assert_eq!(steps.iter().map(|step| c.failed(step)).collect::<Vec<_>>(), [false, true, false]);
    assert!(c.only(&steps[1]));
    assert_eq!(c.current(&steps[1]).unwrap().unwrap().number, 2);
    assert_eq!(c.current(&steps[0]).unwrap(), None);
}

#[tokio::test]
#[should_panic(expected = "a step of another transaction was given to a Cancellation")]
async fn step_of_another_transaction_panics() {
    let (db, _) = db().await;
    db.create(order("ana", 1)).await.unwrap().done().unwrap();
    let mut other = db.transaction();
    let step = other.create(order("ana", 1));
    let mut tx = db.transaction();
    tx.create(order("ana", 1));
    let Canceled(c) = tx.commit().await.unwrap() else { panic!("the order exists") };
    let _ = c.failed(&step);
}

#[tokio::test]
async fn error_of_a_step_surfaces_at_the_commit_and_nothing_is_written() {
    let (db, _) = db().await;
    let mut tx = db.transaction();
    let created = tx.create(order("ana", 1));
    // The number does not fit its key.
    tx.create(order("ana", u32::MAX));
    tx.create(order("ana", 2));
    let error = tx.commit().await.unwrap_err();
    assert!(error.message().contains("does not fit the 8 digits"), "{error}");
    assert_eq!(format!("{created:?}"), "step 0 (Order)");
    assert!(db.all(Order::of(id("ana"))).await.unwrap().is_empty());
    let error = db.transaction().commit().await.unwrap_err();
    assert!(error.message().contains("without steps"), "{error}");
}

/// Counts a visit, and places an order, which has the moment of the transaction.
fn visit(tx: &mut Transaction<'_>) {
    tx.create(order("ana", 1));
    tx.update(Customer::key(id("ana")).change().increment(Customer::VISITS, 1));
}

#[tokio::test]
async fn transaction_built_again_of_the_same_moment_is_executed_once() {
    let (db, clock) = db().await;
    let ana = db.create(customer("ana", None)).await.unwrap().done().unwrap();
    let first = db.now();
    for _ in 0..3 {
        let mut tx = db.transaction().token("visit-1").at(first);
        visit(&mut tx);
        assert!(tx.commit().await.unwrap().is_committed());
        clock.advance(Duration::from_secs(60));
    }
    let mut other = db.transaction().token("visit-1");
    visit(&mut other);
    let error = other.commit().await.unwrap_err();
    assert_eq!(error.code(), "IdempotentParameterMismatchException");
    assert_eq!(db.get(&ana.to_key()).await.unwrap().unwrap().visits, 1);
    let placed = db.get(&order("ana", 1).to_key()).await.unwrap().unwrap();
    assert_eq!(placed.placed_at, first.second());
}

#[tokio::test]
async fn single_step_with_a_token_is_executed_once() {
    let (db, _) = db().await;
    let ana = db.create(customer("ana", None)).await.unwrap().done().unwrap();
    for token in ["one", "other", "one", "other"] {
        let mut tx = db.transaction().token(token);
        tx.update(ana.to_key().change().increment(Customer::VISITS, 1));
        assert!(tx.commit().await.unwrap().is_committed());
    }
    assert_eq!(db.get(&ana.to_key()).await.unwrap().unwrap().visits, 2);
}

#[tokio::test]
async fn condition_of_a_single_step_cancels_the_transaction() {
    let (db, _) = db().await;
    let order = db.create(order("ana", 1)).await.unwrap().done().unwrap();
    let mut tx = db.transaction();
    let paid = order.change().set(Order::STATUS, Status::Paid);
    let paid = tx.update(paid.when(Order::STATUS.eq(Status::Paid)));
    let Canceled(c) = tx.commit().await.unwrap() else { panic!("the order is open") };
    assert_eq!(c.current(&paid).unwrap(), Some(order.clone()));
    let mut tx = db.transaction();
    let gone = tx.delete_if(&order.to_key(), Order::STATUS.eq(Status::Paid));
    let Canceled(c) = tx.commit().await.unwrap() else { panic!("the order is open") };
    assert!(c.only(&gone));
    let mut tx = db.transaction();
    tx.delete(&order.to_key());
    assert!(matches!(tx.commit().await.unwrap(), Committed));
    let mut tx = db.transaction();
    let missing = tx.check_exists(&order.to_key());
    let Canceled(c) = tx.commit().await.unwrap() else { panic!("the order is deleted") };
    assert!(c.failed(&missing) && c.current(&missing).unwrap().is_none());
}

/// Adds to an order in an optimistic loop, beside a writer that is ahead `others` times.
async fn add_beside(db: &Db, others: u32) -> tabla_core::Result<(u32, u32)> {
    let key = Order::key(id("ana"), 1);
    let mut attempts = db.optimistic("add to an order");
    let mut begun = 0;
    loop {
        let mut tx = attempts.begin().await?;
        begun += 1;
        let read = tx.get(&key).await?.unwrap();
        if begun <= others {
            let other = read.change().increment(Order::TOTAL, 1);
            db.update(other).await?.done().unwrap();
        }
        tx.update(read.change().increment(Order::TOTAL, 10));
        if tx.commit().await?.is_committed() {
            return Ok((begun, read.total + 10));
        }
    }
}

#[tokio::test]
async fn optimistic_loop_begins_again_after_a_concurrent_writer() {
    let (db, clock) = db().await;
    db.create(order("ana", 1)).await.unwrap().done().unwrap();
    assert_eq!(add_beside(&db, 0).await.unwrap(), (1, 110));
    assert!(clock.sleeps().is_empty(), "the first attempt does not wait");
    assert_eq!(add_beside(&db, 3).await.unwrap(), (4, 123));
    assert_eq!(clock.sleeps().len(), 3);
    assert_eq!(db.get(&Order::key(id("ana"), 1)).await.unwrap().unwrap().total, 123);
}

#[tokio::test]
async fn optimistic_loop_that_gives_up_says_how_often_and_why() {
    let (db, _) = db().await;
    let retries = tabla_core::RetryPolicy::contended(db.env().clone()).with_attempts(4);
    let db = db.with_retries(retries);
    db.create(order("ana", 1)).await.unwrap().done().unwrap();
    let error = add_beside(&db, 9).await.unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::TransactionConflict);
    assert_eq!(
        error.message(),
        "gave up to add to an order after 4 attempts: a concurrent writer won each; in the last \
         one, the condition on Order failed"
    );
}

/// A failed condition returns the item, so the next attempt need not read it.
#[tokio::test]
async fn optimistic_loop_reads_what_the_failed_attempt_met() {
    let (db, _) = db().await;
    let order = db.create(order("ana", 1)).await.unwrap().done().unwrap();
    let mut attempts = db.optimistic("note an order");
    let mut tx = attempts.begin().await.unwrap();
    let read = tx.get(&order.to_key()).await.unwrap().unwrap();
    let ahead = order.change().set(Order::NOTE, "ahead".to_owned());
    let ahead = db.update(ahead).await.unwrap().done().unwrap();
    tx.update(read.change().set(Order::NOTE, "behind".to_owned()));
    assert!(!tx.commit().await.unwrap().is_committed());
    // The item changes behind the back of the loop: the next attempt has what the failed one met.
    let item = Order { total: 7, ..ahead.clone() }.to_item().unwrap();
    db.store().put(PutItem::new("shop", item)).await.unwrap();
    let mut tx = attempts.begin().await.unwrap();
    assert_eq!(tx.get(&order.to_key()).await.unwrap(), Some(ahead));
    // The second read of the same attempt asks the store.
    assert_eq!(tx.get(&order.to_key()).await.unwrap().unwrap().total, 7);
}

#[tokio::test]
async fn outcome_of_a_write_with_a_unique_value_names_its_field() {
    let (db, _) = db().await;
    db.create(customer("ana", Some("a@x"))).await.unwrap().done().unwrap();
    let taken = db.create(customer("eva", Some("a@x"))).await.unwrap();
    assert_eq!(taken, Outcome::Taken { field: Customer::EMAIL.name });
}
