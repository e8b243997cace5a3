//! What the engine is to reach, and whether it does.

use super::report::find;
use super::shape::{Operation, Place};
use super::{Contestant, Measured};

use Contestant::{Dynamodb, Dynoxide, Limit, Tabla};
use Operation::{BatchGet, Get, IndexQuery, Put, Query, Transact, Update};
use Place::{Durable, Memory};

/// The same work cannot take less time than the limit takes, but for some noise: if it seems to,
/// the machine was measured and not the engine, and nothing counts as reached.
const CREDIBLE: f64 = 0.9;

/// At least so many times the rate of another, or at most so many times the limit's time.
struct Goal {
    than: Contestant,
    operations: &'static [Operation],
    places: &'static [Place],
    callers: &'static [usize],
    times: f64,
}

const GOALS: [Goal; 8] = [
    Goal { than: Dynoxide, operations: &[Get], places: &Place::ALL, callers: &[1], times: 1.0 },
    Goal { than: Dynoxide, operations: &[Get], places: &Place::ALL, callers: &[16], times: 2.0 },
    Goal { than: Dynoxide, operations: WRITES, places: &[Memory], callers: &[1, 16], times: 2.0 },
    Goal { than: Dynoxide, operations: WRITES, places: &[Durable], callers: &[16, 64], times: 3.0 },
    Goal { than: Dynoxide, operations: WRITES, places: &[Durable], callers: &[1], times: 1.0 },
    Goal {
        than: Dynoxide,
        operations: &[Query, IndexQuery, BatchGet],
        places: &Place::ALL,
        callers: &[1, 16, 64],
        times: 3.0,
    },
    Goal {
        than: Limit,
        operations: &Operation::ALL,
        places: &Place::ALL,
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

const WRITES: &[Operation] = &[Put, Update, Transact];

/// Prints a line per goal and operation, with every figure that it is judged by.
pub(crate) fn print(measured: &[Measured]) {
    println!("\ngoals");
    let (mut met, mut missed) = (0, 0);
    for goal in &GOALS {
        for operation in goal.operations.iter().copied() {
            let figures = goal.figures(measured, operation);
            if figures.is_empty() {
                continue;
            }
            let reached = figures.iter().all(|(_, figure)| goal.is_reached(*figure));
            if reached {
                met += 1
            } else {
                missed += 1
            }
            let figures: Vec<String> = figures
                .iter()
                .map(|(at, figure)| {
                    let mark = match goal.is_reached(*figure) {
                        true => "",
                        false if goal.than == Limit && *figure < CREDIBLE => " (not credible)",
                        false => " (missed)",
                    };
                    format!("{at} {figure:.2}{mark}")
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

    fn is_reached(&self, figure: f64) -> bool {
        match self.than {
            Limit => (CREDIBLE..=self.times).contains(&figure),
            _ => figure >= self.times,
        }
    }

    /// The ratio in every place and for every number of callers that was measured.
    fn figures(&self, measured: &[Measured], operation: Operation) -> Vec<(String, f64)> {
        let mut figures = Vec::new();
        for place in self.places.iter().copied() {
            for callers in self.callers.iter().copied() {
                let found = |contestant| find(measured, contestant, place, operation, callers);
                if let (Some(tabla), Some(other)) = (found(Tabla), found(self.than)) {
                    let figure = match self.than {
                        Limit => other.rate() / tabla.rate(),
                        _ => tabla.rate() / other.rate(),
                    };
                    let is_steady = tabla.is_steady() && other.is_steady();
                    let mark = if is_steady { "" } else { " ~" };
                    figures.push((format!("{}/{callers}{mark}", place.name()), figure));
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
    fn a_goal_looks_at_what_was_measured() {
        let measured = |contestant, seconds| Measured {
            contestant,
            row: Row { place: Memory, operation: Get, callers: 1, ops: 100 },
            seconds: vec![seconds],
        };
        let all = [measured(Tabla, 1.0), measured(Dynoxide, 2.0), measured(Limit, 0.5)];
        let of = |than| Goal {
            than,
            operations: &[Get],
            places: &Place::ALL,
            callers: &[1, 16],
            times: 1.5,
        };
        assert_eq!(of(Dynoxide).figures(&all, Get), [("memory/1".to_owned(), 2.0)]);
        assert!(of(Dynoxide).is_reached(2.0));
        assert_eq!(of(Limit).figures(&all, Get), [("memory/1".to_owned(), 2.0)]);
        assert!(!of(Limit).is_reached(2.0));
        assert!(!of(Limit).is_reached(0.5));
        assert!(of(Dynamodb).figures(&all, Get).is_empty());
    }
}
