//! The servers of the client tests: this server, or DynamoDB Local.

use std::sync::Arc;

use tabla_core::Store;
use tabla_core::env::Env;
use tabla_server::Server;
use tabla_sqlite::{SqliteConfig, SqliteStore};
use tabla_testkit::dynamodb::{self, Endpoint};

/// Name of DynamoDB Local in `TABLA_CLIENTS_ON`. The tests of some clients expect less of it.
pub(crate) const DYNAMODB_LOCAL: &str = "dynamodb-local";

/// Server without tables, which runs until this is dropped.
pub(crate) struct Place {
    /// URL of the server.
    pub(crate) url: String,
    /// Access key for the clients. DynamoDB Local has separate tables for each key.
    pub(crate) access_key: String,
    /// Name of the server, for clients that expect different behavior.
    pub(crate) name: &'static str,
    _server: Running,
}

enum Running {
    Tabla(#[expect(dead_code, reason = "dropping it stops the server")] Server),
    Local(#[expect(dead_code, reason = "dropping it stops the server")] Endpoint),
}

impl Place {
    /// Starts this server, on SQLite in memory.
    pub(crate) async fn tabla() -> Self {
        let server = tabla_server::spawn(store().await).await.expect("the server starts");
        Self::new(server.url(), "tabla", Running::Tabla(server))
    }

    /// Returns DynamoDB Local, or `None` if the tests should skip it.
    pub(crate) fn dynamodb_local() -> Option<Self> {
        if dynamodb::is_excluded() {
            println!("skipped on request: client tests on DynamoDB Local");
            return None;
        }
        let server = dynamodb::endpoint().expect("DynamoDB Local starts");
        let url = server.url().to_owned();
        Some(Self::new(url, DYNAMODB_LOCAL, Running::Local(server)))
    }

    fn new(url: String, name: &'static str, server: Running) -> Self {
        Self { url, access_key: Env::system().token(), name, _server: server }
    }
}

/// Opens the store of the server: SQLite in memory.
pub(crate) async fn store() -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(&SqliteConfig::in_memory()).await.expect("the store opens"))
}
