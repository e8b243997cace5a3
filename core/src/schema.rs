//! Tables and indexes as the engines see them: checked, and ready to place an item.
//!
//! A [`Table`] is what an engine's catalogue holds: made from a
//! [`CreateTable`] request, changed by the other requests about tables,
//! each checked with DynamoDB's own messages. Its [`TableSchema`] says how items are placed.
//! Nothing here stores anything: what an engine has to do for a change, a [`TableChange`] says.
//!
//! Messages are AWS's, as its API reference and answers seen on AWS in 2026 have them; where AWS's
//! are not known, DynamoDB Local's.

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

/// The key and the indexes of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TableSchema {
    /// The partition key.
    pub partition: KeyAttribute,
    /// The sort key, if the table has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<KeyAttribute>,
    /// Local and global secondary indexes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub indexes: Vec<IndexSchema>,
}

/// One attribute of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeyAttribute {
    /// The attribute.
    pub name: String,
    /// Its type.
    pub kind: KeyType,
}

/// The key of an index, and what it carries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct IndexSchema {
    /// The index.
    pub name: String,
    /// Local or global.
    pub kind: IndexKind,
    /// The partition key: one to four attributes.
    pub partition: Vec<KeyAttribute>,
    /// The sort key: up to four attributes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sort: Vec<KeyAttribute>,
    /// What it carries.
    pub projection: IndexProjection,
}

/// Whether an index shares the partitions of its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum IndexKind {
    /// It has the table's partition key, and is read as consistently as the table.
    Local,
    /// It has a key of its own.
    Global,
}

impl TableSchema {
    /// The schema of a new table.
    ///
    /// # Errors
    /// A validation error, in the service's words, if the request's shape, attribute definitions,
    /// key or indexes are wrong. [`Table::create`] checks the rest of the request too.
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

    /// The types of all key attributes, of the table and of its indexes, by name.
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

    /// The key attributes: partition, then sort.
    pub fn key_attributes(&self) -> impl Iterator<Item = &KeyAttribute> {
        std::iter::once(&self.partition).chain(&self.sort)
    }

    /// The index with this name.
    pub fn index(&self, name: &str) -> Option<&IndexSchema> {
        self.indexes.iter().find(|index| index.name == name)
    }

    /// The key as requests and descriptions give it.
    pub fn key_schema(&self) -> Vec<KeySchemaElement> {
        keys::key_schema([&self.partition], &self.sort)
    }

    /// Whether this attribute belongs to the table's key.
    pub fn is_key(&self, attribute: &str) -> bool {
        self.key_attributes().any(|key| key.name == attribute)
    }

    /// Whether this attribute belongs to the key of an index.
    pub fn is_index_key(&self, attribute: &str) -> bool {
        self.indexes.iter().flat_map(IndexSchema::key_attributes).any(|key| key.name == attribute)
    }

    /// Whether the table has local indexes, so that its writes have item-collection metrics.
    pub fn has_local_indexes(&self) -> bool {
        self.indexes.iter().any(|index| index.kind == IndexKind::Local)
    }
}

impl IndexSchema {
    /// The key as requests and descriptions give it.
    pub fn key_schema(&self) -> Vec<KeySchemaElement> {
        keys::key_schema(&self.partition, &self.sort)
    }

    /// The key attributes: partition, then sort.
    pub fn key_attributes(&self) -> impl Iterator<Item = &KeyAttribute> + Clone {
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
