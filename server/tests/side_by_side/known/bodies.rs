//! Known differences in the bodies of successful responses.

use super::{Numbers, Paths};
use crate::operation::Operation::{self, *};

const TABLES: &[Operation] = &[CreateTable, DeleteTable, DescribeTable, UpdateTable];

pub(super) const PATHS: &[Paths] = &[
    (
        "the response to a change of a table has its transitional state (API reference); DynamoDB \
         Local's has the final one",
        &[CreateTable, DeleteTable, UpdateTable],
        &[
            "/TableDescription/TableStatus",
            "/TableDescription/GlobalSecondaryIndexes/*/IndexStatus",
        ],
    ),
    ("DynamoDB Local assigns no ids to tables", TABLES, &["*/TableId"]),
    (
        "the time of a change that never happened is left out; DynamoDB Local returns 1970",
        TABLES,
        &[
            "*/ProvisionedThroughput/LastDecreaseDateTime",
            "*/ProvisionedThroughput/LastIncreaseDateTime",
        ],
    ),
    (
        "indexes have the same members for throughput and size as tables (dynalite's tests of \
         CreateTable); DynamoDB Local leaves some out",
        TABLES,
        &[
            "*/GlobalSecondaryIndexes/*/ProvisionedThroughput/NumberOfDecreasesToday",
            "*/GlobalSecondaryIndexes/*/ProvisionedThroughput",
            "*/GlobalSecondaryIndexes/*/IndexSizeBytes",
            "*/GlobalSecondaryIndexes/*/ItemCount",
        ],
    ),
    (
        "the size of an index is that of its projected attributes; DynamoDB Local counts more",
        &[DescribeTable],
        &["/Table/LocalSecondaryIndexes/*/IndexSizeBytes"],
    ),
    (
        "indexes of an on-demand table have no capacity units (API reference, BillingModeSummary)",
        &[UpdateTable],
        &["*/GlobalSecondaryIndexes/*/ProvisionedThroughput/*CapacityUnits"],
    ),
    (
        "attribute definitions that no key uses are removed; DynamoDB Local keeps them",
        &[UpdateTable],
        &["/TableDescription/AttributeDefinitions"],
    ),
    (
        "a table class is returned if the request set it (API reference, TableClassSummary), and \
         limits of on-demand throughput are not stored",
        &[CreateTable],
        &[
            "/TableDescription/TableClassSummary",
            "/TableDescription/GlobalSecondaryIndexes/*/OnDemandThroughput",
        ],
    ),
    (
        "DynamoDB Local assigns the stream of a deleted table to a new one with its name",
        TABLES,
        &["*/LatestStreamArn", "*/LatestStreamLabel"],
    ),
    (
        "a stream has several shards",
        &[DescribeStream],
        &["/StreamDescription/Shards", "/StreamDescription/LastEvaluatedShardId"],
    ),
    (
        "tables with local indexes return item collection metrics (API reference); those of \
         DynamoDB Local do not",
        &[BatchWriteItem, DeleteItem, PutItem, TransactWriteItems, UpdateItem],
        &["/ItemCollectionMetrics"],
    ),
    (
        "reading a missing item costs as much as the smallest item (developer guide, \
         \"Read operations\")",
        &[BatchGetItem],
        &["/ConsumedCapacity/*/CapacityUnits"],
    ),
    (
        "projected attributes are not fetched from the table (developer guide, \"Local secondary \
         indexes\")",
        &[Query],
        &["/ConsumedCapacity/*CapacityUnits"],
    ),
    (
        "an operation in a transaction costs twice as much as alone (developer guide, \
         \"Transactions\"); DynamoDB Local counts more for few, and less for many",
        &[TransactGetItems, TransactWriteItems],
        &["/ConsumedCapacity/*CapacityUnits"],
    ),
];

/// Differences that occur in few runs.
pub(super) const RARE_NUMBERS: &[Numbers] = &[(
    "reading an empty range costs as much as the smallest item (developer guide, \"Read \
     operations\"); DynamoDB Local charges nothing",
    &[Scan],
    "/ConsumedCapacity/*CapacityUnits",
    &[(0.5, 0.0), (1.0, 0.0)],
)];
