//! Comparison of two responses.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value as Json;
use tabla_conformance::wording;

use super::wire::Answer;

/// Difference between two responses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Difference {
    /// Different outcomes: at most one is a success, or the errors differ.
    Outcome { ours: String, theirs: String },
    /// Different values of a member of the bodies, by its path.
    Member { path: String, ours: Json, theirs: Json },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outcome { ours, theirs } => {
                write!(f, "server         {ours}\n  DynamoDB Local {theirs}")
            }
            Self::Member { path, ours, theirs } => {
                write!(f, "{path}\n  server         {ours}\n  DynamoDB Local {theirs}")
            }
        }
    }
}

/// Members whose values each server assigns itself.
const OWN: [&str; 13] = [
    "TableId",
    "LatestStreamArn",
    "LatestStreamLabel",
    "StreamArn",
    "StreamLabel",
    "ShardId",
    "ShardIterator",
    "NextShardIterator",
    "SequenceNumber",
    "StartingSequenceNumber",
    "EndingSequenceNumber",
    "eventID",
    "awsRegion",
];

/// Lists without a defined order.
const SETS: [&str; 10] = [
    "SS",
    "NS",
    "BS",
    "AttributeDefinitions",
    "GlobalSecondaryIndexes",
    "LocalSecondaryIndexes",
    "NonKeyAttributes",
    "ConsumedCapacity",
    "Streams",
    "Tags",
];

/// Returns all differences between two responses to one request.
pub(crate) fn differences(ours: &Answer, theirs: &Answer) -> Vec<Difference> {
    let mut found = Vec::new();
    if ours.is_success() && theirs.is_success() {
        let (mut ours, mut theirs) = (ours.body.clone(), theirs.body.clone());
        settle("", &mut ours);
        settle("", &mut theirs);
        compare("", &ours, &theirs, &mut found);
        return found;
    }
    let is_same = ours.status == theirs.status
        && ours.kind() == theirs.kind()
        && say_the_same(ours.message(), theirs.message());
    if !is_same {
        found.push(Difference::Outcome { ours: outcome(ours), theirs: outcome(theirs) });
    } else {
        // Items and reasons that accompany an exception.
        let (mut ours, mut theirs) = (ours.body.clone(), theirs.body.clone());
        for body in [&mut ours, &mut theirs] {
            if let Json::Object(members) = body {
                members.retain(|name, _| !["message", "Message"].contains(&name.as_str()));
            }
            settle("", body);
        }
        compare("", &ours, &theirs, &mut found);
    }
    found
}

/// Whether two messages are equal apart from known differences of wording.
fn say_the_same(ours: &str, theirs: &str) -> bool {
    fn inner(message: &str) -> Option<(&str, &str)> {
        let message = message.strip_prefix("ExpressionAttributeValues contains invalid value: ")?;
        message.rsplit_once(" for key ")
    }
    match (inner(ours), inner(theirs)) {
        (Some((ours, our_key)), Some((theirs, their_key))) => {
            our_key == their_key && wording::same(ours, theirs)
        }
        _ => wording::same(ours, theirs),
    }
}

/// Returns the outcome of a request, as one line.
pub(crate) fn outcome(answer: &Answer) -> String {
    let name = answer.kind().rsplit('#').next().unwrap_or_default();
    match answer.status {
        200 => "200".to_owned(),
        400 => format!("{name}: {}", answer.message()),
        status => format!("{status} {name}: {}", answer.message()),
    }
}

/// Replaces values that may differ between any two responses, and sorts lists without a
/// defined order.
fn settle(name: &str, json: &mut Json) {
    match json {
        Json::String(text) if OWN.contains(&name) => "own".clone_into(text),
        Json::String(text) => *text = text.replace(":ddblocal:", ":local:"),
        Json::Number(_) if name.ends_with("DateTime") => *json = Json::from("time"),
        Json::Array(elements) => {
            for element in &mut *elements {
                settle("", element);
            }
            if SETS.contains(&name) {
                // Elements are sorted by their names first: the rest may differ.
                let key = |element: &Json| {
                    let named = element.get("TableName").or_else(|| element.get("IndexName"));
                    (named.map(Json::to_string), element.to_string())
                };
                elements.sort_by_key(key);
            }
        }
        Json::Object(members) => {
            for (name, member) in &mut *members {
                settle(name, member);
            }
            // The items of a batch have no defined order within their table.
            if name == "Responses" {
                for list in members.values_mut() {
                    if let Json::Array(items) = list {
                        items.sort_by_key(Json::to_string);
                    }
                }
            }
        }
        _ => {}
    }
}

fn compare(path: &str, ours: &Json, theirs: &Json, found: &mut Vec<Difference>) {
    match (ours, theirs) {
        (Json::Object(our_members), Json::Object(their_members)) => {
            let names: BTreeSet<&String> = our_members.keys().chain(their_members.keys()).collect();
            for name in names {
                compare(&format!("{path}/{name}"), &ours[name], &theirs[name], found);
            }
        }
        (Json::Array(our_elements), Json::Array(their_elements))
            if our_elements.len() == their_elements.len() =>
        {
            for (number, (ours, theirs)) in our_elements.iter().zip(their_elements).enumerate() {
                compare(&format!("{path}/{number}"), ours, theirs, found);
            }
        }
        _ if ours == theirs => {}
        (Json::String(ours), Json::String(theirs))
            if path.ends_with("/Message") && say_the_same(ours, theirs) => {}
        _ => found.push(Difference::Member {
            path: path.to_owned(),
            ours: ours.clone(),
            theirs: theirs.clone(),
        }),
    }
}
