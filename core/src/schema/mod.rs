//! Tables and indexes as the engines see them: checked, and ready to place an item.
//!
//! A [`TableSchema`] is made from a [`CreateTable`](crate::ops::CreateTable) request, which it
//! checks with DynamoDB's own messages, and changed by
//! [`UpdateTable`](crate::ops::UpdateTable).

use crate::key::KeyType;
use crate::ops::{IndexProjection, ProjectionType};

/// The key and the indexes of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSchema {
    /// The partition key.
    pub partition: KeyAttribute,
    /// The sort key, if the table has one.
    pub sort: Option<KeyAttribute>,
    /// Local and global secondary indexes.
    pub indexes: Vec<IndexSchema>,
}

/// One attribute of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyAttribute {
    /// The attribute.
    pub name: String,
    /// Its type.
    pub kind: KeyType,
}

/// The key of an index, and what it carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexSchema {
    /// The index.
    pub name: String,
    /// Local or global.
    pub kind: IndexKind,
    /// The partition key: one to four attributes.
    pub partition: Vec<KeyAttribute>,
    /// The sort key: up to four attributes.
    pub sort: Vec<KeyAttribute>,
    /// What it carries.
    pub projection: IndexProjection,
}

/// Whether an index shares the partitions of its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexKind {
    /// It has the table's partition key, and is read as consistently as the table.
    Local,
    /// It has a key of its own.
    Global,
}

impl TableSchema {
    /// The key attributes: partition, then sort.
    pub fn key_attributes(&self) -> impl Iterator<Item = &KeyAttribute> {
        std::iter::once(&self.partition).chain(&self.sort)
    }

    /// The index with this name.
    pub fn index(&self, name: &str) -> Option<&IndexSchema> {
        self.indexes.iter().find(|index| index.name == name)
    }

    /// Whether this attribute belongs to the table's key.
    pub fn is_key(&self, attribute: &str) -> bool {
        self.key_attributes().any(|key| key.name == attribute)
    }

    /// Whether the table has local indexes, so that its writes have item-collection metrics.
    pub fn has_local_indexes(&self) -> bool {
        self.indexes.iter().any(|index| index.kind == IndexKind::Local)
    }
}

impl IndexSchema {
    /// The key attributes: partition, then sort.
    pub fn key_attributes(&self) -> impl Iterator<Item = &KeyAttribute> {
        self.partition.iter().chain(&self.sort)
    }

    /// Whether the index carries this attribute of an item of `table`.
    pub fn carries(&self, table: &TableSchema, attribute: &str) -> bool {
        match self.projection.kind {
            ProjectionType::All => true,
            ProjectionType::Include
                if self.projection.non_key_attributes.iter().any(|name| name == attribute) =>
            {
                true
            }
            _ => table.is_key(attribute) || self.key_attributes().any(|key| key.name == attribute),
        }
    }
}
