//! The list of a store's operations, for the wrappers and fakes of this crate.

/// Calls a macro with the signature of every operation and its [`Operation`](crate::fault::Operation).
macro_rules! operations {
    ($callback:ident) => {
        $callback! {
            get(GetItem) -> GetItemOutput, Get;
            put(PutItem) -> WriteOutput, Put;
            update(UpdateItem) -> WriteOutput, Update;
            delete(DeleteItem) -> WriteOutput, Delete;
            query(Query) -> Page, Query;
            scan(Scan) -> Page, Scan;
            batch_get(BatchGetItem) -> BatchGetItemOutput, BatchGet;
            batch_write(BatchWriteItem) -> BatchWriteItemOutput, BatchWrite;
            transact_get(TransactGetItems) -> TransactGetItemsOutput, TransactGet;
            transact_write(TransactWriteItems) -> TransactWriteItemsOutput, TransactWrite;
            create_table(CreateTable) -> TableDescription, CreateTable;
            describe_table(DescribeTable) -> TableDescription, DescribeTable;
            update_table(UpdateTable) -> TableDescription, UpdateTable;
            delete_table(DeleteTable) -> TableDescription, DeleteTable;
            list_tables(ListTables) -> ListTablesOutput, ListTables;
            update_time_to_live(UpdateTimeToLive) -> UpdateTimeToLive, UpdateTimeToLive;
            describe_time_to_live(DescribeTimeToLive) -> TimeToLiveDescription, DescribeTimeToLive;
            tag_table(TagTable) -> (), TagTable;
            untag_table(UntagTable) -> (), UntagTable;
            list_table_tags(ListTableTags) -> Tags, ListTableTags;
            list_streams(ListStreams) -> ListStreamsOutput, ListStreams;
            describe_stream(DescribeStream) -> StreamDescription, DescribeStream;
            get_shard_iterator(GetShardIterator) -> ShardIterator, GetShardIterator;
            get_records(GetRecords) -> GetRecordsOutput, GetRecords;
        }
    };
}

pub(crate) use operations;
