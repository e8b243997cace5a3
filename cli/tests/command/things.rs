//! What the clients write: items of which every part tells the version.

use serde_json::{Value, json};

pub(crate) const TABLE: &str = "things";
/// The index of [`TABLE`], whose entries move with every write.
pub(crate) const INDEX: &str = "by-group";

/// The table with its index.
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

/// The name of an item: its partition and its sort key.
pub(crate) type Name = (String, String);

pub(crate) fn group(version: u64) -> String {
    format!("group-{:02}", version % 64)
}

pub(crate) fn key((pk, sk): &Name) -> Value {
    json!({ "pk": { "S": pk }, "sk": { "S": sk } })
}

/// An item of this version. All of it follows from the version, so that one of which a part is of
/// another version is found out.
pub(crate) fn item(name: &Name, version: u64) -> Value {
    let mut item = key(name);
    item["group"] = json!({ "S": group(version) });
    item["version"] = json!({ "N": version.to_string() });
    item["content"] = json!({ "S": content(name, version) });
    item
}

/// Mostly some hundred bytes, sometimes several pages of a file.
fn content((pk, sk): &Name, version: u64) -> String {
    let part = format!("{pk}/{sk}#{version} ");
    part.repeat(match version % 50 {
        0 => 1_000,
        small => small as usize,
    })
}

/// The version of an item, all of whose parts have it.
pub(crate) fn version_of(name: &Name, found: &Value) -> u64 {
    let version = found["version"]["N"].as_str().and_then(|text| text.parse().ok());
    let version = version.unwrap_or_else(|| panic!("no version: {found}"));
    assert_eq!(*found, item(name, version));
    version
}

/// A read that sees all that was acknowledged.
pub(crate) fn get(name: &Name) -> Value {
    json!({ "TableName": TABLE, "Key": key(name), "ConsistentRead": true })
}

/// An update to this version, if the item has that one, or none if there is none.
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

/// The versions of the items of a page, which has all of them.
pub(crate) fn found(partition: &str, page: &Value) -> Vec<(Name, u64)> {
    assert_eq!(page.get("LastEvaluatedKey"), None, "one page has them all");
    let items = page["Items"].as_array().expect("a list").iter();
    let found = items.map(|item| {
        let name = (partition.to_owned(), item["sk"]["S"].as_str().expect("a key").to_owned());
        let version = version_of(&name, item);
        (name, version)
    });
    found.collect()
}
