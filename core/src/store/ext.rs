//! Convenience methods for callers, on top of [`Store`].

use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};

use super::retry::{RetryPolicy, RetryingStore};
use super::{Extension, Requirement, Store};
use crate::Item;
use crate::engine::ttl::not_expired;
use crate::env::{Clock, Timestamp};
use crate::error::{Error, ErrorKind, Result};
use crate::expr::{Condition, Expr};
use crate::limits;
use crate::ops::*;

/// Convenience methods for callers. Every store has them; no backend implements them.
#[async_trait]
pub trait StoreExt: Store {
    /// Reads the item with this key, consistently. `None` if there is none.
    async fn get_item(
        &self,
        table: &str,
        key: impl Into<Item> + Send + 'async_trait,
    ) -> Result<Option<Item>> {
        let request = GetItem::new(table, key).consistent_read(true);
        Ok(self.get(request).await?.item)
    }

    /// Reads the item with this key, consistently; `None` if there is none or it has expired.
    ///
    /// `attribute` holds the time of expiry in seconds since the epoch. An expired item exists
    /// until the store deletes it. Queries and scans exclude such items with the filter
    /// [`not_expired`], which defines expiry for callers.
    async fn get_unexpired(
        &self,
        table: &str,
        key: impl Into<Item> + Send + 'async_trait,
        attribute: &str,
        now: Timestamp,
    ) -> Result<Option<Item>> {
        let found = self.get_item(table, key).await?;
        Ok(found.filter(|item| not_expired(attribute, now).evaluate(item)))
    }

    /// Writes the item if this condition holds for the present one.
    ///
    /// A failed condition is a value, not an error: it returns the present item, if there is one.
    async fn put_if(
        &self,
        table: &str,
        item: impl Into<Item> + Send + 'async_trait,
        condition: impl Into<Expr<Condition>> + Send + 'async_trait,
    ) -> Result<ConditionalOutcome> {
        let request = PutItem::new(table, item).condition(condition).return_item_on_failure();
        match self.put(request).await {
            Ok(_) => Ok(ConditionalOutcome::Written),
            Err(error) if error.is_condition_failed() => match error.into_kind() {
                ErrorKind::ConditionFailed { item } => {
                    Ok(ConditionalOutcome::ConditionFailed { current: item })
                }
                kind => Err(Error::new(kind, "unexpected kind of a failed condition")),
            },
            Err(error) => Err(error),
        }
    }

    /// Streams the pages of a query. It reads a page when the stream is polled for it, and ends
    /// after the first error.
    fn query_pages(&self, request: Query) -> BoxStream<'_, Result<Page>> {
        let next = move |state: Option<Query>| async move {
            let Some(request) = state else { return Ok(None) };
            let page = self.query(request.clone()).await?;
            let rest = page
                .last_evaluated_key
                .clone()
                .map(|key| Query { exclusive_start_key: Some(key), ..request });
            Ok(Some((page, rest)))
        };
        stream::try_unfold(Some(request), next).boxed()
    }

    /// Streams the items of a query, page after page.
    ///
    /// `limit` is the size of one page, not of the whole.
    fn query_items(&self, request: Query) -> BoxStream<'_, Result<Item>> {
        items(self.query_pages(request))
    }

    /// Streams the pages of a scan. It reads a page when the stream is polled for it, and ends
    /// after the first error.
    fn scan_pages(&self, request: Scan) -> BoxStream<'_, Result<Page>> {
        let next = move |state: Option<Scan>| async move {
            let Some(request) = state else { return Ok(None) };
            let page = self.scan(request.clone()).await?;
            let rest = page
                .last_evaluated_key
                .clone()
                .map(|key| Scan { exclusive_start_key: Some(key), ..request });
            Ok(Some((page, rest)))
        };
        stream::try_unfold(Some(request), next).boxed()
    }

    /// Streams the items of a scan, page after page.
    ///
    /// `limit` is the size of one page, not of the whole.
    fn scan_items(&self, request: Scan) -> BoxStream<'_, Result<Item>> {
        items(self.scan_pages(request))
    }

    /// Reads the items with these keys, in batches of 100. Their order is undefined.
    ///
    /// Any number of keys is allowed. Unprocessed keys are sent again under `policy`. Missing items
    /// are left out.
    async fn batch_get_all(
        &self,
        table: &str,
        keys: Vec<Item>,
        policy: &RetryPolicy,
    ) -> Result<Vec<Item>> {
        self.batch_get_with(table, KeysAndAttributes { keys, ..Default::default() }, policy).await
    }

    /// Reads the items with the keys of `request`, in batches of 100, with its projection and
    /// consistency. Otherwise as [`batch_get_all`](Self::batch_get_all).
    async fn batch_get_with(
        &self,
        table: &str,
        request: KeysAndAttributes,
        policy: &RetryPolicy,
    ) -> Result<Vec<Item>> {
        let store = RetryingStore::new(self, policy.clone());
        let KeysAndAttributes { keys, projection, names, consistent_read } = request;
        let mut found = Vec::new();
        for keys in keys.chunks(limits::BATCH_GET_KEYS) {
            let request = KeysAndAttributes {
                keys: keys.to_vec(),
                projection: projection.clone(),
                names: names.clone(),
                consistent_read,
            };
            let output = store.batch_get(BatchGetItem::new().request(table, request)).await?;
            found.extend(output.responses.into_values().flatten());
        }
        Ok(found)
    }

    /// Executes writes to a table, in batches of [`Capabilities::batch_write_max`].
    ///
    /// Any number of writes is allowed. Unprocessed items are sent again under `policy`. If it
    /// fails, any part of the writes may have been made.
    ///
    /// [`Capabilities::batch_write_max`]: crate::Capabilities::batch_write_max
    async fn batch_write_all(
        &self,
        table: &str,
        writes: Vec<WriteRequest>,
        policy: &RetryPolicy,
    ) -> Result<()> {
        let store = RetryingStore::new(self, policy.clone());
        for writes in writes.chunks(self.capabilities().batch_write_max) {
            let request = BatchWriteItem {
                requests: [(table.to_owned(), writes.to_vec())].into(),
                ..BatchWriteItem::default()
            };
            store.batch_write(request).await?;
        }
        Ok(())
    }

    /// Lists the names of all tables, in ascending order.
    async fn all_tables(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        let mut request = ListTables::default();
        loop {
            let output = self.list_tables(request).await?;
            names.extend(output.table_names);
            if output.last_evaluated_table_name.is_none() {
                return Ok(names);
            }
            request = ListTables {
                exclusive_start_table_name: output.last_evaluated_table_name,
                limit: None,
            };
        }
    }

    /// Creates a table unless it exists, and waits until it is active. Returns whether this call
    /// created it.
    ///
    /// Another caller may create or delete the table at the same time. An existing table is not
    /// compared with the request. The status is polled once a second by `clock`.
    ///
    /// # Errors
    /// Those of the store; [`ErrorKind::Unavailable`] if the table is not active after 5 minutes.
    async fn create_table_if_missing(
        &self,
        request: CreateTable,
        clock: &dyn Clock,
    ) -> Result<bool> {
        super::create::create_and_wait(self, request, clock).await
    }

    /// Returns the extension of trait object `P`, such as `store.extension::<dyn Recovery>()`;
    /// `None` if neither this store nor the one that it wraps has it.
    fn extension<P: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<P>> {
        self.extension_by_id(Extension::id::<P>()).and_then(Extension::downcast)
    }

    /// Checks that the store has all of these features. Applications call it when they start.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`], naming the engine and every missing feature.
    fn require(&self, requirements: &[Requirement]) -> Result<()> {
        self.capabilities().require(requirements)
    }

    /// Wraps this store so that it retries under a policy: see [`RetryingStore`].
    fn with_retries(self, policy: RetryPolicy) -> RetryingStore<Self>
    where
        Self: Sized,
    {
        RetryingStore::new(self, policy)
    }
}

impl<S: Store + ?Sized> StoreExt for S {}

/// Outcome of [`StoreExt::put_if`].
#[derive(Clone, Debug, PartialEq)]
pub enum ConditionalOutcome {
    /// The condition held, and the item was written.
    Written,
    /// The condition failed, and nothing was written.
    ConditionFailed {
        /// Present item on which the condition failed; `None` if there is none.
        current: Option<Item>,
    },
}

fn items(pages: BoxStream<'_, Result<Page>>) -> BoxStream<'_, Result<Item>> {
    pages.map_ok(|page| stream::iter(page.items.into_iter().map(Ok))).try_flatten().boxed()
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::{KeyType, MemoryStore, attr, item};

    async fn store() -> MemoryStore {
        let store = MemoryStore::new();
        let table =
            CreateTable::new("things").partition_key("pk", KeyType::S).sort_key("sk", KeyType::N);
        store.create_table(table).await.unwrap();
        for number in 0..25 {
            let item = item! { "pk" => format!("p{}", number % 2), "sk" => number };
            store.put(PutItem::new("things", item)).await.unwrap();
        }
        store
    }

    fn numbers(items: &[Item]) -> Vec<String> {
        let number = |item: &Item| item.get("sk").and_then(|sk| sk.as_number()).unwrap();
        items.iter().map(|item| number(item).to_string()).collect()
    }

    #[tokio::test]
    async fn query_items_returns_all_pages_in_order() {
        let store = store().await;
        let query = Query::new("things", attr("pk").eq("p0")).limit(5).descending();
        let pages: Vec<Page> = store.query_pages(query.clone()).try_collect().await.unwrap();
        assert_eq!(pages.iter().map(|page| page.count).collect::<Vec<_>>(), [5, 5, 3]);
        let items: Vec<Item> = store.query_items(query).try_collect().await.unwrap();
        let expected: Vec<String> = (0..25).rev().step_by(2).map(|n| n.to_string()).collect();
        assert_eq!(numbers(&items), expected);
    }

    #[tokio::test]
    async fn page_stream_ends_after_an_error() {
        let store = store().await;
        let mut pages = store.query_pages(Query::new("missing", attr("pk").eq("p0")));
        assert!(pages.next().await.expect("an error").unwrap_err().is_not_found());
        assert!(pages.next().await.is_none());
    }

    #[tokio::test]
    async fn get_unexpired_hides_expired_items() {
        let store = store().await;
        let key = |number: i64| item! { "pk" => "x", "sk" => number };
        let (now, lasting) = (Timestamp::from_secs(100), key(1).with("until", 101));
        for item in [lasting.clone(), key(2).with("until", 100), key(3)] {
            store.put(PutItem::new("things", item)).await.unwrap();
        }
        let found = async |number| store.get_unexpired("things", key(number), "until", now).await;
        assert_eq!(found(1).await.unwrap(), Some(lasting));
        assert_eq!(found(2).await.unwrap(), None);
        assert_eq!(found(3).await.unwrap(), Some(key(3)));
        assert_eq!(found(4).await.unwrap(), None);
    }

    #[tokio::test]
    async fn put_if_returns_a_failed_condition_as_a_value() {
        let store = store().await;
        let first = item! { "pk" => "x", "sk" => 1, "by" => "ana" };
        let second = item! { "pk" => "x", "sk" => 1, "by" => "eva" };
        let absent = attr("pk").not_exists();
        let outcome = store.put_if("things", first.clone(), absent.clone()).await.unwrap();
        assert_eq!(outcome, ConditionalOutcome::Written);
        let outcome = store.put_if("things", second, absent).await.unwrap();
        assert_eq!(outcome, ConditionalOutcome::ConditionFailed { current: Some(first) });
    }
}
