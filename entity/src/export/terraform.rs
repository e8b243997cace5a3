//! Tables as a configuration of Terraform's.

use serde_json::{Map, Value, json};

use super::{distinct, fingerprint};
use crate::TableDesign;
use tabla_core::ops::{KeyRole, KeySchemaElement, SecondaryIndex};

/// A configuration of Terraform's, for a file whose name ends in `.tf.json`, that creates these
/// tables with its AWS provider, each with the name beside it.
///
/// The keys of indexes are given as `hash_key` and `range_key`, which every version of the provider
/// reads. Versions from 6.29 on warn that `key_schema` is to take their place, but those before it
/// refuse that. A key that encrypts a table has to be given by its ARN: the provider takes nothing
/// else.
///
/// ```
/// use tabla::entity::TableDesign;
/// use tabla::entity::export::terraform;
///
/// let shop = TableDesign::new("shop").key("PK", "SK").ttl("expires");
/// let configuration = terraform(&[("shop-test", &shop)]);
///
/// let table = &configuration["resource"]["aws_dynamodb_table"]["shop-test"];
/// assert_eq!(table["hash_key"], "PK");
/// assert_eq!(table["ttl"]["attribute_name"], "expires");
/// let file = format!("{configuration:#}");
/// # assert!(file.starts_with("{\n"));
/// ```
pub fn terraform<S: AsRef<str>>(tables: &[(S, &TableDesign)]) -> Value {
    let names = tables.iter().map(|(name, _)| {
        let short = label(name.as_ref());
        let long = format!("{short}_{}", fingerprint(name.as_ref()));
        (short, long)
    });
    let labels = distinct(names.collect());
    let resources: Map<String, Value> = tables
        .iter()
        .zip(labels)
        .map(|((name, design), label)| (label, table(name.as_ref(), design)))
        .collect();
    json!({ "resource": { "aws_dynamodb_table": resources } })
}

/// The label of a table: its name, as far as Terraform's identifiers go. They start with a letter
/// or an underscore.
fn label(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let label: String = name.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    match label.chars().next() {
        Some(first) if first.is_ascii_alphabetic() || first == '_' => label,
        _ => format!("table_{label}"),
    }
}

/// Text that means itself: Terraform looks for expressions in all text.
fn literal(text: &str) -> String {
    text.replace("${", "$${").replace("%{", "%%{")
}

fn table(name: &str, design: &TableDesign) -> Value {
    let request = design.create(name);
    let attributes = request.attribute_definitions.iter().map(
        |attribute| json!({ "name": literal(&attribute.name), "type": attribute.kind.code() }),
    );
    let mut table = json!({
        "name": literal(name),
        "billing_mode": "PAY_PER_REQUEST",
        "attribute": attributes.collect::<Vec<_>>(),
    });
    put_key(&mut table, &request.key_schema);
    if !request.global_secondary_indexes.is_empty() {
        table["global_secondary_index"] =
            request.global_secondary_indexes.iter().map(index).collect();
    }
    if let Some(attribute) = &design.ttl {
        table["ttl"] = json!({ "attribute_name": literal(attribute), "enabled": true });
    }
    if let Some(view_type) = design.stream {
        table["stream_enabled"] = json!(true);
        table["stream_view_type"] = json!(view_type.as_str());
    }
    if let Some(sse) = &design.sse {
        let mut encryption = json!({ "enabled": sse.enabled });
        if let Some(key) = &sse.kms_master_key_id {
            encryption["kms_key_arn"] = json!(literal(key));
        }
        table["server_side_encryption"] = encryption;
    }
    if design.recovery {
        table["point_in_time_recovery"] = json!({ "enabled": true });
    }
    table
}

fn index(index: &SecondaryIndex) -> Value {
    let mut written = json!({
        "name": literal(&index.name),
        "projection_type": index.projection.kind.as_str(),
    });
    put_key(&mut written, &index.key_schema);
    let carried: Vec<String> =
        index.projection.non_key_attributes.iter().map(|name| literal(name)).collect();
    if !carried.is_empty() {
        written["non_key_attributes"] = json!(carried);
    }
    written
}

fn put_key(written: &mut Value, key: &[KeySchemaElement]) {
    for part in key {
        let argument = match part.role {
            KeyRole::Partition => "hash_key",
            KeyRole::Sort => "range_key",
        };
        written[argument] = json!(literal(&part.name));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::tests::{ALIKE, everything};
    use super::*;

    fn written(name: &str, design: &TableDesign) -> Value {
        terraform(&[(name, design)])["resource"]["aws_dynamodb_table"][name].clone()
    }

    #[test]
    fn a_small_table() {
        let design = TableDesign::new("shop").key("PK", "SK").index("GSI1", "GSI1PK", "GSI1SK");
        let expected = json!({
            "resource": {
                "aws_dynamodb_table": {
                    "shop-test": {
                        "name": "shop-test",
                        "billing_mode": "PAY_PER_REQUEST",
                        "hash_key": "PK",
                        "range_key": "SK",
                        "attribute": [
                            { "name": "PK", "type": "S" },
                            { "name": "SK", "type": "S" },
                            { "name": "GSI1PK", "type": "S" },
                            { "name": "GSI1SK", "type": "S" },
                        ],
                        "global_secondary_index": [{
                            "name": "GSI1",
                            "hash_key": "GSI1PK",
                            "range_key": "GSI1SK",
                            "projection_type": "ALL",
                        }],
                    },
                },
            },
        });
        assert_eq!(terraform(&[("shop-test", &design)]), expected);
    }

    #[test]
    fn what_a_table_can_have_besides() {
        let table = written("log", &everything());
        assert_eq!(table["ttl"], json!({ "attribute_name": "expires", "enabled": true }));
        assert_eq!(table["stream_enabled"], true);
        assert_eq!(table["stream_view_type"], "NEW_AND_OLD_IMAGES");
        assert_eq!(
            table["server_side_encryption"],
            json!({ "enabled": true, "kms_key_arn": "arn:aws:kms:eu-west-1:111122223333:key/k" })
        );
        assert_eq!(table["point_in_time_recovery"], json!({ "enabled": true }));
        assert_eq!(
            table["global_secondary_index"],
            json!([
                {
                    "name": "by-day",
                    "hash_key": "day",
                    "range_key": "SK",
                    "projection_type": "KEYS_ONLY",
                },
                {
                    "name": "by-user",
                    "hash_key": "user",
                    "projection_type": "INCLUDE",
                    "non_key_attributes": ["kind", "size"],
                },
            ])
        );
    }

    #[test]
    fn the_key_attributes_and_no_others_are_defined_once() {
        let table = written("log", &everything());
        let attributes = table["attribute"].as_array().unwrap();
        let defined: Vec<&str> =
            attributes.iter().map(|attribute| attribute["name"].as_str().unwrap()).collect();
        assert_eq!(defined, ["PK", "SK", "day", "user"]);
        assert_eq!(attributes[2]["type"], "N");
        let mut keys = BTreeSet::new();
        let indexes = table["global_secondary_index"].as_array().unwrap();
        for written in std::iter::once(&table).chain(indexes) {
            keys.extend(["hash_key", "range_key"].iter().filter_map(|key| written[key].as_str()));
        }
        assert_eq!(keys, defined.into_iter().collect());
    }

    #[test]
    fn labels_are_valid_and_distinct() {
        let design = everything();
        let mut names: Vec<&str> = ALIKE.to_vec();
        names.extend(["2025-01", "-01", ".01", "_01", "table_2025-01"]);
        let mut tables: Vec<_> = names.iter().map(|name| (name, &design)).collect();
        let configuration = terraform(&tables);
        let resources = configuration["resource"]["aws_dynamodb_table"].as_object().unwrap();
        assert_eq!(resources.len(), names.len());
        for label in resources.keys() {
            let mut rest = label.chars();
            let first = rest.next().unwrap();
            assert!(first.is_ascii_alphabetic() || first == '_', "{label}");
            assert!(rest.all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)), "{label}");
        }
        tables.reverse();
        assert_eq!(terraform(&tables), configuration);
    }

    #[test]
    fn text_that_looks_like_an_expression_means_itself() {
        let design = TableDesign::new("t").key("${a}", "%{b}").ttl("$c");
        let table = written("t", &design);
        assert_eq!(table["hash_key"], "$${a}");
        assert_eq!(table["range_key"], "%%{b}");
        assert_eq!(table["attribute"][0]["name"], "$${a}");
        assert_eq!(table["ttl"]["attribute_name"], "$c");
    }
}
