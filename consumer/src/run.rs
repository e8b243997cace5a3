//! The loop of a running consumer, until it is stopped.
//!
//! The drain is in `drain`, the work on one shard in `shard`.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::channel::mpsc;
use futures::future::{Either, FutureExt, join, select};
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::sync::Notify;

use super::checkpoint_table::WorkerEntry;
use super::handler::Handler;
use super::lease::Lease;
use super::settings::Consumer;
use super::shard::ShardOutcome;
use super::worker::{Mode, Worker};
use tabla_core::attr;
use tabla_core::{Error, Result};

impl Consumer {
    /// Processes the changes of the table with the handler until `stop` is ready.
    ///
    /// The work is shared with all consumers of the same name. On `stop`, the current records are
    /// finished, checkpoints are saved, and leases are released.
    ///
    /// All work is done inside this future: dropping it is like a crash, after which other workers
    /// take the shards when their leases expire.
    ///
    /// # Errors
    /// - Errors of the store that a retry does not resolve.
    /// - [`Config`], if a setting is invalid or the table has no stream.
    /// - [`TrimmedData`], if changes were deleted before they were handled.
    /// - The error of a handler that [stops](super::Failure::stop) the consumer.
    ///
    /// [`Config`]: tabla_core::ErrorKind::Config
    /// [`TrimmedData`]: tabla_core::ErrorKind::TrimmedData
    pub async fn run(
        &self,
        handler: &dyn Handler,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<()> {
        let mut stop = std::pin::pin!(stop);
        let open = std::pin::pin!(Worker::open(self, Mode::Run));
        let worker = match select(stop.as_mut(), open).await {
            Either::Left(_) => return Ok(()),
            Either::Right((worker, _)) => worker?,
        };
        let (begin, mut begun) = mpsc::unbounded();
        let running = RunLoop {
            worker: &worker,
            held: Mutex::default(),
            failed: Mutex::default(),
            look_again: Notify::new(),
            begin,
        };
        let coordinate = running.coordinate(stop);
        let work = async {
            let mut working = FuturesUnordered::new();
            loop {
                let lease = match select(begun.next(), working.next()).await {
                    Either::Left((lease, _)) => lease,
                    Either::Right((Some(()), _)) => continue,
                    // No shard is being processed.
                    Either::Right((None, lease)) => lease.await,
                };
                match lease {
                    Some(lease) => working.push(running.work(lease, handler).boxed()),
                    None => break,
                }
            }
            working.for_each(|()| async {}).await;
        };
        join(coordinate, work).await;
        let failed = running.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        failed.map_or(Ok(()), Err)
    }
}

/// State of a running worker.
struct RunLoop<'w> {
    worker: &'w Worker<'w>,
    /// Leases of the shards in progress, by entry.
    held: Mutex<BTreeMap<String, Arc<Lease>>>,
    /// First error, which stops the worker.
    failed: Mutex<Option<Error>>,
    /// Wakes the coordinator before its next regular rebalance.
    look_again: Notify,
    begin: mpsc::UnboundedSender<Arc<Lease>>,
}

impl RunLoop<'_> {
    fn held(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Lease>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_failed(&self) -> bool {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Records an error; [`Consumer::run`] returns the first one.
    fn fail(&self, error: Error) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.look_again.notify_one();
    }

    async fn work(&self, lease: Arc<Lease>, handler: &dyn Handler) {
        let end = self.worker.work(&lease, handler).await;
        let entry = lease.entry().entry.clone();
        self.held().remove(&entry);
        match end {
            // The children of the shard are ready now.
            Ok(ShardOutcome::Finished) => self.look_again.notify_one(),
            Ok(ShardOutcome::Released | ShardOutcome::CaughtUp | ShardOutcome::LeaseLost) => {}
            Err(error) => self.fail(error),
        }
    }

    /// Rebalances three times per lease duration, until the worker is stopped.
    async fn coordinate(&self, mut stop: impl Future<Output = ()> + Unpin) {
        let clock = self.worker.clock();
        let mut beat = self.worker.checkpoint_table.worker(&self.worker.id);
        beat.lease_ms = lease_ms(self.worker.consumer.settings.lease);
        while !self.has_failed() {
            let next = clock.monotonic() + self.worker.consumer.settings.lease / 3;
            // A started rebalance is finished: it may have just taken a lease.
            if let Err(error) = self.rebalance(&mut beat).await {
                self.fail(error);
                break;
            }
            let look_again = std::pin::pin!(self.look_again.notified());
            let pause = select(clock.sleep_until(next), look_again);
            if let Either::Left(_) = select(&mut stop, pause).await {
                break;
            }
        }
        for lease in self.held().values() {
            lease.request_release();
        }
        self.begin.close_channel();
        // Without this, others detect the end of this worker only when its lease expires.
        let _ = self.worker.checkpoint_table.delete(&beat.entry, None).await;
    }

    /// Renews the worker's own entry, then releases shards above its share or takes some below it.
    async fn rebalance(&self, beat: &mut WorkerEntry) -> Result<()> {
        let worker = self.worker;
        beat.counter += 1;
        worker.checkpoint_table.put(tabla_core::Item::from_struct(beat)?).await?;
        let living = self.live_workers(&beat.worker).await?;
        let view = worker.load_view().await?;
        let part = share(view.ready.len(), &living, &worker.id);
        let mut staying = {
            let held = self.held();
            let staying: Vec<_> =
                held.values().filter(|lease| !lease.release_requested()).collect();
            for lease in staying.iter().skip(part) {
                lease.request_release();
            }
            staying.len()
        };
        // A random first shard, so that concurrent workers do not all compete for the same one.
        let mut ready = view.ready;
        let first = worker.policy.env.random.next_u64() as usize % ready.len().max(1);
        ready.rotate_left(first);
        for (place, entry) in &ready {
            let is_held =
                entry.as_ref().is_some_and(|entry| self.held().contains_key(&entry.entry));
            // `is_free` is called for every shard, because it also tracks changes of the entry.
            if is_held || !worker.is_free(entry) || staying >= part {
                continue;
            }
            let Some(lease) = worker.take_lease(place, entry).await? else { continue };
            let lease = Arc::new(lease);
            let key = lease.entry().entry.clone();
            self.held().insert(key, Arc::clone(&lease));
            staying += 1;
            // The receiver lives as long as this runs.
            let _ = self.begin.unbounded_send(lease);
        }
        Ok(())
    }

    /// Returns the live workers, this one included. Deletes the entries of expired ones.
    async fn live_workers(&self, own: &str) -> Result<Vec<String>> {
        let mut living = Vec::new();
        for WorkerEntry { entry, worker, counter, lease_ms, .. } in
            self.worker.checkpoint_table.workers().await?
        {
            let lease = Duration::from_millis(lease_ms);
            let now = self.worker.clock().monotonic();
            let is_dead = worker != own
                && self.worker.sightings().is_unchanged(&entry, counter.to_string(), lease, now);
            if is_dead {
                let is_unchanged = attr("counter").eq(counter);
                self.worker.checkpoint_table.delete(&entry, Some(is_unchanged)).await?;
            } else {
                living.push(worker);
            }
        }
        Ok(living)
    }
}

fn lease_ms(lease: Duration) -> u64 {
    u64::try_from(lease.as_millis()).unwrap_or(u64::MAX)
}

/// Number of shards that a worker may hold. All workers compute it from the order of their ids, so
/// that their shares add up to all shards.
fn share(shards: usize, workers: &[String], own: &str) -> usize {
    let count = workers.len().max(1);
    let before = workers.iter().filter(|worker| worker.as_str() < own).count();
    shards / count + usize::from(before < shards % count)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn shares_of_all_workers_add_up(shards in 0_usize..50, workers in 1_usize..20) {
            let ids: Vec<String> = (0..workers).map(|id| format!("{id:03}")).collect();
            let parts: Vec<usize> = ids.iter().map(|id| share(shards, &ids, id)).collect();
            prop_assert_eq!(parts.iter().sum::<usize>(), shards);
            prop_assert!(parts.iter().all(|part| *part <= shards.div_ceil(workers)));
            prop_assert!(parts.iter().all(|part| *part >= shards / workers));
        }
    }
}
