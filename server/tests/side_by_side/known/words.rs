//! Known differences for requests with a valid structure.

use super::Pairs;

pub(super) const PAIRS: &[Pairs] = &[
    (
        "UpdateTable makes one change at a time (API reference); DynamoDB Local makes several, or \
         reports another error first",
        &[
            (
                "ValidationException: One or more parameter values were invalid: * modification \
                 must be the only operation in the request",
                "200",
            ),
            (
                "ValidationException: One or more parameter values were invalid: You cannot * \
                 while updating table IOPS",
                "200",
            ),
            (
                "ValidationException: One or more parameter values were invalid: You cannot modify \
                 stream status while updating table IOPS",
                "ValidationException: Cannot change IOPS and Streams at the same time.",
            ),
            (
                "ValidationException: One or more parameter values were invalid: You cannot create \
                 or delete index while changing stream status",
                "ValidationException: Invalid StreamViewType: Stream ViewType must not be null or \
                 empty when enabling streams.",
            ),
            (
                "ValidationException: One or more parameter values were invalid: \
                 DeletionProtection modification must be the only operation in the request",
                "ValidationException: Invalid StreamViewType: Stream ViewType must not be null or \
                 empty when enabling streams.",
            ),
        ],
    ),
    (
        "each index may be changed once in a request (dynalite's tests); DynamoDB Local uses the \
         first change that it finds",
        &[
            (
                "ValidationException: One or more parameter values were invalid: Only one of \
                 GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, \
                 GlobalSecondaryIndexUpdate.Delete may be given",
                "LimitExceededException: Subscriber limit exceeded: Only 1 online index can be \
                 created or deleted simultaneously per table",
            ),
            (
                "ValidationException: One or more parameter values were invalid: Only one of \
                 GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, \
                 GlobalSecondaryIndexUpdate.Delete may be given",
                "ResourceNotFoundException: Requested resource not found",
            ),
            (
                "ValidationException: One or more parameter values were invalid: Only one of \
                 GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, \
                 GlobalSecondaryIndexUpdate.Delete may be given",
                "ValidationException: Invalid global secondary index name",
            ),
            (
                "ValidationException: One or more parameter values were invalid: One of \
                 GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, \
                 GlobalSecondaryIndexUpdate.Delete must not be null",
                "ValidationException: Update global secondary index action is null",
            ),
            (
                "ValidationException: One or more parameter values were invalid: Only one global \
                 secondary index update per index is allowed simultaneously. Index: by-new",
                "LimitExceededException: Subscriber limit exceeded: Only 5 tables with online \
                 indexes can be created simultaneously",
            ),
            (
                "ResourceNotFoundException: Requested resource not found: Index * for table plain",
                "ValidationException: Invalid global secondary index name",
            ),
        ],
    ),
    (
        "the server refuses parameters that it does not support; DynamoDB Local ignores them",
        &[("ValidationException: * is not supported by this server: *", "200")],
    ),
    (
        "a missing table name is reported first (dynalite's tests, paritysuite.org)",
        &[
            (
                "ValidationException: The parameter 'TableName' is required but was not present in \
                 the request",
                "ValidationException: Value null at 'tableName' failed to satisfy constraint: \
                 Member must not be null",
            ),
            (
                "ValidationException: The parameter 'TableName' is required but was not present in \
                 the request",
                "ValidationException: Invalid table/index name.  *",
            ),
        ],
    ),
    (
        "messages of AWS for tables and indexes (dynalite's tests); DynamoDB Local has others, in \
         another order",
        &[
            (
                "ValidationException: One or more parameter values were invalid: Neither \
                 ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is \
                 PAY_PER_REQUEST",
                "200",
            ),
            (
                "ValidationException: One or more parameter values were invalid: \
                 ProvisionedThroughput must be specified when BillingMode is PROVISIONED",
                "200",
            ),
            (
                "ValidationException: One or more parameter values were invalid: Unknown \
                 ProjectionType: null",
                "ValidationException: Indexes must have a projection specified",
            ),
            (
                "ValidationException: One or more parameter values were invalid: Unknown \
                 ProjectionType: null",
                "ValidationException: Local Secondary indices are not allowed on hash tables, only \
                 hash and range tables",
            ),
            (
                "ValidationException: One or more parameter values were invalid: Duplicate index \
                 name: *",
                "ValidationException: GlobalSecondaryIndex count exceeds the per-table limit",
            ),
            (
                "ValidationException: One or more parameter values were invalid: Duplicate index \
                 name: *",
                "ValidationException: Cannot have more than 5 local secondary indexes per table",
            ),
            (
                "ValidationException: One or more parameter values were invalid: Some index key \
                 attributes are not defined in AttributeDefinitions. *",
                "ValidationException: Local Secondary Index range key not specified in Attribute \
                 Definitions.Type unknown.",
            ),
            (
                "ValidationException: One or more parameter values were invalid: Some index key \
                 attributes are not defined in AttributeDefinitions. *",
                "ValidationException: Local Secondary indices must have the same hash key as the \
                 main table",
            ),
            (
                "ValidationException: Attribute Name is duplicated: k",
                "ValidationException: Global Secondary Index hash key not specified in Attribute \
                 Definitions.Type unknown.",
            ),
            (
                "ValidationException: Both the Hash Key and the Range Key element in the KeySchema \
                 have the same name",
                "ValidationException: Too many hash keys specified.  *",
            ),
            (
                "ValidationException: Invalid KeySchema: Some index key attribute have no \
                 definition",
                "ValidationException: Too many hash keys specified.  *",
            ),
        ],
    ),
    (
        "keys of several attributes (developer guide, \"Multi-attribute keys\"), which DynamoDB \
         Local does not support",
        &[
            (
                "ValidationException: The KeySchema contains multiple key attributes with the same \
                 name",
                "ValidationException: Too many hash keys specified.  *",
            ),
            (
                "ValidationException: One or more parameter values were invalid: The KeySchema \
                 exceeds the maximum allowed number of HASH key attributes",
                "ValidationException: Key Schema too big.  *",
            ),
        ],
    ),
    (
        "messages of AWS for streams (paritysuite.org)",
        &[
            (
                "ValidationException: One or more parameter values were invalid: Table is being \
                 created with a stream enabled, UpdateViewType is required",
                "ValidationException: Invalid StreamViewType: Stream ViewType must not be null or \
                 empty when enabling streams.",
            ),
            (
                "ValidationException: One or more parameter values were invalid: Table is being \
                 created with a stream disabled, UpdateViewType should not be specified",
                "ValidationException: Invalid StreamViewType: Stream StreamEnabled was false but a \
                 StreamViewType was present.",
            ),
            (
                "ValidationException: One or more parameter values were invalid: If stream is \
                 being enabled then UpdateViewType is required",
                "ValidationException: Invalid StreamViewType: Stream ViewType must not be null or \
                 empty when enabling streams.",
            ),
            (
                "ValidationException: One or more parameter values were invalid: If stream is \
                 being disabled, then UpdateViewType must not be specified",
                "ValidationException: Invalid StreamViewType: Stream StreamEnabled was false but a \
                 StreamViewType was present.",
            ),
        ],
    ),
    (
        "AWS refuses a text that is not the ARN of a stream; DynamoDB Local compares it with those \
         of its streams",
        &[
            ("ValidationException: Invalid StreamArn", "200"),
            (
                "ValidationException: Invalid StreamArn",
                "ResourceNotFoundException: Requested resource not found: Stream: * not found",
            ),
            (
                "ValidationException: Invalid StreamArn",
                "ResourceNotFoundException: Stream does not exist",
            ),
        ],
    ),
    (
        "errors that do not depend on the table precede that of a missing table (dynalite's tests)",
        &[
            (
                "ValidationException: At least one of ProvisionedThroughput, BillingMode, *",
                "ResourceNotFoundException: Cannot do operations on a non-existent table",
            ),
            (
                "ValidationException: Nesting Levels have exceeded supported limits: *",
                "ResourceNotFoundException: Cannot do operations on a non-existent table",
            ),
        ],
    ),
    (
        "an invalid key is a cancellation reason of a transaction (paritysuite.org); DynamoDB \
         Local refuses the request, or returns no reasons",
        &[
            (
                "TransactionCanceledException: Transaction cancelled, please refer cancellation \
                 reasons for specific reasons [*ValidationError*]",
                "ValidationException: Invalid attribute value type",
            ),
            (
                "TransactionCanceledException: Transaction cancelled, please refer cancellation \
                 reasons for specific reasons [*ValidationError*]",
                "TransactionCanceledException: One or more parameter values were invalid: Type \
                 mismatch for key",
            ),
            (
                "TransactionCanceledException: Transaction cancelled, please refer cancellation \
                 reasons for specific reasons [*ValidationError*]",
                "TransactionCanceledException: The number of conditions on the keys is invalid",
            ),
        ],
    ),
    (
        "a transaction has one operation per item (API reference, TransactWriteItems), checked \
         before conditions",
        &[(
            "ValidationException: Transaction request cannot include multiple operations on one \
             item",
            "TransactionCanceledException: Transaction cancelled, please refer cancellation \
             reasons for specific reasons [None, ConditionalCheckFailed]",
        )],
    ),
    (
        "messages of AWS for the start key of a page (dynalite's tests)",
        &[
            (
                "ValidationException: The provided starting key is invalid: Supplied \
                 AttributeValue *",
                "ValidationException: Supplied AttributeValue *",
            ),
            (
                "ValidationException: The provided starting key is invalid: One or more parameter \
                 values were invalid: *",
                "ValidationException: One or more parameter values were invalid: *",
            ),
            (
                "ValidationException: The provided starting key is invalid",
                "ValidationException: Empty attribute name",
            ),
            (
                "ValidationException: The provided starting key is invalid: The provided key \
                 element does not match the schema",
                "ValidationException: Empty attribute name",
            ),
        ],
    ),
    (
        "messages of AWS for legacy parameters, in its order (dynalite's tests)",
        &[
            (
                "ValidationException: One or more parameter values were invalid: Duplicate value \
                 in attribute name: *",
                "ValidationException: Cannot have two attributes with the same name",
            ),
            (
                "ValidationException: One or more parameter values were invalid: * is not \
                 supported for the type *",
                "ValidationException: One or more parameter values were invalid: * is not \
                 supported for the type *",
            ),
            (
                "ValidationException: One or more parameter values were invalid: Type mismatch for \
                 Index Key l Expected: S Actual: * IndexName: by-l",
                "ValidationException: Updates on index keys must be of the same data type as the \
                 key attribute",
            ),
            (
                "ValidationException: Can not use both expression and non-expression parameters in \
                 the same request: *",
                "ValidationException: One or more parameter values were invalid: Value must be \
                 provided when Exists is null for Attribute: *",
            ),
            (
                "ValidationException: Attempted conditional constraint is not an indexable \
                 operation",
                "ValidationException: Query key condition not supported",
            ),
        ],
    ),
    (
        "limits of on-demand throughput are not stored; DynamoDB Local uses them as a throughput",
        &[(
            "200",
            "ValidationException: Table read and write throughput must be at least 1, and cannot \
             be null",
        )],
    ),
];

/// Differences that only two changes together cause, and that few runs have.
pub(super) const RARE: &[Pairs] = &[
    (
        "messages of AWS for streams (paritysuite.org)",
        &[(
            "ResourceNotFoundException: Requested resource not found: Stream: * not found",
            "ResourceNotFoundException: Stream does not exist",
        )],
    ),
    (
        "DynamoDB Local does not support the changed setting",
        &[
            ("200", "ValidationException: Nothing to update"),
            (
                "ValidationException: One or more parameter values were invalid: Table is already \
                 encrypted by default",
                "ValidationException: Nothing to update",
            ),
        ],
    ),
    (
        "messages of AWS for tables and indexes, in its order",
        &[
            (
                "ValidationException: One or more parameter values were invalid: Some index key \
                 attributes are not defined in AttributeDefinitions. *",
                "ValidationException: Key Schema too big.  *",
            ),
            (
                "ValidationException: One or more parameter values were invalid: You cannot modify \
                 stream status while updating table IOPS",
                "ValidationException: Invalid StreamViewType: Stream ViewType must not be null or \
                 empty when enabling streams.",
            ),
            (
                "ValidationException: One or more parameter values were invalid: Some index key \
                 attributes are not defined in AttributeDefinitions. *",
                "ValidationException: Two keys can not have the same name",
            ),
            (
                "ValidationException: One or more parameter values were invalid: \
                 DeletionProtection modification must be the only operation in the request",
                "ValidationException: Cannot change IOPS and Streams at the same time.",
            ),
        ],
    ),
    (
        "DynamoDB Local compares the token before it validates tables and keys; no capture shows \
         the order of AWS",
        &[
            (
                "ValidationException: The provided key element does not match the schema",
                "IdempotentParameterMismatchException: ",
            ),
            (
                "ResourceNotFoundException: Requested resource not found",
                "IdempotentParameterMismatchException: ",
            ),
        ],
    ),
];
