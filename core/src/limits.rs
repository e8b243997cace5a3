//! Limits of DynamoDB. Unless a line says otherwise, a value at the limit is accepted and the next
//! one is refused.
//!
//! The numbers come from the developer guide's page "Quotas in Amazon DynamoDB" (ServiceQuotas),
//! except where another source is named; those on expressions from its section "Expression
//! parameters". The checks are in `expr`, `engine` and `schema`.

use std::time::Duration;

/// Largest text of one expression, in bytes, before placeholders are substituted.
pub const EXPRESSION_BYTES: usize = 4096;

/// Largest total size of the names and values that the expressions of one request refer to,
/// in bytes.
pub const SUBSTITUTION_BYTES: usize = 2 * 1024 * 1024;

/// Largest number of operators and functions in one expression.
pub const EXPRESSION_OPERATORS: usize = 300;

/// Largest number of operands on the right of `IN`.
pub const IN_OPERANDS: usize = 100;

/// Longest placeholder in bytes, its `#` or `:` included.
pub const PLACEHOLDER_BYTES: usize = 255;

/// Largest number of elements in one document path, the attribute itself included ("Nested
/// attribute depth").
pub const PATH_ELEMENTS: usize = 32;

/// Largest list index in a document path: a 32-bit signed integer (observed on DynamoDB Local; the
/// developer guide gives no number).
pub const LIST_INDEX: u32 = i32::MAX as u32;

/// Longest attribute name in bytes ("Attribute names").
pub const ATTRIBUTE_NAME_BYTES: usize = 65_535;

/// Deepest nesting of lists and maps in one value that an expression refers to.
pub const VALUE_DEPTH: usize = 32;

/// Deepest nesting of lists and maps in an attribute of an item. ServiceQuotas says 32, and counts
/// the item itself.
pub const ATTRIBUTE_DEPTH: usize = 31;

/// Largest item in bytes, attribute names included (ServiceQuotas, item size).
pub const ITEM_SIZE: usize = 409_600;

/// Largest partition key in bytes (ServiceQuotas, partition key length).
pub const PARTITION_KEY_SIZE: usize = 2048;

/// Largest sort key in bytes (ServiceQuotas, sort key length).
pub const SORT_KEY_SIZE: usize = 1024;

/// Largest number of writes in a batch (API reference, BatchWriteItem).
pub const BATCH_WRITE_ITEMS: usize = 25;

/// Largest number of keys in a batch of reads (API reference, BatchGetItem).
pub const BATCH_GET_KEYS: usize = 100;

/// Largest size of the items that one call of BatchGetItem returns, in bytes (API reference,
/// BatchGetItem). Further keys are returned as unprocessed.
pub const BATCH_GET_SIZE: usize = 16 * 1024 * 1024;

/// Largest number of operations in a transaction (ServiceQuotas, transactions).
pub const TRANSACT_ITEMS: usize = 100;

/// Largest size of a transaction's request, or of the items that it reads, in bytes
/// (ServiceQuotas, transactions).
pub const TRANSACT_SIZE: usize = 4 * 1024 * 1024;

/// Longest client request token, in characters (API reference, TransactWriteItems).
pub const CLIENT_REQUEST_TOKEN: usize = 36;

/// Size at which a page of a query or scan ends, in bytes, before filter and projection (API
/// reference, Query and Scan).
pub const PAGE_SIZE: usize = 1024 * 1024;

/// Largest number of segments of a parallel scan (API reference, Scan).
pub const SCAN_SEGMENTS: i32 = 1_000_000;

/// Shortest name of a table or index, in characters ("Table names", "Secondary index names").
pub const NAME_MIN: usize = 3;

/// Longest name of a table or index, in characters ("Table names", "Secondary index names").
pub const NAME_MAX: usize = 255;

/// Longest name in bytes of a key attribute, of an attribute that an index projects by name, and of
/// the attribute by which items expire ("Attribute names"; API reference,
/// `TimeToLiveSpecification`).
pub const KEY_NAME_BYTES: usize = 255;

/// Largest number of global secondary indexes of a table ("Secondary indexes per table").
pub const GLOBAL_INDEXES: usize = 20;

/// Largest number of local secondary indexes of a table ("Secondary indexes per table").
pub const LOCAL_INDEXES: usize = 5;

/// Largest number of partition attributes, and of sort attributes, of a global index (developer
/// guide, "Multi-attribute keys").
pub const INDEX_KEY_ATTRIBUTES: usize = 4;

/// Largest number of attributes that one index projects by name (API reference, `Projection`).
pub const INDEX_PROJECTED_ATTRIBUTES: usize = 20;

/// Largest number of attributes that all indexes of a table project by name ("Projected Secondary
/// Index attributes per table").
pub const PROJECTED_ATTRIBUTES: usize = 100;

/// Largest provisioned throughput of a table or index, in capacity units per second, unless an
/// account has more ("Read/write throughput").
pub const TABLE_CAPACITY_UNITS: i64 = 40_000;

/// Largest number of capacity units that a request can name (observed on AWS).
pub const MAX_REQUESTED_CAPACITY_UNITS: i64 = 1_000_000_000_000;

/// Largest number of names in one page of a list of tables (API reference, `ListTables`).
pub const LIST_TABLES: usize = 100;

/// Largest number of tags of a table ("Tagging restrictions in DynamoDB").
pub const TAGS: usize = 50;

/// Longest key of a tag, in characters ("Tagging restrictions in DynamoDB").
pub const TAG_KEY_CHARS: usize = 128;

/// Longest value of a tag, in characters ("Tagging restrictions in DynamoDB").
pub const TAG_VALUE_CHARS: usize = 256;

/// Shortest time between two changes of a table's expiry settings (API reference,
/// `UpdateTimeToLive`: up to one hour).
pub const TIME_TO_LIVE_CHANGES: Duration = Duration::from_secs(60 * 60);

/// Time for which change records, and disabled streams, can be read (developer guide, "Change data
/// capture for DynamoDB Streams").
pub const STREAM_RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

/// Largest number of records that one read of a shard returns (API reference, GetRecords).
pub const RECORDS_LIMIT: i32 = 1000;
