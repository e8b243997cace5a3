//! Tables of one test on a server that many tests share.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use tabla::dynamodb::{DynamoConfig, DynamoStore};
use tabla::env::Env;
use tabla::ops::*;
use tabla::{Result, Store, StoreExt};
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

impl Tables {
    pub(crate) async fn open(server: Endpoint) -> Result<Self> {
        let prefix = format!("app-{}-", Env::system().token());
        let config = DynamoConfig::at(server.url()).with_table_prefix(prefix);
        let store = DynamoStore::open(&config).await?;
        Ok(Self::new(store, Some(Cleanup { config, _server: server })))
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
            Some(said) => TimeToLiveDescription {
                status: TimeToLiveStatus::Enabled,
                attribute: Some(said.attribute.clone()),
            },
            None => TimeToLiveDescription { status: TimeToLiveStatus::Disabled, attribute: None },
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
    use tabla_conformance::power::{Powered, reaches_power};

    use super::*;

    #[test]
    fn power_is_reached_through_tables() {
        assert!(reaches_power(&Tables::new(Powered::new(), None)));
        assert!(!reaches_power(&Tables::new(MemoryStore::new(), None)));
    }
}
