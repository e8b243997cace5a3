//! Time of servers to their first response, and their memory at rest.

use std::time::Duration;

use super::program::Program;
use super::{Engine, Found, Run, StorageMode};
use crate::embedded::Failure;
use crate::median::median;

/// Time that a server is left idle before its memory is read.
const REST: Duration = Duration::from_millis(500);

/// Results of a server's starts.
pub(crate) struct Started {
    pub(crate) contestant: Engine,
    pub(crate) place: StorageMode,
    /// Seconds from the start of the process to its first response, per start.
    pub(crate) first_responses: Vec<f64>,
    /// Resident memory at rest in bytes, per start.
    pub(crate) resident: Vec<f64>,
}

impl Started {
    /// Milliseconds to the first response, in the median start.
    pub(crate) fn milliseconds(&self) -> f64 {
        median(&self.first_responses).unwrap_or_default() * 1e3
    }

    /// MB at rest, in the median start.
    pub(crate) fn megabytes(&self) -> f64 {
        median(&self.resident).unwrap_or_default() / f64::from(1 << 20)
    }
}

/// Starts the servers without data, once per round, in turns.
pub(crate) fn measure(run: &Run<'_>, place: StorageMode, found: &mut Found) -> Result<(), Failure> {
    let mut starting: Vec<(&Program, Started)> = Vec::new();
    for program in run.programs.iter().copied() {
        let contestant = program.contestant;
        let (first_responses, resident) = (Vec::new(), Vec::new());
        starting.push((program, Started { contestant, place, first_responses, resident }));
    }
    for _ in 0..run.options.rounds {
        for (program, mut started) in std::mem::take(&mut starting) {
            match start(run, program, place) {
                Ok((first_response, resident)) => {
                    started.first_responses.push(first_response);
                    started.resident.push(resident);
                    starting.push((program, started));
                }
                Err(error) => found.fails(program.contestant, "start", error)?,
            }
        }
    }
    found.starts.extend(starting.into_iter().map(|(_, started)| started));
    eprintln!("done: {}, starts", place.name());
    Ok(())
}

fn start(run: &Run<'_>, program: &Program, place: StorageMode) -> Result<(f64, f64), Failure> {
    let running = program.start(run.host, place)?;
    rest();
    Ok((running.first_response, running.resident()? as f64))
}

#[expect(
    clippy::disallowed_methods,
    reason = "another process comes to rest in real time, which no test clock moves"
)]
fn rest() {
    std::thread::sleep(REST);
}
