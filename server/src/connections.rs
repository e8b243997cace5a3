//! Connections: how many there are, and which one gives way to another.
//!
//! A connection is idle unless a request of its client is being executed: between two requests, and
//! while a part of one is missing. Where there are as many connections as there may be, a new one
//! takes the place of the one that has been idle for the longest time.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// The connections of a server.
#[derive(Debug)]
pub(crate) struct Connections {
    places: Arc<Semaphore>,
    open: Mutex<HashMap<u64, Arc<Shared>>>,
    /// Counts the times at which a connection became idle, and so orders them.
    ticks: AtomicU64,
    /// Whether a new connection waits for one that is idle.
    is_wanted: AtomicBool,
    /// A connection became idle while one was wanted.
    idled: Notify,
}

/// Whether there is a place for a new connection.
enum Admission {
    Free(OwnedSemaphorePermit),
    /// A connection is being closed.
    Coming,
    /// All connections execute requests.
    None,
}

/// What a connection is doing.
const IDLE: u8 = 0;
const EXECUTING: u8 = 1;
/// The answer is on its way, and not all of it was handed to the system.
const ANSWERING: u8 = 2;
/// It gives way, and executes nothing any more.
const CLOSING: u8 = 3;

#[derive(Debug)]
struct Shared {
    connections: Arc<Connections>,
    state: AtomicU8,
    idle_since: AtomicU64,
    closed: Notify,
}

impl Connections {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            places: Arc::new(Semaphore::new(limit.max(1))),
            open: Mutex::default(),
            ticks: AtomicU64::new(0),
            is_wanted: AtomicBool::new(false),
            idled: Notify::new(),
        })
    }

    /// A place for a new connection, as soon as there is one. If all are taken, the longest idle
    /// connection is closed; if none is idle, the first that becomes so.
    pub(crate) async fn acquire(self: &Arc<Self>) -> Connection {
        let permit = loop {
            let idled = self.idled.notified();
            let freed = match self.evict_idle() {
                Admission::Free(permit) => break permit,
                Admission::Coming => Arc::clone(&self.places).acquire_owned().await,
                Admission::None => tokio::select! {
                    permit = Arc::clone(&self.places).acquire_owned() => permit,
                    () = idled => continue,
                },
            };
            break freed.expect("the semaphore is never closed");
        };
        self.is_wanted.store(false, Ordering::SeqCst);
        self.admit(permit)
    }

    fn admit(self: &Arc<Self>, permit: OwnedSemaphorePermit) -> Connection {
        let id = self.ticks.fetch_add(1, Ordering::Relaxed);
        let shared = Arc::new(Shared {
            connections: Arc::clone(self),
            state: AtomicU8::new(IDLE),
            idle_since: AtomicU64::new(id),
            closed: Notify::new(),
        });
        self.lock().insert(id, Arc::clone(&shared));
        Connection { id, handle: ConnectionState(shared), permit: Some(permit) }
    }

    /// Takes a free place, or has the connection closed that has been idle for the longest time.
    fn evict_idle(&self) -> Admission {
        // Every connection with a permit is in the map of open ones: both change under this lock.
        let open = self.lock();
        if let Ok(permit) = Arc::clone(&self.places).try_acquire_owned() {
            return Admission::Free(permit);
        }
        self.is_wanted.store(true, Ordering::SeqCst);
        if open.values().any(|one| one.state.load(Ordering::SeqCst) == CLOSING) {
            return Admission::Coming;
        }
        loop {
            let idle = open.values().filter(|one| one.state.load(Ordering::SeqCst) == IDLE);
            let longest = idle.min_by_key(|one| one.idle_since.load(Ordering::Relaxed));
            let Some(longest) = longest else { return Admission::None };
            let state = &longest.state;
            if state.compare_exchange(IDLE, CLOSING, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
                longest.closed.notify_one();
                return Admission::Coming;
            }
            // It has begun to execute a request in the meantime, and stays.
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Arc<Shared>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that has a place, until this is dropped.
#[derive(Debug)]
pub(crate) struct Connection {
    id: u64,
    handle: ConnectionState,
    permit: Option<OwnedSemaphorePermit>,
}

impl Connection {
    /// What says what the connection is doing.
    pub(crate) fn handle(&self) -> ConnectionState {
        self.handle.clone()
    }

    /// Waits until the connection has to give way.
    pub(crate) async fn closed(&self) {
        self.handle.0.closed.notified().await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut open = self.handle.0.connections.lock();
        open.remove(&self.id);
        drop(self.permit.take());
    }
}

/// Says what a connection is doing.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionState(Arc<Shared>);

impl ConnectionState {
    /// Begins to execute a request, until what is returned is dropped and the answer was written;
    /// `None` if the connection is being closed.
    pub(crate) fn execute(&self) -> Option<ExecutionGuard> {
        let begun = self.0.state.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |state| {
            (state != CLOSING).then_some(EXECUTING)
        });
        begun.ok().map(|_| ExecutionGuard(Arc::clone(&self.0)))
    }

    /// Nothing waits to be written any more.
    pub(crate) fn flushed(&self) {
        let Shared { connections, state, idle_since, .. } = &*self.0;
        if state.load(Ordering::Relaxed) != ANSWERING {
            return;
        }
        idle_since.store(connections.ticks.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        state.store(IDLE, Ordering::SeqCst);
        if connections.is_wanted.load(Ordering::SeqCst) {
            connections.idled.notify_one();
        }
    }
}

/// A request that is being executed.
#[derive(Debug)]
pub(crate) struct ExecutionGuard(Arc<Shared>);

impl Drop for ExecutionGuard {
    fn drop(&mut self) {
        self.0.state.store(ANSWERING, Ordering::SeqCst);
    }
}

/// The body of an answer: its request is being executed until the body was taken.
#[derive(Debug)]
pub(crate) struct ResponseBody {
    body: Full<Bytes>,
    _executing: ExecutionGuard,
}

impl ResponseBody {
    pub(crate) fn new(body: Bytes, executing: ExecutionGuard) -> Self {
        Self { body: Full::new(body), _executing: executing }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn execute_once(connection: &Connection) {
        drop(connection.handle().execute().unwrap());
        connection.handle().flushed();
    }

    #[tokio::test]
    async fn longest_idle_connection_gives_way() {
        let connections = Connections::new(3);
        let [first, second, third] =
            [connections.acquire().await, connections.acquire().await, connections.acquire().await];
        execute_once(&first);
        let _executing = second.handle().execute().unwrap();
        let mut place = Box::pin(connections.acquire());
        assert!(place.as_mut().now_or_never().is_none());
        assert!(third.closed().now_or_never().is_some());
        assert!(first.closed().now_or_never().is_none());
        assert!(second.closed().now_or_never().is_none());
        assert!(third.handle().execute().is_none(), "it executes nothing any more");
        drop(third);
        let fourth = place.now_or_never().unwrap();
        // The first has been idle longer than the fourth.
        let mut place = Box::pin(connections.acquire());
        assert!(place.as_mut().now_or_never().is_none());
        assert!(first.closed().now_or_never().is_some());
        assert!(fourth.closed().now_or_never().is_none());
    }

    #[tokio::test]
    async fn connection_whose_answer_is_not_written_stays() {
        let connections = Connections::new(1);
        let only = connections.acquire().await;
        let executing = only.handle().execute().unwrap();
        let mut place = Box::pin(connections.acquire());
        assert!(place.as_mut().now_or_never().is_none());
        assert!(only.closed().now_or_never().is_none());
        only.handle().flushed();
        drop(executing);
        assert!(place.as_mut().now_or_never().is_none());
        assert!(only.closed().now_or_never().is_none());
        only.handle().flushed();
        assert!(place.as_mut().now_or_never().is_none());
        assert!(only.closed().now_or_never().is_some());
        drop(only);
        assert!(place.now_or_never().is_some());
    }
}
