//! Parameters of tables that only AWS supports: they are refused, not ignored.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use tabla_core::MemoryStore;
use tabla_server::spawn;

use crate::client::{Answer, Client, THINGS};

fn things() -> Json {
    serde_json::from_str(THINGS).expect("a request is JSON")
}

fn vector_index() -> Json {
    json!({
        "IndexName": "by-meaning", "Dimensions": 3, "DistanceFunction": "COSINE",
        "VectorAttribute": { "AttributeName": "v" }, "Projection": { "ProjectionType": "ALL" },
    })
}

/// Sends a request with one more parameter, and checks that it is refused.
async fn ask_for(
    client: &mut Client,
    operation: &str,
    mut request: Json,
    parameter: &str,
    value: &Json,
) -> Answer {
    request[parameter] = value.clone();
    client.ask(operation, request.to_string()).await
}

#[track_caller]
fn assert_refused(answer: &Answer, parameter: &str, why: &str) {
    assert_eq!((answer.status, answer.exception().as_str()), (400, "ValidationException"));
    let message = format!("{parameter} is not supported by this server: {why}");
    assert_eq!(answer.json()["message"], message);
}

const REPLICAS: &str = "replicas need multiple AWS Regions";

#[tokio::test]
async fn create_table_refuses_parameters_that_only_aws_supports() {
    let server = spawn(Arc::new(MemoryStore::new())).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    let source = json!("arn:aws:dynamodb:eu-west-1:123456789012:table/things");
    for (parameter, value, why) in [
        ("VectorIndexes", json!([vector_index()]), "this server has no vector indexes"),
        ("GlobalTableSourceArn", source, REPLICAS),
        ("GlobalTableSettingsReplicationMode", json!("ENABLED"), REPLICAS),
        ("ResourcePolicy", json!("{}"), "this server has no accounts to grant access to"),
    ] {
        let answer = ask_for(&mut client, "CreateTable", things(), parameter, &value).await;
        assert_refused(&answer, parameter, why);
    }
    assert_eq!(client.ask("ListTables", "{}").await.json(), json!({ "TableNames": [] }));
    // A null member counts as absent.
    let answer = ask_for(&mut client, "CreateTable", things(), "VectorIndexes", &Json::Null).await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[tokio::test]
async fn update_table_refuses_parameters_that_only_aws_supports() {
    let server = spawn(Arc::new(MemoryStore::new())).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    client.ask("CreateTable", THINGS).await;
    let describe = r#"{"TableName":"things"}"#;
    let before = client.ask("DescribeTable", describe).await.json();
    let region = json!({ "RegionName": "eu-west-1" });
    for (parameter, value, why) in [
        (
            "VectorIndexUpdates",
            json!([{ "Create": vector_index() }]),
            "this server has no vector indexes",
        ),
        ("ReplicaUpdates", json!([{ "Create": region }]), REPLICAS),
        ("GlobalTableWitnessUpdates", json!([{ "Create": region }]), REPLICAS),
        ("MultiRegionConsistency", json!("STRONG"), REPLICAS),
        ("GlobalTableSettingsReplicationMode", json!("ENABLED"), REPLICAS),
        ("DisassociationProtectionEnabled", json!(true), REPLICAS),
    ] {
        // The parameter is refused alone and beside a valid change.
        for request in [
            json!({ "TableName": "things" }),
            json!({ "TableName": "things", "DeletionProtectionEnabled": true }),
        ] {
            let answer = ask_for(&mut client, "UpdateTable", request, parameter, &value).await;
            assert_refused(&answer, parameter, why);
        }
    }
    assert_eq!(client.ask("DescribeTable", describe).await.json(), before);
}

#[tokio::test]
async fn structural_errors_are_reported_before_refused_parameters() {
    let server = spawn(Arc::new(MemoryStore::new())).await.unwrap();
    let mut client = Client::connect(server.address()).await;
    let mut index = vector_index();
    index["DistanceFunction"] = json!("MANHATTAN");
    for (value, exception, message) in [
        (json!("by-meaning"), "SerializationException", ""),
        (
            json!([index]),
            "ValidationException",
            "1 validation error detected: Value 'MANHATTAN' at \
             'vectorIndexes.1.member.distanceFunction' failed to satisfy constraint: Member must \
             satisfy enum value set: [COSINE, DOT_PRODUCT, EUCLIDEAN]",
        ),
    ] {
        let answer = ask_for(&mut client, "CreateTable", things(), "VectorIndexes", &value).await;
        assert_eq!((answer.status, answer.exception().as_str()), (400, exception));
        let json = answer.json();
        assert!(message.is_empty() || json["message"] == message, "{json}");
    }
    assert_eq!(client.ask("ListTables", "{}").await.json(), json!({ "TableNames": [] }));
}
