//! Queue of the writer: jobs that wait for a write group, and requests to the writer's thread.
//!
//! # No lost wake-ups
//!
//! The thread or caller that executes a group holds the connection. No thread waits for the
//! connection while it holds the queue's lock. Two rules make sure that every queued job is
//! executed:
//!
//! 1. Where callers write inline, a caller queues its job first and then tries to take the
//!    connection. The holder of the connection checks the queue after releasing it. So if the
//!    caller's attempt fails, the holder checks the queue after the job was added, and finds it.
//! 2. The thread decides to sleep under the queue's lock, and the condition variable releases that
//!    lock. A caller adds work for the thread under the lock and notifies it afterwards. So the
//!    thread either sees the addition before it sleeps, or is woken by the notification. It checks
//!    the queue each time before it sleeps, also after it has held the connection (rule 1).
//!
//! A sweep step needs no notification: while one is queued, the thread sleeps for at most
//! [`TICK`] at a time.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Wake;
use std::time::Duration;

use super::group::Group;
use super::job::{SweepJob, WriteJob};
use crate::sweeper::{SweepEnd, SweepStep};

/// Maximum duration of one sleep of the thread while a sweep is under way.
const TICK: Duration = Duration::from_millis(2);

/// Time that a sweep step waits for a group of callers before it runs alone, on a durable store
/// while callers write.
const PAUSE: Duration = Duration::from_millis(2);

/// Same as [`PAUSE`], on a store whose callers write inline. It is longer, because a step that runs
/// alone makes a caller find the connection taken and wait for another thread.
const INLINE_PAUSE: Duration = Duration::from_millis(8);

/// Time that a sweep step waits after its group was not begun because another process was writing.
const BUSY_PAUSE: Duration = Duration::from_millis(5);

/// Number of items that inline callers write for each item that a piggybacked step deletes: a
/// caller that executes a step of one item does about two writes instead of one.
const INLINE_ITEMS_PER_DELETION: usize = 8;

/// Queue of the writer, shared by the callers, the thread, and the clock that wakes the thread.
pub(super) struct Queue {
    state: Mutex<State>,
    /// Wakes the thread.
    wake: Condvar,
}

/// Content of the queue, under its lock.
pub(super) struct State {
    pub(super) jobs: VecDeque<Box<dyn WriteJob>>,
    pub(super) sweep: SweepSlot,
    /// Whether the thread is asked to execute a step of maintenance.
    pub(super) maintenance: bool,
    /// Whether the thread is asked to checkpoint the WAL.
    pub(super) checkpoint: bool,
    /// Whether the thread is asked to end when no jobs are left.
    pub(super) stop: bool,
}

impl Queue {
    pub(super) fn new(is_inline: bool) -> Self {
        let state = State {
            jobs: VecDeque::new(),
            sweep: SweepSlot::new(is_inline),
            // Continues the maintenance of a process that ended early.
            maintenance: true,
            checkpoint: false,
            stop: false,
        };
        Self { state: Mutex::new(state), wake: Condvar::new() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues the job of a caller. The caller must then try to execute it or notify the thread:
    /// rules 1 and 2 of the module.
    pub(super) fn push(&self, job: Box<dyn WriteJob>) {
        self.lock().jobs.push_back(job);
    }

    pub(super) fn has_jobs(&self) -> bool {
        !self.lock().jobs.is_empty()
    }

    /// Takes the next group: the waiting jobs, oldest first, and the sweep step if it
    /// may piggyback.
    ///
    /// The jobs have at most `max_items` items, unless the first one alone has more. `own_items` is
    /// the number of items of the calling thread's own job in this group, which is not in the
    /// queue. With `lone_step`, the sweep step is also taken if there are no jobs.
    pub(super) fn take_group(
        &self,
        max_items: usize,
        own_items: Option<usize>,
        lone_step: bool,
    ) -> Group {
        let mut state = self.lock();
        let mut items = 0;
        let sizes = state.jobs.iter().map(|job| job.items());
        let fits = |size: &usize| {
            let is_first = items == 0;
            items += size;
            is_first || items <= max_items
        };
        let count = sizes.take_while(fits).count();
        let jobs: Vec<_> = state.jobs.drain(..count).collect();
        let step = match own_items.is_some() || !jobs.is_empty() {
            true => {
                let queued: usize = jobs.iter().map(|job| job.items()).sum();
                state.sweep.take_piggybacked(own_items.unwrap_or_default() + queued)
            }
            false if lone_step => state.sweep.take_alone(),
            false => None,
        };
        Group { jobs, step }
    }

    /// Puts back the jobs of a group that was not begun because another process was writing.
    pub(super) fn put_back(&self, group: Group) {
        let mut state = self.lock();
        for job in group.jobs.into_iter().rev() {
            state.jobs.push_front(job);
        }
        if let Some(step) = group.step {
            state.sweep.put(step, BUSY_PAUSE);
        }
    }

    /// Queues the first step of a sweep.
    pub(super) fn begin_sweep(&self, step: SweepStep) {
        self.lock().sweep.put(Box::new(SweepJob::new(step)), Duration::ZERO);
    }

    /// Queues the next step of a sweep.
    pub(super) fn continue_sweep(&self, step: Box<SweepJob>) {
        self.lock().sweep.put_next(step);
    }

    /// Reports the end of a sweep to the thread.
    pub(super) fn end_sweep(&self, end: SweepEnd) {
        self.lock().sweep.content = Content::Ended(end);
        self.notify();
    }

    /// Asks the thread to execute a step of maintenance.
    pub(super) fn request_maintenance(&self) {
        self.lock().maintenance = true;
        self.notify();
    }

    /// Asks the thread to checkpoint the WAL.
    pub(super) fn request_checkpoint(&self) {
        self.lock().checkpoint = true;
        self.notify();
    }

    /// Asks the thread to end after the jobs that wait.
    pub(super) fn request_stop(&self) {
        self.lock().stop = true;
        self.notify();
    }

    /// Wakes the thread.
    pub(super) fn notify(&self) {
        self.wake.notify_one();
    }

    /// Sleeps until the thread is notified or `longest` has passed; `None` is no limit. Returns
    /// whether the time has passed.
    pub(super) fn sleep<'q>(
        &self,
        state: MutexGuard<'q, State>,
        longest: Option<Duration>,
    ) -> (MutexGuard<'q, State>, bool) {
        let Some(longest) = longest else {
            return (self.wake.wait(state).unwrap_or_else(PoisonError::into_inner), false);
        };
        let (state, timeout) =
            self.wake.wait_timeout(state, longest).unwrap_or_else(PoisonError::into_inner);
        (state, timeout.timed_out())
    }
}

/// Waker for a manual clock, which wakes the thread when it is moved. The clock may outlive the
/// store; it then keeps only the empty queue alive.
impl Wake for Queue {
    fn wake(self: Arc<Self>) {
        // With the lock, so that the thread is not between looking at the clock and sleeping.
        let _state = self.lock();
        self.notify();
    }
}

impl State {
    /// Whether the thread has no work at once, apart from sweep steps.
    pub(super) fn is_idle(&self) -> bool {
        self.jobs.is_empty()
            && !self.maintenance
            && !self.checkpoint
            && !self.stop
            && !matches!(self.sweep.content, Content::Ended(_))
    }
}

/// Slot of the sweep step in the queue, behind the jobs of callers.
///
/// A step piggybacks on a group of callers and deletes at most as many items as the group writes;
/// if callers write inline, one for every [`INLINE_ITEMS_PER_DELETION`]. After a pause without a
/// group of callers it runs alone.
pub(super) struct SweepSlot {
    content: Content,
    items_per_deletion: usize,
    /// Initial value of `pause` after a step, while callers write.
    full_pause: Duration,
    /// Number of items that groups have written since the last one counted for a deletion; less
    /// than `items_per_deletion`.
    written: usize,
    /// Whether callers have written since the last step.
    has_callers: bool,
    /// Time left until the step runs alone.
    pause: Duration,
}

/// Content of the slot: at most one step.
enum Content {
    /// No sweep is under way.
    Idle,
    /// The step waits for a group.
    Queued(Box<SweepJob>),
    /// A group executes the step.
    Running,
    /// The sweep has ended, and the thread has not taken its report yet.
    Ended(SweepEnd),
}

impl SweepSlot {
    fn new(is_inline: bool) -> Self {
        let (items_per_deletion, full_pause) =
            if is_inline { (INLINE_ITEMS_PER_DELETION, INLINE_PAUSE) } else { (1, PAUSE) };
        Self {
            content: Content::Idle,
            items_per_deletion,
            full_pause,
            written: 0,
            has_callers: false,
            pause: Duration::ZERO,
        }
    }

    /// Returns the maximum time that the thread may sleep because of the step: zero if the step is
    /// to run alone now, `None` if no sweep is under way.
    pub(super) fn until_lone_step(&self) -> Option<Duration> {
        match self.content {
            Content::Idle | Content::Ended(_) => None,
            Content::Queued(_) => Some(self.pause.min(TICK)),
            Content::Running => Some(TICK),
        }
    }

    /// Subtracts time that the thread has slept from the pause.
    pub(super) fn slept(&mut self, time: Duration) {
        self.pause = self.pause.saturating_sub(time);
    }

    /// Takes the report of a sweep that has ended.
    pub(super) fn take_end(&mut self) -> Option<SweepEnd> {
        match std::mem::replace(&mut self.content, Content::Idle) {
            Content::Ended(end) => Some(end),
            other => {
                self.content = other;
                None
            }
        }
    }

    /// Drops the step when the thread ends.
    pub(super) fn clear(&mut self) {
        self.content = Content::Idle;
    }

    /// Takes the step for a group in which callers write `items`, if these allow a deletion.
    fn take_piggybacked(&mut self, items: usize) -> Option<Box<SweepJob>> {
        match self.content {
            Content::Idle | Content::Ended(_) => return None,
            Content::Queued(_) | Content::Running => self.has_callers = true,
        }
        if !matches!(self.content, Content::Queued(_)) {
            return None;
        }
        self.written += items;
        let limit = self.written / self.items_per_deletion;
        self.written %= self.items_per_deletion;
        if limit == 0 { None } else { self.take(Some(limit)) }
    }

    /// Takes the step for a group of its own.
    fn take_alone(&mut self) -> Option<Box<SweepJob>> {
        self.take(None)
    }

    fn take(&mut self, piggyback: Option<usize>) -> Option<Box<SweepJob>> {
        match std::mem::replace(&mut self.content, Content::Running) {
            Content::Queued(mut step) => {
                step.set_piggyback(piggyback);
                Some(step)
            }
            other => {
                self.content = other;
                None
            }
        }
    }

    /// Queues the next step of a sweep. While callers write, it waits for their next group, at most
    /// for the full pause.
    fn put_next(&mut self, step: Box<SweepJob>) {
        let is_pausing = step.is_piggybacked() || self.has_callers;
        self.has_callers = false;
        self.put(step, if is_pausing { self.full_pause } else { Duration::ZERO });
    }

    fn put(&mut self, step: Box<SweepJob>, pause: Duration) {
        self.content = Content::Queued(step);
        self.pause = pause;
    }
}

#[cfg(test)]
mod tests {
    use tabla_core::env::{Env, ManualClock, Timestamp};
    use tokio::sync::watch;

    use super::*;
    use crate::session::Session;
    use crate::sweep::SweepCheck;
    use crate::sweeper::{Sweeper, Sweeps};
    use crate::writer::job::GroupOutcome;

    /// Job with this number of items that does nothing.
    struct Idle(usize);

    impl WriteJob for Idle {
        fn items(&self) -> usize {
            self.0
        }

        fn run(&mut self, _: &mut Session<'_>) {}

        fn complete(self: Box<Self>, _: &GroupOutcome, _: &Queue) {}
    }

    fn queue(is_inline: bool, jobs: &[usize]) -> Queue {
        let queue = Queue::new(is_inline);
        for items in jobs {
            queue.push(Box::new(Idle(*items)));
        }
        queue
    }

    fn sweeping(is_inline: bool) -> Queue {
        let clock = ManualClock::new(Timestamp::from_secs(1_800_000_000));
        let sweeps = Arc::new(watch::Sender::new(Sweeps::default()));
        let env = Env::test(clock, 1);
        let mut sweeper = Sweeper::new(Some(Duration::ZERO), false, &env, sweeps);
        let step = sweeper.begin(env.clock.now(), Ok(SweepCheck::Expired)).unwrap();
        let queue = queue(is_inline, &[]);
        queue.begin_sweep(step);
        queue
    }

    /// Takes the step for a group with `own_items` of a caller, returns the most items that it may
    /// delete, and queues the next step.
    fn piggybacked(queue: &Queue, own_items: usize) -> usize {
        let Some(step) = queue.take_group(256, Some(own_items), false).step else { return 0 };
        let limit = step.items();
        assert!(limit > 0 && step.is_piggybacked());
        queue.continue_sweep(step);
        limit
    }

    fn until_lone_step(queue: &Queue) -> Duration {
        queue.lock().sweep.until_lone_step().expect("a sweep is under way")
    }

    /// Returns the time that the thread sleeps until it executes a step alone.
    fn sleep_until_lone_step(queue: &Queue) -> Duration {
        let mut slept = Duration::ZERO;
        while until_lone_step(queue) > Duration::ZERO {
            assert!(queue.take_group(256, None, false).is_empty());
            let tick = until_lone_step(queue);
            queue.lock().sweep.slept(tick);
            slept += tick;
        }
        slept
    }

    #[test]
    fn group_takes_jobs_in_order_up_to_its_limit() {
        let queue = queue(false, &[100, 100, 57, 300, 1]);
        let sizes = |group: &Group| group.jobs.iter().map(|job| job.items()).collect::<Vec<_>>();
        assert_eq!(sizes(&queue.take_group(256, None, false)), [100, 100]);
        let group = queue.take_group(256, None, false);
        assert_eq!(sizes(&group), [57]);
        queue.put_back(group);
        assert_eq!(sizes(&queue.take_group(1, None, false)), [57]);
        assert_eq!(sizes(&queue.take_group(256, None, false)), [300]);
        assert_eq!(sizes(&queue.take_group(256, None, true)), [1]);
        assert!(queue.take_group(256, None, true).is_empty());
    }

    #[test]
    fn step_deletes_no_more_items_than_a_durable_group_writes() {
        let queue = sweeping(false);
        assert_eq!([1, 25, 3].map(|items| piggybacked(&queue, items)), [1, 25, 3]);
        queue.push(Box::new(Idle(4)));
        assert_eq!(queue.take_group(256, None, false).step.unwrap().items(), 4);
    }

    #[test]
    fn step_deletes_one_item_for_eight_that_inline_callers_write() {
        let queue = sweeping(true);
        assert_eq!([1, 6, 1, 25, 7].map(|items| piggybacked(&queue, items)), [0, 0, 1, 3, 1]);
    }

    #[test]
    fn step_runs_alone_after_a_pause_without_callers() {
        for (is_inline, pause) in [(false, PAUSE), (true, INLINE_PAUSE)] {
            let queue = sweeping(is_inline);
            assert_eq!(sleep_until_lone_step(&queue), Duration::ZERO);
            assert_ne!(piggybacked(&queue, 8), 0);
            assert_eq!(sleep_until_lone_step(&queue), pause);
            let step = queue.take_group(256, None, true).step.unwrap();
            assert!(!step.is_piggybacked());
            assert_eq!(until_lone_step(&queue), TICK, "the thread checks while the step runs");
            queue.continue_sweep(step);
            assert_eq!(sleep_until_lone_step(&queue), Duration::ZERO, "there were no callers");
            // A caller writes too little for a deletion, or while a step runs.
            let step = queue.take_group(256, None, true).step.unwrap();
            assert_eq!(piggybacked(&queue, 1), 0);
            queue.continue_sweep(step);
            assert_eq!(sleep_until_lone_step(&queue), pause);
        }
    }

    #[test]
    fn step_waits_while_another_process_is_writing() {
        let queue = sweeping(true);
        queue.put_back(queue.take_group(256, None, true));
        assert_eq!(sleep_until_lone_step(&queue), BUSY_PAUSE);
        queue.put_back(queue.take_group(256, Some(8), false));
        assert_eq!(sleep_until_lone_step(&queue), BUSY_PAUSE);
        assert!(queue.take_group(256, None, true).step.is_some());
    }

    #[test]
    fn end_of_a_sweep_is_reported_once_and_keeps_the_thread_awake() {
        let queue = sweeping(false);
        queue.lock().maintenance = false;
        assert!(queue.lock().is_idle());
        drop(queue.take_group(256, None, true));
        queue.end_sweep(SweepEnd::Done { problem: None });
        assert!(!queue.lock().is_idle());
        assert!(queue.take_group(256, Some(8), true).is_empty());
        assert_eq!(queue.lock().sweep.take_end(), Some(SweepEnd::Done { problem: None }));
        assert_eq!(queue.lock().sweep.take_end(), None);
        assert!(queue.lock().is_idle() && queue.lock().sweep.until_lone_step().is_none());
    }
}
