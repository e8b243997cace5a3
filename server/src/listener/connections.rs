//! The limit on connections, and the choice of the connection that is closed at the limit.
//!
//! A connection is idle between two requests, and while a request is incomplete, unless its body is
//! streamed. At the limit, a new connection replaces the one that has been idle longest.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use super::body::{BoxError, ResponseBody};

/// All open connections of a server.
#[derive(Debug)]
pub(super) struct Connections {
    places: Arc<Semaphore>,
    open: Mutex<HashMap<u64, Arc<Shared>>>,
    /// Counter that orders the moments at which connections became idle.
    ticks: AtomicU64,
    /// Whether a new connection waits for an idle one.
    is_wanted: AtomicBool,
    /// Notified when a connection becomes idle while `is_wanted` is set.
    idled: Notify,
}

/// Result of an attempt to admit a new connection.
enum Admission {
    Free(OwnedSemaphorePermit),
    /// A connection is being closed, and its permit will be free.
    Coming,
    /// No permit is free, because all connections execute requests.
    None,
}

/// State of a connection in which no request is executed.
const IDLE: u8 = 0;
const EXECUTING: u8 = 1;
/// State of a connection whose response is not yet completely written to the socket.
const ANSWERING: u8 = 2;
/// State of a connection that is being closed, and executes no further request.
const CLOSING: u8 = 3;

#[derive(Debug)]
struct Shared {
    connections: Arc<Connections>,
    state: AtomicU8,
    idle_since: AtomicU64,
    /// Whether the body of the last request was dropped before its end.
    has_unread_body: AtomicBool,
    closed: Notify,
}

impl Connections {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            places: Arc::new(Semaphore::new(limit.max(1))),
            open: Mutex::default(),
            ticks: AtomicU64::new(0),
            is_wanted: AtomicBool::new(false),
            idled: Notify::new(),
        })
    }

    /// Admits a new connection. At the limit, closes the connection that has been idle longest, and
    /// waits until it is closed. If none is idle, waits until one becomes idle or ends.
    pub(super) async fn acquire(self: &Arc<Self>) -> Connection {
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
            has_unread_body: AtomicBool::new(false),
            closed: Notify::new(),
        });
        self.lock().insert(id, Arc::clone(&shared));
        Connection { id, handle: ConnectionState(shared), permit: Some(permit) }
    }

    /// Returns a free permit, or closes the connection that has been idle longest.
    fn evict_idle(&self) -> Admission {
        // Every connection with a permit is in the map: both change under this lock.
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
            // The connection has begun to execute a request in the meantime, and stays open.
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Arc<Shared>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Open connection within the limit. Dropping it admits another.
#[derive(Debug)]
pub(super) struct Connection {
    id: u64,
    handle: ConnectionState,
    permit: Option<OwnedSemaphorePermit>,
}

impl Connection {
    /// Returns a handle that records the state of the connection.
    pub(super) fn handle(&self) -> ConnectionState {
        self.handle.clone()
    }

    /// Waits until the connection is chosen to be closed.
    pub(super) async fn closed(&self) {
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

/// Handle that records the state of a connection.
#[derive(Clone, Debug)]
pub(super) struct ConnectionState(Arc<Shared>);

impl ConnectionState {
    /// Marks the connection as executing. Returns `false` if the connection is being closed.
    pub(super) fn begin(&self) -> bool {
        let begun = self.0.state.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |state| {
            (state != CLOSING).then_some(EXECUTING)
        });
        begun.is_ok()
    }

    /// Marks the connection as executing until the guard is dropped and the response is written.
    /// Returns `None` if the connection is being closed.
    pub(super) fn execute(&self) -> Option<ExecutionGuard> {
        self.begin().then(|| ExecutionGuard(Arc::clone(&self.0)))
    }

    /// Records whether the body of the request has a rest that nobody reads.
    pub(super) fn set_unread_body(&self, is_unread: bool) {
        self.0.has_unread_body.store(is_unread, Ordering::Relaxed);
    }

    pub(super) fn has_unread_body(&self) -> bool {
        self.0.has_unread_body.load(Ordering::Relaxed)
    }

    /// Marks the connection as idle if its response is completely written.
    pub(super) fn flushed(&self) {
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

/// Guard for a request that is being executed.
#[derive(Debug)]
pub(super) struct ExecutionGuard(Arc<Shared>);

impl Drop for ExecutionGuard {
    fn drop(&mut self) {
        self.0.state.store(ANSWERING, Ordering::SeqCst);
    }
}

/// Body of a response. The request counts as executing until the body is dropped.
#[derive(Debug)]
pub(super) struct ExecutingBody {
    body: ResponseBody,
    _executing: ExecutionGuard,
}

impl ExecutingBody {
    pub(super) fn new(body: ResponseBody, executing: ExecutionGuard) -> Self {
        Self { body, _executing: executing }
    }
}

impl Body for ExecutingBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
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
    async fn new_connection_closes_the_longest_idle_one() {
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
        assert!(
            third.handle().execute().is_none(),
            "a connection that is being closed executes no request"
        );
        drop(third);
        let fourth = place.now_or_never().unwrap();
        // The first connection has been idle longer than the fourth.
        let mut place = Box::pin(connections.acquire());
        assert!(place.as_mut().now_or_never().is_none());
        assert!(first.closed().now_or_never().is_some());
        assert!(fourth.closed().now_or_never().is_none());
    }

    #[tokio::test]
    async fn connection_with_an_unwritten_response_is_not_closed() {
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
