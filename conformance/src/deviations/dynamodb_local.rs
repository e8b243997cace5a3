//! Deviations of DynamoDB Local 2.6.1.
//!
//! Each family of cases has one list. `aws` and `does` are verb phrases in the present tense: they
//! become cells of a table in `docs/conformance.md`.

use super::Deviation;

/// Lists of all families, in the order of the families.
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
        aws: "limits an update to 409,600 bytes, including an overhead per action",
        source: "observed on AWS; undocumented",
        does: "limits the finished item alone",
        observed: "an update over its limit was accepted",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "partition-key-length-in-queries",
        aws: "checks the size of partition keys in queries",
        source: "facebook/ThreatExchange#1324",
        does: "returns no items",
        observed: "got success",
    },
];

const CONDITIONS: &[Deviation] = &[
    Deviation {
        engine: "dynamodb-local",
        case: "every-reserved-word",
        aws: "reserves 573 words",
        source: "Reserved words in DynamoDB",
        does: "does not reserve CONVERT, SIZE and TERMINATE",
        observed: "reserved words accepted as names: [\"convert\", \"size\", \"terminate\"]",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "condition-length-is-in-bytes",
        aws: "rejects an expression of more than 4096 bytes",
        source: "Quotas in Amazon DynamoDB, expression parameters",
        does: "counts UTF-16 code units, and reports a later error",
        observed: "got ValidationException: Invalid ConditionExpression: Syntax error",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "condition-placeholders-2-mb",
        aws: "accepts names and values of 2 MB",
        source: "Quotas in Amazon DynamoDB, expression parameters",
        does: "rejects an expression of more than 1 MB after substitution of its placeholders",
        observed: "Invalid FilterExpression: Expression size has exceeded the maximum allowed size;",
    },
];

const PROJECTIONS: &[Deviation] = &[];

const UPDATES: &[Deviation] = &[
    Deviation {
        engine: "dynamodb-local",
        case: "update-remove-only-missing-item",
        aws: "creates no item by an update that only removes",
        source: "API reference, AttributeValueUpdate, DELETE; observed by ScyllaDB's Alternator \
                 tests (test_returnvalues.py)",
        does: "creates an item with the key alone",
        observed: "REMOVE a returned an item",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "update-error-in-transaction",
        aws: "cancels the transaction with the reason ValidationError",
        source: "API reference, TransactWriteItems, cancellation reasons",
        does: "rejects the request as a whole",
        observed: "got      ValidationException: An operand in the update expression has an \
                   incorrect data type",
    },
];

const KEY_CONDITIONS: &[Deviation] = &[];

const WRITES: &[Deviation] = &[
    Deviation {
        engine: "dynamodb-local",
        case: "write-all-new-without-item",
        aws: "returns no attributes of a missing item",
        source: "ScyllaDB's Alternator tests, which pass on AWS (test_returnvalues.py)",
        does: "creates an item with the key alone, and returns it",
        observed: "left: Some({\"pk\": {\"S\":\"a\"}})",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "write-updated-old-fragment",
        aws: "returns only the updated fragment",
        source: "ScyllaDB's Alternator tests, which pass on AWS (test_returnvalues.py)",
        does: "returns the whole attribute",
        observed: "left: Some({\"m\": {\"M\":{\"a\": {\"N\":\"1\"}, \"b\": {\"M\":{\"c\": {\"N\":\"2\"}, \"d\"",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "29h",
        aws: "returns only the updated fragment",
        source: "ScyllaDB's Alternator tests, which pass on AWS (test_returnvalues.py)",
        does: "returns the whole attribute",
        observed: "left: Some({\"m\": {\"M\":{\"a\": {\"N\":\"1\"}, \"b\": {\"M\":{\"c\": {\"N\":\"9\"}, \"d\"",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "write-updated-new-moved-up",
        aws: "returns the element that moved to the index",
        source: "ScyllaDB's Alternator tests, which pass on AWS (test_returnvalues.py)",
        does: "returns the whole list",
        observed: "left: Some({\"l\": {\"L\":[{\"N\":\"0\"}, {\"N\":\"2\"}]}})",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "write-updated-key-alone",
        aws: "returns no attributes",
        source: "ScyllaDB's Alternator tests, which pass on AWS (test_returnvalues.py)",
        does: "fails with status 500",
        observed: "got InternalFailure",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "write-index-key-half-update",
        aws: "rejects an index key of the wrong type",
        source: "API reference, TransactWriteItems, messages of ValidationError",
        does: "writes the item",
        observed: "got success",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "write-index-key-lsi-update",
        aws: "rejects an index key of the wrong type",
        source: "API reference, TransactWriteItems, messages of ValidationError",
        does: "writes the item",
        observed: "got success",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "34b",
        aws: "rejects an index key of the wrong type",
        source: "API reference, TransactWriteItems, messages of ValidationError",
        does: "writes the item",
        observed: "got success: (\"gpk\"",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "write-index-key-computed",
        aws: "rejects an index key of the wrong type",
        source: "API reference, TransactWriteItems, messages of ValidationError",
        does: "writes the item",
        observed: "got success",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "write-index-key-size-update",
        aws: "rejects an index key that is too large",
        source: "API reference, TransactWriteItems, messages of ValidationError",
        does: "writes the item",
        observed: "got success",
    },
];

const BATCHES: &[Deviation] = &[Deviation {
    engine: "dynamodb-local",
    case: "59a",
    aws: "consumes 1 unit",
    source: "amazon-dynamodb-tools#25",
    does: "reports 2 units",
    observed: "1 deletes of missing items\n  left: 2.0",
}];

const TRANSACTIONS: &[Deviation] = &[
    Deviation {
        engine: "dynamodb-local",
        case: "duplicate-item-precedes-conditions",
        aws: "rejects two operations on one item before it evaluates conditions",
        source: "Amazon DynamoDB transactions: how it works",
        does: "evaluates the conditions first, each after the preceding operations",
        observed: "reasons [None, ConditionalCheckFailed]",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "last-update-wrong-operand-type",
        aws: "cancels the transaction with the reason ValidationError",
        source: "API reference, TransactWriteItems, messages of the cancellation reason ValidationError",
        does: "rejects the request as a whole",
        observed: "got      ValidationException: An operand in the update expression has an incorrect data type",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "last-update-missing-attribute",
        aws: "cancels the transaction with the reason ValidationError",
        source: "API reference, TransactWriteItems, messages of the cancellation reason ValidationError",
        does: "rejects the request as a whole",
        observed: "got      ValidationException: The provided expression refers to an attribute that does not exist",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "last-update-invalid-path",
        aws: "cancels the transaction with the reason ValidationError",
        source: "API reference, TransactWriteItems, messages of the cancellation reason ValidationError",
        does: "rejects the request as a whole",
        observed: "got      ValidationException: The document path provided in the update expression is invalid",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "last-update-overflows",
        aws: "cancels the transaction with the reason ValidationError",
        source: "API reference, TransactWriteItems, messages of the cancellation reason ValidationError",
        does: "rejects the request as a whole",
        observed: "got      ValidationException: Number overflow",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "last-update-needs-39-digits",
        aws: "cancels the transaction with the reason ValidationError",
        source: "API reference, TransactWriteItems, messages of the cancellation reason ValidationError",
        does: "rejects the request as a whole",
        observed: "got      ValidationException: DynamoDB only supports precision up to 38 digits",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "last-update-nests-too-deep",
        aws: "cancels the transaction with the reason ValidationError",
        source: "API reference, TransactWriteItems, messages of the cancellation reason ValidationError",
        does: "rejects the request as a whole",
        observed: "got      ValidationException: Nesting Levels have exceeded supported limits",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "last-update-index-key-wrong-type",
        aws: "cancels the transaction with the reason ValidationError",
        source: "API reference, TransactWriteItems, messages of the cancellation reason ValidationError",
        does: "writes the item",
        observed: "got success",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "last-update-index-key-too-long",
        aws: "cancels the transaction with the reason ValidationError",
        source: "API reference, TransactWriteItems, messages of the cancellation reason ValidationError",
        does: "writes the item",
        observed: "got success",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "last-update-of-key-attribute",
        aws: "returns one reason per operation",
        source: "API reference, TransactWriteItems, CancellationReasons",
        does: "returns one reason for all operations",
        observed: "got      TransactionCanceledException: Transaction cancelled, please refer cancellation reasons for specific reasons [ValidationError]",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "transact-get-key-wrong-type",
        aws: "returns one reason per read",
        source: "API reference, TransactGetItems, CancellationReasons",
        does: "returns the message of the error without reasons",
        observed: "got      TransactionCanceledException: One or more parameter values were invalid: Type mismatch for key",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "42a",
        aws: "consumes twice the units of a single write on the table, and as many on indexes",
        source: "Amazon DynamoDB transactions: capacity management",
        does: "reports four times the units for a transaction with one put",
        observed: "(\"t0-42a\", 4.0)",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "42b",
        aws: "consumes twice the units of a single write on the table, and as many on indexes",
        source: "Amazon DynamoDB transactions: capacity management",
        does: "reports twice the correct units for table and index",
        observed: "(\"t0-42b\", 12.0)",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "42c",
        aws: "consumes 2 units for a ConditionCheck",
        source: "Amazon DynamoDB transactions: capacity management",
        does: "reports 4 units",
        observed: "(\"t0-42c\", 4.0)",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "transaction-costs-by-size",
        aws: "consumes twice the units of a single write on the table, and as many on indexes",
        source: "Amazon DynamoDB transactions: capacity management",
        does: "reports twice the correct units",
        observed: "(\"t0-transaction-costs-by-size\", 24.0)",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "transaction-costs-by-table",
        aws: "consumes twice the units of a single write on the table, and as many on indexes",
        source: "Amazon DynamoDB transactions: capacity management",
        does: "reports four times the units for one put per table",
        observed: "(\"t0-transaction-costs-by-table\", 4.0)",
    },
];

const TOKENS: &[Deviation] = &[Deviation {
    engine: "dynamodb-local",
    case: "empty-token",
    aws: "requires at least one character in a token",
    source: "API reference, TransactWriteItems, ClientRequestToken",
    does: "accepts an empty token",
    observed: "expected ValidationException: …Member must have length greater than or equal to 1…",
}];

const QUERY: &[Deviation] = &[
    Deviation {
        engine: "dynamodb-local",
        case: "45a",
        aws: "counts the 1 MB of a page before the filter",
        source: "developer guide, Query.FilterExpression and Query.Pagination",
        does: "counts only items that pass the filter of a query",
        observed: "the page ended after 10 items, of which 1 passed",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "45c",
        aws: "ends a page of an index at 1 MB of projected attributes",
        source: "developer guide, GSI (reading data) and LSI (provisioned throughput)",
        does: "counts the whole items of the table",
        observed: "the page ended after 6 items, of which 6 passed; expected 10",
    },
];

const SCAN: &[Deviation] = &[];

const PAGINATION: &[Deviation] = &[];

const INDEXES: &[Deviation] = &[Deviation {
    engine: "dynamodb-local",
    case: "index-added-during-writes",
    aws: "accepts reads and writes while it adds an index",
    source: "developer guide, GSI.OnlineOps",
    does: "fails writes with status 500 until the index is complete",
    observed: "expected success, got InternalFailure",
}];

const TABLES: &[Deviation] = &[
    Deviation {
        engine: "dynamodb-local",
        case: "projected-attributes-per-index",
        aws: "rejects more than 20 attributes in one projection",
        source: "API reference, Projection: NonKeyAttributes",
        does: "accepts up to 100",
        observed: "got success",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "54c",
        aws: "leaves items whose attributes have the wrong type out of an added index",
        source: "developer guide, Detecting and correcting index key violations",
        does: "adds scalars of the wrong type to the index, and never finishes if there is a NULL or a document",
        observed: "unexpected (1x): {\"gpk\": {\"N\":\"5\"}",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "table-name-case",
        aws: "distinguishes table names that differ only in letter case",
        source: "developer guide, Supported data types and naming rules",
        does: "fails with status 500",
        observed: "got InternalFailure",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "billing-pay-per-request-with-throughput",
        aws: "rejects a throughput together with PAY_PER_REQUEST",
        source: "API reference, CreateTable: ProvisionedThroughput",
        does: "ignores the throughput",
        observed: "got success",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "billing-changes-indexes",
        aws: "removes the throughput of indexes when a table changes to PAY_PER_REQUEST",
        source: "API reference, ProvisionedThroughput",
        does: "keeps the throughput of the indexes",
        observed: "read_capacity_units: 3, write_capacity_units: 4",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "update-table-one-change-per-call",
        aws: "allows one kind of change per call",
        source: "API reference, UpdateTable",
        does: "makes both changes",
        observed: "got success",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "table-class",
        aws: "stores the class of a table",
        source: "API reference, TableDescription: TableClassSummary",
        does: "ignores the class",
        observed: "left: None",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "encryption-settings",
        aws: "stores the encryption settings of a table",
        source: "API reference, TableDescription: SSEDescription",
        does: "ignores the settings",
        observed: "the table is encrypted with a key of the account",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "encryption-settings-conflict",
        aws: "rejects encryption settings that contradict each other",
        source: "awsdocs/aws-cloudformation-user-guide#1228 and #504",
        does: "ignores the settings",
        observed: "got success",
    },
];

const TTL: &[Deviation] = &[Deviation {
    engine: "dynamodb-local",
    case: "55h",
    aws: "takes up to an hour to process a change, and rejects another one meanwhile",
    source: "API reference, UpdateTimeToLive",
    does: "changes the settings at any time",
    observed: "got success",
}];

const STREAMS: &[Deviation] = &[
    Deviation {
        engine: "dynamodb-local",
        case: "stream-empty-shard",
        aws: "returns the first record for an iterator of the empty shard",
        source: "aws/aws-sdk-java#2923",
        does: "rejects the iterator as trimmed after another table's stream has a record",
        observed: "TrimmedDataAccessException",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "stream-at-first-sequence-number",
        aws: "reads a shard from its first sequence number",
        source: "API reference, GetShardIterator, and SequenceNumberRange",
        does: "rejects the number as trimmed if it belongs to another table's stream",
        observed: "TrimmedDataAccessException",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "stream-page-size",
        aws: "returns at most 1 MB of records",
        source: "API reference, GetRecords",
        does: "returns up to 1000 records, whatever their sizes",
        observed: "a page has 1",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "stream-malformed-arn",
        aws: "rejects a malformed ARN with ValidationException",
        source: "amazon-archives/logstash-input-dynamodb#18",
        does: "looks for a stream of that name",
        observed: "ResourceNotFoundException",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "stream-list-after-malformed-arn",
        aws: "rejects a malformed ARN",
        source: "API reference, ListStreams: ExclusiveStartStreamArn is an ARN",
        does: "compares the text with the ARNs of streams",
        observed: "got success",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "stream-page-after-unknown-shard",
        aws: "lists nothing after an unknown shard",
        source: "observed on AWS in 2026",
        does: "lists the shards whose ids are greater",
        observed: "after shardId-00000000000000000000-00000000",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "stream-filter-without-children",
        aws: "lists the children of the shard in the filter",
        source: "API reference, DescribeStream: ShardFilter",
        does: "ignores the filter and lists all shards (3.3.1 supports it)",
        observed: "has no children",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "stream-filter-with-start-shard",
        aws: "rejects a filter together with ExclusiveStartShardId, as DynamoDB Local 3.3.1 does",
        source: "API reference, DescribeStream: ShardFilter",
        does: "ignores the filter and lists all shards",
        observed: "got success",
    },
];

const CAPACITY: &[Deviation] = &[
    Deviation {
        engine: "dynamodb-local",
        case: "batch-get-missing-item-costs",
        aws: "consumes the minimum of one read for a missing item",
        source: "developer guide, DynamoDB read and write operations",
        does: "reports no units in a batch",
        observed: "left: 0.0",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "empty-query-costs",
        aws: "consumes the minimum of one read if nothing is found",
        source: "developer guide, DynamoDB read and write operations",
        does: "reports no units",
        observed: "left: 0.0",
    },
    Deviation {
        engine: "dynamodb-local",
        case: "index-scan-costs",
        aws: "charges for the projected attributes of the index",
        source: "developer guide, Using Global Secondary Indexes in DynamoDB",
        does: "charges for the whole items of the table",
        observed: "left: [(\"gsi\", 2.0)]",
    },
];

const DOCUMENTS: &[Deviation] = &[];

const ENTITIES: &[Deviation] = &[];

const LAWS: &[Deviation] = &[Deviation {
    engine: "dynamodb-local",
    case: "one-concurrent-delete-gets-old-item",
    aws: "deletes atomically, so that ALL_OLD is the item just before its deletion",
    source: "API reference, DeleteItem, ReturnValues",
    does: "reads and deletes in two steps, so that several deletes return the same old item",
    observed: "deletes returned the old item",
}];
