//! Rules of tags, and the changes of a table's tags.

use super::Table;
use crate::error::{Error, Result};
use crate::limits;
use crate::ops::{TagTable, Tags, UntagTable};

impl Table {
    /// Returns the table with these tags added, or their values replaced.
    ///
    /// # Errors
    /// A validation error if a tag is invalid, or the table would have more than 50 tags.
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

    /// Returns the table without the tags with these keys. An unknown key is no error.
    ///
    /// # Errors
    /// A validation error if there is no key, more than 50, or an invalid one.
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

/// Validates the tags of a request.
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

/// Whether a character is allowed in tags: letters, digits and white space of any script, and some
/// signs (developer guide, "Tagging restrictions in DynamoDB").
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
    fn tags_are_added_replaced_and_removed() {
        let table = tag(&create(tags(["a"])).unwrap(), tags(["b", "ñandú 1+2"])).unwrap();
        assert_eq!(table.tags.keys().collect::<Vec<_>>(), ["a", "b", "ñandú 1+2"]);
        let changed = Tags::from([("a".to_owned(), "w".to_owned())]);
        let table = tag(&table, changed).unwrap();
        assert_eq!(table.tags["a"], "w");
        let table = untag(&table, &["a", "none"]).unwrap();
        assert_eq!(table.tags.keys().collect::<Vec<_>>(), ["b", "ñandú 1+2"]);
    }

    #[test]
    fn table_has_at_most_50_tags() {
        let full = create(tags(0..50)).unwrap();
        let text = "Number of Tags exceed the current limit for the provided ResourceArn";
        assert_eq!(create(tags(0..51)).unwrap_err().message(), text);
        assert_eq!(tag(&full, tags(["more"])).unwrap_err().message(), text);
        tag(&full, tags(0..10)).unwrap();
    }

    #[test]
    fn tag_keys_and_values_have_a_length_and_allowed_characters() {
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
    fn empty_tag_requests_are_refused() {
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
