//! Table definitions for cases.

use std::fmt;

use tabla_core::Item;
use tabla_core::KeyType;
use tabla_core::ops::{CreateTable, IndexProjection, SecondaryIndex, StreamViewType};

/// Definition of a table to be created: key attributes `pk` and `sk`, and indexes.
///
/// The standard indexes have short names and fixed attributes, the same in all cases: `gsi` has the
/// key `gpk` (S), `gsk` (S); `lsi` has the table's partition key and `lsk` (S). Set anything that
/// no method here offers on the request itself, with [`TableSpec::with`].
#[derive(Clone, Debug)]
pub struct TableSpec(CreateTable);

impl TableSpec {
    fn of(partition: KeyType, sort: Option<KeyType>) -> Self {
        let request = CreateTable::new("").partition_key("pk", partition);
        Self(match sort {
            Some(kind) => request.sort_key("sk", kind),
            None => request,
        })
    }

    /// Table with the key `pk` (S).
    pub fn s() -> Self {
        Self::of(KeyType::S, None)
    }

    /// Table with the key `pk` (N).
    pub fn n() -> Self {
        Self::of(KeyType::N, None)
    }

    /// Table with the key `pk` (B).
    pub fn b() -> Self {
        Self::of(KeyType::B, None)
    }

    /// Table with the key `pk` (S), `sk` (S).
    pub fn s_s() -> Self {
        Self::of(KeyType::S, Some(KeyType::S))
    }

    /// Table with the key `pk` (S), `sk` (N).
    pub fn s_n() -> Self {
        Self::of(KeyType::S, Some(KeyType::N))
    }

    /// Table with the key `pk` (S), `sk` (B).
    pub fn s_b() -> Self {
        Self::of(KeyType::S, Some(KeyType::B))
    }

    /// Table with `pk` and `sk` of the given types, for cases that cover all types.
    pub fn keys(partition: KeyType, sort: Option<KeyType>) -> Self {
        Self::of(partition, sort)
    }

    /// Adds the global index `gsi` on `gpk` (S) and `gsk` (S), which projects all attributes.
    #[must_use]
    pub fn gsi(self) -> Self {
        self.gsi_on("gsi", ("gpk", KeyType::S), Some(("gsk", KeyType::S)), IndexProjection::all())
    }

    /// Adds the global index `gsi` on `gpk` (S) alone, which projects all attributes.
    #[must_use]
    pub fn gsi_hash(self) -> Self {
        self.gsi_on("gsi", ("gpk", KeyType::S), None, IndexProjection::all())
    }

    /// Adds the global index `gsi` on `gpk` (S) and `gsk` (S) with this projection.
    #[must_use]
    pub fn gsi_projecting(self, projection: IndexProjection) -> Self {
        self.gsi_on("gsi", ("gpk", KeyType::S), Some(("gsk", KeyType::S)), projection)
    }

    /// Adds a global index on one partition key attribute and at most one sort key attribute.
    #[must_use]
    pub fn gsi_on(
        self,
        name: &str,
        partition: (&str, KeyType),
        sort: Option<(&str, KeyType)>,
        projection: IndexProjection,
    ) -> Self {
        let mut request = self.0.attribute(partition.0, partition.1);
        let mut index = SecondaryIndex::new(name).partition_key(partition.0).projection(projection);
        if let Some((attribute, kind)) = sort {
            request = request.attribute(attribute, kind);
            index = index.sort_key(attribute);
        }
        Self(request.global_index(index))
    }

    /// Adds the local index `lsi` on `lsk` (S), which projects all attributes.
    #[must_use]
    pub fn lsi(self) -> Self {
        self.lsi_on("lsi", ("lsk", KeyType::S), IndexProjection::all())
    }

    /// Adds the local index `lsi` on `lsk` (S) with this projection.
    #[must_use]
    pub fn lsi_projecting(self, projection: IndexProjection) -> Self {
        self.lsi_on("lsi", ("lsk", KeyType::S), projection)
    }

    /// Adds a local index with this sort key.
    #[must_use]
    pub fn lsi_on(self, name: &str, sort: (&str, KeyType), projection: IndexProjection) -> Self {
        let index =
            SecondaryIndex::new(name).partition_key("pk").sort_key(sort.0).projection(projection);
        Self(self.0.attribute(sort.0, sort.1).local_index(index))
    }

    /// Enables a stream with this view type.
    #[must_use]
    pub fn stream(self, view_type: StreamViewType) -> Self {
        Self(self.0.stream(view_type))
    }

    /// Changes the request with a function.
    #[must_use]
    pub fn with(self, change: impl FnOnce(CreateTable) -> CreateTable) -> Self {
        Self(change(self.0))
    }

    /// Request that creates the table under this name.
    pub fn request(&self, name: impl Into<String>) -> CreateTable {
        let mut request = self.0.clone();
        request.table = name.into();
        request
    }
}

/// Table of a case: its name, and the names of its key attributes and indexes.
#[derive(Clone, Debug)]
pub struct Table {
    pub(crate) name: String,
    pub(crate) key: Vec<String>,
    pub(crate) indexes: Vec<String>,
}

impl Table {
    pub(crate) fn new(request: &CreateTable) -> Self {
        let indexes =
            request.global_secondary_indexes.iter().chain(&request.local_secondary_indexes);
        Self {
            name: request.table.clone(),
            key: request.key_schema.iter().map(|element| element.name.clone()).collect(),
            indexes: indexes.map(|index| index.name.clone()).collect(),
        }
    }

    /// Name of the table.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Key attributes of an item, without the others.
    pub fn key_of(&self, item: &Item) -> Item {
        let part = |name: &String| Some((name.clone(), item.get(name)?.to_value()));
        self.key.iter().filter_map(part).collect()
    }
}

impl From<&Table> for String {
    fn from(table: &Table) -> Self {
        table.name.clone()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabla_core::item;

    #[test]
    fn table_spec_defines_exactly_the_key_attributes() {
        let request = TableSpec::s_n().gsi().lsi().request("t-1");
        let defined: Vec<&str> =
            request.attribute_definitions.iter().map(|attribute| attribute.name.as_str()).collect();
        assert_eq!(defined, ["pk", "sk", "gpk", "gsk", "lsk"]);
        let table = Table::new(&request);
        assert_eq!(table.indexes, ["gsi", "lsi"]);
        let item = item! { "pk" => "a", "sk" => 1, "x" => 2 };
        assert_eq!(table.key_of(&item), item! { "pk" => "a", "sk" => 1 });
    }
}
