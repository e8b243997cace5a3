//! Time-out for clients that do not read their responses.
//!
//! Time-outs for requests that do not arrive are in `listener`, those for their bodies in `body`.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tabla_core::env::{Clock, Sleep, SystemClock};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::connections::ConnectionState;

/// Connection whose writes fail when the client has left data unread for the time-out.
pub(super) struct WriteTimeout<C> {
    connection: C,
    timeout: Duration,
    /// Timer that runs while a write is pending.
    waiting: Option<Sleep<'static>>,
    /// Handle to notify when all data is written.
    handle: ConnectionState,
}

impl<C> WriteTimeout<C> {
    pub(super) fn new(connection: C, patience: Duration, handle: ConnectionState) -> Self {
        Self { connection, timeout: patience, waiting: None, handle }
    }

    /// Returns the outcome of a write, or an error if it has been pending for the time-out.
    fn check_timeout<T>(
        &mut self,
        context: &mut Context<'_>,
        outcome: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.waiting = None;
            return outcome;
        }
        let patience = self.timeout;
        let waiting = self
            .waiting
            .get_or_insert_with(|| Box::pin(async move { SystemClock.sleep(patience).await }));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            format!("the client did not read the response within {patience:?}"),
        )))
    }
}

impl<C: AsyncRead + Unpin> AsyncRead for WriteTimeout<C> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_read(context, buffer)
    }
}

impl<C: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<C> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.connection).poll_write(context, bytes);
        self.check_timeout(context, outcome)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.connection).poll_write_vectored(context, parts);
        self.check_timeout(context, outcome)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.connection).poll_flush(context);
        if outcome.is_ready() {
            self.handle.flushed();
        }
        self.check_timeout(context, outcome)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.connection).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::listener::connections::Connections;

    async fn impatient<C>(connection: C) -> WriteTimeout<C> {
        let place = Connections::new(1).acquire().await;
        WriteTimeout::new(connection, Duration::from_secs(5), place.handle())
    }

    #[tokio::test(start_paused = true)]
    async fn write_to_a_client_that_does_not_read_times_out() {
        let (client, server) = tokio::io::duplex(10);
        let mut server = impatient(server).await;
        let error = server.write_all(&[0; 100]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        drop(client);
    }

    #[tokio::test(start_paused = true)]
    async fn write_to_a_slow_client_succeeds() {
        let (mut client, server) = tokio::io::duplex(10);
        let mut server = impatient(server).await;
        let sent = tokio::spawn(async move { server.write_all(&[7; 100]).await });
        let mut got = Vec::new();
        while got.len() < 100 {
            SystemClock.sleep(Duration::from_secs(4)).await;
            let mut part = [0; 10];
            let count = client.read(&mut part).await.unwrap();
            got.extend_from_slice(&part[..count]);
        }
        sent.await.unwrap().unwrap();
        assert_eq!(got, [7; 100]);
    }
}
