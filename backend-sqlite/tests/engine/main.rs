//! Tests of the engine beyond the conformance suite: files, processes, damage, full disks.

mod concurrency;
mod consumers;
mod costly;
mod differential;
mod expiry;
mod files;
mod full_disk;
mod histories;
mod kill_sweeps;
mod kills;
mod processes;
#[cfg(unix)]
mod read_only;
mod retries;
mod shared_streams;
mod streams;
mod support;
mod traces;
mod wal;
