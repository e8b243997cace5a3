//! What callers use on top of [`Store`].

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

/// Conveniences for callers. Every store has them; no backend implements them.
#[async_trait]
pub trait StoreExt: Store {
    /// The item with this key, seeing every write answered before.
    async fn get_item(
        &self,
        table: &str,
        key: impl Into<Item> + Send + 'async_trait,
    ) -> Result<Option<Item>> {
        let request = GetItem::new(table, key).consistent_read(true);
        Ok(self.get(request).await?.item)
    }

    /// The item with this key, seeing every write answered before, unless its time has come by this
    /// attribute: an expired item is there until the store deletes it. Queries and scans leave such
    /// items out by [`not_expired`], which says what that means.
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

    /// Writes the item only if this condition holds of the present one. A lost condition is a
    /// value, not an error: the present item, if there is one.
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

    /// The pages of a query, one after another.
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

    /// The items of a query, page after page. `limit` is the size of a page, not of the whole.
    fn query_items(&self, request: Query) -> BoxStream<'_, Result<Item>> {
        items(self.query_pages(request))
    }

    /// The pages of a scan, one after another.
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

    /// The items of a scan, page after page. `limit` is the size of a page, not of the whole.
    fn scan_items(&self, request: Scan) -> BoxStream<'_, Result<Item>> {
        items(self.scan_pages(request))
    }

    /// The items of a scan that reads this many segments at the same time.
    fn parallel_scan_items(&self, request: Scan, segments: i32) -> BoxStream<'_, Result<Item>> {
        let parts = (0..segments.max(1))
            .map(|segment| self.scan_items(request.clone().segment(segment, segments.max(1))));
        stream::select_all(parts).boxed()
    }

    /// The items with these keys, however many, in no particular order. Unprocessed keys are
    /// asked for again by the policy.
    async fn batch_get_all(
        &self,
        table: &str,
        keys: Vec<Item>,
        policy: &RetryPolicy,
    ) -> Result<Vec<Item>> {
        self.batch_get_with(table, KeysAndAttributes { keys, ..Default::default() }, policy).await
    }

    /// The same, with what the request says of attributes and consistency.
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

    /// Makes these writes to a table, however many. Unprocessed items are sent again by the
    /// policy. If it fails, some may have been made and others not.
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

    /// The names of all tables.
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

    /// Creates a table unless it exists, and waits until it can be used, also while another caller
    /// creates or deletes it. Returns whether this call created it. An existing table is not compared
    /// with the request.
    ///
    /// # Errors
    /// Those of the store; [`ErrorKind::Unavailable`] if the table cannot be used after 5 minutes.
    async fn create_table_if_missing(
        &self,
        request: CreateTable,
        clock: &dyn Clock,
    ) -> Result<bool> {
        super::create::create_and_wait(self, request, clock).await
    }

    /// The power of this trait, if the store or what it wraps has it: `store.extension::<dyn Recovery>()`.
    fn extension<P: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<P>> {
        self.extension_by_id(Extension::id::<P>()).and_then(Extension::downcast)
    }

    /// Refuses a store that lacks any of these. Apps call it when they start.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`], naming everything that is missing.
    fn require(&self, requirements: &[Requirement]) -> Result<()> {
        self.capabilities().require(requirements)
    }

    /// This store, trying again by a policy whatever may succeed later.
    fn with_retries(self, policy: RetryPolicy) -> RetryingStore<Self>
    where
        Self: Sized,
    {
        RetryingStore::new(self, policy)
    }
}

impl<S: Store + ?Sized> StoreExt for S {}

/// What became of a write with a condition.
#[derive(Clone, Debug, PartialEq)]
pub enum ConditionalOutcome {
    /// The condition held, and the write was made.
    Written,
    /// The condition did not hold, and nothing was written.
    ConditionFailed {
        /// The item that stood in the way, if there is one.
        current: Option<Item>,
    },
}

fn items(pages: BoxStream<'_, Result<Page>>) -> BoxStream<'_, Result<Item>> {
    pages.map_ok(|page| stream::iter(page.items.into_iter().map(Ok))).try_flatten().boxed()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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
    async fn a_query_goes_on_to_its_end_in_order() {
        let store = store().await;
        let query = Query::new("things", attr("pk").eq("p0")).limit(5).descending();
        let pages: Vec<Page> = store.query_pages(query.clone()).try_collect().await.unwrap();
        assert_eq!(pages.iter().map(|page| page.count).collect::<Vec<_>>(), [5, 5, 3]);
        let items: Vec<Item> = store.query_items(query).try_collect().await.unwrap();
        let expected: Vec<String> = (0..25).rev().step_by(2).map(|n| n.to_string()).collect();
        assert_eq!(numbers(&items), expected);
    }

    #[tokio::test]
    async fn a_parallel_scan_finds_each_item_once() {
        let store = store().await;
        for segments in [1, 2, 7] {
            let scan = Scan::new("things").limit(2);
            let items: Vec<Item> =
                store.parallel_scan_items(scan, segments).try_collect().await.unwrap();
            assert_eq!(items.len(), 25, "{segments} segments");
            assert_eq!(numbers(&items).into_iter().collect::<BTreeSet<_>>().len(), 25);
        }
    }

    #[tokio::test]
    async fn an_error_ends_a_stream() {
        let store = store().await;
        let mut pages = store.query_pages(Query::new("missing", attr("pk").eq("p0")));
        assert!(pages.next().await.expect("an error").unwrap_err().is_not_found());
        assert!(pages.next().await.is_none());
    }

    #[tokio::test]
    async fn what_has_expired_is_not_found() {
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
    async fn a_lost_condition_is_a_value() {
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
