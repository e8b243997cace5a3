//! Tables as a template of CloudFormation's.

use serde_json::{Map, Value, json};

use super::{distinct, fingerprint, projection};
use crate::TableDesign;
use tabla_core::ops::{KeySchemaElement, SseSpecification};

/// The longest identifier has 255 characters, and something is added to each.
const LONGEST: usize = 200;

/// A template of CloudFormation's that creates these tables, each with the name beside it.
///
/// A stack that is deleted leaves its tables behind, and so does one that replaces them: what is in
/// a table is worth more than a tidy account. The names and ARNs of the tables, and the ARNs of
/// their streams, are outputs.
///
/// ```
/// use tabla::entity::TableDesign;
/// use tabla::entity::export::cloudformation;
///
/// let shop = TableDesign::new("shop").key("PK", "SK").ttl("expires");
/// let template = cloudformation(&[("shop-test", &shop)]);
///
/// let table = &template["Resources"]["ShopTestTable"];
/// assert_eq!(table["Type"], "AWS::DynamoDB::Table");
/// assert_eq!(table["Properties"]["TableName"], "shop-test");
/// assert_eq!(template["Outputs"]["ShopTestTableName"]["Value"]["Ref"], "ShopTestTable");
/// let file = format!("{template:#}");
/// # assert!(file.starts_with("{\n"));
/// ```
pub fn cloudformation<S: AsRef<str>>(tables: &[(S, &TableDesign)]) -> Value {
    let names = tables.iter().map(|(name, _)| {
        let short = logical_id(name.as_ref());
        let long = format!("{short}{}", fingerprint(name.as_ref()));
        (short, long)
    });
    let mut resources = Map::new();
    let mut outputs = Map::new();
    for ((name, design), id) in tables.iter().zip(distinct(names.collect())) {
        outputs.insert(format!("{id}Name"), json!({ "Value": { "Ref": id } }));
        outputs.insert(format!("{id}Arn"), json!({ "Value": { "Fn::GetAtt": [id, "Arn"] } }));
        if design.stream.is_some() {
            let arn = json!({ "Value": { "Fn::GetAtt": [id, "StreamArn"] } });
            outputs.insert(format!("{id}StreamArn"), arn);
        }
        let resource = json!({
            "Type": "AWS::DynamoDB::Table",
            "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain",
            "Properties": properties(name.as_ref(), design),
        });
        resources.insert(id, resource);
    }
    json!({
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": resources,
        "Outputs": outputs,
    })
}

/// The identifier of a table: its name without the punctuation, which CloudFormation has none of.
/// The word at the end keeps the identifier of one table apart from the outputs of another.
fn logical_id(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let capitalised = words.flat_map(|word| {
        let first = word.chars().take(1).map(|c| c.to_ascii_uppercase());
        first.chain(word.chars().skip(1))
    });
    capitalised.take(LONGEST).chain("Table".chars()).collect()
}

fn properties(name: &str, design: &TableDesign) -> Value {
    let request = design.create(name);
    let definitions = request.attribute_definitions.iter().map(
        |attribute| json!({ "AttributeName": attribute.name, "AttributeType": attribute.kind.code() }),
    );
    let mut properties = json!({
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": definitions.collect::<Vec<_>>(),
        "KeySchema": key_schema(&request.key_schema),
    });
    if !request.global_secondary_indexes.is_empty() {
        let indexes = request.global_secondary_indexes.iter().map(|index| {
            json!({
                "IndexName": index.name,
                "KeySchema": key_schema(&index.key_schema),
                "Projection": projection(&index.projection),
            })
        });
        properties["GlobalSecondaryIndexes"] = indexes.collect();
    }
    if let Some(attribute) = &design.ttl {
        properties["TimeToLiveSpecification"] =
            json!({ "AttributeName": attribute, "Enabled": true });
    }
    if let Some(view_type) = design.stream {
        properties["StreamSpecification"] = json!({ "StreamViewType": view_type.as_str() });
    }
    if let Some(sse) = &design.sse {
        properties["SSESpecification"] = encryption(sse);
    }
    if design.recovery {
        properties["PointInTimeRecoverySpecification"] =
            json!({ "PointInTimeRecoveryEnabled": true });
    }
    properties
}

fn key_schema(key: &[KeySchemaElement]) -> Value {
    key.iter()
        .map(|part| json!({ "AttributeName": part.name, "KeyType": part.role.as_str() }))
        .collect()
}

fn encryption(sse: &SseSpecification) -> Value {
    let mut written = json!({ "SSEEnabled": sse.enabled });
    if let Some(kind) = &sse.sse_type {
        written["SSEType"] = json!(kind);
    }
    if let Some(key) = &sse.kms_master_key_id {
        written["KMSMasterKeyId"] = json!(key);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::tests::{ALIKE, everything};
    use super::*;

    #[test]
    fn a_small_table() {
        let design = TableDesign::new("shop").key("PK", "SK").index("GSI1", "GSI1PK", "GSI1SK");
        let expected = json!({
            "AWSTemplateFormatVersion": "2010-09-09",
            "Resources": {
                "ShopTestTable": {
                    "Type": "AWS::DynamoDB::Table",
                    "DeletionPolicy": "Retain",
                    "UpdateReplacePolicy": "Retain",
                    "Properties": {
                        "TableName": "shop-test",
                        "BillingMode": "PAY_PER_REQUEST",
                        "AttributeDefinitions": [
                            { "AttributeName": "PK", "AttributeType": "S" },
                            { "AttributeName": "SK", "AttributeType": "S" },
                            { "AttributeName": "GSI1PK", "AttributeType": "S" },
                            { "AttributeName": "GSI1SK", "AttributeType": "S" },
                        ],
                        "KeySchema": [
                            { "AttributeName": "PK", "KeyType": "HASH" },
                            { "AttributeName": "SK", "KeyType": "RANGE" },
                        ],
                        "GlobalSecondaryIndexes": [{
                            "IndexName": "GSI1",
                            "KeySchema": [
                                { "AttributeName": "GSI1PK", "KeyType": "HASH" },
                                { "AttributeName": "GSI1SK", "KeyType": "RANGE" },
                            ],
                            "Projection": { "ProjectionType": "ALL" },
                        }],
                    },
                },
            },
            "Outputs": {
                "ShopTestTableName": { "Value": { "Ref": "ShopTestTable" } },
                "ShopTestTableArn": { "Value": { "Fn::GetAtt": ["ShopTestTable", "Arn"] } },
            },
        });
        assert_eq!(cloudformation(&[("shop-test", &design)]), expected);
    }

    #[test]
    fn what_a_table_can_have_besides() {
        let template = cloudformation(&[("log", &everything())]);
        let properties = &template["Resources"]["LogTable"]["Properties"];
        assert_eq!(
            properties["TimeToLiveSpecification"],
            json!({ "AttributeName": "expires", "Enabled": true })
        );
        assert_eq!(
            properties["StreamSpecification"],
            json!({ "StreamViewType": "NEW_AND_OLD_IMAGES" })
        );
        assert_eq!(
            properties["SSESpecification"],
            json!({
                "SSEEnabled": true,
                "SSEType": "KMS",
                "KMSMasterKeyId": "arn:aws:kms:eu-west-1:111122223333:key/k",
            })
        );
        assert_eq!(
            properties["PointInTimeRecoverySpecification"],
            json!({ "PointInTimeRecoveryEnabled": true })
        );
        let indexes = &properties["GlobalSecondaryIndexes"];
        assert_eq!(indexes[0]["Projection"], json!({ "ProjectionType": "KEYS_ONLY" }));
        assert_eq!(
            indexes[1]["Projection"],
            json!({ "ProjectionType": "INCLUDE", "NonKeyAttributes": ["kind", "size"] })
        );
        assert_eq!(
            template["Outputs"]["LogTableStreamArn"],
            json!({ "Value": { "Fn::GetAtt": ["LogTable", "StreamArn"] } })
        );
    }

    #[test]
    fn the_key_attributes_and_no_others_are_defined_once() {
        let template = cloudformation(&[("log", &everything())]);
        let properties = &template["Resources"]["LogTable"]["Properties"];
        let name = |entry: &Value| entry["AttributeName"].as_str().unwrap().to_owned();
        let names = |entries: &Value| -> Vec<String> {
            entries.as_array().unwrap().iter().map(name).collect()
        };
        let defined = names(&properties["AttributeDefinitions"]);
        assert_eq!(defined, ["PK", "SK", "day", "user"]);
        assert_eq!(properties["AttributeDefinitions"][2]["AttributeType"], "N");
        let mut keys: BTreeSet<String> = names(&properties["KeySchema"]).into_iter().collect();
        for index in properties["GlobalSecondaryIndexes"].as_array().unwrap() {
            keys.extend(names(&index["KeySchema"]));
        }
        assert_eq!(keys, defined.into_iter().collect());
    }

    #[test]
    fn identifiers_are_valid_and_distinct() {
        let design = everything();
        let long = ["x".repeat(255), format!("{}y", "x".repeat(254))];
        let mut names: Vec<&str> = ALIKE.to_vec();
        names.extend(["---", "a", "a-table", "a-table-arn", "a-stream"]);
        names.extend(long.iter().map(String::as_str));
        let tables: Vec<_> = names.iter().map(|name| (name, &design)).collect();
        let template = cloudformation(&tables);
        let resources = template["Resources"].as_object().unwrap();
        let outputs = template["Outputs"].as_object().unwrap();
        assert_eq!(resources.len(), names.len());
        assert_eq!(outputs.len(), 3 * names.len());
        let ids: BTreeSet<&String> = resources.keys().chain(outputs.keys()).collect();
        assert_eq!(ids.len(), 4 * names.len());
        for id in ids {
            assert!(id.len() <= 255 && id.chars().all(|c| c.is_ascii_alphanumeric()), "{id}");
        }
    }

    #[test]
    fn identifiers_do_not_depend_on_the_order() {
        let design = everything();
        let mut tables = ALIKE.map(|name| (name, &design));
        let template = cloudformation(&tables);
        tables.reverse();
        assert_eq!(cloudformation(&tables), template);
    }
}
