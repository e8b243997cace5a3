//! The tags of a table.

use super::Table;
use crate::error::{Error, Result};
use crate::limits;
use crate::ops::{TagTable, Tags, UntagTable};

impl Table {
    /// The table with these tags added, or their values changed. Nothing is added if any is
    /// wrong, or if the table would have more than 50.
    pub fn with_tags(&self, request: &TagTable) -> Result<Table> {
        let TagTable { table: _, tags } = request;
        if tags.is_empty() {
            return Err(Error::validation("Atleast one Tag needs to be provided as Input."));
        }
        check(tags)?;
        let mut table = self.clone();
        table.tags.extend(tags.clone());
        check_count(table.tags.len())?;
        Ok(table)
    }

    /// The table without the tags of these names. A name that no tag has is no error.
    pub fn without_tags(&self, request: &UntagTable) -> Result<Table> {
        let UntagTable { table: _, keys } = request;
        if keys.is_empty() {
            return Err(Error::validation("Atleast one Tag Key needs to be provided as Input."));
        }
        check_count(keys.len())?;
        keys.iter().try_for_each(|key| check_key(key))?;
        let mut table = self.clone();
        table.tags.retain(|key, _| !keys.contains(key));
        Ok(table)
    }
}

/// Checks the tags of a request.
pub(super) fn check(tags: &Tags) -> Result<()> {
    check_count(tags.len())?;
    for (key, value) in tags {
        check_key(key)?;
        if value.chars().count() > limits::TAG_VALUE_CHARS || !value.chars().all(is_allowed) {
            return Err(Error::validation(format!(
                "The Tag Value provided is invalid, Value: {value}"
            )));
        }
    }
    Ok(())
}

fn check_count(count: usize) -> Result<()> {
    if count > limits::TAGS {
        return Err(Error::validation(
            "Number of Tags exceed the current limit for the provided ResourceArn",
        ));
    }
    Ok(())
}

fn check_key(key: &str) -> Result<()> {
    if key.is_empty() || key.chars().count() > limits::TAG_KEY_CHARS || !key.chars().all(is_allowed)
    {
        return Err(Error::validation(format!("The Tag Key provided is invalid, Key: {key}")));
    }
    if key.get(..4).is_some_and(|prefix| prefix.eq_ignore_ascii_case("aws:")) {
        return Err(Error::validation(format!("Tag Key cannot be prefixed with aws:, Key: {key}")));
    }
    Ok(())
}

/// Letters, digits and white space of any script, and some signs (developer guide, "Tagging
/// restrictions in DynamoDB").
fn is_allowed(c: char) -> bool {
    c.is_alphanumeric() || c.is_whitespace() || "+-=._:/@".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Timestamp;
    use crate::key::KeyType;
    use crate::ops::CreateTable;

    fn create(tags: Tags) -> Result<Table> {
        let request = CreateTable::new("tab").partition_key("a", KeyType::S).tags(tags);
        Table::create(&request, Timestamp::default(), "id".to_owned())
    }

    fn tags(names: impl IntoIterator<Item = impl ToString>) -> Tags {
        names.into_iter().map(|name| (name.to_string(), "v".to_owned())).collect()
    }

    fn tag(table: &Table, tags: Tags) -> Result<Table> {
        table.with_tags(&TagTable { table: "tab".to_owned(), tags })
    }

    fn untag(table: &Table, keys: &[&str]) -> Result<Table> {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        table.without_tags(&UntagTable { table: "tab".to_owned(), keys })
    }

    #[test]
    fn tags_come_and_go() {
        let table = tag(&create(tags(["a"])).unwrap(), tags(["b", "ñandú 1+2"])).unwrap();
        assert_eq!(table.tags.keys().collect::<Vec<_>>(), ["a", "b", "ñandú 1+2"]);
        let changed = Tags::from([("a".to_owned(), "w".to_owned())]);
        let table = tag(&table, changed).unwrap();
        assert_eq!(table.tags["a"], "w");
        let table = untag(&table, &["a", "none"]).unwrap();
        assert_eq!(table.tags.keys().collect::<Vec<_>>(), ["b", "ñandú 1+2"]);
    }

    #[test]
    fn a_table_has_50_tags_at_most() {
        let full = create(tags(0..50)).unwrap();
        let text = "Number of Tags exceed the current limit for the provided ResourceArn";
        assert_eq!(create(tags(0..51)).unwrap_err().message(), text);
        assert_eq!(tag(&full, tags(["more"])).unwrap_err().message(), text);
        tag(&full, tags(0..10)).unwrap();
    }

    #[test]
    fn names_and_values_have_a_length_and_an_alphabet() {
        let table = create(tags(["k".repeat(128)])).unwrap();
        for key in [String::new(), "k".repeat(129), "#".to_owned()] {
            assert_eq!(
                tag(&table, tags([&key])).unwrap_err().message(),
                format!("The Tag Key provided is invalid, Key: {key}")
            );
        }
        for key in ["aws:x", "AWS:x"] {
            assert_eq!(
                create(tags([key])).unwrap_err().message(),
                format!("Tag Key cannot be prefixed with aws:, Key: {key}")
            );
        }
        let with_value = |value: &str| Tags::from([("k".to_owned(), value.to_owned())]);
        tag(&table, with_value("")).unwrap();
        tag(&table, with_value(&"ñ".repeat(256))).unwrap();
        for value in ["v".repeat(257), "<>".to_owned()] {
            assert_eq!(
                tag(&table, with_value(&value)).unwrap_err().message(),
                format!("The Tag Value provided is invalid, Value: {value}")
            );
        }
    }

    #[test]
    fn something_is_to_be_tagged_or_untagged() {
        let table = create(Tags::new()).unwrap();
        assert_eq!(
            tag(&table, Tags::new()).unwrap_err().message(),
            "Atleast one Tag needs to be provided as Input."
        );
        assert_eq!(
            untag(&table, &[]).unwrap_err().message(),
            "Atleast one Tag Key needs to be provided as Input."
        );
    }
}
