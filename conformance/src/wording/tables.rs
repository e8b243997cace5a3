//! Texts about tables and their indexes.
//!
//! DynamoDB Local checks these requests with code of its own, so most of its texts differ from
//! AWS's, which come from the service's API model.

use super::Pair;

const NAME: &str = "Invalid table/index name.  Table/index names must be between 3 and 255 \
                    characters long, and may contain only the characters a-z, A-Z, 0-9, '_', '-', \
                    and '.'";
const NO_HASH: &str = "No Hash Key specified in schema.  All Dynamo DB tables must have exactly \
                       one hash key";
const NO_TABLE: &str = "Cannot do operations on a non-existent table";
const UNDEFINED: &str = "One or more parameter values were invalid: Some index key attributes are \
                         not defined in AttributeDefinitions. Keys: {_}, AttributeDefinitions: {_}";
const FEWER_DEFINITIONS: &str = "Invalid KeySchema: Some index key attribute have no definition";
const FIRST_IS_NOT_HASH: &str =
    "Invalid KeySchema: The first KeySchemaElement is not a HASH key type";
const DUPLICATE_INDEX: &str =
    "One or more parameter values were invalid: Duplicate index name: {_}";
const DEFINITIONS_DO_NOT_MATCH: &str = "The number of attributes in key schema must match the \
                                        number of attributes defined in attribute definitions.";
const PROVISIONED_WITHOUT: &str = "No provisioned throughput specified for the table";

pub(super) const PAIRS: &[Pair] = &[
    Pair { aws: "Requested resource not found", other: NO_TABLE },
    Pair { aws: "Requested resource not found: Table: {_} not found", other: NO_TABLE },
    Pair {
        aws: "Requested resource not found: Index {_} for table {_}",
        other: "Requested resource not found",
    },
    Pair { aws: "Table already exists: {_}", other: "Cannot create preexisting table" },
    // Names.
    Pair {
        aws: "1 validation error detected: Value '{_}' at 'tableName' failed to satisfy \
              constraint: Member must {_}",
        other: NAME,
    },
    Pair {
        aws: "1 validation error detected: Value '{_}' at 'exclusiveStartTableName' failed to \
              satisfy constraint: Member must {_}",
        other: NAME,
    },
    Pair {
        aws: "1 validation error detected: Value '{_}' at '{_}.indexName' failed to satisfy \
              constraint: Member must {_}",
        other: NAME,
    },
    Pair {
        aws: "2 validation errors detected: Value '{_}' at 'keySchema.1.member.attributeName' \
              failed to satisfy constraint: Member must have length {_}",
        other: "Names of key attributes and attributes projected into an index must be between 1 \
                and 255 characters, inclusive",
    },
    // Lists.
    Pair {
        aws: "1 validation error detected: Value '{_}' at 'limit' failed to satisfy constraint: \
              Member must have value less than or equal to 100",
        other: "Limit in ListTables must be <= 100",
    },
    // Keys and their definitions.
    Pair {
        aws: UNDEFINED,
        other: "Hash Key not specified in Attribute Definitions.  Type unknown.",
    },
    Pair {
        aws: UNDEFINED,
        other: "Range Key not specified in Attribute Definitions.  Type unknown.",
    },
    Pair {
        aws: UNDEFINED,
        other: "Global Secondary Index hash key not specified in Attribute Definitions.Type \
                unknown.",
    },
    Pair {
        aws: UNDEFINED,
        other: "Global Secondary Index range key not specified in Attribute Definitions.Type \
                unknown.",
    },
    Pair {
        aws: FEWER_DEFINITIONS,
        other: "Range Key not specified in Attribute Definitions.  Type unknown.",
    },
    Pair {
        aws: FEWER_DEFINITIONS,
        other: "Hash Key not specified in Attribute Definitions.  Type unknown.",
    },
    Pair {
        aws: "One or more parameter values were invalid: Number of attributes in KeySchema does \
              not exactly match number of attributes defined in AttributeDefinitions",
        other: DEFINITIONS_DO_NOT_MATCH,
    },
    Pair {
        aws: "One or more parameter values were invalid: Some AttributeDefinitions are not used. \
              AttributeDefinitions: {_}, keys used: {_}",
        other: DEFINITIONS_DO_NOT_MATCH,
    },
    Pair {
        aws: "Attribute Name is duplicated: {_}",
        other: "Cannot have two attributes with the same name",
    },
    Pair { aws: FIRST_IS_NOT_HASH, other: NO_HASH },
    Pair {
        aws: FIRST_IS_NOT_HASH,
        other: "Invalid key order. Hash Key must be specified first in key schema, Range Key must \
                be specifed second",
    },
    Pair {
        aws: "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type",
        other: "Too many hash keys specified.  All Dynamo DB tables must have exactly one hash key",
    },
    Pair {
        aws: "Both the Hash Key and the Range Key element in the KeySchema have the same name",
        other: "Two keys can not have the same name",
    },
    Pair {
        aws: "1 validation error detected: Value '[]' at 'keySchema' failed to satisfy constraint: \
              Member must have length greater than or equal to 1",
        other: NO_HASH,
    },
    // Indexes.
    Pair {
        aws: "One or more parameter values were invalid: GlobalSecondaryIndex count exceeds the \
              per-table limit of 20",
        other: "GlobalSecondaryIndex count exceeds the per-table limit",
    },
    Pair {
        aws: "One or more parameter values were invalid: Number of LocalSecondaryIndexes exceeds \
              per-table limit of 5",
        other: "Cannot have more than 5 local secondary indexes per table",
    },
    Pair {
        aws: "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table \
              limit of 20",
        other: "Number of global secondary indexes exceeds per-table limit",
    },
    Pair {
        aws: "Cannot delete an index that is not a GlobalSecondaryIndex: {_}",
        other: "Cannot delete an index that is not a GlobalSecondaryIndex",
    },
    Pair { aws: DUPLICATE_INDEX, other: "Two global secondary indices have the same name" },
    Pair { aws: DUPLICATE_INDEX, other: "Two local secondary indices have the same name" },
    Pair {
        aws: DUPLICATE_INDEX,
        other: "Local Secondary Indices AND Global Secondary Indices must have different names",
    },
    Pair {
        aws: "One or more parameter values were invalid: Table KeySchema does not have a range \
              key, which is required when specifying a LocalSecondaryIndex",
        other: "Local Secondary indices are not allowed on hash tables, only hash and range tables",
    },
    Pair {
        aws: "One or more parameter values were invalid: Index KeySchema does not have a range key \
              for index: {_}",
        other: "Local secondary indices must have a range key",
    },
    Pair {
        aws: "One or more parameter values were invalid: Index KeySchema does not have the same \
              leading hash key as table KeySchema for index: {_}. index hash key: {_}, table hash \
              key: {_}",
        other: "Local Secondary indices must have the same hash key as the main table",
    },
    Pair {
        aws: "One or more parameter values were invalid: AttributeDefinitions is not specified for \
              index: {_}",
        other: "No Attribute Schema Defined",
    },
    Pair {
        aws: "One or more parameter values were invalid: Only one global secondary index update \
              per index is allowed simultaneously. Index: {_}",
        other: "Only one global secondary index update per index is allowed simultaneously.",
    },
    // Projections.
    Pair {
        aws: "One or more parameter values were invalid: ProjectionType is INCLUDE, but \
              NonKeyAttributes is not specified",
        other: "If Projection type INCLUDE is specified, some non-key attributes to include in the \
                projection must be specified as well",
    },
    Pair {
        aws: "One or more parameter values were invalid: ProjectionType is {_}, but \
              NonKeyAttributes is specified",
        other: "No attributes should be specified to be projected unless projection type is INCLUDE",
    },
    Pair {
        aws: "One or more parameter values were invalid: Duplicate element in NonKeyAttributes: \
              {_}",
        other: "Cannot have two attributes with the same name",
    },
    // Throughput.
    Pair {
        aws: "One or more parameter values were invalid: ReadCapacityUnits and WriteCapacityUnits \
              must both be specified when BillingMode is PROVISIONED",
        other: PROVISIONED_WITHOUT,
    },
    Pair {
        aws: "One or more parameter values were invalid: ProvisionedThroughput must be specified \
              when BillingMode is PROVISIONED",
        other: PROVISIONED_WITHOUT,
    },
    Pair {
        aws: "One or more parameter values were invalid: ProvisionedThroughput is not specified \
              for index: {_}",
        other: "No provisioned throughput specified for the global secondary index",
    },
    Pair {
        aws: "1 validation error detected: Value '{_}' at \
              'provisionedThroughput.{_}CapacityUnits' failed to satisfy constraint: Member must \
              have value greater than or equal to 1",
        other: "Table read and write throughput must be at least 1, and cannot be null",
    },
    Pair {
        aws: "1 validation error detected: Value '{_}' at \
              'globalSecondaryIndexes.{_}.member.provisionedThroughput.{_}CapacityUnits' failed to \
              satisfy constraint: Member must have value greater than or equal to 1",
        other: "Global Secondary Index's read and write throughput must be at least 1, and cannot \
                be null",
    },
    Pair {
        aws: "The provisioned throughput for the table will not change. The requested value equals \
              the current value. {_}",
        other: "The requested throughput value equals the current value",
    },
    Pair {
        aws: "At least one of ProvisionedThroughput, BillingMode, {_} or TableClass is required",
        other: "Nothing to update",
    },
];
