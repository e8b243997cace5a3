//! From a request to its answer, operation by operation.

use std::sync::Arc;

use tabla_core::ops::{self, Select};
use tabla_core::{Error, ErrorKind, Result, Store};

use crate::fault::UNKNOWN_OPERATION;
use crate::lifecycle;
use crate::load::Load;
use crate::operation::{Operation, State};
use crate::read::{self, Members};
use crate::write::{self, TABLE, TABLE_DESCRIPTION};

/// Carries a request out; the text of its answer. `host` is where the client has reached the server.
pub(crate) async fn run(
    store: &Arc<dyn Store>,
    load: &Load,
    operation: Operation,
    body: &[u8],
    host: &str,
) -> Result<Vec<u8>> {
    if let State::Refused(why) = operation.state() {
        return Err(refused(operation, why));
    }
    let members = &Members::of_request(operation, body)?;
    let _trees = load.hold_trees(body.len(), || read::trees(operation, body.len(), members))?;
    let outcome = carry_out(store, operation, members, host).await;
    outcome.map_err(|error| read::reworded(members, error))
}

async fn carry_out(
    store: &Arc<dyn Store>,
    operation: Operation,
    members: &Members<'_>,
    host: &str,
) -> Result<Vec<u8>> {
    use Operation::*;

    Ok(match operation {
        GetItem => write::get(&store.get(read::get(members)?).await?),
        PutItem => write::write(&store.put(read::put(members)?).await?),
        UpdateItem => write::write(&store.update(read::update(members)?).await?),
        DeleteItem => write::write(&store.delete(read::delete(members)?).await?),
        Query => {
            let request = read::query(members)?;
            let only_counts = request.select == Some(Select::Count);
            write::page(&store.query(request).await?, only_counts)
        }
        Scan => {
            let request = read::scan(members)?;
            let only_counts = request.select == Some(Select::Count);
            write::page(&store.scan(request).await?, only_counts)
        }
        BatchGetItem => write::batch_get(&store.batch_get(read::batch_get(members)?).await?),
        BatchWriteItem => {
            write::batch_write(&store.batch_write(read::batch_write(members)?).await?)
        }
        TransactGetItems => {
            write::transact_get(&store.transact_get(read::transact_get(members)?).await?)
        }
        TransactWriteItems => {
            write::transact_write(&store.transact_write(read::transact_write(members)?).await?)
        }
        CreateTable => {
            let table = lifecycle::create(store, read::create_table(members)?).await?;
            write::described(TABLE_DESCRIPTION, &table)
        }
        UpdateTable => {
            let table = lifecycle::update(store, read::update_table(members)?).await?;
            write::described(TABLE_DESCRIPTION, &table)
        }
        DeleteTable => {
            let table = lifecycle::delete(store, read::table_only(members)?).await?;
            write::described(TABLE_DESCRIPTION, &table)
        }
        DescribeTable => {
            let request = ops::DescribeTable::new(read::table_only(members)?);
            write::described(TABLE, &store.describe_table(request).await?)
        }
        ListTables => write::tables(&store.list_tables(read::list_tables(members)?).await?),
        UpdateTimeToLive => {
            let request = read::update_time_to_live(members)?;
            write::time_to_live_set(&store.update_time_to_live(request).await?)
        }
        DescribeTimeToLive => {
            let request = ops::DescribeTimeToLive::new(read::table_only(members)?);
            write::time_to_live(&store.describe_time_to_live(request).await?)
        }
        TagResource => {
            store.tag_table(read::tag(members)?).await?;
            Vec::new()
        }
        UntagResource => {
            store.untag_table(read::untag(members)?).await?;
            Vec::new()
        }
        ListTagsOfResource => write::tags(&store.list_table_tags(read::list_tags(members)?).await?),
        DescribeContinuousBackups => {
            backed_up(store, read::table_only(members)?).await?;
            write::continuous_backups()
        }
        UpdateContinuousBackups => {
            backed_up(store, read::update_continuous_backups(members)?).await?;
            write::continuous_backups()
        }
        DescribeLimits => write::limits(),
        DescribeEndpoints => write::endpoints(host),
        ListStreams => write::streams(&store.list_streams(read::list_streams(members)?).await?),
        DescribeStream => {
            write::stream(&store.describe_stream(read::describe_stream(members)?).await?)
        }
        GetShardIterator => {
            let request = read::get_shard_iterator(members)?;
            write::shard_iterator(&store.get_shard_iterator(request).await?)
        }
        GetRecords => write::records(&store.get_records(read::get_records(members)?).await?),
        _ => return Err(refused(operation, "it is not known here")),
    })
}

fn refused(operation: Operation, why: &str) -> Error {
    Error::unsupported(format!("{} is not offered by this server: {why}", operation.as_str()))
        .with_code(UNKNOWN_OPERATION)
}

/// Operations on backups have a name of their own for a table that there is not.
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
