//! Two hundred clients at once, on a store that fails, with clients that die.

use std::collections::BTreeSet;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use futures::future::join_all;
use tabla::env::{Random, SeededRandom};
use tabla::{Number, Store};
use tabla_conformance::fault::{Failure, Failures, Fault, FaultStore, Operation, When};
use tabla_crypto_cards::*;

use crate::between::Between;
use crate::stage::*;

const CLIENTS: u64 = 200;
/// What each client pays for; each id is paid for by two clients.
const PAYMENTS: u64 = 2;
const ACCOUNTS: u64 = 4;
/// So often is a lost race tried again: nobody gives up.
const ATTEMPTS: u32 = 100_000;

/// Four accounts, each with a card; their funds and the cards' days are enough for some payments.
async fn open() -> Bank {
    let bank = Bank::open().await;
    for number in 0..ACCOUNTS {
        let (account, card) = (format!("raced-{number}"), format!("raced-card-{number}"));
        let mut new = new_account(&account);
        // Some run out of funds, the others of their day.
        new.usdt = if number % 2 == 0 { "50.5" } else { "1000" }.parse().unwrap();
        bank.app.open_account(new).await.unwrap().done().unwrap();
        let mut new = new_card(&card, &account);
        new.daily_limit_usdt = if number % 2 == 0 { "5000" } else { "60.5" }.parse().unwrap();
        let _ = bank.app.issue_card(new).await.unwrap();
    }
    bank
}

/// A payment of a client: another client sends the same, at the same time.
fn paid(client: u64, index: u64) -> Authorisation {
    let number = (client % (CLIENTS / 2)) * PAYMENTS + index;
    let usdt = format!("{}.{:02}", 1 + number % 3, number % 100);
    let card = id(&format!("raced-card-{}", number % ACCOUNTS));
    Authorisation { card_id: card, ..payment(&format!("race-{number:04}"), &usdt) }
}

/// Fails in every way that passes, or leaves the outcome open.
fn failures(seed: u64) -> Failures {
    Failures::new()
        .random(Arc::new(SeededRandom::new(seed)))
        .on(Operation::TransactWrite, When::Chance(0.1), Failure::AnswerLost)
        .on(Operation::Update, When::Chance(0.1), Failure::AnswerLost)
        .everywhere(When::Chance(0.05), Failure::Throttled)
        .everywhere(When::Chance(0.05), Failure::Unavailable)
        .everywhere(When::Chance(0.05), Failure::Conflict)
}

/// What a client has been told.
#[derive(Clone, Debug, Default)]
struct Told {
    done: Vec<String>,
    already: Vec<String>,
    rejected: Vec<String>,
}

/// Pays, then completes or fails what it has paid, or leaves it open.
async fn client(app: CryptoCards, number: u64, random: Arc<SeededRandom>) -> Told {
    let mut told = Told::default();
    for index in 0..PAYMENTS {
        let request = paid(number, index);
        let name = request.transaction_id.to_string();
        match app.authorise(&request).await.unwrap() {
            Authorised::Done(_) => told.done.push(name),
            Authorised::Already(_) => told.already.push(name),
            Authorised::Rejected(Rejection::InsufficientFunds(_) | Rejection::DailyLimit(_)) => {
                told.rejected.push(name);
                continue;
            }
            other => panic!("{other:?}"),
        }
        let id = &request.transaction_id;
        let trade = tabla::entity::Id::new(format!("trade-{number}")).unwrap();
        match random.next_u64() % 5 {
            0 => drop(app.begin_trade(id, &trade, "PENDING").await.unwrap()),
            1 | 2 => ended(app.complete(id, Some("FILLED")).await.unwrap()),
            3 => ended(app.fail(id, Some("REJECTED")).await.unwrap()),
            _ => {}
        }
    }
    told
}

fn ended(settled: Settled) {
    let is_ended =
        matches!(settled, Settled::Done(_) | Settled::Already(_) | Settled::Otherwise(_));
    assert!(is_ended, "{settled:?}");
}

fn sum(numbers: impl IntoIterator<Item = Number>) -> Number {
    numbers.into_iter().fold(Number::ZERO, |sum, number| sum.checked_add(number).unwrap())
}

/// What is wrong with the data.
async fn audit(bank: &Bank) -> Vec<String> {
    let mut wrong = Vec::new();
    for number in 0..ACCOUNTS {
        let account = id(&format!("raced-{number}"));
        let books = bank.app.books(&account).await.unwrap().unwrap();
        let rows = bank.db.all(transactions(&account)).await.unwrap();
        wrong.extend(books.wrong());
        let deposit: Number = if number % 2 == 0 { "50.5" } else { "1000" }.parse().unwrap();
        if books.total(Currency::Usdt).unwrap() != deposit {
            wrong.push(format!("{account}: money has come or gone"));
        }
        // Opened once; written once by each authorisation, and once by each end.
        let ends = rows.iter().filter(|row| !row.status.is_open()).count();
        if books.account.version != (1 + rows.len() + ends) as u64 {
            wrong.push(format!("{account}: something was done twice, or not at all"));
        }
        let card = bank.app.card(&id(&format!("raced-card-{number}"))).await.unwrap().unwrap();
        let counted = rows.iter().filter(|row| row.status != Status::Failed);
        if card.spent_usdt != sum(counted.map(|row| row.amount_usdt)) {
            wrong.push(format!("{account}: the card's day is not the sum of its payments"));
        }
        if card.spent_usdt > card.daily_limit_usdt {
            wrong.push(format!("{account}: the card's day has more than its limit"));
        }
    }
    wrong
}

/// Polls a future at most this often, then drops it, as a process that is killed does.
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

/// Everybody at once through this store; `lives` says how many steps each client lives.
async fn race(
    bank: &Bank,
    store: impl Store + 'static,
    seed: u64,
    lives: impl Fn(&SeededRandom) -> u64,
) -> Vec<Told> {
    let random = Arc::new(SeededRandom::new(seed));
    let app = bank.through(Arc::new(Between::turns(Arc::new(store))), ATTEMPTS);
    let clients = (0..CLIENTS).map(|number| {
        let client = client(app.clone(), number, Arc::clone(&random));
        tokio::spawn(killed_after(lives(&random), client))
    });
    let told = join_all(clients.collect::<Vec<_>>()).await;
    told.into_iter().filter_map(|told| told.unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_hundred_clients_on_a_store_that_fails() {
    for seed in 1..=4 {
        let bank = open().await;
        let store = FaultStore::new(bank.store.clone()).failures(failures(seed));
        let told = race(&bank, store, seed, |_| u64::MAX).await;
        assert_eq!(told.len() as u64, CLIENTS);
        assert_eq!(audit(&bank).await, Vec::<String>::new(), "seed {seed}");
        // Nobody has authorised what another has.
        let done: Vec<&String> = told.iter().flat_map(|told| &told.done).collect();
        let once: BTreeSet<&String> = done.iter().copied().collect();
        assert_eq!(done.len(), once.len());
        // What was said is so, and both answers were given.
        for name in told.iter().flat_map(|told| told.done.iter().chain(&told.already)) {
            assert!(bank.row(name).await.is_some(), "{name} was said to be authorised");
        }
        let rejected = told.iter().map(|told| told.rejected.len()).sum::<usize>();
        assert!(!done.is_empty() && rejected > 0, "{} and {rejected}", done.len());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn clients_that_die_leave_nothing_half_done() {
    for seed in 11..=14 {
        let bank = open().await;
        let store = FaultStore::new(bank.store.clone()).failures(failures(seed));
        let told = race(&bank, store, seed, |random| random.next_u64() % 120).await;
        assert!((told.len() as u64) < CLIENTS, "some were killed");
        assert_eq!(audit(&bank).await, Vec::<String>::new(), "seed {seed}");
        // The provider sends everything again, and what is open is settled.
        let again = race(&bank, bank.store.clone(), seed, |_| u64::MAX).await;
        assert_eq!(again.len() as u64, CLIENTS);
        for status in Status::OPEN {
            for row in bank.db.all(transactions_in(status)).await.unwrap() {
                let settled = bank.app.complete(&row.transaction_id, None).await.unwrap();
                assert!(matches!(settled, Settled::Done(_)), "{settled:?}");
            }
        }
        assert_eq!(audit(&bank).await, Vec::<String>::new(), "seed {seed}");
        for number in 0..ACCOUNTS {
            let account = bank.app.account(&id(&format!("raced-{number}"))).await.unwrap();
            assert!(account.unwrap().reserved_usdt.is_zero());
        }
    }
}

/// Ten settle the same payment at the same moment: all have read that it is open.
async fn settled_by_ten(bank: &Bank, store: impl Store + 'static) -> Vec<Settled> {
    // Others are open, so that the account alone would not notice.
    for number in 0..4 {
        done(bank.app.authorise(&paid(number * 2, 0)).await.unwrap());
    }
    let app = bank.through(Arc::new(Between::turns(Arc::new(store))), 5);
    let name = paid(0, 0).transaction_id;
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
async fn a_payment_is_settled_once() {
    let bank = open().await;
    let answers = settled_by_ten(&bank, bank.store.clone()).await;
    let winners = answers.iter().filter(|answer| matches!(answer, Settled::Done(_)));
    assert_eq!(winners.count(), 1, "{answers:?}");
    answers.into_iter().for_each(ended);
    assert_eq!(audit(&bank).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_store_that_is_wrong_does_not_pass_the_audit() {
    let bank = open().await;
    let store = FaultStore::new(bank.store.clone()).fault(Fault::HalfTransaction);
    settled_by_ten(&bank, store).await;
    assert_ne!(audit(&bank).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_account_is_reserved_to_the_last_unit() {
    let bank = Bank::open().await;
    bank.app.set_daily_limit(&id("card-1"), number("1000")).await.unwrap().done().unwrap();
    let plan = failures(31);
    let store = FaultStore::new(bank.store.clone()).failures(plan);
    let app = bank.through(Arc::new(Between::turns(Arc::new(store))), ATTEMPTS);
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
