//! Request shapes of operations on tables.

use super::Shape::{self, Choice, Integer, List, Long, Text};
use super::common::{ANY, FLAG, INDEX_NAME, TABLE, TABLE_NAME, TEXT};
use super::replicas::{REPLICA_UPDATES, SETTINGS_REPLICATION, WITNESS_UPDATES};
use super::{Member, Structure, first, optional, required};

/// Table of an operation on tables. A missing one is reported before anything else (observed on
/// AWS).
const TABLE_FIRST: Member = first(
    "TableName",
    &TABLE,
    "The parameter 'TableName' is required but was not present in the request",
);

pub(super) static TABLE_ONLY: Structure =
    Structure { class: "DescribeTableInput", members: &[TABLE_FIRST] };

pub(super) static LIST_TABLES: Structure = Structure {
    class: "ListTablesInput",
    members: &[
        optional("ExclusiveStartTableName", &TABLE_NAME),
        optional("Limit", &Integer { min: 1, max: 100 }),
    ],
};

/// Request of CreateTable. The API reference no longer requires attribute definitions and a key
/// schema, because a replica has those of its source. They are required here, because replicas are
/// not supported and the error of AWS without them is known.
pub(super) static CREATE_TABLE: Structure = Structure {
    class: "CreateTableInput",
    members: &[
        optional("GlobalSecondaryIndexes", &GLOBAL_INDEXES),
        optional("GlobalTableSettingsReplicationMode", &SETTINGS_REPLICATION),
        optional("BillingMode", &BILLING_MODE),
        optional("GlobalTableSourceArn", &TABLE),
        optional("SSESpecification", &Shape::Structure(&SSE)),
        optional("OnDemandThroughput", &Shape::Structure(&ON_DEMAND)),
        required("KeySchema", &SIMPLE_KEY),
        optional("DeletionProtectionEnabled", &FLAG),
        optional("ProvisionedThroughput", &Shape::Structure(&PROVISIONED)),
        TABLE_FIRST,
        optional("Tags", &TAGS),
        optional("TableClass", &TABLE_CLASS),
        optional("VectorIndexes", &VECTOR_INDEXES),
        optional("StreamSpecification", &Shape::Structure(&STREAM)),
        optional("WarmThroughput", &Shape::Structure(&WARM)),
        optional("ResourcePolicy", &TEXT),
        required("AttributeDefinitions", &DEFINITIONS),
        optional("LocalSecondaryIndexes", &LOCAL_INDEXES),
    ],
};

pub(super) static UPDATE_TABLE: Structure = Structure {
    class: "UpdateTableInput",
    members: &[
        optional("GlobalTableSettingsReplicationMode", &SETTINGS_REPLICATION),
        optional("ReplicaUpdates", &REPLICA_UPDATES),
        optional("BillingMode", &BILLING_MODE),
        optional("SSESpecification", &Shape::Structure(&SSE)),
        optional("OnDemandThroughput", &Shape::Structure(&ON_DEMAND)),
        optional("GlobalTableWitnessUpdates", &WITNESS_UPDATES),
        optional("MultiRegionConsistency", &Choice(&["EVENTUAL", "STRONG"])),
        optional("DeletionProtectionEnabled", &FLAG),
        optional("ProvisionedThroughput", &Shape::Structure(&PROVISIONED)),
        optional("DisassociationProtectionEnabled", &FLAG),
        TABLE_FIRST,
        optional("TableClass", &TABLE_CLASS),
        optional("GlobalSecondaryIndexUpdates", &INDEX_UPDATES),
        optional("StreamSpecification", &Shape::Structure(&STREAM)),
        optional("WarmThroughput", &Shape::Structure(&WARM)),
        optional("AttributeDefinitions", &DEFINITIONS),
        optional("VectorIndexUpdates", &VECTOR_INDEX_UPDATES),
    ],
};

static DEFINITIONS: Shape = List { of: &Shape::Structure(&DEFINITION), min: 0, max: ANY };

static DEFINITION: Structure = Structure {
    class: "AttributeDefinition",
    members: &[
        required("AttributeType", &Choice(&["B", "N", "S"])),
        required("AttributeName", &KEY_NAME),
    ],
};

/// Name of an attribute of a key or a projection.
static KEY_NAME: Shape = Text { min: 1, max: 255 };

/// Key schema of a table or a local index.
static SIMPLE_KEY: Shape = List { of: &KEY_ELEMENT, min: 1, max: 2 };
/// Key schema of a global index, with several attributes per part.
static LONG_KEY: Shape = List { of: &KEY_ELEMENT, min: 1, max: ANY };
static KEY_ELEMENT: Shape = Shape::Structure(&KEY_SCHEMA_ELEMENT);

pub(super) static KEY_SCHEMA_ELEMENT: Structure = Structure {
    class: "KeySchemaElement",
    members: &[
        required("AttributeName", &KEY_NAME),
        required("KeyType", &Choice(&["HASH", "RANGE"])),
    ],
};

static LOCAL_INDEXES: Shape = List { of: &Shape::Structure(&LOCAL_INDEX), min: 0, max: ANY };

static LOCAL_INDEX: Structure = Structure {
    class: "LocalSecondaryIndex",
    members: &[
        required("IndexName", &INDEX_NAME),
        required("KeySchema", &SIMPLE_KEY),
        required("Projection", &Shape::Structure(&PROJECTION)),
    ],
};

static GLOBAL_INDEXES: Shape = List { of: &Shape::Structure(&GLOBAL_INDEX), min: 0, max: ANY };

static GLOBAL_INDEX: Structure =
    Structure { class: "GlobalSecondaryIndex", members: &GLOBAL_INDEX_MEMBERS };

static GLOBAL_INDEX_MEMBERS: [Member; 6] = [
    optional("WarmThroughput", &Shape::Structure(&WARM)),
    optional("OnDemandThroughput", &Shape::Structure(&ON_DEMAND)),
    required("IndexName", &INDEX_NAME),
    required("KeySchema", &LONG_KEY),
    required("Projection", &Shape::Structure(&PROJECTION)),
    optional("ProvisionedThroughput", &Shape::Structure(&PROVISIONED)),
];

static PROJECTION: Structure = Structure {
    class: "Projection",
    members: &[
        optional("NonKeyAttributes", &List { of: &KEY_NAME, min: 1, max: 20 }),
        optional("ProjectionType", &Choice(&["ALL", "INCLUDE", "KEYS_ONLY"])),
    ],
};

static INDEX_UPDATES: Shape = List { of: &Shape::Structure(&INDEX_UPDATE), min: 0, max: ANY };

static INDEX_UPDATE: Structure = Structure {
    class: "GlobalSecondaryIndexUpdate",
    members: &[
        optional("Update", &Shape::Structure(&UPDATE_INDEX)),
        optional("Create", &Shape::Structure(&CREATE_INDEX)),
        optional("Delete", &Shape::Structure(&DELETE_INDEX)),
    ],
};

static UPDATE_INDEX: Structure = Structure {
    class: "UpdateGlobalSecondaryIndexAction",
    members: &[
        optional("WarmThroughput", &Shape::Structure(&WARM)),
        optional("OnDemandThroughput", &Shape::Structure(&ON_DEMAND)),
        required("IndexName", &INDEX_NAME),
        // The API reference no longer requires it. It is required here, because the other changes
        // are not supported and the error of AWS without it is known.
        required("ProvisionedThroughput", &Shape::Structure(&PROVISIONED)),
    ],
};

static CREATE_INDEX: Structure =
    Structure { class: "CreateGlobalSecondaryIndexAction", members: &GLOBAL_INDEX_MEMBERS };

static DELETE_INDEX: Structure = Structure {
    class: "DeleteGlobalSecondaryIndexAction",
    members: &[required("IndexName", &INDEX_NAME)],
};

static VECTOR_INDEXES: Shape = List { of: &Shape::Structure(&VECTOR_INDEX), min: 0, max: ANY };

static VECTOR_INDEX: Structure = Structure { class: "VectorIndex", members: &VECTOR_INDEX_MEMBERS };

static VECTOR_INDEX_MEMBERS: [Member; 6] = [
    required("DistanceFunction", &Choice(&["COSINE", "DOT_PRODUCT", "EUCLIDEAN"])),
    required("IndexName", &INDEX_NAME),
    required("Projection", &Shape::Structure(&PROJECTION)),
    required("VectorAttribute", &Shape::Structure(&VECTOR_ATTRIBUTE)),
    optional("SearchSchema", &List { of: &Shape::Structure(&SEARCH_ELEMENT), min: 1, max: ANY }),
    required("Dimensions", &UNITS),
];

static VECTOR_ATTRIBUTE: Structure = Structure {
    class: "VectorAttributeDefinition",
    members: &[required("AttributeName", &KEY_NAME)],
};

static SEARCH_ELEMENT: Structure = Structure {
    class: "SearchSchemaElement",
    members: &[
        required("AttributeName", &TEXT),
        required("SearchSchemaElementType", &Choice(&["HASH", "INLINE_FILTER"])),
    ],
};

static VECTOR_INDEX_UPDATES: Shape =
    List { of: &Shape::Structure(&VECTOR_INDEX_UPDATE), min: 0, max: ANY };

static VECTOR_INDEX_UPDATE: Structure = Structure {
    class: "VectorIndexUpdate",
    members: &[
        optional("Create", &Shape::Structure(&CREATE_VECTOR_INDEX)),
        optional("Delete", &Shape::Structure(&DELETE_VECTOR_INDEX)),
    ],
};

static CREATE_VECTOR_INDEX: Structure =
    Structure { class: "CreateVectorIndexAction", members: &VECTOR_INDEX_MEMBERS };

static DELETE_VECTOR_INDEX: Structure =
    Structure { class: "DeleteVectorIndexAction", members: &[required("IndexName", &INDEX_NAME)] };

static BILLING_MODE: Shape = Choice(&["PROVISIONED", "PAY_PER_REQUEST"]);
pub(super) static TABLE_CLASS: Shape = Choice(&["STANDARD", "STANDARD_INFREQUENT_ACCESS"]);

/// Capacity units, at least 1.
pub(super) static UNITS: Shape = Long { min: 1, max: i64::MAX };
/// Capacity units, or -1 for no limit.
pub(super) static UNITS_OR_NONE: Shape = Long { min: i64::MIN, max: i64::MAX };

static PROVISIONED: Structure = Structure {
    class: "ProvisionedThroughput",
    members: &[required("WriteCapacityUnits", &UNITS), required("ReadCapacityUnits", &UNITS)],
};

static ON_DEMAND: Structure = Structure {
    class: "OnDemandThroughput",
    members: &[
        optional("MaxReadRequestUnits", &UNITS_OR_NONE),
        optional("MaxWriteRequestUnits", &UNITS_OR_NONE),
    ],
};

static WARM: Structure = Structure {
    class: "WarmThroughput",
    members: &[
        optional("ReadUnitsPerSecond", &UNITS_OR_NONE),
        optional("WriteUnitsPerSecond", &UNITS_OR_NONE),
    ],
};

static STREAM: Structure = Structure {
    class: "StreamSpecification",
    members: &[
        optional(
            "StreamViewType",
            &Choice(&["NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES", "KEYS_ONLY"]),
        ),
        required("StreamEnabled", &FLAG),
    ],
};

static SSE: Structure = Structure {
    class: "SSESpecification",
    members: &[
        optional("KMSMasterKeyId", &TEXT),
        optional("SSEType", &Choice(&["AES256", "KMS"])),
        optional("Enabled", &FLAG),
    ],
};

pub(super) static UPDATE_TIME_TO_LIVE: Structure = Structure {
    class: "UpdateTimeToLiveInput",
    members: &[required("TimeToLiveSpecification", &Shape::Structure(&TIME_TO_LIVE)), TABLE_FIRST],
};

static TIME_TO_LIVE: Structure = Structure {
    class: "TimeToLiveSpecification",
    members: &[required("AttributeName", &KEY_NAME), required("Enabled", &FLAG)],
};

pub(super) static UPDATE_CONTINUOUS_BACKUPS: Structure = Structure {
    class: "UpdateContinuousBackupsInput",
    members: &[
        required("PointInTimeRecoverySpecification", &Shape::Structure(&RECOVERY)),
        TABLE_FIRST,
    ],
};

static RECOVERY: Structure = Structure {
    class: "PointInTimeRecoverySpecification",
    members: &[
        optional("RecoveryPeriodInDays", &Integer { min: 1, max: 35 }),
        required("PointInTimeRecoveryEnabled", &FLAG),
    ],
};

pub(super) static TAG_RESOURCE: Structure =
    Structure { class: "TagResourceInput", members: &[RESOURCE_FIRST, required("Tags", &TAGS)] };

pub(super) static UNTAG_RESOURCE: Structure = Structure {
    class: "UntagResourceInput",
    members: &[required("TagKeys", &List { of: &TEXT, min: 0, max: ANY }), RESOURCE_FIRST],
};

pub(super) static LIST_TAGS_OF_RESOURCE: Structure = Structure {
    class: "ListTagsOfResourceInput",
    members: &[optional("NextToken", &TEXT), RESOURCE_FIRST],
};

/// Resource of an operation on tags. A missing one is reported before anything else (observed on
/// AWS).
const RESOURCE_FIRST: Member =
    first("ResourceArn", &Text { min: 1, max: 1283 }, "Invalid TableArn");

static TAGS: Shape = List { of: &Shape::Structure(&TAG), min: 0, max: ANY };
/// Structure of a tag. Core validates its lengths, for which AWS has other messages.
static TAG: Structure =
    Structure { class: "Tag", members: &[required("Value", &TEXT), required("Key", &TEXT)] };
