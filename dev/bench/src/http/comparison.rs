//! Measurement of rates and latencies, with the servers in turns.

use super::client::{LoadRun, drive};
use super::program::Running;
use super::request::{self, Expected};
use super::{Engine, Found, Measured, Row, Run, StorageMode, table};
use crate::embedded::Failure;
use crate::embedded::workload::ITEMS;
use crate::median::{Durations, Stopwatch};

/// Limit on the requests of a turn, which are all encoded before it begins.
const MOST: u64 = 20_000;

/// Length of the warm-up of an operation, in turns.
const WARM_UP_TURNS: f64 = 5.0;
/// Number of connections of the warm-up.
const WARM_UP_CONNECTIONS: usize = 16;

/// Runs every row of a storage mode on all servers, round by round, in turns.
pub(crate) fn measure(run: &Run<'_>, place: StorageMode, found: &mut Found) -> Result<(), Failure> {
    let mut contest = Comparison { run, servers: Vec::new(), next_item: ITEMS };
    for program in run.programs.iter().copied() {
        let opened = program.start(run.host, place).and_then(|mut server| {
            let loaded = run.host.runtime.block_on(table::load(server.port));
            server.or_its_end(loaded)?;
            Ok(server)
        });
        match opened {
            Ok(server) => contest.servers.push((program.contestant, server)),
            Err(error) => found.fails(program.contestant, place.name(), error)?,
        }
    }
    contest.warm_up(place, found)?;
    for connections in run.options.connections.iter().copied() {
        for operation in run.options.operations.iter().copied() {
            contest.row(Row { place, connections, operation }, found)?;
        }
        eprintln!("done: {}, connections: {connections}", place.name());
    }
    Ok(())
}

struct Comparison<'a> {
    run: &'a Run<'a>,
    servers: Vec<(Engine, Running)>,
    /// First item number that no row has written yet.
    next_item: u64,
}

/// Results of a server for a row, so far.
struct Runner {
    contestant: Engine,
    /// Number of operations of its next turn.
    ops: u64,
    rates: Vec<f64>,
    durations: Durations,
}

impl Runner {
    fn new(contestant: Engine, row: Row) -> Self {
        let ops = fewest(row.connections);
        Self { contestant, ops, rates: Vec::new(), durations: Durations::default() }
    }
}

impl Comparison<'_> {
    /// Runs all operations on all servers without counting them: some servers compile hot code,
    /// which would slow down the measurement.
    fn warm_up(&mut self, place: StorageMode, found: &mut Found) -> Result<(), Failure> {
        for contestant in self.contestants() {
            for operation in self.run.options.operations.iter().copied() {
                let row = Row { place, connections: WARM_UP_CONNECTIONS, operation };
                let mut runner = Runner::new(contestant, row);
                let watch = Stopwatch::start();
                while contestant.can(operation)
                    && watch.seconds() < WARM_UP_TURNS * self.run.options.turn
                {
                    let first = self.next_item;
                    self.next_item += runner.ops * operation.new_items().max(1);
                    match self.run_slice(&runner, row, first) {
                        Ok(stretch) => runner.ops = self.next_ops(row, runner.ops, stretch.seconds),
                        Err(error) => {
                            found.fails(contestant, &format!("warm-up, {row:?}"), error)?;
                            break;
                        }
                    }
                }
            }
        }
        eprintln!("done: {}, warm-up", place.name());
        Ok(())
    }

    fn contestants(&self) -> Vec<Engine> {
        self.servers.iter().map(|(contestant, _)| *contestant).collect()
    }

    /// Number of operations that fill a turn, from the seconds of the last one.
    fn next_ops(&self, row: Row, ops: u64, seconds: f64) -> u64 {
        let rate = ops as f64 / seconds;
        ((rate * self.run.options.turn) as u64).clamp(fewest(row.connections), MOST)
    }

    fn row(&mut self, row: Row, found: &mut Found) -> Result<(), Failure> {
        let mut runners: Vec<Runner> = self
            .contestants()
            .into_iter()
            .filter(|contestant| contestant.can(row.operation))
            .map(|contestant| Runner::new(contestant, row))
            .collect();
        // The first round determines the operations of a turn, and is not counted.
        for round in 0..=self.run.options.rounds {
            let first = self.next_item;
            // Updates need new numbers too: each sets a value that no update has set before.
            let most = runners.iter().map(|runner| runner.ops).max().unwrap_or_default();
            self.next_item += most * row.operation.new_items().max(1);
            for mut runner in std::mem::take(&mut runners) {
                let stretch = match self.run_slice(&runner, row, first) {
                    Ok(stretch) => stretch,
                    Err(error) => {
                        found.fails(runner.contestant, &format!("{row:?}"), error)?;
                        continue;
                    }
                };
                if round > 0 {
                    runner.rates.push(runner.ops as f64 / stretch.seconds);
                    runner.durations.join(stretch.durations);
                }
                runner.ops = self.next_ops(row, runner.ops, stretch.seconds);
                runners.push(runner);
            }
            // The first server changes from round to round.
            let is_any = usize::from(!runners.is_empty());
            runners.rotate_left(is_any);
        }
        runners.sort_by_key(|runner| runner.contestant);
        let measured = |one: Runner| Measured::new(one.contestant, row, one.rates, one.durations);
        found.measured.extend(runners.into_iter().map(measured));
        Ok(())
    }

    fn run_slice(&mut self, runner: &Runner, row: Row, first: u64) -> Result<LoadRun, Failure> {
        let server = self.servers.iter_mut().find(|(one, _)| *one == runner.contestant);
        let (_, server) = server.ok_or("the server is not running")?;
        let (port, ops, operation) = (server.port, runner.ops, row.operation);
        let requests = (0..ops).map(|step| request::of(port, operation, step, first)).collect();
        let asked = self.run.host.runtime.block_on(async {
            let stretch = drive(port, row.connections, requests, Expected::of(operation)).await?;
            table::verify(port, operation, ops, first).await?;
            table::clear(port, first, ops * operation.new_items()).await?;
            Ok(stretch)
        });
        server.or_its_end(asked)
    }
}

/// Lowest number of operations of a turn, at which every connection has some.
fn fewest(connections: usize) -> u64 {
    (2 * connections as u64).max(20)
}
