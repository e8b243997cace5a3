//! Comparison of the server with DynamoDB Local: the same requests, valid and invalid, have the
//! same responses.
//!
//! Requests are generated from valid ones along the shapes of their operations: with one change,
//! and with two. `TABLA_REQUESTS` is the number of requests (default: 6500), and `TABLA_SEED`
//! selects the pairs of changes (default: 1).

mod change;
mod known;
mod requests;
mod same;
mod scene;
// The crate's own shapes are compiled into the test, which generates requests from them.
#[allow(dead_code, unused_imports)]
#[path = "../../src"]
mod src {
    pub(crate) mod shape;
}
mod wire;

/// The path under which the shapes import the operations.
mod operation {
    pub(crate) use tabla_server::Operation;
}

use std::sync::Arc;

use serde_json::Value as Json;
use tabla_core::MemoryStore;
use tabla_core::env::{Random, SystemRandom};

use self::change::{Change, changes};
use self::known::{Known, broken_members, known};
use self::operation::Operation;
use self::same::{Difference, differences, outcome};
use self::scene::Side;
use self::src::shape;
use self::wire::Client;

/// Default number of requests.
const REQUESTS: usize = 6500;
/// Default seed of the pairs of changes.
const SEED: u64 = 1;
/// Limit on the unknown differences that a failure shows.
const SHOWN: usize = 40;

#[test]
fn server_and_dynamodb_local_return_the_same_responses() {
    if tabla_testkit::dynamodb::is_excluded() {
        println!("skipped on request: comparison with DynamoDB Local");
        return;
    }
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| {
            text.parse().unwrap_or_else(|_| panic!("{name} must be a number, not `{text}`"))
        })
    };
    let requests = number("TABLA_REQUESTS", REQUESTS as u64) as usize;
    let seed = number("TABLA_SEED", SEED);
    let local = tabla_testkit::dynamodb::endpoint().expect("DynamoDB Local starts");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("the runtime starts");
    let server = runtime.block_on(tabla_server::spawn(Arc::new(MemoryStore::new())));
    let server = server.expect("the server starts");
    let key = format!("side{:08x}", SystemRandom.next_u64() as u32);
    let mut comparison = Comparison {
        ours: Side::new(Client::new(&server.url(), &key)),
        theirs: Side::new(Client::new(local.url(), &key)),
        known: known().into_iter().map(|known| (known, 0)).collect(),
        sent: 0,
        other_error_first: 0,
        found: Vec::new(),
    };
    comparison.run(requests, seed);
    runtime.block_on(server.shutdown());
    comparison.report(requests >= REQUESTS && seed == SEED);
}

/// Two servers, and the differences between them.
struct Comparison {
    ours: Side,
    theirs: Side,
    /// Known differences, with their number.
    known: Vec<(Known, usize)>,
    sent: usize,
    /// Number of requests with two errors of which each server reported another one.
    other_error_first: usize,
    /// Unknown differences.
    found: Vec<String>,
}

/// Valid request, with its possible changes.
struct Base {
    operation: Operation,
    request: Json,
    changes: Vec<Change>,
}

/// Outcomes of a request on both servers.
#[derive(Clone)]
struct Outcomes {
    ours: String,
    theirs: String,
}

impl Comparison {
    fn run(&mut self, requests: usize, seed: u64) {
        let bases: Vec<Base> = requests::valid()
            .into_iter()
            .map(|(operation, request)| {
                let changes = changes(shape::input(operation), &request);
                Base { operation, request, changes }
            })
            .collect();
        let mut choices = Choices(seed);
        let singles: usize = bases.iter().map(|base| base.changes.len() + 1).sum();
        let pairs = requests.saturating_sub(singles).div_ceil(bases.len());
        for base in &bases {
            let valid = self.send(base.operation, &base.request.to_string(), &[]);
            assert!(valid.ours == "200" && valid.theirs == "200", "{}", base.request);
            for raw in requests::raw() {
                self.send(base.operation, &raw, &[]);
            }
            let alone: Vec<Option<Outcomes>> = base
                .changes
                .iter()
                .map(|change| {
                    let request = change.apply(&base.request)?;
                    Some(self.send(base.operation, &request.to_string(), &[]))
                })
                .collect();
            for _ in 0..pairs {
                self.send_pair(base, &alone, &mut choices);
            }
        }
    }

    /// Sends a request with two changes; `alone` has the outcomes of each change alone.
    fn send_pair(&mut self, base: &Base, alone: &[Option<Outcomes>], choices: &mut Choices) {
        let [one, other] = [0; 2].map(|_| choices.below(base.changes.len()));
        let (first, second) = (&base.changes[one], &base.changes[other]);
        let request = first.apply(&base.request).and_then(|request| second.apply(&request));
        let (Some(request), Some(one), Some(other)) = (request, &alone[one], &alone[other]) else {
            return;
        };
        if first.is_apart_from(second) {
            self.send(base.operation, &request.to_string(), &[one.clone(), other.clone()]);
        }
    }

    /// Sends a request to both servers; `alone` has the outcomes of each of its changes alone.
    fn send(&mut self, operation: Operation, body: &str, alone: &[Outcomes]) -> Outcomes {
        self.sent += 1;
        let ours = self.ours.ask(operation, body);
        let theirs = self.theirs.ask(operation, body);
        let differences = differences(&ours, &theirs);
        // DynamoDB Local may execute a request partly before it refuses it.
        if ours.status != 400 || theirs.status != 400 || !differences.is_empty() {
            self.ours.put_back(operation);
            self.theirs.put_back(operation);
        }
        if ours.is_success()
            && let Err(error) = shape::validate(operation, self.ours.filled(body).as_bytes())
        {
            self.found.push(format!("{operation:?} {body}\n  executed, although {error}"));
        }
        for difference in differences {
            let known =
                self.known.iter_mut().find(|(known, _)| known.covers(operation, &difference));
            match known {
                Some((_, count)) => *count += 1,
                None if other_error_first(&difference, alone) => self.other_error_first += 1,
                None => {
                    let body: String = body.chars().take(2000).collect();
                    self.found.push(format!("{operation:?} {body}\n  {difference}"));
                }
            }
        }
        Outcomes { ours: outcome(&ours), theirs: outcome(&theirs) }
    }

    fn report(self, is_usual: bool) {
        let known: usize = self.known.iter().map(|(_, count)| count).sum();
        println!(
            "{} requests: {known} known differences, {} requests of whose two errors each server \
             reported another one",
            self.sent, self.other_error_first
        );
        for (known, count) in &self.known {
            println!("{count:6} {known:?}");
        }
        let found = self.found.len();
        let shown: Vec<String> = self.found.into_iter().take(SHOWN).collect();
        assert!(
            found == 0,
            "{found} unknown differences; add them to known.rs, with a reason, or fix them\n{}",
            shown.join("\n")
        );
        for (known, count) in &self.known {
            let is_missed = is_usual && known.is_usual && *count == 0;
            assert!(!is_missed, "the known difference no longer occurs; remove it: {known:?}");
        }
    }
}

/// Whether each server reports, of two errors, one that it reports for a change alone. The server
/// follows AWS's order, as far as it is known; DynamoDB Local has another. Structural errors are
/// always reported first.
fn other_error_first(difference: &Difference, alone: &[Outcomes]) -> bool {
    let Difference::Outcome { ours, theirs } = difference else { return false };
    let broken = |outcome: &str, member: &str| broken_members(outcome).any(|one| one == member);
    let is_part = |member| alone.iter().any(|alone| broken(&alone.ours, member));
    let mut members = broken_members(ours).peekable();
    let breaks_shape = members.peek().is_some() || ours.starts_with("SerializationException: ");
    let is_ours = alone.iter().any(|alone| alone.ours == *ours)
        || members.peek().is_some() && members.all(is_part);
    is_ours && (breaks_shape || alone.iter().any(|alone| alone.theirs == *theirs))
}

/// Pseudo-random numbers, the same for each seed (splitmix64).
struct Choices(u64);

impl Choices {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}
