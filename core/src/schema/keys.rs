//! Attribute definitions and key schemas.

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

/// The types that a request gives to attributes, in its order.
#[derive(Clone, Debug)]
pub(super) struct Definitions<'a>(Vec<(&'a str, KeyType)>);

impl<'a> Definitions<'a> {
    /// The definitions of a request, each name once.
    pub(super) fn new(given: &'a [AttributeDefinition]) -> Result<Self> {
        let mut definitions = Self(Vec::with_capacity(given.len()));
        for definition in given {
            if definitions.kind(&definition.name).is_some() {
                return Err(Error::validation(format!(
                    "Attribute Name is duplicated: {}",
                    definition.name
                )));
            }
            definitions.0.push((&definition.name, definition.kind));
        }
        Ok(definitions)
    }

    /// Adds what the table's keys define already.
    pub(super) fn with_known(mut self, known: &'a [AttributeDefinition]) -> Result<Self> {
        for AttributeDefinition { name, kind } in known {
            match self.kind(name) {
                None => self.0.push((name, *kind)),
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

    fn kind(&self, name: &str) -> Option<KeyType> {
        self.0.iter().find(|(defined, _)| *defined == name).map(|(_, kind)| *kind)
    }

    fn names(&self) -> String {
        list(self.0.iter().map(|(name, _)| *name))
    }

    /// The attribute of a key, with its type. `key` is the whole key, for the error.
    fn attribute(&self, name: &str, key: &[KeySchemaElement]) -> Result<KeyAttribute> {
        match self.kind(name) {
            Some(kind) => Ok(KeyAttribute { name: name.to_owned(), kind }),
            None => Err(invalid(format_args!(
                "Some index key attributes are not defined in AttributeDefinitions. \
                 Keys: {}, AttributeDefinitions: {}",
                list(key.iter().map(|element| element.name.as_str())),
                self.names()
            ))),
        }
    }

    /// Checks that every attribute of this key is defined.
    pub(super) fn cover(&self, key: &[KeySchemaElement]) -> Result<()> {
        key.iter().try_for_each(|element| self.attribute(&element.name, key).map(drop))
    }

    /// Checks that nothing is defined but the attributes of the table's key and of its indexes'.
    pub(super) fn all_used<'k>(
        &self,
        table_key: &'k [KeySchemaElement],
        index_keys: impl Iterator<Item = &'k [KeySchemaElement]>,
    ) -> Result<()> {
        let mut used: Vec<&str> = Vec::new();
        let mut indexed = false;
        let mut add = |key: &'k [KeySchemaElement]| {
            for KeySchemaElement { name, .. } in key {
                if !used.contains(&name.as_str()) {
                    used.push(name);
                }
            }
        };
        add(table_key);
        index_keys.for_each(|key| {
            indexed = true;
            add(key);
        });
        if self.0.iter().all(|(name, _)| used.contains(name)) {
            return Ok(());
        }
        if indexed {
            Err(invalid(format_args!(
                "Some AttributeDefinitions are not used. AttributeDefinitions: {}, keys used: {}",
                self.names(),
                list(used.into_iter())
            )))
        } else {
            Err(invalid(
                "Number of attributes in KeySchema does not exactly match number of attributes \
                 defined in AttributeDefinitions",
            ))
        }
    }

    /// The key of a table: a partition attribute, and possibly a sort attribute.
    pub(super) fn table_key(
        &self,
        key: &[KeySchemaElement],
    ) -> Result<(KeyAttribute, Option<KeyAttribute>)> {
        if key.len() > self.0.len() {
            return Err(Error::validation(
                "Invalid KeySchema: Some index key attribute have no definition",
            ));
        }
        self.simple_key(key)
    }

    /// A key of one partition attribute and at most one sort attribute: a table's or a local
    /// index's. The request's shape is checked, so that it has one or two elements.
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

    /// The key of a global index: one to four partition attributes, then up to four sort
    /// attributes.
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

/// A key as requests and descriptions give it.
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
