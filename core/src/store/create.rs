//! Creation of a table that other callers may create or delete at the same time.

use std::time::Duration;

use super::Store;
use crate::env::Clock;
use crate::error::{Error, ErrorKind, Result};
use crate::ops::{CreateTable, DescribeTable, TableStatus};

/// Longest wait for a table to become active.
const LIMIT: Duration = Duration::from_secs(300);

/// Time between two polls of the status of a table.
const PAUSE: Duration = Duration::from_secs(1);

/// Creates a table unless it exists, and waits until it is active. Returns whether this call
/// created it.
pub(super) async fn create_and_wait<S: Store + ?Sized>(
    store: &S,
    request: CreateTable,
    clock: &dyn Clock,
) -> Result<bool> {
    let name = request.table.clone();
    let end = clock.now() + LIMIT;
    let mut is_new = false;
    loop {
        let mut status = match store.create_table(request.clone()).await {
            Ok(description) => {
                is_new = true;
                Some(description.status)
            }
            Err(error) if matches!(error.kind(), ErrorKind::InUse) => status(store, &name).await?,
            Err(error) => return Err(error),
        };
        // A table that disappears during the wait was being deleted: create it again.
        while let Some(present) = status {
            if matches!(present, TableStatus::Active | TableStatus::Updating) {
                return Ok(is_new);
            }
            if clock.now() >= end {
                return Err(overdue(&name, present.as_str()));
            }
            clock.sleep(PAUSE).await;
            status = self::status(store, &name).await?;
        }
        if clock.now() >= end {
            return Err(overdue(&name, "in use and missing"));
        }
        clock.sleep(PAUSE).await;
    }
}

/// Reads the status of a table; `None` if there is no such table.
async fn status<S: Store + ?Sized>(store: &S, name: &str) -> Result<Option<TableStatus>> {
    match store.describe_table(DescribeTable::new(name)).await {
        Ok(description) => Ok(Some(description.status)),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error),
    }
}

fn overdue(name: &str, status: &str) -> Error {
    Error::new(
        ErrorKind::Unavailable,
        format!(
            "table `{name}` is still {status} after {} s; check it with describe_table",
            LIMIT.as_secs()
        ),
    )
}
