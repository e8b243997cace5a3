//! Table definitions, and the rules of the requests that create and change tables.
//!
//! A [`Table`] is what an engine stores in its catalogue. It is created from a validated
//! [`CreateTable`], and each other request on tables returns a changed one. Its [`TableSchema`] has
//! the keys of table and indexes. This module stores nothing: a [`TableChange`] lists the engine's
//! work.
//!
//! Messages are AWS's, from its API reference and as observed on AWS in 2026; where those are not
//! known, DynamoDB Local's.

mod constraint;
mod indexes;
mod keys;
mod list;
mod name;
mod settings;
mod shape;
mod stream;
mod table;
mod tags;
mod throughput;
mod ttl;
mod update;

use serde::{Deserialize, Serialize};

pub use self::constraint::Constraints;
pub use self::list::TablesPage;
pub use self::name::{index_arn, table_arn, table_exists_error, table_missing_error, table_name};
pub use self::stream::{StreamChange, TableStream};
pub use self::table::{GlobalIndexState, ItemCount, Table, TableCounts};
pub use self::ttl::TimeToLive;
pub use self::update::{TableChange, check_update};

use self::keys::Definitions;
use crate::error::Result;
use crate::key::KeyType;
use crate::ops::{
    AttributeDefinition, CreateTable, IndexProjection, KeySchemaElement, ProjectionType,
};

/// Key and indexes of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TableSchema {
    /// Partition key of the table.
    pub partition: KeyAttribute,
    /// Sort key of the table, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<KeyAttribute>,
    /// Local and global secondary indexes, local ones first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub indexes: Vec<IndexSchema>,
}

/// Attribute of a key, with its type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeyAttribute {
    /// Name of the attribute.
    pub name: String,
    /// Type of the attribute's values.
    pub kind: KeyType,
}

/// Key and projection of a secondary index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct IndexSchema {
    /// Name of the index.
    pub name: String,
    /// Kind of the index: local or global.
    pub kind: IndexKind,
    /// Partition key of the index: one to four attributes.
    pub partition: Vec<KeyAttribute>,
    /// Sort key of the index: up to four attributes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sort: Vec<KeyAttribute>,
    /// Attributes that the index holds.
    pub projection: IndexProjection,
}

/// Kind of a secondary index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum IndexKind {
    /// Local: it has the table's partition key, and allows consistent reads.
    Local,
    /// Global: it has a key of its own, and no consistent reads.
    Global,
}

impl TableSchema {
    /// Creates the schema of a new table from a validated request.
    ///
    /// # Errors
    /// A validation error with DynamoDB's message if shape, attribute definitions, key or indexes
    /// of the request are invalid. [`Table::create`] validates the whole request.
    pub fn new(request: &CreateTable) -> Result<Self> {
        shape::create_table(request)?;
        Self::of_checked_shape(request)
    }

    fn of_checked_shape(request: &CreateTable) -> Result<Self> {
        let CreateTable { local_secondary_indexes, global_secondary_indexes, .. } = request;
        let definitions = Definitions::new(&request.attribute_definitions)?;
        let (partition, sort) = definitions.table_key(&request.key_schema)?;
        let index_keys = || {
            let indexes = local_secondary_indexes.iter().chain(global_secondary_indexes);
            indexes.map(|index| index.key_schema.as_slice())
        };
        index_keys().try_for_each(|key| definitions.cover(key))?;
        definitions.all_used(&request.key_schema, index_keys())?;
        let mut schema = Self { partition, sort, indexes: Vec::new() };
        schema.indexes = indexes::of_new_table(request, &schema, &definitions)?;
        Ok(schema)
    }

    /// Types of all key attributes of table and indexes, sorted by name.
    pub fn attribute_definitions(&self) -> Vec<AttributeDefinition> {
        let of_indexes = self.indexes.iter().flat_map(IndexSchema::key_attributes);
        let mut definitions: Vec<AttributeDefinition> = self
            .key_attributes()
            .chain(of_indexes)
            .map(|key| AttributeDefinition { name: key.name.clone(), kind: key.kind })
            .collect();
        definitions.sort_by(|a, b| a.name.cmp(&b.name));
        definitions.dedup();
        definitions
    }

    /// Key attributes: partition, then sort.
    pub fn key_attributes(&self) -> impl Iterator<Item = &KeyAttribute> {
        std::iter::once(&self.partition).chain(&self.sort)
    }

    /// Index with this name; `None` if there is none.
    pub fn index(&self, name: &str) -> Option<&IndexSchema> {
        self.indexes.iter().find(|index| index.name == name)
    }

    /// Key schema as in requests and descriptions.
    pub fn key_schema(&self) -> Vec<KeySchemaElement> {
        keys::key_schema([&self.partition], &self.sort)
    }

    /// Whether an attribute belongs to the key of the table.
    pub fn is_key(&self, attribute: &str) -> bool {
        self.key_attributes().any(|key| key.name == attribute)
    }

    /// Whether an attribute belongs to the key of an index.
    pub fn is_index_key(&self, attribute: &str) -> bool {
        self.indexes.iter().flat_map(IndexSchema::key_attributes).any(|key| key.name == attribute)
    }

    /// Whether the table has local indexes, so that its writes can report item-collection metrics.
    pub fn has_local_indexes(&self) -> bool {
        self.indexes.iter().any(|index| index.kind == IndexKind::Local)
    }
}

impl IndexSchema {
    /// Key schema as in requests and descriptions.
    pub fn key_schema(&self) -> Vec<KeySchemaElement> {
        keys::key_schema(&self.partition, &self.sort)
    }

    /// Key attributes: partition, then sort.
    pub fn key_attributes(&self) -> impl Iterator<Item = &KeyAttribute> + Clone {
        self.partition.iter().chain(&self.sort)
    }

    /// Whether the index holds an attribute of the items of `table`.
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
