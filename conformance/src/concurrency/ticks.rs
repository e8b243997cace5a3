//! Logical clock that orders the recorded calls.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Logical clock that all tasks share: every tick is a unique number, larger than those before.
///
/// It orders calls and responses without reading the time. A tick is also the tag of the write
/// that follows it. [`Ticks::default`] is the clock of one process, [`Ticks::in_file`] one that
/// several processes share.
#[derive(Clone, Debug)]
pub struct Ticks(Source);

#[derive(Clone, Debug)]
enum Source {
    Counter(Arc<AtomicU64>),
    Appended { path: PathBuf, file: Arc<Mutex<File>> },
}

impl Default for Ticks {
    fn default() -> Self {
        Self(Source::Counter(Arc::default()))
    }
}

impl Ticks {
    /// Clock that all processes with this file share. Creates the file if it does not exist.
    ///
    /// A tick appends one byte to the file, and its number is the position of the byte: the system
    /// orders the appends of all processes. A process continues after its byte is written. So its
    /// later actions follow all ticks of smaller numbers, and its earlier actions precede all ticks
    /// of larger numbers, without trust in any clock. The file must be on a local disk: not every
    /// network file system appends atomically.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn in_file(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let file = OpenOptions::new().append(true).create(true).open(&path)?;
        Ok(Self(Source::Appended { path, file: Arc::new(Mutex::new(file)) }))
    }

    /// Path of the shared file; `None` for the clock of one process.
    pub(super) fn path(&self) -> Option<&Path> {
        match &self.0 {
            Source::Counter(_) => None,
            Source::Appended { path, .. } => Some(path),
        }
    }

    /// Next tick, from 1.
    pub(super) fn next(&self) -> io::Result<u64> {
        match &self.0 {
            // Sequentially consistent, so that the ticks also order the memory accesses around
            // them.
            Source::Counter(last) => Ok(last.fetch_add(1, Ordering::SeqCst) + 1),
            Source::Appended { file, .. } => {
                // The tasks of a process share one file position: read it before another task moves
                // it.
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.write_all(b".")?;
                file.stream_position()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn file_ticks_are_unique_and_increasing() {
        let folder = std::env::temp_dir().join(format!("tabla-ticks-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("ticks");
        // Clocks that share only the file, like those of several processes.
        let count =
            |clock: Ticks| -> Vec<u64> { (0..500).map(|_| clock.next().unwrap()).collect() };
        let clocks: Vec<_> = (0..4).map(|_| Ticks::in_file(&path).unwrap()).collect();
        let threads: Vec<_> = (clocks.iter().chain(&clocks))
            .map(|clock| {
                let clock = clock.clone();
                std::thread::spawn(move || count(clock))
            })
            .collect();
        let counted: Vec<Vec<u64>> = threads.into_iter().map(|t| t.join().unwrap()).collect();
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(counted.iter().all(|ticks| ticks.is_sorted()));
        let all: BTreeSet<u64> = counted.into_iter().flatten().collect();
        assert!(all.into_iter().eq(1..=4_000));
    }
}
