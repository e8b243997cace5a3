//! Stores that fail, and responses that are lost after the write.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tabla::{Applied, Error, ErrorKind, Retry, Store};
use tabla_conformance::fault::{Failure, Failures, FaultStore, Operation, When};
use tabla_conformance::interleave::{CallHook, InterleavingStore};
use tabla_crypto_cards::*;

use crate::stage::*;

/// The app through a store with these failures.
fn failing(bank: &Bank, failures: Failures) -> CryptoCards {
    failing_store(bank, bank.store.clone(), failures)
}

fn failing_store(bank: &Bank, store: impl Store + 'static, failures: Failures) -> CryptoCards {
    bank.through(Arc::new(FaultStore::new(store).failures(failures)), 5)
}

fn once(operation: Operation, failure: Failure) -> Failures {
    Failures::new().on(operation, When::Call(1), failure)
}

#[tokio::test]
async fn lost_response_is_resolved_by_the_token() {
    let bank = Bank::open().await;
    let lost = || once(Operation::TransactWrite, Failure::ResponseLost);
    let answer = failing(&bank, lost()).authorise(&payment("tx-1", "30")).await.unwrap();
    let row = bank.row("tx-1").await.unwrap();
    assert_eq!(answer, Authorised::Done(row));
    assert_eq!(bank.usdt().await, ("100".into(), "30".into(), 2));
    assert_eq!(bank.card().await.spent_usdt, number("30"));

    let answer = failing(&bank, lost()).complete(&id("tx-1"), None).await.unwrap();
    let row = bank.row("tx-1").await.unwrap();
    assert_eq!((answer, row.status), (Settled::Done(row.clone()), Status::Completed));
    assert_eq!(bank.usdt().await, ("70".into(), "0".into(), 3));

    done(bank.pay("tx-2", "10").await);
    let answer = failing(&bank, lost()).fail(&id("tx-2"), None).await.unwrap();
    let row = bank.row("tx-2").await.unwrap();
    assert_eq!((answer, row.status), (Settled::Done(row.clone()), Status::Failed));
    assert_eq!(bank.usdt().await, ("70".into(), "0".into(), 5));
    assert_eq!(bank.card().await.spent_usdt, number("30"));
}

#[tokio::test]
async fn lost_response_of_an_exchange_is_resolved_by_the_item() {
    let bank = Bank::open().await;
    done(bank.pay("tx-1", "30").await);
    let lost = || once(Operation::Update, Failure::ResponseLost);
    let app = failing(&bank, lost());
    let begun = app.begin_trade(&id("tx-1"), &id("trade-1"), "PENDING").await.unwrap();
    let begun = begun.done().expect("this call has applied it");
    assert_eq!(Some(&begun), bank.row("tx-1").await.as_ref());
    let app = failing(&bank, lost());
    let again = app.retry_trade(&begun, &id("trade-2"), "PENDING").await.unwrap();
    let again = again.done().expect("this call has applied it");
    assert_eq!(again.retry_count, 1);
    assert_eq!(Some(again), bank.row("tx-1").await);
}

#[tokio::test]
async fn exchange_of_another_caller_is_reported_after_a_lost_response() {
    let bank = Bank::open().await;
    done(bank.pay("tx-1", "30").await);
    let theirs = bank.app.begin_trade(&id("tx-1"), &id("theirs"), "PENDING").await.unwrap();
    let theirs = theirs.done().unwrap();
    // The first write is not executed, and its outcome is unknown. The other exchange exists.
    let app = unanswered(&bank, Operation::Update, 1);
    let mine = app.begin_trade(&id("tx-1"), &id("mine"), "PENDING").await.unwrap();
    assert_eq!(mine, tabla::entity::Outcome::Lost(Some(theirs)));
}

#[tokio::test]
async fn transient_failures_are_retried() {
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
async fn unavailable_store_is_an_error_and_no_rejection() {
    let bank = Bank::open().await;
    let before = bank.everything().await;
    let away = Failures::new().on(Operation::TransactWrite, When::Always, Failure::Unavailable);
    let error = failing(&bank, away).authorise(&payment("tx-1", "30")).await.unwrap_err();
    assert_eq!((error.retry(), error.applied()), (Retry::Exhausted, Applied::No));
    assert_eq!(bank.everything().await, before);
}

#[tokio::test]
async fn unresolved_response_is_an_error_with_applied_maybe() {
    let bank = Bank::open().await;
    // The write is executed, its response is lost, and the store stays unavailable.
    let plan = || {
        once(Operation::TransactWrite, Failure::ResponseLost).on(
            Operation::TransactWrite,
            When::Always,
            Failure::Unavailable,
        )
    };
    let error = failing(&bank, plan()).authorise(&payment("tx-1", "30")).await.unwrap_err();
    assert_eq!((error.retry(), error.applied()), (Retry::Exhausted, Applied::Maybe));
    // A later call returns the outcome.
    assert!(matches!(bank.pay("tx-1", "30").await, Authorised::Already(_)));
    let error = failing(&bank, plan()).complete(&id("tx-1"), None).await.unwrap_err();
    assert_eq!((error.retry(), error.applied()), (Retry::Exhausted, Applied::Maybe));
    let again = bank.app.complete(&id("tx-1"), None).await.unwrap();
    assert!(matches!(again, Settled::Already(_)), "{again:?}");
    assert_eq!(bank.usdt().await, ("70".into(), "0".into(), 3));
}

/// The app through a store whose first calls of an operation are not executed, with an unknown
/// outcome, like requests that are still under way.
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
    losing(bank, before)
}

/// The app through a store with this hook, whose responses can be lost.
fn losing(bank: &Bank, before: CallHook) -> CryptoCards {
    let store = InterleavingStore::new(bank.store.clone()).with_hook(before);
    failing_store(bank, store, Failures::new())
}

#[tokio::test]
async fn request_that_was_not_executed_is_sent_again() {
    let bank = Bank::open().await;
    let app = unanswered(&bank, Operation::TransactWrite, 2);
    done(app.authorise(&payment("tx-1", "30")).await.unwrap());
    assert_eq!(bank.usdt().await, ("100".into(), "30".into(), 2));
}

/// Runs before the first transaction, which is not executed, and whose outcome is unknown.
fn before_unanswered<F>(
    bank: &Bank,
    change: impl Fn(CryptoCards) -> F + Send + Sync + 'static,
) -> CallHook
where
    F: Future<Output = ()> + Send + 'static,
{
    let (app, seen) = (bank.app.clone(), AtomicU32::new(0));
    Arc::new(move |call| {
        let is_first =
            call == Operation::TransactWrite && seen.fetch_add(1, Ordering::Relaxed) == 0;
        let change = is_first.then(|| change(app.clone()));
        Box::pin(async move {
            let Some(change) = change else { return Ok(()) };
            change.await;
            Err(Error::new(ErrorKind::Unavailable, "no response").with_applied(Applied::Maybe))
        })
    })
}

#[tokio::test]
async fn payment_that_may_still_be_authorised_is_not_rejected() {
    let bank = Bank::open().await;
    // The card is blocked before the request arrives. It could arrive after the card is active again.
    let blocked = before_unanswered(&bank, |app| async move {
        app.set_card_status(&id("card-1"), CardStatus::Blocked).await.unwrap().done().unwrap();
    });
    let error = losing(&bank, blocked).authorise(&payment("tx-1", "30")).await.unwrap_err();
    assert_eq!(error.applied(), Applied::Maybe);
    // A call whose own requests all have a known outcome is rejected.
    let answer = bank.app.authorise(&payment("tx-1", "30")).await.unwrap();
    assert_eq!(answer, Authorised::Rejected(Rejection::CardNotActive(CardStatus::Blocked)));
}

#[tokio::test]
async fn changed_account_makes_the_rejection_after_a_lost_response_final() {
    let bank = Bank::open().await;
    // The request requires the version that the account had before.
    let suspended = before_unanswered(&bank, |app| async move {
        let suspended = AccountStatus::Suspended;
        app.set_account_status(&id("acc-1"), suspended).await.unwrap().done().unwrap();
    });
    let answer = losing(&bank, suspended).authorise(&payment("tx-1", "30")).await.unwrap();
    let suspended = Rejection::AccountNotActive(AccountStatus::Suspended);
    assert_eq!(answer, Authorised::Rejected(suspended));
}
