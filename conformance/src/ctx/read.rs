//! Reading whole tables and indexes, page by page.

use std::future::Future;
use std::panic::Location;

use tabla_core::Item;
use tabla_core::ops::{Page, Query, Scan};

use super::expect::difference;
use super::{Ctx, fail, ok_at};
use crate::table_spec::Table;

/// More pages than any case has: a cursor that goes round in a circle ends here.
const MAX_PAGES: usize = 10_000;

impl Ctx {
    /// All items of a table, read consistently to the end.
    #[track_caller]
    pub fn all_items(&self, table: &Table) -> impl Future<Output = Vec<Item>> + Send {
        self.scan_all(Scan::new(table).consistent_read(true))
    }

    /// The items of all pages of a query.
    #[track_caller]
    pub fn query_all(&self, query: Query) -> impl Future<Output = Vec<Item>> + Send {
        let at = Location::caller();
        async move { items(self.query_pages_at(at, query).await) }
    }

    /// The items of all pages of a scan.
    #[track_caller]
    pub fn scan_all(&self, scan: Scan) -> impl Future<Output = Vec<Item>> + Send {
        let at = Location::caller();
        async move { items(self.scan_pages_at(at, scan).await) }
    }

    /// All pages of a query, each begun at the `last_evaluated_key` of the one before.
    #[track_caller]
    pub fn query_pages(&self, query: Query) -> impl Future<Output = Vec<Page>> + Send {
        self.query_pages_at(Location::caller(), query)
    }

    /// All pages of a scan, each begun at the `last_evaluated_key` of the one before.
    #[track_caller]
    pub fn scan_pages(&self, scan: Scan) -> impl Future<Output = Vec<Page>> + Send {
        self.scan_pages_at(Location::caller(), scan)
    }

    /// The query must give these items, over all its pages, in this order. A read of an index
    /// that may lag is repeated until it does, up to a bound.
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

    /// The table must hold exactly these items.
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

    /// The index must hold exactly these entries, each as its projection shows it. A read that
    /// may lag is repeated until it does, up to a bound.
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

    /// How an index differs from these entries, after giving it time to catch up.
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
