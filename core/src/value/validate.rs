//! What every value and item must satisfy, whatever the table.

use super::{MAX_NESTING, Value};
use crate::view::{MapRef, ValueRef};
use crate::{Error, Item};

/// The longest attribute name in bytes.
pub const MAX_NAME_LENGTH: usize = 65_535;

impl Item {
    /// Checks what holds for items of every table: names and nesting.
    ///
    /// # Errors
    ///
    /// A name is empty or longer than 65,535 bytes, at any depth, or more than 31 lists and maps
    /// are nested. The messages are DynamoDB's.
    pub fn validate(&self) -> Result<(), Error> {
        check_attributes(self.view(), MAX_NESTING)
    }
}

impl Value {
    /// Checks what holds for values of every table: names in maps, and nesting.
    ///
    /// # Errors
    ///
    /// As for [`Item::validate`].
    pub fn validate(&self) -> Result<(), Error> {
        check_value(self.as_ref(), MAX_NESTING)
    }
}

/// More than 31 lists and maps are nested.
pub(crate) fn nesting_error() -> Error {
    Error::validation(
        "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels \
         beyond supported limit",
    )
}

fn check_attributes(map: MapRef<'_>, levels: usize) -> Result<(), Error> {
    for (name, value) in map.iter() {
        if name.is_empty() {
            return Err(Error::validation("Empty attribute name"));
        }
        if name.len() > MAX_NAME_LENGTH {
            return Err(Error::validation(
                "Attribute name is too large, must be less than 65536 bytes",
            ));
        }
        check_value(value, levels)?;
    }
    Ok(())
}

fn check_value(value: ValueRef<'_>, levels: usize) -> Result<(), Error> {
    let inner = || levels.checked_sub(1).ok_or_else(nesting_error);
    match value {
        ValueRef::M(map) => check_attributes(map, inner()?),
        ValueRef::L(list) => {
            let levels = inner()?;
            list.iter().try_for_each(|element| check_value(element, levels))
        }
        _ => Ok(()),
    }
}
