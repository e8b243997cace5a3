//! Shutdown of a server, and failures of its store.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tabla_core::ops::{ListTables, ListTablesOutput};
use tabla_core::{Error, ErrorKind, MemoryStore, Result, Store};
use tabla_server::{ServerConfig, spawn};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use crate::client::{Client, request};

/// Store whose `list_tables` behaves as configured. Everything else is a store in memory.
#[derive(Debug)]
struct Odd {
    memory: MemoryStore,
    how: How,
}

#[derive(Debug)]
enum How {
    Waits { begun: Arc<Semaphore>, go_on: Arc<Semaphore> },
    Panics,
    Fails(ErrorKind),
}

impl Odd {
    async fn list_tables_oddly(&self, request: ListTables) -> Result<ListTablesOutput> {
        match &self.how {
            How::Waits { begun, go_on } => {
                begun.add_permits(1);
                let _ = go_on.acquire().await;
                self.memory.list_tables(request).await
            }
            How::Panics => panic!("deliberate"),
            How::Fails(kind) => Err(Error::new(kind.clone(), "deliberate")),
        }
    }
}

macro_rules! odd {
    ($self:ident, list_tables, $request:ident) => {
        $self.list_tables_oddly($request).await
    };
    ($self:ident, $method:ident, $request:ident) => {
        $self.memory.$method($request).await
    };
}

tabla_core::wrap_store! {
    impl[] Store for Odd, inner: memory, call: odd
}

fn odd(how: How) -> Arc<dyn Store> {
    Arc::new(Odd { memory: MemoryStore::new(), how })
}

#[tokio::test]
async fn shutdown_finishes_in_flight_requests() {
    let (begun, go_on) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let how = How::Waits { begun: Arc::clone(&begun), go_on: Arc::clone(&go_on) };
    let server = spawn(odd(how)).await.unwrap();
    let address = server.address();
    let mut idle = Client::connect(address).await;
    let mut busy = Client::connect(address).await;
    busy.send(request("ListTables", &[], b"{}")).await;
    begun.acquire().await.unwrap().forget();
    let stopped = tokio::spawn(server.shutdown());
    assert!(idle.receive().await.is_none(), "an idle connection is closed at once");
    assert!(TcpStream::connect(address).await.is_err(), "no new connection is accepted");
    go_on.add_permits(1);
    let answer = busy.receive().await.expect("the server responds");
    assert_eq!(answer.status, 200);
    stopped.await.unwrap();
    assert!(busy.receive().await.is_none());
}

/// Returns a client that has sent a part of the body, while the server waits for the rest.
async fn client_with_part_of(body: &str, address: SocketAddr) -> Client {
    let mut client = Client::connect(address).await;
    let whole = request("ListTables", &[("Expect", "100-continue")], body.as_bytes());
    let (head, body) = whole.split_at(whole.len() - body.len());
    client.send(head).await;
    assert_eq!(client.receive().await.expect("the server responds").status, 100);
    client.send(&body[..1]).await;
    client
}

#[tokio::test]
async fn shutdown_waits_for_the_rest_of_a_body() {
    let config = ServerConfig::new().with_body_grace(Duration::from_secs(60));
    let server = config.spawn(Arc::new(MemoryStore::new())).await.unwrap();
    let mut idle = Client::connect(server.address()).await;
    let mut slow = client_with_part_of("{}", server.address()).await;
    let stopped = tokio::spawn(server.shutdown());
    assert!(idle.receive().await.is_none(), "the shutdown has begun");
    slow.send("}").await;
    let answer = slow.receive().await.expect("the server responds");
    assert_eq!((answer.status, answer.header("connection")), (200, Some("close")));
    stopped.await.unwrap();
    assert!(slow.receive().await.is_none());
}

#[tokio::test]
async fn incomplete_request_is_refused_at_shutdown() {
    let config = ServerConfig::new().with_body_grace(Duration::ZERO);
    let server = config.spawn(Arc::new(MemoryStore::new())).await.unwrap();
    let mut slow = client_with_part_of("{}", server.address()).await;
    server.shutdown().await;
    let answer = slow.receive().await.expect("the server responds");
    assert_eq!((answer.status, answer.exception().as_str()), (400, "RequestTimeoutException"));
    assert!(slow.receive().await.is_none());
}

#[tokio::test]
async fn panic_of_the_store_is_an_internal_error() {
    let server = spawn(odd(How::Panics)).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    let answer = client.ask("ListTables", "{}").await;
    assert_eq!((answer.status, answer.exception().as_str()), (500, "InternalServerError"));
    assert_eq!(client.ask("DescribeLimits", "{}").await.status, 200, "the connection stays open");
}

#[tokio::test]
async fn store_errors_map_to_dynamodbs_exceptions() {
    for (kind, status, exception) in [
        (ErrorKind::Unavailable, 500, "InternalServerError"),
        (ErrorKind::Corrupt, 500, "InternalServerError"),
        (ErrorKind::Throttled, 400, "ProvisionedThroughputExceededException"),
        (ErrorKind::TransactionConflict, 400, "TransactionConflictException"),
        (ErrorKind::AccessDenied, 400, "AccessDeniedException"),
        (ErrorKind::Unsupported, 400, "UnknownOperationException"),
    ] {
        let server = spawn(odd(How::Fails(kind.clone()))).await.unwrap();
        let mut client = Client::connect(server.address()).await;
        let answer = client.ask("ListTables", "{}").await;
        assert_eq!((answer.status, answer.exception().as_str()), (status, exception), "{kind:?}");
    }
}
