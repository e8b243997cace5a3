//! Fsyncs of the servers, which tell what a put survives: strace counts them from outside.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::comparison::Turn;
use super::content::Size;
use super::options::Options;
use super::server::{Server, ServerProgram};
use super::{Contestant, Operation, Row};
use crate::embedded::Failure;
use crate::http::program::Host;

/// System calls that make data durable.
const CALLS: &str = "trace=fsync,fdatasync,sync,syncfs,sync_file_range,msync";

/// Fsyncs per put of a server.
pub(crate) struct Traced {
    pub(super) contestant: Contestant,
    pub(super) row: Row,
    pub(super) per_put: f64,
}

/// Counts the fsyncs of each server, one after the other.
pub(super) fn measure(
    options: &Options,
    host: &Host,
    programs: &[&ServerProgram],
) -> Result<Vec<Traced>, Failure> {
    let mut found = Vec::new();
    for program in programs {
        let server = program.start(host)?;
        let mut first = 0;
        for size in [Size::Kb1, Size::Mb1] {
            for callers in options.callers.iter().copied() {
                let row = Row { operation: Operation::Put, size, callers };
                let ops = options.counted_puts;
                let turn = Turn { row, ops, first, content: size.content(), checksum: None };
                first += ops;
                let per_put = trace(host, &server, &turn)?;
                found.push(Traced { contestant: program.contestant, row, per_put });
            }
        }
    }
    Ok(found)
}

fn trace(host: &Host, server: &Server, turn: &Turn) -> Result<f64, Failure> {
    // The first put after the start may sync more.
    host.runtime.block_on(server.write("first", turn.content.clone(), None))?;
    let noted = host.folder.path().join("trace");
    let trace = Trace::attach(server.running.process(), &noted)?;
    host.runtime.block_on(server.turn(turn))?;
    trace.detach()?;
    Ok(calls(&std::fs::read_to_string(&noted)?) as f64 / turn.ops as f64)
}

/// Number of calls in the output of strace. A call that another thread interrupts has two lines, of
/// which the second does not have its name before a bracket.
fn calls(trace: &str) -> usize {
    trace.lines().filter(|line| line.contains("sync(") || line.contains("sync_file_range(")).count()
}

/// Running strace.
struct Trace(Child);

impl Trace {
    /// Attaches strace to all threads of a process.
    fn attach(process: u32, noted: &std::path::Path) -> Result<Self, Failure> {
        let mut command = Command::new("strace");
        command.args(["-f", "-e", CALLS, "-o"]).arg(noted).args(["-p", &process.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| format!("cannot run strace, which counts fsyncs: {error}"))?;
        let messages = child.stderr.take().ok_or("strace has no standard error")?;
        let mut lines = BufReader::new(messages).lines();
        let trace = Self(child);
        match lines.next().transpose()? {
            Some(line) if line.contains("attached") => {
                // Unread messages would block strace.
                std::thread::spawn(move || lines.for_each(drop));
                Ok(trace)
            }
            line => {
                Err(format!("strace could not attach to the server: {}", line.unwrap_or_default())
                    .into())
            }
        }
    }

    /// Ends strace, which then writes the rest of its output.
    fn detach(mut self) -> Result<(), Failure> {
        let process = self.0.id().to_string();
        Command::new("kill").args(["-INT", &process]).status()?;
        self.0.wait()?;
        Ok(())
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        // Both calls fail only if strace has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interrupted_call_counts_once() {
        let trace = "\
7 fsync(3 <unfinished ...>
8 fdatasync(9) = 0
7 <... fsync resumed>) = 0
7 +++ exited with 0 +++
";
        assert_eq!(calls(trace), 2);
    }
}
