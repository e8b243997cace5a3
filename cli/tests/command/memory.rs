//! Memory of a request: proportional to the bytes of its body, not to the number of its parts.

use serde_json::json;
use tokio::time::timeout;

use crate::process::{PATIENCE, Served};
use crate::wire::head;

const MIB: u64 = 1 << 20;

/// Size of each request, in bytes.
const BODY: usize = 4 << 20;

/// Limit on the growth of memory by a request: its body may be copied twice.
const GROWTH: u64 = 3 * BODY as u64 + 4 * MIB;

/// Returns a body of [`BODY`] bytes that repeats a part between a beginning and an end.
fn body(beginning: &str, part: &str, end: &str) -> String {
    let count = (BODY - beginning.len() - end.len()) / (part.len() + 1);
    [beginning, &vec![part; count].join(","), end].concat()
}

/// Sends a request to a new server.
///
/// Returns the code of the response, its message, and the growth of the server's peak memory in
/// bytes, if the system reports it.
async fn measure(operation: &str, body: &str) -> (String, String, Option<u64>) {
    let server = Served::start(&[]).await;
    server.create("things").await;
    let before = server.peak_memory();
    let mut connection = server.connect().await;
    let request = head(operation, body.len()) + body;
    let response = async {
        connection.send(request.as_bytes()).await.expect("the server reads");
        connection.response().await.expect("a response")
    };
    let response = timeout(PATIENCE, response).await.expect("a response in time");
    let json = response.json();
    let message = json["message"].as_str().unwrap_or_default().to_owned();
    let growth = server.peak_memory().zip(before).map(|(after, before)| after - before);
    server.stop().await;
    (response.code(), message, growth)
}

/// Checks that a request is refused with DynamoDB's message, and takes little memory.
async fn assert_refused(operation: &str, body: &str, message: &str) {
    let (code, said, growth) = measure(operation, body).await;
    println!("{operation}: {growth:?} bytes for {}", body.len());
    assert_eq!(code, "ValidationException", "{operation}: {said}");
    assert!(said.contains(message), "{operation}: {said}");
    assert!(growth.is_none_or(|growth| growth < GROWTH), "{operation}: {growth:?} bytes");
}

#[tokio::test]
async fn batches_are_refused_at_the_limits_of_their_lists() {
    let keys = body(r#"{"RequestItems":{"things":{"Keys":["#, "{}", "]}}}");
    let rule = "Member must have length less than or equal to 100";
    assert_refused("BatchGetItem", &keys, rule).await;
    let writes = body(r#"{"RequestItems":{"things":["#, "{}", "]}}");
    assert_refused("BatchWriteItem", &writes, "Member must have length less than or equal to 25")
        .await;
}

#[tokio::test]
async fn transactions_are_refused_at_the_limits_of_their_lists() {
    let items = body(r#"{"TransactItems":["#, "{}", "]}");
    let rule = "Value at 'transactItems' failed to satisfy constraint: Member must have length less \
                than or equal to 100";
    for operation in ["TransactWriteItems", "TransactGetItems"] {
        assert_refused(operation, &items, rule).await;
    }
}

#[tokio::test]
async fn tables_with_too_many_parts_are_refused() {
    let missing = "Value null at 'globalSecondaryIndexes.1.member.indexName'";
    let indexes = body(r#"{"TableName":"more","GlobalSecondaryIndexes":["#, "{}", "]}");
    assert_refused("CreateTable", &indexes, missing).await;
    let key = body(r#"{"TableName":"more","KeySchema":["#, "{}", "]}");
    assert_refused("CreateTable", &key, "Member must have length less than or equal to 2").await;
    let updates = body(r#"{"TableName":"things","GlobalSecondaryIndexUpdates":["#, "{}", "]}");
    assert_refused("UpdateTable", &updates, "must not be null").await;
    let tags = r#"{"ResourceArn":"arn:aws:dynamodb:local:000000000000:table/things","Tags":["#;
    let tags = body(tags, "{}", "]}");
    assert_refused("TagResource", &tags, "Value null at 'tags.1.member.value'").await;
}

#[tokio::test]
async fn items_take_no_more_than_their_text() {
    let item = r#"{"TableName":"things","Item":{"pk":{"S":"a"},"sk":{"S":"b"},"l":{"L":["#;
    let too_large = "Item size has exceeded the maximum allowed size";
    for (part, end, message) in [
        (r#"{"NULL":true}"#, "]}}}", too_large),
        // An unusual form, for which no tree is built either.
        (r#"{"M":{"a":{"M":{}}}}"#, r#",{"BOOL":"true"}]}}}"#, too_large),
        (r#"{"S":""}"#, r#",{}]}}}"#, "Supplied AttributeValue is empty"),
    ] {
        assert_refused("PutItem", &body(item, part, end), message).await;
    }
}

/// Values of expressions become trees, in which small maps take many times the size of their text.
/// The server refuses values above the memory limit before it builds the trees.
#[tokio::test]
async fn values_that_take_too_much_memory_are_refused() {
    let update = r#"{"TableName":"things","Key":{"pk":{"S":"a"},"sk":{"S":"b"}},
        "UpdateExpression":"SET l = :l","ExpressionAttributeValues":{":l":{"L":["#;
    let update = body(update, r#"{"M":{"a":{"M":{}}}}"#, "]}}}");
    let (code, said, growth) = measure("UpdateItem", &update).await;
    assert_eq!(code, "RequestEntityTooLargeException", "{said}");
    assert!(said.starts_with("the values of the request would take"), "{said}");
    assert!(growth.is_none_or(|growth| growth < GROWTH), "{growth:?} bytes");
}

#[tokio::test]
async fn body_of_many_chunks_takes_no_more_than_its_bytes() {
    const CHUNKS: usize = 3 << 20;
    let server = Served::start(&[]).await;
    let before = server.peak_memory();
    let mut connection = server.connect().await;
    let head = head("ListTables", 0).replace("Content-Length: 0", "Transfer-Encoding: chunked");
    let send = async {
        connection.send(head.as_bytes()).await?;
        connection.send(b"1\r\n{\r\n").await?;
        let some = b"1\r\n \r\n".repeat(1 << 10);
        for _ in 0..CHUNKS / (1 << 10) {
            connection.send(&some).await?;
        }
        connection.send(b"1\r\n}\r\n0\r\n\r\n").await?;
        connection.response().await
    };
    let response = timeout(PATIENCE, send).await.expect("a response in time").expect("a response");
    assert_eq!(response.expect(), json!({ "TableNames": [] }));
    if let (Some(before), Some(after)) = (before, server.peak_memory()) {
        let growth = after - before;
        println!("chunks: {growth} bytes for {CHUNKS}");
        // The buffer of the body grows by doubling.
        assert!(growth < 4 * CHUNKS as u64 + 4 * MIB, "{growth} bytes");
    }
    server.stop().await;
}
