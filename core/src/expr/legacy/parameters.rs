//! Differences in DynamoDB's errors for legacy parameters.

use std::error::Error as _;

use crate::{Error, ErrorKind};

/// Legacy parameters of a request, as far as they change the wording of a store's error.
///
/// A store only sees the converted trees, and its errors have the wording for expressions.
///
/// ```
/// use tabla::Error;
/// use tabla::backend::legacy::LegacyParameters;
///
/// let mut parameters = LegacyParameters::default();
/// parameters.attribute_updates = true;
/// let refusal = "An operand in the update expression has an incorrect data type";
/// let reworded = parameters.reword(Error::validation(refusal));
/// assert_eq!(reworded.message(), "Type mismatch for attribute to update");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LegacyParameters {
    /// Whether the request has `AttributesToGet`.
    pub attributes_to_get: bool,
    /// Whether the request has a `QueryFilter`.
    pub query_filter: bool,
    /// Whether the request has `AttributeUpdates`.
    pub attribute_updates: bool,
    /// Whether the request has `KeyConditions` that are
    /// [unindexable](super::KeyConditions::unindexable).
    pub unindexable: bool,
}

impl LegacyParameters {
    /// Returns the error with DynamoDB's wording for a request with these parameters.
    ///
    /// Most errors stay as they are.
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
        let of_put = || message_of_put(&error).filter(|_| self.attribute_updates);
        match message.or_else(of_put) {
            Some(message) => reworded(&error, message),
            None => error,
        }
    }
}

/// Returns the message that a put of the same value into an index key has, if the error carries it.
///
/// Embedded stores attach the error of the put as the source of theirs; a remote service does not.
///
/// AWS returns this message for a value of the wrong type (dynalite's tests), and DynamoDB Local
/// for an empty one.
fn message_of_put(error: &Error) -> Option<String> {
    let source = error.source()?.downcast_ref::<Error>()?;
    Some(source.message().to_owned())
}

/// Returns the error with another message and the same request ID.
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

    /// Asserts the rewording of a store's error for a request with these parameters.
    #[track_caller]
    fn assert_reworded(error: Error, wording: LegacyParameters, legacy: &str) {
        let message = error.message().to_owned();
        assert_ne!(message, legacy);
        let error = LegacyParameters::default().reword(error);
        assert_eq!(error.message(), message);
        assert_eq!(wording.reword(error).message(), legacy);
    }

    fn eq(name: &str) -> [(String, AttributeCondition); 1] {
        let values = Some(vec!["k".into()]);
        [(name.to_owned(), AttributeCondition { comparison: Some(ComparisonOperator::Eq), values })]
    }

    #[tokio::test]
    async fn errors_of_a_store_are_reworded() {
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
    async fn invalid_index_key_fails_with_the_message_of_put() {
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
    fn condition_failed_is_not_reworded() {
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
