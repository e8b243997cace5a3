//! Dispatch of an operation: parses its request, calls the store, writes its response.
//!
//! Parsers are in `request`, writers in `response`. Errors become JSON in `error_response`.

use std::sync::Arc;

use tabla_core::ops::{self, Select};
use tabla_core::{Error, ErrorKind, Result, Store};

use crate::admission::WorkingMemory;
use crate::error_response::UNKNOWN_OPERATION;
use crate::lifecycle;
use crate::operation::{Operation, Support};
use crate::request::{self, Members};
use crate::response::{self, TABLE, TABLE_DESCRIPTION};
use crate::working_memory::NeedsMemory;

/// Executes an operation and returns the JSON text of its response. `host` is the `Host` header of
/// the request, for DescribeEndpoints. Takes the working memory of the operation.
pub(crate) async fn dispatch(
    store: &Arc<dyn Store>,
    memory: &mut WorkingMemory<'_>,
    operation: Operation,
    body: &[u8],
    host: &str,
) -> Result<Vec<u8>> {
    if let Support::Refused(why) = operation.support() {
        return Err(refused(operation, why));
    }
    let members = &Members::of_request(operation, body)?;
    let trees = || request::trees(operation, body.len(), members);
    let _trees = memory.load().reserve_parsed(body.len(), trees)?;
    let outcome = call_store(store, memory, operation, members, host).await;
    outcome.map_err(|error| request::reworded(members, error))
}

async fn call_store(
    store: &Arc<dyn Store>,
    memory: &mut WorkingMemory<'_>,
    operation: Operation,
    members: &Members<'_>,
    host: &str,
) -> Result<Vec<u8>> {
    use Operation::*;

    /// Calls the store with a request that the parser returns, after its working memory is taken.
    macro_rules! call {
        ($method:ident, $parser:path) => {{
            let request = $parser(members)?;
            memory.take(request.working_memory()).await?;
            store.$method(request).await?
        }};
    }

    Ok(match operation {
        GetItem => response::get(&call!(get, request::get)),
        PutItem => response::write(&call!(put, request::put)),
        UpdateItem => response::write(&call!(update, request::update)),
        DeleteItem => response::write(&call!(delete, request::delete)),
        Query => {
            let request = request::query(members)?;
            memory.take(request.working_memory()).await?;
            let only_counts = request.select == Some(Select::Count);
            response::page(&store.query(request).await?, only_counts)
        }
        Scan => {
            let request = request::scan(members)?;
            memory.take(request.working_memory()).await?;
            let only_counts = request.select == Some(Select::Count);
            response::page(&store.scan(request).await?, only_counts)
        }
        BatchGetItem => response::batch_get(&call!(batch_get, request::batch_get)),
        BatchWriteItem => {
            response::batch_write(&store.batch_write(request::batch_write(members)?).await?)
        }
        TransactGetItems => response::transact_get(&call!(transact_get, request::transact_get)),
        TransactWriteItems => {
            response::transact_write(&call!(transact_write, request::transact_write))
        }
        CreateTable => {
            let table = lifecycle::create(store, request::create_table(members)?).await?;
            response::described(TABLE_DESCRIPTION, &table)
        }
        UpdateTable => {
            let table = lifecycle::update(store, request::update_table(members)?).await?;
            response::described(TABLE_DESCRIPTION, &table)
        }
        DeleteTable => {
            let table = lifecycle::delete(store, request::table_only(members)?).await?;
            response::described(TABLE_DESCRIPTION, &table)
        }
        DescribeTable => {
            let request = ops::DescribeTable::new(request::table_only(members)?);
            response::described(TABLE, &store.describe_table(request).await?)
        }
        ListTables => response::tables(&store.list_tables(request::list_tables(members)?).await?),
        UpdateTimeToLive => {
            let request = request::update_time_to_live(members)?;
            response::time_to_live_set(&store.update_time_to_live(request).await?)
        }
        DescribeTimeToLive => {
            let request = ops::DescribeTimeToLive::new(request::table_only(members)?);
            response::time_to_live(&store.describe_time_to_live(request).await?)
        }
        TagResource => {
            store.tag_table(request::tag(members)?).await?;
            Vec::new()
        }
        UntagResource => {
            store.untag_table(request::untag(members)?).await?;
            Vec::new()
        }
        ListTagsOfResource => {
            response::tags(&store.list_table_tags(request::list_tags(members)?).await?)
        }
        DescribeContinuousBackups => {
            backed_up(store, request::table_only(members)?).await?;
            response::continuous_backups()
        }
        UpdateContinuousBackups => {
            backed_up(store, request::update_continuous_backups(members)?).await?;
            response::continuous_backups()
        }
        DescribeLimits => response::limits(),
        DescribeEndpoints => response::endpoints(host),
        ListStreams => {
            response::streams(&store.list_streams(request::list_streams(members)?).await?)
        }
        DescribeStream => {
            response::stream(&store.describe_stream(request::describe_stream(members)?).await?)
        }
        GetShardIterator => {
            let request = request::get_shard_iterator(members)?;
            response::shard_iterator(&store.get_shard_iterator(request).await?)
        }
        GetRecords => response::records(&call!(get_records, request::get_records)),
        _ => return Err(refused(operation, "it is not implemented")),
    })
}

fn refused(operation: Operation, why: &str) -> Error {
    Error::unsupported(format!("{} is not supported by this server: {why}", operation.as_str()))
        .with_code(UNKNOWN_OPERATION)
}

/// Checks that the table exists. For a missing table, operations on backups have another error code
/// than operations on tables.
async fn backed_up(store: &Arc<dyn Store>, table: String) -> Result<()> {
    match store.describe_table(ops::DescribeTable::new(table.clone())).await {
        Ok(_) => Ok(()),
        Err(error) if error.is_not_found() => {
            Err(Error::new(ErrorKind::NotFound, format!("Table not found: {table}"))
                .with_code("TableNotFoundException"))
        }
        Err(error) => Err(error),
    }
}
