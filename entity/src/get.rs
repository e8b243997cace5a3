//! Reading entities by their keys.

use std::collections::HashMap;

use super::design::{EntityDesign, TableDesign};
use super::{Db, Entity, EntityKey, Unreadable, View};
use tabla_core::backend::key_encoding;
use tabla_core::expr::Projection;
use tabla_core::ops::{GetItem, KeysAndAttributes};
use tabla_core::{Error, Result, assign};
use tabla_core::{Item, RetryMode, RetryPolicy, StoreExt};

impl Db {
    /// The entity with this key.
    ///
    /// # Errors
    /// Those of the store; the item is of another kind.
    pub async fn get<K: EntityKey>(&self, key: &K) -> Result<Option<K::Entity>> {
        let request = GetItem::new(self.table_of::<K::Entity>()?, key.to_item()?);
        let item = self.store().get(request.consistent_read(!self.is_eventual)).await?.item;
        item.map(|item| K::Entity::from_item(&item)).transpose()
    }

    /// Some fields of the entity with this key: a [`View`]. Only their attributes come over the
    /// network; the read costs as much as that of the whole entity.
    ///
    /// # Errors
    /// As for [`Db::get`].
    pub async fn get_view<V: View>(&self, key: &<V::Of as Entity>::Key) -> Result<Option<V>> {
        let request = GetItem::new(self.table_of::<V::Of>()?, key.to_item()?);
        let request = request.consistent_read(!self.is_eventual);
        let request = match V::view_attributes() {
            Some(attributes) => request.projection(projection(V::Of::design(), attributes)),
            None => request,
        };
        let item = self.store().get(request).await?.item;
        item.map(|item| V::read_item(&item)).transpose()
    }

    /// Reads as [`Db::get`] does, again after throttling.
    pub(super) async fn read_again<K: EntityKey>(&self, key: &K) -> Result<Option<K::Entity>> {
        self.retries().run(RetryMode::Idempotent, || self.get(key)).await
    }

    /// The entities with these keys, in their order, however many; `None` where there is none.
    /// They are not of one moment.
    ///
    /// A hundred keys are asked for at a time. What the store does not get to is asked for again.
    ///
    /// ```
    /// # use std::sync::{Arc, LazyLock};
    /// # use serde::{Deserialize, Serialize};
    /// # use tabla::MemoryStore;
    /// # use tabla::entity::{Db, Entity, Id, TableDesign};
    /// # static SHOP: LazyLock<TableDesign> = LazyLock::new(|| TableDesign::new("shop").key("PK", "SK"));
    /// #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
    /// #[entity(table = SHOP, pk = "THING#{id}", sk = "THING")]
    /// struct Thing {
    ///     id: Id,
    ///     price: u32,
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// # let db = Db::new(Arc::new(MemoryStore::new()));
    /// # db.create_table(&SHOP).await?;
    /// let pen = db.put(Thing { id: Id::new("pen")?, price: 2 }).await?;
    /// let keys = [Thing::key(Id::new("ink")?), pen.to_key()];
    /// assert_eq!(db.get_all(&keys).await?, [None, Some(pen)]);
    /// # Ok::<(), tabla::Error>(()) }).unwrap();
    /// ```
    ///
    /// # Errors
    /// Those of the store; an item cannot be read: [`Db::get_each`] gives the others.
    pub async fn get_all<K: EntityKey>(&self, keys: &[K]) -> Result<Vec<Option<K::Entity>>> {
        self.read_all(keys).await?.into_iter().map(|read| Ok(read?)).collect()
    }

    /// The same, with an answer for each key: an item that cannot be read does not hide the others.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn get_each<K: EntityKey>(&self, keys: &[K]) -> Result<Vec<Each<K>>> {
        self.read_all(keys).await
    }

    async fn read_all<K: EntityKey>(&self, keys: &[K]) -> Result<Vec<Each<K>>> {
        let consistent_read = !self.is_eventual;
        let design = K::Entity::design();
        let table = (design.table)();
        let (mut wanted, mut asked) = (Vec::with_capacity(keys.len()), Vec::new());
        // A batch has each key once.
        let mut found: HashMap<Vec<u8>, Option<Item>> = HashMap::new();
        for key in keys {
            let key = key.to_item()?;
            let encoded = encoded(table, &key)?;
            if found.insert(encoded.clone(), None).is_none() {
                asked.push(key);
            }
            wanted.push(encoded);
        }
        let request = assign!(KeysAndAttributes::default(), { keys: asked, consistent_read });
        let policy = RetryPolicy::default().with_env(self.env().clone());
        let name = self.table_of::<K::Entity>()?;
        for item in self.store().batch_get_with(&name, request, &policy).await? {
            found.insert(encoded(table, &item)?, Some(item));
        }
        let entity = |key: &Vec<u8>| {
            let Some(item) = found.get(key).and_then(Option::as_ref) else { return Ok(None) };
            let read = K::Entity::from_item(item);
            read.map(Some).map_err(|error| Unreadable::new(design, item, &error))
        };
        Ok(wanted.iter().map(entity).collect())
    }
}

/// What was found for one of several keys; `None` if nothing was.
pub type Each<K> = std::result::Result<Option<<K as EntityKey>::Entity>, Unreadable>;

/// Projection onto attributes of an entity, its key and its tag.
pub(super) fn projection(design: &EntityDesign, attributes: &[&'static str]) -> Projection {
    let table = (design.table)();
    let is_key_only = |attribute: &str| {
        design.fields.iter().any(|field| field.key_only && field.attribute == attribute)
    };
    let own = attributes.iter().copied().filter(|attribute| !is_key_only(attribute));
    let mut all: Vec<&str> = table.key_attributes(None).chain(own).collect();
    all.extend(design.tag.map(|(attribute, _)| attribute));
    // A key may be a field's attribute, and no path may stand there twice.
    all.sort_unstable();
    all.dedup();
    Projection::new(all)
}

/// The key of an item, to tell it from others.
fn encoded(table: &TableDesign, item: &Item) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for attribute in table.key_attributes(None) {
        let value = item.get(attribute).ok_or_else(|| {
            Error::corrupt(format!("an item of table {} has no {attribute}", table.name))
        })?;
        key_encoding::encode(value, &mut bytes).map_err(|key_encoding::NotAKey(kind)| {
            Error::validation(format!("{attribute} of table {} cannot be {kind:?}", table.name))
        })?;
    }
    Ok(bytes)
}
