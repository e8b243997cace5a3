//! Syncs of the folder entries of new files. Those that are created while a sync runs share the
//! next one.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use tabla_core::Result;

/// Queue of entries, and the sync that runs.
#[derive(Debug, Default)]
pub(super) struct EntrySyncs {
    state: Mutex<State>,
    sync_ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Subfolder of new files until the next sync begins.
    subfolder: Option<u8>,
    /// Batch that the next sync makes durable, and its subfolders.
    next: Option<(Arc<Batch>, BTreeSet<u8>)>,
    is_syncing: bool,
}

/// Outcome of a sync, once it has ended.
type Batch = OnceLock<Result<()>>;

/// Entry of a file that exists and may not be durable yet.
#[derive(Debug)]
pub(super) struct PendingEntry(Arc<Batch>);

impl EntrySyncs {
    /// Subfolder for a new file: `drawn` for the first one after the begin of a sync, and the same
    /// one for those that follow.
    pub(super) fn subfolder(&self, drawn: u8) -> u8 {
        *self.lock().subfolder.get_or_insert(drawn)
    }

    /// Adds the entry of a file in a subfolder to the next batch; returns whether it is its first.
    /// The file must exist.
    pub(super) fn add(&self, subfolder: u8) -> (PendingEntry, bool) {
        let mut state = self.lock();
        let is_first = state.next.is_none();
        let (batch, subfolders) = state.next.get_or_insert_default();
        subfolders.insert(subfolder);
        (PendingEntry(Arc::clone(batch)), is_first)
    }

    /// Syncs one batch after the other until none is left, unless another thread does.
    pub(super) fn sync(&self, mut sync_subfolder: impl FnMut(u8) -> Result<()>) {
        let mut state = self.lock();
        while !state.is_syncing && state.next.is_some() {
            state = self.sync_next(state, &mut sync_subfolder);
        }
    }

    /// Waits for the sync of an entry's batch, and executes it if no other thread does.
    ///
    /// # Errors
    /// Those of the sync: none of its entries can be relied on.
    pub(super) fn wait(
        &self,
        entry: &PendingEntry,
        mut sync_subfolder: impl FnMut(u8) -> Result<()>,
    ) -> Result<()> {
        let mut state = self.lock();
        loop {
            if let Some(outcome) = entry.0.get() {
                return match outcome {
                    Ok(()) => Ok(()),
                    Err(error) => Err(error.without_source()),
                };
            }
            state = match state.is_syncing {
                true => self.sync_ended.wait(state).unwrap_or_else(PoisonError::into_inner),
                false => self.sync_next(state, &mut sync_subfolder),
            };
        }
    }

    fn sync_next<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        sync_subfolder: impl FnMut(u8) -> Result<()>,
    ) -> MutexGuard<'a, State> {
        let Some((batch, subfolders)) = state.next.take() else { return state };
        (state.subfolder, state.is_syncing) = (None, true);
        drop(state);
        let outcome = subfolders.into_iter().try_for_each(sync_subfolder);
        // Only this thread has taken the batch.
        let _ = batch.set(outcome);
        let mut state = self.lock();
        state.is_syncing = false;
        self.sync_ended.notify_all();
        state
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use tabla_core::Error;

    use super::*;

    #[test]
    fn entries_of_one_batch_share_a_sync() {
        let syncs = EntrySyncs::default();
        let (first, is_first) = syncs.add(syncs.subfolder(7));
        assert!(is_first);
        let (second, is_first) = syncs.add(syncs.subfolder(8));
        assert!(!is_first);
        let mut synced = Vec::new();
        let mut sync = |number| {
            synced.push(number);
            Ok(())
        };
        syncs.wait(&second, &mut sync).unwrap();
        syncs.wait(&first, &mut sync).unwrap();
        assert_eq!(syncs.subfolder(9), 9, "a sync has begun");
        let (third, is_first) = syncs.add(9);
        assert!(is_first);
        syncs.sync(&mut sync);
        syncs.wait(&third, &mut sync).unwrap();
        syncs.sync(&mut sync);
        assert_eq!(synced, [7, 9]);
    }

    #[test]
    fn entry_that_is_added_during_a_sync_waits_for_the_next_one() {
        let syncs = EntrySyncs::default();
        let (first, _) = syncs.add(1);
        let (begun, has_begun) = mpsc::channel();
        let (end, may_end) = mpsc::channel();
        let synced = Mutex::new(Vec::new());
        thread::scope(|scope| {
            let (syncs, synced) = (&syncs, &synced);
            scope.spawn(move || {
                syncs.sync(|number| {
                    begun.send(()).unwrap();
                    may_end.recv().unwrap();
                    synced.lock().unwrap().push(number);
                    Ok(())
                });
            });
            has_begun.recv().unwrap();
            let (second, is_first) = syncs.add(2);
            assert!(is_first, "the batch of the sync is closed");
            end.send(()).unwrap();
            end.send(()).unwrap();
            let by_itself = |number| {
                synced.lock().unwrap().push(number);
                Ok(())
            };
            syncs.wait(&second, by_itself).unwrap();
            syncs.wait(&first, by_itself).unwrap();
        });
        assert_eq!(*synced.lock().unwrap(), [1, 2]);
    }

    #[test]
    fn failed_sync_is_reported_for_each_of_its_entries_and_no_other() {
        let syncs = EntrySyncs::default();
        let (first, second) = (syncs.add(1).0, syncs.add(2).0);
        syncs.sync(|_| Err(Error::validation("a broken disk")));
        let third = syncs.add(1).0;
        syncs.wait(&third, |_| Ok(())).unwrap();
        for entry in [first, second] {
            let error = syncs.wait(&entry, |_| Ok(())).unwrap_err();
            assert_eq!(error.message(), "a broken disk");
        }
    }
}
