//! Table names with the prefix of an environment.

use tabla_core::{Error, Result};

/// What stands before every table name on the service, so that one account can hold many
/// environments. Empty for none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TablePrefix(String);

impl TablePrefix {
    /// Checks that table names may begin with this.
    pub(crate) fn new(prefix: &str) -> Result<Self> {
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if prefix.chars().all(legal) {
            return Ok(Self(prefix.to_owned()));
        }
        Err(Error::config(format!(
            "a table prefix may contain only the characters a-z, A-Z, 0-9, '_', '-' and '.': \
             {prefix}"
        )))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The name that the service knows the caller's table by.
    ///
    /// A resource name (`arn:…`) names its table outright. A name that no table can have keeps
    /// its fault: with the prefix before it, `ab` would be long enough for the service.
    pub(crate) fn add(&self, table: String) -> String {
        if self.0.is_empty() || table.starts_with("arn:") || table.len() < SHORTEST_NAME {
            return table;
        }
        format!("{}{table}", self.0)
    }

    /// The caller's name of a table, or `None` if it belongs to another environment.
    pub(crate) fn strip<'a>(&self, table: &'a str) -> Option<&'a str> {
        table.strip_prefix(self.0.as_str())
    }

    /// The caller's name of a table that the caller asked about.
    pub(crate) fn strip_own(&self, table: String) -> String {
        match self.strip(&table) {
            Some(name) if name.len() != table.len() => name.to_owned(),
            _ => table,
        }
    }
}

/// The shortest table name ("Naming rules" in the developer guide).
const SHORTEST_NAME: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(text: &str) -> TablePrefix {
        TablePrefix::new(text).unwrap()
    }

    #[test]
    fn a_name_comes_back_as_it_went() {
        let dev = prefix("dev-");
        assert_eq!(dev.add("orders".into()), "dev-orders");
        assert_eq!(dev.strip_own("dev-orders".into()), "orders");
        assert_eq!(dev.strip_own(dev.add("dev-orders".into())), "dev-orders");
        assert_eq!(prefix("").strip_own("orders".into()), "orders");
    }

    #[test]
    fn tables_of_other_environments_are_not_ours() {
        assert_eq!(prefix("dev-").strip("prod-orders"), None);
        assert_eq!(prefix("").strip("prod-orders"), Some("prod-orders"));
    }

    #[test]
    fn resource_names_and_impossible_names_are_left_alone() {
        let dev = prefix("dev-");
        let arn = "arn:aws:dynamodb:us-east-1:000000000000:table/orders";
        assert_eq!(dev.add(arn.into()), arn);
        assert_eq!(dev.add("ab".into()), "ab");
        assert_eq!(dev.add(String::new()), "");
    }

    #[test]
    fn a_prefix_must_fit_into_a_table_name() {
        assert!(TablePrefix::new("dev/").is_err());
    }
}
