//! Number of fsyncs per put of the contestants in this process.
//!
//! As in `crate::syncs`, a child of a tool that records system calls does the puts, and creates a
//! folder before and after each row, which no contestant does.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::comparison::Turn;
use super::content::{Size, new_key};
use super::local::Local;
use super::options::Options;
use super::{Contestant, Operation, Row};
use crate::embedded::options::list;
use crate::embedded::{Failure, Folder};
use crate::http::program::Host;
use crate::median::median;
use crate::process;
use crate::syncs::{Tool, count, mark, numbers, runtime};

/// Command with which this program starts itself as the child.
pub(crate) const CHILD: &str = "blobs-syncs-child";

/// Sizes in which fsyncs are counted.
const SIZES: [Size; 2] = [Size::Kb1, Size::Mb1];

/// Repetitions of all rows.
const ROUNDS: usize = 5;

/// Fsyncs per put of a contestant in a row.
pub(crate) struct Counted {
    pub(super) contestant: Contestant,
    pub(super) row: Row,
    /// Fsyncs per put, round by round.
    per_put: Vec<f64>,
}

impl Counted {
    pub(super) fn median(&self) -> f64 {
        median(&self.per_put).unwrap_or_default()
    }

    pub(super) fn worst(&self) -> f64 {
        self.per_put.iter().copied().fold(0.0, f64::max)
    }
}

/// Runs the child, and counts its fsyncs.
pub(super) fn measure(options: &Options, host: &Host) -> Result<Vec<Counted>, Failure> {
    let folder = Folder::make(&host.folder.path().join("syncs"))?;
    // The child must create no folder but its marks.
    runtime()?.block_on(async {
        for contestant in Contestant::LOCAL {
            Local::open(contestant, folder.path(), false).await?;
        }
        Ok::<_, Failure>(())
    })?;
    let (tool, noted) = (Tool::find(folder.path()), folder.path().join("events"));
    println!("fsyncs {tool}");
    process::output(
        tool.command(&noted)
            .arg(std::env::current_exe()?)
            .args([CHILD, &numbers(&options.callers), &options.counted_puts.to_string()])
            .arg(folder.path()),
    )?;
    let rows = rows(&options.callers);
    let per_put: Vec<f64> = count(&tool.events(&noted)?, ROUNDS * rows.len())?
        .iter()
        .map(|count| count / options.counted_puts as f64)
        .collect();
    let counted = |(number, (contestant, row)): (usize, &(Contestant, Row))| Counted {
        contestant: *contestant,
        row: *row,
        per_put: per_put.iter().copied().skip(number).step_by(rows.len()).collect(),
    };
    Ok(rows.iter().enumerate().map(counted).collect())
}

/// Rows of a round, in order.
fn rows(callers: &[usize]) -> Vec<(Contestant, Row)> {
    let mut rows = Vec::new();
    for contestant in Contestant::LOCAL {
        for size in SIZES {
            let row = |callers| Row { operation: Operation::Put, size, callers };
            rows.extend(callers.iter().map(|callers| (contestant, row(*callers))));
        }
    }
    rows
}

/// Does the puts of all rows, round by round.
pub(crate) fn child(arguments: &[String]) -> Result<(), Failure> {
    let [callers, puts, folder] = arguments else {
        return Err(format!("`{CHILD}` is started by `blobs`, not by hand").into());
    };
    let rows = rows(&list(callers, |number| number.parse().ok())?);
    let puts = puts.parse()?;
    let folder = Path::new(folder);
    let next = AtomicU64::new(0);
    runtime()?.block_on(async {
        let mut open = Vec::new();
        for contestant in Contestant::LOCAL {
            let local = Local::open(contestant, folder, false).await?;
            // The first write creates the catalogue's WAL, which takes one more fsync.
            let key = new_key(next.fetch_add(1, Ordering::Relaxed));
            local.put(key, Size::Kb1.content(), None).await?;
            open.push((contestant, local));
        }
        for (contestant, row) in (0..ROUNDS).flat_map(|_| &rows) {
            let (_, local) =
                open.iter().find(|(one, _)| one == contestant).ok_or("it is not open")?;
            let first = next.fetch_add(puts, Ordering::Relaxed);
            let content = row.size.content();
            let turn = Turn { row: *row, ops: puts, first, content, checksum: None };
            mark(folder)?;
            local.turn(&turn).await?;
            mark(folder)?;
        }
        Ok(())
    })
}
