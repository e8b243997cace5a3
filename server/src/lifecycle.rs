//! Tables on their way from one state to another.
//!
//! A store answers when a table is ready; the service answers before, and says `CREATING`. Clients
//! count on it: they wait for the state that comes after the one they were told.

use std::sync::Arc;
use std::time::Duration;

use tabla_core::ops::{
    CreateTable, DeleteTable, DescribeTable, IndexDescription, TableDescription, TableStatus,
    UpdateTable,
};
use tabla_core::{Error, ErrorKind, Result, Store};
use tokio::time::timeout;

/// How long a change of a table may take until its answer does not wait for it any more.
const CHANGE_WAIT: Duration = Duration::from_millis(50);

pub(crate) async fn create(
    store: &Arc<dyn Store>,
    request: CreateTable,
) -> Result<TableDescription> {
    let mut table = store.create_table(request).await?;
    table.status = TableStatus::Creating;
    for index in &mut table.global_secondary_indexes {
        index.status = TableStatus::Creating;
    }
    Ok(table)
}

pub(crate) async fn delete(store: &Arc<dyn Store>, table: String) -> Result<TableDescription> {
    let mut table = store.delete_table(DeleteTable::new(table)).await?;
    table.status = TableStatus::Deleting;
    Ok(table)
}

/// Changes a table. The store fills a new index before it answers; a client is not kept waiting for
/// that, but sees it in the table's description.
pub(crate) async fn update(
    store: &Arc<dyn Store>,
    request: UpdateTable,
) -> Result<TableDescription> {
    let name = request.table.clone();
    let before = store.describe_table(DescribeTable::new(name.clone())).await.ok();
    let changing = Arc::clone(store);
    let mut change = tokio::spawn(async move { changing.update_table(request).await });
    let after = loop {
        match timeout(CHANGE_WAIT, &mut change).await {
            Ok(Ok(outcome)) => break outcome?,
            Ok(Err(_)) => {
                return Err(Error::new(ErrorKind::Unexpected, "changing the table panicked"));
            }
            Err(_) => {
                let table = store.describe_table(DescribeTable::new(name.clone())).await?;
                if table.global_secondary_indexes.iter().any(|index| index.backfilling) {
                    break table;
                }
            }
        }
    };
    Ok(updating(before, after))
}

/// A table as it is described in the moment of a change: the indexes that are new are being created,
/// and those that are gone are still there.
fn updating(before: Option<TableDescription>, mut table: TableDescription) -> TableDescription {
    table.status = TableStatus::Updating;
    let Some(before) = before else { return table };
    let has =
        |indexes: &[IndexDescription], name: &str| indexes.iter().any(|index| index.name == name);
    for index in &mut table.global_secondary_indexes {
        if !has(&before.global_secondary_indexes, &index.name) {
            index.status = TableStatus::Creating;
        }
    }
    for index in before.global_secondary_indexes {
        if !has(&table.global_secondary_indexes, &index.name) {
            table.global_secondary_indexes.push(index.status(TableStatus::Deleting));
        }
    }
    table
}
