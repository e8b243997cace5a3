//! Errors with a different wording for legacy parameters.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use tabla_core::{MemoryStore, Store};
use tabla_server::spawn;
use tabla_sqlite::{SqliteConfig, SqliteStore};

use crate::client::Client;

const MISMATCH: &str = "One or more parameter values were invalid: Type mismatch for Index Key";
const EMPTY: &str = "One or more parameter values are not valid. A value specified for a secondary \
                     index key is not supported. The AttributeValue for a key attribute cannot \
                     contain an empty string value.";

fn table() -> Json {
    let definitions =
        ["pk", "sk", "g", "l"].map(|name| json!({ "AttributeName": name, "AttributeType": "S" }));
    let hash = |name| json!({ "AttributeName": name, "KeyType": "HASH" });
    let range = |name| json!({ "AttributeName": name, "KeyType": "RANGE" });
    let all = json!({ "ProjectionType": "ALL" });
    json!({
        "TableName": "things", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": definitions,
        "KeySchema": [hash("pk"), range("sk")],
        "LocalSecondaryIndexes": [
            { "IndexName": "by-l", "KeySchema": [hash("pk"), range("l")], "Projection": all },
        ],
        "GlobalSecondaryIndexes": [
            { "IndexName": "by-g", "KeySchema": [hash("g")], "Projection": all },
        ],
    })
}

/// For a wrong type in `AttributeUpdates`, AWS uses the error of a put (dynalite's tests). DynamoDB
/// Local does so for an empty value; it accepts a wrong type for the key of a global index, and for
/// a local one its error is "Updates on index keys must be of the same data type as the key
/// attribute".
#[tokio::test]
async fn index_key_in_attribute_updates_has_the_error_of_a_put() {
    words_for_keys_of_indexes(Arc::new(MemoryStore::new())).await;
    let sqlite = SqliteStore::open(&SqliteConfig::in_memory()).await.unwrap();
    words_for_keys_of_indexes(Arc::new(sqlite)).await;
}

async fn words_for_keys_of_indexes(store: Arc<dyn Store>) {
    let server = spawn(store).await.expect("the server starts");
    let mut client = Client::connect(server.address()).await;
    assert_eq!(client.ask("CreateTable", table().to_string()).await.status, 200);
    let key = json!({ "pk": { "S": "a" }, "sk": { "S": "b" } });
    for (name, action, value, message) in [
        (
            "g",
            "PUT",
            json!({ "N": "1" }),
            format!("{MISMATCH} g Expected: S Actual: N IndexName: by-g"),
        ),
        (
            "l",
            "PUT",
            json!({ "N": "1" }),
            format!("{MISMATCH} l Expected: S Actual: N IndexName: by-l"),
        ),
        (
            "g",
            "ADD",
            json!({ "N": "1" }),
            format!("{MISMATCH} g Expected: S Actual: N IndexName: by-g"),
        ),
        (
            "g",
            "PUT",
            json!({ "NULL": true }),
            format!("{MISMATCH} g Expected: S Actual: NULL IndexName: by-g"),
        ),
        ("g", "PUT", json!({ "S": "" }), format!("{EMPTY} IndexName: by-g, IndexKey: g")),
        ("l", "PUT", json!({ "S": "" }), format!("{EMPTY} IndexName: by-l, IndexKey: l")),
    ] {
        let update = json!({
            "TableName": "things", "Key": key,
            "AttributeUpdates": {
                "n": { "Value": { "N": "1" } },
                name: { "Action": action, "Value": value },
            },
        });
        let answer = client.ask("UpdateItem", update.to_string()).await;
        assert_eq!((answer.status, answer.exception().as_str()), (400, "ValidationException"));
        assert_eq!(answer.json()["message"], message);
    }
    let expression = json!({
        "TableName": "things", "Key": key, "UpdateExpression": "SET g = :g",
        "ExpressionAttributeValues": { ":g": { "N": "1" } },
    });
    assert_eq!(
        client.ask("UpdateItem", expression.to_string()).await.json()["message"],
        "The update expression attempted to update the secondary index key to unsupported type"
    );
    let scan = client.ask("Scan", r#"{"TableName":"things"}"#).await.json();
    assert_eq!(scan["Count"], 0, "a refused write changes nothing");
}
