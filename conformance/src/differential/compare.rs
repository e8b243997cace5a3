//! Execution of one history on two stores, and comparison of the responses.

use std::fmt;
use std::time::Duration;

use futures::TryStreamExt;
use tabla_core::env::{Clock, SystemClock};
use tabla_core::ops::*;
use tabla_core::{Error, ErrorKind, Item, Result, Store, StoreExt, assign};

use super::history::{History, HistoryOperation, TABLE};
use super::known::KnownDeviations;
use super::records;
use crate::wording;

/// Difference between two stores on one operation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// Operation, or the name of the contents that were compared at the end.
    pub asked: String,
    /// Response of the specification.
    pub expected: String,
    /// Response of the compared store.
    pub actual: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { asked, expected, actual } = self;
        write!(f, "{asked}\n  specification: {expected}\n  compared:      {actual}")
    }
}

/// Number of repetitions of a read of a lagging index or stream; [`LAG_WAIT`] is the pause
/// between two.
pub(super) const LAG_ATTEMPTS: u32 = 40;
pub(super) const LAG_WAIT: Duration = Duration::from_millis(25);

/// Executes a history on both stores, which must be fresh.
///
/// # Errors
/// The first difference.
pub async fn compare(
    specification: &dyn Store,
    compared: &dyn Store,
    history: &History,
    known: KnownDeviations,
) -> Result<(), Difference> {
    let create = history.shape.create(TABLE);
    let create = match history.stream {
        Some(view_type) => create.stream(view_type),
        None => create,
    };
    for store in [specification, compared] {
        store.create_table(create.clone()).await.map_err(|error| Difference {
            asked: format!("{create:?}"),
            expected: "a table".to_owned(),
            actual: format!("{error:?}"),
        })?;
    }
    for operation in &history.operations {
        let expected = respond(specification, history, operation).await;
        let mut actual = respond(compared, history, operation).await;
        let mut attempts = LAG_ATTEMPTS;
        while reads_index(operation)
            && !agree(history, operation, &expected, &actual, known)
            && compared.capabilities().index_reads_lag
            && attempts > 0
        {
            SystemClock.sleep(LAG_WAIT).await;
            actual = respond(compared, history, operation).await;
            attempts -= 1;
        }
        check(history, operation, &expected, &actual, known)?;
    }
    let sources = std::iter::once(None)
        .chain(history.shape.indexes.iter().map(|index| Some(index.name.to_owned())));
    for index in sources {
        let scan = Scan::new(TABLE).consistent_read(index.is_none());
        let operation = HistoryOperation::Scan(assign!(scan, { index }));
        let expected = respond(specification, history, &operation).await;
        let mut actual = respond(compared, history, &operation).await;
        for _ in 0..LAG_ATTEMPTS {
            if agree(history, &operation, &expected, &actual, known)
                || !compared.capabilities().index_reads_lag
            {
                break;
            }
            SystemClock.sleep(LAG_WAIT).await;
            actual = respond(compared, history, &operation).await;
        }
        check(history, &operation, &expected, &actual, known)?;
    }
    if history.stream.is_some() {
        records::compare(specification, compared).await?;
    }
    let _ = compared.delete_table(DeleteTable::new(TABLE)).await;
    Ok(())
}

fn check(
    history: &History,
    operation: &HistoryOperation,
    expected: &Result<Response>,
    actual: &Result<Response>,
    known: KnownDeviations,
) -> Result<(), Difference> {
    if agree(history, operation, expected, actual, known) {
        return Ok(());
    }
    Err(Difference {
        asked: format!("{operation:?}"),
        expected: shown(expected),
        actual: shown(actual),
    })
}

fn shown(result: &Result<Response>) -> String {
    match result {
        Ok(response) => format!("{response:?}"),
        Err(error) => format!("{error} {:?}", error.kind()),
    }
}

fn reads_index(operation: &HistoryOperation) -> bool {
    match operation {
        HistoryOperation::Query(query) => query.index.is_some(),
        HistoryOperation::Scan(scan) => scan.index.is_some(),
        _ => false,
    }
}

/// Normalized response.
#[derive(Debug, PartialEq)]
pub(super) enum Response {
    /// Item that a read or write of one item returned.
    Item(Option<Item>),
    /// Pages of a query on the table: items, `Count` and `ScannedCount` of each.
    Pages(Vec<(Vec<Item>, usize, usize)>),
    /// All items of an index, grouped by sort key in its order; each group is sorted.
    Ordered(Vec<Vec<Item>>),
    /// Items whose order is not defined, sorted.
    Items(Vec<Item>),
    /// Items of a transactional read, in the order of the request.
    Several(Vec<Option<Item>>),
    /// Success without data.
    Done,
}

fn agree(
    history: &History,
    operation: &HistoryOperation,
    expected: &Result<Response>,
    actual: &Result<Response>,
    known: KnownDeviations,
) -> bool {
    match (expected, actual) {
        (Ok(expected), Ok(actual)) => expected == actual,
        (Err(expected), Err(actual)) => {
            same_error(expected, actual) || known.excuses(history, operation, expected, actual)
        }
        _ => false,
    }
}

fn same_error(expected: &Error, actual: &Error) -> bool {
    if expected.code() != actual.code() {
        return false;
    }
    match (expected.kind(), actual.kind()) {
        (
            ErrorKind::TransactionCanceled { reasons: expected },
            ErrorKind::TransactionCanceled { reasons: actual },
        ) => {
            expected.len() == actual.len()
                && expected.iter().zip(actual).all(|(expected, actual)| {
                    expected.code == actual.code
                        && expected.item == actual.item
                        && wording::same(
                            expected.message.as_deref().unwrap_or_default(),
                            actual.message.as_deref().unwrap_or_default(),
                        )
                })
        }
        (expected_kind, actual_kind) => {
            expected_kind == actual_kind && wording::same(expected.message(), actual.message())
        }
    }
}

pub(super) async fn respond(
    store: &dyn Store,
    history: &History,
    operation: &HistoryOperation,
) -> Result<Response> {
    Ok(match operation.clone() {
        HistoryOperation::Get(request) => Response::Item(store.get(request).await?.item),
        HistoryOperation::Put(request) => Response::Item(store.put(request).await?.attributes),
        HistoryOperation::Update(request) => {
            Response::Item(store.update(request).await?.attributes)
        }
        HistoryOperation::Delete(request) => {
            Response::Item(store.delete(request).await?.attributes)
        }
        HistoryOperation::Query(request) => query(store, history, request).await?,
        HistoryOperation::Scan(request) => {
            Response::Items(sorted(store.scan_items(request).try_collect().await?))
        }
        HistoryOperation::BatchGet(request) => {
            let output = store.batch_get(request).await?;
            Response::Items(sorted(output.responses.into_values().flatten().collect()))
        }
        HistoryOperation::BatchWrite(request) => {
            store.batch_write(request).await?;
            Response::Done
        }
        HistoryOperation::TransactGet(request) => {
            Response::Several(store.transact_get(request).await?.responses)
        }
        HistoryOperation::TransactWrite(request) => {
            store.transact_write(request).await?;
            Response::Done
        }
    })
}

async fn query(store: &dyn Store, history: &History, request: Query) -> Result<Response> {
    let sort = request.index.as_ref().map(|name| {
        let index = history.shape.indexes.iter().find(|index| index.name == name);
        index.and_then(|index| index.sort).map(|(name, _)| name)
    });
    let pages: Vec<Page> = store.query_pages(request).try_collect().await?;
    let Some(sort) = sort else {
        let mut pages: Vec<_> =
            pages.into_iter().map(|page| (page.items, page.count, page.scanned_count)).collect();
        // The page after a LastEvaluatedKey may be empty.
        if pages.len() > 1 && pages.last().is_some_and(|(_, _, scanned)| *scanned == 0) {
            pages.pop();
        }
        return Ok(Response::Pages(pages));
    };
    let mut groups: Vec<Vec<Item>> = Vec::new();
    let value = |item: &Item| sort.and_then(|name| item.get(name)).map(|value| value.to_value());
    for item in pages.into_iter().flat_map(|page| page.items) {
        match groups.last_mut() {
            Some(group) if value(&group[0]) == value(&item) => group.push(item),
            _ => groups.push(vec![item]),
        }
    }
    Ok(Response::Ordered(groups.into_iter().map(sorted).collect()))
}

fn sorted(mut items: Vec<Item>) -> Vec<Item> {
    items.sort_by_key(Item::encode);
    items
}
