//! Tables of one test on a server that many tests share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use async_trait::async_trait;
use tabla::dynamodb::{DynamoConfig, DynamoStore};
use tabla::env::Env;
use tabla::ops::*;
use tabla::{Address, OpenContext, Opener, Result, Store, StoreExt};
use tabla_testkit::dynamodb::Endpoint;

/// A store whose tables are deleted with it.
#[derive(Debug)]
pub(crate) struct Tables<S = DynamoStore> {
    store: S,
    /// What was said of tables whose items expire.
    expiries: Mutex<BTreeMap<String, UpdateTimeToLive>>,
    _cleanup: Option<Cleanup>,
}

/// Deletes the tables when it is dropped.
#[derive(Debug)]
struct Cleanup {
    config: DynamoConfig,
    /// Held so that the server goes on running.
    _server: Endpoint,
}

/// Opens `dynamodb:` addresses as stores whose tables are deleted with them.
pub(crate) struct TablesOpener {
    server: Endpoint,
}

impl TablesOpener {
    pub(crate) fn new(server: Endpoint) -> Self {
        Self { server }
    }

    /// An address on the server, with a prefix for tables that no other test has.
    pub(crate) fn address(&self) -> String {
        let url = self.server.url();
        let host = url.strip_prefix("http://").unwrap_or(url);
        format!("dynamodb://{host}?prefix=app-{}-", Env::system().token())
    }
}

#[async_trait]
impl Opener for TablesOpener {
    fn scheme(&self) -> &'static str {
        "dynamodb"
    }

    fn examples(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    async fn open(&self, address: Address, context: &OpenContext) -> Result<Arc<dyn Store>> {
        let config = DynamoConfig::from_address(address)?;
        let store = DynamoStore::open(&config).await?.with_env(&context.env);
        let cleanup = Cleanup { config, _server: self.server.clone() };
        Ok(Arc::new(Tables::new(store, Some(cleanup))))
    }
}

impl<S: Store> Tables<S> {
    fn new(store: S, cleanup: Option<Cleanup>) -> Self {
        Self { store, expiries: Mutex::default(), _cleanup: cleanup }
    }

    fn expiries(&self) -> MutexGuard<'_, BTreeMap<String, UpdateTimeToLive>> {
        self.expiries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing expires by the clock of the server, which is not that of the test: it would delete
    /// what has yet to expire there.
    fn keep_expiry(&self, request: UpdateTimeToLive) -> UpdateTimeToLive {
        self.expiries().insert(request.table.clone(), request.clone());
        request
    }

    fn kept_expiry(&self, request: &DescribeTimeToLive) -> TimeToLiveDescription {
        match self.expiries().get(&request.table).filter(|said| said.enabled) {
            Some(said) => {
                let attribute = Some(said.attribute.clone());
                TimeToLiveDescription::new(TimeToLiveStatus::Enabled, attribute)
            }
            None => TimeToLiveDescription::disabled(),
        }
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        let config = self.config.clone();
        // The runtime of the test may be going down: what is asked of the server has another one.
        let cleared = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(clear(&config))
        });
        let cleared = cleared.join().unwrap_or(Ok(()));
        if let (Err(error), false) = (cleared, thread::panicking()) {
            panic!("the tables of a test stay on the server: {error}");
        }
    }
}

async fn clear(config: &DynamoConfig) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let store = DynamoStore::open(config).await?;
    for table in store.all_tables().await? {
        store.delete_table(DeleteTable::new(table)).await?;
    }
    Ok(())
}

/// Passes everything on, except the time to live.
macro_rules! passed_on {
    ($self:ident, update_time_to_live, $request:ident) => {
        Ok($self.keep_expiry($request))
    };
    ($self:ident, describe_time_to_live, $request:ident) => {
        Ok($self.kept_expiry(&$request))
    };
    ($self:ident, $method:ident, $request:ident) => {
        $self.store.$method($request).await
    };
}

tabla::wrap_store! {
    impl[S: Store] Store for Tables<S>, inner: store, call: passed_on
}

#[cfg(test)]
mod tests {
    use tabla::MemoryStore;
    use tabla_conformance::extension::{ExtendedStore, reaches_extension};

    use super::*;

    #[test]
    fn extension_is_reached_through_tables() {
        assert!(reaches_extension(&Tables::new(ExtendedStore::new(), None)));
        assert!(!reaches_extension(&Tables::new(MemoryStore::new(), None)));
    }
}
