//! Fields that no two entities may share: an item of its own stands for each value.

use super::design::{EntityDesign, UniqueDesign};
use super::template::Fields;
use crate::error::{Error, Result};
use crate::expr::{Condition, attr};
use crate::{Item, Value};

/// The attribute of a guard that says whose value it stands for.
const OWNER: &str = "owner";

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

/// The guard as it is stored: its key, and whose it is.
pub(super) fn owned(guard: Item, owner: &Item) -> Item {
    guard.with(OWNER, text(owner))
}

/// Holds if a guard is this one's.
pub(super) fn is_owned(owner: &Item) -> Condition {
    attr(OWNER).eq(text(owner))
}

/// An entity's key as one text.
fn text(key: &Item) -> Value {
    let parts = key.iter().map(|(_, value)| match value.as_str() {
        Some(text) => text.to_owned(),
        None => format!("{value:?}"),
    });
    Value::S(parts.collect::<Vec<_>>().join("|"))
}
