//! Measurement of rates and latencies, with the contestants in turns.

use std::process::Command;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use tabla_core::blobs::Checksum;
use tokio::runtime::Runtime;

use super::content::{Size, new_key};
use super::local::Local;
use super::options::Options;
use super::server::{Server, ServerProgram};
use super::{Contestant, Measured, Operation, Row};
use crate::embedded::Failure;
use crate::http::client::LoadRun;
use crate::http::program::Host;
use crate::median::Durations;
use crate::process;

/// Turn of a contestant.
#[derive(Clone)]
pub(super) struct Turn {
    pub(super) row: Row,
    pub(super) ops: u64,
    /// Number of the first new blob.
    pub(super) first: u64,
    pub(super) content: Bytes,
    /// Checksum of the content, if the client sends one.
    pub(super) checksum: Option<Checksum>,
}

impl Turn {
    pub(super) fn is_put(&self) -> bool {
        self.row.operation == Operation::Put
    }

    /// Key of an operation.
    pub(super) fn key(&self, step: u64) -> String {
        match self.row.operation {
            Operation::Put => new_key(self.first + step),
            Operation::Get => self.row.size.stored_key(step),
        }
    }
}

/// Contestant that is open.
enum Open {
    Local(Contestant, Local),
    Server(Box<Server>),
}

impl Open {
    fn contestant(&self) -> Contestant {
        match self {
            Self::Local(contestant, _) => *contestant,
            Self::Server(server) => server.contestant,
        }
    }

    async fn write(
        &self,
        key: String,
        content: Bytes,
        checksum: Option<Checksum>,
    ) -> Result<(), Failure> {
        match self {
            Self::Local(_, local) => local.put(key, content, checksum).await,
            Self::Server(server) => server.write(&key, content, checksum).await,
        }
    }

    async fn turn(&self, turn: &Turn) -> Result<LoadRun, Failure> {
        match self {
            Self::Local(_, local) => local.turn(turn).await,
            Self::Server(server) => server.turn(turn).await,
        }
    }

    /// Verifies the last blob of a turn: the figures of a contestant that does not do the work
    /// are worthless.
    async fn verify(&self, turn: &Turn) -> Result<(), Failure> {
        let key = turn.key(turn.ops.saturating_sub(1));
        let found = Arc::new(Mutex::new(Vec::with_capacity(turn.content.len())));
        let pieces = Arc::clone(&found);
        let see = move |piece: &[u8]| {
            pieces.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(piece);
        };
        match self {
            Self::Local(_, local) => local.get(key, see).await?,
            Self::Server(server) => server.read(&key, turn.content.len(), see).await?,
        }
        let found = found.lock().unwrap_or_else(PoisonError::into_inner);
        match *found == turn.content {
            true => Ok(()),
            false => Err("a blob does not have the bytes that were written".into()),
        }
    }

    /// Deletes what a turn has written.
    async fn clear(&self, turn: &Turn) -> Result<(), Failure> {
        if !turn.is_put() {
            return Ok(());
        }
        let keys: Vec<String> = (0..turn.ops).map(|step| turn.key(step)).collect();
        match self {
            Self::Server(server) => server.delete(keys).await,
            Self::Local(_, local) => {
                for key in keys {
                    local.delete(key).await?;
                }
                Ok(())
            }
        }
    }
}

/// Compares ways to store files in this process.
pub(super) fn local(options: &Options, host: &Host) -> Result<Vec<Measured>, Failure> {
    let runtime = crate::syncs::runtime()?;
    let mut open = Vec::new();
    for contestant in Contestant::LOCAL {
        let local = Local::open(contestant, host.folder.path(), true);
        open.push(Open::Local(contestant, runtime.block_on(local)?));
    }
    Comparison { options, runtime: &runtime, open, next_blob: 0 }.run()
}

/// Compares the servers.
pub(super) fn http(
    options: &Options,
    host: &Host,
    programs: &[&ServerProgram],
) -> Result<Vec<Measured>, Failure> {
    let mut open = Vec::new();
    for program in programs {
        open.push(Open::Server(Box::new(program.start(host)?)));
    }
    Comparison { options, runtime: &host.runtime, open, next_blob: 0 }.run()
}

struct Comparison<'a> {
    options: &'a Options,
    runtime: &'a Runtime,
    open: Vec<Open>,
    /// First number that no turn has used for a new blob.
    next_blob: u64,
}

/// Results of a contestant for a row, so far.
struct Runner<'a> {
    open: &'a Open,
    /// Number of operations of its next turn.
    ops: u64,
    rates: Vec<f64>,
    durations: Durations,
}

impl Comparison<'_> {
    fn run(mut self) -> Result<Vec<Measured>, Failure> {
        let mut measured = Vec::new();
        let open = std::mem::take(&mut self.open);
        for size in self.options.sizes.iter().copied() {
            let content = size.content();
            let algorithm = self.options.checksum;
            let checksum = algorithm.map(|algorithm| Checksum::of(algorithm, &content));
            for one in &open {
                for number in 0..size.stored() {
                    let write =
                        one.write(size.stored_key(number), content.clone(), checksum.clone());
                    self.runtime.block_on(write)?;
                }
            }
            let callers: &[usize] = match size {
                Size::Mb100 => &[1],
                _ => &self.options.callers,
            };
            for callers in callers.iter().copied() {
                for operation in self.options.operations.iter().copied() {
                    let row = Row { operation, size, callers };
                    let turn = Turn {
                        row,
                        ops: size.fewest(callers),
                        first: 0,
                        content: content.clone(),
                        checksum: checksum.clone(),
                    };
                    measured.extend(self.row(&open, &turn)?);
                }
                eprintln!("done: {}, callers: {callers}", size.name());
            }
        }
        Ok(measured)
    }

    /// Runs a row on all contestants, round by round, in turns that begin like `turn`.
    fn row(&mut self, open: &[Open], turn: &Turn) -> Result<Vec<Measured>, Failure> {
        let (row, fewest) = (turn.row, turn.ops);
        let runner =
            |open| Runner { open, ops: fewest, rates: Vec::new(), durations: Durations::default() };
        let mut runners: Vec<Runner<'_>> = open.iter().map(runner).collect();
        // The first round determines the operations of a turn, and is not counted.
        for round in 0..=self.options.rounds {
            for runner in &mut runners {
                let (ops, first) = (runner.ops, self.next_blob);
                self.next_blob += ops;
                let turn = Turn { ops, first, ..turn.clone() };
                let name = runner.open.contestant().name();
                let run = self
                    .slice(runner.open, &turn)
                    .map_err(|error| format!("{name}, {row:?}: {error}"))?;
                let rate = ops as f64 / run.seconds;
                if round > 0 {
                    runner.rates.push(rate);
                    runner.durations.join(run.durations);
                }
                let wanted = (rate * self.options.turn) as u64;
                runner.ops = wanted.clamp(fewest, row.size.most().max(fewest));
            }
            // The first contestant changes from round to round.
            let is_any = usize::from(!runners.is_empty());
            runners.rotate_left(is_any);
        }
        runners.sort_by_key(|runner| runner.open.contestant());
        let measured =
            |one: Runner<'_>| Measured::new(one.open.contestant(), row, one.rates, one.durations);
        Ok(runners.into_iter().map(measured).collect())
    }

    fn slice(&self, open: &Open, turn: &Turn) -> Result<LoadRun, Failure> {
        if turn.is_put() {
            // The next fsync would also write what another contestant has left unsynced.
            process::output(&mut Command::new("sync"))?;
        }
        self.runtime.block_on(async {
            let run = open.turn(turn).await?;
            open.verify(turn).await?;
            open.clear(turn).await?;
            Ok(run)
        })
    }
}
