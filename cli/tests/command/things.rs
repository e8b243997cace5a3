//! Items of the load test. All attributes follow from key and version, which reveals a torn write.

use serde_json::{Value, json};

pub(crate) const TABLE: &str = "things";
/// Name of the index of [`TABLE`]. Every write moves the item's entry.
pub(crate) const INDEX: &str = "by-group";

/// Returns the CreateTable request of [`TABLE`].
pub(crate) fn table() -> Value {
    json!({
        "TableName": TABLE,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            { "AttributeName": "pk", "AttributeType": "S" },
            { "AttributeName": "sk", "AttributeType": "S" },
            { "AttributeName": "group", "AttributeType": "S" },
            { "AttributeName": "version", "AttributeType": "N" },
        ],
        "KeySchema": [
            { "AttributeName": "pk", "KeyType": "HASH" },
            { "AttributeName": "sk", "KeyType": "RANGE" },
        ],
        "GlobalSecondaryIndexes": [{
            "IndexName": INDEX,
            "KeySchema": [
                { "AttributeName": "group", "KeyType": "HASH" },
                { "AttributeName": "version", "KeyType": "RANGE" },
            ],
            "Projection": { "ProjectionType": "ALL" },
        }],
    })
}

/// Key of an item: partition key and sort key.
pub(crate) type Name = (String, String);

pub(crate) fn group(version: u64) -> String {
    format!("group-{:02}", version % 64)
}

pub(crate) fn key((pk, sk): &Name) -> Value {
    json!({ "pk": { "S": pk }, "sk": { "S": sk } })
}

/// Returns the item with this key and version.
pub(crate) fn item(name: &Name, version: u64) -> Value {
    let mut item = key(name);
    item["group"] = json!({ "S": group(version) });
    item["version"] = json!({ "N": version.to_string() });
    item["content"] = json!({ "S": content(name, version) });
    item
}

/// Returns the content of a version: up to 1 KB, or about 20 KB for every 50th version.
fn content((pk, sk): &Name, version: u64) -> String {
    let part = format!("{pk}/{sk}#{version} ");
    part.repeat(match version % 50 {
        0 => 1_000,
        small => small as usize,
    })
}

/// Returns the version of an item, and checks that all its attributes are of that version.
pub(crate) fn version_of(name: &Name, found: &Value) -> u64 {
    let version = found["version"]["N"].as_str().and_then(|text| text.parse().ok());
    let version = version.unwrap_or_else(|| panic!("no version: {found}"));
    assert_eq!(*found, item(name, version));
    version
}

/// Returns a GetItem request, strongly consistent.
pub(crate) fn get(name: &Name) -> Value {
    json!({ "TableName": TABLE, "Key": key(name), "ConsistentRead": true })
}

/// Returns an UpdateItem request to `version`, on condition that the item has the version `before`,
/// or does not exist if that is `None`.
pub(crate) fn update(name: &Name, before: Option<u64>, version: u64) -> Value {
    let mut body = json!({
        "TableName": TABLE,
        "Key": key(name),
        "UpdateExpression": "SET #group = :group, version = :version, content = :content",
        "ConditionExpression": "attribute_not_exists(pk)",
        "ExpressionAttributeNames": { "#group": "group" },
        "ExpressionAttributeValues": {
            ":group": { "S": group(version) },
            ":version": { "N": version.to_string() },
            ":content": { "S": content(name, version) },
        },
    });
    if let Some(before) = before {
        body["ConditionExpression"] = json!("version = :before");
        body["ExpressionAttributeValues"][":before"] = json!({ "N": before.to_string() });
    }
    body
}

pub(crate) fn query(partition: &str) -> Value {
    json!({
        "TableName": TABLE,
        "KeyConditionExpression": "pk = :pk",
        "ExpressionAttributeValues": { ":pk": { "S": partition } },
        "ConsistentRead": true,
    })
}

/// Returns keys and versions of the items of a page, and checks that it is the last page.
pub(crate) fn found(partition: &str, page: &Value) -> Vec<(Name, u64)> {
    assert_eq!(page.get("LastEvaluatedKey"), None, "the page is the last one");
    let items = page["Items"].as_array().expect("a list").iter();
    let found = items.map(|item| {
        let name = (partition.to_owned(), item["sk"]["S"].as_str().expect("a key").to_owned());
        let version = version_of(&name, item);
        (name, version)
    });
    found.collect()
}
