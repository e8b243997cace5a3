//! Tables for people, and rows for programs.

use serde_json::{Value, json};

use super::request::OPERATIONS;
use super::{Engine, Found, Measured, Row, StorageMode};

/// Result of a server for a row.
pub(crate) fn find(measured: &[Measured], contestant: Engine, row: Row) -> Option<&Measured> {
    measured.iter().find(|one| one.contestant == contestant && one.row == row)
}

/// Note on the durability of each server, which no figure shows.
const DURABLE: &str = "\
durable: tabla, dynoxide and dynamodb do an fsync before they respond to a write; dynalite writes
to a file without an fsync, so a power failure may lose writes that it has confirmed";

/// Prints all tables.
pub(crate) fn print(found: &Found) {
    print_rates(&found.measured);
    print_starts(found);
    for failure in &found.failures {
        println!("FAILED: {failure}");
    }
}

/// Prints a table per storage mode and number of connections.
fn print_rates(measured: &[Measured]) {
    let mut tables: Vec<(StorageMode, usize)> = Vec::new();
    for one in measured {
        let table = (one.row.place, one.row.connections);
        if !tables.contains(&table) {
            tables.push(table);
        }
    }
    for (place, connections) in tables.iter().copied() {
        let is_shown = |contestant: &Engine| {
            measured.iter().any(|one| {
                one.contestant == *contestant
                    && (one.row.place, one.row.connections) == (place, connections)
            })
        };
        let shown: Vec<_> = Engine::ALL.into_iter().filter(is_shown).collect();
        println!(
            "\n{}, connections: {connections}; operations per second, p50/p99 in ms",
            place.name()
        );
        print!("{:<12}", "");
        for contestant in &shown {
            print!(" {:>24}", contestant.name());
        }
        let compared =
            shown.iter().filter(|one| **one != Engine::Tabla && shown[0] == Engine::Tabla);
        for contestant in compared.clone() {
            print!(" {:>15}", format!("tabla/{}", contestant.name()));
        }
        println!();
        for operation in OPERATIONS {
            let row = Row { place, connections, operation };
            if !shown.iter().any(|one| find(measured, *one, row).is_some()) {
                continue;
            }
            print!("{:<12}", operation.name());
            for contestant in &shown {
                let text = match find(measured, *contestant, row) {
                    Some(one) => cell(one),
                    None if contestant.can(operation) => String::new(),
                    None => "has none".to_owned(),
                };
                print!(" {text:>24}");
            }
            for contestant in compared.clone() {
                let own = find(measured, Engine::Tabla, row);
                let other = find(measured, *contestant, row);
                let times = own.zip(other).map(|(own, other)| format!("{:.2}", own.times(other)));
                print!(" {:>15}", times.unwrap_or_default());
            }
            println!();
        }
    }
    if !tables.is_empty() {
        println!("\n~: the fastest round had more than twice the rate of the slowest");
    }
    if tables.iter().any(|(place, _)| *place == StorageMode::Durable) {
        println!("{DURABLE}");
    }
}

fn cell(one: &Measured) -> String {
    let mark = if one.is_steady() { "" } else { "~" };
    format!("{mark}{:.0}  {}/{}", one.rate(), milliseconds(one.p50), milliseconds(one.p99))
}

/// Formats milliseconds with about three digits.
fn milliseconds(value: f64) -> String {
    match value {
        ..1.0 => format!("{value:.3}"),
        ..10.0 => format!("{value:.2}"),
        ..100.0 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Prints the time to the first response, and the memory at rest and full.
fn print_starts(found: &Found) {
    println!("\n{:<12} {:<10} {:>17} {:>12}   full", "", "", "first response ms", "at rest MB");
    for one in &found.starts {
        let is_own = |other: &&super::memory::Filled| {
            (other.contestant, other.place) == (one.contestant, one.place)
        };
        let full = found.memory.iter().find(is_own).map(|full| {
            format!(
                "{:.1} MB with {} items, written in {:.1} s",
                full.megabytes(),
                full.items,
                full.seconds
            )
        });
        println!(
            "{:<12} {:<10} {:>16.1} {:>12.1}   {}",
            one.place.name(),
            one.contestant.name(),
            one.milliseconds(),
            one.megabytes(),
            full.unwrap_or_default()
        );
    }
}

/// All rows as JSON, with the rates of every round.
pub(crate) fn json(found: &Found) -> String {
    let rows: Vec<Value> = found
        .measured
        .iter()
        .map(|one| {
            json!({
                "server": one.contestant.name(),
                "place": one.row.place.name(),
                "connections": one.row.connections,
                "operation": one.row.operation.name(),
                "ops_per_second": one.rate(),
                "p50_ms": one.p50,
                "p99_ms": one.p99,
                "rounds": one.rates,
            })
        })
        .collect();
    let starts: Vec<Value> = found
        .starts
        .iter()
        .map(|one| {
            json!({
                "server": one.contestant.name(),
                "place": one.place.name(),
                "first_response_ms": one.milliseconds(),
                "resident_mb": one.megabytes(),
            })
        })
        .collect();
    let memory: Vec<Value> = found
        .memory
        .iter()
        .map(|one| {
            json!({
                "server": one.contestant.name(),
                "place": one.place.name(),
                "items": one.items,
                "seconds": one.seconds,
                "resident_mb": one.megabytes(),
            })
        })
        .collect();
    let all = json!({
        "rows": rows,
        "starts": starts,
        "memory": memory,
        "failures": found.failures,
    });
    format!("{all:#}\n")
}
