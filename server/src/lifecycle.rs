//! States of tables as the wire protocol reports them.
//!
//! A store returns when a table is ready. DynamoDB responds earlier, with `CREATING`, `UPDATING` or
//! `DELETING`. Clients depend on it: they wait for the state that follows the reported one.

use std::sync::Arc;
use std::time::Duration;

use tabla_core::ops::{
    CreateTable, DeleteTable, DescribeTable, IndexDescription, TableDescription, TableStatus,
    UpdateTable,
};
use tabla_core::{Error, ErrorKind, Result, Store};
use tokio::time::timeout;

/// Interval at which a running change of a table is checked for a backfill.
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

/// Changes a table. Returns before a new index is backfilled; until then the table's description
/// reports the index as `CREATING`.
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
                return Err(Error::new(
                    ErrorKind::Unexpected,
                    "the store panicked while it changed the table; report this defect of tabla",
                ));
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

/// Returns the description of a table during a change: new indexes are `CREATING`, and deleted ones
/// are still listed as `DELETING`.
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
