//! Goals of the engine, and whether they are met.

use super::report::find;
use super::workload::{StorageMode, Workload};
use super::{Engine, Measured, is_write};

use Engine::{Dynamodb, Dynoxide, Limit, Tabla};
use StorageMode::{Durable, Memory};
use Workload::{BatchGet, Get, IndexQuery, Put, Query, Transact, Update};

/// Lowest credible ratio to the time of the limit: the same work cannot take less time, except for
/// noise. A lower ratio measures the machine, so the goal does not count as met. Writes to a file
/// are exempt, because the engine checkpoints on another thread.
const CREDIBLE: f64 = 0.9;

/// Ratio of the engine to another contestant in one storage mode.
#[derive(Debug, PartialEq)]
struct Figure {
    /// Storage mode and number of callers.
    at: String,
    times: f64,
    is_credible: bool,
}

/// Goal: lowest ratio of the rate to a peer's, or highest ratio of the time to the limit's.
struct Goal {
    than: Engine,
    operations: &'static [Workload],
    places: &'static [StorageMode],
    callers: &'static [usize],
    times: f64,
}

const GOALS: [Goal; 8] = [
    Goal {
        than: Dynoxide,
        operations: &[Get],
        places: &StorageMode::ALL,
        callers: &[1],
        times: 1.0,
    },
    Goal {
        than: Dynoxide,
        operations: &[Get],
        places: &StorageMode::ALL,
        callers: &[16],
        times: 2.0,
    },
    Goal { than: Dynoxide, operations: WRITES, places: &[Memory], callers: &[1, 16], times: 2.0 },
    Goal { than: Dynoxide, operations: WRITES, places: &[Durable], callers: &[16, 64], times: 3.0 },
    Goal { than: Dynoxide, operations: WRITES, places: &[Durable], callers: &[1], times: 1.0 },
    Goal {
        than: Dynoxide,
        operations: &[Query, IndexQuery, BatchGet],
        places: &StorageMode::ALL,
        callers: &[1, 16, 64],
        times: 3.0,
    },
    Goal {
        than: Limit,
        operations: &Workload::ALL,
        places: &StorageMode::ALL,
        callers: &[1],
        times: 1.5,
    },
    Goal {
        than: Dynamodb,
        operations: &[Get, Query, IndexQuery],
        places: &[Memory],
        callers: &[1, 16],
        times: 30.0,
    },
];

const WRITES: &[Workload] = &[Put, Update, Transact];

/// Prints a line per goal and operation, with all figures that decide it.
pub(crate) fn print(measured: &[Measured]) {
    println!("\ngoals");
    let (mut met, mut missed) = (0, 0);
    for goal in &GOALS {
        for operation in goal.operations.iter().copied() {
            let figures = goal.figures(measured, operation);
            if figures.is_empty() {
                continue;
            }
            let reached = figures.iter().all(|figure| goal.is_reached(figure));
            if reached {
                met += 1
            } else {
                missed += 1
            }
            let figures: Vec<String> = figures
                .iter()
                .map(|figure| {
                    let mark = match goal.is_reached(figure) {
                        true => "",
                        false if !figure.is_credible => " (not credible)",
                        false => " (missed)",
                    };
                    format!("{} {:.2}{mark}", figure.at, figure.times)
                })
                .collect();
            println!(
                "{:<7} {:<16} {}: {}",
                if reached { "met" } else { "MISSED" },
                operation.name(),
                goal.wanted(),
                figures.join(", ")
            );
        }
    }
    println!("{met} met, {missed} missed");
}

impl Goal {
    fn wanted(&self) -> String {
        match self.than {
            Limit => format!("time <= {}x the limit's", self.times),
            other => format!(">= {}x {}", self.times, other.name()),
        }
    }

    fn is_reached(&self, figure: &Figure) -> bool {
        match self.than {
            Limit => figure.is_credible && figure.times <= self.times,
            _ => figure.times >= self.times,
        }
    }

    /// Ratios in every storage mode and for every number of callers that was measured.
    fn figures(&self, measured: &[Measured], operation: Workload) -> Vec<Figure> {
        let mut figures = Vec::new();
        for place in self.places.iter().copied() {
            for callers in self.callers.iter().copied() {
                let found = |contestant| find(measured, contestant, place, operation, callers);
                if let (Some(tabla), Some(other)) = (found(Tabla), found(self.than)) {
                    let times = match self.than {
                        Limit => other.times(tabla),
                        _ => tabla.times(other),
                    };
                    let is_steady = tabla.is_steady() && other.is_steady();
                    let mark = if is_steady { "" } else { " ~" };
                    let at = format!("{}/{callers}{mark}", place.name());
                    let moves_log = place != Memory && is_write(operation);
                    let is_credible = self.than != Limit || moves_log || times >= CREDIBLE;
                    figures.push(Figure { at, times, is_credible });
                }
            }
        }
        figures
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded::Row;

    #[test]
    fn goal_uses_measured_rows_only() {
        let measured = |contestant, seconds| Measured {
            contestant,
            row: Row { place: Memory, operation: Get, callers: 1, ops: 100 },
            seconds: vec![seconds],
        };
        let all = [measured(Tabla, 1.0), measured(Dynoxide, 2.0), measured(Limit, 0.5)];
        let of = |than| Goal {
            than,
            operations: &[Get],
            places: &StorageMode::ALL,
            callers: &[1, 16],
            times: 1.5,
        };
        let figure = |times, is_credible| Figure { at: "memory/1".to_owned(), times, is_credible };
        assert_eq!(of(Dynoxide).figures(&all, Get), [figure(2.0, true)]);
        assert!(of(Dynoxide).is_reached(&figure(2.0, true)));
        assert_eq!(of(Limit).figures(&all, Get), [figure(2.0, true)]);
        assert!(of(Limit).is_reached(&figure(1.5, true)));
        assert!(!of(Limit).is_reached(&figure(2.0, true)));
        assert!(!of(Limit).is_reached(&figure(0.5, false)));
        let fast = [measured(Tabla, 1.0), measured(Limit, 2.0)];
        assert_eq!(of(Limit).figures(&fast, Get), [figure(0.5, false)]);
        assert!(of(Dynamodb).figures(&all, Get).is_empty());
    }
}
