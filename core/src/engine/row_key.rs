//! Row keys: the place of an item in a table or index, as bytes.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use super::OperationError;
use super::index_entry::{key_values, too_long};
use crate::error::Error;
use crate::key::encoding;
use crate::limits;
use crate::schema::{IndexSchema, KeyAttribute, TableSchema};
use crate::{Item, ValueRef};

/// Place of an item in a table or index, as bytes whose order is that of the rows.
///
/// The bytes are the hash of the partition key, the partition key and the sort key, each encoded so
/// that its end is known. In an index the key of the table follows, so that entries with equal
/// index keys differ.
#[derive(Clone, Debug)]
pub struct RowKey {
    bytes: Vec<u8>,
    /// Offset of the sort key.
    sort: usize,
}

/// Size of the hash in bytes.
const HASH: usize = size_of::<u64>();

/// Initial capacity in bytes: enough for most keys, so that encoding does not reallocate.
const USUAL_LENGTH: usize = 96;

/// Encodes the hash of a partition key and the key itself, which `encode` appends.
pub(super) fn key_prefix(encode: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(USUAL_LENGTH);
    bytes.extend_from_slice(&[0; HASH]);
    encode(&mut bytes);
    let hash = encoding::hash(&bytes[HASH..]);
    bytes[..HASH].copy_from_slice(&hash.to_be_bytes());
    bytes
}

/// Smallest bytes after a row key: the same bytes and a zero.
pub(super) fn after(position: &RowKey) -> Vec<u8> {
    [position.as_bytes(), &[0]].concat()
}

impl RowKey {
    /// Bytes by which rows are ordered.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Encoded hash of the partition key and partition key.
    pub fn partition_key(&self) -> &[u8] {
        &self.bytes[..self.sort]
    }

    /// Encoded sort key; in an index, followed by the key of the table.
    pub fn sort_key(&self) -> &[u8] {
        &self.bytes[self.sort..]
    }

    /// Hash of the partition key.
    pub fn hash(&self) -> u64 {
        let hash = self.bytes.first_chunk().expect("every row key begins with a hash");
        u64::from_be_bytes(*hash)
    }

    /// Computes the row key in the table of a stored item.
    ///
    /// # Panics
    /// If the item has no valid key. Stored items always have one.
    pub fn of_stored(schema: &TableSchema, item: &Item) -> Self {
        let mut bytes = key_prefix(|out| encode_stored(&schema.partition, item, out));
        let sort = bytes.len();
        if let Some(attribute) = &schema.sort {
            encode_stored(attribute, item, &mut bytes);
        }
        Self { bytes, sort }
    }

    /// Whether this is the row key of an item in the table.
    pub fn is_of(&self, schema: &TableSchema, item: &Item) -> bool {
        let mut key = Vec::with_capacity(self.bytes.len());
        let is_key =
            schema.key_attributes().all(|part| encode_if_key(part, item, &mut key).is_some());
        // The hash follows from the key.
        is_key && key == self.bytes[HASH..]
    }

    /// Computes the row key of an item in an index; `None` if the index does not hold the item.
    pub fn in_index(schema: &TableSchema, index: &IndexSchema, item: &Item) -> Option<Self> {
        match too_long(schema, index, &key_values(index, item)) {
            Some(_) => None,
            None => Self::by_index_keys(schema, index, item),
        }
    }

    /// Computes the row key in an index without a limit on the size of its keys: a start key may be
    /// longer than the key of any item.
    pub(super) fn by_index_keys(
        schema: &TableSchema,
        index: &IndexSchema,
        item: &Item,
    ) -> Option<Self> {
        let mut is_key = true;
        let mut bytes = key_prefix(|out| {
            is_key = index.partition.iter().all(|part| encode_if_key(part, item, out).is_some());
        });
        if !is_key {
            return None;
        }
        let sort = bytes.len();
        for attribute in &index.sort {
            encode_if_key(attribute, item, &mut bytes)?;
        }
        for attribute in schema.key_attributes() {
            encode_stored(attribute, item, &mut bytes);
        }
        Some(Self { bytes, sort })
    }

    /// Validates a key of a request and computes its row key. The key must have the table's key
    /// attributes and no others.
    pub(super) fn of_key(schema: &TableSchema, key: &Item) -> Result<Self, OperationError> {
        if !has_key_attributes(schema, key) {
            // DynamoDB reports invalid attribute names first.
            key.validate()?;
            return Err(OperationError::Request(does_not_match()));
        }
        check_no_empty_key(schema, key)?;
        if schema.key_attributes().any(|part| !is_typed(part, key)) {
            return Err(OperationError::Item(does_not_match()));
        }
        Self::checked(schema, key)
    }

    /// Validates a key of a read and computes its row key. In a transaction, wrong key attributes
    /// are the cancellation reason of the read (observed on AWS).
    pub(super) fn of_read_key(schema: &TableSchema, key: &Item) -> Result<Self, OperationError> {
        if !has_key_attributes(schema, key) {
            key.validate()?;
            return Err(OperationError::Item(does_not_match()));
        }
        Self::of_key(schema, key)
    }

    /// Validates the key attributes of an item of a request and computes its row key.
    pub(super) fn of_item(schema: &TableSchema, item: &Item) -> Result<Self, OperationError> {
        check_no_empty_key(schema, item)?;
        for attribute in schema.key_attributes() {
            let Some(value) = item.get(&attribute.name) else {
                return Err(OperationError::Request(Error::validation(format!(
                    "One or more parameter values were invalid: Missing the key {} in the item",
                    attribute.name
                ))));
            };
            if !attribute.accepts(value) {
                return Err(OperationError::item(format!(
                    "One or more parameter values were invalid: \
                     Type mismatch for key {} expected: {} actual: {}",
                    attribute.name,
                    attribute.kind,
                    value.type_code()
                )));
            }
        }
        Self::checked(schema, item)
    }

    fn checked(schema: &TableSchema, item: &Item) -> Result<Self, OperationError> {
        check_size(item, &schema.partition, limits::PARTITION_KEY_SIZE, LONG_PARTITION)?;
        if let Some(sort) = &schema.sort {
            check_size(item, sort, limits::SORT_KEY_SIZE, LONG_SORT)?;
        }
        Ok(Self::of_stored(schema, item))
    }
}

// Equality and order are those of the bytes: the encoding of a key is unique.
impl PartialEq for RowKey {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl Eq for RowKey {}

impl PartialOrd for RowKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RowKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bytes.cmp(&other.bytes)
    }
}

impl Hash for RowKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

impl Borrow<[u8]> for RowKey {
    fn borrow(&self) -> &[u8] {
        &self.bytes
    }
}

impl KeyAttribute {
    /// Whether this value has the type of the attribute.
    pub fn accepts(&self, value: ValueRef<'_>) -> bool {
        value.kind() == self.kind.into()
    }
}

/// Selects the table's key attributes of an item.
pub(super) fn key_of(schema: &TableSchema, item: &Item) -> Item {
    select(item, schema.key_attributes())
}

/// Selects the attributes of the start key after an item: the keys of the table and, if an index is
/// read, of the index.
pub(super) fn resume_key(schema: &TableSchema, index: Option<&IndexSchema>, item: &Item) -> Item {
    let index_keys = index.into_iter().flat_map(IndexSchema::key_attributes);
    select(item, schema.key_attributes().chain(index_keys))
}

fn select<'a>(item: &Item, attributes: impl Iterator<Item = &'a KeyAttribute>) -> Item {
    attributes
        .filter_map(|part| item.get(&part.name).map(|value| (part.name.clone(), value.to_value())))
        .collect()
}

/// AWS's message for a partition key that is too long, verbatim: no space before the number.
pub(super) const LONG_PARTITION: &str = "One or more parameter values were invalid: Size of \
                                         hashkey has exceeded the maximum size limit of2048 bytes";

/// AWS's message for a sort key that is too long.
pub(super) const LONG_SORT: &str = "One or more parameter values were invalid: Aggregated size of \
                                    all range keys has exceeded the size limit of 1024 bytes";

/// AWS's message for a `Key` that is not the table's key.
fn does_not_match() -> Error {
    Error::validation("The provided key element does not match the schema")
}

fn has_key_attributes(schema: &TableSchema, key: &Item) -> bool {
    key.len() == schema.key_attributes().count()
        && schema.key_attributes().all(|part| key.contains(&part.name))
}

fn is_typed(attribute: &KeyAttribute, item: &Item) -> bool {
    item.get(&attribute.name).is_some_and(|value| attribute.accepts(value))
}

fn encode_if_key(attribute: &KeyAttribute, item: &Item, out: &mut Vec<u8>) -> Option<()> {
    let value = item.get(&attribute.name).filter(|value| can_be_key(attribute, *value))?;
    encoding::encode(value, out).ok()
}

/// Whether a value of this attribute can be a key.
pub(super) fn can_be_key(attribute: &KeyAttribute, value: ValueRef<'_>) -> bool {
    attribute.accepts(value) && empty_kind(value).is_none()
}

fn encode_stored(attribute: &KeyAttribute, item: &Item, out: &mut Vec<u8>) {
    encode_if_key(attribute, item, out).expect("a stored item has a valid key");
}

fn check_no_empty_key(schema: &TableSchema, item: &Item) -> Result<(), OperationError> {
    for attribute in schema.key_attributes() {
        // An empty value of another type is a mismatch first.
        let typed = item.get(&attribute.name).filter(|value| attribute.accepts(*value));
        if let Some(kind) = typed.and_then(empty_kind) {
            return Err(OperationError::Request(empty_key(kind, &attribute.name)));
        }
    }
    Ok(())
}

/// Error for an empty value of a key attribute of the table.
pub(super) fn empty_key(kind: &str, attribute: &str) -> Error {
    Error::validation(format!(
        "One or more parameter values are not valid. The AttributeValue for a key attribute \
         cannot contain an empty {kind} value. Key: {attribute}"
    ))
}

/// Error for an empty value of a key attribute of an index.
pub(super) fn empty_index_key(kind: &str, index: &str, attribute: &str) -> Error {
    Error::validation(format!(
        "One or more parameter values are not valid. A value specified for a secondary index key \
         is not supported. The AttributeValue for a key attribute cannot contain an empty {kind} \
         value. IndexName: {index}, IndexKey: {attribute}"
    ))
}

/// Type name of an empty string or binary in messages; `None` for any other value.
pub(super) fn empty_kind(value: ValueRef<'_>) -> Option<&'static str> {
    match value {
        ValueRef::S("") => Some("string"),
        ValueRef::B([]) => Some("binary"),
        _ => None,
    }
}

fn check_size(
    item: &Item,
    attribute: &KeyAttribute,
    limit: usize,
    refusal: &str,
) -> Result<(), OperationError> {
    if item.get(&attribute.name).is_some_and(|value| value.size() > limit) {
        return Err(OperationError::item(refusal));
    }
    Ok(())
}
