//! tabla on DynamoDB.
