//! Goals of the server, and whether they are met.

use super::report::find;
use super::{Engine, Found, Measured, Row, StorageMode};
use crate::embedded::workload::Workload;

use Engine::{Dynalite, Dynamodb, Dynoxide, Tabla};

/// Limit on the time to the first response, in milliseconds.
const FIRST_RESPONSE: f64 = 25.0;

/// Limit on the memory at rest, in MB, exclusive.
const AT_REST: f64 = 15.0;

const PEERS: [Engine; 3] = [Dynoxide, Dynamodb, Dynalite];

/// Required advantage over another server.
#[derive(Clone, Copy)]
enum Wanted {
    Ahead,
    Times(f64),
}

impl Wanted {
    fn is_reached(self, times: f64) -> bool {
        match self {
            Self::Ahead => times > 1.0,
            Self::Times(wanted) => times >= wanted,
        }
    }

    fn than(self, other: Engine) -> String {
        match self {
            Self::Ahead => format!("ahead of {}", other.name()),
            Self::Times(wanted) => format!(">= {wanted}x {}", other.name()),
        }
    }
}

/// Goal for the ratio of rates.
struct Goal {
    than: Engine,
    wanted: Wanted,
    /// Whether the goal applies to a row.
    is_for: fn(&Row) -> bool,
}

const GOALS: [Goal; 4] = [
    Goal { than: Dynoxide, wanted: Wanted::Ahead, is_for: |_| true },
    Goal { than: Dynoxide, wanted: Wanted::Times(3.0), is_for: is_shared_durable_put },
    Goal { than: Dynamodb, wanted: Wanted::Times(5.0), is_for: |_| true },
    Goal { than: Dynalite, wanted: Wanted::Ahead, is_for: |_| true },
];

fn is_shared_durable_put(row: &Row) -> bool {
    *row == Row { place: StorageMode::Durable, connections: 16, operation: Workload::Put }
}

/// Goal, or one line of it, with all figures that decide it.
struct GoalResult {
    what: String,
    figures: Vec<Figure>,
}

struct Figure {
    /// Row and ratio, for the output.
    text: String,
    is_reached: bool,
}

impl GoalResult {
    fn is_met(&self) -> bool {
        self.figures.iter().all(|figure| figure.is_reached)
    }
}

/// Prints a line per goal with its outcome.
pub(crate) fn print(found: &Found) {
    println!("\ngoals");
    let results: Vec<GoalResult> = evaluate_goals(found);
    for one in &results {
        let figures: Vec<String> = one
            .figures
            .iter()
            .map(|figure| {
                let mark = if figure.is_reached { "" } else { " (missed)" };
                format!("{}{mark}", figure.text)
            })
            .collect();
        let outcome = if one.is_met() { "met" } else { "MISSED" };
        println!("{outcome:<7} {}: {}", one.what, figures.join(", "));
    }
    let met = results.iter().filter(|one| one.is_met()).count();
    println!("{met} met, {} missed", results.len() - met);
}

fn evaluate_goals(found: &Found) -> Vec<GoalResult> {
    let mut all = Vec::new();
    for goal in &GOALS {
        for operation in Workload::ALL {
            let what = format!("{:<10} {} in rate", operation.name(), goal.wanted.than(goal.than));
            let is_for = |row: &Row| row.operation == operation && (goal.is_for)(row);
            let figures = pairs(&found.measured, goal.than, is_for)
                .map(|(own, other)| {
                    let mark = if own.is_steady() && other.is_steady() { "" } else { " ~" };
                    let times = own.times(other);
                    let text = format!("{}{mark} {times:.2}", at(&own.row));
                    Figure { text, is_reached: goal.wanted.is_reached(times) }
                })
                .collect();
            all.push(GoalResult { what, figures });
        }
    }
    for peer in PEERS {
        for (name, of) in LATENCIES {
            let times: Vec<(Row, f64)> = pairs(&found.measured, peer, |_| true)
                .map(|(own, other)| (own.row, of(other) / of(own)))
                .collect();
            all.push(latency(name, peer, times));
        }
    }
    all.push(limit(
        format!("first response within {FIRST_RESPONSE} ms"),
        "ms",
        starts(found, |one| {
            let milliseconds = one.milliseconds();
            (milliseconds, milliseconds <= FIRST_RESPONSE)
        }),
    ));
    all.push(limit(
        format!("at rest under {AT_REST} MB"),
        "MB",
        starts(found, |one| {
            let megabytes = one.megabytes();
            (megabytes, megabytes < AT_REST)
        }),
    ));
    for peer in PEERS {
        let than = Wanted::Ahead.than(peer);
        for (name, of) in STARTS {
            let figures = pairs_in(&found.starts, peer, |one| (one.contestant, one.place))
                .map(|(own, other)| ahead(own.place, of(other) / of(own)))
                .collect();
            all.push(GoalResult { what: format!("{name:<10} {than}"), figures });
        }
        let figures = pairs_in(&found.memory, peer, |one| (one.contestant, one.place))
            .filter(|(own, other)| own.items == other.items)
            .map(|(own, other)| ahead(own.place, other.megabytes() / own.megabytes()))
            .collect();
        all.push(GoalResult { what: format!("{:<10} {than}", "full"), figures });
    }
    // Goals without measurements are neither met nor missed.
    all.retain(|one| !one.figures.is_empty());
    all
}

/// Compares a latency in every row. The figures are those of the rows in which our server was
/// slower, or else the lowest ratio.
fn latency(name: &str, peer: Engine, times: Vec<(Row, f64)>) -> GoalResult {
    let rows = times.len();
    let is_reached = |times: f64| Wanted::Ahead.is_reached(times);
    let ahead = times.iter().filter(|(_, times)| is_reached(*times)).count();
    let what = format!("{name:<10} {}, in {ahead} of {rows} rows", Wanted::Ahead.than(peer));
    let figure = |(row, times): &(Row, f64)| {
        let text = format!("{} {} {times:.2}", row.operation.name(), at(row));
        Figure { text, is_reached: is_reached(*times) }
    };
    let figures = match ahead < rows {
        true => times.iter().filter(|(_, times)| !is_reached(*times)).map(figure).collect(),
        false => {
            let least = times.iter().min_by(|one, other| one.1.total_cmp(&other.1));
            least.map(figure).into_iter().collect()
        }
    };
    GoalResult { what, figures }
}

type Latency = fn(&Measured) -> f64;

const LATENCIES: [(&str, Latency); 2] = [("p50", |one| one.p50), ("p99", |one| one.p99)];

type OfStart = fn(&super::start::Started) -> f64;

const STARTS: [(&str, OfStart); 2] =
    [("start", super::start::Started::milliseconds), ("at rest", super::start::Started::megabytes)];

fn limit(what: String, unit: &str, values: Vec<(StorageMode, f64, bool)>) -> GoalResult {
    let figures = values
        .into_iter()
        .map(|(place, value, is_reached)| Figure {
            text: format!("{} {value:.1} {unit}", place.name()),
            is_reached,
        })
        .collect();
    GoalResult { what, figures }
}

fn starts(
    found: &Found,
    of: impl Fn(&super::start::Started) -> (f64, bool),
) -> Vec<(StorageMode, f64, bool)> {
    let own = found.starts.iter().filter(|one| one.contestant == Tabla);
    own.map(|one| {
        let (value, is_reached) = of(one);
        (one.place, value, is_reached)
    })
    .collect()
}

fn ahead(place: StorageMode, times: f64) -> Figure {
    let text = format!("{} {times:.2}", place.name());
    Figure { text, is_reached: Wanted::Ahead.is_reached(times) }
}

/// Rows that both servers have, and to which the goal applies.
fn pairs<'a>(
    measured: &'a [Measured],
    than: Engine,
    is_for: impl Fn(&Row) -> bool + 'a,
) -> impl Iterator<Item = (&'a Measured, &'a Measured)> {
    let own = measured.iter().filter(move |one| one.contestant == Tabla && is_for(&one.row));
    own.filter_map(move |one| Some((one, find(measured, than, one.row)?)))
}

/// Results of both servers, by storage mode.
fn pairs_in<T>(
    all: &[T],
    than: Engine,
    who: impl Fn(&T) -> (Engine, StorageMode) + Copy,
) -> impl Iterator<Item = (&T, &T)> {
    let own = all.iter().filter(move |one| who(one).0 == Tabla);
    own.filter_map(move |one| {
        let other = all.iter().find(|other| who(other) == (than, who(one).1))?;
        Some((one, other))
    })
}

fn at(row: &Row) -> String {
    format!("{}/{}", row.place.name(), row.connections)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::memory::Filled;
    use crate::http::start::Started;

    fn measured(contestant: Engine, row: Row, rate: f64) -> Measured {
        Measured { contestant, row, rates: vec![rate], p50: 1e3 / rate, p99: 2e3 / rate }
    }

    fn missed(found: &Found) -> Vec<String> {
        evaluate_goals(found).into_iter().filter(|one| !one.is_met()).map(|one| one.what).collect()
    }

    #[test]
    fn goal_without_measurement_is_omitted() {
        let row = Row { place: StorageMode::Memory, connections: 1, operation: Workload::Get };
        assert!(evaluate_goals(&Found::default()).is_empty());
        let alone = Found { measured: vec![measured(Tabla, row, 9.0)], ..Found::default() };
        assert!(evaluate_goals(&alone).is_empty());
    }

    #[test]
    fn each_server_has_its_own_goal() {
        let row = Row { place: StorageMode::Durable, connections: 16, operation: Workload::Put };
        let with = |contestant, rate| Found {
            measured: vec![measured(Tabla, row, 20.0), measured(contestant, row, rate)],
            ..Found::default()
        };
        assert!(missed(&with(Dynoxide, 5.0)).is_empty());
        assert_eq!(missed(&with(Dynoxide, 10.0)), ["put        >= 3x dynoxide in rate"]);
        assert!(missed(&with(Dynamodb, 4.0)).is_empty());
        assert_eq!(missed(&with(Dynamodb, 5.0)), ["put        >= 5x dynamodb in rate"]);
        assert!(missed(&with(Dynalite, 19.0)).is_empty());
        assert_eq!(
            missed(&with(Dynalite, 20.0)),
            [
                "put        ahead of dynalite in rate",
                "p50        ahead of dynalite, in 0 of 1 rows",
                "p99        ahead of dynalite, in 0 of 1 rows",
            ]
        );
    }

    #[test]
    fn start_and_memory_have_limits() {
        let started = |contestant, seconds, megabytes: u32| Started {
            contestant,
            place: StorageMode::Memory,
            first_responses: vec![seconds],
            resident: vec![f64::from(megabytes << 20)],
        };
        let filled = |contestant, resident| Filled {
            contestant,
            place: StorageMode::Memory,
            items: 10,
            seconds: 1.0,
            resident,
        };
        let mut found = Found {
            starts: vec![started(Tabla, 0.025, 14), started(Dynoxide, 0.030, 16)],
            memory: vec![filled(Tabla, 10), filled(Dynoxide, 11)],
            ..Found::default()
        };
        assert_eq!(evaluate_goals(&found).len(), 5);
        assert!(missed(&found).is_empty());
        found.starts[0] = started(Tabla, 0.026, 15);
        assert_eq!(missed(&found), ["first response within 25 ms", "at rest under 15 MB"]);
        found.memory[1].resident = 10;
        assert_eq!(missed(&found).last().map(String::as_str), Some("full       ahead of dynoxide"));
        // Servers with different numbers of items are not compared.
        found.memory[1].items = 9;
        assert_eq!(missed(&found).len(), 2);
    }
}
