//! Every operation of all apps through `tabla::open("dynamodb://…")`, over a server and a network that
//! fail.
//!
//! The server is on a socket, over a store that throttles, is unavailable, reports transaction
//! conflicts, leaves batch items unprocessed and loses answers after the commit. Between client and
//! server is a proxy that cuts connections. Each operation runs on a reference store first, which
//! records the state after every write, and then through the server: once without failures, once with
//! each kind of failure at each of its calls (a few of a long series of pages), and once with failures at
//! random.
//!
//! An operation that succeeds must give the answer of the reference and leave its last state. One that
//! fails must say [`Applied::Maybe`], and leave exactly the state before it or after it. The few
//! operations that are several independent writes are listed with the reason in [`operations`].

mod batches;
mod behind;
mod connections;
mod operations;
mod proxy;
mod state;

use std::sync::Arc;

use tabla::entity::Db;
use tabla::env::{Env, ManualClock, SeededRandom, Timestamp};
use tabla::{Applied, MemoryStore, RetryPolicy, Store};
use tabla_conformance::fault::{Failure, Failures, When};
use tabla_kit::App;

use self::behind::{Behind, Counts, Watched};
use self::operations::Operation;
use self::proxy::{Cut, Proxy};
use self::state::{Definitions, State, Tracked, differences, state_of};

/// Probability of each kind of failure at each call, in the runs with random failures.
const CHANCE: f64 = 0.08;

/// Kinds of failures of the store, and the methods that have them; none listed are all.
const FAILURES: [(Failure, &[&str]); 5] = [
    (Failure::Throttled, &[]),
    (Failure::Unavailable, &[]),
    (Failure::ResponseLost, &[]),
    (Failure::Conflict, &["put", "update", "delete", "transact_get", "transact_write"]),
    (Failure::Unprocessed(1), &["batch_get", "batch_write"]),
];

/// The longest series of pages that fails at each of them.
const PAGES: usize = 12;

/// Ways to cut the connection of any request.
const CUTS: [Cut; 3] = [Cut::RequestLost, Cut::ResponseLost, Cut::AnswerTruncated];

/// Seed of the random numbers while data is filled in.
const SEEDING: u64 = 5;
/// Seed of the random numbers of the first operation, counted up for the others: no id repeats.
const RUNNING: u64 = 7;

/// Noon of a day, at which the clock of the apps stands still: so the same operation writes the same
/// item on both stores.
fn still(seed: u64) -> Env {
    Env::test(ManualClock::new(Timestamp::from_secs(1_786_190_400)), seed)
}

fn tracked() -> Arc<Tracked> {
    let store = MemoryStore::with_env(still(SEEDING)).with_sweep_every(None);
    Arc::new(Tracked::new(Arc::new(store)))
}

/// Entities on a store, with ids drawn from the sequence of this seed. Optimistic retries draw and wait
/// elsewhere, since the reference makes none.
fn entities(store: Arc<dyn Store>, seed: u64) -> Db {
    let elsewhere = Env::test(ManualClock::new(Timestamp::from_secs(1)), 6);
    Db::with_env(store, still(seed)).with_retries(RetryPolicy::contended(elsewhere))
}

/// A server over a failing store, the proxy before it, and the store opened at the proxy's address.
struct Line {
    behind: Arc<Behind>,
    server: tabla::server::Server,
    proxy: Proxy,
    store: Arc<Watched>,
}

impl Line {
    /// `options` stand in the address after the port.
    async fn open(store: Arc<Tracked>, options: &str) -> Self {
        let behind = Arc::new(Behind::new(store));
        let served = Arc::clone(&behind) as Arc<dyn Store>;
        let server = tabla::server::spawn(served).await.expect("a server");
        let proxy = Proxy::start(server.address()).await.expect("a proxy");
        let address = format!("dynamodb://{}{options}", proxy.address());
        let store = Arc::new(Watched::new(tabla::open(&address).await.expect("a store")));
        Self { behind, server, proxy, store }
    }
}

/// What the reference says of an operation.
struct Expected {
    answer: String,
    /// The state before, and after each write.
    states: Vec<Arc<State>>,
}

impl Expected {
    fn before(&self) -> &Arc<State> {
        &self.states[0]
    }

    fn after(&self) -> &Arc<State> {
        &self.states[self.states.len() - 1]
    }
}

/// The check of one app.
struct Check {
    line: Line,
    definitions: Definitions,
    succeeded: u32,
    uncertain: u32,
    /// What is wrong.
    wrong: Vec<String>,
}

/// What goes wrong in one run.
#[derive(Default)]
struct Trouble {
    failures: Failures,
    /// The number of the request that is cut, and how.
    cut: Option<(usize, Cut)>,
}

impl Check {
    /// Runs an operation from the state before it, and checks what it leaves. Returns the methods of the
    /// failing store that it called.
    async fn run(
        &mut self,
        operation: &Operation,
        expected: &Expected,
        seed: u64,
        trouble: Trouble,
        what: &str,
    ) -> Vec<&'static str> {
        self.restore(expected.before()).await;
        let (outcome, calls) = self.call(operation, seed, trouble).await;
        let mut wrong = self.line.store.leaks();
        match outcome {
            Ok(answer) => {
                self.succeeded += 1;
                if answer != expected.answer {
                    wrong.push(format!("answered {answer}, not {}", expected.answer));
                }
                wrong.extend(self.unless_in(&[expected.after()]));
            }
            Err(error) => {
                self.uncertain += 1;
                if error.applied() != Applied::Maybe {
                    wrong.push(format!("failed without a doubt: {error:?}"));
                }
                let possible: Vec<&Arc<State>> = match operation.several_writes {
                    None => vec![expected.before(), expected.after()],
                    Some(_) => expected.states.iter().collect(),
                };
                wrong.extend(self.unless_in(&possible));
                if operation.several_writes.is_some() {
                    // What was begun is finished by calling it again.
                    let (again, _) = self.call(operation, seed, Trouble::default()).await;
                    wrong.extend(again.err().map(|error| format!("failed again: {error}")));
                    wrong.extend(self.unless_in(&[expected.after()]));
                }
            }
        }
        let name = &operation.name;
        self.wrong.extend(wrong.into_iter().map(|wrong| format!("{name}, {what}: {wrong}")));
        calls
    }

    async fn call(
        &self,
        operation: &Operation,
        seed: u64,
        trouble: Trouble,
    ) -> (tabla::Result<String>, Vec<&'static str>) {
        self.line.behind.begin(trouble.failures);
        self.line.proxy.begin(trouble.cut);
        let store = Arc::clone(&self.line.store) as Arc<dyn Store>;
        let outcome = operation.run(entities(store, seed)).await;
        self.line.proxy.begin(None);
        (outcome, self.line.behind.end())
    }

    async fn restore(&self, wanted: &Arc<State>) {
        self.line.behind.store.restore(wanted, &self.definitions).await;
    }

    /// What is wrong if the present state is none of these.
    fn unless_in(&self, possible: &[&Arc<State>]) -> Option<String> {
        let present = self.line.behind.store.state();
        if possible.contains(&&present) {
            return None;
        }
        let last = possible[possible.len() - 1];
        let (more, less) = (differences(&present, last), differences(last, &present));
        Some(format!("left a wrong state: there is {more:#?} instead of {less:#?}"))
    }
}

/// The calls of an operation, by number, at which failures are tried: all of them, but of a long series
/// of pages a few.
fn tried(calls: &[&'static str]) -> Vec<(usize, &'static str)> {
    let step = if calls.len() > PAGES { calls.len() / PAGES * 3 } else { 1 };
    let is_page = |method: &str| matches!(method, "query" | "scan");
    let calls = (1..).zip(calls.iter().copied());
    calls.filter(|(number, method)| number % step == 0 || !is_page(method)).collect()
}

/// Runs every operation of an app with every failure at every call.
async fn check(app: &Arc<dyn App>, options: &str) -> Check {
    let (reference, behind) = (tracked(), tracked());
    for store in [&reference, &behind] {
        let db = entities(store.clone(), SEEDING);
        app.create_tables(&db).await.expect("tables");
        app.seed(&db, 1, &|_, _| {}).await.expect("data");
    }
    assert_eq!(behind.state(), reference.state(), "the same data on both stores");
    let line = Line::open(behind, options).await;
    let definitions = reference.definitions();
    let (succeeded, uncertain, wrong) = (0, 0, Vec::new());
    let mut check = Check { line, definitions, succeeded, uncertain, wrong };
    for (number, operation) in operations::of(app).iter().enumerate() {
        let seed = RUNNING + number as u64;
        reference.begin();
        let right = operation.run(entities(reference.clone(), seed)).await;
        let answer = right.unwrap_or_else(|error| panic!("{}: {error}", operation.name));
        let expected = Expected { answer, states: reference.end() };
        assert!(
            expected.states.len() <= 2 || operation.several_writes.is_some(),
            "{} is several writes, for no reason that is listed",
            operation.name
        );
        check.definitions = reference.definitions();
        let nothing = Trouble::default();
        let calls = check.run(operation, &expected, seed, nothing, "without failures").await;
        for (call, method) in tried(&calls) {
            for (failure, methods) in FAILURES {
                if methods.is_empty() || methods.contains(&method) {
                    let failures = Failures::new().on_any(When::Call(call), failure);
                    let what = format!("{failure:?} at call {call}, {method}");
                    let trouble = Trouble { failures, cut: None };
                    check.run(operation, &expected, seed, trouble, &what).await;
                }
            }
            for cut in CUTS {
                let what = format!("{} at request {call}, {method}", cut.name());
                let trouble = Trouble { cut: Some((call, cut)), ..Trouble::default() };
                check.run(operation, &expected, seed, trouble, &what).await;
            }
        }
        let mut failures = Failures::new().random(Arc::new(SeededRandom::new(seed)));
        for (failure, _) in FAILURES {
            failures = failures.on_any(When::Chance(CHANCE), failure);
        }
        let trouble = Trouble { failures, cut: None };
        check.run(operation, &expected, seed, trouble, "random failures").await;
        check.restore(expected.after()).await;
    }
    // What is tracked is what the stores hold.
    for store in [&reference, &check.line.behind.store] {
        let (stored, right) = (state_of(&store.store).await, reference.state());
        assert_eq!(differences(&stored, &right), differences(&right, &stored));
    }
    check
}

/// Checks an app with retries; `also` are kinds of failures that not every app meets.
async fn passes(app: Arc<dyn App>, also: &[&str]) {
    let Check { line, succeeded, uncertain, wrong, .. } = check(&app, "").await;
    assert_eq!(wrong, Vec::<String>::new());
    assert!(succeeded > uncertain && uncertain > 0, "{succeeded} and {uncertain}");
    let kinds = ["throttled", "unavailable", "answer lost", "conflict"];
    expect_each(&line.behind.injected(), &kinds);
    expect_each(&line.behind.injected(), also);
    expect_each(&line.proxy.done(), &CUTS.map(Cut::name));
    println!(
        "{}: {succeeded} succeeded, {uncertain} uncertain; {:?}; cuts: {:?}",
        app.design().name,
        line.behind.injected(),
        line.proxy.done()
    );
    line.server.shutdown().await;
}

fn expect_each(counts: &Counts, kinds: &[&str]) {
    for kind in kinds {
        assert!(counts.get(kind).is_some_and(|count| *count > 0), "never {kind}: {counts:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn gamificacion_happens_once_over_a_failing_server() {
    passes(Arc::new(tabla_gamificacion::GamificacionApp), &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rk_pai_happens_once_over_a_failing_server() {
    passes(Arc::new(tabla_rk_pai::RkPaiApp::default()), &["unprocessed"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn branding_happens_once_over_a_failing_server() {
    passes(Arc::new(tabla_branding::BrandingApp), &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn esencia_fest_happens_once_over_a_failing_server() {
    passes(Arc::new(tabla_esencia_fest::EsenciaFestApp), &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn crypto_cards_happens_once_over_a_failing_server() {
    passes(Arc::new(tabla_crypto_cards::CryptoCardsApp), &[]).await;
}

/// The check notices a store that does not retry, and each kind of failure by itself.
#[tokio::test(flavor = "multi_thread")]
async fn store_without_retries_does_not_pass() {
    let check =
        check(&(Arc::new(tabla_branding::BrandingApp) as Arc<dyn App>), "?retries=off").await;
    for kind in ["throttled", "conflict", "unavailable", "answer lost"] {
        let leak = format!(": {kind}: ");
        assert!(check.wrong.iter().any(|wrong| wrong.contains(&leak)), "{kind}: {:?}", check.wrong);
    }
    assert!(check.wrong.iter().any(|wrong| wrong.contains("failed without a doubt")));
    check.line.server.shutdown().await;
}
