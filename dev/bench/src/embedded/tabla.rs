//! The work on a [`Store`], called as applications call it.

use std::sync::Arc;

use tabla_core::ops::{
    BatchGetItem, BatchWriteItem, CreateTable, DeleteItem, DeleteTable, GetItem, PutItem, Query,
    SecondaryIndex, StreamSpecification, StreamViewType, TransactWriteItems, UpdateItem,
    UpdateTable,
};
use tabla_core::{Item, KeyType, Map, Store, Value};
use tokio::runtime::Handle;

use super::workload::{
    self, BATCH_GET, BATCH_WRITE, INDEX, ITEMS, PAGE, PAGES, Plain, TABLE, Workload,
};
use super::{Failure, Row};
use crate::median::Stopwatch;

/// Creates the table, and writes the initial items.
pub(crate) async fn load(store: &dyn Store) -> Result<(), Failure> {
    create(store).await?;
    fill(store, 0, ITEMS).await
}

/// Creates the table.
pub(crate) async fn create(store: &dyn Store) -> Result<(), Failure> {
    let table = CreateTable::new(TABLE)
        .partition_key("pk", KeyType::S)
        .sort_key("sk", KeyType::S)
        .attribute("shelf", KeyType::S)
        .attribute("customer", KeyType::S)
        .attribute("created", KeyType::S)
        .global_index(SecondaryIndex::new(INDEX).partition_key("shelf").sort_key("created"))
        .global_index(
            SecondaryIndex::new(workload::OTHER_INDEX)
                .partition_key("customer")
                .sort_key("created"),
        );
    store.create_table(table).await?;
    Ok(())
}

/// Enables a stream of the table.
pub(crate) async fn stream(store: &dyn Store, view: StreamViewType) -> Result<(), Failure> {
    let stream = StreamSpecification::enabled(view);
    store.update_table(UpdateTable::new(TABLE).stream(Some(stream))).await?;
    Ok(())
}

/// Deletes the table.
pub(crate) async fn unload(store: &dyn Store) -> Result<(), Failure> {
    store.delete_table(DeleteTable::new(TABLE)).await?;
    Ok(())
}

/// Does the work of a row, and deletes the items that it wrote; returns the seconds.
pub(crate) fn run(
    runtime: &Handle,
    store: &Arc<dyn Store>,
    row: &Row,
    first: u64,
) -> Result<f64, Failure> {
    let new_items = row.ops * row.operation.new_items();
    runtime.block_on(async {
        if row.operation == Workload::Delete {
            fill(&**store, first, new_items).await?;
        }
        let seconds = timed(store, row, first).await?;
        if row.operation != Workload::Delete {
            clear(&**store, first, new_items).await?;
        }
        Ok(seconds)
    })
}

/// Does the work of a row; returns the seconds.
pub(crate) async fn timed(store: &Arc<dyn Store>, row: &Row, first: u64) -> Result<f64, Failure> {
    let (operation, ops, callers) = (row.operation, row.ops, row.callers as u64);
    let watch = Stopwatch::start();
    let tasks: Vec<_> = (0..callers)
        .map(|caller| {
            let store = Arc::clone(store);
            tokio::spawn(async move {
                for step in (caller..ops).step_by(callers as usize) {
                    call(&*store, operation, step, first).await?;
                }
                Ok::<_, Failure>(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    Ok(watch.seconds())
}

async fn call(
    store: &dyn Store,
    operation: Workload,
    step: u64,
    first: u64,
) -> Result<(), Failure> {
    match operation {
        Workload::Get => {
            let found =
                store.get(GetItem::new(TABLE, key(workload::pseudo_random_item(step)))).await?;
            expect(found.item.is_some(), "the item exists")
        }
        Workload::Put => {
            store.put(PutItem::new(TABLE, item(first + step))).await?;
            Ok(())
        }
        Workload::Update => {
            store
                .update(update(workload::pseudo_random_item(step), workload::amount(first, step)))
                .await?;
            Ok(())
        }
        Workload::Delete => {
            store.delete(DeleteItem::new(TABLE, key(first + step))).await?;
            Ok(())
        }
        Workload::Query => {
            let page = store.query(query(step)).await?;
            expect(page.items.len() as u64 == PAGE, "a page is full")
        }
        Workload::IndexQuery => {
            let query = Query::new(TABLE, workload::INDEX_KEY_CONDITION)
                .index(INDEX)
                .value(":shelf", workload::shelf(workload::pseudo_random_item(step) % PAGES));
            let page = store.query(query).await?;
            expect(page.items.len() as u64 == PAGE, "a page of the index is full")
        }
        Workload::FilteredQuery => {
            let query = query(step).filter(workload::FILTER).value(":paid", true);
            let page = store.query(query).await?;
            let is_half = page.items.len() as u64 == PAGE / 2 && page.scanned_count as u64 == PAGE;
            expect(is_half, "half of the page passes the filter")
        }
        Workload::BatchWrite => {
            let start = first + step * BATCH_WRITE;
            write(store, start..start + BATCH_WRITE).await
        }
        Workload::BatchGet => {
            let keys =
                (0..BATCH_GET).map(|one| key(workload::pseudo_random_item(step * BATCH_GET + one)));
            let found = store.batch_get(BatchGetItem::new().keys(TABLE, keys)).await?;
            let count = found.responses.get(TABLE).map_or(0, Vec::len);
            expect(count as u64 == BATCH_GET, "the batch returns all items")
        }
        Workload::Transact => {
            let put = |number| PutItem::new(TABLE, item(number)).condition(workload::IS_NEW);
            let writes = TransactWriteItems::new()
                .item(put(first + 2 * step))
                .item(put(first + 2 * step + 1))
                .item(update(workload::pseudo_random_item(2 * step), workload::amount(first, step)))
                .item(update(
                    workload::pseudo_random_item(2 * step + 1),
                    workload::amount(first, step),
                ));
            store.transact_write(writes).await?;
            Ok(())
        }
    }
}

fn query(step: u64) -> Query {
    let partition = workload::partition(workload::pseudo_random_item(step) / PAGE);
    Query::new(TABLE, workload::KEY_CONDITION).value(":pk", partition)
}

fn update(number: u64, amount: i64) -> UpdateItem {
    UpdateItem::new(TABLE, key(number))
        .condition(workload::IS_PENDING)
        .update(workload::SET_AMOUNT)
        .value(":pending", workload::PENDING)
        .value(":amount", amount)
}

/// Writes items in batches.
async fn fill(store: &dyn Store, first: u64, count: u64) -> Result<(), Failure> {
    fill_with(store, count, |step| first + step).await
}

/// Writes items in batches, in the order of `number`.
pub(crate) async fn fill_with(
    store: &dyn Store,
    count: u64,
    number: impl Fn(u64) -> u64,
) -> Result<(), Failure> {
    for start in (0..count).step_by(BATCH_WRITE as usize) {
        write(store, (start..(start + BATCH_WRITE).min(count)).map(&number)).await?;
    }
    Ok(())
}

async fn write(store: &dyn Store, numbers: impl Iterator<Item = u64>) -> Result<(), Failure> {
    let put = |batch: BatchWriteItem, number| batch.put(TABLE, item(number));
    let output = store.batch_write(numbers.fold(BatchWriteItem::new(), put)).await?;
    expect(output.unprocessed_items.is_empty(), "the batch has no unprocessed items")
}

/// Deletes items in batches.
async fn clear(store: &dyn Store, first: u64, count: u64) -> Result<(), Failure> {
    for start in (first..first + count).step_by(BATCH_WRITE as usize) {
        let end = (start + BATCH_WRITE).min(first + count);
        let delete = |batch: BatchWriteItem, number| batch.delete(TABLE, key(number));
        let output = store.batch_write((start..end).fold(BatchWriteItem::new(), delete)).await?;
        expect(output.unprocessed_items.is_empty(), "the batch has no unprocessed items")?;
    }
    Ok(())
}

pub(crate) fn key(number: u64) -> Item {
    let (partition, sort) = workload::key(number);
    Item::new().with("pk", partition).with("sk", sort)
}

pub(crate) fn item(number: u64) -> Item {
    workload::item(number)
        .into_iter()
        .fold(Item::new(), |item, (name, plain)| item.with(name, value(plain)))
}

fn value(plain: Plain) -> Value {
    match plain {
        Plain::Text(text) => text.into(),
        Plain::Number(number) => number.into(),
        Plain::Flag(flag) => flag.into(),
        Plain::List(list) => Value::L(list.into_iter().map(value).collect()),
        Plain::Map(map) => Value::M(
            map.into_iter().map(|(name, plain)| (name.to_owned(), value(plain))).collect::<Map>(),
        ),
    }
}

/// Fails the measurement if a response is not the expected one.
pub(crate) fn expect(holds: bool, what: &str) -> Result<(), Failure> {
    match holds {
        true => Ok(()),
        false => Err(format!("expected that {what}").into()),
    }
}
