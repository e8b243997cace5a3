//! Tables for people, and rows for programs.

use serde_json::{Value, json};

use super::footprint::Footprint;
use super::workload::{ITEMS, StorageMode, Workload};
use super::{Engine, Measured};

/// Result of a contestant for a row.
pub(crate) fn find(
    measured: &[Measured],
    contestant: Engine,
    place: StorageMode,
    operation: Workload,
    callers: usize,
) -> Option<&Measured> {
    measured.iter().find(|one| {
        one.contestant == contestant
            && one.row.place == place
            && one.row.operation == operation
            && one.row.callers == callers
    })
}

/// Prints a table per storage mode and number of callers.
pub(crate) fn print(measured: &[Measured]) {
    let mut tables: Vec<(StorageMode, usize)> = Vec::new();
    for one in measured {
        let table = (one.row.place, one.row.callers);
        if !tables.contains(&table) {
            tables.push(table);
        }
    }
    for (place, callers) in tables {
        let shown: Vec<_> = Engine::ALL
            .into_iter()
            .filter(|contestant| {
                measured.iter().any(|one| {
                    one.contestant == *contestant
                        && (one.row.place, one.row.callers) == (place, callers)
                })
            })
            .collect();
        println!("\n{}, callers: {callers}; operations per second", place.name());
        print!("{:<16}", "");
        for contestant in &shown {
            print!(" {:>10}", contestant.name());
        }
        for (contestant, title) in COMPARISONS {
            if shown.contains(&contestant) {
                print!(" {title:>15}");
            }
        }
        println!();
        for operation in Workload::ALL {
            let found = |contestant| find(measured, contestant, place, operation, callers);
            let Some(tabla) = found(Engine::Tabla) else { continue };
            print!("{:<16}", operation.name());
            for contestant in &shown {
                let shown = found(*contestant).map(|one| {
                    format!("{}{:.0}", if one.is_steady() { "" } else { "~" }, one.rate())
                });
                print!(" {:>10}", shown.unwrap_or_default());
            }
            for (contestant, _) in COMPARISONS {
                if !shown.contains(&contestant) {
                    continue;
                }
                let ratio = found(contestant).map(|other| match contestant {
                    // The limit is compared by time, of which it takes the least.
                    Engine::Limit => other.times(tabla),
                    _ => tabla.times(other),
                });
                print!(" {:>15}", ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}")));
            }
            println!();
        }
    }
    println!("\n~: the slowest round took more than twice the time of the fastest");
}

const COMPARISONS: [(Engine, &str); 3] = [
    (Engine::Dynoxide, "tabla/dynoxide"),
    (Engine::Limit, "time/limit's"),
    (Engine::Dynamodb, "tabla/dynamodb"),
];

/// Prints the memory and disk space of the items.
pub(crate) fn print_footprints(footprints: &[Footprint]) {
    if footprints.is_empty() {
        return;
    }
    println!("\nmemory and disk space of {ITEMS} items, each contestant in a process of its own");
    println!("{:<16} {:>10} {:>18} {:>18}", "", "", "resident MB", "file bytes/item");
    for one in footprints {
        let file = match one.place {
            StorageMode::Memory => String::new(),
            _ => format!("{:.0}", one.file_bytes as f64 / ITEMS as f64),
        };
        println!(
            "{:<16} {:>10} {:>18.1} {:>18}",
            one.place.name(),
            one.contestant.name(),
            one.resident_bytes as f64 / f64::from(1 << 20),
            file
        );
    }
}

/// All rows as JSON, with the seconds of every round.
pub(crate) fn json(measured: &[Measured], footprints: &[Footprint]) -> String {
    let rows: Vec<Value> = measured
        .iter()
        .map(|one| {
            json!({
                "contestant": one.contestant.name(),
                "place": one.row.place.name(),
                "operation": one.row.operation.name(),
                "callers": one.row.callers,
                "ops": one.row.ops,
                "ops_per_second": one.rate(),
                "seconds": one.seconds,
            })
        })
        .collect();
    let footprints: Vec<Value> = footprints.iter().map(Value::from).collect();
    format!("{:#}\n", json!({ "rows": rows, "items": ITEMS, "footprints": footprints }))
}
