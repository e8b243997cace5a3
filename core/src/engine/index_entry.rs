//! Index entries: those of an item, the changes that a write makes, and the rules on index keys.

use super::row_key::{can_be_key, empty_index_key, empty_kind};
use super::{OperationError, RowKey};
use crate::error::Error;
use crate::limits;
use crate::ops::ProjectionType;
use crate::schema::{IndexSchema, KeyAttribute, TableSchema};
use crate::{Item, ValueRef};

/// Entry of an item in an index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexEntry {
    /// Row key of the entry: index key, then table key.
    pub row_key: RowKey,
    /// Attributes of the item that the index projects.
    pub item: Item,
}

/// Change of one index by a write.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexChange {
    /// Index, by its position in [`TableSchema::indexes`].
    pub index: usize,
    /// Change of the item's entry.
    pub entry: EntryChange,
}

/// Change of one index entry.
#[derive(Clone, Debug, PartialEq)]
pub enum EntryChange {
    /// The entry is new.
    Inserted(IndexEntry),
    /// The entry is deleted.
    Deleted(IndexEntry),
    /// The row key of the entry changes.
    Moved {
        /// Entry before the write.
        from: IndexEntry,
        /// Entry after the write.
        to: IndexEntry,
    },
    /// The row key stays and a projected attribute changes. [`IndexEntry::at`] computes the row key
    /// where it is needed.
    Updated {
        /// Projected attributes before the write.
        old: Item,
        /// Projected attributes after the write.
        new: Item,
    },
}

impl IndexEntry {
    /// Computes the entry of an item in an index; `None` if the index does not hold the item.
    pub fn of(schema: &TableSchema, index: &IndexSchema, item: &Item) -> Option<Self> {
        let position = RowKey::in_index(schema, index, item)?;
        Some(Self { row_key: position, item: index.project(schema, item) })
    }

    /// Computes the entry with these projected attributes in an index.
    ///
    /// # Panics
    /// If the attributes lack a key of the index, which the projected attributes of an entry
    /// never do.
    pub fn at(schema: &TableSchema, index: &IndexSchema, carried: &Item) -> Self {
        let position = RowKey::in_index(schema, index, carried);
        let position = position.expect("an index entry has the keys of its index");
        Self { row_key: position, item: carried.clone() }
    }
}

impl EntryChange {
    /// Change of the number of entries, and of their size in bytes.
    pub fn count_delta(&self) -> (i64, i64) {
        let size = |item: &Item| item.size() as i64;
        match self {
            Self::Inserted(new) => (1, size(&new.item)),
            Self::Deleted(old) => (-1, -size(&old.item)),
            Self::Moved { from, to } => (0, size(&to.item) - size(&from.item)),
            Self::Updated { old, new } => (0, size(new) - size(old)),
        }
    }
}

impl IndexSchema {
    /// Projects an item onto the attributes that the index holds.
    pub fn project(&self, schema: &TableSchema, item: &Item) -> Item {
        if self.projection.kind == ProjectionType::All {
            return item.clone();
        }
        item.iter()
            .filter(|(name, _)| self.carries(schema, name))
            .map(|(name, value)| (name.to_owned(), value.to_value()))
            .collect()
    }
}

/// Computes the index changes of a write. An index whose entry stays the same is left out.
///
/// Both items have the same key: they are the item before and after the write.
pub(crate) fn index_changes(
    schema: &TableSchema,
    old: Option<&Item>,
    new: Option<&Item>,
) -> Vec<IndexChange> {
    let change = |(index, index_schema): (usize, &IndexSchema)| {
        let entry = entry_change(schema, index_schema, old, new)?;
        Some(IndexChange { index, entry })
    };
    schema.indexes.iter().enumerate().filter_map(change).collect()
}

fn entry_change(
    schema: &TableSchema,
    index: &IndexSchema,
    old: Option<&Item>,
    new: Option<&Item>,
) -> Option<EntryChange> {
    let entry = |item: &Item| IndexEntry::of(schema, index, item);
    match (old, new) {
        (None, None) => None,
        (None, Some(new)) => entry(new).map(EntryChange::Inserted),
        (Some(old), None) => entry(old).map(EntryChange::Deleted),
        // Most updates change no key of most indexes. Then the row key of the entry is needed only
        // if its attributes change.
        (Some(old), Some(new)) if let Some(keys) = same_keys(index, old, new) => {
            if !is_in(schema, index, &keys) {
                return None;
            }
            let (old, new) = (index.project(schema, old), index.project(schema, new));
            (old != new).then_some(EntryChange::Updated { old, new })
        }
        (Some(old), Some(new)) => match (entry(old), entry(new)) {
            (None, None) => None,
            (None, Some(new)) => Some(EntryChange::Inserted(new)),
            (Some(old), None) => Some(EntryChange::Deleted(old)),
            (Some(from), Some(to)) => Some(EntryChange::Moved { from, to }),
        },
    }
}

fn same_keys<'i>(index: &IndexSchema, one: &Item, other: &'i Item) -> Option<KeyValues<'i>> {
    let keys = key_values(index, other);
    (key_values(index, one) == keys).then_some(keys)
}

/// Values of an index's key attributes, partition before sort.
pub(super) type KeyValues<'i> = Vec<Option<ValueRef<'i>>>;

pub(super) fn key_values<'i>(index: &IndexSchema, item: &'i Item) -> KeyValues<'i> {
    item.view().get_each(index.key_attributes().map(|part| part.name.as_str()))
}

/// Whether an index holds an item with these keys: all are present, of the right type, not empty
/// and not too large. An item with keys that violate the last three rules is older than the index
/// (developer guide, "Detecting and correcting index key violations").
fn is_in(schema: &TableSchema, index: &IndexSchema, keys: &KeyValues<'_>) -> bool {
    let is_key = |(part, value): (&KeyAttribute, &Option<ValueRef<'_>>)| {
        value.is_some_and(|value| can_be_key(part, value))
    };
    index.key_attributes().zip(keys).all(is_key) && too_long(schema, index, keys).is_none()
}

/// Refuses an item whose attributes cannot be keys of the table's indexes.
///
/// A missing attribute is no error: the index is sparse.
pub(super) fn check_index_keys(schema: &TableSchema, item: &Item) -> Result<(), OperationError> {
    let keys: Vec<KeyValues<'_>> =
        schema.indexes.iter().map(|index| key_values(index, item)).collect();
    for (index, keys) in schema.indexes.iter().zip(&keys) {
        for (attribute, value) in index.key_attributes().zip(keys) {
            let Some(value) = *value else { continue };
            if let Some(kind) = empty_kind(value).filter(|_| attribute.accepts(value)) {
                return Err(OperationError::Request(empty_index_key(
                    kind,
                    &index.name,
                    &attribute.name,
                )));
            }
        }
    }
    for (index, keys) in schema.indexes.iter().zip(&keys) {
        for (attribute, value) in index.key_attributes().zip(keys) {
            let Some(value) = *value else { continue };
            if !attribute.accepts(value) {
                return Err(OperationError::Item(mismatch(
                    index,
                    &attribute.name,
                    attribute.kind.code(),
                    value,
                )));
            }
        }
        if let Some(TooLong { attribute, size, limit }) = too_long(schema, index, keys) {
            return Err(OperationError::Request(Error::validation(format!(
                "One or more parameter values were invalid: Size limit exceeded for Index Key \
                 {attribute} Actual Size: {size} bytes Max Size: {limit} bytes IndexName: {}",
                index.name
            ))));
        }
    }
    Ok(())
}

/// Refuses an update that writes attributes which cannot be index keys, with the message of an
/// update. The source of the error is the message of a put, which DynamoDB returns for
/// `AttributeUpdates`.
///
/// Attributes that the update does not write are not checked: an index may have been added to items
/// that do not fit it, and their other attributes can still be changed.
pub(super) fn check_updated_index_keys(
    schema: &TableSchema,
    item: &Item,
    is_updated: impl Fn(&str) -> bool,
) -> Result<(), OperationError> {
    for index in &schema.indexes {
        for attribute in index.key_attributes().filter(|attribute| is_updated(&attribute.name)) {
            let Some(value) = item.get(&attribute.name) else { continue };
            if let Some(kind) = empty_kind(value).filter(|_| attribute.accepts(value)) {
                let error = Error::validation(format!(
                    "One or more parameter values are not valid. The update expression attempted \
                     to update a secondary index key to a value that is not supported. The \
                     AttributeValue for a key attribute cannot contain an empty {kind} value."
                ));
                let of_put = empty_index_key(kind, &index.name, &attribute.name);
                return Err(OperationError::Request(error.with_source(of_put)));
            }
            if !attribute.accepts(value) {
                let error = Error::validation(
                    "The update expression attempted to update the secondary index key to \
                     unsupported type",
                );
                let of_put = mismatch(index, &attribute.name, attribute.kind.code(), value);
                return Err(OperationError::Item(error.with_source(of_put)));
            }
        }
        let is_updated = index.key_attributes().any(|attribute| is_updated(&attribute.name));
        if is_updated && too_long(schema, index, &key_values(index, item)).is_some() {
            return Err(OperationError::item(
                "The update expression attempted to update the secondary index key beyond \
                 allowed size limits",
            ));
        }
    }
    Ok(())
}

fn mismatch(index: &IndexSchema, attribute: &str, expected: &str, value: ValueRef<'_>) -> Error {
    Error::validation(format!(
        "One or more parameter values were invalid: Type mismatch for Index Key {attribute} \
         Expected: {expected} Actual: {} IndexName: {}",
        value.type_code(),
        index.name
    ))
}

/// Part of an index key that is too long.
pub(super) struct TooLong<'a> {
    attribute: &'a str,
    size: usize,
    limit: usize,
}

/// Finds the part of an index key that is too long. Partition and sort key of an index have the
/// limits of a table's key, over the sum of their attributes.
pub(super) fn too_long<'a>(
    schema: &TableSchema,
    index: &'a IndexSchema,
    keys: &[Option<ValueRef<'_>>],
) -> Option<TooLong<'a>> {
    let in_half = |half: &'a [KeyAttribute], keys: &[Option<ValueRef<'_>>], limit: usize| {
        let mut size = 0;
        let own = half.iter().zip(keys).filter(|(part, _)| !schema.is_key(&part.name));
        own.map(|(part, value)| (part, value.map_or(0, ValueRef::size))).find_map(|(part, own)| {
            size += own;
            (size > limit).then_some(TooLong { attribute: &part.name, size, limit })
        })
    };
    let (partition, sort) = keys.split_at(index.partition.len());
    in_half(&index.partition, partition, limits::PARTITION_KEY_SIZE)
        .or_else(|| in_half(&index.sort, sort, limits::SORT_KEY_SIZE))
}
