//! Table definitions for random histories.

use tabla_core::KeyType::{self, B, N, S};
use tabla_core::ops::{CreateTable, IndexProjection, SecondaryIndex};

/// Definition of a table: its key and its indexes.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TableShape {
    /// Type of the partition key `pk`.
    pub partition: KeyType,
    /// Type of the sort key `sk`; `None` for a table without one.
    pub sort: Option<KeyType>,
    /// Secondary indexes of the table.
    pub indexes: &'static [IndexShape],
}

/// Definition of a secondary index.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct IndexShape {
    /// Name of the index.
    pub name: &'static str,
    /// Whether the index is local.
    pub local: bool,
    /// Name and type of the partition key.
    pub partition: (&'static str, KeyType),
    /// Name and type of the sort key.
    pub sort: Option<(&'static str, KeyType)>,
    /// Projected attributes besides the keys; `None` for all attributes.
    pub carries: Option<&'static [&'static str]>,
}

/// Shapes with keys of each type, with and without sort keys, and indexes of each kind
/// and projection.
pub const SHAPES: &[TableShape] = &[
    TableShape { partition: S, sort: None, indexes: &[] },
    TableShape { partition: S, sort: Some(N), indexes: &[] },
    TableShape { partition: N, sort: Some(B), indexes: &[] },
    TableShape { partition: B, sort: Some(S), indexes: &[] },
    TableShape {
        partition: S,
        sort: Some(S),
        indexes: &[
            IndexShape {
                name: "all",
                local: false,
                partition: ("gp", S),
                sort: Some(("gs", N)),
                carries: None,
            },
            IndexShape {
                name: "keys",
                local: false,
                partition: ("gs", N),
                sort: None,
                carries: Some(&[]),
            },
        ],
    },
    TableShape {
        partition: N,
        sort: Some(N),
        indexes: &[
            IndexShape {
                name: "local",
                local: true,
                partition: ("pk", N),
                sort: Some(("ls", S)),
                carries: None,
            },
            IndexShape {
                name: "some",
                local: false,
                partition: ("gp", S),
                sort: Some(("gb", B)),
                carries: Some(&["a", "m"]),
            },
        ],
    },
];

impl TableShape {
    /// Names and types of the table's key attributes.
    pub fn key(&self) -> Vec<(&'static str, KeyType)> {
        std::iter::once(("pk", self.partition)).chain(self.sort.map(|kind| ("sk", kind))).collect()
    }

    /// Names and types of index key attributes that are not in the table's key.
    pub fn index_attributes(&self) -> Vec<(&'static str, KeyType)> {
        let mut attributes: Vec<(&str, KeyType)> = Vec::new();
        for index in self.indexes {
            for attribute in std::iter::once(index.partition).chain(index.sort) {
                if attribute.0 != "pk" && attribute.0 != "sk" && !attributes.contains(&attribute) {
                    attributes.push(attribute);
                }
            }
        }
        attributes
    }

    /// Request that creates the table.
    pub fn create(&self, table: &str) -> CreateTable {
        let mut request = CreateTable::new(table).partition_key("pk", self.partition);
        if let Some(kind) = self.sort {
            request = request.sort_key("sk", kind);
        }
        for (name, kind) in self.index_attributes() {
            request = request.attribute(name, kind);
        }
        for shape in self.indexes {
            let mut index = SecondaryIndex::new(shape.name).partition_key(shape.partition.0);
            if let Some((name, _)) = shape.sort {
                index = index.sort_key(name);
            }
            index = index.projection(match shape.carries {
                None => IndexProjection::all(),
                Some([]) => IndexProjection::keys_only(),
                Some(names) => IndexProjection::include(names.iter().copied()),
            });
            request = match shape.local {
                true => request.local_index(index),
                false => request.global_index(index),
            };
        }
        request
    }
}
