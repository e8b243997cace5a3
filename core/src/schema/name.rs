//! Names of tables and indexes, alone and in ARNs.

use super::constraint::Constraints;
use crate::error::{Error, ErrorKind, Result};
use crate::limits;

/// Prefix of table ARNs of embedded stores. Region and account do not exist on AWS, so that such an
/// ARN is never mistaken for a resource in the cloud.
const ARN_PREFIX: &str = "arn:aws:dynamodb:local:000000000000:table/";

/// Extracts the table name from the name or the ARN in a request.
///
/// Region and account of an ARN are ignored: an embedded store has neither. An ARN of anything but
/// a table is refused as an invalid name.
///
/// # Errors
/// A validation error if the name is not 3 to 255 characters of `a-z A-Z 0-9 _ . -`.
pub fn table_name(given: &str) -> Result<&str> {
    let name = strip_arn(given);
    let mut found = Constraints::default();
    check_table_name(&mut found, name, "tableName");
    found.finish()?;
    Ok(name)
}

/// Returns the table name in a table ARN, and any other text unchanged.
pub(super) fn strip_arn(given: &str) -> &str {
    let mut parts = given.splitn(6, ':');
    match (parts.next(), parts.next(), parts.next(), parts.nth(2)) {
        (Some("arn"), Some(_), Some("dynamodb"), Some(resource)) => {
            resource.strip_prefix("table/").unwrap_or(given)
        }
        _ => given,
    }
}

pub(super) fn check_table_name(found: &mut Constraints, name: &str, member: &str) {
    // An empty name violates the rule of all name members; AWS's message for it says 1.
    let min = if name.is_empty() { 1 } else { limits::NAME_MIN };
    found.name(name, member, min, limits::NAME_MAX);
}

/// Builds the ARN of a table of an embedded store.
pub fn table_arn(table: &str) -> String {
    format!("{ARN_PREFIX}{table}")
}

/// Builds the ARN of an index of an embedded store.
pub fn index_arn(table: &str, index: &str) -> String {
    format!("{ARN_PREFIX}{table}/index/{index}")
}

/// Error for the creation of a table whose name exists.
pub fn table_exists_error(table: &str) -> Error {
    Error::new(ErrorKind::InUse, format!("Table already exists: {table}"))
}

/// Error for a missing table, with the message of the operations on tables.
pub fn table_missing_error(table: &str) -> Error {
    Error::new(
        ErrorKind::NotFound,
        format!("Requested resource not found: Table: {table} not found"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(given: &str) -> String {
        table_name(given).unwrap_err().message().to_owned()
    }

    #[test]
    fn table_name_has_3_to_255_allowed_characters() {
        for name in ["abc", "A.b-c_9", &"x".repeat(255)] {
            assert_eq!(table_name(name).unwrap(), name);
        }
        let constraint = "failed to satisfy constraint: Member must";
        assert_eq!(
            refused("ab"),
            format!(
                "1 validation error detected: Value 'ab' at 'tableName' {constraint} \
                 have length greater than or equal to 3"
            )
        );
        assert_eq!(
            refused(""),
            format!(
                "1 validation error detected: Value '' at 'tableName' {constraint} \
                 have length greater than or equal to 1"
            )
        );
        assert_eq!(
            refused("a b!"),
            format!(
                "1 validation error detected: Value 'a b!' at 'tableName' {constraint} \
                 satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
            )
        );
        let long = "x".repeat(256);
        assert_eq!(
            refused(&long),
            format!(
                "1 validation error detected: Value '{long}' at 'tableName' {constraint} \
                 have length less than or equal to 255"
            )
        );
        assert!(table_name("año").is_err());
    }

    #[test]
    fn table_name_accepts_table_arns() {
        assert_eq!(table_name("arn:aws:dynamodb:us-east-1:123456789012:table/abc").unwrap(), "abc");
        assert_eq!(table_name("arn:aws-cn:dynamodb:cn-north-1:1:table/a.b").unwrap(), "a.b");
        assert_eq!(table_name(&table_arn("abc")).unwrap(), "abc");
        for other in [
            "arn:aws:s3:::bucket",
            "arn:aws:dynamodb:local:0:table/ab!",
            "arn:aws:dynamodb:local:0:global-table/abc",
            "arn:aws:dynamodb:local:0",
            "arn:",
            &index_arn("abc", "idx"),
        ] {
            assert!(table_name(other).is_err(), "{other}");
        }
    }
}
