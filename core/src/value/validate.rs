//! Constraints on items and values that do not depend on the table: names and nesting.

use super::Value;
use crate::limits::{ATTRIBUTE_DEPTH, ATTRIBUTE_NAME_BYTES};
use crate::view::{MapRef, ValueRef};
use crate::{Error, Item};

impl Item {
    /// Checks the constraints on items of every table: attribute names and nesting.
    ///
    /// # Errors
    ///
    /// A name is empty or longer than 65,535 bytes, at any depth, or more than 31 lists and maps
    /// are nested. The messages are DynamoDB's.
    pub fn validate(&self) -> Result<(), Error> {
        check_attributes(self.view(), ATTRIBUTE_DEPTH)
    }
}

impl Value {
    /// Checks the constraints on values of every table: attribute names in maps, and nesting.
    ///
    /// # Errors
    ///
    /// As for [`Item::validate`].
    pub fn validate(&self) -> Result<(), Error> {
        check_value(self.as_ref(), ATTRIBUTE_DEPTH)
    }
}

/// Returns DynamoDB's error for a value with more than 31 nested lists and maps.
pub(crate) fn nesting_error() -> Error {
    Error::validation(
        "Nesting Levels have exceeded supported limits: Attributes in the item have nested levels \
         beyond supported limit",
    )
}

/// Checks one attribute of an item as [`Item::validate`] does.
pub(crate) fn check_attribute(name: &str, value: ValueRef<'_>) -> Result<(), Error> {
    check_entry(name, value, ATTRIBUTE_DEPTH)
}

fn check_attributes(map: MapRef<'_>, levels: usize) -> Result<(), Error> {
    map.iter().try_for_each(|(name, value)| check_entry(name, value, levels))
}

fn check_entry(name: &str, value: ValueRef<'_>, levels: usize) -> Result<(), Error> {
    if name.is_empty() {
        return Err(Error::validation("Empty attribute name"));
    }
    if name.len() > ATTRIBUTE_NAME_BYTES {
        return Err(Error::validation(
            "Attribute name is too large, must be less than 65536 bytes",
        ));
    }
    check_value(value, levels)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{item, list, map};

    fn lists(count: usize, inner: Value) -> Value {
        (0..count).fold(inner, |inner, _| list![inner])
    }

    fn maps(count: usize, inner: Value) -> Value {
        (0..count).fold(inner, |inner, _| Value::M(map! { "a" => inner }))
    }

    #[test]
    fn value_nested_over_31_levels_is_rejected() {
        for nest in [lists, maps] {
            for leaf in [Value::from("a"), list![], Value::Null] {
                let levels = 31 - leaf.depth();
                let allowed = nest(levels, leaf.clone());
                assert_eq!(allowed.depth(), 31);
                assert!(allowed.validate().is_ok());
                assert!(item! { "v" => allowed }.validate().is_ok());
                let refused = nest(levels + 1, leaf);
                assert_eq!(
                    item! { "v" => &refused }.validate().unwrap_err().message(),
                    "Nesting Levels have exceeded supported limits: Attributes in the item have \
                     nested levels beyond supported limit"
                );
                assert!(refused.validate().is_err());
            }
        }
    }

    #[test]
    fn invalid_names_are_rejected_at_every_depth() {
        let long = "n".repeat(65_535);
        assert!(item! { long.as_str() => 1 }.validate().is_ok());
        let too_long = "n".repeat(65_536);
        for (name, text) in [
            ("", "Empty attribute name"),
            (too_long.as_str(), "Attribute name is too large, must be less than 65536 bytes"),
        ] {
            let nested = list![map! { name => 1 }];
            for item in [item! { name => 1 }, item! { "v" => nested }] {
                assert_eq!(item.validate().unwrap_err().message(), text);
            }
        }
    }
}
