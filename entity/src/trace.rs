//! A store that remembers what it was asked, and what that cost.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::Operation;
use super::shape::Reading;
use tabla_core::Result;
use tabla_core::ops::*;
use tabla_core::{Expr, Item, Store};

/// A store that remembers every operation on items: what it asked, through which index, how many
/// items it gave, and how many capacity units it took.
#[derive(Clone, Debug)]
pub struct Traced {
    store: Arc<dyn Store>,
    traces: Arc<Mutex<Vec<Trace>>>,
}

/// One operation that was carried out.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Trace {
    /// What was asked.
    pub operation: Operation,
    /// The index that was read.
    pub index: Option<String>,
    /// What a query or a scan looked for.
    pub reading: Option<Reading>,
    /// Whether a read saw every write answered before.
    pub is_consistent: bool,
    /// The items that the request names by their keys.
    pub touched: Vec<Touched>,
    /// How many items were read, or written.
    pub items: usize,
    /// What it cost.
    pub units: f64,
}

/// What a request does to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Touch {
    Get,
    Put,
    Update,
    Delete,
    Check,
}

/// An item that a request names.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Touched {
    /// What is done to it.
    pub touch: Touch,
    /// Its table, as the store knows it.
    pub table: String,
    /// Its key; the whole item where it is put.
    pub item: Item,
    /// The attributes that an update changes.
    pub changed: Vec<String>,
}

impl Trace {
    fn new(operation: Operation) -> Self {
        Self {
            operation,
            index: None,
            reading: None,
            is_consistent: false,
            touched: Vec::new(),
            items: 0,
            units: 0.0,
        }
    }

    fn touching(operation: Operation, touched: Vec<Touched>) -> Self {
        Self { touched, ..Self::new(operation) }
    }
}

impl Touched {
    fn new(touch: Touch, table: &str, item: &Item) -> Self {
        Self { touch, table: table.to_owned(), item: item.clone(), changed: Vec::new() }
    }

    fn update(request: &UpdateItem) -> Self {
        // An update in text, with its placeholders, is not one of the entity layer.
        let changed = match &request.update {
            Some(Expr::Tree(update)) => {
                update.touched().map(|path| path.root().to_owned()).collect()
            }
            Some(Expr::Text(_)) | None => Vec::new(),
        };
        Self { changed, ..Self::new(Touch::Update, &request.table, &request.key) }
    }

    fn of(item: &TransactWriteItem) -> Self {
        match item {
            TransactWriteItem::Put(put) => Self::new(Touch::Put, &put.table, &put.item),
            TransactWriteItem::Update(update) => Self::update(update),
            TransactWriteItem::Delete(delete) => {
                Self::new(Touch::Delete, &delete.table, &delete.key)
            }
            TransactWriteItem::ConditionCheck(check) => {
                Self::new(Touch::Check, &check.table, &check.key)
            }
        }
    }
}

impl Traced {
    /// This store, with a memory.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, traces: Arc::default() }
    }

    /// What was carried out since the last time that somebody asked.
    pub fn take(&self) -> Vec<Trace> {
        std::mem::take(&mut *self.traces.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Remembers what was carried out, now that it is known what it gave and cost.
    fn note(&self, trace: Trace, items: usize, capacity: &[ConsumedCapacity]) {
        let units = capacity.iter().map(|capacity| capacity.capacity_units).sum();
        let trace = Trace { items, units, ..trace };
        self.traces.lock().unwrap_or_else(PoisonError::into_inner).push(trace);
    }
}

const WANTED: ReturnConsumedCapacity = ReturnConsumedCapacity::Total;

fn of(capacity: &Option<ConsumedCapacity>) -> &[ConsumedCapacity] {
    capacity.as_slice()
}

/// What a batch names, table by table.
fn touched_in<T>(
    requests: &BTreeMap<String, T>,
    of_table: impl Fn(&str, &T) -> Vec<Touched>,
) -> Vec<Touched> {
    requests.iter().flat_map(|(table, request)| of_table(table, request)).collect()
}

/// Operations on items leave a trace. The others are passed on.
macro_rules! traced {
    ($self:ident, get, $request:ident) => {
        $self.trace_get($request).await
    };
    ($self:ident, put, $request:ident) => {
        $self.trace_put($request).await
    };
    ($self:ident, update, $request:ident) => {
        $self.trace_update($request).await
    };
    ($self:ident, delete, $request:ident) => {
        $self.trace_delete($request).await
    };
    ($self:ident, query, $request:ident) => {
        $self.trace_query($request).await
    };
    ($self:ident, scan, $request:ident) => {
        $self.trace_scan($request).await
    };
    ($self:ident, batch_get, $request:ident) => {
        $self.trace_batch_get($request).await
    };
    ($self:ident, batch_write, $request:ident) => {
        $self.trace_batch_write($request).await
    };
    ($self:ident, transact_get, $request:ident) => {
        $self.trace_transact_get($request).await
    };
    ($self:ident, transact_write, $request:ident) => {
        $self.trace_transact_write($request).await
    };
    ($self:ident, $method:ident, $request:ident) => {
        $self.store.$method($request).await
    };
}

tabla_core::wrap_store! {
    impl[] Store for Traced, inner: store, call: traced
}

impl Traced {
    async fn trace_get(&self, mut request: GetItem) -> Result<GetItemOutput> {
        request.return_consumed_capacity = WANTED;
        let touched = vec![Touched::new(Touch::Get, &request.table, &request.key)];
        let is_consistent = request.consistent_read;
        let trace = Trace { is_consistent, ..Trace::touching(Operation::GetItem, touched) };
        let output = self.store.get(request).await?;
        self.note(trace, usize::from(output.item.is_some()), of(&output.consumed_capacity));
        Ok(output)
    }

    async fn trace_put(&self, mut request: PutItem) -> Result<WriteOutput> {
        request.return_consumed_capacity = WANTED;
        let touched = vec![Touched::new(Touch::Put, &request.table, &request.item)];
        let output = self.store.put(request).await?;
        let trace = Trace::touching(Operation::PutItem, touched);
        self.note(trace, 1, of(&output.consumed_capacity));
        Ok(output)
    }

    async fn trace_update(&self, mut request: UpdateItem) -> Result<WriteOutput> {
        request.return_consumed_capacity = WANTED;
        let touched = vec![Touched::update(&request)];
        let output = self.store.update(request).await?;
        let trace = Trace::touching(Operation::UpdateItem, touched);
        self.note(trace, 1, of(&output.consumed_capacity));
        Ok(output)
    }

    async fn trace_delete(&self, mut request: DeleteItem) -> Result<WriteOutput> {
        request.return_consumed_capacity = WANTED;
        let touched = vec![Touched::new(Touch::Delete, &request.table, &request.key)];
        let output = self.store.delete(request).await?;
        let trace = Trace::touching(Operation::DeleteItem, touched);
        self.note(trace, 1, of(&output.consumed_capacity));
        Ok(output)
    }

    async fn trace_query(&self, mut request: Query) -> Result<Page> {
        request.return_consumed_capacity = WANTED;
        let trace = Trace {
            index: request.index.clone(),
            reading: Some(Reading::from(&request)),
            is_consistent: request.consistent_read,
            ..Trace::new(Operation::Query)
        };
        let output = self.store.query(request).await?;
        self.note(trace, output.items.len(), of(&output.consumed_capacity));
        Ok(output)
    }

    async fn trace_scan(&self, mut request: Scan) -> Result<Page> {
        request.return_consumed_capacity = WANTED;
        let trace = Trace {
            index: request.index.clone(),
            reading: Some(Reading::from(&request)),
            is_consistent: request.consistent_read,
            ..Trace::new(Operation::Scan)
        };
        let output = self.store.scan(request).await?;
        self.note(trace, output.items.len(), of(&output.consumed_capacity));
        Ok(output)
    }

    async fn trace_batch_get(&self, mut request: BatchGetItem) -> Result<BatchGetItemOutput> {
        request.return_consumed_capacity = WANTED;
        let is_consistent = request.requests.values().all(|table| table.consistent_read);
        let touched = touched_in(&request.requests, |table, wanted: &KeysAndAttributes| {
            let get = |key| Touched::new(Touch::Get, table, key);
            wanted.keys.iter().map(get).collect()
        });
        let trace = Trace { is_consistent, ..Trace::touching(Operation::BatchGetItem, touched) };
        let output = self.store.batch_get(request).await?;
        let items = output.responses.values().map(Vec::len).sum();
        self.note(trace, items, &output.consumed_capacity);
        Ok(output)
    }

    async fn trace_batch_write(&self, mut request: BatchWriteItem) -> Result<BatchWriteItemOutput> {
        request.return_consumed_capacity = WANTED;
        let touched = touched_in(&request.requests, |table, writes: &Vec<WriteRequest>| {
            let write = |write: &WriteRequest| match write {
                WriteRequest::Put(item) => Touched::new(Touch::Put, table, item),
                WriteRequest::Delete(key) => Touched::new(Touch::Delete, table, key),
            };
            writes.iter().map(write).collect()
        });
        let output = self.store.batch_write(request).await?;
        let items = touched.len();
        let trace = Trace::touching(Operation::BatchWriteItem, touched);
        self.note(trace, items, &output.consumed_capacity);
        Ok(output)
    }

    async fn trace_transact_get(
        &self,
        mut request: TransactGetItems,
    ) -> Result<TransactGetItemsOutput> {
        request.return_consumed_capacity = WANTED;
        let get = |get: &GetItem| Touched::new(Touch::Get, &get.table, &get.key);
        let touched = request.items.iter().map(get).collect();
        let trace =
            Trace { is_consistent: true, ..Trace::touching(Operation::TransactGetItems, touched) };
        let output = self.store.transact_get(request).await?;
        let items = output.responses.iter().flatten().count();
        self.note(trace, items, &output.consumed_capacity);
        Ok(output)
    }

    async fn trace_transact_write(
        &self,
        mut request: TransactWriteItems,
    ) -> Result<TransactWriteItemsOutput> {
        request.return_consumed_capacity = WANTED;
        let touched: Vec<Touched> = request.items.iter().map(Touched::of).collect();
        let output = self.store.transact_write(request).await?;
        let items = touched.len();
        let trace = Trace::touching(Operation::TransactWriteItems, touched);
        self.note(trace, items, &output.consumed_capacity);
        Ok(output)
    }
}

#[cfg(test)]
mod tests {
    use std::any::TypeId;

    use tabla_core::{Extension, MemoryStore, StoreExt};

    use super::*;

    /// Extension of the test.
    trait Sample: Send + Sync {}

    #[derive(Debug, Default)]
    struct ExtendedStore {
        store: MemoryStore,
    }

    impl Sample for ExtendedStore {}

    impl ExtendedStore {
        fn own_extensions(&self, id: TypeId) -> Option<Extension> {
            let is_sample = id == Extension::id::<dyn Sample>();
            is_sample.then(|| Extension::new::<dyn Sample>(Arc::new(Self::default())))
        }
    }

    macro_rules! passed_on {
        ($self:ident, $method:ident, $request:ident) => {
            $self.store.$method($request).await
        };
    }

    tabla_core::wrap_store! {
        impl[] Store for ExtendedStore, inner: store, call: passed_on, extensions: own_extensions
    }

    #[test]
    fn extension_is_reached_through_a_traced_store() {
        let reaches = |store| Traced::new(store).extension::<dyn Sample>().is_some();
        assert!(reaches(Arc::new(ExtendedStore::default())));
        assert!(!reaches(Arc::new(MemoryStore::new())));
    }
}
