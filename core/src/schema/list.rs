//! Listing tables, a page at a time.

use super::constraint::Constraints;
use super::name::{check_table_name, strip_arn};
use crate::error::Result;
use crate::limits;
use crate::ops::{ListTables, ListTablesOutput};

/// Where a page of table names begins, and how long it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TablesPage<'a> {
    /// The name after which it begins; there need be no table of that name.
    pub after: Option<&'a str>,
    /// How many names it has at most.
    pub limit: usize,
}

impl<'a> TablesPage<'a> {
    /// The page that a request asks for.
    ///
    /// # Errors
    /// A validation error if the limit is not 1 to 100, or the start is no table name.
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

    /// Fills the page from names in order of their bytes. Those before its beginning are passed
    /// over, so an engine that can begin after [`TablesPage::after`] may, and one more name than
    /// [`TablesPage::limit`] is enough.
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
    fn pages_follow_one_another() {
        assert_eq!(page(None, None).0, NAMES);
        assert_eq!(page(None, Some(2)), (vec!["LZ9".into(), "lz.a".into()], Some("lz.a".into())));
        assert_eq!(page(Some("lz.a"), Some(2)), (vec!["lz1".into(), "lz2".into()], None));
        assert_eq!(page(Some("lz1x"), None), (vec!["lz2".into()], None));
        assert_eq!(page(Some("zzz"), None), (vec![], None));
    }

    #[test]
    fn a_limit_is_1_to_100() {
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
    fn the_start_is_a_table_name() {
        for start in ["", "ab", "a!c"] {
            let error = TablesPage::new(&request(Some(start), None)).unwrap_err();
            assert!(error.message().contains("at 'exclusiveStartTableName'"), "{error}");
        }
    }
}
