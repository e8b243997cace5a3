//! What DynamoDB says differently to legacy parameters.

use std::error::Error as _;

use crate::{Error, ErrorKind};

/// Which legacy parameters a request has, as far as a store's refusal has to be reworded for it.
///
/// A store sees the trees, and refuses in the words for expressions.
///
/// ```
/// use tabla::Error;
/// use tabla::backend::legacy::Wording;
///
/// let mut wording = Wording::default();
/// wording.attribute_updates = true;
/// let refusal = "An operand in the update expression has an incorrect data type";
/// let reworded = wording.reword(Error::validation(refusal));
/// assert_eq!(reworded.message(), "Type mismatch for attribute to update");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LegacyParameters {
    /// It has `AttributesToGet`.
    pub attributes_to_get: bool,
    /// It has a `QueryFilter`.
    pub query_filter: bool,
    /// It has `AttributeUpdates`.
    pub attribute_updates: bool,
    /// It has `KeyConditions` that are [unindexable](super::KeyConditions::unindexable).
    pub unindexable: bool,
}

impl LegacyParameters {
    /// The error as DynamoDB words it for such a request; most are worded alike.
    pub fn reword(&self, error: Error) -> Error {
        if *error.kind() != ErrorKind::Validation {
            return error;
        }
        let pairs = [
            (
                self.attributes_to_get,
                "Cannot specify the ProjectionExpression when",
                "Cannot specify the AttributesToGet when",
            ),
            (
                self.query_filter,
                "Filter Expression can only contain",
                "QueryFilter can only contain",
            ),
            (
                self.attribute_updates,
                "An operand in the update expression has an incorrect data type",
                "Type mismatch for attribute to update",
            ),
            (
                self.unindexable,
                "One or more parameter values were invalid: Condition parameter type does not \
                 match schema type",
                "Attempted conditional constraint is not an indexable operation",
            ),
        ];
        let message = pairs.into_iter().find_map(|(applies, expression, legacy)| {
            let rest = error.message().strip_prefix(expression).filter(|_| applies)?;
            Some(format!("{legacy}{rest}"))
        });
        let of_put = || what_a_put_is_told(&error).filter(|_| self.attribute_updates);
        match message.or_else(of_put) {
            Some(message) => reworded(&error, message),
            None => error,
        }
    }
}

/// What a put is told of the value that an update has given to the key of an index. A store that
/// judges requests itself has it as the source of its refusal; a service tells only its own words.
///
/// AWS says this of a wrong type (dynalite's tests), and DynamoDB Local of an empty value.
fn what_a_put_is_told(error: &Error) -> Option<String> {
    let told = error.source()?.downcast_ref::<Error>()?;
    Some(told.message().to_owned())
}

/// The same refusal with another message.
fn reworded(error: &Error, message: String) -> Error {
    let reworded = Error::validation(message);
    match error.request_id() {
        Some(id) => reworded.with_request_id(id),
        None => reworded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::legacy::*;
    use crate::ops::{CreateTable, PutItem, Query, SecondaryIndex, Select, UpdateItem};
    use crate::{KeyType, MemoryStore, Store, Value, item, list};

    /// What a store says, and what DynamoDB says to a request of this wording.
    #[track_caller]
    fn assert_reworded(error: Error, wording: LegacyParameters, legacy: &str) {
        let told = error.message().to_owned();
        assert_ne!(told, legacy);
        let error = LegacyParameters::default().reword(error);
        assert_eq!(error.message(), told);
        assert_eq!(wording.reword(error).message(), legacy);
    }

    fn eq(name: &str) -> [(String, AttributeCondition); 1] {
        let values = Some(vec!["k".into()]);
        [(name.to_owned(), AttributeCondition { comparison: Some(ComparisonOperator::Eq), values })]
    }

    #[tokio::test]
    async fn what_a_store_refuses_is_reworded() {
        let store = MemoryStore::new();
        let keys = CreateTable::new("table").partition_key("p", KeyType::S);
        store.create_table(keys).await.unwrap();
        store.put(PutItem::new("table", item! { "p" => "k", "x" => "a" })).await.unwrap();
        let query = |tests| Query::new("table", key_conditions(tests).unwrap().condition);

        let projection = attributes_to_get(["x".to_owned()]).unwrap();
        let counting = query(eq("p").to_vec()).projection(projection).select(Select::Count);
        assert_reworded(
            store.query(counting).await.unwrap_err(),
            LegacyParameters { attributes_to_get: true, ..LegacyParameters::default() },
            "Cannot specify the AttributesToGet when choosing to get only the Count",
        );

        let filtered = query(eq("p").to_vec()).filter(filter(eq("p"), None).unwrap().unwrap());
        assert_reworded(
            store.query(filtered).await.unwrap_err(),
            LegacyParameters { query_filter: true, ..LegacyParameters::default() },
            "QueryFilter can only contain non-primary key attributes: Primary key attribute: p",
        );

        let there =
            AttributeCondition { comparison: Some(ComparisonOperator::NotNull), values: None };
        assert_reworded(
            store.query(query(vec![("p".to_owned(), there)])).await.unwrap_err(),
            LegacyParameters { unindexable: true, ..LegacyParameters::default() },
            "Attempted conditional constraint is not an indexable operation",
        );

        let add = AttributeUpdate { value: Some(1.into()), action: Some(AttributeAction::Add) };
        let update = attribute_updates([("x".to_owned(), add)]).unwrap().unwrap();
        let request = UpdateItem::new("table", item! { "p" => "k" }).update(update);
        assert_reworded(
            store.update(request).await.unwrap_err(),
            LegacyParameters { attribute_updates: true, ..LegacyParameters::default() },
            "Type mismatch for attribute to update",
        );
    }

    #[tokio::test]
    async fn keys_of_indexes_are_refused_as_those_of_a_put() {
        let store = MemoryStore::new();
        let keys = CreateTable::new("table")
            .partition_key("p", KeyType::S)
            .sort_key("s", KeyType::S)
            .attribute("g", KeyType::S)
            .attribute("l", KeyType::B)
            .local_index(SecondaryIndex::new("local").partition_key("p").sort_key("l"))
            .global_index(SecondaryIndex::new("global").partition_key("g"));
        store.create_table(keys).await.unwrap();
        let key = || item! { "p" => "k", "s" => "k" };
        let values = [
            ("g", 1.into()),
            ("g", Value::Null),
            ("g", list![]),
            ("g", "".into()),
            ("l", "x".into()),
            ("l", Value::B(Vec::new().into())),
        ];
        for (name, value) in values {
            let put = PutItem::new("table", key().with(name, value.clone()));
            let of_put = store.put(put).await.unwrap_err();
            let update = AttributeUpdate { value: Some(value), action: Some(AttributeAction::Put) };
            let update = attribute_updates([(name.to_owned(), update)]).unwrap().unwrap();
            let request = UpdateItem::new("table", key()).update(update);
            assert_reworded(
                store.update(request).await.unwrap_err(),
                LegacyParameters { attribute_updates: true, ..LegacyParameters::default() },
                of_put.message(),
            );
        }
    }

    #[test]
    fn only_refusals_are_reworded() {
        let all = LegacyParameters {
            attributes_to_get: true,
            query_filter: true,
            attribute_updates: true,
            unindexable: true,
        };
        let failed = all.reword(Error::condition_failed(Some(item! { "x" => 1 })));
        assert_eq!(*failed.kind(), ErrorKind::ConditionFailed { item: Some(item! { "x" => 1 }) });
        let text = "Filter Expression can only contain x";
        let kept = all.reword(Error::validation(text).with_request_id("ID"));
        assert_eq!(kept.message(), "QueryFilter can only contain x");
        assert_eq!(kept.request_id(), Some("ID"));
    }
}
