//! Stores that fail, and answers that are lost after the write.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tabla::{Applied, Error, ErrorKind, Retry};
use tabla_conformance::fault::{Failure, Failures, FaultStore, Operation, When};
use tabla_conformance::interleave::{CallHook, InterleavingStore};
use tabla_crypto_cards::*;

use crate::stage::*;

/// The bank through a store that fails like this.
fn failing(bank: &Bank, failures: Failures) -> CryptoCards {
    bank.through(Arc::new(FaultStore::new(bank.store.clone()).failures(failures)), 5)
}

fn once(operation: Operation, failure: Failure) -> Failures {
    Failures::new().on(operation, When::Call(1), failure)
}

#[tokio::test]
async fn a_lost_answer_is_looked_up() {
    let bank = Bank::open().await;
    let lost = || once(Operation::TransactWrite, Failure::ResponseLost);
    let answer = failing(&bank, lost()).authorise(&payment("tx-1", "30")).await.unwrap();
    let row = bank.row("tx-1").await.unwrap();
    assert_eq!(answer, Authorised::Already(row));
    assert_eq!(bank.usdt().await, ("100".into(), "30".into(), 2));
    assert_eq!(bank.card().await.spent_usdt, number("30"));

    let answer = failing(&bank, lost()).complete(&id("tx-1"), None).await.unwrap();
    let row = bank.row("tx-1").await.unwrap();
    assert_eq!((answer, row.status), (Settled::Already(row.clone()), Status::Completed));
    assert_eq!(bank.usdt().await, ("70".into(), "0".into(), 3));

    done(bank.pay("tx-2", "10").await);
    let answer = failing(&bank, lost()).fail(&id("tx-2"), None).await.unwrap();
    let row = bank.row("tx-2").await.unwrap();
    assert_eq!((answer, row.status), (Settled::Already(row.clone()), Status::Failed));
    assert_eq!(bank.usdt().await, ("70".into(), "0".into(), 5));
    assert_eq!(bank.card().await.spent_usdt, number("30"));
}

#[tokio::test]
async fn a_lost_answer_of_an_exchange_is_looked_up() {
    let bank = Bank::open().await;
    done(bank.pay("tx-1", "30").await);
    let lost = || once(Operation::Update, Failure::ResponseLost);
    let app = failing(&bank, lost());
    let begun = app.begin_trade(&id("tx-1"), &id("trade-1"), "PENDING").await.unwrap();
    let begun = begun.done().expect("it was this call's");
    assert_eq!(Some(&begun), bank.row("tx-1").await.as_ref());
    let app = failing(&bank, lost());
    let again = app.retry_trade(&begun, &id("trade-2"), "PENDING").await.unwrap();
    let again = again.done().expect("it was this call's");
    assert_eq!(again.retry_count, 1);
    assert_eq!(Some(again), bank.row("tx-1").await);
}

#[tokio::test]
async fn what_was_another_s_is_not_taken_for_ones_own() {
    let bank = Bank::open().await;
    done(bank.pay("tx-1", "30").await);
    let theirs = bank.app.begin_trade(&id("tx-1"), &id("theirs"), "PENDING").await.unwrap();
    let theirs = theirs.done().unwrap();
    // Nothing was done, and nobody knows: then another's exchange is there.
    let app = unanswered(&bank, Operation::Update, 1);
    let mine = app.begin_trade(&id("tx-1"), &id("mine"), "PENDING").await.unwrap();
    assert_eq!(mine, tabla::entity::Outcome::Lost(Some(theirs)));
}

#[tokio::test]
async fn failures_that_pass_are_waited_for() {
    for failure in [Failure::Throttled, Failure::Unavailable, Failure::Conflict] {
        let bank = Bank::open().await;
        let plan = || {
            Failures::new().on(Operation::TransactWrite, When::First(3), failure).on(
                Operation::Get,
                When::Call(2),
                failure,
            )
        };
        done(failing(&bank, plan()).authorise(&payment("tx-1", "30")).await.unwrap());
        let settled = failing(&bank, plan()).complete(&id("tx-1"), None).await.unwrap();
        assert!(matches!(settled, Settled::Done(_)), "{failure:?}: {settled:?}");
        assert_eq!(bank.usdt().await, ("70".into(), "0".into(), 3));
        assert!(!bank.clock.sleeps().is_empty());
    }
}

#[tokio::test]
async fn a_store_that_stays_away_is_an_error_and_no_rejection() {
    let bank = Bank::open().await;
    let before = bank.everything().await;
    let away = Failures::new().on(Operation::TransactWrite, When::Always, Failure::Unavailable);
    let error = failing(&bank, away).authorise(&payment("tx-1", "30")).await.unwrap_err();
    assert_eq!((error.retry(), error.applied()), (Retry::Exhausted, Applied::No));
    assert_eq!(bank.everything().await, before);
}

#[tokio::test]
async fn what_cannot_be_looked_up_stays_open() {
    let bank = Bank::open().await;
    // The reads before the write, then nothing.
    let plan = |reads: usize| {
        let mut plan = once(Operation::TransactWrite, Failure::ResponseLost);
        for call in reads + 1..100 {
            plan = plan.on(Operation::Get, When::Call(call), Failure::Unavailable);
        }
        plan
    };
    let error = failing(&bank, plan(3)).authorise(&payment("tx-1", "30")).await.unwrap_err();
    assert_eq!((error.retry(), error.applied()), (Retry::Exhausted, Applied::Maybe));
    // The same call tells later.
    assert!(matches!(bank.pay("tx-1", "30").await, Authorised::Already(_)));
    let error = failing(&bank, plan(1)).complete(&id("tx-1"), None).await.unwrap_err();
    assert_eq!((error.retry(), error.applied()), (Retry::Exhausted, Applied::Maybe));
    let again = bank.app.complete(&id("tx-1"), None).await.unwrap();
    assert!(matches!(again, Settled::Already(_)), "{again:?}");
    assert_eq!(bank.usdt().await, ("70".into(), "0".into(), 3));
}

/// A store whose first calls of an operation are neither made nor answered: they may be on their way.
fn unanswered(bank: &Bank, kind: Operation, times: u32) -> CryptoCards {
    let left = AtomicU32::new(times);
    let before: CallHook =
        Arc::new(move |call| {
            let take = |left: u32| left.checked_sub(1);
            let is_lost = call == kind
                && left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
            Box::pin(async move {
                match is_lost {
                    true => Err(Error::new(ErrorKind::Unavailable, "no answer")
                        .with_applied(Applied::Maybe)),
                    false => Ok(()),
                }
            })
        });
    bank.through(Arc::new(InterleavingStore::new(bank.store.clone()).with_hook(before)), 5)
}

#[tokio::test]
async fn a_write_that_never_arrived_is_made_again() {
    let bank = Bank::open().await;
    let app = unanswered(&bank, Operation::TransactWrite, 2);
    done(app.authorise(&payment("tx-1", "30")).await.unwrap());
    assert_eq!(bank.usdt().await, ("100".into(), "30".into(), 2));
}

#[tokio::test]
async fn nothing_is_rejected_while_it_may_yet_be_authorised() {
    // The write is on its way, and the card is blocked before it arrives.
    let blocked = |bank: &Bank| {
        let (app, seen) = (bank.app.clone(), AtomicU32::new(0));
        let before: CallHook = Arc::new(move |call| {
            let is_first =
                call == Operation::TransactWrite && seen.fetch_add(1, Ordering::Relaxed) == 0;
            let app = app.clone();
            Box::pin(async move {
                if !is_first {
                    return Ok(());
                }
                let blocked = CardStatus::Blocked;
                app.set_card_status(&id("card-1"), blocked).await.unwrap().done().unwrap();
                Err(Error::new(ErrorKind::Unavailable, "no answer").with_applied(Applied::Maybe))
            })
        });
        bank.through(Arc::new(InterleavingStore::new(bank.store.clone()).with_hook(before)), 5)
    };
    let bank = Bank::open().await;
    let error = blocked(&bank).authorise(&payment("tx-1", "30")).await.unwrap_err();
    assert_eq!(error.applied(), Applied::Maybe);
    // Once the account has moved on it cannot arrive any more, and the answer is sure.
    let answer = bank.app.authorise(&payment("tx-1", "30")).await.unwrap();
    assert_eq!(answer, Authorised::Rejected(Rejection::CardNotActive(CardStatus::Blocked)));
}
