//! Known differences for requests that violate constraints of the API model.

pub(super) const WHY: &str = "AWS validates a request against its API model before anything else, \
                              and reports all violations (dynalite's tests, the captures at \
                              paritysuite.org); DynamoDB Local checks some constraints, one \
                              after another, with other messages";

const NAME: &str = "ValidationException: Invalid table/index name.  Table/index names must be \
                    between 3 and 255 characters long, and may contain only the characters a-z, \
                    A-Z, 0-9, '_', '-', and '.'";
const NO_TABLE: &str = "ResourceNotFoundException: Cannot do operations on a non-existent table";
const NO_HASH: &str = "ValidationException: No Hash Key specified in schema.  All Dynamo DB tables \
                       must have exactly one hash key";
const NO_KEY: &str =
    "ValidationException: Cannot have null key for GetItem, DeleteItem, or UpdateItem";
const NO_ROLE: &str =
    "ValidationException: One or more keys is not specified as being hash or range.";
const NO_NAME: &str = "ValidationException: Attribute name must be specified.";
const NO_SCHEMA: &str = "ValidationException: No defined key schema.  A key schema containing at \
                         least a hash key must be defined for all tables";
const NO_ELEMENT: &str = "ValidationException: Key schema element is invalid.";
const LONG_SCHEMA: &str = "ValidationException: Key Schema too big.  Key Schema must at most \
                           consist of the hash and range key of a table";
const LONG_NAME: &str = "ValidationException: Names of key attributes and attributes projected \
                         into an index must be between 1 and 255 characters, inclusive";
const NO_COMPARISON: &str = "ValidationException: Comparison type does not exist in DynamoDB";
const INDEX_UNITS: &str = "ValidationException: Global Secondary Index's read and write \
                           throughput must be at least 1, and cannot be null";
const NO_INDEX_NAME: &str = "ValidationException: Invalid global secondary index name";

/// Members, each with the outcomes of DynamoDB Local.
pub(super) const TEXTS: &[(&str, &[&str])] = &[
    // Tables and indexes of requests.
    ("tableName", &[NAME, NO_TABLE, "ValidationException: Value null at 'tableName' *", "200"]),
    ("*.tableName", &[NAME, NO_TABLE, "ValidationException: Requested resource not found"]),
    ("exclusiveStartTableName", &[NAME]),
    ("exclusiveStartStreamArn", &["200"]),
    ("indexName", &["ValidationException: The table does not have the specified index: *"]),
    // Keys and items.
    ("key", &[NO_KEY, NO_TABLE]),
    ("item", &["ValidationException: Item to put in PutItem cannot be null"]),
    // Enumerations.
    ("returnValues", &["ValidationException: Return values set to invalid value"]),
    ("returnConsumedCapacity", &["200", NO_KEY]),
    ("returnItemCollectionMetrics", &["200"]),
    (
        "select",
        &[
            "200",
            "ValidationException: Select must be ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES, COUNT, \
             or SPECIFIC_ATTRIBUTES",
        ],
    ),
    ("billingMode", &["200", "ValidationException: No provisioned throughput specified for *"]),
    ("tableClass", &["200"]),
    ("*.comparisonOperator", &[NO_COMPARISON]),
    (
        "expected.*.member.comparisonOperator",
        &["ValidationException: One or more parameter values were invalid: Value or \
             AttributeValueList must be used with ComparisonOperator: * for Attribute: *"],
    ),
    (
        "attributeUpdates.*.member.action",
        &["ValidationException: Member must satisfy enum value set: [ADD, DELETE, PUT]"],
    ),
    ("attributesToGet", &["200"]),
    // Batches and transactions.
    (
        "requestItems",
        &[
            NAME,
            "ValidationException: BatchGetItem must have some requests set",
            "ValidationException: BatchWriteItem cannot have a null or no requests set",
            "ValidationException: Supplied AttributeValue has more than one datatypes set, must \
             contain exactly one of the supported datatypes",
        ],
    ),
    (
        "requestItems.*.member.keys",
        &[
            "ValidationException: The list of keys in RequestItems for BatchGetItem is required: \
             * has empty list",
            "ValidationException: Provided list of item keys contains duplicates",
        ],
    ),
    (
        "requestItems.*.member.*.member",
        &["ValidationException: The batch write request list for a table cannot be null or empty"],
    ),
    (
        "requestItems.*.member.*.member.*",
        &["ValidationException: The supplied Item contains a null AttributeValue"],
    ),
    (
        "transactItems",
        &[
            "ValidationException: Value null at 'transactItems' *",
            "ValidationException: Member must have length less than or equal to 100",
        ],
    ),
    ("transactItems.*", &["ValidationException: Value null at 'transactItems*"]),
    (
        "transactItems.*.member.get.key",
        &["ValidationException: Get Condition for key not in key list"],
    ),
    // Keys of tables and indexes.
    ("attributeDefinitions", &["ValidationException: No Attribute Schema Defined", NO_SCHEMA]),
    ("attributeDefinitions.*.attributeName", &[NO_NAME, LONG_NAME]),
    (
        "attributeDefinitions.*.attributeType",
        &[
            "ValidationException: Member must satisfy enum value set: [B, N, S]",
            "ValidationException: Invalid Attribute value. Must contain exactly one of the \
             supported datatypes.",
            "ValidationException: invalid attribute, SchemaElement redefined should be of same \
             type as previously defined",
        ],
    ),
    ("keySchema", &[NO_SCHEMA, LONG_SCHEMA]),
    ("*.keySchema", &[NO_SCHEMA, LONG_SCHEMA, NO_HASH]),
    ("*keySchema.*.member", &[NO_ELEMENT]),
    (
        "*keySchema.*.member.attributeName",
        &[
            NO_NAME,
            "ValidationException: Hash Key not specified in Attribute Definitions.  Type unknown.",
            "ValidationException: Range Key not specified in Attribute Definitions.  Type unknown.",
            "ValidationException: Global Secondary Index hash key not specified in Attribute \
             Definitions.Type unknown.",
            "ValidationException: Local Secondary Index range key not specified in Attribute \
             Definitions.Type unknown.",
            "ValidationException: Local Secondary indices must have the same hash key as the main \
             table",
        ],
    ),
    (
        "*keySchema.*.member.keyType",
        &[
            "200",
            NO_HASH,
            NO_ROLE,
            "ValidationException: Local secondary indices must have a range key",
        ],
    ),
    // Indexes.
    ("*.indexName", &[NAME, NO_INDEX_NAME, "ResourceNotFoundException: *"]),
    (
        "*.projection",
        &[
            "ValidationException: Indexes must have a projection specified",
            "ValidationException: No provisioned throughput specified for the global secondary index",
        ],
    ),
    (
        "*.projection.projectionType",
        &["ValidationException: Projection type must be INCLUDE, ALL, or KEYS_ONLY"],
    ),
    (
        "*.projection.nonKeyAttributes",
        &[
            "ValidationException: If Projection type INCLUDE is specified, some non-key attributes \
             to include in the projection must be specified as well",
            "ValidationException: Cannot have two attributes with the same name",
        ],
    ),
    ("*.projection.nonKeyAttributes.*.member", &[LONG_NAME]),
    ("*.provisionedThroughput.*CapacityUnits", &[INDEX_UNITS]),
    (
        "*.provisionedThroughput",
        &[
            "ValidationException: No provisioned throughput specified for the global secondary index",
        ],
    ),
    (
        "provisionedThroughput.*CapacityUnits",
        &[
            "ValidationException: Table read and write throughput must be at least 1, and cannot be null",
        ],
    ),
    // Streams and expiry of tables.
    ("streamSpecification.streamViewType", &["ValidationException: Invalid StreamViewType: *"]),
    ("streamSpecification.streamEnabled", &["ValidationException: Stream StreamEnabled was null"]),
    (
        "timeToLiveSpecification",
        &["ValidationException: TimeToLiveSpecification cannot be null", NO_TABLE],
    ),
    (
        "timeToLiveSpecification.*",
        &["ValidationException: AttributeName cannot be null when time to live is being enabled"],
    ),
    // Pages of streams, and of parallel scans.
    (
        "segment",
        &["ValidationException: 1 validation error detected: Value '*' at 'segment' failed to \
           satisfy constraint: Member must have value less than or equal to *"],
    ),
    (
        "streamArn",
        &[
            "ResourceNotFoundException: *",
            "ValidationException: Invalid StreamArn",
            "ValidationException: One or more parameter values were invalid: streamArn cannot be \
             empty or null.",
        ],
    ),
    (
        "shardId",
        &[
            "ResourceNotFoundException: Shard does not exist",
            "ValidationException: No ShardId specified.",
        ],
    ),
    // DynamoDB Local 2.6.1 does not support the filter.
    ("shardFilter.shardId", &["200"]),
    ("shardIteratorType", &["ValidationException: Invalid ShardIteratorType."]),
    ("shardIterator", &["ValidationException: Invalid ShardIterator"]),
    (
        "sequenceNumber",
        &["ValidationException: One or more parameter values were invalid: SequenceNumber should \
           not be passed for this iterator type"],
    ),
];
