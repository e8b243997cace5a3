//! Draining: processing of all records that exist.
//!
//! The ends of the shards are in `drain_bound`; the consumer in the background is in `run`.

use std::collections::BTreeSet;

use futures::stream::{FuturesUnordered, StreamExt};

use super::checkpoint_table::shard_entry;
use super::handler::Handler;
use super::lease::Lease;
use super::settings::Consumer;
use super::shard::ShardOutcome;
use super::worker::{Mode, Worker};
use tabla_core::Result;

/// Report of [`Consumer::drain`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DrainReport {
    /// Number of records that were handled.
    pub handled: u64,
    /// Number of records that were set aside.
    pub set_aside: u64,
    /// Number of shards that were left to other live workers.
    pub leased_elsewhere: usize,
}

impl Consumer {
    /// Handles all changes that exist when the drain begins, then returns: for jobs and tests.
    ///
    /// Changes that are written later, by the handler or by others, are left for the next drain
    /// or run.
    ///
    /// If another worker holds a shard, the drain waits until that worker renews its lease or the
    /// lease expires. After a renewal, it leaves the shard to that worker; after expiry, it takes
    /// the shard over.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    pub async fn drain(&self, handler: &dyn Handler) -> Result<DrainReport> {
        let worker = Worker::open(self, Mode::Drain).await?;
        worker.drain_bounds.open(&worker).await?;
        let mut drained = DrainReport::default();
        let mut done = BTreeSet::new();
        loop {
            let view = worker.load_view().await?;
            let mut leases = Vec::new();
            let mut waits = view.has_missing;
            for (place, entry) in &view.ready {
                let key = shard_entry(&self.table, &place.label, &place.shard);
                // A shard that appeared later has only later changes.
                if done.contains(&key) || !worker.drain_bounds.contains(&key) {
                    continue;
                }
                let is_alive = entry.as_ref().is_some_and(|entry| {
                    worker.sightings().has_changed(&entry.entry, &entry.mark())
                });
                match worker.is_free(entry) {
                    true => match worker.take_lease(place, entry).await? {
                        Some(lease) => leases.push(lease),
                        None => waits = true,
                    },
                    false if is_alive => {
                        drained.leased_elsewhere += 1;
                        done.insert(key);
                    }
                    false => waits = true,
                }
            }
            if leases.is_empty() {
                if !waits {
                    return Ok(drained);
                }
                worker.clock().sleep(self.settings.lease / 3).await;
            }
            let ends = worker.work_on_all(&leases, handler).await?;
            for (lease, end) in leases.iter().zip(ends) {
                let (handled, set_aside) = lease.done_since_taken();
                drained.handled += handled;
                drained.set_aside += set_aside;
                if end == ShardOutcome::CaughtUp {
                    done.insert(lease.entry().entry.clone());
                }
            }
        }
    }
}

impl Worker<'_> {
    /// Processes these shards until all have ended. If one fails, the others are released.
    async fn work_on_all(
        &self,
        leases: &[Lease],
        handler: &dyn Handler,
    ) -> Result<Vec<ShardOutcome>> {
        let work = |(number, lease)| async move { (number, self.work(lease, handler).await) };
        let mut working: FuturesUnordered<_> = leases.iter().enumerate().map(work).collect();
        let mut ends = vec![ShardOutcome::Released; leases.len()];
        let mut failed = None;
        while let Some((number, end)) = working.next().await {
            match end {
                Ok(end) => ends[number] = end,
                Err(error) => {
                    failed.get_or_insert(error);
                    leases.iter().for_each(Lease::request_release);
                }
            }
        }
        failed.map_or(Ok(ends), Err)
    }
}
