//! The writes of a pattern, declared: what happens to which entities, and which of their fields
//! change.

use std::fmt;
use std::marker::PhantomData;

use super::design::{EntityDesign, IndexKeys, TableDesign, UniqueDesign};
use super::{Entity, Field};
use tabla_core::ops::{IndexProjection, ProjectionType};

/// What a write does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WriteKind {
    /// Writes an entity that must not be there.
    Create,
    /// Writes an entity whatever is there.
    Put,
    /// Changes fields of an entity.
    Update,
    /// Deletes an entity.
    Delete,
    /// Holds only if a condition does.
    Check,
}

impl fmt::Display for WriteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Create => "create",
            Self::Put => "put",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Check => "check",
        })
    }
}

/// A declared write.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WriteDesign {
    /// What it does.
    pub kind: WriteKind,
    /// To what.
    pub entity: &'static EntityDesign,
    /// The fields that an update sets; those that the layer sets by itself need not be named.
    pub sets: Vec<&'static str>,
    /// The fields that an update clears.
    pub clears: Vec<&'static str>,
    /// Whether there are as many such writes as there are entities to write.
    pub is_each: bool,
}

/// What happens to an item that stands for a unique value, along with a write.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct GuardDesign {
    /// [`WriteKind::Put`] or [`WriteKind::Delete`].
    pub kind: WriteKind,
    /// For which field.
    pub unique: &'static UniqueDesign,
}

/// The writes of one request, one after another: those of a transaction, or one alone. `E` is the
/// entity of the last one.
///
/// ```
/// # use std::sync::LazyLock;
/// # use serde::{Deserialize, Serialize};
/// # use tabla::entity::{Entity, Id, Pattern, TableDesign};
/// # static SHOP: LazyLock<TableDesign> = LazyLock::new(|| TableDesign::new("shop").key("PK", "SK"));
/// # #[derive(Clone, Serialize, Deserialize, Entity)]
/// # #[entity(table = SHOP, pk = "SHOP#{shop}", sk = "STOCK")]
/// # struct Stock { #[entity(key_only)] shop: Id, left: u32 }
/// # #[derive(Clone, Serialize, Deserialize, Entity)]
/// # #[entity(table = SHOP, pk = "SHOP#{shop}", sk = "ORDER#{number:08}")]
/// # struct Order { #[entity(key_only)] shop: Id, number: u32 }
/// let pattern = Pattern::new("order", "an order, and what is left")
///     .transaction(|writes| writes.create::<Order>().update::<Stock>().changing(Stock::LEFT));
/// assert_eq!(pattern.calls()?[0].writes.len(), 2);
/// # Ok::<(), tabla::Error>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct Writes<E> {
    writes: Vec<WriteDesign>,
    last: PhantomData<fn() -> E>,
}

impl Writes<()> {
    /// None so far.
    pub(super) fn new() -> Self {
        Self { writes: Vec::new(), last: PhantomData }
    }
}

impl<E> Writes<E> {
    /// Writes an entity that must not be there, and takes its unique values.
    pub fn create<F: Entity>(self) -> Writes<F> {
        self.then(WriteKind::Create)
    }

    /// Writes an entity whatever is there.
    pub fn put<F: Entity>(self) -> Writes<F> {
        self.then(WriteKind::Put)
    }

    /// Changes fields of an entity: say with [`changing`](Writes::changing) those that stand in
    /// keys, which have to be written anew.
    pub fn update<F: Entity>(self) -> Writes<F> {
        self.then(WriteKind::Update)
    }

    /// Deletes an entity, and gives up its unique values.
    pub fn delete<F: Entity>(self) -> Writes<F> {
        self.then(WriteKind::Delete)
    }

    /// Checks an entity.
    pub fn check<F: Entity>(self) -> Writes<F> {
        self.then(WriteKind::Check)
    }

    fn then<F: Entity>(mut self, kind: WriteKind) -> Writes<F> {
        self.writes.push(WriteDesign {
            kind,
            entity: F::design(),
            sets: Vec::new(),
            clears: Vec::new(),
            is_each: false,
        });
        Writes { writes: self.writes, last: PhantomData }
    }

    pub(super) fn into_designs(self) -> Vec<WriteDesign> {
        self.writes
    }
}

impl<E: Entity> Writes<E> {
    /// The update sets this field.
    pub fn changing<T>(self, field: Field<E, T>) -> Self {
        self.with(|write| write.sets.push(field.name))
    }

    /// The update clears this field.
    pub fn clearing<T>(self, field: Field<E, T>) -> Self {
        self.with(|write| write.clears.push(field.name))
    }

    /// There are as many such writes as there are entities to write.
    pub fn each(self) -> Self {
        self.with(|write| write.is_each = true)
    }

    fn with(mut self, change: impl FnOnce(&mut WriteDesign)) -> Self {
        if let Some(last) = self.writes.last_mut() {
            change(last);
        }
        self
    }
}

impl WriteDesign {
    /// What happens to the items that stand for unique values.
    pub fn guards(&self) -> Vec<GuardDesign> {
        let every =
            |kind| self.entity.unique.iter().map(move |unique| GuardDesign { kind, unique });
        match self.kind {
            WriteKind::Create => every(WriteKind::Put).collect(),
            WriteKind::Delete => every(WriteKind::Delete).collect(),
            WriteKind::Update => {
                let has = |unique: &UniqueDesign, fields: &[&str]| {
                    unique.fields().any(|field| fields.contains(&field))
                };
                let is_left = |guard: &GuardDesign| {
                    has(guard.unique, &self.sets) || has(guard.unique, &self.clears)
                };
                let is_taken = |guard: &GuardDesign| {
                    has(guard.unique, &self.sets) && !has(guard.unique, &self.clears)
                };
                every(WriteKind::Delete)
                    .filter(is_left)
                    .chain(every(WriteKind::Put).filter(is_taken))
                    .collect()
            }
            WriteKind::Put | WriteKind::Check => Vec::new(),
        }
    }

    /// How often an entry of an index is written: twice where it moves to another key. The entity
    /// is taken to be in the index.
    pub(super) fn entries(&self, keys: &IndexKeys, projection: &IndexProjection) -> u32 {
        match self.kind {
            WriteKind::Check => 0,
            WriteKind::Create | WriteKind::Put | WriteKind::Delete => 1,
            WriteKind::Update if self.clears.iter().any(|field| keys.has(field)) => 1,
            WriteKind::Update if self.changed().any(|field| keys.has(field)) => 2,
            WriteKind::Update => u32::from(self.shows_in(projection)),
        }
    }

    /// Whether an update changes something that an index carries beside its key. Which fields it
    /// changes may be left unsaid: then it may be any.
    fn shows_in(&self, projection: &IndexProjection) -> bool {
        if self.sets.is_empty() && self.clears.is_empty() {
            return true;
        }
        let attributes = || self.changed().map(|field| self.entity.attribute(field));
        match projection.kind {
            ProjectionType::All => true,
            ProjectionType::KeysOnly => false,
            ProjectionType::Include => {
                let carried = |own: &str| projection.non_key_attributes.iter().any(|a| a == own);
                attributes().any(carried)
            }
        }
    }

    /// The fields that an update changes, with those that the layer sets.
    pub(super) fn changed(&self) -> impl Iterator<Item = &'static str> {
        let own = self.entity.updated.into_iter().chain(self.entity.revision);
        self.sets.iter().chain(&self.clears).copied().chain(own)
    }

    /// The key of the entity: `PK = BUS#{business_id}, SK = PUBLISHED`.
    pub(super) fn keys(&self) -> String {
        key_templates((self.entity.table)(), &self.entity.partition, self.entity.sort.as_ref())
    }

    /// The fields that are said to change: `status, no banned_at`.
    pub(super) fn changes(&self) -> Option<String> {
        let sets = self.sets.iter().map(|field| (*field).to_owned());
        let all: Vec<String> =
            sets.chain(self.clears.iter().map(|field| format!("no {field}"))).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    /// What is done, a line for each item.
    pub(super) fn lines(&self) -> Vec<String> {
        let each = if self.is_each { "each " } else { "" };
        let changes = self.changes().map_or_else(String::new, |changes| format!(" ({changes})"));
        let own = format!("{} {each}{}{changes}: {}", self.kind, self.entity.name, self.keys());
        let table = (self.entity.table)();
        let guards = self.guards().into_iter().map(|GuardDesign { kind, unique }| {
            let keys = key_templates(table, &unique.partition, unique.sort.as_ref());
            format!("{kind} the guard of {}: {keys}", unique.field)
        });
        std::iter::once(own).chain(guards).collect()
    }
}

/// The key of a table, with templates for values.
pub(super) fn key_templates(
    table: &TableDesign,
    partition: &dyn fmt::Display,
    sort: Option<&impl fmt::Display>,
) -> String {
    let mut keys = format!("{} = {partition}", table.partition.attribute);
    if let (Some(key), Some(sort)) = (&table.sort, sort) {
        keys = format!("{keys}, {} = {sort}", key.attribute);
    }
    keys
}
