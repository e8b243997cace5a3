//! Completion, failure and exchange.

use std::sync::Arc;
use std::time::Duration;

use tabla::entity::Outcome;
use tabla_conformance::fault::Operation;
use tabla_conformance::interleave::InterleavingStore;
use tabla_crypto_cards::*;

use crate::stage::*;

fn settled(answer: Settled) -> Transaction {
    match answer {
        Settled::Done(row) => row,
        other => panic!("not settled: {other:?}"),
    }
}

#[tokio::test]
async fn completion_debits_balance_and_reservation() {
    let bank = Bank::open().await;
    let authorised = done(bank.pay("tx-1", "30.10").await);
    done(bank.pay("tx-2", "5").await);
    bank.clock.advance(Duration::from_secs(60));
    let row = settled(bank.app.complete(&id("tx-1"), Some("FILLED")).await.unwrap());
    assert_eq!(bank.row("tx-1").await, Some(row.clone()));
    let expected = Transaction {
        status: Status::Completed,
        trade_status: Some("FILLED".to_owned()),
        completed_at: Some("2025-08-18T10:31:00Z".parse().unwrap()),
        ..authorised
    };
    assert_eq!(row, expected);
    assert_eq!(bank.usdt().await, ("69.9".into(), "5".into(), 4));
    // A second completion would debit twice, and a failure would release the debited amount.
    let before = bank.everything().await;
    let again = bank.app.complete(&id("tx-1"), None).await.unwrap();
    assert_eq!(again, Settled::Already(row.clone()));
    let failed = bank.app.fail(&id("tx-1"), None).await.unwrap();
    assert_eq!(failed, Settled::Otherwise(row));
    assert_eq!(bank.app.complete(&id("tx-9"), None).await.unwrap(), Settled::Unknown);
    assert_eq!(bank.app.fail(&id("tx-9"), None).await.unwrap(), Settled::Unknown);
    assert_eq!(bank.everything().await, before);
}

#[tokio::test]
async fn failure_releases_the_reservation_and_raises_the_version() {
    let bank = Bank::open().await;
    let authorised = done(bank.pay("tx-1", "30.10").await);
    assert_eq!(bank.usdt().await, ("100".into(), "30.1".into(), 2));
    let row = settled(bank.app.fail(&id("tx-1"), Some("REJECTED")).await.unwrap());
    let trade_status = Some("REJECTED".to_owned());
    assert_eq!(row, Transaction { status: Status::Failed, trade_status, ..authorised });
    // A version that falls would admit a writer that has read the same version before.
    assert_eq!(bank.usdt().await, ("100".into(), "0".into(), 3));
    assert_eq!(bank.card().await.spent_usdt, number("0"));
    let before = bank.everything().await;
    assert_eq!(bank.app.fail(&id("tx-1"), None).await.unwrap(), Settled::Already(row.clone()));
    assert_eq!(bank.app.complete(&id("tx-1"), None).await.unwrap(), Settled::Otherwise(row));
    assert_eq!(bank.everything().await, before);
}

#[tokio::test]
async fn failed_payment_is_subtracted_from_its_day() {
    let bank = Bank::open().await;
    done(bank.pay("tx-1", "30").await);
    bank.clock.advance(Duration::from_secs(24 * 3600));
    done(bank.pay("tx-2", "45").await);
    let row = settled(bank.app.fail(&id("tx-1"), None).await.unwrap());
    let card = bank.card().await;
    assert_eq!(
        (card.spent_usdt, card.spent_on(row.spend_day.unwrap())),
        (number("45"), number("0"))
    );
    assert_eq!(bank.usdt().await, ("100".into(), "45".into(), 4));
    settled(bank.app.fail(&id("tx-2"), None).await.unwrap());
    assert_eq!(bank.card().await.spent_usdt, number("0"));
}

#[tokio::test]
async fn failed_payment_is_subtracted_after_a_clock_was_ahead() {
    let bank = Bank::open().await;
    done(bank.pay("tx-1", "50").await);
    done(bank.on_day(365).authorise(&payment("tx-2", "45")).await.unwrap());
    settled(bank.app.fail(&id("tx-1"), None).await.unwrap());
    done(bank.pay("tx-3", "50").await);
    let card = bank.card().await;
    let spent: Vec<String> =
        card.days().iter().map(|(day, spent)| format!("{day}: {spent}")).collect();
    assert_eq!(spent, ["2025-08-18: 50", "2026-08-18: 45"]);
}

#[tokio::test]
async fn failure_keeps_the_sum_of_a_day_that_begins_concurrently() {
    let bank = Bank::open().await;
    done(bank.pay("tx-1", "30").await);
    let (app, clock) = (bank.app.clone(), bank.clock.clone());
    // The card is read before the change of the day.
    let next_day = move || {
        let (app, clock) = (app.clone(), clock.clone());
        async move {
            clock.advance(Duration::from_secs(24 * 3600));
            done(app.authorise(&payment("tx-2", "45")).await.unwrap());
        }
    };
    let store = InterleavingStore::new(bank.store.clone());
    let store = store.with_hook_at(Operation::TransactWrite, 1, next_day);
    let app = bank.through(Arc::new(store), 5);
    let row = settled(app.fail(&id("tx-1"), None).await.unwrap());
    let card = bank.card().await;
    assert_eq!(
        (card.spent_usdt, card.spent_on(row.spend_day.unwrap())),
        (number("45"), number("0"))
    );
    assert_eq!(bank.usdt().await, ("100".into(), "45".into(), 4));
}

#[tokio::test]
async fn closed_account_settles_open_payments() {
    let bank = Bank::open().await;
    done(bank.pay("tx-1", "30").await);
    done(bank.pay("tx-2", "20").await);
    let closed = AccountStatus::Closed;
    bank.app.set_account_status(&id("acc-1"), closed).await.unwrap().done().unwrap();
    // The reserved amount stays in USDT.
    let lost = bank.app.set_payment_currency(&id("acc-1"), Currency::Btc).await.unwrap();
    assert!(matches!(lost, Outcome::Lost(Some(_))));
    settled(bank.app.complete(&id("tx-1"), None).await.unwrap());
    settled(bank.app.fail(&id("tx-2"), None).await.unwrap());
    assert_eq!(bank.usdt().await, ("70".into(), "0".into(), 6));
}

#[tokio::test]
async fn wrong_books_are_reported_and_not_changed() {
    let bank = Bank::open().await;
    let row = done(bank.pay("tx-1", "30").await);
    assert_eq!(bank.app.books(&id("acc-1")).await.unwrap().unwrap().wrong(), Vec::<String>::new());
    // Another program has released a part.
    let released = Account::key(id("acc-1")).change().set(Account::RESERVED_USDT, number("29.99"));
    bank.db.update(released).await.unwrap().done().unwrap();
    let before = bank.everything().await;
    for answer in [
        bank.app.complete(&id("tx-1"), None).await.unwrap(),
        bank.app.fail(&id("tx-1"), None).await.unwrap(),
    ] {
        let account = Some(Box::new(bank.account().await));
        assert_eq!(answer, Settled::Reconcile { transaction: row.clone(), account });
    }
    assert_eq!(bank.everything().await, before);
    let books = bank.app.books(&id("acc-1")).await.unwrap().unwrap();
    assert_eq!(
        books.wrong(),
        ["29.99 Usdt are reserved, and open transactions have 30".to_owned()]
    );
    // The transaction is found by its status and age.
    let now = bank.db.now().second();
    let stuck = bank.app.stuck(Status::Authorized, now, None).await.unwrap();
    assert_eq!(stuck.items, [row]);
}

#[tokio::test]
async fn exchange_begins_once_and_counts_its_retries() {
    let bank = Bank::open().await;
    let tx = id("tx-1");
    let missing = bank.app.begin_trade(&tx, &id("trade-1"), "PENDING").await.unwrap();
    assert_eq!(missing, Outcome::Lost(None));
    let authorised = done(bank.pay("tx-1", "30").await);
    // No exchange has begun.
    let early = bank.app.retry_trade(&authorised, &id("trade-2"), "PENDING").await.unwrap();
    assert_eq!(early, Outcome::Lost(Some(authorised)));
    let begun = bank.app.begin_trade(&tx, &id("trade-1"), "PENDING").await.unwrap();
    let begun = begun.done().unwrap();
    assert_eq!((begun.status, &begun.trade_id), (Status::Trading, &Some(id("trade-1"))));
    let second = bank.app.begin_trade(&tx, &id("trade-9"), "PENDING").await.unwrap();
    assert_eq!(second, Outcome::Lost(Some(begun.clone())));
    let again = bank.app.retry_trade(&begun, &id("trade-2"), "PENDING").await.unwrap();
    let again = again.done().unwrap();
    assert_eq!((again.retry_count, &again.trade_id), (1, &Some(id("trade-2"))));
    // A retry of an outdated transaction fails.
    let stale = bank.app.retry_trade(&begun, &id("trade-3"), "PENDING").await.unwrap();
    assert_eq!(stale, Outcome::Lost(Some(again.clone())));
    // An exchange does not change the account.
    assert_eq!(bank.usdt().await, ("100".into(), "30".into(), 2));
    let row = settled(bank.app.complete(&tx, Some("FILLED")).await.unwrap());
    assert_eq!((row.retry_count, row.status), (1, Status::Completed));
    let late = bank.app.retry_trade(&again, &id("trade-4"), "PENDING").await.unwrap();
    assert_eq!(late, Outcome::Lost(Some(row)));
}
