//! Write jobs, which a write group executes: writes of callers, and sweep steps.
//!
//! Waiting jobs are in `queue`; `group` executes them.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tabla_core::{Applied, Error, ErrorKind, Result};
use tokio::sync::oneshot;

use super::queue::Queue;
use crate::error::copy_error;
use crate::session::Session;
use crate::sweep::StepOutcome;
use crate::sweeper::SweepStep;

/// Write that waits in the queue and is executed in a write group.
pub(super) trait WriteJob: Send {
    /// Returns the number of items that the job writes, which limits its group.
    fn items(&self) -> usize;

    /// Executes the write inside the group's transaction, and keeps the result until the
    /// group ends.
    fn run(&mut self, session: &mut Session<'_>);

    /// Reports the result after the group has ended. A job that has another step puts it into
    /// the queue.
    fn complete(self: Box<Self>, outcome: &GroupOutcome, queue: &Queue);
}

/// Outcome of a write group.
pub(super) enum GroupOutcome {
    Committed,
    /// The group was rolled back, with the error and whether its writes can be applied: `Maybe` if
    /// the commit itself failed, because it may have succeeded as a whole.
    Failed(Error, Applied),
}

impl GroupOutcome {
    /// Returns the result of one job of the group; `own` is the result of its execution, `None` if
    /// the job was not executed.
    fn result<T>(&self, own: Option<Result<T>>) -> Result<T> {
        match (self, own) {
            (Self::Committed, own) => own.expect("a committed group has executed all of its jobs"),
            // The job that made the group fail keeps its own error, with its source.
            (Self::Failed(error, applied), Some(Err(own))) if own.message() == error.message() => {
                Err(own.with_applied(*applied))
            }
            (Self::Failed(error, applied), _) => Err(copy_error(error, *applied)),
        }
    }
}

/// Executes one operation. If it panics, the whole group fails.
fn run_operation<T>(
    session: &mut Session<'_>,
    work: impl FnOnce(&mut Session<'_>) -> Result<T>,
) -> Result<T> {
    session.next_operation();
    // A panic is a defect of the engine. It must not end the writer's thread, on which every caller
    // depends. The rollback of the group undoes the changes of the operation.
    let outcome = catch_unwind(AssertUnwindSafe(|| work(session)));
    let result = outcome.unwrap_or_else(|_| {
        let panicked = || {
            Error::new(ErrorKind::Unexpected, "the engine panicked; report this defect of tabla")
        };
        session.fail(panicked());
        Err(panicked())
    });
    if let Err(error) = &result {
        session.end_failed(error);
    }
    result
}

/// Write job of a caller.
pub(super) struct CallerJob<T, F> {
    items: usize,
    work: Option<F>,
    result: Option<Result<T>>,
    reply: Option<oneshot::Sender<Result<T>>>,
}

impl<T, F: FnOnce(&mut Session<'_>) -> Result<T>> CallerJob<T, F> {
    pub(super) fn new(items: usize, work: F) -> Self {
        Self { items, work: Some(work), result: None, reply: None }
    }

    /// Returns the receiver of the result, which is sent when the group has ended.
    pub(super) fn reply(&mut self) -> oneshot::Receiver<Result<T>> {
        let (reply, receiver) = oneshot::channel();
        self.reply = Some(reply);
        receiver
    }

    /// Returns the result of the job, given the outcome of its group.
    pub(super) fn result(&mut self, outcome: &GroupOutcome) -> Result<T> {
        outcome.result(self.result.take())
    }
}

impl<T: Send, F: FnOnce(&mut Session<'_>) -> Result<T> + Send> WriteJob for CallerJob<T, F> {
    fn items(&self) -> usize {
        self.items
    }

    fn run(&mut self, session: &mut Session<'_>) {
        let work = self.work.take().expect("a job runs once");
        self.result = Some(run_operation(session, work));
    }

    fn complete(mut self: Box<Self>, outcome: &GroupOutcome, _: &Queue) {
        let result = self.result(outcome);
        if let Some(reply) = self.reply.take() {
            // A caller that has dropped its future does not undo the write.
            let _ = reply.send(result);
        }
    }
}

/// Write job of the store's own sweep: one sweep step.
pub(super) struct SweepJob {
    step: SweepStep,
    /// Maximum number of items that the step deletes if it piggybacks on a group of callers; `None`
    /// if it has a group of its own.
    piggyback: Option<usize>,
    result: Option<Result<StepOutcome>>,
}

impl SweepJob {
    pub(super) fn new(step: SweepStep) -> Self {
        Self { step, piggyback: None, result: None }
    }

    /// Makes the next step piggyback on a group of callers and delete at most `limit` items; `None`
    /// makes it run in a group of its own.
    pub(super) fn set_piggyback(&mut self, limit: Option<usize>) {
        self.piggyback = limit;
    }

    /// Whether the step shares its group with callers.
    pub(super) fn is_piggybacked(&self) -> bool {
        self.piggyback.is_some()
    }
}

impl WriteJob for SweepJob {
    fn items(&self) -> usize {
        self.piggyback.unwrap_or_default()
    }

    fn run(&mut self, session: &mut Session<'_>) {
        let Self { step, piggyback, .. } = self;
        self.result = Some(run_operation(session, |session| match piggyback {
            // A savepoint, so that a failure of the step does not fail the callers.
            Some(limit) => session.in_savepoint(|session| step.execute(session, *limit)),
            None => step.execute(session, usize::MAX),
        }));
    }

    fn complete(mut self: Box<Self>, outcome: &GroupOutcome, queue: &Queue) {
        let result = outcome.result(self.result.take());
        match self.step.advance(result) {
            None => queue.continue_sweep(self),
            Some(end) => queue.end_sweep(end),
        }
    }
}
