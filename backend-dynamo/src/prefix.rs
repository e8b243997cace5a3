//! Table prefix: translation between table names of the caller and of the service.

use tabla_core::{Error, Result};

/// Prefix of every table name on the service, so that one account can hold several environments.
/// Empty for none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TablePrefix(String);

impl TablePrefix {
    /// Returns the prefix, if it has only characters of table names.
    ///
    /// # Errors
    /// [`tabla_core::ErrorKind::Config`] if it has another character.
    pub(crate) fn new(prefix: &str) -> Result<Self> {
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if prefix.chars().all(legal) {
            return Ok(Self(prefix.to_owned()));
        }
        Err(Error::config(format!(
            "the table prefix `{prefix}` has a character that no table name has; use only a-z, \
             A-Z, 0-9, '_', '-' and '.'"
        )))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the service's name of a caller's table.
    ///
    /// A resource name (`arn:…`) is returned unchanged, because it identifies a table of the
    /// service. So is a name that is too short: with the prefix, the service would accept `ab`.
    pub(crate) fn add(&self, table: String) -> String {
        if self.0.is_empty() || table.starts_with("arn:") || table.len() < SHORTEST_NAME {
            return table;
        }
        format!("{}{table}", self.0)
    }

    /// Returns the caller's name of a table, or `None` if the table has another prefix.
    pub(crate) fn strip<'a>(&self, table: &'a str) -> Option<&'a str> {
        table.strip_prefix(self.0.as_str())
    }

    /// Returns the caller's name of a table that the caller named: a resource name is unchanged.
    pub(crate) fn strip_own(&self, table: String) -> String {
        match self.strip(&table) {
            Some(name) if name.len() != table.len() => name.to_owned(),
            _ => table,
        }
    }
}

/// Minimum length of a table name, in characters ("Naming rules" in the developer guide).
const SHORTEST_NAME: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> TablePrefix {
        TablePrefix::new(text).unwrap()
    }

    #[test]
    fn added_prefix_is_stripped_again() {
        let dev = prefix("dev-");
        assert_eq!(dev.add("orders".into()), "dev-orders");
        assert_eq!(dev.strip_own("dev-orders".into()), "orders");
        assert_eq!(dev.strip_own(dev.add("dev-orders".into())), "dev-orders");
        assert_eq!(prefix("").strip_own("orders".into()), "orders");
    }

    #[test]
    fn table_with_another_prefix_is_not_visible() {
        assert_eq!(prefix("dev-").strip("prod-orders"), None);
        assert_eq!(prefix("").strip("prod-orders"), Some("prod-orders"));
    }

    #[test]
    fn resource_names_and_too_short_names_get_no_prefix() {
        let dev = prefix("dev-");
        let arn = "arn:aws:dynamodb:us-east-1:000000000000:table/orders";
        assert_eq!(dev.add(arn.into()), arn);
        assert_eq!(dev.add("ab".into()), "ab");
        assert_eq!(dev.add(String::new()), "");
    }

    #[test]
    fn prefix_with_a_slash_is_rejected() {
        assert!(TablePrefix::new("dev/").is_err());
    }
}
