//! Known differences for invalid JSON and wrong types, and limitations of DynamoDB Local.

use super::Pairs;

pub(super) const PAIRS: &[Pairs] = &[
    (
        "DynamoDB Local fails with an internal error, which no request should cause",
        &[(
            "*",
            "500 InternalFailure: The request processing has failed because of an unknown error, \
             exception or failure.",
        )],
    ),
    (
        "DynamoDB Local converts or ignores JSON of another type; AWS refuses it (dynalite's \
         tests of every member)",
        &[
            ("SerializationException: * cannot be converted to *", "*"),
            ("SerializationException: Start of structure or map found where not expected", "*"),
            ("SerializationException: Unrecognized collection type class java.lang.*", "*"),
            ("SerializationException: Unexpected field type", "*"),
            ("SerializationException: Unexpected value type in payload", "*"),
        ],
    ),
    (
        "DynamoDB Local accepts text that only begins as a request, or is `null`",
        &[
            ("SerializationException: ", "200"),
            ("SerializationException: ", "ValidationException: *"),
            ("SerializationException: ", "InvalidParameterValue: createTableRequest was null"),
        ],
    ),
];
