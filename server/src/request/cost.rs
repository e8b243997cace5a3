//! Estimates of the memory that the parsed values of a request take, in bytes.
//!
//! Items and keys are parsed into their encoding, which is no longer than the text. The values of
//! expressions and legacy parameters become trees, in which a map of one entry takes half a
//! kilobyte.

use serde_json::value::RawValue;

use super::{Members, elements};
use crate::operation::Operation;
use crate::shape::Shape;

/// Memory of one value in a tree, in bytes, by its type: scalar, list, set or map. The nodes of
/// maps and sets have room for eleven entries.
const SCALAR: usize = 64;
const LIST: usize = 160;
const SET: usize = 350;
const MAP: usize = 700;
/// Memory of an object that is not an attribute value, in bytes.
const OBJECT: usize = 256;
/// Memory of each further element or entry of a value, in bytes.
const NEXT: usize = 48;
/// Memory of each further name, or legacy condition or update, in bytes.
const NEXT_NAME: usize = 192;
/// Memory of a string besides its bytes, in bytes.
const TEXT: usize = 24;

/// Memory of the parsed values of a request on tables or streams, for each byte of its body. Its
/// shape is validated first, so that its lists are short.
const PER_BYTE: usize = 8;

/// Returns an upper bound of the memory that the parsed values of a request take, in bytes.
pub(crate) fn trees(operation: Operation, body: usize, members: &Members<'_>) -> usize {
    match operation.is_on_items() {
        true => of_members(members),
        false => PER_BYTE * body,
    }
}

fn of_members(members: &Members<'_>) -> usize {
    members.members.iter().map(|(name, raw)| of_member(name, members.shape(name), raw)).sum()
}

fn of_member(name: &str, shape: &'static Shape, raw: &RawValue) -> usize {
    let inner = |raw| Members::of_text(shape, raw).map_or(0, |members| of_members(&members));
    match (name, shape) {
        ("Item" | "Key" | "Keys" | "ExclusiveStartKey", _) => 0,
        ("ExpressionAttributeValues", _) => text(raw.get().as_bytes(), NEXT),
        ("TransactItems", _) => {
            let read = |of, raw| Ok(of_members(&Members::of_text(of, raw)?));
            elements(shape, raw, read).map_or(0, |parts| parts.iter().sum())
        }
        // The writes of a batch to one table hold only items and keys.
        (_, Shape::List { of: Shape::Structure(_), .. }) => 0,
        ("RequestItems", _) | (_, Shape::Structure(_)) => inner(raw),
        _ => text(raw.get().as_bytes(), NEXT_NAME),
    }
}

/// Returns an upper bound of the memory that the tree of a JSON text takes, in bytes.
fn text(text: &[u8], next: usize) -> usize {
    let mut cost = text.len();
    let mut place = 0;
    while let Some(byte) = text.get(place) {
        place += 1;
        match byte {
            b'"' => {
                place = end_of_text(text, place);
                cost += TEXT;
            }
            b',' => cost += next,
            b'{' => cost += object(&text[place..]),
            _ => {}
        }
    }
    cost
}

/// Returns the position after the string that starts at `place`, after its opening quotation mark.
fn end_of_text(text: &[u8], mut place: usize) -> usize {
    while let Some(byte) = text.get(place) {
        match byte {
            b'"' => return place + 1,
            b'\\' => place += 2,
            _ => place += 1,
        }
    }
    text.len()
}

/// Returns the memory of an object, estimated from its first name.
fn object(inside: &[u8]) -> usize {
    let inside = inside.trim_ascii_start();
    let Some(name) = inside.strip_prefix(b"\"") else { return SCALAR };
    let end = name.iter().position(|byte| matches!(byte, b'"' | b'\\')).unwrap_or(name.len());
    match &name[..end] {
        // An escaped type code could be any type.
        _ if name.get(end) == Some(&b'\\') => MAP,
        b"M" => MAP,
        b"SS" | b"NS" | b"BS" => SET,
        b"L" => LIST,
        b"S" | b"N" | b"B" | b"BOOL" | b"NULL" => SCALAR,
        _ => OBJECT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_depends_on_structure_and_not_on_the_content_of_strings() {
        let maps = br#"{"L":[{"M":{"a":{"S":""}}},{"M":{"a":{"S":""}}}]}"#;
        assert!((2000..3000).contains(&text(maps, NEXT)), "{}", text(maps, NEXT));
        let held = br#"{"S":"{\"M\":{\"a\":{\"M\":{}}},{,{,{,{"}"#;
        assert_eq!(text(held, NEXT), held.len() + SCALAR + 2 * TEXT);
        assert!(text(br#"{"\u004d":{}}"#, NEXT) > MAP);
        assert_eq!(text(br#"{ "N" : "1" }"#, NEXT), 13 + SCALAR + 2 * TEXT);
        assert_eq!(text(br#"["a","b"]"#, NEXT_NAME), 9 + 2 * TEXT + NEXT_NAME);
    }

    #[test]
    fn items_and_keys_cost_nothing() {
        let cost = |operation, body: &str| {
            let members = Members::of_request(operation, body.as_bytes()).unwrap();
            trees(operation, body.len(), &members)
        };
        let maps = r#"{"a":{"M":{"a":{"M":{}}}}}"#;
        let table = "\"things\"".len() + TEXT;
        for (operation, body, expected) in [
            (Operation::PutItem, format!(r#"{{"TableName":"things","Item":{maps}}}"#), table),
            (Operation::GetItem, format!(r#"{{"TableName":"things","Key":{maps}}}"#), table),
            (
                Operation::BatchGetItem,
                format!(r#"{{"RequestItems":{{"things":{{"Keys":[{maps}]}}}}}}"#),
                0,
            ),
            (
                Operation::BatchWriteItem,
                format!(r#"{{"RequestItems":{{"things":[{{"PutRequest":{{"Item":{maps}}}}}]}}}}"#),
                0,
            ),
            (
                Operation::TransactWriteItems,
                format!(
                    r#"{{"TransactItems":[{{"Put":{{"TableName":"things","Item":{maps}}}}}]}}"#
                ),
                table,
            ),
        ] {
            assert_eq!(cost(operation, &body), expected, "{body}");
        }
        let values =
            format!(r#"{{"TransactItems":[{{"Put":{{"ExpressionAttributeValues":{maps}}}}}]}}"#);
        assert!(cost(Operation::TransactWriteItems, &values) > 2 * MAP);
    }
}
