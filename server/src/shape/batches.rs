//! Request shapes of batches and transactions.

use super::Shape::{self, List, Map, Text};
use super::common::{
    ATTRIBUTES, CAPACITY, FLAG, ITEM, METRICS, NAMES, ON_FAILURE, TABLE, TABLES, TEXT,
};
use super::{Structure, optional, required};

pub(super) static BATCH_GET_ITEM: Structure = Structure {
    class: "BatchGetItemInput",
    members: &[
        optional("ReturnConsumedCapacity", &CAPACITY),
        required("RequestItems", &GET_REQUESTS),
    ],
};

static GET_REQUESTS: Shape =
    Map { of: &Shape::Structure(&KEYS_AND_ATTRIBUTES), min: 1, max: 100, names: TABLES };

static KEYS_AND_ATTRIBUTES: Structure = Structure {
    class: "KeysAndAttributes",
    members: &[
        optional("ExpressionAttributeNames", &NAMES),
        required("Keys", &KEYS),
        optional("ConsistentRead", &FLAG),
        optional("ProjectionExpression", &TEXT),
        optional("AttributesToGet", &ATTRIBUTES),
    ],
};

static KEYS: Shape = List { of: &ITEM, min: 1, max: 100 };

pub(super) static BATCH_WRITE_ITEM: Structure = Structure {
    class: "BatchWriteItemInput",
    members: &[
        optional("ReturnConsumedCapacity", &CAPACITY),
        required("RequestItems", &WRITE_REQUESTS),
        optional("ReturnItemCollectionMetrics", &METRICS),
    ],
};

static WRITE_REQUESTS: Shape = Map { of: &WRITES, min: 1, max: 25, names: TABLES };

static WRITES: Shape = List { of: &Shape::Structure(&WRITE_REQUEST), min: 1, max: 25 };

static WRITE_REQUEST: Structure = Structure {
    class: "WriteRequest",
    members: &[
        optional("PutRequest", &Shape::Structure(&PUT_REQUEST)),
        optional("DeleteRequest", &Shape::Structure(&DELETE_REQUEST)),
    ],
};

static PUT_REQUEST: Structure =
    Structure { class: "PutRequest", members: &[required("Item", &ITEM)] };

static DELETE_REQUEST: Structure =
    Structure { class: "DeleteRequest", members: &[required("Key", &ITEM)] };

pub(super) static TRANSACT_GET_ITEMS: Structure = Structure {
    class: "TransactGetItemsInput",
    members: &[
        required("TransactItems", &TRANSACT_GETS),
        optional("ReturnConsumedCapacity", &CAPACITY),
    ],
};

static TRANSACT_GETS: Shape = List { of: &Shape::Structure(&TRANSACT_GET_ITEM), min: 1, max: 100 };

static TRANSACT_GET_ITEM: Structure =
    Structure { class: "TransactGetItem", members: &[required("Get", &Shape::Structure(&GET))] };

static GET: Structure = Structure {
    class: "Get",
    members: &[
        optional("ExpressionAttributeNames", &NAMES),
        optional("ProjectionExpression", &TEXT),
        required("Key", &ITEM),
        required("TableName", &TABLE),
    ],
};

pub(super) static TRANSACT_WRITE_ITEMS: Structure = Structure {
    class: "TransactWriteItemsInput",
    members: &[
        required("TransactItems", &TRANSACT_WRITES),
        optional("ClientRequestToken", &Text { min: 1, max: 36 }),
        optional("ReturnConsumedCapacity", &CAPACITY),
        optional("ReturnItemCollectionMetrics", &METRICS),
    ],
};

static TRANSACT_WRITES: Shape =
    List { of: &Shape::Structure(&TRANSACT_WRITE_ITEM), min: 1, max: 100 };

static TRANSACT_WRITE_ITEM: Structure = Structure {
    class: "TransactWriteItem",
    members: &[
        optional("Update", &Shape::Structure(&UPDATE)),
        optional("ConditionCheck", &Shape::Structure(&CONDITION_CHECK)),
        optional("Delete", &Shape::Structure(&DELETE)),
        optional("Put", &Shape::Structure(&PUT)),
    ],
};

static PUT: Structure = Structure {
    class: "Put",
    members: &[
        required("Item", &ITEM),
        optional("ConditionExpression", &TEXT),
        optional("ReturnValuesOnConditionCheckFailure", &ON_FAILURE),
        optional("ExpressionAttributeNames", &NAMES),
        optional("ExpressionAttributeValues", &ITEM),
        required("TableName", &TABLE),
    ],
};

static UPDATE: Structure = Structure {
    class: "Update",
    members: &[
        optional("ConditionExpression", &TEXT),
        optional("ReturnValuesOnConditionCheckFailure", &ON_FAILURE),
        optional("ExpressionAttributeNames", &NAMES),
        optional("ExpressionAttributeValues", &ITEM),
        required("UpdateExpression", &TEXT),
        required("Key", &ITEM),
        required("TableName", &TABLE),
    ],
};

static DELETE: Structure = Structure {
    class: "Delete",
    members: &[
        optional("ConditionExpression", &TEXT),
        optional("ReturnValuesOnConditionCheckFailure", &ON_FAILURE),
        optional("ExpressionAttributeNames", &NAMES),
        optional("ExpressionAttributeValues", &ITEM),
        required("Key", &ITEM),
        required("TableName", &TABLE),
    ],
};

static CONDITION_CHECK: Structure = Structure {
    class: "ConditionCheck",
    members: &[
        required("ConditionExpression", &TEXT),
        optional("ReturnValuesOnConditionCheckFailure", &ON_FAILURE),
        optional("ExpressionAttributeNames", &NAMES),
        optional("ExpressionAttributeValues", &ITEM),
        required("Key", &ITEM),
        required("TableName", &TABLE),
    ],
};
