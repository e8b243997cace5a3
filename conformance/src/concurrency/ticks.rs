//! The clock that orders what is recorded.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A logical clock that all tasks share: every tick is another number, and later ones are larger.
///
/// It orders calls and answers without reading the time, and a tick also serves as the tag of
/// what is written after it. [`Ticks::default`] is the clock of one process, [`Ticks::in_file`]
/// one that several processes share.
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
    /// The clock of all processes that name this file, which is created if there is none.
    ///
    /// A tick is a byte at the end of the file, and its number is where it came to stand: the
    /// system appends the bytes of all processes one after another. A process goes on when its
    /// byte stands. So what it does next comes after all ticks of smaller numbers, and what it has
    /// done comes before all of larger ones; no clock has to be trusted. The file has to be on a
    /// disk of this machine: not every network file system appends like that.
    ///
    /// # Errors
    /// If the file cannot be opened.
    pub fn in_file(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let file = OpenOptions::new().append(true).create(true).open(&path)?;
        Ok(Self(Source::Appended { path, file: Arc::new(Mutex::new(file)) }))
    }

    /// The file that others may share.
    pub(super) fn path(&self) -> Option<&Path> {
        match &self.0 {
            Source::Counter(_) => None,
            Source::Appended { path, .. } => Some(path),
        }
    }

    /// The next number, from 1.
    pub(super) fn next(&self) -> io::Result<u64> {
        match &self.0 {
            // One total order of all ticks, which also orders what happens around them.
            Source::Counter(last) => Ok(last.fetch_add(1, Ordering::SeqCst) + 1),
            Source::Appended { file, .. } => {
                // Tasks of one process have one position in the file: it is asked for before
                // another of them moves it.
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
    fn ticks_in_a_file_are_all_different_and_grow() {
        let folder = std::env::temp_dir().join(format!("tabla-ticks-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("ticks");
        // Clocks that share nothing but the file, as those of several processes.
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
