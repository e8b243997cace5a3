//! Entities on a store.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};

use super::change::{check_countable, present};
use super::collection::Collection;
use super::design::TableDesign;
use super::pages::{self, Page, Unreadable};
use super::unique;
use super::{
    Change, Check, Entity, EntityKey, EntityQuery, IntoQuery, Outcome, Stamp, Transaction,
    UtcMillis, View,
};
use tabla_core::env::Env;
use tabla_core::expr::{Condition, attr};
use tabla_core::ops::{DeleteItem, PutItem, ReturnValues, UpdateItem, WriteOutput};
use tabla_core::{Applied, Error, ErrorKind, Result};
use tabla_core::{Item, RetryPolicy, Store};

/// Entities on a store: which store, what its tables are called, what time it is.
#[derive(Clone, Debug)]
pub struct Db {
    store: Arc<dyn Store>,
    env: Env,
    pub(super) names: Arc<BTreeMap<String, String>>,
    pub(super) period: Option<String>,
    retries: RetryPolicy,
    pub(super) is_eventual: bool,
}

impl Db {
    /// Entities on this store, by the machine's clock.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self::with_env(store, Env::system())
    }

    /// Entities on this store, by this clock and randomness.
    pub fn with_env(store: Arc<dyn Store>, env: Env) -> Self {
        let retries = RetryPolicy::contended(env.clone());
        Self { store, env, names: Arc::default(), period: None, retries, is_eventual: false }
    }

    /// Trying for what others want, too, by this policy: see [`Db::optimistic`].
    #[must_use]
    pub fn with_retries(mut self, retries: RetryPolicy) -> Self {
        self.retries = retries;
        self
    }

    /// With another name for a table of the design, such as that of an environment.
    #[must_use]
    pub fn rename(mut self, design: &TableDesign, name: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.names).insert(design.name.clone(), name.into());
        self
    }

    /// Whether a period was chosen, for designs that have a table for each.
    pub fn has_period(&self) -> bool {
        self.period.is_some()
    }

    /// The tables of this period, for designs that have one for each.
    #[must_use]
    pub fn period(&self, period: impl std::fmt::Display) -> Self {
        Self { period: Some(period.to_string()), ..self.clone() }
    }

    /// This database with eventually consistent reads, at half the price.
    ///
    /// Every read of a `Db` sees all writes that were acknowledged before it, except through a
    /// global index, where DynamoDB offers no such read. Reads of this database may miss the last
    /// writes: gets, batches, pages and collections alike.
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/shop.rs"));
    /// # fn main() -> tabla::Result<()> {
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// # let db = shop().await?;
    /// let orders = db.eventual().all(Order::of(Id::new("ana")?)).await?;
    /// # assert!(orders.is_empty());
    /// # Ok(()) })
    /// # }
    /// ```
    #[must_use]
    pub fn eventual(&self) -> Self {
        Self { is_eventual: true, ..self.clone() }
    }

    /// The store.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// The store, to be shared.
    pub fn shared_store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// The same on another store.
    #[must_use]
    pub fn on(&self, store: Arc<dyn Store>) -> Self {
        Self { store, ..self.clone() }
    }

    /// The clock and the randomness.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// Now.
    pub fn now(&self) -> UtcMillis {
        self.env.clock.now().into()
    }

    pub(super) fn retries(&self) -> &RetryPolicy {
        &self.retries
    }

    pub(super) fn table_of<E: Entity>(&self) -> Result<String> {
        self.table_name((E::design().table)())
    }

    fn stamp<E: Entity>(&self, entity: &mut E, is_new: bool) -> Result<()> {
        stamp(entity, &Stamp { now: self.now(), is_new })
    }

    /// Writes an entity that must not be there. [`Outcome::Lost`] has the one that is.
    ///
    /// # Errors
    /// Those of the store; a field cannot stand in a key.
    pub async fn create<E: Entity>(&self, mut entity: E) -> Result<Outcome<E>> {
        self.stamp(&mut entity, true)?;
        if !E::design().unique.is_empty() {
            let mut transaction = self.transaction();
            let step = transaction.create_stamped(&entity);
            return transaction.alone(step, entity).await;
        }
        self.put_if(entity, !present(E::design())).await
    }

    /// Writes an entity in the place of one that must be there.
    ///
    /// # Errors
    /// Those of the store; a field cannot stand in a key; a unique field, or a count of writes,
    /// cannot be replaced so.
    pub async fn replace<E: Entity>(&self, mut entity: E) -> Result<Outcome<E>> {
        check_not_unique::<E>("replace")?;
        check_not_counted::<E>("replace")?;
        self.stamp(&mut entity, false)?;
        self.put_if(entity, present(E::design())).await
    }

    /// Writes an entity that was read, if nobody has written it since: it counts its writes.
    /// [`Outcome::Lost`] has the present one.
    ///
    /// # Errors
    /// Those of the store; the entity has no field for its revision; a unique field cannot be
    /// saved so.
    pub async fn save<E: Entity>(&self, mut entity: E) -> Result<Outcome<E>> {
        check_not_unique::<E>("save")?;
        let design = E::design();
        let (Some(field), Some(read)) = (design.revision, entity.revision()) else {
            return Err(Error::validation(format!(
                "{} does not count its writes: give it a `revision`, or use replace",
                design.name
            )));
        };
        let condition = match read {
            0 => !present(design),
            read => attr(design.attribute(field)).eq(read),
        };
        self.stamp(&mut entity, read == 0)?;
        self.put_if(entity, condition).await
    }

    /// Writes an entity whatever is there, and gives it back as it was written: only for entities
    /// without unique fields, and without a count of their writes.
    ///
    /// # Errors
    /// Those of the store; a field cannot stand in a key; it has unique fields or counts its
    /// writes.
    pub async fn put<E: Entity>(&self, mut entity: E) -> Result<E> {
        check_not_unique::<E>("put")?;
        check_not_counted::<E>("put")?;
        self.stamp(&mut entity, true)?;
        self.store.put(PutItem::new(self.table_of::<E>()?, entity.to_item()?)).await?;
        Ok(entity)
    }

    async fn put_if<E: Entity>(&self, entity: E, condition: Condition) -> Result<Outcome<E>> {
        let request = PutItem::new(self.table_of::<E>()?, entity.to_item()?)
            .condition(condition)
            .return_item_on_failure();
        outcome(self.store.put(request).await, |_| Ok(entity))
    }

    /// Changes some fields of an entity that must be there.
    ///
    /// # Errors
    /// Those of the store; the change would leave a key behind. If the changed item cannot be read,
    /// the error is of the kind [`Corrupt`](ErrorKind::Corrupt) with [`Applied::Maybe`], and its
    /// message says that the write is committed.
    pub async fn update<E: Entity>(&self, change: Change<E>) -> Result<Outcome<E>> {
        if change.changed().any(|name| unique::concerns(E::design(), name)) {
            let key = change.key.clone();
            let mut transaction = self.transaction();
            let step = transaction.update(change);
            return transaction.alone_at(step, key).await;
        }
        let built = change.build(self.now())?;
        let request = UpdateItem::new(self.table_of::<E>()?, built.key)
            .update(built.update)
            .condition(built.condition)
            .return_values(ReturnValues::AllNew)
            .return_item_on_failure();
        outcome(self.store.update(request).await, |output| returned(output.attributes))
    }

    /// Deletes an entity that must be there.
    ///
    /// # Errors
    /// Those of the store. If the deleted item cannot be read, the error is of the kind
    /// [`Corrupt`](ErrorKind::Corrupt) with [`Applied::Maybe`], and its message says that the write
    /// is committed. An entity with unique fields that cannot be read is not deleted.
    pub async fn delete<K: EntityKey>(&self, key: &K) -> Result<Outcome<K::Entity>> {
        self.delete_on(key, None).await
    }

    /// Deletes an entity that must be there, if this holds.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn delete_if<K: EntityKey>(
        &self,
        key: &K,
        check: Check<K::Entity>,
    ) -> Result<Outcome<K::Entity>> {
        self.delete_on(key, Some(check.on_attributes()?)).await
    }

    async fn delete_on<K: EntityKey>(
        &self,
        key: &K,
        condition: Option<Condition>,
    ) -> Result<Outcome<K::Entity>> {
        let design = K::Entity::design();
        if !design.unique.is_empty() {
            return self.delete_unique(key, condition).await;
        }
        let condition = match condition {
            Some(condition) => present(design).and(condition),
            None => present(design),
        };
        let request = DeleteItem::new(self.table_of::<K::Entity>()?, key.to_item()?)
            .condition(condition)
            .return_values(ReturnValues::AllOld)
            .return_item_on_failure();
        outcome(self.store.delete(request).await, |output| returned(output.attributes))
    }

    /// Deletes an entity with its unique values, which have to be read first. If they have changed
    /// meanwhile, they are given up as they are now: only the caller's condition decides.
    async fn delete_unique<K: EntityKey>(
        &self,
        key: &K,
        condition: Option<Condition>,
    ) -> Result<Outcome<K::Entity>> {
        let mut attempts = self.optimistic("delete an entity with unique values");
        loop {
            let mut transaction = attempts.begin().await?;
            let Some(read) = transaction.get(key).await? else { return Ok(Outcome::Lost(None)) };
            let step = transaction.delete_read_on(&read, condition.clone());
            let current = match transaction.alone(step, read).await? {
                Outcome::Lost(Some(current)) => current,
                outcome => return Ok(outcome),
            };
            let item = current.to_item()?;
            if condition.as_ref().is_some_and(|condition| !condition.evaluate(&item)) {
                return Ok(Outcome::Lost(Some(current)));
            }
        }
    }

    /// Starts a transaction: several writes of any entities, all or none.
    pub fn transaction(&self) -> Transaction<'_> {
        Transaction::new(self)
    }

    /// A page of what is looked for. An item that cannot be read does not hide the others:
    /// [`Page::unreadable`] has its key.
    ///
    /// # Errors
    /// Those of the store; a field of the key is missing; the cursor belongs to something else.
    pub async fn page<Q: IntoQuery>(&self, query: Q) -> Result<Page<Q::View>> {
        let page = pages::read(self, &query.into_query()).await?;
        let (mut items, mut unreadable) = (Vec::with_capacity(page.items.len()), Vec::new());
        for read in entities(page.items) {
            match read {
                Ok(entity) => items.push(entity),
                Err(item) => unreadable.push(item),
            }
        }
        Ok(Page { items, next: page.next, unreadable })
    }

    /// Everything that is looked for, page after page. An item that cannot be read is an error in
    /// its place, and the stream goes on after it; an error of the store ends the stream.
    pub fn stream<Q: IntoQuery>(&self, query: Q) -> BoxStream<'_, Result<Q::View>> {
        let next = move |state: Option<EntityQuery<Q::Entity, Q::View>>| async move {
            let Some(mut query) = state else { return Ok(None) };
            let page = pages::read(self, &query).await?;
            query.cursor = page.next;
            let is_over = query.cursor.is_none();
            Ok::<_, Error>(Some((page.items, (!is_over).then_some(query))))
        };
        stream::try_unfold(Some(query.into_query()), next)
            .map_ok(|items| {
                stream::iter(entities(items).map(|read| read.map_err(Unreadable::into_error)))
            })
            .try_flatten()
            .boxed()
    }

    /// All of what is looked for, or an error: never a part of it.
    ///
    /// # Errors
    /// As for [`Db::page`]; an item cannot be read: [`Db::page`] and [`Db::stream`] give the others.
    pub async fn all<Q: IntoQuery>(&self, query: Q) -> Result<Vec<Q::View>> {
        self.stream(query).try_collect().await
    }

    /// A whole item collection, of entities of several kinds, over all its pages. An item that
    /// cannot be read does not hide the others: the collection's `unreadable` has its key.
    ///
    /// # Errors
    /// As for [`Db::page`].
    pub async fn collect<C: Collection>(&self, query: impl IntoQuery) -> Result<C> {
        let mut query = query.into_query().whole_partition();
        let mut collection = C::default();
        loop {
            let page = pages::read(self, &query).await?;
            for item in page.items {
                collection.add(item)?;
            }
            query.cursor = page.next;
            if query.cursor.is_none() {
                return Ok(collection);
            }
        }
    }
}

/// The entities among items. Others may be among them, where their keys begin with the same text.
fn entities<V: View>(items: Vec<Item>) -> impl Iterator<Item = std::result::Result<V, Unreadable>> {
    let design = V::Of::design();
    let own = items.into_iter().filter(|item| !design.is_foreign(item));
    own.map(|item| V::read_item(&item).map_err(|error| Unreadable::new(design, &item, &error)))
}

/// Sets what the layer sets by itself before a write.
pub(super) fn stamp<E: Entity>(entity: &mut E, stamp: &Stamp) -> Result<()> {
    check_countable(E::design(), entity.revision().unwrap_or_default())?;
    entity.stamp(stamp);
    Ok(())
}

pub(super) fn check_not_unique<E: Entity>(operation: &str) -> Result<()> {
    let design = E::design();
    if design.unique.is_empty() {
        return Ok(());
    }
    Err(Error::validation(format!(
        "{} has unique fields, whose old values {operation} does not know: use update",
        design.name
    )))
}

/// A write that does not look at the count could set it back, and an older one would then win.
pub(super) fn check_not_counted<E: Entity>(operation: &str) -> Result<()> {
    let design = E::design();
    match design.revision {
        None => Ok(()),
        Some(revision) => Err(Error::validation(format!(
            "{} counts its writes in `{revision}`, which {operation} could set back: use save, or \
             update",
            design.name
        ))),
    }
}

/// The entity that a write returns. The write is committed: no error may call it not applied.
fn returned<E: Entity>(attributes: Option<Item>) -> Result<E> {
    let attributes = attributes.ok_or_else(|| {
        Error::new(ErrorKind::Unexpected, "the store did not return the item that it was asked for")
    });
    attributes.and_then(|attributes| E::from_item(&attributes)).map_err(committed)
}

/// The error of an operation whose write is committed, and whose result cannot be given.
pub(super) fn committed(error: Error) -> Error {
    let message =
        format!("the write is committed, but its result is not known: {}", error.message());
    error.with_message(message).with_applied(Applied::Maybe)
}

/// A lost condition is a value.
fn outcome<E: Entity>(
    answer: Result<WriteOutput>,
    done: impl FnOnce(WriteOutput) -> Result<E>,
) -> Result<Outcome<E>> {
    match answer {
        Ok(output) => Ok(Outcome::Done(done(output)?)),
        Err(error) if error.is_condition_failed() => match error.into_kind() {
            ErrorKind::ConditionFailed { item } => {
                Ok(Outcome::Lost(item.map(|item| E::from_item(&item)).transpose()?))
            }
            kind => Err(Error::new(kind, "unexpected kind of a failed condition")),
        },
        Err(error) => Err(error),
    }
}
