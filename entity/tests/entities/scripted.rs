//! A store that keeps what it was asked, and answers as a service under load does.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use tabla_core::ops::*;
use tabla_core::{Error, ErrorKind, MemoryStore, Result, Store, assign};

#[derive(Debug)]
pub(crate) struct Scripted {
    store: MemoryStore,
    gets: Mutex<Vec<GetItem>>,
    batches: Mutex<Vec<KeysAndAttributes>>,
    statuses: Mutex<VecDeque<Option<TableStatus>>>,
    created: Mutex<usize>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

impl Scripted {
    pub(crate) fn new(store: MemoryStore) -> Self {
        Self {
            store,
            gets: Mutex::default(),
            batches: Mutex::default(),
            statuses: Mutex::default(),
            created: Mutex::default(),
        }
    }

    /// The gets since the last time that somebody asked.
    pub(crate) fn take_gets(&self) -> Vec<GetItem> {
        std::mem::take(&mut *lock(&self.gets))
    }

    /// The batches since the last time that somebody asked, each of one table.
    pub(crate) fn take_batches(&self) -> Vec<KeysAndAttributes> {
        std::mem::take(&mut *lock(&self.batches))
    }

    /// How often a table was to be created.
    pub(crate) fn created(&self) -> usize {
        *lock(&self.created)
    }

    /// Tables stand like this the next times that they are described, `None` for one that is not
    /// there. As long as there are any such, none can be created.
    pub(crate) fn stand(&self, statuses: impl IntoIterator<Item = Option<TableStatus>>) {
        lock(&self.statuses).extend(statuses);
    }
    async fn get_and_keep(&self, request: GetItem) -> Result<GetItemOutput> {
        lock(&self.gets).push(request.clone());
        self.store.get(request).await
    }

    /// Leaves every second key of a batch for another time.
    async fn batch_get_half(&self, request: BatchGetItem) -> Result<BatchGetItemOutput> {
        let (mut now, mut later) = (BatchGetItem::new(), BatchGetItem::new());
        for (table, all) in request.requests {
            lock(&self.batches).push(all.clone());
            let half = |odd: usize| {
                let keys = all.keys.iter().enumerate();
                keys.filter(|(at, _)| at % 2 == odd).map(|(_, key)| key.clone()).collect()
            };
            now.requests.insert(table.clone(), assign!(all.clone(), { keys: half(0) }));
            if all.keys.len() > 1 {
                later.requests.insert(table, assign!(all.clone(), { keys: half(1) }));
            }
        }
        let output = self.store.batch_get(now).await?;
        Ok(output.unprocessed_keys(later.requests))
    }

    async fn create_unless_scripted(&self, request: CreateTable) -> Result<TableDescription> {
        *lock(&self.created) += 1;
        if lock(&self.statuses).is_empty() {
            return self.store.create_table(request).await;
        }
        Err(Error::new(ErrorKind::InUse, "it is being created or deleted"))
    }

    async fn describe_as_scripted(&self, request: DescribeTable) -> Result<TableDescription> {
        let status = lock(&self.statuses).pop_front();
        let is_there = self.store.describe_table(request.clone()).await;
        match status {
            None => is_there,
            Some(None) => Err(Error::new(ErrorKind::NotFound, "it is not there")),
            Some(Some(status)) => is_there.map(|is| is.status(status)),
        }
    }
}

macro_rules! scripted {
    ($self:ident, get, $request:ident) => {
        $self.get_and_keep($request).await
    };
    ($self:ident, batch_get, $request:ident) => {
        $self.batch_get_half($request).await
    };
    ($self:ident, create_table, $request:ident) => {
        $self.create_unless_scripted($request).await
    };
    ($self:ident, describe_table, $request:ident) => {
        $self.describe_as_scripted($request).await
    };
    ($self:ident, $method:ident, $request:ident) => {
        $self.store.$method($request).await
    };
}

tabla_core::wrap_store! {
    impl[] Store for Scripted, inner: store, call: scripted
}
