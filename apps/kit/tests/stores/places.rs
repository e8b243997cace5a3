//! Where a test has its data: a place that every process can open.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tabla::dynamodb::{DynamoConfig, DynamoStore};
use tabla::env::Env;
use tabla::ops::DeleteTable;
use tabla::sqlite::{SqliteConfig, SqliteStore};
use tabla::{Store, StoreExt};
use tabla_testkit::dynamodb::Endpoint;

/// A file, or tables of their own on a server.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Place {
    /// The file of SQLite's.
    File(PathBuf),
    /// The server of DynamoDB Local, and what the names of the tables begin with.
    Server { url: String, prefix: String },
}

/// The server, unless the tests are to do without it. A server that is not there is a failure.
pub(crate) fn server(what: &str) -> Option<Endpoint> {
    if tabla_testkit::dynamodb::is_excluded() {
        println!("not run, as asked: {what} on DynamoDB Local");
        return None;
    }
    Some(tabla_testkit::dynamodb::endpoint().expect("a server for the tests"))
}

impl Place {
    pub(crate) fn file(folder: &Path, name: impl AsRef<Path>) -> Self {
        Self::File(folder.join(name))
    }

    /// Tables that nobody else has.
    pub(crate) fn server(server: &Endpoint) -> Self {
        let prefix = format!("app-{}-", Env::system().token());
        Self::Server { url: server.url().to_owned(), prefix }
    }

    /// Its address, as the caller of an app has it.
    pub(crate) fn address(&self) -> String {
        match self {
            Self::File(path) => format!("sqlite:{}", path.display()),
            Self::Server { url, prefix } => {
                let host = url.strip_prefix("http://").unwrap_or(url);
                format!("dynamodb://{host}?prefix={prefix}")
            }
        }
    }

    /// The store without retries: for tests that inject failures, or are about conflicts.
    pub(crate) async fn open(&self) -> Arc<dyn Store> {
        match self {
            Self::File(path) => {
                let store = SqliteStore::open(&SqliteConfig::file(path)).await;
                Arc::new(store.expect("a store"))
            }
            Self::Server { url, prefix } => {
                let config = DynamoConfig::for_endpoint(url).with_table_prefix(prefix);
                Arc::new(DynamoStore::open(&config).await.expect("the server answers"))
            }
        }
    }

    /// What is wrong with a file as such.
    pub(crate) async fn problems(&self) -> Vec<String> {
        match self {
            Self::File(path) => {
                let report = tabla::sqlite::check(path, |_| {}).await;
                report.expect("the file can be read").problems
            }
            Self::Server { .. } => Vec::new(),
        }
    }

    /// Leaves nothing on a server. A file goes with its folder.
    pub(crate) async fn clear(&self) {
        let Self::Server { .. } = self else { return };
        let store = self.open().await;
        for table in store.all_tables().await.expect("the tables") {
            store.delete_table(DeleteTable::new(&table)).await.expect("it goes");
        }
    }
}
