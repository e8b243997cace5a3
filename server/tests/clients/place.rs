//! Where a client finds DynamoDB: this server, or DynamoDB Local.

use std::sync::Arc;

use tabla_core::Store;
use tabla_core::env::Env;
use tabla_server::Server;
use tabla_sqlite::{SqliteConfig, SqliteStore};
use tabla_testkit::dynamodb::{self, Endpoint};

/// What DynamoDB Local is called here. The tests of some clients expect less of it.
pub(crate) const DYNAMODB_LOCAL: &str = "dynamodb-local";

/// A server without any tables, which runs until this is dropped.
pub(crate) struct Place {
    /// Its address.
    pub(crate) url: String,
    /// What clients show. DynamoDB Local has other tables for every key.
    pub(crate) access_key: String,
    /// What clients are told of where they are.
    pub(crate) name: &'static str,
    _server: Running,
}

enum Running {
    Tabla(#[expect(dead_code, reason = "held so that it goes on running")] Server),
    Local(#[expect(dead_code, reason = "held so that it goes on running")] Endpoint),
}

impl Place {
    /// This server, with SQLite in memory behind it.
    pub(crate) async fn tabla() -> Self {
        let server = tabla_server::spawn(store().await).await.expect("a server");
        Self::new(server.url(), "tabla", Running::Tabla(server))
    }

    /// DynamoDB Local, unless the tests are to do without it.
    pub(crate) fn dynamodb_local() -> Option<Self> {
        if dynamodb::is_excluded() {
            println!("not run, as asked: the tests of the clients on DynamoDB Local");
            return None;
        }
        let server = dynamodb::endpoint().expect("a server for the tests");
        let url = server.url().to_owned();
        Some(Self::new(url, DYNAMODB_LOCAL, Running::Local(server)))
    }

    fn new(url: String, name: &'static str, server: Running) -> Self {
        Self { url, access_key: Env::system().token(), name, _server: server }
    }
}

/// What is behind the server: SQLite in memory.
pub(crate) async fn store() -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(&SqliteConfig::in_memory()).await.expect("a store"))
}
