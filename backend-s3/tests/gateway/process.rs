//! Child processes of tests, and their memory.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Runs one test of this program in a process of its own, so that its memory is that of the test.
/// Prints its output, and returns the last line that starts with `kept`, which is not printed.
pub(crate) fn run_alone(test: &str, marker: &str, kept: &str) -> String {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", test, "--nocapture", "--test-threads=1"])
        .env(marker, "1")
        .stdout(Stdio::piped())
        .spawn()
        .expect("a child");
    let mut last = String::new();
    for line in BufReader::new(child.stdout.take().expect("piped output")).lines() {
        let line = line.expect("text");
        match line.starts_with(kept) {
            true => last = line,
            false => println!("{line}"),
        }
    }
    let status = child.wait().expect("an ended child");
    assert!(status.success(), "{test}: {status}; {last}");
    last
}

/// Memory of this process in MB: now (`VmRSS`), or the peak (`VmHWM`). Only Linux tells it.
pub(crate) fn memory(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024)
}

/// Makes the memory of now the peak.
pub(crate) fn reset_peak() {
    if cfg!(target_os = "linux") {
        std::fs::write("/proc/self/clear_refs", "5").expect("Linux resets the peak");
    }
}
