//! The conformance suite through the wire: DynamoStore, the AWS SDK, the protocol, SQLite.
//!
//! There is no socket in between: cases move the clock by which a store works, and a socket takes time
//! of another clock. The sockets have tests of their own (`http`, `clients`, `side_by_side`).

use std::process::ExitCode;
use std::sync::Arc;

use async_trait::async_trait;
use tabla_conformance::{CaseStore, Harness};
use tabla_dynamo::{DynamoConfig, DynamoStore, Engine};
use tabla_sqlite::{SqliteConfig, SqliteHarness};

/// A service of its own for each case, on a store of its own.
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
        let behind = self.0.case_store().await;
        let client = tabla_server::sdk_client(Arc::clone(&behind.store));
        let streams = tabla_server::sdk_streams_client(Arc::clone(&behind.store));
        let config = DynamoConfig::new().with_engine(Engine::Tabla);
        let store = DynamoStore::from_client(client, streams, &config).expect("no prefix is good");
        CaseStore { store: Arc::new(store), ..behind }
    }
}

fn main() -> ExitCode {
    tabla_conformance::main(Wire(SqliteHarness::new(SqliteConfig::in_memory())))
}
