//! Request shapes of operations on one item.

use super::Shape::{self, Choice, Map};
use super::common::{
    AND_OR, ANY, ATTRIBUTES, CAPACITY, COMPARISON, FLAG, ITEM, METRICS, NAMES, ON_FAILURE, TABLE,
    TEXT, VALUE, VALUES,
};
use super::{Structure, optional, required};

pub(super) static GET_ITEM: Structure = Structure {
    class: "GetItemInput",
    members: &[
        optional("ExpressionAttributeNames", &NAMES),
        optional("ConsistentRead", &FLAG),
        optional("ProjectionExpression", &TEXT),
        optional("AttributesToGet", &ATTRIBUTES),
        optional("ReturnConsumedCapacity", &CAPACITY),
        required("Key", &ITEM),
        required("TableName", &TABLE),
    ],
};

pub(super) static PUT_ITEM: Structure = Structure {
    class: "PutItemInput",
    members: &[
        optional("ReturnValues", &RETURN_VALUES),
        optional("ConditionalOperator", &AND_OR),
        required("Item", &ITEM),
        optional("ConditionExpression", &TEXT),
        optional("ReturnValuesOnConditionCheckFailure", &ON_FAILURE),
        optional("ExpressionAttributeNames", &NAMES),
        optional("ExpressionAttributeValues", &ITEM),
        optional("Expected", &EXPECTED),
        optional("ReturnConsumedCapacity", &CAPACITY),
        optional("ReturnItemCollectionMetrics", &METRICS),
        required("TableName", &TABLE),
    ],
};

pub(super) static DELETE_ITEM: Structure = Structure {
    class: "DeleteItemInput",
    members: &[
        optional("ReturnValues", &RETURN_VALUES),
        optional("ConditionalOperator", &AND_OR),
        optional("ConditionExpression", &TEXT),
        optional("ReturnValuesOnConditionCheckFailure", &ON_FAILURE),
        optional("ExpressionAttributeNames", &NAMES),
        optional("ExpressionAttributeValues", &ITEM),
        optional("Expected", &EXPECTED),
        optional("ReturnConsumedCapacity", &CAPACITY),
        optional("ReturnItemCollectionMetrics", &METRICS),
        required("Key", &ITEM),
        required("TableName", &TABLE),
    ],
};

pub(super) static UPDATE_ITEM: Structure = Structure {
    class: "UpdateItemInput",
    members: &[
        optional("ConditionExpression", &TEXT),
        optional("ExpressionAttributeNames", &NAMES),
        optional("Expected", &EXPECTED),
        optional("ReturnConsumedCapacity", &CAPACITY),
        required("TableName", &TABLE),
        optional("ReturnValues", &RETURN_VALUES),
        optional("ConditionalOperator", &AND_OR),
        optional("ReturnValuesOnConditionCheckFailure", &ON_FAILURE),
        optional("AttributeUpdates", &ATTRIBUTE_UPDATES),
        optional("ExpressionAttributeValues", &ITEM),
        optional("UpdateExpression", &TEXT),
        optional("ReturnItemCollectionMetrics", &METRICS),
        required("Key", &ITEM),
    ],
};

static RETURN_VALUES: Shape = Choice(&["ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"]);

static EXPECTED: Shape =
    Map { of: &Shape::Structure(&EXPECTED_VALUE), min: 0, max: ANY, names: None };

static EXPECTED_VALUE: Structure = Structure {
    class: "ExpectedAttributeValue",
    members: &[
        optional("AttributeValueList", &VALUES),
        optional("ComparisonOperator", &COMPARISON),
        optional("Exists", &FLAG),
        optional("Value", &VALUE),
    ],
};

static ATTRIBUTE_UPDATES: Shape =
    Map { of: &Shape::Structure(&VALUE_UPDATE), min: 0, max: ANY, names: None };

static VALUE_UPDATE: Structure = Structure {
    class: "AttributeValueUpdate",
    members: &[optional("Action", &ACTION), optional("Value", &VALUE)],
};

static ACTION: Shape = Choice(&["ADD", "DELETE", "PUT"]);
