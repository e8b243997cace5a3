//! Request shapes of Query and Scan.

use super::Shape::{self, Choice, Integer, Map};
use super::common::{
    AND_OR, ANY, ATTRIBUTES, CAPACITY, COMPARISON, FLAG, INDEX_NAME, ITEM, NAMES, TABLE, TEXT,
    VALUES,
};
use super::{Structure, optional, required};

pub(super) static QUERY: Structure = Structure {
    class: "QueryInput",
    members: &[
        optional("Select", &SELECT),
        optional("ExpressionAttributeNames", &NAMES),
        optional("IndexName", &INDEX_NAME),
        optional("ExclusiveStartKey", &ITEM),
        optional("ProjectionExpression", &TEXT),
        optional("ReturnConsumedCapacity", &CAPACITY),
        optional("QueryFilter", &CONDITIONS),
        optional("ScanIndexForward", &FLAG),
        required("TableName", &TABLE),
        optional("ConditionalOperator", &AND_OR),
        optional("KeyConditionExpression", &TEXT),
        optional("ExpressionAttributeValues", &ITEM),
        optional("ConsistentRead", &FLAG),
        optional("AttributesToGet", &ATTRIBUTES),
        optional("Limit", &LIMIT),
        optional("FilterExpression", &TEXT),
        optional("KeyConditions", &CONDITIONS),
    ],
};

pub(super) static SCAN: Structure = Structure {
    class: "ScanInput",
    members: &[
        optional("Select", &SELECT),
        optional("ExpressionAttributeNames", &NAMES),
        optional("IndexName", &INDEX_NAME),
        optional("ExclusiveStartKey", &ITEM),
        optional("TotalSegments", &TOTAL_SEGMENTS),
        optional("ProjectionExpression", &TEXT),
        optional("ReturnConsumedCapacity", &CAPACITY),
        required("TableName", &TABLE),
        optional("ConditionalOperator", &AND_OR),
        optional("ScanFilter", &CONDITIONS),
        optional("ExpressionAttributeValues", &ITEM),
        optional("Segment", &SEGMENT),
        optional("ConsistentRead", &FLAG),
        optional("Limit", &LIMIT),
        optional("AttributesToGet", &ATTRIBUTES),
        optional("FilterExpression", &TEXT),
    ],
};

/// Limit on the items of a page.
pub(super) static LIMIT: Shape = Integer { min: 1, max: i64::MAX };

static TOTAL_SEGMENTS: Shape = Integer { min: 1, max: 1_000_000 };
static SEGMENT: Shape = Integer { min: 0, max: 999_999 };

static SELECT: Shape =
    Choice(&["SPECIFIC_ATTRIBUTES", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES"]);

static CONDITIONS: Shape = Map { of: &Shape::Structure(&CONDITION), min: 0, max: ANY, names: None };

static CONDITION: Structure = Structure {
    class: "Condition",
    members: &[
        optional("AttributeValueList", &VALUES),
        required("ComparisonOperator", &COMPARISON),
    ],
};
