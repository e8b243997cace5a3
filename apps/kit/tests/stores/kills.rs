//! Two hundred clients who reserve funds in a process that is killed, again and again: whoever goes
//! on sends the same payments, and in the end the books agree with all that anybody was told.
//!
//! `TABLA_KILLS` says how often; the long form is 50. The stores fail as well, in every way that
//! passes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tabla::entity::Db;
use tabla::env::{Random, SeededRandom, SystemRandom};
use tabla_conformance::fault::{Failures, FaultStore};
use tabla_conformance::interleave::InterleavingStore;
use tabla_crypto_cards::CryptoCardsApp;
use tabla_crypto_cards::drill::{Drill, Ledger, Told};
use tabla_kit::App;

use crate::places::{Place, server};

const CLIENTS: u64 = 200;
/// The most of each failure, as a part of all calls.
const MOST: f64 = 0.05;
/// Gives a child its part, and makes one of this test.
const CHILD: &str = "TABLA_TEST_PAYER";
/// What stands before an answer in the output of a child.
const TOLD: &str = "told ";

/// What a child does.
#[derive(Serialize, Deserialize)]
struct Part {
    place: Place,
    payments: u64,
    seed: u64,
}

/// Only a child does anything here: it has all clients pay, and tells each answer.
#[test]
fn child_that_pays() {
    let Ok(part) = std::env::var(CHILD) else { return };
    let Part { place, payments, seed } = serde_json::from_str(&part).expect("a part");
    let tell = |told: Told| {
        let line = serde_json::to_string(&told).expect("plain data");
        // One write per line, so that a line is there or not.
        let line = format!("{TOLD}{line}\n");
        std::io::stdout().lock().write_all(line.as_bytes()).expect("the parent reads");
    };
    runtime().block_on(async {
        let failures = Failures::transient(Arc::new(SeededRandom::new(seed)), MOST);
        let store = FaultStore::new(place.open().await).failures(failures);
        let db = Db::new(Arc::new(InterleavingStore::new(store)));
        let drill = Drill::new(&db, CLIENTS, payments);
        let mut clients = tokio::task::JoinSet::new();
        for number in 0..CLIENTS {
            let drill = drill.clone();
            clients.spawn(async move { drill.client(number, tell).await });
        }
        for end in clients.join_all().await {
            end.expect("everything passes");
        }
    });
}

fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime")
}

/// A child, which ends with this.
struct Process(Child);

impl Process {
    fn start(part: &Part) -> Self {
        let child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "kills::child_that_pays", "--nocapture", "--test-threads=1"])
            .env(CHILD, serde_json::to_string(part).expect("plain data"))
            .stdout(Stdio::piped())
            .spawn();
        Self(child.expect("a child"))
    }

    /// Notes what the clients are told, and kills the process when they have done so much; without
    /// a number it comes to its end. Tells whether it was killed before that.
    fn pay(mut self, mut kill_after: Option<usize>, ledger: &mut Ledger) -> bool {
        let mut done = 0;
        let lines = BufReader::new(self.0.stdout.take().expect("it is piped")).lines();
        // What was written before the kill is read to its end.
        for line in lines.map_while(Result::ok) {
            // The first answer stands behind what the child's runner has printed without a new line.
            let Some((_, told)) = line.split_once(TOLD) else { continue };
            let told: Told = serde_json::from_str(told).expect("an answer");
            // Who goes on after a kill is told much that was done before: that does not count.
            done += usize::from(told.done.is_some());
            ledger.note(told);
            if kill_after.take_if(|after| done >= *after).is_some() {
                self.0.kill().expect("it can be killed");
            }
        }
        let status = self.0.wait().expect("an end");
        let is_killed = status.code().is_none();
        assert!(is_killed || status.success(), "a client has failed: {status}");
        is_killed
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has ended already, unless a test has failed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// How a test is run.
struct Plan {
    /// So many kills in all.
    kills: usize,
    /// So many at most before everybody comes to their end, in one place.
    kills_in_a_place: usize,
    /// So much is done at most before a kill.
    done: u64,
    payments: u64,
}

impl Plan {
    fn run(mut self, place: impl Fn(usize) -> Place) {
        let asked = std::env::var("TABLA_KILLS");
        self.kills = asked.map_or(self.kills, |text| text.parse().expect("a number"));
        let runtime = runtime();
        let mut killed = 0;
        // A child may be faster than it is killed: then it was one round for nothing.
        for number in 0..2 * self.kills {
            if killed == self.kills {
                return;
            }
            let place = place(number);
            let most = self.kills_in_a_place.min(self.kills - killed);
            killed += self.run_at(&runtime, &place, number, most);
            runtime.block_on(place.clear());
        }
        assert_eq!(killed, self.kills, "most children have ended before they could be killed");
    }

    /// Kills up to so many children in one place, and lets the last one come to its end. Tells how
    /// many were killed.
    fn run_at(
        &self,
        runtime: &tokio::runtime::Runtime,
        place: &Place,
        number: usize,
        kills: usize,
    ) -> usize {
        runtime.block_on(async {
            let db = Db::new(place.open().await);
            CryptoCardsApp.create_tables(&db).await.expect("tables");
            Drill::new(&db, CLIENTS, self.payments).open().await.expect("accounts");
        });
        let mut ledger = Ledger::default();
        let mut killed = 0;
        loop {
            let seed = (number * self.kills_in_a_place + killed) as u64;
            let part = Part { place: place.clone(), payments: self.payments, seed };
            let after = 1 + SystemRandom.next_u64() % self.done;
            let kill_after = (killed < kills).then_some(after as usize);
            let is_killed = Process::start(&part).pay(kill_after, &mut ledger);
            let wrong = runtime.block_on(self.wrong(place, &ledger));
            assert_eq!(wrong, Vec::<String>::new(), "after {killed} kills, then {kill_after:?}");
            if !is_killed {
                let (authorised, rejected) = ledger.authorised_and_rejected();
                assert!(authorised > 0 && rejected > 0, "{authorised} and {rejected}");
                return killed;
            }
            killed += 1;
        }
    }

    async fn wrong(&self, place: &Place, ledger: &Ledger) -> Vec<String> {
        let db = Db::new(place.open().await);
        let audit = Drill::new(&db, CLIENTS, self.payments).audit().await.expect("an audit");
        let mut wrong = audit.wrong(ledger);
        drop(db);
        wrong.extend(place.problems().await);
        wrong
    }
}

#[test]
fn reservations_on_sqlite_survive_kills() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = Plan { kills: 3, kills_in_a_place: 3, done: 40, payments: 2 };
    plan.run(|number| Place::file(folder.path(), format!("{number}.db")));
}

#[test]
fn reservations_on_dynamodb_local_survive_kills() {
    let Some(server) = server("reservations that survive kills") else { return };
    let plan = Plan { kills: 2, kills_in_a_place: 2, done: 20, payments: 1 };
    plan.run(|_| Place::server(&server));
}
