//! A TCP proxy between client and server that cuts connections.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use super::behind::Counts;

/// The most connections at a time: further ones are closed at once.
const CONNECTIONS: usize = 64;
/// The most bytes of a head or a body.
const MESSAGE_BYTES: usize = 32 << 20;

/// What happens to a request. The server answers all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The connection is reset before the server has received the request.
    RequestLost,
    /// The connection is closed after the server has executed the request, before its answer.
    ResponseLost,
    /// The same in the middle of the body of the answer.
    AnswerTruncated,
    /// The server never receives the request, and the connection stays open.
    RequestStalled,
    /// The answer never arrives, and the connection stays open.
    AnswerStalled,
}

impl Cut {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::RequestLost => "request lost",
            Self::ResponseLost => "answer lost",
            Self::AnswerTruncated => "answer truncated",
            Self::RequestStalled => "request stalled",
            Self::AnswerStalled => "answer stalled",
        }
    }
}

/// A proxy on a free port of the loopback address. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Proxy {
    address: SocketAddr,
    plan: Arc<Mutex<Plan>>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Plan {
    /// The number of the request that is cut, counted from 1, and how.
    cut: Option<(usize, Cut)>,
    seen: usize,
    done: Counts,
}

impl Plan {
    fn next(&mut self) -> Option<Cut> {
        self.seen += 1;
        let (_, cut) = self.cut.filter(|(number, _)| *number == self.seen)?;
        *self.done.entry(cut.name()).or_default() += 1;
        Some(cut)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Proxy {
    /// A proxy to this server.
    pub(crate) async fn start(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let plan = Arc::<Mutex<Plan>>::default();
        let shared = Arc::clone(&plan);
        let task = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                while connections.try_join_next().is_some() {}
                if connections.len() < CONNECTIONS {
                    connections.spawn(relay(client, server, Arc::clone(&shared)));
                }
            }
        });
        Ok(Self { address, plan, task })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Counts requests from 1 again, and cuts the one of this number.
    pub(crate) fn begin(&self, cut: Option<(usize, Cut)>) {
        let mut plan = self.plan.lock().expect("no panic");
        plan.cut = cut;
        plan.seen = 0;
    }

    /// The cuts so far, by kind.
    pub(crate) fn done(&self) -> Counts {
        self.plan.lock().expect("no panic").done.clone()
    }
}

/// Passes requests and answers on, until one side closes its connection or the plan cuts it.
async fn relay(client: TcpStream, server: SocketAddr, plan: Arc<Mutex<Plan>>) -> io::Result<()> {
    let server = TcpStream::connect(server).await?;
    // What is written is sent at once, and does not wait for an acknowledgement.
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut client, mut server) = (BufReader::new(client), BufReader::new(server));
    while let Some(request) = message(&mut client).await? {
        let cut = plan.lock().expect("no panic").next();
        match cut {
            // Without a linger the system resets the connection.
            Some(Cut::RequestLost) => return client.get_ref().set_zero_linger(),
            Some(Cut::RequestStalled) => return closed(&mut client).await,
            _ => {}
        }
        server.write_all(&request.bytes).await?;
        let Some(answer) = message(&mut server).await? else { return Ok(()) };
        match cut {
            Some(Cut::ResponseLost) => return Ok(()),
            Some(Cut::AnswerStalled) => return closed(&mut client).await,
            Some(Cut::AnswerTruncated) => {
                let end = (answer.head + answer.bytes.len()) / 2;
                client.write_all(&answer.bytes[..end]).await?;
                return client.shutdown().await;
            }
            _ => {}
        }
        client.write_all(&answer.bytes).await?;
    }
    Ok(())
}

/// Waits until the other side has closed its connection.
async fn closed(stream: &mut BufReader<TcpStream>) -> io::Result<()> {
    while stream.read(&mut [0; 1024]).await? > 0 {}
    Ok(())
}

/// An HTTP message.
struct Message {
    bytes: Vec<u8>,
    /// Length of its head.
    head: usize,
}

/// The next message; `None` at the end of the connection.
async fn message(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Message>> {
    let (mut bytes, mut length) = (Vec::new(), 0);
    loop {
        let begin = bytes.len();
        if stream.read_until(b'\n', &mut bytes).await? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&bytes[begin..]).to_ascii_lowercase();
        if line.trim_end().is_empty() {
            break;
        }
        assert!(!line.starts_with("transfer-encoding:"), "a body without a length");
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        assert!(bytes.len().max(length) <= MESSAGE_BYTES, "a message of reasonable size");
    }
    let head = bytes.len();
    bytes.resize(head + length, 0);
    stream.read_exact(&mut bytes[head..]).await?;
    Ok(Some(Message { bytes, head }))
}
