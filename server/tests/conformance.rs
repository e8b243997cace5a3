//! The conformance suite over the wire protocol: DynamoStore, the AWS SDK, the service, SQLite.
//!
//! There is no socket, because cases move the clock of the store, and a socket would need real
//! time. The tests `http`, `clients` and `side_by_side` use sockets.

use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use tabla_conformance::{CaseStore, Harness};
use tabla_dynamo::{DynamoConfig, DynamoStore, Engine};
use tabla_sqlite::{SqliteConfig, SqliteHarness};

/// Harness with a service and a store for each case.
struct Wire(SqliteHarness);

#[async_trait]
impl Harness for Wire {
    fn engine(&self) -> &'static str {
        "tabla-server"
    }

    fn is_complete(&self) -> bool {
        true
    }

    async fn case_store(&self) -> CaseStore {
        let mut behind = self.0.case_store().await;
        let client = tabla_server::sdk_client(Arc::clone(&behind.store));
        let streams = tabla_server::sdk_streams_client(Arc::clone(&behind.store));
        let config = DynamoConfig::new().with_engine(Engine::Tabla);
        let store =
            DynamoStore::from_client(client, streams, &config).expect("an empty prefix is valid");
        behind.store = Arc::new(store);
        behind
    }
}

fn main() -> ExitCode {
    tabla_conformance::main(Wire(SqliteHarness::new(SqliteConfig::in_memory())))
}
