//! What DynamoDB says differently to legacy parameters.

use crate::{Error, ErrorKind};

/// Which legacy parameters a request has, as far as a store's refusal has to be reworded for it.
///
/// A store sees the trees, and refuses in the words for expressions.
///
/// ```
/// use tabla::Error;
/// use tabla::expr::legacy::Wording;
///
/// let wording = Wording { attribute_updates: true, ..Wording::default() };
/// let refusal = "An operand in the update expression has an incorrect data type";
/// let reworded = wording.reword(Error::validation(refusal));
/// assert_eq!(reworded.message(), "Type mismatch for attribute to update");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wording {
    /// It has `AttributesToGet`.
    pub attributes_to_get: bool,
    /// It has a `QueryFilter`.
    pub query_filter: bool,
    /// It has `AttributeUpdates`.
    pub attribute_updates: bool,
    /// It has `KeyConditions` that are [unindexable](super::KeyConditions::unindexable).
    pub unindexable: bool,
}

impl Wording {
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
        match message {
            Some(message) => reworded(&error, message),
            None => error,
        }
    }
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
    use crate::ops::{CreateTable, PutItem, Query, Select, UpdateItem};
    use crate::{KeyType, MemoryStore, Store, item};

    /// What a store says, and what DynamoDB says to a request of this wording.
    #[track_caller]
    fn assert_reworded(error: Error, wording: Wording, legacy: &str) {
        let told = error.message().to_owned();
        assert_ne!(told, legacy);
        assert_eq!(Wording::default().reword(error).message(), told);
        assert_eq!(wording.reword(Error::validation(told)).message(), legacy);
    }

    fn eq(name: &str) -> [(String, Test); 1] {
        let values = Some(vec!["k".into()]);
        [(name.to_owned(), Test { comparison: Some(Comparison::Eq), values })]
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
            Wording { attributes_to_get: true, ..Wording::default() },
            "Cannot specify the AttributesToGet when choosing to get only the Count",
        );

        let filtered = query(eq("p").to_vec()).filter(filter(eq("p"), None).unwrap().unwrap());
        assert_reworded(
            store.query(filtered).await.unwrap_err(),
            Wording { query_filter: true, ..Wording::default() },
            "QueryFilter can only contain non-primary key attributes: Primary key attribute: p",
        );

        let there = Test { comparison: Some(Comparison::NotNull), values: None };
        assert_reworded(
            store.query(query(vec![("p".to_owned(), there)])).await.unwrap_err(),
            Wording { unindexable: true, ..Wording::default() },
            "Attempted conditional constraint is not an indexable operation",
        );

        let add = AttributeUpdate { value: Some(1.into()), action: Some(Action::Add) };
        let update = attribute_updates([("x".to_owned(), add)]).unwrap().unwrap();
        let request = UpdateItem::new("table", item! { "p" => "k" }).update(update);
        assert_reworded(
            store.update(request).await.unwrap_err(),
            Wording { attribute_updates: true, ..Wording::default() },
            "Type mismatch for attribute to update",
        );
    }

    #[test]
    fn only_refusals_are_reworded() {
        let all = Wording {
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
