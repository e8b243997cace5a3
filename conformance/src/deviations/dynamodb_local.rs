//! DynamoDB Local 2.6.1.
//!
//! One list per family, so that rows are found and added next to their like.

use super::Deviation;

/// All rows.
pub(super) const ROWS: &[&[Deviation]] = &[
    VALUES,
    CONDITIONS,
    PROJECTIONS,
    UPDATES,
    KEY_CONDITIONS,
    WRITES,
    BATCHES,
    TRANSACTIONS,
    TOKENS,
    QUERY,
    SCAN,
    PAGINATION,
    INDEXES,
    TABLES,
    TTL,
    STREAMS,
    CAPACITY,
    DOCUMENTS,
    ENTITIES,
    LAWS,
];

const VALUES: &[Deviation] = &[
    Deviation {
        engine: "dynamodb-local",
        case: "8b",
        aws: "charges an update for what it writes with an overhead per action",
        source: "observed on AWS; undocumented",
        does: "measures the finished item alone",
        observed: "an update above its gate was accepted",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "partition-key-length-in-queries",
        aws: "checks the size of partition keys in queries too",
        source: "facebook/ThreatExchange#1324",
        does: "finds nothing",
        observed: "got success",
    },
];

const CONDITIONS: &[Deviation] = &[
    Deviation {
        engine: "dynamodb-local",
        case: "every-reserved-word",
        aws: "573 words are reserved",
        source: "Reserved words in DynamoDB",
        does: "does not reserve CONVERT, SIZE and TERMINATE",
        observed: "not refused as reserved: [\"convert\", \"size\", \"terminate\"]",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "condition-length-is-in-bytes",
        aws: "refuses an expression of more than 4 KB",
        source: "Quotas in Amazon DynamoDB, expression parameters",
        does: "counts UTF-16 code units, and reads on",
        observed: "got ValidationException: Invalid ConditionExpression: Syntax error",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "condition-placeholders-2-mb",
        aws: "takes names and values of 2 MB",
        source: "Quotas in Amazon DynamoDB, expression parameters",
        does: "refuses an expression that has more than 1 MB with its placeholders filled in",
        observed: "Invalid FilterExpression: Expression size has exceeded the maximum allowed size;",
    },
];

const PROJECTIONS: &[Deviation] = &[];

const UPDATES: &[Deviation] = &[
    Deviation {
        engine: "dynamodb-local",
        case: "update-remove-only-missing-item",
        aws: "makes no item by an update that only takes away",
        source: "API reference, AttributeValueUpdate, DELETE; observed by ScyllaDB's Alternator \
                 tests (test_returnvalues.py)",
        does: "makes an item with the key alone",
        observed: "REMOVE a returned an item",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "update-error-in-transaction",
        aws: "cancels the transaction with the reason ValidationError",
        source: "API reference, TransactWriteItems, cancellation reasons",
        does: "fails the request as a whole",
        observed: "got      ValidationException: An operand in the update expression has an \
                   incorrect data type",
    },
];

const KEY_CONDITIONS: &[Deviation] = &[];

const WRITES: &[Deviation] = &[
    Deviation {
        engine: "dynamodb-local",
        case: "write-all-new-without-item",
        aws: "returns no attributes of an item that is not there",
        source: "ScyllaDB's Alternator tests, which pass on AWS (test_returnvalues.py)",
        does: "makes an item with the key alone, and returns it",
        observed: "left: Some({\"pk\": {\"S\":\"a\"}})",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "write-updated-old-fragment",
        aws: "returns the fragment that was updated",
        source: "ScyllaDB's Alternator tests, which pass on AWS (test_returnvalues.py)",
        does: "returns the whole attribute",
        observed: "left: Some({\"m\": {\"M\":{\"a\": {\"N\":\"1\"}, \"b\": {\"M\":{\"c\": {\"N\":\"2\"}, \"d\"",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "29h",
        aws: "returns the fragment that was updated",
        source: "ScyllaDB's Alternator tests, which pass on AWS (test_returnvalues.py)",
        does: "returns the whole attribute",
        observed: "left: Some({\"m\": {\"M\":{\"a\": {\"N\":\"1\"}, \"b\": {\"M\":{\"c\": {\"N\":\"9\"}, \"d\"",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "write-updated-new-moved-up",
        aws: "returns the element that took the place",
        source: "ScyllaDB's Alternator tests, which pass on AWS (test_returnvalues.py)",
        does: "returns the whole list",
        observed: "left: Some({\"l\": {\"L\":[{\"N\":\"0\"}, {\"N\":\"2\"}]}})",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "write-updated-key-alone",
        aws: "returns no attributes",
        source: "ScyllaDB's Alternator tests, which pass on AWS (test_returnvalues.py)",
        does: "fails with 500",
        observed: "got InternalFailure",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "write-index-key-half-update",
        aws: "refuses an index key of another type",
        source: "API reference, TransactWriteItems, messages of ValidationError",
        does: "writes it",
        observed: "got success",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "write-index-key-lsi-update",
        aws: "refuses an index key of another type",
        source: "API reference, TransactWriteItems, messages of ValidationError",
        does: "writes it",
        observed: "got success",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "34b",
        aws: "refuses an index key of another type",
        source: "API reference, TransactWriteItems, messages of ValidationError",
        does: "writes it",
        observed: "got success: (\"gpk\"",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "write-index-key-computed",
        aws: "refuses an index key of another type",
        source: "API reference, TransactWriteItems, messages of ValidationError",
        does: "writes it",
        observed: "got success",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "write-index-key-size-update",
        aws: "refuses an index key that is too large",
        source: "API reference, TransactWriteItems, messages of ValidationError",
        does: "writes it",
        observed: "got success",
    },
];

const BATCHES: &[Deviation] = &[Deviation {
    engine: "dynamodb-local",
    case: "59a",
    aws: "charges 1 unit",
    source: "amazon-dynamodb-tools#25",
    does: "reports 2 units",
    observed: "1 deletes of nothing\n  left: 2.0",
}];

const TRANSACTIONS: &[Deviation] = &[
    Deviation {
        engine: "dynamodb-local",
        case: "one-item-twice-before-conditions",
        aws: "two operations on one item are a fault of the request",
        source: "Amazon DynamoDB transactions: how it works",
        does: "judges the conditions first, and in the state that the operations before have left",
        observed: "reasons [None, ConditionalCheckFailed]",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "last-update-of-the-wrong-type",
        aws: "cancels the transaction with the reason ValidationError",
        source: "API reference, TransactWriteItems, messages of the cancellation reason ValidationError",
        does: "refuses the request as a whole",
        observed: "got      ValidationException: An operand in the update expression has an incorrect data type",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "last-update-of-a-missing-attribute",
        aws: "cancels the transaction with the reason ValidationError",
        source: "API reference, TransactWriteItems, messages of the cancellation reason ValidationError",
        does: "refuses the request as a whole",
        observed: "got      ValidationException: The provided expression refers to an attribute that does not exist",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "last-update-of-a-wrong-path",
        aws: "cancels the transaction with the reason ValidationError",
        source: "API reference, TransactWriteItems, messages of the cancellation reason ValidationError",
        does: "refuses the request as a whole",
        observed: "got      ValidationException: The document path provided in the update expression is invalid",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "last-update-overflows",
        aws: "cancels the transaction with the reason ValidationError",
        source: "API reference, TransactWriteItems, messages of the cancellation reason ValidationError",
        does: "refuses the request as a whole",
        observed: "got      ValidationException: Number overflow",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "last-update-needs-39-digits",
        aws: "cancels the transaction with the reason ValidationError",
        source: "API reference, TransactWriteItems, messages of the cancellation reason ValidationError",
        does: "refuses the request as a whole",
        observed: "got      ValidationException: DynamoDB only supports precision up to 38 digits",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "last-update-nests-too-deep",
        aws: "cancels the transaction with the reason ValidationError",
        source: "API reference, TransactWriteItems, messages of the cancellation reason ValidationError",
        does: "refuses the request as a whole",
        observed: "got      ValidationException: Nesting Levels have exceeded supported limits",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "last-update-of-an-index-key-to-another-type",
        aws: "cancels the transaction with the reason ValidationError",
        source: "API reference, TransactWriteItems, messages of the cancellation reason ValidationError",
        does: "writes the item",
        observed: "got success",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "last-update-of-an-index-key-too-long",
        aws: "cancels the transaction with the reason ValidationError",
        source: "API reference, TransactWriteItems, messages of the cancellation reason ValidationError",
        does: "writes the item",
        observed: "got success",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "last-update-of-a-key-attribute",
        aws: "gives one reason per operation",
        source: "API reference, TransactWriteItems, CancellationReasons",
        does: "gives one reason, however many operations there are",
        observed: "got      TransactionCanceledException: Transaction cancelled, please refer cancellation reasons for specific reasons [ValidationError]",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "transact-get-key-of-another-type",
        aws: "gives one reason per read",
        source: "API reference, TransactGetItems, CancellationReasons",
        does: "gives the bare cause, and no reasons",
        observed: "got      TransactionCanceledException: One or more parameter values were invalid: Type mismatch for key",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "42a",
        aws: "a transactional write costs twice a plain one on the table, and once on indexes",
        source: "Amazon DynamoDB transactions: capacity management",
        does: "counts a single transactional put four times",
        observed: "(\"t0-42a\", 4.0)",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "42b",
        aws: "a transactional write costs twice a plain one on the table, and once on indexes",
        source: "Amazon DynamoDB transactions: capacity management",
        does: "counts table and index twice as often as it should",
        observed: "(\"t0-42b\", 12.0)",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "42c",
        aws: "a ConditionCheck costs 2 units",
        source: "Amazon DynamoDB transactions: capacity management",
        does: "counts 4",
        observed: "(\"t0-42c\", 4.0)",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "units-of-a-transaction-by-size",
        aws: "a transactional write costs twice a plain one on the table, and once on indexes",
        source: "Amazon DynamoDB transactions: capacity management",
        does: "counts twice as many",
        observed: "(\"t0-units-of-a-transaction-by-size\", 24.0)",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "units-of-a-transaction-by-table",
        aws: "a transactional write costs twice a plain one on the table, and once on indexes",
        source: "Amazon DynamoDB transactions: capacity management",
        does: "counts a single put of a table four times",
        observed: "(\"t0-units-of-a-transaction-by-table\", 4.0)",
    },
];

const TOKENS: &[Deviation] = &[Deviation {
    engine: "dynamodb-local",
    case: "empty-token",
    aws: "a token has one character at least",
    source: "API reference, TransactWriteItems, ClientRequestToken",
    does: "takes the empty text for a token like any other",
    observed: "expected ValidationException: …Member must have length greater than or equal to 1…",
}];

const QUERY: &[Deviation] = &[
    Deviation {
        engine: "dynamodb-local",
        case: "45a",
        aws: "the 1 MB of a page is counted before the filter",
        source: "developer guide, Query.FilterExpression and Query.Pagination",
        does: "a query counts only the items that pass the filter",
        observed: "the page ended after 10 items, of which 1 passed",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "45c",
        aws: "a page of an index ends at 1 MB of projected attributes",
        source: "developer guide, GSI (reading data) and LSI (provisioned throughput)",
        does: "it counts the whole items of the table",
        observed: "the page ended after 6 items, of which 6 passed; expected 10",
    },
];

const SCAN: &[Deviation] = &[];

const PAGINATION: &[Deviation] = &[];

const INDEXES: &[Deviation] = &[Deviation {
    engine: "dynamodb-local",
    case: "index-created-in-race",
    aws: "a table is read and written as ever while an index is added to it",
    source: "developer guide, GSI.OnlineOps",
    does: "writes fail with status 500 until the index is there",
    observed: "expected success, got InternalFailure",
}];

const TABLES: &[Deviation] = &[
    Deviation {
        engine: "dynamodb-local",
        case: "projected-per-index",
        aws: "refuses more than 20 attributes in one projection",
        source: "API reference, Projection: NonKeyAttributes",
        does: "accepts up to 100",
        observed: "got success",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "54c",
        aws: "leaves items whose attributes have another type out of a new index",
        source: "developer guide, Detecting and correcting index key violations",
        does: "puts scalars of another type into it, and never finishes if there is a NULL or a document",
        observed: "unexpected (1x): {\"gpk\": {\"N\":\"5\"}",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "name-case",
        aws: "tells table names apart by the case of their letters",
        source: "developer guide, Supported data types and naming rules",
        does: "fails inside when two names differ in nothing else",
        observed: "got InternalFailure",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "billing-by-request-with-units",
        aws: "refuses a throughput together with PAY_PER_REQUEST",
        source: "API reference, CreateTable: ProvisionedThroughput",
        does: "ignores the throughput",
        observed: "got success",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "billing-changes-indexes",
        aws: "indexes of a table paid by request have no throughput",
        source: "API reference, ProvisionedThroughput",
        does: "leaves the indexes the throughput they had",
        observed: "read_capacity_units: 3, write_capacity_units: 4",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "update-alone",
        aws: "allows one kind of change in a call",
        source: "API reference, UpdateTable",
        does: "makes both changes",
        observed: "got success",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "table-class",
        aws: "keeps the class of a table",
        source: "API reference, TableDescription: TableClassSummary",
        does: "ignores the class",
        observed: "left: None",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "encryption",
        aws: "keeps the encryption settings of a table",
        source: "API reference, TableDescription: SSEDescription",
        does: "ignores the settings",
        observed: "the table is encrypted with a key of the account",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "encryption-rules",
        aws: "refuses encryption settings that contradict each other",
        source: "awsdocs/aws-cloudformation-user-guide#1228 and #504",
        does: "ignores the settings",
        observed: "got success",
    },
];

const TTL: &[Deviation] = &[Deviation {
    engine: "dynamodb-local",
    case: "55h",
    aws: "may take up to an hour to process a change, and refuses another meanwhile",
    source: "API reference, UpdateTimeToLive",
    does: "changes the settings at any time",
    observed: "got success",
}];

const STREAMS: &[Deviation] = &[
    Deviation {
        engine: "dynamodb-local",
        case: "stream-empty-shard",
        aws: "gives the first record to an iterator that was taken before it",
        source: "aws/aws-sdk-java#2923",
        does: "refuses the iterator as trimmed once another table's stream has a record",
        observed: "TrimmedDataAccessException",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "stream-at-the-start",
        aws: "reads a shard from its first number on",
        source: "API reference, GetShardIterator, and SequenceNumberRange",
        does: "refuses the number as trimmed if another table's stream has the record",
        observed: "TrimmedDataAccessException",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "stream-page-size",
        aws: "returns up to 1 MB of records",
        source: "API reference, GetRecords",
        does: "returns up to 1000 records, whatever their sizes",
        observed: "a page of 1",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "stream-no-stream-arn",
        aws: "refuses a text that is no ARN as an invalid request",
        source: "amazon-archives/logstash-input-dynamodb#18",
        does: "looks for a stream of that name",
        observed: "ResourceNotFoundException",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "stream-list-after-no-arn",
        aws: "refuses a text that is no ARN",
        source: "API reference, ListStreams: ExclusiveStartStreamArn is an ARN",
        does: "compares the text with the ARNs of streams",
        observed: "got success",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "stream-page-after-no-shard",
        aws: "lists nothing after a shard that does not exist",
        source: "observed on AWS in 2026",
        does: "lists the shards whose ids are greater",
        observed: "after shardId-00000000000000000000-00000000",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "stream-filter-without-children",
        aws: "lists the shards whose parent is the one in the filter",
        source: "API reference, DescribeStream: ShardFilter",
        does: "does not know the filter, and lists all shards (3.3.1 knows it)",
        observed: "has no children",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "stream-filter-and-page",
        aws: "refuses a filter together with the start of a page, as DynamoDB Local 3.3.1 does",
        source: "API reference, DescribeStream: ShardFilter",
        does: "does not know the filter, and begins at the start",
        observed: "got success",
    },
];

const CAPACITY: &[Deviation] = &[
    Deviation {
        engine: "dynamodb-local",
        case: "batch-get-missing",
        aws: "charges the least unit for an item that is not there",
        source: "developer guide, DynamoDB read and write operations",
        does: "charges nothing in a batch",
        observed: "left: 0.0",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "empty-query-costs",
        aws: "charges the least unit for a read that finds nothing",
        source: "developer guide, DynamoDB read and write operations",
        does: "charges nothing",
        observed: "left: 0.0",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "index-scan-costs",
        aws: "charges for what the index carries",
        source: "developer guide, Using Global Secondary Indexes in DynamoDB",
        does: "charges for the whole items of the table",
        observed: "left: [(\"gsi\", 2.0)]",
    },
];

const DOCUMENTS: &[Deviation] = &[];

const ENTITIES: &[Deviation] = &[];

const LAWS: &[Deviation] = &[Deviation {
    engine: "dynamodb-local",
    case: "one-taker-by-old-item",
    aws: "a delete is one step, and ALL_OLD is the item as it was just before it",
    source: "API reference, DeleteItem, ReturnValues",
    does: "reads and deletes in two steps, so that several deletes get the same old item",
    observed: "the old item went to",
}];
