//! JSON that is no request, or of the wrong type, and what DynamoDB Local cannot do.

use super::Pairs;

pub(super) const PAIRS: &[Pairs] = &[
    (
        "an internal error is nobody's answer to a request that can be refused or carried out",
        &[(
            "*",
            "500 InternalFailure: The request processing has failed because of an unknown error, \
             exception or failure.",
        )],
    ),
    (
        "DynamoDB Local takes JSON of another type for what it looks like, or for nothing; AWS \
         refuses it (dynalite's tests of every member)",
        &[
            ("SerializationException: * cannot be converted to *", "*"),
            ("SerializationException: Start of structure or map found where not expected", "*"),
            ("SerializationException: Unrecognized collection type class java.lang.*", "*"),
            ("SerializationException: Unexpected field type", "*"),
            ("SerializationException: Unexpected value type in payload", "*"),
        ],
    ),
    (
        "DynamoDB Local takes text for a request that begins as one, or is `null`",
        &[
            ("SerializationException: ", "200"),
            ("SerializationException: ", "ValidationException: *"),
            ("SerializationException: ", "InvalidParameterValue: createTableRequest was null"),
        ],
    ),
];
