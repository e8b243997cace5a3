//! Reads of whole tables and indexes, page by page.

use std::future::Future;
use std::panic::Location;

use tabla_core::Item;
use tabla_core::ops::{Page, Query, Scan};

use super::expect::difference;
use super::{Ctx, fail, ok_at};
use crate::table_spec::Table;

/// Upper limit on the pages of one read: a cursor that cycles fails the case here.
const MAX_PAGES: usize = 10_000;

impl Ctx {
    /// Reads all items of a table, consistently.
    #[track_caller]
    pub fn all_items(&self, table: &Table) -> impl Future<Output = Vec<Item>> + Send {
        self.scan_all(Scan::new(table).consistent_read(true))
    }

    /// Reads the items of all pages of a query.
    #[track_caller]
    pub fn query_all(&self, query: Query) -> impl Future<Output = Vec<Item>> + Send {
        let at = Location::caller();
        async move { items(self.query_pages_at(at, query).await) }
    }

    /// Reads the items of all pages of a scan.
    #[track_caller]
    pub fn scan_all(&self, scan: Scan) -> impl Future<Output = Vec<Item>> + Send {
        let at = Location::caller();
        async move { items(self.scan_pages_at(at, scan).await) }
    }

    /// Reads all pages of a query, each starting at the `last_evaluated_key` of the one before.
    #[track_caller]
    pub fn query_pages(&self, query: Query) -> impl Future<Output = Vec<Page>> + Send {
        self.query_pages_at(Location::caller(), query)
    }

    /// Reads all pages of a scan, each starting at the `last_evaluated_key` of the one before.
    #[track_caller]
    pub fn scan_pages(&self, scan: Scan) -> impl Future<Output = Vec<Page>> + Send {
        self.scan_pages_at(Location::caller(), scan)
    }

    /// Asserts that the query returns these items, over all its pages, in this order. A read of an
    /// index that may lag is repeated for about 10 seconds.
    #[track_caller]
    pub fn expect_query<'a>(
        &'a self,
        query: Query,
        expected: &'a [Item],
    ) -> impl Future<Output = ()> + Send + 'a {
        let at = Location::caller();
        async move {
            let lags = query.index.is_some() && self.capabilities().index_reads_lag;
            let read = || async {
                let items = items(self.query_pages_at(at, query.clone()).await);
                (items == expected).then_some(())
            };
            let found = if lags { self.poll(read).await } else { read().await };
            if found.is_none() {
                let actual = items(self.query_pages_at(at, query.clone()).await);
                let text = difference(&actual, expected)
                    .unwrap_or_else(|| format!("the order is {actual:#?}\nexpected {expected:#?}"));
                fail(at, text);
            }
        }
    }

    /// Asserts that the table holds exactly these items, in any order.
    #[track_caller]
    pub fn expect_table<'a>(
        &'a self,
        table: &'a Table,
        expected: &'a [Item],
    ) -> impl Future<Output = ()> + Send + 'a {
        let at = Location::caller();
        async move {
            self.expect_table_at(at, table, expected).await;
        }
    }

    pub(super) async fn expect_table_at(
        &self,
        at: &Location<'_>,
        table: &Table,
        expected: &[Item],
    ) {
        let actual = self.scan_items_at(at, Scan::new(table).consistent_read(true)).await;
        if let Some(difference) = difference(&actual, expected) {
            fail(at, format_args!("the table {table}: {difference}"));
        }
    }

    pub(super) async fn scan_items_at(&self, at: &Location<'_>, scan: Scan) -> Vec<Item> {
        items(self.scan_pages_at(at, scan).await)
    }

    /// Asserts that the index holds exactly these entries, as projected, in any order. A read of
    /// an index that may lag is repeated for about 10 seconds.
    #[track_caller]
    pub fn expect_index<'a>(
        &'a self,
        table: &'a Table,
        index: &'a str,
        expected: &'a [Item],
    ) -> impl Future<Output = ()> + Send + 'a {
        let at = Location::caller();
        async move {
            if let Some(difference) = self.index_difference(at, table, index, expected).await {
                fail(at, format_args!("the index {index} of {table}: {difference}"));
            }
        }
    }

    /// Difference between an index and these entries, after the index had time to catch up.
    pub(super) async fn index_difference(
        &self,
        at: &Location<'_>,
        table: &Table,
        index: &str,
        expected: &[Item],
    ) -> Option<String> {
        let read = || self.scan_items_at(at, Scan::new(table).index(index));
        if self.capabilities().index_reads_lag {
            let same = || async { difference(&read().await, expected).is_none().then_some(()) };
            if self.poll(same).await.is_some() {
                return None;
            }
        }
        difference(&read().await, expected)
    }

    async fn query_pages_at(&self, at: &Location<'_>, query: Query) -> Vec<Page> {
        let store = self.store();
        let mut pages: Vec<Page> = Vec::new();
        let mut next = query;
        while pages.len() < MAX_PAGES {
            let page = ok_at(at, store.query(next.clone()).await);
            next.exclusive_start_key = page.last_evaluated_key.clone();
            pages.push(page);
            if next.exclusive_start_key.is_none() {
                return pages;
            }
        }
        fail(at, format_args!("the query does not end after {MAX_PAGES} pages"))
    }

    async fn scan_pages_at(&self, at: &Location<'_>, scan: Scan) -> Vec<Page> {
        let store = self.store();
        let mut pages: Vec<Page> = Vec::new();
        let mut next = scan;
        while pages.len() < MAX_PAGES {
            let page = ok_at(at, store.scan(next.clone()).await);
            next.exclusive_start_key = page.last_evaluated_key.clone();
            pages.push(page);
            if next.exclusive_start_key.is_none() {
                return pages;
            }
        }
        fail(at, format_args!("the scan does not end after {MAX_PAGES} pages"))
    }
}

fn items(pages: Vec<Page>) -> Vec<Item> {
    pages.into_iter().flat_map(|page| page.items).collect()
}
