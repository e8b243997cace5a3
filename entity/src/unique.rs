//! Fields that no two entities may share: an item of its own stands for each value.
//!
//! The item expires with its entity, so that nothing is left of either. The service deletes what
//! has expired one by one, and in any order: until an entity that has expired is gone, its value
//! may be another's. Such an entity can still be deleted or given another value, which leaves the
//! other's guard alone; it cannot be prolonged with a value that is another's.

use super::change::{has_value, unchanged};
use super::design::{EntityDesign, UniqueDesign};
use super::template::Fields;
use super::{Change, Entity, EntityKey};
use tabla_core::expr::{Condition, attr};
use tabla_core::{Error, Result};
use tabla_core::{Item, Value, ValueRef};

/// The attribute of a guard that says whose value it stands for: the key of the entity. Its name is
/// one that no index will have for a key.
const OWNER: &str = "uniqueOwner";

/// The item that stands for the value of a unique field; `None` if the field has none.
pub(super) fn guard(
    design: &EntityDesign,
    unique: &UniqueDesign,
    fields: Fields<'_>,
) -> Result<Option<Item>> {
    let table = (design.table)();
    let Some(partition) = unique.partition.render(fields)? else { return Ok(None) };
    let mut key = Item::new().with(&table.partition.attribute, partition);
    match (&unique.sort, &table.sort) {
        (Some(template), Some(design)) => {
            let Some(sort) = template.render(fields)? else { return Ok(None) };
            key.insert(&design.attribute, sort);
        }
        (None, None) => {}
        _ => {
            return Err(Error::validation(format!(
                "{}: the guard of `{}` needs a key like that of table {}",
                design.name, unique.field, table.name
            )));
        }
    }
    Ok(Some(key))
}

/// When an entity of these attributes expires.
pub(super) fn expiry(design: &EntityDesign, attributes: &Item) -> Option<Expiry> {
    let field = design.field(design.ttl?).filter(|field| has_value(field, attributes))?;
    Some((field.attribute, attributes.get(field.attribute).map(ValueRef::to_value)?))
}

/// The attribute that says when an item expires, and its value.
pub(super) type Expiry = (&'static str, Value);

/// The guard as it is stored: its key, whose it is, and when it expires.
pub(super) fn owned(guard: Item, owner: &Item, expiry: Option<Expiry>) -> Item {
    let guard = guard.with(OWNER, Value::M(owner.to_map()));
    match expiry {
        Some((attribute, value)) => guard.with(attribute, value),
        None => guard,
    }
}

/// Holds if a guard is this one's.
pub(super) fn is_owned(owner: &Item) -> Condition {
    attr(OWNER).eq(Value::M(owner.to_map()))
}

/// What a change makes of the guards of its entity.
#[derive(Default)]
pub(super) struct Moves {
    /// The fields whose guards are written again: the one that is given up, and the one that is
    /// taken. They may have the same key.
    pub(super) guards: Vec<(&'static str, Option<Item>, Option<Item>)>,
    /// What must not have changed since the entity was read.
    pub(super) pinned: Vec<Condition>,
}

/// Whether a change of this field is one of guards, too.
pub(super) fn concerns(design: &EntityDesign, name: &str) -> bool {
    let mut fields = design.unique.iter().flat_map(UniqueDesign::fields);
    fields.any(|own| own == name) || !design.unique.is_empty() && design.ttl == Some(name)
}

/// What this change makes of guards.
///
/// # Errors
/// A field of theirs is computed; the entity was not read.
pub(super) fn moves<E: Entity>(change: &Change<E>) -> Result<Moves> {
    let design = E::design();
    let mut moves = Moves::default();
    let ttl = design.ttl.and_then(|name| design.field(name));
    let new_expiry = ttl.is_some_and(|ttl| change.changed().any(|name| name == ttl.name));
    let owner = change.key.to_item()?;
    for unique in design.unique {
        let is_moved = change.changed().any(|field| unique.fields().any(|own| own == field));
        if !is_moved && !new_expiry {
            continue;
        }
        if let Some(computed) = change.computes(unique.fields().chain(design.ttl)) {
            let part = if design.ttl == Some(computed) { "item" } else { "key" };
            return Err(Error::validation(format!(
                "{}: `{computed}` stands in the {part} for a unique `{}`: set it to a value, so \
                 that the {part} can be written with it",
                design.name, unique.field
            )));
        }
        let Some(read) = &change.read else {
            let why = if is_moved { "its old value has to be given up" } else { "expires, too" };
            return Err(Error::validation(format!(
                "{}: `{}` is unique, and {why}: read the entity and use `entity.change()`",
                design.name, unique.field
            )));
        };
        let old = guard(design, unique, &|field| read.field(field))?;
        // A field that is cleared has no guard any more.
        let new = match unique.fields().any(|field| change.clears(field)) {
            true => None,
            false => guard(design, unique, &|field| change.after(field))?,
        };
        // Whether anything changes is told by what was read, which must still be there.
        let read = Item::from_struct(&**read)?;
        moves.pinned.extend(same(design, unique, &read));
        if old == new && !(new_expiry && new.is_some()) {
            continue;
        }
        let mut after = read;
        if let Some(ttl) = ttl {
            match change.value(ttl.name) {
                Some(value) => after.insert(ttl.attribute, value.clone()),
                None if change.clears(ttl.name) => after.remove(ttl.attribute),
                // It expires when it was to expire.
                None if ttl.immutable => None,
                None => {
                    moves.pinned.push(unchanged(ttl, &after));
                    None
                }
            };
        }
        let new = new.map(|new| owned(new, &owner, expiry(design, &after)));
        moves.guards.push((unique.field, old, new));
    }
    Ok(moves)
}

/// Holds if the fields that the guard of a unique value is made of are what they were.
pub(super) fn same(design: &EntityDesign, unique: &UniqueDesign, read: &Item) -> Vec<Condition> {
    let in_key = |name: &&str| {
        design.partition.has(name) || design.sort.as_ref().is_some_and(|sort| sort.has(name))
    };
    let fields = unique.fields().filter(|name| !in_key(name));
    fields.filter_map(|name| design.field(name)).map(|field| unchanged(field, read)).collect()
}
