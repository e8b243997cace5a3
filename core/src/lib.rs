//! DynamoDB-style tables on any backend.
