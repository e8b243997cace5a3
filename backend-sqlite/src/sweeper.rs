//! When a store sweeps, and who carries it out.
//!
//! Every so often its thread looks whether anything has expired. If so, and no other store on the file
//! sweeps, it is deleted step by step. While there are callers, a step goes along with a group of their
//! writes, whoever carries it out: it needs no commit of its own, and nobody finds the connection taken
//! by it. Between the steps whoever waits is served.

use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};
use std::time::Duration;

use tabla_core::Result;
use tabla_core::env::{Env, Timestamp};
use tokio::sync::watch;

use crate::session::Session;
use crate::sweep::{Seen, Step, Sweep};
use crate::writer::Shared;

/// How long a step waits for a group that it could go along with, while there are callers.
const COMPANY: Duration = Duration::from_millis(2);

/// The most items that a step deletes while there are callers: meant to take about as long as a write
/// and its sync.
const STEP: usize = 8;

/// Where callers write by themselves, a step goes along after so many of their writes, and deletes one
/// item for each time that they have written so many: whoever meets it does about two writes instead
/// of one.
const WRITES_PER_ITEM: usize = 8;

/// How long the thread leaves it to such callers to go on with a sweep, each time that it puts its own
/// step off.
const APART: Duration = Duration::from_millis(2);

/// The shortest period: without any, the thread would do nothing else.
const SHORTEST: Duration = Duration::from_millis(1);

/// How often the thread puts off a step of its own, where callers write by themselves.
const POSTPONED: u32 = 3;

/// How long a step waits after another process was found writing.
const BUSY: Duration = Duration::from_millis(5);

/// What a store's sweeps have done since it was opened: [`SqliteStore::sweeps`].
///
/// [`SqliteStore::sweeps`]: crate::SqliteStore::sweeps
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sweeps {
    /// How many have ended, those that found nothing included.
    pub count: u64,
    /// How many items they have deleted, the one under way included.
    pub deleted: u64,
    /// When the last one ended.
    pub last: Option<Timestamp>,
    /// Why the last one did not delete all that had expired, if so. The next one tries again.
    pub problem: Option<String>,
}

/// The sweep that is under way, and when the next one is due.
pub(crate) struct Sweeper {
    env: Env,
    /// How often it looks, unless never.
    period: Option<Duration>,
    /// When it looks next.
    next: Timestamp,
    under_way: Option<Sweep>,
    /// How long it waits before the next step, unless a group comes sooner that it can join.
    pause: Duration,
    /// What the pause was, and how often it has begun again.
    rest: (Duration, u32),
    /// How many groups there were after the last step.
    groups: usize,
    /// How many items callers have written by themselves since a step went along with them.
    written: usize,
    /// Whether callers write on their own threads.
    inline: bool,
    /// The store's name among those that sweep the file; `None` in memory.
    holder: Option<String>,
    waker: Waker,
    told: Arc<watch::Sender<Sweeps>>,
}

/// What a store sweeps with.
pub(crate) struct Settings {
    pub(crate) period: Option<Duration>,
    pub(crate) inline: bool,
    pub(crate) is_file: bool,
}

/// What a step was taken in.
pub(crate) struct Turn {
    /// How many groups there had been before.
    pub(crate) groups_before: usize,
    /// How many there have been now.
    pub(crate) groups_after: usize,
    /// Whether it was alone in its own.
    pub(crate) is_alone: bool,
}

impl Sweeper {
    pub(crate) fn new(
        settings: Settings,
        env: &Env,
        shared: Weak<Shared>,
        told: Arc<watch::Sender<Sweeps>>,
    ) -> Self {
        let Settings { period, inline, is_file } = settings;
        let period = period.map(|period| period.max(SHORTEST));
        Self {
            env: env.clone(),
            period,
            next: env.clock.now() + period.unwrap_or_default(),
            under_way: None,
            pause: Duration::ZERO,
            rest: (Duration::ZERO, 0),
            groups: 0,
            written: 0,
            inline,
            holder: is_file.then(|| env.token()),
            waker: Waker::from(Arc::new(Moved(shared))),
            told,
        }
    }

    /// How long the thread may sleep if nobody wakes it. `None` is for ever: whoever moves a clock
    /// by hand wakes it.
    pub(crate) fn wait(&mut self) -> Option<Duration> {
        let period = self.period?;
        if self.under_way.is_some() {
            return Some(std::mem::take(&mut self.pause));
        }
        // Asked for first: whoever moves the clock after it is looked at wakes the thread.
        self.env.clock.wake_when_moved(self.waker.clone());
        let remaining = self.env.clock.remaining(self.next)?;
        if remaining > period {
            // The clock was set back.
            self.next = self.env.clock.now() + period;
        }
        Some(remaining.min(period))
    }

    /// Begins a sweep if it is time for one, and something to sweep is seen.
    pub(crate) fn begin(&mut self, look: impl FnOnce(Timestamp, Option<&str>) -> Result<Seen>) {
        let now = self.env.clock.now();
        if self.period.is_none() || self.under_way.is_some() || now < self.next {
            return;
        }
        match look(now, self.holder.as_deref()) {
            Ok(Seen::Something) => {
                self.under_way = Some(Sweep::new(now, STEP));
                self.pause = Duration::ZERO;
            }
            Ok(Seen::Nothing) => self.end(None),
            Ok(Seen::Other(until)) => self.next = until,
            Err(error) => self.end(Some(error.message().to_owned())),
        }
    }

    /// Whether a sweep is under way.
    pub(crate) fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// The sweep whose next step is to go along with a group that writes so many items, and how many
    /// items it may delete.
    ///
    /// A sweep writes no more than those whom it goes along with: the log is moved to the file when it
    /// is long, while they wait, and would be so many times as often.
    pub(crate) fn along(&mut self, items: usize) -> Option<(Sweep, usize)> {
        let sweep = self.under_way.as_ref()?;
        let most = match self.inline {
            false => items.max(1),
            true => {
                self.written += items;
                let most = self.written / WRITES_PER_ITEM;
                self.written %= WRITES_PER_ITEM;
                most
            }
        };
        (most > 0).then(|| (sweep.clone(), most))
    }

    /// The sweep whose next step the thread is to take now, by itself. Where callers write by
    /// themselves it leaves them some time to take it along.
    pub(crate) fn alone(&mut self) -> Option<Sweep> {
        let (rest, postponed) = &mut self.rest;
        if self.inline && !rest.is_zero() && *postponed < POSTPONED {
            self.pause = *rest;
            *postponed += 1;
            return None;
        }
        self.under_way.clone()
    }

    /// Takes a step inside of a group, which deletes at most so many items.
    pub(crate) fn step(
        &self,
        session: &mut Session<'_>,
        sweep: &mut Sweep,
        most: usize,
    ) -> Result<Step> {
        match &self.holder {
            Some(holder) => match session.take_lease(holder)? {
                Some(until) => Ok(Step::Other(until)),
                None => session.sweep(sweep, most),
            },
            None => session.sweep(sweep, most),
        }
    }

    /// Goes on after a step that has been committed, or has failed; `None` if another process was
    /// writing.
    pub(crate) fn stepped(&mut self, sweep: Sweep, outcome: Option<Result<Step>>, turn: Turn) {
        let Some(before) = self.under_way.take() else { return };
        let Turn { groups_before, groups_after, is_alone } = turn;
        let company = !is_alone || groups_before != self.groups;
        self.groups = groups_after;
        self.pause = match company {
            true if self.inline => APART,
            true => COMPANY,
            false => Duration::ZERO,
        };
        self.rest = (self.pause, 0);
        match outcome {
            None => {
                self.pause = BUSY;
                self.under_way = Some(before);
            }
            Some(Ok(step)) => {
                let deleted = sweep.deleted - before.deleted;
                self.told.send_if_modified(|sweeps| {
                    sweeps.deleted += deleted as u64;
                    deleted > 0
                });
                match step {
                    Step::More => self.under_way = Some(sweep),
                    Step::Done => self.end(sweep.problem),
                    Step::Other(until) => self.next = until,
                }
            }
            Some(Err(error)) => {
                self.under_way = sweep.after_failure(before, &error);
                if self.under_way.is_none() {
                    self.end(Some(error.message().to_owned()));
                }
            }
        }
    }

    fn end(&mut self, problem: Option<String>) {
        let now = self.env.clock.now();
        self.next = now + self.period.unwrap_or_default();
        self.told.send_modify(|sweeps| {
            sweeps.count += 1;
            sweeps.last = Some(now);
            sweeps.problem = problem;
        });
    }
}

/// Wakes the thread when a clock is moved. The clock may outlive the store, and does not keep it.
struct Moved(Weak<Shared>);

impl Wake for Moved {
    fn wake(self: Arc<Self>) {
        if let Some(shared) = self.0.upgrade() {
            shared.wake_thread();
        }
    }
}
