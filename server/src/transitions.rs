//! Tables that take their time, for programs that are to be tested with it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tabla_core::env::{Env, Timestamp};
use tabla_core::ops::*;
use tabla_core::schema::{table_exists, table_name};
use tabla_core::{Capabilities, Error, ErrorKind, Result, Store};

/// A store whose tables are being created, changed and deleted for so long.
///
/// The store behind it has done the work already; this one does not tell before the time has come.
#[derive(Debug)]
pub(crate) struct Transitions {
    store: Arc<dyn Store>,
    time: Duration,
    env: Env,
    tables: Mutex<BTreeMap<String, Passing>>,
}

/// A state that passes.
#[derive(Clone, Debug)]
struct Passing {
    until: Timestamp,
    /// The table as it is described until then.
    table: TableDescription,
}

impl Transitions {
    pub(crate) fn new(store: Arc<dyn Store>, time: Duration, env: &Env) -> Self {
        Self { store, time, env: env.clone(), tables: Mutex::default() }
    }

    fn tables(&self) -> MutexGuard<'_, BTreeMap<String, Passing>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The table's description while its state has not passed.
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
        self.tables().insert(table.table.clone(), Passing { until, table });
    }

    /// Refuses what needs a table that is there.
    fn need(&self, given: &str) -> Result<()> {
        match self.passing(given).map(|table| table.status) {
            Some(TableStatus::Creating | TableStatus::Deleting) => Err(Error::table_not_found()),
            _ => Ok(()),
        }
    }

    fn need_all<'a, T>(&self, mut given: impl Iterator<Item = &'a String>) -> Result<Option<T>> {
        given.try_for_each(|given| self.need(given)).map(|()| None)
    }

    /// Refuses what needs a table that is at rest.
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
}

/// Methods with the signatures that `async_trait` makes of the trait's: each looks at the request,
/// hands it on, and looks at the answer.
macro_rules! methods {
    ($($method:ident($request:ty) -> $answer:ty, $before:expr, $after:expr;)+) => {
        $(
            fn $method<'life0, 'async_trait>(
                &'life0 self,
                request: $request,
            ) -> BoxFuture<'async_trait, Result<$answer>>
            where
                'life0: 'async_trait,
                Self: 'async_trait,
            {
                let before: fn(&Self, &$request) -> Result<Option<$answer>> = $before;
                let after: fn(&Self, &$answer) = $after;
                Box::pin(async move {
                    if let Some(answer) = before(self, &request)? {
                        return Ok(answer);
                    }
                    let answer = self.store.$method(request).await?;
                    after(self, &answer);
                    Ok(answer)
                })
            }
        )+
    };
}

/// Needs its table to be there.
macro_rules! needs {
    ($($request:ident).+) => {
        |store, request| store.need(&request$(.$request)+).map(|()| None)
    };
}

#[deny(clippy::missing_trait_methods)]
impl Store for Transitions {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    methods! {
        get(GetItem) -> GetItemOutput, needs!(table), |_, _| {};
        put(PutItem) -> WriteOutput, needs!(table), |_, _| {};
        update(UpdateItem) -> WriteOutput, needs!(table), |_, _| {};
        delete(DeleteItem) -> WriteOutput, needs!(table), |_, _| {};
        query(Query) -> Page, needs!(table), |_, _| {};
        scan(Scan) -> Page, needs!(table), |_, _| {};
        batch_get(BatchGetItem) -> BatchGetItemOutput,
            |store, request| store.need_all(request.requests.keys()), |_, _| {};
        batch_write(BatchWriteItem) -> BatchWriteItemOutput,
            |store, request| store.need_all(request.requests.keys()), |_, _| {};
        transact_get(TransactGetItems) -> TransactGetItemsOutput,
            |store, request| store.need_all(request.items.iter().map(|get| &get.table)),
            |_, _| {};
        transact_write(TransactWriteItems) -> TransactWriteItemsOutput,
            |store, request| store.need_all(request.items.iter().map(table_of)),
            |_, _| {};
        create_table(CreateTable) -> TableDescription,
            |store, request| match store.passing(&request.table) {
                Some(table) => Err(table_exists(&table.table)),
                None => Ok(None),
            },
            |store, table| store.begin(table, TableStatus::Creating);
        describe_table(DescribeTable) -> TableDescription,
            |store, request| Ok(store.passing(&request.table)), |_, _| {};
        update_table(UpdateTable) -> TableDescription,
            |store, request| store.need_rest(&request.table).map(|()| None),
            |store, table| store.begin(table, TableStatus::Updating);
        delete_table(DeleteTable) -> TableDescription,
            |store, request| store.need_rest(&request.table).map(|()| None),
            |store, table| store.begin(table, TableStatus::Deleting);
        list_tables(ListTables) -> ListTablesOutput, |_, _| Ok(None), |_, _| {};
        update_time_to_live(UpdateTimeToLive) -> UpdateTimeToLive,
            |store, request| store.need_rest(&request.table).map(|()| None), |_, _| {};
        describe_time_to_live(DescribeTimeToLive) -> TimeToLiveDescription,
            needs!(table), |_, _| {};
        tag_table(TagTable) -> (), needs!(table), |_, _| {};
        untag_table(UntagTable) -> (), needs!(table), |_, _| {};
        list_table_tags(ListTableTags) -> Tags, needs!(table), |_, _| {};
        list_streams(ListStreams) -> ListStreamsOutput, |_, _| Ok(None), |_, _| {};
        describe_stream(DescribeStream) -> StreamDescription, |_, _| Ok(None), |_, _| {};
        get_shard_iterator(GetShardIterator) -> ShardIterator, |_, _| Ok(None), |_, _| {};
        get_records(GetRecords) -> GetRecordsOutput, |_, _| Ok(None), |_, _| {};
    }
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
    use tabla_core::env::ManualClock;
    use tabla_core::{KeyType, MemoryStore, item};

    use super::*;

    #[tokio::test]
    async fn a_table_passes_through_its_states() {
        let clock = ManualClock::new(Timestamp::from_secs(1_000));
        let env = Env::test(clock.clone(), 1);
        let memory = Arc::new(MemoryStore::with_env(env.clone()));
        let store = Transitions::new(memory, Duration::from_secs(10), &env);
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
}
