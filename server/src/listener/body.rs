//! Bodies of requests, with their time-outs, and bodies of responses.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tabla_core::env::{Clock, SystemClock};
use tokio::time::timeout;

use super::{ConnectionContext, stopped};

/// Error of a body that is streamed.
pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// How a server receives the body of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyMode {
    /// The body is short, and read to its end before the request is executed. The whole body must
    /// arrive within [`body_timeout`](super::ListenerConfig::body_timeout). Until its end was read,
    /// the connection counts as idle, and may be closed to make room for a new one.
    Whole,
    /// The body is of any length, and read while the request is executed. No part may take longer
    /// than [`body_idle_timeout`](super::ListenerConfig::body_idle_timeout). The connection is
    /// executing from the head of the request on, and is not closed to make room for a new one.
    Streamed,
}

/// Failure to read the body of a request. The connection is closed after the response.
#[derive(Debug)]
#[non_exhaustive]
pub enum RequestBodyError {
    /// A body that is read whole did not arrive within
    /// [`body_timeout`](super::ListenerConfig::body_timeout).
    Late(Duration),
    /// No part of a streamed body arrived for
    /// [`body_idle_timeout`](super::ListenerConfig::body_idle_timeout).
    Stalled(Duration),
    /// The server is shutting down, and [`body_grace`](super::ListenerConfig::body_grace) is over.
    ShuttingDown,
    /// The client closed the connection within the body, or the body is malformed.
    Incomplete(Box<dyn Error + Send + Sync>),
}

impl fmt::Display for RequestBodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Late(limit) => {
                write!(f, "the body of the request did not arrive within {limit:?}")
            }
            Self::Stalled(limit) => {
                write!(f, "no part of the body of the request arrived for {limit:?}")
            }
            Self::ShuttingDown => f.write_str(
                "the server is shutting down, and the body of the request is incomplete",
            ),
            Self::Incomplete(error) => {
                write!(f, "the body of the request ended early: {error}")
            }
        }
    }
}

impl Error for RequestBodyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Incomplete(error) => Some(&**error),
            Self::Late(_) | Self::Stalled(_) | Self::ShuttingDown => None,
        }
    }
}

/// Body of a request, as a stream of frames with the time-outs of its [`BodyMode`].
///
/// Nothing is read from the socket before the body is polled. The first poll sends `100 Continue`
/// to a client that expects it. The idle time-out of a part starts when the body is polled and
/// nothing has arrived, so that a server that is slow to read does not use up the client's time.
///
/// If the body is dropped before its end, the response closes the connection.
#[derive(Debug)]
pub struct RequestBody(TimedBody<Incoming>);

impl RequestBody {
    pub(super) fn new(body: Incoming, mode: BodyMode, context: Arc<ConnectionContext>) -> Self {
        Self(TimedBody::new(body, mode, context))
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = RequestBodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, RequestBodyError>>> {
        Pin::new(&mut self.0).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

/// Timer of a body; its output is the error when it expires.
type Expiry = Pin<Box<dyn Future<Output = RequestBodyError> + Send>>;

/// Body with time-outs, on any body so that tests need no socket.
struct TimedBody<B: Body> {
    body: B,
    mode: BodyMode,
    has_ended: bool,
    /// Timer of the body, or of its next part if it is streamed. It is started when the client has
    /// to be waited for: most bodies have arrived with their heads and need none.
    expiry: Option<Expiry>,
    context: Arc<ConnectionContext>,
}

impl<B: Body> TimedBody<B> {
    fn new(body: B, mode: BodyMode, context: Arc<ConnectionContext>) -> Self {
        context.state.set_unread_body(false);
        Self { body, mode, has_ended: false, expiry: None, context }
    }
}

impl<B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin> Body for TimedBody<B> {
    type Data = Bytes;
    type Error = RequestBodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, RequestBodyError>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(Some(frame)) => {
                if self.mode == BodyMode::Streamed {
                    self.expiry = None;
                }
                let broken = |error: B::Error| RequestBodyError::Incomplete(error.into());
                Poll::Ready(Some(frame.map_err(broken)))
            }
            Poll::Ready(None) => {
                self.has_ended = true;
                self.expiry = None;
                if self.mode == BodyMode::Whole && !self.context.state.begin() {
                    // The connection is being closed for another one, which also drops this body.
                    return Poll::Pending;
                }
                Poll::Ready(None)
            }
            Poll::Pending => {
                let this = &mut *self;
                let start = || start_timer(this.mode, &this.context);
                let error = ready!(this.expiry.get_or_insert_with(start).as_mut().poll(context));
                this.expiry = None;
                Poll::Ready(Some(Err(error)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Returns the timer of a body, or of one part of it.
fn start_timer(mode: BodyMode, context: &ConnectionContext) -> Expiry {
    let limit = match mode {
        BodyMode::Whole => context.config.body_timeout,
        BodyMode::Streamed => context.config.body_idle_timeout,
    };
    let grace = context.config.body_grace;
    let mut stopping = context.stopping.clone();
    Box::pin(async move {
        let grace_is_over = async {
            stopped(&mut stopping).await;
            SystemClock.sleep(grace).await;
        };
        match (timeout(limit, grace_is_over).await, mode) {
            (Ok(()), _) => RequestBodyError::ShuttingDown,
            (Err(_), BodyMode::Whole) => RequestBodyError::Late(limit),
            (Err(_), BodyMode::Streamed) => RequestBodyError::Stalled(limit),
        }
    })
}

impl<B: Body> Drop for TimedBody<B> {
    fn drop(&mut self) {
        if !self.has_ended && !self.body.is_end_stream() {
            self.context.state.set_unread_body(true);
        }
    }
}

impl<B: Body> fmt::Debug for TimedBody<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimedBody")
            .field("mode", &self.mode)
            .field("has_ended", &self.has_ended)
            .finish_non_exhaustive()
    }
}

/// Body of a response: bytes, or a stream of frames.
///
/// The connection is executing until the body is written or dropped, and is not closed to make
/// room for a new one. If a streamed body fails, the connection is closed, so that the client
/// notices that the response is incomplete.
pub struct ResponseBody(Content);

enum Content {
    Whole(Full<Bytes>),
    Streamed(Pin<Box<dyn Body<Data = Bytes, Error = BoxError> + Send>>),
}

impl ResponseBody {
    /// Returns a body of these bytes.
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        Self(Content::Whole(Full::new(bytes.into())))
    }

    /// Returns a body that is read while it is written. The client's speed limits how fast it is
    /// read. If its [`size_hint`](Body::size_hint) is not exact and the response has no
    /// `Content-Length`, it is sent in chunks.
    pub fn streamed<B>(body: B) -> Self
    where
        B: Body<Data = Bytes, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
    {
        Self(Content::Streamed(Box::pin(body.map_err(Into::into))))
    }
}

impl<T: Into<Bytes>> From<T> for ResponseBody {
    fn from(bytes: T) -> Self {
        Self::new(bytes)
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut self.0 {
            Content::Whole(body) => {
                Pin::new(body).poll_frame(context).map_err(|never| match never {})
            }
            Content::Streamed(body) => body.as_mut().poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Content::Whole(body) => body.is_end_stream(),
            Content::Streamed(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Content::Whole(body) => body.size_hint(),
            Content::Streamed(body) => body.size_hint(),
        }
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ResponseBody").field(&self.size_hint()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::AtomicBool;

    use futures::FutureExt;
    use futures::channel::mpsc::{UnboundedSender, unbounded};
    use futures::stream::Stream;
    use http_body_util::StreamBody;

    use tokio::sync::watch;

    use super::*;
    use crate::listener::ListenerConfig;
    use crate::listener::connections::{Connection, Connections};

    type Part = Result<Frame<Bytes>, Infallible>;

    /// Body whose parts come from a channel, with the place of its connection.
    struct Scene<S: Stream<Item = Part> + Unpin> {
        client: UnboundedSender<Part>,
        body: TimedBody<StreamBody<S>>,
        stop: watch::Sender<bool>,
        connections: Arc<Connections>,
        place: Connection,
    }

    const TIMEOUT: Duration = Duration::from_secs(10);
    const GRACE: Duration = Duration::from_secs(2);

    async fn scene(mode: BodyMode) -> Scene<impl Stream<Item = Part> + Unpin> {
        let connections = Connections::new(1);
        let place = connections.acquire().await;
        let (client, parts) = unbounded();
        let (stop, stopping) = watch::channel(false);
        let config = ListenerConfig::new()
            .with_body_timeout(TIMEOUT)
            .with_body_idle_timeout(TIMEOUT)
            .with_body_grace(GRACE);
        let parts = StreamBody::new(parts);
        let context = ConnectionContext {
            config: Arc::new(config),
            stopping,
            state: place.handle(),
            is_used: AtomicBool::new(true),
        };
        let body = TimedBody::new(parts, mode, Arc::new(context));
        Scene { client, body, stop, connections, place }
    }

    fn part() -> Part {
        Ok(Frame::data(Bytes::from_static(b"part")))
    }

    /// Waits for the error of a body, and asserts that it occurs after this time.
    async fn error_after<S>(
        after: Duration,
        body: &mut TimedBody<StreamBody<S>>,
    ) -> RequestBodyError
    where
        S: Stream<Item = Part> + Unpin,
    {
        let second = Duration::from_secs(1);
        assert!(timeout(after - second, body.frame()).await.is_err(), "it fails too early");
        let failed = timeout(2 * second, body.frame()).await.expect("it fails too late");
        failed.unwrap().unwrap_err()
    }

    #[tokio::test(start_paused = true)]
    async fn streamed_body_may_take_longer_than_the_time_out_of_a_part() {
        let Scene { client, mut body, stop: _stop, .. } = scene(BodyMode::Streamed).await;
        let sent = tokio::spawn(async move {
            for _ in 0..5 {
                SystemClock.sleep(TIMEOUT - Duration::from_secs(1)).await;
                client.unbounded_send(part()).unwrap();
            }
            client
        });
        for _ in 0..5 {
            body.frame().await.unwrap().unwrap();
        }
        let _client = sent.await.unwrap();
        let error = error_after(TIMEOUT, &mut body).await;
        assert!(matches!(error, RequestBodyError::Stalled(TIMEOUT)), "{error}");
    }

    #[tokio::test(start_paused = true)]
    async fn time_in_which_a_body_is_not_read_is_no_idle_time() {
        let Scene { client, mut body, stop: _stop, .. } = scene(BodyMode::Streamed).await;
        assert!(body.frame().now_or_never().is_none(), "the timer of the first part runs");
        client.unbounded_send(part()).unwrap();
        body.frame().await.unwrap().unwrap();
        SystemClock.sleep(2 * TIMEOUT).await;
        assert!(body.frame().now_or_never().is_none(), "the time-out of the next part starts now");
        client.unbounded_send(part()).unwrap();
        body.frame().await.unwrap().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn whole_body_must_arrive_within_its_time_out() {
        let Scene { client, mut body, stop: _stop, .. } = scene(BodyMode::Whole).await;
        let sent = tokio::spawn(async move {
            for _ in 0..2 {
                SystemClock.sleep(TIMEOUT * 2 / 5).await;
                client.unbounded_send(part()).unwrap();
            }
            client
        });
        for _ in 0..2 {
            body.frame().await.unwrap().unwrap();
        }
        let error = error_after(TIMEOUT / 5, &mut body).await;
        assert!(matches!(error, RequestBodyError::Late(TIMEOUT)), "{error}");
        drop(sent);
    }

    #[tokio::test(start_paused = true)]
    async fn body_without_a_part_within_the_grace_fails_at_shutdown() {
        for mode in [BodyMode::Whole, BodyMode::Streamed] {
            let Scene { client, mut body, stop, .. } = scene(mode).await;
            stop.send_replace(true);
            let error = error_after(GRACE, &mut body).await;
            assert!(matches!(error, RequestBodyError::ShuttingDown), "{error}");
            drop(client);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn streamed_body_that_keeps_arriving_survives_shutdown() {
        let Scene { client, body, stop, .. } = scene(BodyMode::Streamed).await;
        stop.send_replace(true);
        tokio::spawn(async move {
            for _ in 0..10 {
                SystemClock.sleep(GRACE / 2).await;
                client.unbounded_send(part()).unwrap();
            }
        });
        assert_eq!(body.collect().await.unwrap().to_bytes().len(), 40);
    }

    #[tokio::test]
    async fn connection_executes_from_the_end_of_a_whole_body() {
        let Scene { client, mut body, connections, place, .. } = scene(BodyMode::Whole).await;
        client.unbounded_send(part()).unwrap();
        body.frame().await.unwrap().unwrap();
        drop(client);
        assert!(body.frame().await.is_none());
        let mut waiting = Box::pin(connections.acquire());
        assert!(waiting.as_mut().now_or_never().is_none());
        assert!(place.closed().now_or_never().is_none(), "the request is executed");
    }

    #[tokio::test]
    async fn whole_body_never_ends_on_a_connection_that_is_being_closed() {
        let Scene { client, mut body, connections, place, .. } = scene(BodyMode::Whole).await;
        assert!(body.frame().now_or_never().is_none());
        let mut waiting = Box::pin(connections.acquire());
        assert!(waiting.as_mut().now_or_never().is_none());
        assert!(place.closed().now_or_never().is_some(), "an incomplete request is idle");
        drop(client);
        assert!(body.frame().now_or_never().is_none(), "the request must not be executed");
    }

    #[tokio::test]
    async fn dropped_body_is_unread_unless_it_has_ended() {
        let Scene { client, body, place, .. } = scene(BodyMode::Streamed).await;
        drop(body);
        assert!(place.handle().has_unread_body());
        drop(client);

        let Scene { client, mut body, place, .. } = scene(BodyMode::Streamed).await;
        drop(client);
        assert!(body.frame().await.is_none());
        drop(body);
        assert!(!place.handle().has_unread_body());
    }
}
