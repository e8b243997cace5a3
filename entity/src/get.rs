//! Reading entities by their keys.

use std::collections::HashMap;

use super::design::{EntityDesign, TableDesign};
use super::{Db, Entity, EntityKey, Unreadable};
use tabla_core::backend::key_encoding;
use tabla_core::expr::Projection;
use tabla_core::ops::{GetItem, KeysAndAttributes};
use tabla_core::{Error, Result, assign};
use tabla_core::{Item, RetryPolicy, StoreExt};

impl Db {
    /// The entity with this key, seeing every write answered before.
    ///
    /// # Errors
    /// Those of the store; the item is of another kind.
    pub async fn get<K: EntityKey>(&self, key: &K) -> Result<Option<K::Entity>> {
        self.read(key, |request| request.consistent_read(true)).await
    }

    /// The entity with this key, at half the price, perhaps without the last writes.
    ///
    /// # Errors
    /// As for [`Db::get`].
    pub async fn get_eventually<K: EntityKey>(&self, key: &K) -> Result<Option<K::Entity>> {
        self.read(key, |request| request).await
    }

    /// As [`Db::get`], and asks for no other attributes than those of the entity: for one that has
    /// a few of the fields of another, whose items may be large. It costs as much, and less has to
    /// come over the network.
    ///
    /// What serde would read from other attributes, by `flatten` or `alias`, is not asked for.
    ///
    /// ```
    /// # use std::sync::{Arc, LazyLock};
    /// # use serde::{Deserialize, Serialize};
    /// # use tabla::MemoryStore;
    /// # use tabla::entity::{Db, Entity, Id, TableDesign};
    /// # static PRESS: LazyLock<TableDesign> =
    /// #     LazyLock::new(|| TableDesign::new("press").key("PK", "SK"));
    /// #[derive(Clone, Serialize, Deserialize, Entity)]
    /// #[entity(table = PRESS, tag("type" = "ARTICLE"), pk = "ARTICLE#{id}", sk = "ARTICLE")]
    /// struct Article {
    ///     id: Id,
    ///     title: String,
    ///     text: String,
    /// }
    ///
    /// /// The same items, without their texts.
    /// #[derive(Clone, Serialize, Deserialize, Entity)]
    /// #[entity(table = PRESS, tag("type" = "ARTICLE"), pk = "ARTICLE#{id}", sk = "ARTICLE")]
    /// struct Headline {
    ///     id: Id,
    ///     title: String,
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// # let db = Db::new(Arc::new(MemoryStore::new()));
    /// # db.create_table(&PRESS).await?;
    /// # let text = "Long".repeat(100);
    /// db.put(Article { id: Id::new("7")?, title: "News".into(), text }).await?;
    /// let found = db.get_projected(&HeadlineKey { id: Id::new("7")? }).await?;
    /// assert_eq!(found.unwrap().title, "News");
    /// # Ok::<(), tabla::Error>(()) }).unwrap();
    /// ```
    ///
    /// # Errors
    /// As for [`Db::get`].
    pub async fn get_projected<K: EntityKey>(&self, key: &K) -> Result<Option<K::Entity>> {
        let projection = projection(K::Entity::design());
        self.read(key, |request| request.consistent_read(true).projection(projection)).await
    }

    async fn read<K: EntityKey>(
        &self,
        key: &K,
        how: impl FnOnce(GetItem) -> GetItem,
    ) -> Result<Option<K::Entity>> {
        let request = how(GetItem::new(self.table_of::<K::Entity>()?, key.to_item()?));
        let item = self.store().get(request).await?.item;
        item.map(|item| K::Entity::from_item(&item)).transpose()
    }

    /// The entities with these keys, in their order, however many, each seeing every write
    /// answered before it was read; `None` where there is none. They are not of one moment.
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
    /// let keys = [ThingKey { id: Id::new("ink")? }, pen.key()];
    /// assert_eq!(db.get_all(&keys).await?, [None, Some(pen)]);
    /// # Ok::<(), tabla::Error>(()) }).unwrap();
    /// ```
    ///
    /// # Errors
    /// Those of the store; an item cannot be read: [`Db::get_each`] gives the others.
    pub async fn get_all<K: EntityKey>(&self, keys: &[K]) -> Result<Vec<Option<K::Entity>>> {
        self.read_all(keys, true).await?.into_iter().map(|read| Ok(read?)).collect()
    }

    /// The same, with an answer for each key: an item that cannot be read does not hide the others.
    ///
    /// # Errors
    /// Those of the store.
    pub async fn get_each<K: EntityKey>(&self, keys: &[K]) -> Result<Vec<Each<K>>> {
        self.read_all(keys, true).await
    }

    /// The same at half the price, perhaps without the last writes.
    ///
    /// # Errors
    /// As for [`Db::get_all`].
    pub async fn get_all_eventually<K: EntityKey>(
        &self,
        keys: &[K],
    ) -> Result<Vec<Option<K::Entity>>> {
        self.read_all(keys, false).await?.into_iter().map(|read| Ok(read?)).collect()
    }

    async fn read_all<K: EntityKey>(
        &self,
        keys: &[K],
        consistent_read: bool,
    ) -> Result<Vec<Each<K>>> {
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

/// Onto what the entity is read from.
fn projection(design: &EntityDesign) -> Projection {
    let fields = design.fields.iter().filter(|field| !field.key_only);
    let mut attributes: Vec<&str> = (design.table)().key_attributes(None).collect();
    attributes.extend(design.tag.map(|(attribute, _)| attribute));
    attributes.extend(fields.map(|field| field.attribute));
    // A key may be a field's attribute, and no path may stand there twice.
    attributes.sort_unstable();
    attributes.dedup();
    Projection::new(attributes)
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
