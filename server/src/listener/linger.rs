//! Lingering close: the rest of a refused request is read and discarded.
//!
//! A socket that is closed while data is unread resets the connection, and a client that is still
//! sending its body loses the response. So the server first closes its own direction only, and reads
//! until the client has closed, too. The limits are for clients that do not.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tabla_core::env::{Clock, Sleep, SystemClock};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::timeout;

use super::{ConnectionContext, stopped};

/// Time for which the rest of a request is read.
const TOTAL: Duration = Duration::from_secs(30);

/// Time without data after which the client is not waited for.
const IDLE: Duration = Duration::from_secs(5);

/// Bytes that are discarded at once.
const BUFFER_BYTES: usize = 64 << 10;

/// Connection that discards the rest of an unread request before it is closed.
///
/// Meanwhile it counts as idle, and may be closed to make room for a new one.
pub(super) struct Linger<C> {
    connection: C,
    context: Arc<ConnectionContext>,
    state: State,
}

enum State {
    Open,
    /// The server's direction is closed.
    Discarding(Rest),
    Closed,
}

/// Rest of a request that is being discarded.
struct Rest {
    buffer: Box<[u8]>,
    total: Sleep<'static>,
    /// Timer that runs while nothing arrives.
    idle: Option<Sleep<'static>>,
}

impl<C> Linger<C> {
    pub(super) fn new(connection: C, context: Arc<ConnectionContext>) -> Self {
        Self { connection, context, state: State::Open }
    }
}

/// Returns a timer that also ends soon after the server's shutdown begins.
fn timer(limit: Duration, context: &ConnectionContext) -> Sleep<'static> {
    let grace = context.config.body_grace;
    let mut stopping = context.stopping.clone();
    Box::pin(async move {
        let grace_is_over = async {
            stopped(&mut stopping).await;
            SystemClock.sleep(grace).await;
        };
        // Both outcomes end the wait.
        let _ = timeout(limit, grace_is_over).await;
    })
}

impl Rest {
    fn new(context: &ConnectionContext) -> Self {
        Self { buffer: vec![0; BUFFER_BYTES].into(), total: timer(TOTAL, context), idle: None }
    }

    /// Discards what arrives, until the client has closed its direction, or a limit is reached.
    fn poll_discard(
        &mut self,
        connection: &mut (impl AsyncRead + Unpin),
        context: &ConnectionContext,
        task: &mut Context<'_>,
    ) -> Poll<()> {
        if self.total.as_mut().poll(task).is_ready() {
            return Poll::Ready(());
        }
        loop {
            let mut buffer = ReadBuf::new(&mut self.buffer);
            match Pin::new(&mut *connection).poll_read(task, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => self.idle = None,
                // The client has closed its direction, or the connection.
                Poll::Ready(_) => return Poll::Ready(()),
                Poll::Pending => {
                    let idle = self.idle.get_or_insert_with(|| timer(IDLE, context));
                    return idle.as_mut().poll(task);
                }
            }
        }
    }
}

impl<C: AsyncRead + Unpin> AsyncRead for Linger<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_read(task, buffer)
    }
}

impl<C: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Linger<C> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write(task, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.connection).poll_write_vectored(task, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_flush(task)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if matches!(this.state, State::Open) {
            ready!(Pin::new(&mut this.connection).poll_shutdown(task))?;
            this.state = match this.context.state.has_unread_body() {
                true => State::Discarding(Rest::new(&this.context)),
                false => State::Closed,
            };
        }
        if let State::Discarding(rest) = &mut this.state {
            ready!(rest.poll_discard(&mut this.connection, &this.context, task));
            this.state = State::Closed;
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use futures::FutureExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::sync::watch;
    use tokio::task::JoinHandle;

    use super::*;
    use crate::listener::ListenerConfig;
    use crate::listener::connections::Connections;

    const GRACE: Duration = Duration::from_secs(2);

    /// Client of a connection that is being closed.
    struct Closing {
        client: DuplexStream,
        stop: watch::Sender<bool>,
        /// Ends when the connection is closed.
        closed: JoinHandle<()>,
    }

    async fn closing(has_unread_body: bool) -> Closing {
        let place = Connections::new(1).acquire().await;
        place.handle().set_unread_body(has_unread_body);
        let (stop, stopping) = watch::channel(false);
        let context = ConnectionContext {
            config: Arc::new(ListenerConfig::new().with_body_grace(GRACE)),
            stopping,
            state: place.handle(),
            is_used: AtomicBool::new(true),
        };
        let (client, server) = duplex(100);
        let mut server = Linger::new(server, Arc::new(context));
        let closed = tokio::spawn(async move {
            server.write_all(b"refused").await.unwrap();
            server.shutdown().await.unwrap();
        });
        Closing { client, stop, closed }
    }

    async fn response(client: &mut DuplexStream) -> String {
        let mut response = String::new();
        client.read_to_string(&mut response).await.unwrap();
        response
    }

    /// Waits until the connection is closed, and asserts that it is after this time.
    async fn closed_after(after: Duration, mut closed: JoinHandle<()>) {
        let second = Duration::from_secs(1);
        assert!(timeout(after - second, &mut closed).await.is_err(), "it is closed too early");
        timeout(2 * second, closed).await.expect("it is closed too late").unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn client_reads_the_response_after_it_has_sent_its_body() {
        let Closing { mut client, closed, stop: _stop } = closing(true).await;
        client.write_all(&[b'x'; 1_000_000]).await.unwrap();
        assert_eq!(response(&mut client).await, "refused");
        drop(client);
        timeout(Duration::from_secs(1), closed).await.unwrap().unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn connection_without_an_unread_body_is_closed_at_once() {
        let Closing { mut client, closed, stop: _stop } = closing(false).await;
        timeout(Duration::from_secs(1), closed).await.unwrap().unwrap();
        assert_eq!(response(&mut client).await, "refused");
    }

    #[tokio::test(start_paused = true)]
    async fn silent_client_is_not_waited_for() {
        let Closing { client: _client, closed, stop: _stop } = closing(true).await;
        closed_after(IDLE, closed).await;
    }

    #[tokio::test(start_paused = true)]
    async fn client_that_never_ends_is_cut_off() {
        let Closing { mut client, closed, stop: _stop } = closing(true).await;
        let sending = tokio::spawn(async move {
            while client.write_all(b"more").await.is_ok() {
                SystemClock.sleep(IDLE - Duration::from_secs(1)).await;
            }
        });
        closed_after(TOTAL, closed).await;
        sending.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn shutdown_waits_for_a_grace_period_only() {
        let Closing { client: _client, mut closed, stop } = closing(true).await;
        assert!((&mut closed).now_or_never().is_none());
        stop.send_replace(true);
        closed_after(GRACE, closed).await;
    }
}
