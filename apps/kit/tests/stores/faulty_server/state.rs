//! States of a store: tracked with each write, compared and restored.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use futures::TryStreamExt;
use tabla::backend::key_encoding::encode;
use tabla::ops::*;
use tabla::{Item, MemoryStore, Store, StoreExt};

/// Tables by name.
pub(crate) type State = BTreeMap<String, Arc<Table>>;

/// One table of a [`State`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    /// Attribute by which items expire.
    ttl: Option<String>,
    /// Items by their encoded keys.
    items: BTreeMap<Vec<u8>, Item>,
}

/// Definitions of all tables that were ever created, by name.
pub(crate) type Definitions = BTreeMap<String, CreateTable>;

fn encoded(key: &Item, names: &[String]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for name in names {
        encode(key.get(name).expect("a key attribute"), &mut bytes).expect("a key");
    }
    bytes
}

/// The key attributes of an item.
fn key_of(item: &Item, names: &[String]) -> Item {
    names.iter().fold(Item::new(), |key, name| {
        key.with(name.as_str(), item.get(name).expect("a key attribute").to_value())
    })
}

/// Everything that a store holds, read from the store.
pub(crate) async fn state_of(store: &MemoryStore) -> State {
    let mut state = State::new();
    for table in store.all_tables().await.expect("tables") {
        let described = store.describe_table(DescribeTable::new(&table)).await.expect("a table");
        let names: Vec<String> = described.key_schema.into_iter().map(|key| key.name).collect();
        let scan = Scan::new(&table).consistent_read(true);
        let items: Vec<Item> = store.scan_items(scan).try_collect().await.expect("items");
        let items = items.into_iter().map(|item| (encoded(&item, &names), item)).collect();
        let ttl = store.describe_time_to_live(DescribeTimeToLive::new(&table)).await;
        let ttl = ttl.expect("a time to live").attribute;
        state.insert(table, Arc::new(Table { ttl, items }));
    }
    state
}

/// What of one state is not in the other: for the message of a failed check.
pub(crate) fn differences(one: &State, other: &State) -> Vec<String> {
    let mut found = Vec::new();
    for (name, table) in one {
        let Some(there) = other.get(name) else {
            found.push(format!("table {name}"));
            continue;
        };
        if table.ttl != there.ttl {
            found.push(format!("{name}: time to live {:?}", table.ttl));
        }
        let items = table.items.iter().filter(|(key, item)| there.items.get(*key) != Some(item));
        found.extend(items.map(|(_, item)| format!("{name}: {item:?}")));
    }
    found
}

/// A store in memory that knows its state after each write.
#[derive(Debug)]
pub(crate) struct Tracked {
    pub(crate) store: Arc<MemoryStore>,
    tracks: Mutex<Tracks>,
}

#[derive(Debug, Default)]
struct Tracks {
    state: Arc<State>,
    /// The states since [`Tracked::begin`], each different from the one before.
    history: Vec<Arc<State>>,
    definitions: Definitions,
    /// Items that batches have put.
    put_in_batches: Vec<Item>,
}

/// Items that a request may write: the table, and the item or its key.
type Written = Vec<(String, Item)>;

fn in_batch(request: &BatchWriteItem) -> Written {
    let writes = request.requests.iter();
    writes
        .flat_map(|(table, writes)| {
            writes.iter().map(|write| match write {
                WriteRequest::Put(item) => (table.clone(), item.clone()),
                WriteRequest::Delete(key) => (table.clone(), key.clone()),
            })
        })
        .collect()
}

fn in_transaction(request: &TransactWriteItems) -> Written {
    let write = |operation: &TransactWriteItem| match operation {
        TransactWriteItem::Put(put) => Some((put.table.clone(), put.item.clone())),
        TransactWriteItem::Update(update) => Some((update.table.clone(), update.key.clone())),
        TransactWriteItem::Delete(delete) => Some((delete.table.clone(), delete.key.clone())),
        TransactWriteItem::ConditionCheck(_) => None,
    };
    request.items.iter().filter_map(write).collect()
}

macro_rules! tracked {
    ($self:ident, put, $request:ident) => {{
        let written = vec![($request.table.clone(), $request.item.clone())];
        let answer = $self.store.put($request).await;
        $self.track(written).await;
        answer
    }};
    ($self:ident, update, $request:ident) => {{
        let written = vec![($request.table.clone(), $request.key.clone())];
        let answer = $self.store.update($request).await;
        $self.track(written).await;
        answer
    }};
    ($self:ident, delete, $request:ident) => {{
        let written = vec![($request.table.clone(), $request.key.clone())];
        let answer = $self.store.delete($request).await;
        $self.track(written).await;
        answer
    }};
    ($self:ident, batch_write, $request:ident) => {{
        let written = in_batch(&$request);
        $self.note_puts(&$request);
        let answer = $self.store.batch_write($request).await;
        $self.track(written).await;
        answer
    }};
    ($self:ident, transact_write, $request:ident) => {{
        let written = in_transaction(&$request);
        let answer = $self.store.transact_write($request).await;
        $self.track(written).await;
        answer
    }};
    ($self:ident, create_table, $request:ident) => {{
        let definition = $request.clone();
        let answer = $self.store.create_table($request).await;
        if answer.is_ok() {
            $self.create(definition);
        }
        answer
    }};
    ($self:ident, delete_table, $request:ident) => {{
        let name = $request.table.clone();
        let answer = $self.store.delete_table($request).await;
        if answer.is_ok() {
            $self.change(|state| drop(state.remove(&name)));
        }
        answer
    }};
    ($self:ident, update_time_to_live, $request:ident) => {{
        let (name, ttl) = ($request.table.clone(), $request.attribute.clone());
        assert!($request.enabled, "no app turns the time to live off");
        let answer = $self.store.update_time_to_live($request).await;
        if answer.is_ok() {
            $self.change(|state| table_mut(state, &name).ttl = Some(ttl));
        }
        answer
    }};
    // Reads. At its end the test compares what is tracked with what is stored.
    ($self:ident, $method:ident, $request:ident) => {
        $self.store.$method($request).await
    };
}

tabla::wrap_store! {
    impl[] Store for Tracked, inner: store, call: tracked
}

fn table_mut<'s>(state: &'s mut State, name: &str) -> &'s mut Table {
    Arc::make_mut(state.get_mut(name).expect("a table"))
}

impl Tracked {
    /// Tracks a store that is empty.
    pub(crate) fn new(store: Arc<MemoryStore>) -> Self {
        Self { store, tracks: Mutex::default() }
    }

    fn tracks(&self) -> MutexGuard<'_, Tracks> {
        self.tracks.lock().expect("no panic")
    }

    /// The present state.
    pub(crate) fn state(&self) -> Arc<State> {
        Arc::clone(&self.tracks().state)
    }

    /// Keeps states from now on, beginning with the present one.
    pub(crate) fn begin(&self) {
        let mut tracks = self.tracks();
        tracks.history = vec![Arc::clone(&tracks.state)];
    }

    /// The states since [`Tracked::begin`], each different from the one before.
    pub(crate) fn end(&self) -> Vec<Arc<State>> {
        std::mem::take(&mut self.tracks().history)
    }

    /// Definitions of the tables that were created so far.
    pub(crate) fn definitions(&self) -> Definitions {
        self.tracks().definitions.clone()
    }

    /// The items that batches have put so far.
    pub(crate) fn put_in_batches(&self) -> Vec<Item> {
        self.tracks().put_in_batches.clone()
    }

    fn note_puts(&self, request: &BatchWriteItem) {
        let puts = request.requests.values().flatten().filter_map(|write| match write {
            WriteRequest::Put(item) => Some(item.clone()),
            WriteRequest::Delete(_) => None,
        });
        self.tracks().put_in_batches.extend(puts);
    }

    fn create(&self, definition: CreateTable) {
        let name = definition.table.clone();
        self.tracks().definitions.insert(name.clone(), definition);
        self.change(|state| drop(state.insert(name, Arc::default())));
    }

    /// Reads the items that a request may have written.
    async fn track(&self, written: Written) {
        let mut changed = Vec::new();
        for (table, item) in written {
            let Some(names) = self.key_names(&table) else { continue };
            let key = key_of(&item, &names);
            let present = self.store.get_item(&table, key.clone()).await.expect("an answer");
            changed.push((table, encoded(&key, &names), present));
        }
        let state = self.state();
        changed.retain(|(table, key, item)| state[table].items.get(key) != item.as_ref());
        drop(state);
        if changed.is_empty() {
            return;
        }
        self.change(|state| {
            for (table, key, item) in changed {
                let items = &mut table_mut(state, &table).items;
                match item {
                    Some(item) => items.insert(key, item),
                    None => items.remove(&key),
                };
            }
        });
    }

    /// Names of the key attributes of a table; `None` if there is no such table.
    fn key_names(&self, table: &str) -> Option<Vec<String>> {
        let tracks = self.tracks();
        tracks.state.get(table)?;
        let schema = &tracks.definitions[table].key_schema;
        Some(schema.iter().map(|element| element.name.clone()).collect())
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut tracks = self.tracks();
        change(Arc::make_mut(&mut tracks.state));
        if !tracks.history.is_empty() {
            let state = Arc::clone(&tracks.state);
            tracks.history.push(state);
        }
    }

    /// Changes the store to the wanted state.
    pub(crate) async fn restore(&self, wanted: &Arc<State>, definitions: &Definitions) {
        let present = self.state();
        let keeps = |name: &String, table: &Table| {
            wanted.get(name).is_some_and(|wanted| wanted.ttl == table.ttl)
        };
        for (name, _) in present.iter().filter(|(name, table)| !keeps(name, table)) {
            self.store.delete_table(DeleteTable::new(name)).await.expect("a deleted table");
        }
        for (name, wanted) in wanted.iter() {
            let definition = &definitions[name];
            let kept = present.get(name).filter(|table| keeps(name, table));
            if kept.is_some_and(|kept| Arc::ptr_eq(kept, wanted)) {
                continue;
            }
            let nothing = BTreeMap::new();
            let items = kept.map_or(&nothing, |table| &table.items);
            if kept.is_none() {
                self.store.create_table(definition.clone()).await.expect("a table");
                if let Some(attribute) = &wanted.ttl {
                    let request = UpdateTimeToLive::new(name, attribute, true);
                    self.store.update_time_to_live(request).await.expect("a time to live");
                }
            }
            let schema = definition.key_schema.iter();
            let names: Vec<String> = schema.map(|element| element.name.clone()).collect();
            for (_, item) in items.iter().filter(|(key, _)| !wanted.items.contains_key(*key)) {
                let request = DeleteItem::new(name, key_of(item, &names));
                self.store.delete(request).await.expect("a delete");
            }
            let changed = |(key, item): &(&Vec<u8>, &Item)| items.get(*key) != Some(item);
            for (_, item) in wanted.items.iter().filter(changed) {
                self.store.put(PutItem::new(name, item.clone())).await.expect("a put");
            }
        }
        let mut tracks = self.tracks();
        tracks.state = Arc::clone(wanted);
        tracks.definitions.extend(definitions.clone());
    }
}
