//! Number of fsyncs per durable write, with many concurrent writers.
//!
//! This program does the writes as a child of a tool that records system calls ([`Tool`]). Between
//! the rows of the table the child creates folders, which the engine never does. So the record
//! shows which fsyncs belong to which row; those of opening and closing belong to none.

use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use tabla_core::Store;
use tabla_sqlite::{Durability, SqliteConfig, SqliteStore};

use crate::embedded::options::list;
use crate::embedded::workload::{ITEMS, StorageMode, Workload};
use crate::embedded::{Failure, Folder, Row, tabla as work};
use crate::median::median;
use crate::process;

/// Command with which this program starts itself as the child.
pub(crate) const CHILD: &str = "syncs-child";

const OPERATIONS: [Workload; 3] = [Workload::Put, Workload::Update, Workload::Transact];

/// Goals: highest number of fsyncs per write, by the number of callers.
const GOALS: [(usize, f64); 2] = [(16, 0.15), (64, 0.05)];

/// Measures, prints the table, and fails if a goal is missed.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let mut callers = vec![1, 16, 64];
    let mut writes = 50;
    let mut rounds = 5;
    let mut folder = std::env::temp_dir();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{argument}: the value is missing"))?;
        let positive = |text: &str| text.parse().ok().filter(|number| *number > 0);
        match argument.as_str() {
            "--callers" => callers = list(value, positive)?,
            "--writes" => writes = positive(value).ok_or("--writes must be at least 1")?,
            "--rounds" => rounds = positive(value).ok_or("--rounds must be at least 1")?,
            "--folder" => folder = value.into(),
            _ => {
                return Err(
                    format!("unknown option {argument}; see `cargo xtask bench help`").into()
                );
            }
        }
    }
    let folder = Folder::make(&folder)?;
    let rows = rows(&callers, writes);
    // Filled with relaxed durability and without the tool: only the child is measured.
    runtime()?.block_on(async {
        let config = SqliteConfig::file(file(folder.path())).with_durability(Durability::Relaxed);
        work::load(&SqliteStore::open(&config).await?).await
    })?;
    let tool = Tool::find(folder.path());
    let noted = folder.path().join("noted");
    let output = process::json_output(
        tool.command(&noted)
            .arg(std::env::current_exe()?)
            .args([CHILD, &numbers(&callers), &writes.to_string(), &rounds.to_string()])
            .arg(folder.path()),
    )?;
    let seconds: Vec<f64> = serde_json::from_value(output)?;
    let syncs = count(&tool.events(&noted)?, rounds * rows.len())?;
    println!("fsyncs per durable write; {tool}; files in {folder}");
    println!("{rounds} rounds, of which the median counts");
    match print(&rows, &syncs, &seconds) {
        0 => Ok(()),
        missed => Err(format!("{missed} goals missed").into()),
    }
}

/// Prints a line per row from the counts of each round; returns the number of missed goals.
fn print(rows: &[Row], syncs: &[f64], seconds: &[f64]) -> usize {
    println!(
        "{:<12} {:>8} {:>8} {:>10} {:>8} {:>8} {:>8}   writes/s",
        "", "callers", "writes", "per write", "worst", "goal", ""
    );
    let mut missed = 0;
    for (number, row) in rows.iter().enumerate() {
        let per_write = |all: &[f64]| -> Vec<f64> {
            let of_row = all.iter().skip(number).step_by(rows.len());
            of_row.map(|figure| figure / row.ops as f64).collect()
        };
        let (syncs, seconds) = (per_write(syncs), per_write(seconds));
        let worst = syncs.iter().copied().fold(0.0, f64::max);
        let figure = median(&syncs).unwrap_or(worst);
        let goal = goal(row.callers);
        let is_missed = goal.is_some_and(|goal| figure > goal);
        missed += usize::from(is_missed);
        let verdict = match goal {
            None => "",
            Some(_) if is_missed => "MISSED",
            Some(_) => "met",
        };
        println!(
            "{:<12} {:>8} {:>8} {figure:>10.3} {worst:>8.3} {:>8} {verdict:>8}   {:.0}",
            row.operation.name(),
            row.callers,
            row.ops,
            goal.map_or_else(String::new, |goal| format!("<= {goal}")),
            median(&seconds).map_or(0.0, |seconds| 1.0 / seconds)
        );
    }
    missed
}

fn goal(callers: usize) -> Option<f64> {
    GOALS.iter().find(|(number, _)| *number == callers).map(|(_, most)| *most)
}

/// Does the writes of all rows, round by round, and prints the seconds of each.
pub(crate) fn child(arguments: &[String]) -> Result<(), Failure> {
    let [callers, writes, rounds, folder] = arguments else {
        return Err(format!("`{CHILD}` is started by `syncs`, not by hand").into());
    };
    let rows = rows(&list(callers, |number| number.parse().ok())?, writes.parse()?);
    let rounds: usize = rounds.parse()?;
    let folder = Path::new(folder);
    let seconds: Result<Vec<f64>, Failure> = runtime()?.block_on(async {
        let store: Arc<dyn Store> =
            Arc::new(SqliteStore::open(&SqliteConfig::file(file(folder))).await?);
        let mut next_item = ITEMS;
        let mut seconds = Vec::new();
        for row in (0..rounds).flat_map(|_| &rows) {
            mark(folder)?;
            seconds.push(work::timed(&store, row, next_item).await?);
            mark(folder)?;
            // Updates need new numbers too: each sets a value that no update has set before.
            next_item += row.ops * row.operation.new_items().max(1);
        }
        Ok(seconds)
    });
    println!("{}", serde_json::to_string(&seconds?)?);
    Ok(())
}

/// Work of a round, in order.
fn rows(callers: &[usize], writes: usize) -> Vec<Row> {
    let row = |operation, callers| Row {
        place: StorageMode::Durable,
        operation,
        callers,
        ops: (writes * callers) as u64,
    };
    OPERATIONS.into_iter().flat_map(|one| callers.iter().map(move |many| row(one, *many))).collect()
}

pub(crate) fn numbers(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

fn file(folder: &Path) -> std::path::PathBuf {
    folder.join("syncs.db")
}

pub(crate) fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()
}

/// Leaves a mark in the record of system calls.
pub(crate) fn mark(folder: &Path) -> std::io::Result<()> {
    let mark = folder.join("mark");
    std::fs::create_dir(&mark)?;
    std::fs::remove_dir(mark)
}

/// Part of the name of the system call that marks; the full name depends on the system.
const MARK: &str = "mkdir";

/// Tool that records the system calls of a child.
#[derive(Clone, Copy)]
pub(crate) enum Tool {
    /// Does not slow down the child, but is not always installed or permitted.
    Perf,
    /// Stops the child at every fsync, twice, which changes how callers overlap and makes the
    /// rounds differ more.
    Strace,
}

impl Tool {
    /// Returns `perf` if it works, otherwise `strace`.
    pub(crate) fn find(folder: &Path) -> Self {
        let trial =
            Self::Perf.command(&folder.join("trial")).arg("true").stderr(Stdio::null()).status();
        match trial.is_ok_and(|status| status.success()) {
            true => Self::Perf,
            false => Self::Strace,
        }
    }

    /// Command that runs a program and records its system calls in a file.
    pub(crate) fn command(self, noted: &Path) -> Command {
        let mut command;
        match self {
            Self::Perf => {
                command = Command::new("perf");
                command.args(["record", "--quiet"]);
                for call in ["fsync", "fdatasync", "mkdir*"] {
                    command.args(["-e", &format!("syscalls:sys_enter_{call}")]);
                }
            }
            Self::Strace => {
                command = Command::new("strace");
                // Without `--seccomp-bpf`, every system call of every thread would stop.
                command.args(["-f", "-qq", "--seccomp-bpf"]);
                command.args(["-e", "trace=fsync,fdatasync,/^mkdir"]);
            }
        }
        command.arg("-o").arg(noted);
        command
    }

    /// Recorded calls, one line each, in order.
    pub(crate) fn events(self, noted: &Path) -> Result<String, Failure> {
        match self {
            Self::Strace => Ok(std::fs::read_to_string(noted)?),
            Self::Perf => {
                let mut script = Command::new("perf");
                script.args(["script", "--fields", "time,event", "-i"]).arg(noted);
                Ok(String::from_utf8(process::output(&mut script)?.stdout)?)
            }
        }
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Perf => "counted by perf",
            Self::Strace => "counted by strace, which slows down every fsync",
        })
    }
}

/// Number of fsyncs of each row: the calls after its first mark and before its second.
pub(crate) fn count(events: &str, rows: usize) -> Result<Vec<f64>, Failure> {
    let mut counts = vec![0.0];
    for line in events.lines() {
        if line.contains(MARK) {
            counts.push(0.0);
        } else if ["fsync(", "fdatasync(", "_fsync:", "_fdatasync:"]
            .iter()
            .any(|call| line.contains(call))
            && let Some(count) = counts.last_mut()
        {
            // If another thread's call comes in between, strace writes a second line for the call,
            // without its name and a bracket.
            *count += 1.0;
        }
    }
    match counts.len() == 2 * rows + 1 {
        true => Ok(counts.into_iter().skip(1).step_by(2).collect()),
        false => Err(format!(
            "{} marks in the system calls of {rows} rows, not two per row",
            counts.len() - 1
        )
        .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syncs_are_counted_between_marks() {
        let strace = "\
7 fsync(3) = 0
7 mkdir(\"/f/mark\", 0777) = 0
8 fdatasync(9 <unfinished ...>
8 <... fdatasync resumed>) = 0
8 fsync(4) = 0
7 mkdir(\"/f/mark\", 0777) = 0
7 fsync(3) = 0
7 mkdirat(AT_FDCWD, \"/f/mark\", 0777) = 0
7 mkdirat(AT_FDCWD, \"/f/mark\", 0777) = 0
";
        assert_eq!(count(strace, 2).unwrap(), [2.0, 0.0]);
        assert!(count(strace, 3).is_err());
        let perf = "\
14239.166145:     syscalls:sys_enter_mkdir:
14239.166257: syscalls:sys_enter_fdatasync:
14239.166258:     syscalls:sys_enter_fsync:
14239.166318:   syscalls:sys_enter_mkdirat:
";
        assert_eq!(count(perf, 1).unwrap(), [2.0]);
    }

    #[test]
    fn rows_scale_with_callers_and_median_round_decides_goal() {
        let rows = rows(&[1, 16], 10);
        let ops: Vec<u64> = rows.iter().map(|row| row.ops).collect();
        assert_eq!(ops, [10, 160, 10, 160, 10, 160]);
        assert_eq!((goal(1), goal(16), goal(64)), (None, Some(0.15), Some(0.05)));
        // Of three rounds the median counts: the fourth row is over its goal in two.
        let round = |fourth: f64| [10.0, 20.0, 10.0, fourth, 10.0, 20.0];
        let syncs = [round(30.0), round(20.0), round(30.0)].concat();
        assert_eq!(print(&rows, &syncs, &[1.0; 18]), 1);
        let syncs = [round(30.0), round(20.0), round(20.0)].concat();
        assert_eq!(print(&rows, &syncs, &[1.0; 18]), 0);
    }
}
