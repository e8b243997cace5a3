//! Pages of the list of tables.

use super::constraint::Constraints;
use super::name::{check_table_name, strip_arn};
use crate::error::Result;
use crate::limits;
use crate::ops::{ListTables, ListTablesOutput};

/// Validated request for a page of table names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TablesPage<'a> {
    /// Name after which the page begins. It need not be the name of a table.
    pub after: Option<&'a str>,
    /// Largest number of names in the page.
    pub limit: usize,
}

impl<'a> TablesPage<'a> {
    /// Validates a request; the default limit is 100.
    ///
    /// # Errors
    /// A validation error if the limit is not 1 to 100, or the start is not a valid table name.
    pub fn new(request: &'a ListTables) -> Result<Self> {
        let ListTables { exclusive_start_table_name, limit } = request;
        let after = exclusive_start_table_name.as_deref().map(strip_arn);
        let mut found = Constraints::default();
        if let Some(after) = after {
            check_table_name(&mut found, after, "exclusiveStartTableName");
        }
        if let Some(limit) = limit {
            found.at_least(i64::from(*limit), "limit", 1);
            found.at_most(i64::from(*limit), "limit", limits::LIST_TABLES as i64);
        }
        found.finish()?;
        let limit = limit.and_then(|limit| usize::try_from(limit).ok());
        Ok(Self { after, limit: limit.unwrap_or(limits::LIST_TABLES) })
    }

    /// Fills the page from names in byte order, and skips those up to [`TablesPage::after`]. An
    /// engine need not pass these, nor more than [`TablesPage::limit`] + 1 names after them.
    pub fn fill<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> ListTablesOutput {
        let mut rest =
            names.into_iter().filter(|name| self.after.is_none_or(|after| *name > after));
        let table_names: Vec<String> = rest.by_ref().take(self.limit).map(str::to_owned).collect();
        let more = rest.next().is_some();
        let last_evaluated_table_name = table_names.last().filter(|_| more).cloned();
        ListTablesOutput { table_names, last_evaluated_table_name }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 4] = ["LZ9", "lz.a", "lz1", "lz2"];

    fn request(start: Option<&str>, limit: Option<i32>) -> ListTables {
        ListTables { exclusive_start_table_name: start.map(str::to_owned), limit }
    }

    fn page(start: Option<&str>, limit: Option<i32>) -> (Vec<String>, Option<String>) {
        let request = request(start, limit);
        let page = TablesPage::new(&request).unwrap().fill(NAMES);
        (page.table_names, page.last_evaluated_table_name)
    }

    #[test]
    fn pages_of_table_names_are_complete_and_in_order() {
        assert_eq!(page(None, None).0, NAMES);
        assert_eq!(page(None, Some(2)), (vec!["LZ9".into(), "lz.a".into()], Some("lz.a".into())));
        assert_eq!(page(Some("lz.a"), Some(2)), (vec!["lz1".into(), "lz2".into()], None));
        assert_eq!(page(Some("lz1x"), None), (vec!["lz2".into()], None));
        assert_eq!(page(Some("zzz"), None), (vec![], None));
    }

    #[test]
    fn limit_of_list_tables_is_1_to_100() {
        TablesPage::new(&request(None, Some(100))).unwrap();
        for (limit, rule) in [
            (0, "greater than or equal to 1"),
            (-1, "greater than or equal to 1"),
            (101, "less than or equal to 100"),
        ] {
            assert_eq!(
                TablesPage::new(&request(None, Some(limit))).unwrap_err().message(),
                format!(
                    "1 validation error detected: Value '{limit}' at 'limit' failed to satisfy \
                     constraint: Member must have value {rule}"
                )
            );
        }
    }

    #[test]
    fn start_of_list_tables_is_a_valid_table_name() {
        for start in ["", "ab", "a!c"] {
            let error = TablesPage::new(&request(Some(start), None)).unwrap_err();
            assert!(error.message().contains("at 'exclusiveStartTableName'"), "{error}");
        }
    }
}
