//! The stores on both sides of the server: the failing one behind it, and the opened one before it.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard};

use tabla::ops::{BatchGetItemOutput, BatchWriteItemOutput};
use tabla::{Applied, CancellationCode, Error, ErrorKind, Result, Retry, Store};
use tabla_conformance::fault::{Failures, FaultStore};

use super::state::Tracked;

/// Numbers of occurrences, by kind.
pub(crate) type Counts = BTreeMap<&'static str, u32>;

/// The store behind the server. It fails by the plan of the present run, and counts the failures
/// that it has injected, by kind.
#[derive(Debug)]
pub(crate) struct Behind {
    pub(crate) store: Arc<Tracked>,
    run: Mutex<Run>,
}

#[derive(Debug)]
struct Run {
    faulty: Arc<FaultStore<Arc<Tracked>>>,
    /// Methods that were called in this run, in order.
    calls: Vec<&'static str>,
    /// Failures of all runs.
    injected: Counts,
}

/// Counts the injected failure that an answer shows.
macro_rules! counted {
    ($self:ident, batch_get, $request:ident) => {{
        let answer = $self.next("batch_get").batch_get($request).await;
        $self.count_left(answer.as_ref().is_ok_and(|answer| !answer.unprocessed_keys.is_empty()));
        $self.counted(answer)
    }};
    ($self:ident, batch_write, $request:ident) => {{
        let answer = $self.next("batch_write").batch_write($request).await;
        $self.count_left(answer.as_ref().is_ok_and(|answer| !answer.unprocessed_items.is_empty()));
        $self.counted(answer)
    }};
    ($self:ident, $method:ident, $request:ident) => {{
        let answer = $self.next(stringify!($method)).$method($request).await;
        $self.counted(answer)
    }};
}

tabla::wrap_store! {
    impl[] Store for Behind, inner: store, call: counted
}

impl Behind {
    pub(crate) fn new(store: Arc<Tracked>) -> Self {
        let faulty = Arc::new(FaultStore::new(Arc::clone(&store)));
        let run = Run { faulty, calls: Vec::new(), injected: Counts::new() };
        Self { store, run: Mutex::new(run) }
    }

    fn run(&self) -> MutexGuard<'_, Run> {
        self.run.lock().expect("no panic")
    }

    /// Begins a run with this plan.
    pub(crate) fn begin(&self, failures: Failures) {
        let faulty = FaultStore::new(Arc::clone(&self.store)).failures(failures);
        let mut run = self.run();
        run.faulty = Arc::new(faulty);
        run.calls.clear();
    }

    /// Ends a run: the methods that were called.
    pub(crate) fn end(&self) -> Vec<&'static str> {
        let calls = std::mem::take(&mut self.run().calls);
        self.begin(Failures::new());
        calls
    }

    /// The failures that were injected so far.
    pub(crate) fn injected(&self) -> Counts {
        self.run().injected.clone()
    }

    fn next(&self, method: &'static str) -> Arc<FaultStore<Arc<Tracked>>> {
        let mut run = self.run();
        run.calls.push(method);
        Arc::clone(&run.faulty)
    }

    fn count_left(&self, is_left: bool) {
        if is_left {
            *self.run().injected.entry("unprocessed").or_default() += 1;
        }
    }

    fn counted<T>(&self, answer: Result<T>) -> Result<T> {
        let kind = answer.as_ref().err().and_then(injected_kind);
        if let Some(kind) = kind {
            *self.run().injected.entry(kind).or_default() += 1;
        }
        answer
    }
}

/// The kind of an injected failure. A store in memory has none of its own.
fn injected_kind(error: &Error) -> Option<&'static str> {
    match error.kind() {
        ErrorKind::Throttled => Some("throttled"),
        ErrorKind::TransactionConflict => Some("conflict"),
        ErrorKind::TransactionCanceled { reasons } => reasons
            .iter()
            .any(|reason| reason.code == CancellationCode::TransactionConflict)
            .then_some("conflict"),
        ErrorKind::Unavailable if error.message() == "the response was lost" => Some("answer lost"),
        ErrorKind::Unavailable => Some("unavailable"),
        _ => None,
    }
}

/// The store that was opened, with a note of everything that it should have retried.
#[derive(Debug)]
pub(crate) struct Watched {
    store: Arc<dyn Store>,
    leaks: Mutex<Vec<String>>,
}

macro_rules! watched {
    ($self:ident, batch_get, $request:ident) => {{
        let answer = $self.store.batch_get($request).await;
        if let Ok(BatchGetItemOutput { unprocessed_keys, .. }) = &answer {
            $self.watch_left(unprocessed_keys);
        }
        $self.watched(stringify!(batch_get), answer)
    }};
    ($self:ident, batch_write, $request:ident) => {{
        let answer = $self.store.batch_write($request).await;
        if let Ok(BatchWriteItemOutput { unprocessed_items, .. }) = &answer {
            $self.watch_left(unprocessed_items);
        }
        $self.watched(stringify!(batch_write), answer)
    }};
    ($self:ident, $method:ident, $request:ident) => {{
        let answer = $self.store.$method($request).await;
        $self.watched(stringify!($method), answer)
    }};
}

tabla::wrap_store! {
    impl[] Store for Watched, inner: store, call: watched
}

impl Watched {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, leaks: Mutex::default() }
    }

    /// What has reached the caller since the last call of this, although another attempt could have
    /// helped and changes nothing twice.
    pub(crate) fn leaks(&self) -> Vec<String> {
        std::mem::take(&mut *self.leaks.lock().expect("no panic"))
    }

    fn leak(&self, what: String) {
        self.leaks.lock().expect("no panic").push(what);
    }

    fn watch_left<T: Debug>(&self, left: &BTreeMap<String, T>) {
        if !left.is_empty() {
            self.leak(format!("unprocessed: {left:?}"));
        }
    }

    fn watched<T>(&self, method: &str, answer: Result<T>) -> Result<T> {
        if let Err(error) = &answer
            && error.applied() == Applied::No
            && error.retry() != Retry::Never
        {
            let kind = injected_kind(error).unwrap_or("other");
            self.leak(format!("{method}: {kind}: {error}"));
        }
        answer
    }
}
