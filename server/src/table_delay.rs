//! A store wrapper that keeps tables in `CREATING`, `UPDATING` and `DELETING` for a configured
//! time, to test programs that wait for tables.
//!
//! States of tables without a delay are in `lifecycle`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tabla_core::backend::schema::{table_exists_error, table_name};
use tabla_core::env::{Env, Timestamp};
use tabla_core::ops::*;
use tabla_core::{Error, ErrorKind, Result, Store};

/// Store whose tables stay in `CREATING`, `UPDATING` and `DELETING` for a configured time.
///
/// The inner store has completed the change already; this wrapper hides it until the time is over.
#[derive(Debug)]
pub(crate) struct TableDelayStore {
    store: Arc<dyn Store>,
    time: Duration,
    env: Env,
    tables: Mutex<BTreeMap<String, Transition>>,
}

/// Transitional state of a table.
#[derive(Clone, Debug)]
struct Transition {
    until: Timestamp,
    /// Description of the table until then.
    table: TableDescription,
}

impl TableDelayStore {
    pub(crate) fn new(store: Arc<dyn Store>, time: Duration, env: &Env) -> Self {
        Self { store, time, env: env.clone(), tables: Mutex::default() }
    }

    fn tables(&self) -> MutexGuard<'_, BTreeMap<String, Transition>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the description of a table that is in transition.
    fn passing(&self, given: &str) -> Option<TableDescription> {
        let name = table_name(given).ok()?;
        let mut tables = self.tables();
        let passing = tables.get(name)?;
        if self.env.clock.now() < passing.until {
            return Some(passing.table.clone());
        }
        tables.remove(name);
        None
    }

    fn begin(&self, table: &TableDescription, status: TableStatus) {
        let until = self.env.clock.now() + self.time;
        let mut table = table.clone();
        table.status = status;
        if status == TableStatus::Creating {
            for index in &mut table.global_secondary_indexes {
                index.status = status;
            }
        }
        self.tables().insert(table.table.clone(), Transition { until, table });
    }

    /// Returns an error if the table is being created or deleted.
    fn need(&self, given: &str) -> Result<()> {
        match self.passing(given).map(|table| table.status) {
            Some(TableStatus::Creating | TableStatus::Deleting) => Err(Error::table_not_found()),
            _ => Ok(()),
        }
    }

    fn need_all<'a>(&self, mut given: impl Iterator<Item = &'a String>) -> Result<()> {
        given.try_for_each(|given| self.need(given))
    }

    /// Returns an error if the table is in transition.
    fn need_rest(&self, given: &str) -> Result<()> {
        let Some(table) = self.passing(given) else { return Ok(()) };
        let state = match table.status {
            TableStatus::Creating => "created",
            TableStatus::Deleting => "deleted",
            _ => "updated",
        };
        let message = format!(
            "Attempt to change a resource which is still in use: Table is being {state}: {}",
            table.table
        );
        Err(Error::new(ErrorKind::InUse, message))
    }
    async fn begin_create(&self, request: CreateTable) -> Result<TableDescription> {
        if let Some(table) = self.passing(&request.table) {
            return Err(table_exists_error(&table.table));
        }
        let table = self.store.create_table(request).await?;
        self.begin(&table, TableStatus::Creating);
        Ok(table)
    }

    async fn describe_passing(&self, request: DescribeTable) -> Result<TableDescription> {
        match self.passing(&request.table) {
            Some(table) => Ok(table),
            None => self.store.describe_table(request).await,
        }
    }

    async fn begin_update(&self, request: UpdateTable) -> Result<TableDescription> {
        self.need_rest(&request.table)?;
        let table = self.store.update_table(request).await?;
        self.begin(&table, TableStatus::Updating);
        Ok(table)
    }

    async fn begin_delete(&self, request: DeleteTable) -> Result<TableDescription> {
        self.need_rest(&request.table)?;
        let table = self.store.delete_table(request).await?;
        self.begin(&table, TableStatus::Deleting);
        Ok(table)
    }
}

/// Delegates to the inner store, and checks the state of the tables that a request names.
/// Operations that change tables, and those on several tables or none, have an arm each.
macro_rules! in_transition {
    ($self:ident, create_table, $request:ident) => {
        $self.begin_create($request).await
    };
    ($self:ident, describe_table, $request:ident) => {
        $self.describe_passing($request).await
    };
    ($self:ident, update_table, $request:ident) => {
        $self.begin_update($request).await
    };
    ($self:ident, delete_table, $request:ident) => {
        $self.begin_delete($request).await
    };
    ($self:ident, update_time_to_live, $request:ident) => {{
        $self.need_rest(&$request.table)?;
        $self.store.update_time_to_live($request).await
    }};
    ($self:ident, batch_get, $request:ident) => {{
        $self.need_all($request.requests.keys())?;
        $self.store.batch_get($request).await
    }};
    ($self:ident, batch_write, $request:ident) => {{
        $self.need_all($request.requests.keys())?;
        $self.store.batch_write($request).await
    }};
    ($self:ident, transact_get, $request:ident) => {{
        $self.need_all($request.items.iter().map(|get| &get.table))?;
        $self.store.transact_get($request).await
    }};
    ($self:ident, transact_write, $request:ident) => {{
        $self.need_all($request.items.iter().map(table_of))?;
        $self.store.transact_write($request).await
    }};
    // Requests without a table.
    ($self:ident, list_tables, $request:ident) => {
        $self.store.list_tables($request).await
    };
    ($self:ident, list_streams, $request:ident) => {
        $self.store.list_streams($request).await
    };
    ($self:ident, describe_stream, $request:ident) => {
        $self.store.describe_stream($request).await
    };
    ($self:ident, get_shard_iterator, $request:ident) => {
        $self.store.get_shard_iterator($request).await
    };
    ($self:ident, get_records, $request:ident) => {
        $self.store.get_records($request).await
    };
    // Requests on one table, which has to exist.
    ($self:ident, $method:ident, $request:ident) => {{
        $self.need(&$request.table)?;
        $self.store.$method($request).await
    }};
}

tabla_core::wrap_store! {
    impl[] Store for TableDelayStore, inner: store, call: in_transition
}

fn table_of(item: &TransactWriteItem) -> &String {
    match item {
        TransactWriteItem::Put(put) => &put.table,
        TransactWriteItem::Update(update) => &update.table,
        TransactWriteItem::Delete(delete) => &delete.table,
        TransactWriteItem::ConditionCheck(check) => &check.table,
    }
}

#[cfg(test)]
mod tests {
    use tabla_conformance::extension::{ExtendedStore, reaches_extension};
    use tabla_core::env::ManualClock;
    use tabla_core::{KeyType, MemoryStore, item};

    use super::*;

    #[tokio::test]
    async fn table_is_in_transition_for_the_configured_time() {
        let clock = ManualClock::new(Timestamp::from_secs(1_000));
        let env = Env::test(clock.clone(), 1);
        let memory = Arc::new(MemoryStore::with_env(env.clone()));
        let store = TableDelayStore::new(memory, Duration::from_secs(10), &env);
        let status = async || {
            let described = store.describe_table(DescribeTable::new("things")).await;
            described.map(|table| table.status).map_err(|error| error.code())
        };
        let put = async || {
            let put = PutItem::new("things", item! { "pk" => "a" });
            store.put(put).await.map(drop).map_err(|error| error.code())
        };
        let table = CreateTable::new("things").partition_key("pk", KeyType::S);
        store.create_table(table.clone()).await.unwrap();
        assert_eq!(status().await, Ok(TableStatus::Creating));
        assert_eq!(put().await, Err("ResourceNotFoundException"));
        let twice = store.create_table(table).await.unwrap_err();
        assert_eq!(twice.code(), "ResourceInUseException");
        clock.advance(Duration::from_secs(10));
        assert_eq!(status().await, Ok(TableStatus::Active));
        assert_eq!(put().await, Ok(()));

        let protect = UpdateTable::new("things").deletion_protection(Some(false));
        store.update_table(protect).await.unwrap();
        assert_eq!(status().await, Ok(TableStatus::Updating));
        assert_eq!(put().await, Ok(()), "a table that is being changed can be used");
        let early = store.delete_table(DeleteTable::new("things")).await.unwrap_err();
        assert_eq!(early.code(), "ResourceInUseException");
        clock.advance(Duration::from_secs(10));

        store.delete_table(DeleteTable::new("things")).await.unwrap();
        assert_eq!(status().await, Ok(TableStatus::Deleting));
        assert_eq!(put().await, Err("ResourceNotFoundException"));
        clock.advance(Duration::from_secs(10));
        assert_eq!(status().await, Err("ResourceNotFoundException"));
    }

    #[test]
    fn extension_is_reached_through_the_table_delay() {
        let through = |store| TableDelayStore::new(store, Duration::ZERO, &Env::system());
        assert!(reaches_extension(&through(Arc::new(ExtendedStore::new()))));
        assert!(!reaches_extension(&through(Arc::new(MemoryStore::new()))));
    }
}
