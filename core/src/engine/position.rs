//! Where an item stands in a table or index.

use super::Fault;
use super::index::too_long;
use crate::error::Error;
use crate::key::encoding;
use crate::limits;
use crate::schema::{IndexSchema, KeyAttribute, TableSchema};
use crate::{Item, ValueRef};

/// The place of an item in a table or index.
///
/// Tables and indexes are ordered by the hash of the partition key, then by the partition key,
/// then by the sort key. In an index the table's key follows the index's own, so that entries
/// that tie are told apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The hash of the partition key.
    pub hash: u64,
    /// The encoded partition key.
    pub partition: Vec<u8>,
    /// The encoded sort key; in an index, followed by the table's key.
    pub sort: Vec<u8>,
}

impl Position {
    /// The position of a partition key and a sort key that are encoded already.
    pub fn new(partition: Vec<u8>, sort: Vec<u8>) -> Self {
        Self { hash: encoding::hash(&partition), partition, sort }
    }

    /// The position in the table of an item that is known to have a valid key.
    ///
    /// # Panics
    /// If the item has no valid key. Stored items always have.
    pub fn of_stored(schema: &TableSchema, item: &Item) -> Self {
        let mut partition = Vec::new();
        encode_stored(&schema.partition, item, &mut partition);
        let mut sort = Vec::new();
        if let Some(attribute) = &schema.sort {
            encode_stored(attribute, item, &mut sort);
        }
        Self::new(partition, sort)
    }

    /// The position of an item in an index; `None` if the index does not have the item, because a
    /// key attribute is absent, or of another type, empty or too large. Items of the latter kinds
    /// were there before the index (developer guide, "Detecting and correcting index key
    /// violations").
    pub fn in_index(schema: &TableSchema, index: &IndexSchema, item: &Item) -> Option<Self> {
        if too_long(schema, index, item).is_some() {
            return None;
        }
        let mut partition = Vec::new();
        for attribute in &index.partition {
            encode_if_key(attribute, item, &mut partition)?;
        }
        let mut sort = Vec::new();
        for attribute in &index.sort {
            encode_if_key(attribute, item, &mut sort)?;
        }
        for attribute in schema.key_attributes() {
            encode_stored(attribute, item, &mut sort);
        }
        Some(Self::new(partition, sort))
    }

    /// The position of a key given by a caller, which must have the table's key attributes and
    /// nothing else.
    pub(super) fn of_key(schema: &TableSchema, key: &Item) -> Result<Self, Fault> {
        let attributes = schema.key_attributes().count();
        if key.len() != attributes || schema.key_attributes().any(|part| !key.contains(&part.name))
        {
            return Err(Fault::Request(does_not_match()));
        }
        check_no_empty_key(schema, key)?;
        if schema.key_attributes().any(|part| !is_typed(part, key)) {
            return Err(Fault::Item(does_not_match()));
        }
        Self::checked(schema, key)
    }

    /// The position of an item given by a caller, which must have the table's key attributes.
    pub(super) fn of_item(schema: &TableSchema, item: &Item) -> Result<Self, Fault> {
        check_no_empty_key(schema, item)?;
        for attribute in schema.key_attributes() {
            let Some(value) = item.get(&attribute.name) else {
                return Err(Fault::Request(Error::validation(format!(
                    "One or more parameter values were invalid: Missing the key {} in the item",
                    attribute.name
                ))));
            };
            if !attribute.accepts(value) {
                return Err(Fault::item(format!(
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

    fn checked(schema: &TableSchema, item: &Item) -> Result<Self, Fault> {
        check_size(item, &schema.partition, limits::PARTITION_KEY_SIZE, LONG_PARTITION)?;
        if let Some(sort) = &schema.sort {
            check_size(item, sort, limits::SORT_KEY_SIZE, LONG_SORT)?;
        }
        Ok(Self::of_stored(schema, item))
    }
}

impl KeyAttribute {
    /// Whether this value has the type of the attribute.
    pub fn accepts(&self, value: ValueRef<'_>) -> bool {
        value.kind() == self.kind.into()
    }
}

/// The table's key attributes of an item.
pub(super) fn key_of(schema: &TableSchema, item: &Item) -> Item {
    select(item, schema.key_attributes())
}

/// The attributes that say where to go on after an item: the keys of the table and, if it was
/// read through an index, of the index.
pub(super) fn resume_key(schema: &TableSchema, index: Option<&IndexSchema>, item: &Item) -> Item {
    let index_keys = index.into_iter().flat_map(IndexSchema::key_attributes);
    select(item, schema.key_attributes().chain(index_keys))
}

fn select<'a>(item: &Item, attributes: impl Iterator<Item = &'a KeyAttribute>) -> Item {
    attributes
        .filter_map(|part| item.get(&part.name).map(|value| (part.name.clone(), value.to_value())))
        .collect()
}

/// AWS's answer to a partition key that is too long: with no space before the number.
pub(super) const LONG_PARTITION: &str = "One or more parameter values were invalid: Size of \
                                         hashkey has exceeded the maximum size limit of2048 bytes";

/// AWS's answer to a sort key that is too long.
pub(super) const LONG_SORT: &str = "One or more parameter values were invalid: Aggregated size of \
                                    all range keys has exceeded the size limit of 1024 bytes";

/// AWS's answer to every `Key` that is not the table's key.
fn does_not_match() -> Error {
    Error::validation("The provided key element does not match the schema")
}

fn is_typed(attribute: &KeyAttribute, item: &Item) -> bool {
    item.get(&attribute.name).is_some_and(|value| attribute.accepts(value))
}

fn encode_if_key(attribute: &KeyAttribute, item: &Item, out: &mut Vec<u8>) -> Option<()> {
    let is_key = |value: &ValueRef<'_>| attribute.accepts(*value) && empty_kind(*value).is_none();
    let value = item.get(&attribute.name).filter(is_key)?;
    encoding::encode(value, out).ok()
}

fn encode_stored(attribute: &KeyAttribute, item: &Item, out: &mut Vec<u8>) {
    encode_if_key(attribute, item, out).expect("a stored item has a valid key");
}

fn check_no_empty_key(schema: &TableSchema, item: &Item) -> Result<(), Fault> {
    for attribute in schema.key_attributes() {
        // An empty value of another type is a mismatch first.
        let typed = item.get(&attribute.name).filter(|value| attribute.accepts(*value));
        if let Some(kind) = typed.and_then(empty_kind) {
            return Err(Fault::Request(empty_key(kind, &attribute.name)));
        }
    }
    Ok(())
}

/// The error for an empty value of a key attribute of the table.
pub(super) fn empty_key(kind: &str, attribute: &str) -> Error {
    Error::validation(format!(
        "One or more parameter values are not valid. The AttributeValue for a key attribute \
         cannot contain an empty {kind} value. Key: {attribute}"
    ))
}

/// The error for an empty value of a key attribute of an index.
pub(super) fn empty_index_key(kind: &str, index: &str, attribute: &str) -> Error {
    Error::validation(format!(
        "One or more parameter values are not valid. A value specified for a secondary index key \
         is not supported. The AttributeValue for a key attribute cannot contain an empty {kind} \
         value. IndexName: {index}, IndexKey: {attribute}"
    ))
}

/// What an empty string or binary is called in messages; `None` for any other value.
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
) -> Result<(), Fault> {
    if item.get(&attribute.name).is_some_and(|value| value.size() > limit) {
        return Err(Fault::item(refusal));
    }
    Ok(())
}
