//! Requests to the servers as bytes, and the expected responses.

use serde_json::{Value, json};

use super::client::Response;
use crate::embedded::workload::{
    self, BATCH_WRITE, INDEX, IS_NEW, IS_PENDING, KEY_CONDITION, PAGE, Plain, SET_AMOUNT, TABLE,
    Workload,
};

/// Operations that are measured.
pub(crate) const OPERATIONS: [Workload; 5] =
    [Workload::Get, Workload::Put, Workload::Update, Workload::Query, Workload::Transact];

/// Check of every response. It looks at little, so that the client stays cheap. After each turn,
/// [`verify`](super::table::verify) checks the result completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// List of tables.
    Tables,
    /// Item of the usual size.
    Item,
    /// Full page of items.
    Page,
    /// Success, with any body.
    Success,
    /// Success without unprocessed items.
    WholeBatch,
}

/// Lowest size of an item as JSON, in bytes.
const ITEM_BYTES: usize = 1_000;

/// Distance from the ends of a response within which its count is expected: before or after
/// the items.
const ENDS: usize = 100;

impl Expected {
    pub(crate) fn of(operation: Workload) -> Self {
        match operation {
            Workload::Get => Self::Item,
            Workload::Query => Self::Page,
            _ => Self::Success,
        }
    }

    pub(crate) fn is_met_by(self, response: &Response<'_>) -> bool {
        let body = response.body;
        let has = |text: &str| contains(body, text.as_bytes());
        response.status == 200
            && match self {
                Self::Tables => has("\"TableNames\""),
                Self::Item => body.len() >= ITEM_BYTES && body.starts_with(b"{\"Item\":{"),
                Self::Page => {
                    let ends =
                        [&body[..body.len().min(ENDS)], &body[body.len().saturating_sub(ENDS)..]];
                    let count = format!("\"Count\":{PAGE}");
                    body.len() >= PAGE as usize * ITEM_BYTES
                        && ends.iter().any(|end| contains(end, count.as_bytes()))
                }
                Self::Success => body.starts_with(b"{"),
                Self::WholeBatch => has("\"UnprocessedItems\":{}"),
            }
    }
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// Encodes a request with all headers that servers require. The signature is invalid: none of the
/// servers checks it, and computing one would measure the client.
fn encode(port: u16, operation: &str, body: &Value) -> Vec<u8> {
    let body = body.to_string();
    let mut request = format!(
        "POST / HTTP/1.1\r\n\
         Host: 127.0.0.1:{port}\r\n\
         Content-Type: application/x-amz-json-1.0\r\n\
         Content-Length: {}\r\n\
         X-Amz-Target: DynamoDB_20120810.{operation}\r\n\
         X-Amz-Date: 20260115T103000Z\r\n\
         Authorization: AWS4-HMAC-SHA256 \
         Credential=bench/20260115/us-east-1/dynamodb/aws4_request, \
         SignedHeaders=host;x-amz-date;x-amz-target, Signature=0\r\n\
         \r\n",
        body.len()
    );
    request.push_str(&body);
    request.into_bytes()
}

pub(crate) fn list_tables(port: u16) -> Vec<u8> {
    encode(port, "ListTables", &json!({}))
}

/// CreateTable with one index that projects all attributes.
pub(crate) fn create_table(port: u16) -> Vec<u8> {
    let part = |name: &str, kind: &str| json!({ "AttributeName": name, "KeyType": kind });
    let text = |name: &str| json!({ "AttributeName": name, "AttributeType": "S" });
    let attributes = ["pk", "sk", "shelf", "created"].map(text);
    let body = json!({
        "TableName": TABLE,
        "KeySchema": [part("pk", "HASH"), part("sk", "RANGE")],
        "AttributeDefinitions": attributes,
        "GlobalSecondaryIndexes": [{
            "IndexName": INDEX,
            "KeySchema": [part("shelf", "HASH"), part("created", "RANGE")],
            "Projection": { "ProjectionType": "ALL" },
        }],
        "BillingMode": "PAY_PER_REQUEST",
    });
    encode(port, "CreateTable", &body)
}

pub(crate) fn describe_table(port: u16) -> Vec<u8> {
    encode(port, "DescribeTable", &json!({ "TableName": TABLE }))
}

pub(crate) fn get(port: u16, number: u64) -> Vec<u8> {
    let body = json!({ "TableName": TABLE, "Key": key(number), "ConsistentRead": true });
    encode(port, "GetItem", &body)
}

/// Batch of puts of these items, at most [`BATCH_WRITE`].
pub(crate) fn put_batch(port: u16, numbers: impl Iterator<Item = u64>) -> Vec<u8> {
    batch(port, numbers.map(|number| json!({ "PutRequest": { "Item": item(number) } })))
}

/// Batch of deletes of these items, at most [`BATCH_WRITE`].
pub(crate) fn delete_batch(port: u16, numbers: impl Iterator<Item = u64>) -> Vec<u8> {
    batch(port, numbers.map(|number| json!({ "DeleteRequest": { "Key": key(number) } })))
}

fn batch(port: u16, writes: impl Iterator<Item = Value>) -> Vec<u8> {
    let writes: Vec<Value> = writes.take(BATCH_WRITE as usize).collect();
    encode(port, "BatchWriteItem", &json!({ "RequestItems": { TABLE: writes } }))
}

/// Request number `step` of a turn; `first` is the number of the first new item.
pub(crate) fn of(port: u16, operation: Workload, step: u64, first: u64) -> Vec<u8> {
    match operation {
        Workload::Get => {
            let body =
                json!({ "TableName": TABLE, "Key": key(workload::pseudo_random_item(step)) });
            encode(port, "GetItem", &body)
        }
        Workload::Put => {
            encode(port, "PutItem", &json!({ "TableName": TABLE, "Item": item(first + step) }))
        }
        Workload::Update => encode(
            port,
            "UpdateItem",
            &update(workload::pseudo_random_item(step), workload::amount(first, step)),
        ),
        Workload::Transact => {
            let put = |number| {
                let put = json!({
                    "TableName": TABLE,
                    "Item": item(number),
                    "ConditionExpression": IS_NEW,
                });
                json!({ "Put": put })
            };
            let update =
                |number| json!({ "Update": update(number, workload::amount(first, step)) });
            let items = [
                put(first + 2 * step),
                put(first + 2 * step + 1),
                update(workload::pseudo_random_item(2 * step)),
                update(workload::pseudo_random_item(2 * step + 1)),
            ];
            encode(port, "TransactWriteItems", &json!({ "TransactItems": items }))
        }
        _ => {
            let partition = workload::partition(workload::pseudo_random_item(step) / PAGE);
            let body = json!({
                "TableName": TABLE,
                "KeyConditionExpression": KEY_CONDITION,
                "ExpressionAttributeValues": { ":pk": { "S": partition } },
            });
            encode(port, "Query", &body)
        }
    }
}

fn update(number: u64, amount: i64) -> Value {
    json!({
        "TableName": TABLE,
        "Key": key(number),
        "UpdateExpression": SET_AMOUNT,
        "ConditionExpression": IS_PENDING,
        "ExpressionAttributeValues": {
            ":pending": { "S": workload::PENDING },
            ":amount": { "N": amount.to_string() },
        },
    })
}

fn key(number: u64) -> Value {
    let (partition, sort) = workload::key(number);
    json!({ "pk": { "S": partition }, "sk": { "S": sort } })
}

pub(crate) fn item(number: u64) -> Value {
    members(workload::item(number))
}

fn members(members: Vec<(&'static str, Plain)>) -> Value {
    members.into_iter().map(|(name, plain)| (name.to_owned(), value(plain))).collect()
}

fn value(plain: Plain) -> Value {
    match plain {
        Plain::Text(text) => json!({ "S": text }),
        Plain::Number(number) => json!({ "N": number.to_string() }),
        Plain::Flag(flag) => json!({ "BOOL": flag }),
        Plain::List(list) => json!({ "L": list.into_iter().map(value).collect::<Vec<_>>() }),
        Plain::Map(map) => json!({ "M": members(map) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_met(expected: Expected, status: u16, body: &str) -> bool {
        expected.is_met_by(&Response { status, body: body.as_bytes() })
    }

    #[test]
    fn response_must_have_requested_items() {
        let item = item(7).to_string();
        let found = format!("{{\"Item\":{item}}}");
        assert!(is_met(Expected::Item, 200, &found));
        assert!(!is_met(Expected::Item, 400, &found));
        assert!(!is_met(Expected::Item, 200, "{}"));
        let items = vec![item; PAGE as usize].join(",");
        assert!(is_met(Expected::Page, 200, &format!("{{\"Count\":50,\"Items\":[{items}]}}")));
        assert!(is_met(Expected::Page, 200, &format!("{{\"Items\":[{items}],\"Count\":50}}")));
        assert!(!is_met(Expected::Page, 200, &format!("{{\"Items\":[{items}],\"Count\":49}}")));
        assert!(!is_met(Expected::Page, 200, "{\"Items\":[],\"Count\":50}"));
        assert!(is_met(Expected::WholeBatch, 200, "{\"UnprocessedItems\":{}}"));
        assert!(!is_met(Expected::WholeBatch, 200, "{\"UnprocessedItems\":{\"orders\":[]}}"));
        assert!(is_met(Expected::Success, 200, "{}"));
        assert!(!is_met(Expected::Success, 400, "{}"));
    }

    #[test]
    fn request_has_its_content_length() {
        for operation in OPERATIONS {
            let request = String::from_utf8(of(1, operation, 3, workload::ITEMS)).unwrap();
            let (head, body) = request.split_once("\r\n\r\n").unwrap();
            assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
            assert!(serde_json::from_str::<Value>(body).is_ok(), "{body}");
        }
    }

    #[test]
    fn item_has_about_1_kb() {
        let size = item(workload::ITEMS + 1).to_string().len();
        assert!((1_000..1_500).contains(&size), "{size}");
    }
}
