//! Index entries: which an item has, and which a write changes.

use super::row_key::{can_be_key, empty_index_key, empty_kind};
use super::{OperationError, RowKey};
use crate::error::Error;
use crate::limits;
use crate::ops::ProjectionType;
use crate::schema::{IndexSchema, KeyAttribute, TableSchema};
use crate::{Item, ValueRef};

/// An item's entry in an index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexEntry {
    /// Where it stands.
    pub row_key: RowKey,
    /// What the index carries of the item.
    pub item: Item,
}

/// What a write does to one index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexChange {
    /// The index, by its place in [`TableSchema::indexes`].
    pub index: usize,
    /// What happens to the item's entry.
    pub entry: EntryChange,
}

/// What happens to an entry.
#[derive(Clone, Debug, PartialEq)]
pub enum EntryChange {
    /// There was none, and now there is.
    Inserted(IndexEntry),
    /// There is none any more.
    Deleted(IndexEntry),
    /// It stands elsewhere.
    Moved {
        /// The entry before.
        from: IndexEntry,
        /// The entry after.
        to: IndexEntry,
    },
    /// It stands where it stood, and carries something else. Where that is need not be known
    /// everywhere: [`IndexEntry::at`] says it.
    Updated {
        /// What the index carried before.
        old: Item,
        /// What it carries now.
        new: Item,
    },
}

impl IndexEntry {
    /// The entry of this item in this index, `None` if the index does not have the item.
    pub fn of(schema: &TableSchema, index: &IndexSchema, item: &Item) -> Option<Self> {
        let position = RowKey::in_index(schema, index, item)?;
        Some(Self { row_key: position, item: index.project(schema, item) })
    }

    /// The entry in this index that carries this of its item.
    ///
    /// # Panics
    /// If no entry of the index can. All that an index carries has its keys.
    pub fn at(schema: &TableSchema, index: &IndexSchema, carried: &Item) -> Self {
        let position = RowKey::in_index(schema, index, carried);
        let position = position.expect("an entry carries the keys of its index");
        Self { row_key: position, item: carried.clone() }
    }
}

impl EntryChange {
    /// How many entries there are more, and how many bytes.
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
    /// What this index carries of an item.
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

/// The indexes that a write changes, and how. An index whose entry stays the same is left out.
///
/// The two items are those of one write: they have the same key.
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
        // Most updates leave the keys of most indexes alone. Where they do, the entry's position
        // is worth computing only if something is written there.
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

/// The values of an index's key attributes, partition before sort.
pub(super) type KeyValues<'i> = Vec<Option<ValueRef<'i>>>;

pub(super) fn key_values<'i>(index: &IndexSchema, item: &'i Item) -> KeyValues<'i> {
    item.view().get_each(index.key_attributes().map(|part| part.name.as_str()))
}

/// Whether an index has an entry for an item with these keys: if all are there, and they are of the
/// right type, not empty and not too large. Items of which only the latter does not hold were there
/// before the index (developer guide, "Detecting and correcting index key violations").
fn is_in(schema: &TableSchema, index: &IndexSchema, keys: &KeyValues<'_>) -> bool {
    let is_key = |(part, value): (&KeyAttribute, &Option<ValueRef<'_>>)| {
        value.is_some_and(|value| can_be_key(part, value))
    };
    index.key_attributes().zip(keys).all(is_key) && too_long(schema, index, keys).is_none()
}

/// Refuses an item whose attributes cannot be keys of the table's indexes.
///
/// An absent attribute is no fault: the item is just not in the index.
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

/// The same for the attributes that an update has written, in the words of an update. What a put
/// would be told is the source: the service says that to `AttributeUpdates`.
///
/// What the item had before is left alone: an index may have been added to items that do not fit
/// it, and they can still be changed elsewhere.
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

/// What is too long in the key of an index.
pub(super) struct TooLong<'a> {
    attribute: &'a str,
    size: usize,
    limit: usize,
}

/// Finds what is too long in a key of an index, if anything is. The halves of an index key have the
/// limits of a table's key, over all their attributes.
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
