//! Known pairs of texts for the same constraint.
//!
//! The suite has AWS's text. AWS rewords its validation errors now and then, and DynamoDB Local
//! 2.6.1 has older texts for the same constraints. Each such pair is a row here, and [`same`]
//! accepts either text for the other. Only services are compared like this: engines that validate
//! with core must return exactly the text of the suite.

mod tables;

/// Two texts for one constraint. `{name}` matches any text, the same wherever the name occurs in
/// the pair; `{_}` matches any text.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Pair {
    /// Text of AWS, as in the cases.
    pub aws: &'static str,
    /// Other text that a service returns.
    pub other: &'static str,
}

/// Known pairs, those about tables last.
pub fn pairs() -> impl Iterator<Item = &'static Pair> {
    PAIRS.iter().chain(tables::PAIRS)
}

const PAIRS: &[Pair] = &[
    // The Java validation framework of DynamoDB Local shows the value, and names the member in
    // lower camel case. AWS reworded this between June and October 2026.
    Pair {
        aws: "1 validation error detected: Value at '{member}' failed to satisfy constraint: \
              Member must have length greater than or equal to {n}",
        other: "1 validation error detected: Value '{_}' at '{_}' failed to satisfy constraint: \
                Member must have length greater than or equal to {n}",
    },
    // Only the reason of a condition check ends with a period.
    Pair { aws: "The conditional request failed", other: "The conditional request failed." },
    Pair {
        aws: "Attempting to store more than 38 significant digits in a Number",
        other: "DynamoDB only supports precision up to 38 digits",
    },
    Pair {
        aws: "The parameter cannot be converted to a numeric value: {_}",
        other: "A value provided cannot be converted into a number",
    },
    Pair {
        aws: "The parameter cannot be converted to a numeric value",
        other: "A value provided cannot be converted into a number",
    },
    Pair {
        aws: "One or more parameter values were invalid: Input collection [{m}] contains \
              duplicates.",
        other: "One or more parameter values were invalid: Input collection [{m}] contains \
                duplicates",
    },
    Pair {
        aws: "One or more parameter values were invalid: Input collection [{_}]of type BS \
              contains duplicates.",
        other: "One or more parameter values were invalid: Input collection of type BS contains \
                duplicates.",
    },
    Pair {
        aws: "One or more parameter values were invalid: Size of hashkey has exceeded the maximum \
              size limit of2048 bytes",
        other: "Hash primary key values must be under 2048 bytes, and range primary key values \
                must be under 1024 bytes",
    },
    Pair {
        aws: "One or more parameter values were invalid: Aggregated size of all range keys has \
              exceeded the size limit of 1024 bytes",
        other: "Hash primary key values must be under 2048 bytes, and range primary key values \
                must be under 1024 bytes",
    },
    Pair {
        aws: "One or more parameter values were invalid: Size limit exceeded for Index Key {_}",
        other: "One or more parameter values were invalid: Size limit exceeded",
    },
    Pair {
        aws: "TimeToLive is active on a different AttributeName: current AttributeName is {_}",
        other: "TimeToLive is active on a different AttributeName",
    },
    Pair {
        aws: "1 validation error detected: Value '{_}' at \
              'timeToLiveSpecification.attributeName' failed to satisfy constraint: Member must \
              have length {_}",
        other: "Names of key attributes and attributes projected into an index must be between 1 \
                and 255 characters, inclusive",
    },
    Pair {
        aws: "Requested resource not found: Shard does not exist",
        other: "Shard does not exist",
    },
    Pair {
        aws: "The data you are trying to access has been trimmed",
        other: "The operation attempted to read past the oldest stream record in a shard.",
    },
    Pair {
        aws: "Table already has an enabled stream: TableName: {_}",
        other: "Table already has an enabled stream",
    },
    Pair {
        aws: "Table has no stream to disable: TableName: {_}",
        other: "Table has no stream to disable",
    },
    Pair {
        aws: "1 validation error detected: Value '{_}' at 'limit' failed to satisfy constraint: \
              Member must have value greater than or equal to 1",
        other: "Limit must be greater than or equal to 1",
    },
    Pair {
        aws: "1 validation error detected: Value '{_}' at 'segment' failed to satisfy \
              constraint: Member must have value greater than or equal to 0",
        other: "1 validation error detected: Value '{_}' at 'segment' failed to satisfy \
                constraint: Member must have value less than or equal to {_}",
    },
    Pair {
        aws: "1 validation error detected: Value '{_}' at 'totalSegments' failed to satisfy \
              constraint: Member must have value greater than or equal to 1",
        other: "1 validation error detected: Value '{_}' at 'segment' failed to satisfy \
                constraint: Member must have value less than or equal to {_}",
    },
    Pair {
        aws: "Consistent reads are not supported on global secondary indexes",
        other: "Consistent read cannot be true when querying a GSI",
    },
    Pair {
        aws: "Consistent reads are not supported on global secondary indexes",
        other: "Consistent read cannot be true when scanning a GSI",
    },
    Pair {
        aws: "Query condition missed key schema element: {_}",
        other: "Query condition missed key schema element",
    },
    // The types are a set, whose order differs from one server process to the next.
    Pair {
        aws: "Invalid {kind}: Incorrect operand type for operator or function; operator or \
              function: attribute_type, operand type: {_},{_}",
        other: "Invalid {kind}: Incorrect operand type for operator or function; operator or \
                function: attribute_type, operand type: {_},{_}",
    },
    Pair {
        aws: "Requested resource not found",
        other: "Cannot do operations on a non-existent table",
    },
    Pair {
        aws: "The Segment parameter is required but was not present in the request when \
              parameter TotalSegments is present",
        other: "If total segments is specified, a particular segment must also be specified for \
                this request",
    },
    Pair {
        aws: "The Segment parameter is zero-based and must be less than parameter \
              TotalSegments: Segment: {n} is not less than TotalSegments: {_}",
        other: "1 validation error detected: Value '{n}' at 'segment' failed to satisfy \
                constraint: Member must have value less than or equal to {_}",
    },
    Pair {
        aws: "The TotalSegments parameter is required but was not present in the request when \
              Segment parameter is present",
        other: "If segment is specified, total segment must also be specified",
    },
    Pair {
        aws: "The provided key element does not match the schema",
        other: "Type mismatch for attribute to update",
    },
    Pair {
        aws: "The provided starting key is invalid",
        other: "Exclusive Start Key must have same size as table's key schema",
    },
    Pair {
        aws: "The provided starting key is invalid: Invalid ExclusiveStartKey. Please use \
              ExclusiveStartKey with correct Segment. TotalSegments: {_} Segment: {_}",
        other: "Exclusive start key must lie within the segment",
    },
    Pair {
        aws: "The provided starting key is invalid: One or more parameter values are not valid. \
              {rest}",
        other: "The query can return at most one row and cannot be restarted. The provided \
                starting key is invalid: One or more parameter values are not valid. {rest}",
    },
    Pair {
        aws: "The provided starting key is invalid: The provided key element does not match the \
              schema",
        other: "Exclusive Start Key must have same size as table's key schema",
    },
    Pair {
        aws: "The provided starting key is invalid: The provided key element does not match the \
              schema",
        other: "Type mismatch for attribute to update",
    },
    Pair {
        aws: "The provided starting key is invalid: The provided key element does not match the \
              schema",
        other: "The provided starting key is invalid",
    },
    Pair {
        aws: "The provided starting key is outside query boundaries based on provided conditions",
        other: "The provided starting key does not match the range key predicate",
    },
    Pair {
        aws: "The query can return at most one row and cannot be restarted",
        other: "The provided starting key does not match the range key predicate",
    },
    Pair {
        aws: "Requested resource not found",
        other: "Cannot do operations on a non-existent table",
    },
    Pair {
        aws: "ReturnValues can only be ALL_OLD or NONE",
        other: "Return values set to invalid value",
    },
    Pair {
        aws: "One or more parameter values were invalid: Missing the key {_} in the item",
        other: "One of the required keys was not given a value",
    },
    Pair {
        aws: "The provided key element does not match the schema",
        other: "One of the required keys was not given a value",
    },
    Pair {
        aws: "The provided key element does not match the schema",
        other: "The number of conditions on the keys is invalid",
    },
    Pair {
        aws: "The provided key element does not match the schema",
        other: "One or more parameter values were invalid: Type mismatch for key",
    },
    Pair {
        aws: "The provided key element does not match the schema",
        other: "Invalid attribute value type",
    },
    Pair {
        aws: "One or more parameter values were invalid: Type mismatch for key {_}",
        other: "One or more parameter values were invalid: Type mismatch for key",
    },
    Pair {
        aws: "One or more parameter values were invalid: Type mismatch for key {_}",
        other: "Invalid attribute value type",
    },
    Pair {
        aws: "One or more parameter values were invalid: Type mismatch for Index Key {_}",
        other: "One or more parameter values were invalid: Type mismatch for Index Key",
    },
    Pair {
        aws: "One or more parameter values were invalid: Type mismatch for Index Key {_}",
        other: "Invalid attribute value type",
    },
    Pair {
        aws: "1 validation error detected: Value at 'requestItems' failed to satisfy constraint: \
              Member must have length greater than or equal to 1",
        other: "BatchWriteItem cannot have a null or no requests set",
    },
    Pair {
        aws: "1 validation error detected: Value at 'requestItems' failed to satisfy constraint: \
              Member must have length greater than or equal to 1",
        other: "BatchGetItem must have some requests set",
    },
    Pair {
        aws: "1 validation error detected: Value at 'requestItems' failed to satisfy constraint: \
              Map value must satisfy constraint: [Member must have length less than or equal to \
              25, Member must have length greater than or equal to 1]",
        other: "Too many items requested for the BatchWriteItem call",
    },
    Pair {
        aws: "1 validation error detected: Value at 'requestItems' failed to satisfy constraint: \
              Map value must satisfy constraint: [Member must have length less than or equal to \
              25, Member must have length greater than or equal to 1]",
        other: "The batch write request list for a table cannot be null or empty: {_}",
    },
    Pair {
        aws: "1 validation error detected: Value at 'requestItems.{_}.member.keys' failed to \
              satisfy constraint: Member must have length less than or equal to 100",
        other: "Too many items requested for the BatchGetItem call",
    },
    Pair {
        aws: "1 validation error detected: Value at 'requestItems.{_}.member.keys' failed to \
              satisfy constraint: Member must have length greater than or equal to 1",
        other: "The list of keys in RequestItems for BatchGetItem is required: {_} has empty list",
    },
    Pair {
        aws: "The update expression attempted to update the secondary index key to unsupported \
              type",
        other: "Invalid attribute value type",
    },
    Pair {
        aws: "DynamoDB rejected the request because you retried a request with a different \
              payload but with an idempotent token that was already used.",
        other: "",
    },
    Pair {
        aws: "One or more parameter values were invalid: Size of {_} has exceeded the maximum \
              size limit of{_} bytes",
        other: "Hash primary key values must be under 2048 bytes, and range primary key values \
                must be under 1024 bytes",
    },
    Pair {
        aws: "One or more parameter values were invalid: Aggregated size of all range keys has \
              exceeded the size limit of 1024 bytes",
        other: "Hash primary key values must be under 2048 bytes, and range primary key values \
                must be under 1024 bytes",
    },
    Pair {
        aws: "1 validation error detected: Value null at 'transactItems.{_}.member.update.\
              updateExpression' failed to satisfy constraint: Member must not be null",
        other: "Invalid UpdateExpression: The expression can not be empty;",
    },
];

/// Whether two texts are equal or a known pair for the same constraint.
pub fn same(expected: &str, actual: &str) -> bool {
    among(pairs(), expected, actual)
}

fn among<'p>(mut pairs: impl Iterator<Item = &'p Pair>, expected: &str, actual: &str) -> bool {
    expected == actual
        || pairs.any(|pair| {
            let mut holes = Vec::new();
            matches(pair.aws, expected, &mut holes) && matches(pair.other, actual, &mut holes)
        })
}

/// Whether the text matches the pattern and the holes filled so far. Fills new holes.
///
/// A hole matches as little text as possible; one at the end of the pattern matches the rest.
fn matches<'p, 't>(pattern: &'p str, text: &'t str, holes: &mut Vec<(&'p str, &'t str)>) -> bool {
    let Some((before, name, after)) = first_hole(pattern) else {
        return pattern == text;
    };
    let Some(text) = text.strip_prefix(before) else {
        return false;
    };
    let known =
        holes.iter().find(|(hole, _)| *hole == name && name != "_").map(|(_, value)| *value);
    if let Some(value) = known {
        return text.strip_prefix(value).is_some_and(|rest| matches(after, rest, holes));
    }
    let filled = holes.len();
    for (end, _) in text.char_indices().chain([(text.len(), ' ')]) {
        holes.push((name, &text[..end]));
        if matches(after, &text[end..], holes) {
            return true;
        }
        holes.truncate(filled);
    }
    false
}

/// Text before the first hole of a pattern, the name of the hole, and the text after it.
fn first_hole(pattern: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = pattern.split_once('{')?;
    let (name, after) = rest.split_once('}')?;
    Some((before, name, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TESTED: &[Pair] = &[
        Pair { aws: "table {t} is missing", other: "no table {t}, sorry: {_}" },
        Pair { aws: "between {a} and {b}", other: "{b} down to {a}" },
    ];

    #[test]
    fn pair_matches_only_with_equal_text_in_named_holes() {
        assert!(among(TESTED.iter(), "table users is missing", "no table users, sorry: try later"));
        assert!(!among(
            TESTED.iter(),
            "table users is missing",
            "no table posts, sorry: try later"
        ));
        assert!(among(TESTED.iter(), "between 1 and 9", "9 down to 1"));
        assert!(!among(TESTED.iter(), "between 1 and 9", "1 down to 9"));
    }

    #[test]
    fn unknown_texts_are_same_only_if_equal() {
        assert!(among([].iter(), "a", "a"));
        assert!(!among(TESTED.iter(), "a", "b"));
        assert!(!among(TESTED.iter(), "no table users, sorry: x", "table users is missing"));
    }

    #[test]
    fn reworded_length_constraint_is_a_known_pair() {
        assert!(same(
            "1 validation error detected: Value at 'TableName' failed to satisfy constraint: \
             Member must have length greater than or equal to 1",
            "1 validation error detected: Value '' at 'tableName' failed to satisfy constraint: \
             Member must have length greater than or equal to 1",
        ));
    }
}
