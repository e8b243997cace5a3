//! The images of a change record as entities.

use tabla_core::Result;
use tabla_core::ops::Record;

use crate::{Entity, EntityKey};

/// Reads the images of a change record as entities.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use std::sync::{Arc, LazyLock};
/// use tabla::MemoryStore;
/// use tabla::consumer::{Consumer, each};
/// use tabla::entity::{Db, Entity, Id, RecordExt, TableDesign};
/// # use tabla::Store;
/// # use tabla::ops::{CreateTable, StreamViewType};
///
/// static SHOP: LazyLock<TableDesign> = LazyLock::new(|| TableDesign::new("shop").key("PK", "SK"));
///
/// #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Entity)]
/// #[entity(table = SHOP, pk = "CUSTOMER#{customer}", sk = "ORDER#{number:08}")]
/// struct Order {
///     customer: Id,
///     number: u32,
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let store = Arc::new(MemoryStore::new());
/// # let table = CreateTable::new("shop").partition_key("PK", tabla::KeyType::S);
/// # let table = table.sort_key("SK", tabla::KeyType::S).stream(StreamViewType::NewAndOldImages);
/// # store.create_table(table).await?;
/// let db = Db::new(store.clone());
/// let order = Order { customer: Id::new("ana")?, number: 7 };
/// db.create(order.clone()).await?;
/// let expected = order.clone();
/// let handler = each(move |record| {
///     let order = expected.clone();
///     async move {
///         assert_eq!(record.new_entity::<Order>()?, Some(order.clone()));
///         assert_eq!(record.old_entity::<Order>()?, None);
///         assert_eq!(record.entity_key::<Order>()?.number, order.number);
///         Ok(())
///     }
/// });
/// let drained = Consumer::new(store, "mailer", "shop").drain(&handler).await?;
/// assert_eq!(drained.handled, 1);
/// # Ok::<(), tabla::Error>(()) }).unwrap();
/// ```
pub trait RecordExt {
    /// The item after the change as an entity; `None` if the record has no such image, because the
    /// item was deleted or the view type of the stream leaves it out.
    ///
    /// # Errors
    /// The item is of another kind: tell them apart by [`Entity::from_item`]'s answer or a tag.
    fn new_entity<E: Entity>(&self) -> Result<Option<E>>;

    /// The item before the change as an entity; `None` if the record has no such image.
    ///
    /// # Errors
    /// The item is of another kind.
    fn old_entity<E: Entity>(&self) -> Result<Option<E>>;

    /// The key of the item as that of an entity.
    ///
    /// # Errors
    /// The key does not match the entity's templates.
    fn entity_key<E: Entity>(&self) -> Result<E::Key>;
}

impl RecordExt for Record {
    fn new_entity<E: Entity>(&self) -> Result<Option<E>> {
        self.new_image.as_ref().map(E::from_item).transpose()
    }

    fn old_entity<E: Entity>(&self) -> Result<Option<E>> {
        self.old_image.as_ref().map(E::from_item).transpose()
    }

    fn entity_key<E: Entity>(&self) -> Result<E::Key> {
        E::Key::from_item(&self.keys)
    }
}
