//! Rules of attribute definitions and key schemas.

use std::collections::{BTreeMap, BTreeSet};

use super::KeyAttribute;
use super::constraint::invalid;
use crate::error::{Error, Result};
use crate::key::KeyType;
use crate::limits;
use crate::ops::{AttributeDefinition, KeyRole, KeySchemaElement};

const FIRST_IS_NOT_HASH: &str =
    "Invalid KeySchema: The first KeySchemaElement is not a HASH key type";
const SECOND_IS_NOT_RANGE: &str =
    "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type";
const SAME_NAME: &str =
    "Both the Hash Key and the Range Key element in the KeySchema have the same name";

/// Attribute definitions of a request: types by names.
#[derive(Clone, Debug, Default)]
pub(super) struct Definitions<'a> {
    /// Names in the request's order, as messages list them.
    names: Vec<&'a str>,
    kinds: BTreeMap<&'a str, KeyType>,
}

impl<'a> Definitions<'a> {
    /// Collects the definitions of a request, and refuses a duplicate name.
    pub(super) fn new(given: &'a [AttributeDefinition]) -> Result<Self> {
        let mut definitions = Self::default();
        for AttributeDefinition { name, kind } in given {
            if definitions.kinds.insert(name, *kind).is_some() {
                return Err(Error::validation(format!("Attribute Name is duplicated: {name}")));
            }
            definitions.names.push(name);
        }
        Ok(definitions)
    }

    /// Adds the definitions of the table's present keys.
    pub(super) fn with_known(mut self, known: &'a [AttributeDefinition]) -> Result<Self> {
        for AttributeDefinition { name, kind } in known {
            match self.kinds.insert(name, *kind) {
                None => self.names.push(name),
                Some(given) if given == *kind => {}
                Some(_) => {
                    return Err(Error::validation(
                        "invalid attribute, SchemaElement redefined should be of same type as \
                         previously defined",
                    ));
                }
            }
        }
        Ok(self)
    }

    /// Looks up the type of an attribute of `key`, which is named in the error.
    fn attribute(&self, name: &str, key: &[KeySchemaElement]) -> Result<KeyAttribute> {
        match self.kinds.get(name) {
            Some(kind) => Ok(KeyAttribute { name: name.to_owned(), kind: *kind }),
            None => Err(invalid(format_args!(
                "Some index key attributes are not defined in AttributeDefinitions. \
                 Keys: {}, AttributeDefinitions: {}",
                list(key.iter().map(|element| element.name.as_str())),
                list(self.names.iter().copied())
            ))),
        }
    }

    /// Checks that every attribute of this key is defined.
    pub(super) fn cover(&self, key: &[KeySchemaElement]) -> Result<()> {
        key.iter().try_for_each(|element| self.attribute(&element.name, key).map(drop))
    }

    /// Checks that every definition is used by a key of the table or of its indexes.
    pub(super) fn all_used<'k>(
        &self,
        table_key: &'k [KeySchemaElement],
        index_keys: impl Iterator<Item = &'k [KeySchemaElement]>,
    ) -> Result<()> {
        let mut used: Vec<&str> = Vec::new();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        let mut indexed = false;
        let mut add = |key: &'k [KeySchemaElement]| {
            for KeySchemaElement { name, .. } in key {
                if seen.insert(name) {
                    used.push(name);
                }
            }
        };
        add(table_key);
        index_keys.for_each(|key| {
            indexed = true;
            add(key);
        });
        if self.names.iter().all(|name| seen.contains(name)) {
            return Ok(());
        }
        if indexed {
            Err(invalid(format_args!(
                "Some AttributeDefinitions are not used. AttributeDefinitions: {}, keys used: {}",
                list(self.names.iter().copied()),
                list(used.into_iter())
            )))
        } else {
            Err(invalid(
                "Number of attributes in KeySchema does not exactly match number of attributes \
                 defined in AttributeDefinitions",
            ))
        }
    }

    /// Validates the key of a table: a partition attribute, and optionally a sort attribute.
    pub(super) fn table_key(
        &self,
        key: &[KeySchemaElement],
    ) -> Result<(KeyAttribute, Option<KeyAttribute>)> {
        if key.len() > self.names.len() {
            return Err(Error::validation(
                "Invalid KeySchema: Some index key attribute have no definition",
            ));
        }
        self.simple_key(key)
    }

    /// Validates the key of a table or of a local index: one partition attribute and at most one
    /// sort attribute. The shape was checked: the key has one or two elements.
    pub(super) fn simple_key(
        &self,
        key: &[KeySchemaElement],
    ) -> Result<(KeyAttribute, Option<KeyAttribute>)> {
        self.cover(key)?;
        let (partition, sort) = match key {
            [partition] => (partition, None),
            [partition, sort] => (partition, Some(sort)),
            _ => return Err(Error::validation(FIRST_IS_NOT_HASH)),
        };
        if sort.is_some_and(|sort| sort.name == partition.name) {
            return Err(Error::validation(SAME_NAME));
        }
        if partition.role != KeyRole::Partition {
            return Err(Error::validation(FIRST_IS_NOT_HASH));
        }
        if sort.is_some_and(|sort| sort.role != KeyRole::Sort) {
            return Err(Error::validation(SECOND_IS_NOT_RANGE));
        }
        let sort = sort.map(|sort| self.attribute(&sort.name, key)).transpose()?;
        Ok((self.attribute(&partition.name, key)?, sort))
    }

    /// Validates the key of a global index: one to four partition attributes, then up to four
    /// sort attributes.
    pub(super) fn global_key(
        &self,
        key: &[KeySchemaElement],
    ) -> Result<(Vec<KeyAttribute>, Vec<KeyAttribute>)> {
        self.cover(key)?;
        if let [first, second] = key
            && first.name == second.name
            && first.role != second.role
        {
            return Err(Error::validation(SAME_NAME));
        }
        if key.first().is_none_or(|first| first.role != KeyRole::Partition) {
            return Err(Error::validation(FIRST_IS_NOT_HASH));
        }
        let split = key.iter().position(|element| element.role == KeyRole::Sort);
        let (partition, sort) = key.split_at(split.unwrap_or(key.len()));
        for role in [KeyRole::Partition, KeyRole::Sort] {
            let count = key.iter().filter(|element| element.role == role).count();
            if count > limits::INDEX_KEY_ATTRIBUTES {
                return Err(invalid(format_args!(
                    "The KeySchema exceeds the maximum allowed number of {} key attributes",
                    role.as_str()
                )));
            }
        }
        if sort.iter().any(|element| element.role == KeyRole::Partition) {
            return Err(invalid(
                "All HASH key attributes must precede RANGE key attributes in the KeySchema",
            ));
        }
        for (index, element) in key.iter().enumerate() {
            if key[..index].iter().any(|earlier| earlier.name == element.name) {
                return Err(Error::validation(
                    "The KeySchema contains multiple key attributes with the same name",
                ));
            }
        }
        let attributes = |half: &[KeySchemaElement]| -> Result<Vec<KeyAttribute>> {
            half.iter().map(|element| self.attribute(&element.name, key)).collect()
        };
        Ok((attributes(partition)?, attributes(sort)?))
    }
}

fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    format!("[{}]", names.collect::<Vec<_>>().join(", "))
}

/// Builds a key schema as in requests and descriptions.
pub(super) fn key_schema<'a>(
    partition: impl IntoIterator<Item = &'a KeyAttribute>,
    sort: impl IntoIterator<Item = &'a KeyAttribute>,
) -> Vec<KeySchemaElement> {
    let element =
        |role| move |key: &KeyAttribute| KeySchemaElement { name: key.name.clone(), role };
    partition
        .into_iter()
        .map(element(KeyRole::Partition))
        .chain(sort.into_iter().map(element(KeyRole::Sort)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::{CreateTable, SecondaryIndex};
    use crate::schema::TableSchema;

    const PREFIX: &str = "One or more parameter values were invalid: ";

    fn element(name: &str, role: KeyRole) -> KeySchemaElement {
        KeySchemaElement { name: name.to_owned(), role }
    }

    /// Table whose definitions are `names`, all strings, and whose key is `key`: names with the
    /// prefix `H` or `R`.
    fn request(names: &[&str], key: &[&str]) -> CreateTable {
        let mut request = CreateTable::new("tab");
        for name in names {
            let name = (*name).to_owned();
            request.attribute_definitions.push(AttributeDefinition { name, kind: KeyType::S });
        }
        request.key_schema = elements(key);
        request
    }

    fn elements(key: &[&str]) -> Vec<KeySchemaElement> {
        key.iter()
            .map(|text| match text.split_at(1) {
                ("H", name) => element(name, KeyRole::Partition),
                (_, name) => element(name, KeyRole::Sort),
            })
            .collect()
    }

    fn refusal(request: &CreateTable) -> String {
        let error = TableSchema::new(request).unwrap_err();
        assert_eq!(error.code(), "ValidationException");
        error.message().to_owned()
    }

    fn with_global(mut request: CreateTable, key: &[&str]) -> CreateTable {
        let mut index = SecondaryIndex::new("gsi");
        index.key_schema = elements(key);
        request.global_secondary_indexes.push(index);
        request
    }

    #[test]
    fn table_key_has_a_partition_and_an_optional_sort_attribute() {
        let schema = TableSchema::new(&request(&["a"], &["Ha"])).unwrap();
        assert_eq!(schema.partition, KeyAttribute { name: "a".to_owned(), kind: KeyType::S });
        assert_eq!(schema.sort, None);
        let schema = TableSchema::new(&request(&["b", "a"], &["Ha", "Rb"])).unwrap();
        assert_eq!(schema.sort.unwrap().name, "b");
    }

    #[test]
    fn table_key_has_one_or_two_elements() {
        let text = "1 validation error detected: Value '[]' at 'keySchema' failed to satisfy \
                    constraint: Member must have length greater than or equal to 1";
        assert_eq!(refusal(&request(&["a"], &[])), text);
        let text = "1 validation error detected: Value \
                    '[KeySchemaElement(attributeName=a, keyType=HASH), \
                    KeySchemaElement(attributeName=b, keyType=RANGE), \
                    KeySchemaElement(attributeName=c, keyType=RANGE)]' at 'keySchema' failed to \
                    satisfy constraint: Member must have length less than or equal to 2";
        assert_eq!(refusal(&request(&["a", "b", "c"], &["Ha", "Rb", "Rc"])), text);
    }

    #[test]
    fn partition_attribute_comes_before_sort_attribute() {
        for key in [&["Ra"][..], &["Rb", "Ha"], &["Ra", "Rb"]] {
            let names = ["a", "b"];
            assert_eq!(refusal(&request(&names[..key.len()], key)), FIRST_IS_NOT_HASH, "{key:?}");
        }
        assert_eq!(refusal(&request(&["a", "b"], &["Ha", "Hb"])), SECOND_IS_NOT_RANGE);
    }

    #[test]
    fn key_attribute_has_one_role() {
        assert_eq!(
            refusal(&request(&["a"], &["Ha", "Ra"])),
            "Invalid KeySchema: Some index key attribute have no definition"
        );
        assert_eq!(refusal(&request(&["a", "b"], &["Ha", "Ra"])), SAME_NAME);
    }

    #[test]
    fn definitions_are_exactly_the_used_keys() {
        assert_eq!(refusal(&request(&["a", "a"], &["Ha"])), "Attribute Name is duplicated: a");
        assert_eq!(
            refusal(&request(&["b"], &["Ha"])),
            format!(
                "{PREFIX}Some index key attributes are not defined in AttributeDefinitions. \
                 Keys: [a], AttributeDefinitions: [b]"
            )
        );
        assert_eq!(
            refusal(&request(&[], &["Ha"])),
            "Invalid KeySchema: Some index key attribute have no definition"
        );
        assert_eq!(
            refusal(&request(&["a", "b"], &["Ha"])),
            format!(
                "{PREFIX}Number of attributes in KeySchema does not exactly match number of \
                 attributes defined in AttributeDefinitions"
            )
        );
        assert_eq!(
            refusal(&with_global(request(&["a", "b", "c"], &["Ha"]), &["Hb"])),
            format!(
                "{PREFIX}Some AttributeDefinitions are not used. AttributeDefinitions: [a, b, c], \
                 keys used: [a, b]"
            )
        );
        assert_eq!(
            refusal(&with_global(request(&["a"], &["Ha"]), &["Hb", "Ra"])),
            format!(
                "{PREFIX}Some index key attributes are not defined in AttributeDefinitions. \
                 Keys: [b, a], AttributeDefinitions: [a]"
            )
        );
    }

    #[test]
    fn key_attribute_names_have_1_to_255_bytes() {
        let long = "x".repeat(255);
        TableSchema::new(&request(&[&long], &[&format!("H{long}")])).unwrap();
        for (name, rule) in [
            (String::new(), "greater than or equal to 1"),
            ("x".repeat(256), "less than or equal to 255"),
            ("é".repeat(128), "less than or equal to 255"),
        ] {
            let constraint =
                format!("failed to satisfy constraint: Member must have length {rule}");
            assert_eq!(
                refusal(&request(&[&name], &[&format!("H{name}")])),
                format!(
                    "2 validation errors detected: \
                     Value '{name}' at 'keySchema.1.member.attributeName' {constraint}; \
                     Value '{name}' at 'attributeDefinitions.1.member.attributeName' {constraint}"
                )
            );
        }
    }

    #[test]
    fn global_index_has_up_to_four_partition_and_four_sort_attributes() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
        let with = |used: usize, key: &[&str]| {
            TableSchema::new(&with_global(request(&names[..used], &["Ha"]), key))
        };
        let schema = with(9, &["Hb", "Hc", "Hd", "He", "Rf", "Rg", "Rh", "Ri"]).unwrap();
        let index = schema.index("gsi").unwrap();
        let list = |half: &[KeyAttribute]| -> String {
            half.iter().map(|key| key.name.as_str()).collect()
        };
        assert_eq!((list(&index.partition), list(&index.sort)), ("bcde".into(), "fghi".into()));
        with(1, &["Ha"]).unwrap();
        with(2, &["Hb", "Ra"]).unwrap();
        let refusal = |used, key: &[&str]| with(used, key).unwrap_err().message().to_owned();
        for (used, key, role) in [
            (6, ["Hb", "Hc", "Hd", "He", "Hf"], "HASH"),
            (6, ["Ha", "Rb", "Rc", "Rd", "Re"], "RANGE"),
        ] {
            let mut key = key.to_vec();
            if role == "RANGE" {
                key.push("Rf");
            }
            assert_eq!(
                refusal(used, &key),
                format!(
                    "{PREFIX}The KeySchema exceeds the maximum allowed number of {role} key \
                     attributes"
                )
            );
        }
        assert_eq!(
            refusal(4, &["Hb", "Rc", "Hd"]),
            format!(
                "{PREFIX}All HASH key attributes must precede RANGE key attributes in the KeySchema"
            )
        );
        for key in [&["Hb", "Hb"][..], &["Hb", "Hc", "Rb"]] {
            assert_eq!(
                refusal(key.len(), key),
                "The KeySchema contains multiple key attributes with the same name"
            );
        }
        assert_eq!(refusal(2, &["Hb", "Rb"]), SAME_NAME);
        assert_eq!(refusal(3, &["Rb", "Hc"]), FIRST_IS_NOT_HASH);
        assert_eq!(refusal(2, &["Rb"]), FIRST_IS_NOT_HASH);
        assert!(refusal(1, &[]).contains("'globalSecondaryIndexes.1.member.keySchema'"));
    }
}
