//! Members of answers.

use super::{Numbers, Paths};
use crate::operation::Operation::{self, *};

const TABLES: &[Operation] = &[CreateTable, DeleteTable, DescribeTable, UpdateTable];

pub(super) const PATHS: &[Paths] = &[
    (
        "a table is on its way when a change of it is answered (API reference); DynamoDB Local's \
         has arrived",
        &[CreateTable, DeleteTable, UpdateTable],
        &[
            "/TableDescription/TableStatus",
            "/TableDescription/GlobalSecondaryIndexes/*/IndexStatus",
        ],
    ),
    ("DynamoDB Local gives tables no id", TABLES, &["*/TableId"]),
    (
        "a time that never was is left out; DynamoDB Local says 1970",
        TABLES,
        &[
            "*/ProvisionedThroughput/LastDecreaseDateTime",
            "*/ProvisionedThroughput/LastIncreaseDateTime",
        ],
    ),
    (
        "indexes tell as much of their throughput and size as tables do (dynalite's tests of \
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
        "an index is as large as what it carries; DynamoDB Local counts more",
        &[DescribeTable],
        &["/Table/LocalSecondaryIndexes/*/IndexSizeBytes"],
    ),
    (
        "a table paid by request has indexes without units (API reference, BillingModeSummary)",
        &[UpdateTable],
        &["*/GlobalSecondaryIndexes/*/ProvisionedThroughput/*CapacityUnits"],
    ),
    (
        "definitions that no key uses are none of the table's; DynamoDB Local keeps them",
        &[UpdateTable],
        &["/TableDescription/AttributeDefinitions"],
    ),
    (
        "a table's class is told when it was chosen (API reference, TableClassSummary), and bounds \
         of on-demand throughput are not kept",
        &[CreateTable],
        &[
            "/TableDescription/TableClassSummary",
            "/TableDescription/GlobalSecondaryIndexes/*/OnDemandThroughput",
        ],
    ),
    (
        "DynamoDB Local gives a table the stream of another that had its name before",
        TABLES,
        &["*/LatestStreamArn", "*/LatestStreamLabel"],
    ),
    (
        "a stream has several shards",
        &[DescribeStream],
        &["/StreamDescription/Shards", "/StreamDescription/LastEvaluatedShardId"],
    ),
    (
        "tables with local indexes tell of their item collections (API reference); DynamoDB \
         Local's do not",
        &[BatchWriteItem, DeleteItem, PutItem, TransactWriteItems, UpdateItem],
        &["/ItemCollectionMetrics"],
    ),
    (
        "reading an item that there is not costs what the smallest costs (developer guide, \
         \"Read operations\")",
        &[BatchGetItem],
        &["/ConsumedCapacity/*/CapacityUnits"],
    ),
    (
        "what an index carries is not fetched from the table (developer guide, \"Local secondary \
         indexes\")",
        &[Query],
        &["/ConsumedCapacity/*CapacityUnits"],
    ),
    (
        "an operation of a transaction costs twice what it costs alone (developer guide, \
         \"Transactions\"); DynamoDB Local counts more for few, and less for many",
        &[TransactGetItems, TransactWriteItems],
        &["/ConsumedCapacity/*CapacityUnits"],
    ),
];

/// What few runs meet.
pub(super) const RARE_NUMBERS: &[Numbers] = &[(
    "reading where there is nothing costs what the smallest item costs (developer guide, \"Read \
     operations\"); DynamoDB Local charges nothing",
    &[Scan],
    "/ConsumedCapacity/*CapacityUnits",
    &[(0.5, 0.0), (1.0, 0.0)],
)];
