//! Processing of one shard: read, handle, save the checkpoint.
//!
//! Which shards a worker takes is decided in `run` and `worker`.

use futures::future::{Either, select};

use super::drain_bound::reaches;
use super::handler::{Failure, FailureAction, Handler, attempt};
use super::lease::{Lease, LeaseState};
use super::set_aside::SetAside;
use super::worker::{Mode, Worker};
use tabla_core::ops::*;
use tabla_core::{Error, ErrorKind, Result, Retry};
use tabla_core::{RetryMode, Store};

/// Number of successive empty reads that mean the end of a shard. One is not enough: a read covers
/// a part of a shard, which can be empty (API reference, GetRecords).
pub(super) const EMPTY_READS: u32 = 3;

/// Result of processing a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShardOutcome {
    /// The shard is closed, and all its records have been handled.
    Finished,
    /// The lease was released after the current record.
    Released,
    /// All records have been handled; in a drain, all up to its bound.
    CaughtUp,
    /// Another worker holds the lease, or could hold it.
    LeaseLost,
}

/// Result of a read.
enum PageRead {
    Page(GetRecordsOutput),
    /// The shard no longer exists.
    Deleted,
}

/// Result of the delivery of a record.
enum DeliveryOutcome {
    /// The record was handled or set aside.
    Past,
    /// The record was left to the next lease holder.
    Left,
    /// Another worker holds the lease.
    Lost,
}

impl Worker<'_> {
    /// Processes a shard until it ends or its release is requested, and renews its lease meanwhile.
    pub(super) async fn work(&self, lease: &Lease, handler: &dyn Handler) -> Result<ShardOutcome> {
        self.consumer.metrics.set_lag(&lease.shard, None);
        let read = std::pin::pin!(self.read_shard(lease, handler));
        let keep = std::pin::pin!(lease.renew_until_lost(&self.checkpoint_table, self.clock()));
        let end = match select(read, keep).await {
            Either::Left((end, _)) => end,
            // The handler is dropped at its current await.
            Either::Right((result, _)) => result.map(|()| ShardOutcome::LeaseLost),
        };
        self.consumer.metrics.forget(&lease.shard);
        if let Ok(ShardOutcome::LeaseLost) = end {
            self.consumer.metrics.note_lost();
        }
        end
    }

    async fn read_shard(&self, lease: &Lease, handler: &dyn Handler) -> Result<ShardOutcome> {
        let entry = lease.entry().entry.clone();
        let mut next = None;
        let mut empty_reads = 0;
        loop {
            if lease.release_requested() {
                return self.leave(lease, ShardOutcome::Released).await;
            }
            let permit = self.permits.acquire().await.expect("the semaphore is never closed");
            let page = match self.read_page(lease, next.take()).await? {
                PageRead::Page(page) => page,
                PageRead::Deleted => {
                    let entry = lease.entry().clone();
                    self.remove(&entry).await?;
                    return Ok(ShardOutcome::Finished);
                }
            };
            let end = match page.records.is_empty() {
                true => None,
                // The bound is read after the page. If there is no record behind it yet, the whole
                // page is before it.
                false => self.drain_bounds.end_of(self, &entry).await?,
            };
            for record in &page.records {
                if end.as_ref().is_some_and(|end| reaches(&record.sequence_number, end)) {
                    return self.leave(lease, ShardOutcome::CaughtUp).await;
                }
                if lease.release_requested() {
                    return self.leave(lease, ShardOutcome::Released).await;
                }
                self.drain_bounds.keep(self).await?;
                lease.start_record(record, &self.consumer.metrics);
                match self.deliver(lease, record, handler).await {
                    Ok(DeliveryOutcome::Past) => lease.finish_record(record),
                    Ok(DeliveryOutcome::Left) => {
                        return self.leave(lease, ShardOutcome::Released).await;
                    }
                    Ok(DeliveryOutcome::Lost) => return Ok(ShardOutcome::LeaseLost),
                    Err(error) => {
                        // The records before this one count, even if the release fails.
                        let _ = lease.release(&self.checkpoint_table, self.clock()).await;
                        return Err(error);
                    }
                }
            }
            next = page.next_iterator;
            if next.is_none() {
                return match lease.finish(&self.checkpoint_table, self.clock()).await? {
                    LeaseState::Held => Ok(ShardOutcome::Finished),
                    LeaseState::Lost => Ok(ShardOutcome::LeaseLost),
                };
            }
            if !page.records.is_empty() {
                empty_reads = 0;
                if let LeaseState::Lost = lease.save(&self.checkpoint_table, self.clock()).await? {
                    return Ok(ShardOutcome::LeaseLost);
                }
                continue;
            }
            drop(permit);
            empty_reads += 1;
            if empty_reads < EMPTY_READS {
                continue;
            }
            lease.reach_end(self.now(), &self.consumer.metrics);
            if self.mode == Mode::Drain {
                return self.leave(lease, ShardOutcome::CaughtUp).await;
            }
            let next_read = self.clock().monotonic() + self.consumer.settings.poll_every;
            let pause = self.clock().sleep_until(next_read);
            select(pause, std::pin::pin!(lease.wait_for_release_request())).await;
        }
    }

    async fn leave(&self, lease: &Lease, end: ShardOutcome) -> Result<ShardOutcome> {
        match lease.release(&self.checkpoint_table, self.clock()).await? {
            LeaseState::Held => Ok(end),
            LeaseState::Lost => Ok(ShardOutcome::LeaseLost),
        }
    }

    /// Reads the next page. Without a usable iterator, it continues after the last handled record.
    async fn read_page(&self, lease: &Lease, next: Option<ShardIterator>) -> Result<PageRead> {
        let mut next = next;
        let mut attempts = self
            .policy
            .start_attempts(RetryMode::Idempotent, "to read from the horizon of a shard");
        loop {
            let kept = next.take();
            let is_kept = kept.is_some();
            let iterator = match kept {
                Some(iterator) => Ok(iterator),
                None => self.iterator(lease).await,
            };
            let limit = Some(self.consumer.settings.batch);
            let read = match iterator {
                Ok(iterator) => {
                    self.store.get_records(GetRecords::new(iterator).limit(limit)).await
                }
                Err(error) => Err(error),
            };
            let error = match read {
                Ok(page) => return Ok(PageRead::Page(page)),
                Err(error) => error,
            };
            match error.kind() {
                ErrorKind::ExpiredIterator if is_kept => {}
                ErrorKind::NotFound => return Ok(PageRead::Deleted),
                ErrorKind::TrimmedData => {
                    let (is_begun, is_at_end) = {
                        let entry = lease.entry();
                        let is_begun = entry.position.is_some() || entry.start_at.is_some();
                        (is_begun, entry.caught_up_at.is_some())
                    };
                    if is_kept && (is_begun || !is_at_end) {
                        // A new iterator shows whether records were trimmed: DynamoDB Local rejects
                        // one at a sequence number that another table's stream was given.
                    } else if is_kept || is_begun {
                        self.continue_at_the_horizon(lease, &error)?;
                    } else {
                        // Records were trimmed after the iterator was returned.
                        attempts.check::<()>(Err(error.with_retry(Retry::Later)))?;
                        attempts.next_attempt().await?;
                    }
                }
                _ => return Err(error),
            }
        }
    }

    async fn iterator(&self, lease: &Lease) -> Result<ShardIterator> {
        let position = lease.begins();
        let (arn, shard) = (lease.arn.clone(), lease.shard.clone());
        self.store.get_shard_iterator(GetShardIterator::new(arn, shard, position)).await
    }

    /// Continues at the horizon after the next records were trimmed. Fails if that may be a gap and
    /// gaps are errors; otherwise counts the gap.
    fn continue_at_the_horizon(&self, lease: &Lease, error: &Error) -> Result<()> {
        let mut entry = lease.entry();
        if self.may_have_gap(&entry) {
            let position = match (&entry.position, &entry.start_at) {
                (Some(position), _) => format!("after {position}"),
                (None, Some(start)) => format!("from {start} on"),
                (None, None) => "after its start".to_owned(),
            };
            self.report_gap(format_args!("shard {} {position}: {error}", entry.shard))?;
            entry.gaps += 1;
        }
        entry.position = None;
        entry.start_at = None;
        Ok(())
    }

    /// Passes a record to the handler until it is handled, set aside, or left to the next
    /// lease holder.
    async fn deliver(
        &self,
        lease: &Lease,
        record: &Record,
        handler: &dyn Handler,
    ) -> Result<DeliveryOutcome> {
        let max_attempts = self.consumer.settings.max_attempts;
        let pauses = self.policy.clone().with_attempts(max_attempts);
        let mut pauses = pauses.start_attempts(RetryMode::Idempotent, "to handle a record");
        let mut attempts = lease.panics(record);
        loop {
            if let LeaseState::Lost = lease.confirm(&self.checkpoint_table, self.clock()).await? {
                return Ok(DeliveryOutcome::Lost);
            }
            attempts += 1;
            let Err(failure) = attempt(handler, record).await else {
                lease.entry().handled += 1;
                self.consumer.metrics.note_handled();
                return Ok(DeliveryOutcome::Past);
            };
            self.consumer.metrics.note_failed_attempt();
            match failure.action() {
                FailureAction::Stop => return Err(self.stopped(record, failure)),
                FailureAction::Retry if attempts < max_attempts => {
                    if failure.is_panic() {
                        // The next panic may end the process, so the count is stored now.
                        lease.note_panic(record);
                        if let LeaseState::Lost =
                            lease.save(&self.checkpoint_table, self.clock()).await?
                        {
                            return Ok(DeliveryOutcome::Lost);
                        }
                    }
                    let pause = std::pin::pin!(pauses.next_attempt());
                    let leaving = std::pin::pin!(lease.wait_for_release_request());
                    if let Either::Right(_) = select(pause, leaving).await {
                        return Ok(DeliveryOutcome::Left);
                    }
                }
                FailureAction::Retry | FailureAction::SetAside => {
                    let entry = lease.entry().clone();
                    let aside = SetAside::new(&entry, record, &failure, attempts, self.now());
                    let key = self.checkpoint_table.set_aside_entry(&entry, record);
                    self.checkpoint_table
                        .put(aside.to_item(self.checkpoint_table.key(&key))?)
                        .await?;
                    lease.entry().set_aside += 1;
                    self.consumer.metrics.note_set_aside();
                    return Ok(DeliveryOutcome::Past);
                }
            }
        }
    }

    fn stopped(&self, record: &Record, failure: Failure) -> Error {
        let (name, number) = (&self.consumer.name, &record.sequence_number);
        Error::new(
            ErrorKind::Unexpected,
            format!("the handler of consumer `{name}` stopped at record {number}: {failure}"),
        )
        .with_source(failure.into_error())
    }
}
