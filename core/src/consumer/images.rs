//! The images of a record as entities.

use crate::entity::{Entity, EntityKey};
use crate::error::Result;
use crate::ops::Record;

impl Record {
    /// The item after the change as an entity; `None` if the record has no such image, since the
    /// item was deleted or the view of the stream does not show it.
    ///
    /// # Errors
    /// The item is of another kind: tell them apart by [`Entity::from_item`]'s answer or a tag.
    pub fn new_entity<E: Entity>(&self) -> Result<Option<E>> {
        self.new_image.as_ref().map(E::from_item).transpose()
    }

    /// The item before the change as an entity; `None` if the record has no such image.
    ///
    /// # Errors
    /// The item is of another kind.
    pub fn old_entity<E: Entity>(&self) -> Result<Option<E>> {
        self.old_image.as_ref().map(E::from_item).transpose()
    }

    /// The key of the item as that of an entity.
    ///
    /// # Errors
    /// The key is not of the entity's templates.
    pub fn entity_key<E: Entity>(&self) -> Result<E::Key> {
        E::Key::from_item(&self.keys)
    }
}
