//! Numbered steps with their times, and the commands that they run.

use std::fmt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Result;

/// Prints the heading and the duration of each step.
pub(crate) struct Steps {
    started: Stopwatch,
    count: usize,
}

impl Steps {
    pub(crate) fn new() -> Self {
        Self { started: Stopwatch::start(), count: 0 }
    }

    /// Runs one step under a heading.
    pub(crate) fn step<T>(
        &mut self,
        title: impl fmt::Display,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.count += 1;
        let number = self.count;
        println!("\n=== {number}. {title}");
        let stopwatch = Stopwatch::start();
        let result = work();
        let outcome = if result.is_ok() { "done" } else { "FAILED" };
        println!("=== {number}. {outcome} after {stopwatch}");
        result
    }

    /// Runs a command as one step.
    pub(crate) fn command(&mut self, title: &str, command: &mut Command) -> Result<()> {
        self.step(format_args!("{title}: {}", line(command)), || run(command))
    }

    /// Prints that all steps have succeeded.
    pub(crate) fn finish(self, what: &str) {
        println!("\n=== {what}: all steps done after {}", self.started);
    }
}

/// Runs a command with its output shown; fails if the command fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|error| format!("cannot run `{}`: {error}", line(command)))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{}` failed: {status}", line(command)).into())
    }
}

/// Runs a command and returns its standard output. Standard error is shown.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot run `{}`: {error}", line(command)))?;
    if !output.status.success() {
        return Err(format!("`{}` failed: {}", line(command), output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Command line as a person would type it: program names without their folder.
pub(crate) fn line(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let program = program.file_name().unwrap_or(command.get_program());
    std::iter::once(program)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Stopwatch of real time, for output only.
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(
        clippy::disallowed_methods,
        reason = "it times real commands, and no decision depends on it"
    )]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

impl fmt::Display for Stopwatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} s", self.elapsed().as_secs_f64())
    }
}

/// Waits 100 ms between two checks of something outside this process.
#[expect(
    clippy::disallowed_methods,
    reason = "it waits for other processes, which no test clock moves"
)]
pub(crate) fn pause() {
    std::thread::sleep(Duration::from_millis(100));
}
