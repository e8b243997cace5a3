//! Drills of 200 concurrent clients, on a store that fails, with clients that are killed. The tests of
//! `apps/kit` run the drill on the other stores, and kill processes.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use futures::future::join_all;
use tabla::Store;
use tabla::env::{Random, SeededRandom};
use tabla_conformance::fault::{Failures, Fault, FaultStore};
use tabla_conformance::interleave::InterleavingStore;
use tabla_crypto_cards::drill::{Drill, Ledger};
use tabla_crypto_cards::*;

use crate::stage::*;

const CLIENTS: u64 = 200;
/// Payments of each client. Two clients send each payment.
const PAYMENTS: u64 = 2;
/// Attempts of each operation: enough that no client gives up.
const ATTEMPTS: u32 = 100_000;

/// A bank, and the drill on its store.
async fn open() -> (Bank, Drill) {
    let bank = Bank::in_memory().await;
    let drill = Drill::new(&bank.db, CLIENTS, PAYMENTS);
    drill.open().await.unwrap();
    (bank, drill)
}

/// The drill through another store, which yields between its calls.
fn through(bank: &Bank, store: impl Store + 'static) -> Drill {
    Drill::new(&bank.db.on(Arc::new(InterleavingStore::new(store))), CLIENTS, PAYMENTS)
}

/// Transient failures, lost responses included.
fn failures(seed: u64) -> Failures {
    Failures::transient(Arc::new(SeededRandom::new(seed)), 0.1)
}

/// Polls a future at most this number of times, then drops it, like a killed process.
async fn killed_after<F: Future>(polls: u64, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut left = polls;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        future.as_mut().poll(context).map(Some)
    })
    .await
}

/// Runs all clients concurrently; `lives` is the number of polls of a client. Returns the number of
/// clients that finished.
async fn race(drill: &Drill, ledger: &Arc<Mutex<Ledger>>, lives: impl Fn() -> u64) -> usize {
    let clients = (0..CLIENTS).map(|number| {
        let (drill, ledger) = (drill.clone(), Arc::clone(ledger));
        let client = async move {
            drill.client(number, |response| ledger.lock().unwrap().note(response)).await
        };
        tokio::spawn(killed_after(lives(), client))
    });
    let ends = join_all(clients.collect::<Vec<_>>()).await;
    let ends = ends.into_iter().filter_map(|end| end.unwrap());
    ends.map(|end| end.expect("everything passes")).count()
}

/// Faults of the data and of the responses.
async fn wrong(drill: &Drill, ledger: &Mutex<Ledger>) -> Vec<String> {
    let audit = drill.audit().await.unwrap();
    audit.wrong(&ledger.lock().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn drill_on_a_failing_store_passes_the_audit() {
    for seed in 1..=4 {
        let (bank, drill) = open().await;
        let ledger = Arc::default();
        let store = FaultStore::new(bank.store.clone()).failures(failures(seed));
        assert_eq!(race(&through(&bank, store), &ledger, || u64::MAX).await, CLIENTS as usize);
        assert_eq!(wrong(&drill, &ledger).await, Vec::<String>::new(), "seed {seed}");
        let (authorised, rejected) = ledger.lock().unwrap().authorised_and_rejected();
        assert!(authorised > 0 && rejected > 0, "{authorised} and {rejected}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn drill_with_killed_clients_passes_the_audit() {
    for seed in 11..=14 {
        let (bank, drill) = open().await;
        let ledger = Arc::default();
        let random = SeededRandom::new(seed);
        let store = FaultStore::new(bank.store.clone()).failures(failures(seed));
        let ended = race(&through(&bank, store), &ledger, || random.next_u64() % 120).await;
        assert!(ended < CLIENTS as usize, "no client was killed");
        assert_eq!(wrong(&drill, &ledger).await, Vec::<String>::new(), "seed {seed}");
        // The provider sends all payments again, and the open ones are settled.
        let again = through(&bank, bank.store.clone());
        assert_eq!(race(&again, &ledger, || u64::MAX).await, CLIENTS as usize);
        drill.complete_all().await.unwrap();
        assert_eq!(wrong(&drill, &ledger).await, Vec::<String>::new(), "seed {seed}");
        assert!(drill.audit().await.unwrap().reserved().unwrap().is_zero());
    }
}

/// Ten callers settle one payment concurrently, after all have read it as open.
async fn settled_by_ten(bank: &Bank, drill: &Drill, store: impl Store + 'static) -> Vec<Settled> {
    // Other payments of the account are open, so that its reservation is enough for a second
    // settlement.
    for number in [0, 4, 8, 12] {
        done(bank.app.authorise(&drill.payment(number).unwrap()).await.unwrap());
    }
    let app = bank.through(Arc::new(InterleavingStore::new(store)), 5);
    let name = drill.payment(0).unwrap().transaction_id;
    let settle = |number: u64| {
        let (app, name) = (app.clone(), name.clone());
        async move {
            match number % 2 {
                0 => app.complete(&name, None).await.unwrap(),
                _ => app.fail(&name, None).await.unwrap(),
            }
        }
    };
    join_all((0..10).map(settle)).await
}

#[tokio::test]
async fn payment_is_settled_once() {
    let (bank, drill) = open().await;
    let answers = settled_by_ten(&bank, &drill, bank.store.clone()).await;
    let winners = answers.iter().filter(|answer| matches!(answer, Settled::Done(_)));
    assert_eq!(winners.count(), 1, "{answers:?}");
    let is_ended = |answer: &Settled| {
        matches!(answer, Settled::Done(_) | Settled::Already(_) | Settled::Otherwise(_))
    };
    assert!(answers.iter().all(is_ended), "{answers:?}");
    assert_eq!(wrong(&drill, &Mutex::default()).await, Vec::<String>::new());
}

#[tokio::test]
async fn faulty_store_fails_the_audit() {
    for fault in [Fault::HalfTransaction, Fault::TransactionUnconditional] {
        let (bank, drill) = open().await;
        let store = FaultStore::new(bank.store.clone()).fault(fault);
        settled_by_ten(&bank, &drill, store).await;
        assert_ne!(wrong(&drill, &Mutex::default()).await, Vec::<String>::new(), "{fault}");
    }
}

/// Without the condition on the version that was read, accounts have more reserved than their
/// balance, and payments are authorised twice.
#[tokio::test]
async fn drill_without_conditions_fails_the_audit() {
    let (bank, drill) = open().await;
    let ledger = Arc::default();
    let store = FaultStore::new(bank.store.clone()).fault(Fault::TransactionUnconditional);
    race(&through(&bank, store), &ledger, || u64::MAX).await;
    let wrong = wrong(&drill, &ledger).await;
    for what in ["are reserved", "applied twice", "more than its limit", "became Authorized twice"]
    {
        assert!(wrong.iter().any(|found| found.contains(what)), "{what} is not in {wrong:#?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_payments_reserve_the_whole_balance() {
    let bank = Bank::in_memory().await;
    bank.app.set_daily_limit(&id("card-1"), number("1000")).await.unwrap().done().unwrap();
    let store = FaultStore::new(bank.store.clone()).failures(failures(31));
    let app = bank.through(Arc::new(InterleavingStore::new(store)), ATTEMPTS);
    let clients = (0..CLIENTS).map(|number| {
        let app = app.clone();
        tokio::spawn(async move {
            app.authorise(&payment(&format!("tx-{number}"), "0.8")).await.unwrap()
        })
    });
    let answers = join_all(clients.collect::<Vec<_>>()).await;
    let paid = answers.iter().filter(|answer| answer.as_ref().unwrap().transaction().is_some());
    assert_eq!(paid.count(), 125, "100 USDT are enough for 125 payments");
    assert_eq!(bank.usdt().await, ("100".into(), "100".into(), 126));
    let books = bank.app.books(&id("acc-1")).await.unwrap().unwrap();
    assert_eq!(books.wrong(), Vec::<String>::new());
    assert_eq!(bank.card().await.spent_usdt, number("100"));
}
