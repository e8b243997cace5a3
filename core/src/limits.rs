//! DynamoDB's limits.
//!
//! The numbers come from the developer guide's page "Quotas in Amazon DynamoDB" (ServiceQuotas),
//! except where another source is named; those on expressions from its section "Expression
//! parameters".

use std::time::Duration;

/// Bytes in the text of one expression, before placeholders are substituted.
pub const EXPRESSION_BYTES: usize = 4096;

/// Bytes in all names and values that the expressions of one request refer to.
pub const SUBSTITUTION_BYTES: usize = 2 * 1024 * 1024;

/// Operators and functions in one expression.
pub const EXPRESSION_OPERATORS: usize = 300;

/// Operands on the right of `IN`.
pub const IN_OPERANDS: usize = 100;

/// Bytes in one placeholder, its `#` or `:` included.
pub const PLACEHOLDER_BYTES: usize = 255;

/// Elements in one document path, the attribute itself included ("Nested attribute depth").
pub const PATH_ELEMENTS: usize = 32;

/// The greatest list index in a document path: an index is a 32-bit signed integer (observed on
/// DynamoDB Local; the developer guide gives no number).
pub const LIST_INDEX: u32 = i32::MAX as u32;

/// Bytes in an attribute name ("Attribute names").
pub const ATTRIBUTE_NAME_BYTES: usize = 65_535;

/// Levels of lists and maps in one value that an expression refers to.
pub const VALUE_DEPTH: usize = 32;

/// Levels of lists and maps in an attribute of an item. ServiceQuotas says 32, and counts the item
/// itself.
pub const ATTRIBUTE_DEPTH: usize = 31;

/// Bytes of an item (ServiceQuotas, item size).
pub const ITEM_SIZE: usize = 409_600;

/// Bytes of a partition key (ServiceQuotas, partition key length).
pub const PARTITION_KEY_SIZE: usize = 2048;

/// Bytes of a sort key (ServiceQuotas, sort key length).
pub const SORT_KEY_SIZE: usize = 1024;

/// Writes in a batch (API reference, BatchWriteItem).
pub const BATCH_WRITE_ITEMS: usize = 25;

/// Keys in a batch of reads (API reference, BatchGetItem).
pub const BATCH_GET_KEYS: usize = 100;

/// Bytes that a batch may read (API reference, BatchGetItem).
pub const BATCH_GET_SIZE: usize = 16 * 1024 * 1024;

/// Operations in a transaction (ServiceQuotas, transactions).
pub const TRANSACT_ITEMS: usize = 100;

/// Bytes of all items in a transaction (ServiceQuotas, transactions).
pub const TRANSACT_SIZE: usize = 4 * 1024 * 1024;

/// Characters of a client request token (API reference, TransactWriteItems).
pub const CLIENT_REQUEST_TOKEN: usize = 36;

/// Bytes that a page of a query or scan reads (API reference, Query and Scan).
pub const PAGE_SIZE: usize = 1024 * 1024;

/// Parts of a parallel scan (API reference, Scan).
pub const SCAN_SEGMENTS: i32 = 1_000_000;

/// Characters in the shortest name of a table or index ("Table names", "Secondary index names").
pub const NAME_MIN: usize = 3;

/// Characters in the longest name of a table or index ("Table names", "Secondary index names").
pub const NAME_MAX: usize = 255;

/// Bytes in the name of a key attribute, of an attribute that an index carries by name, and of the
/// attribute by which items expire ("Attribute names"; API reference, `TimeToLiveSpecification`).
pub const KEY_NAME_BYTES: usize = 255;

/// Global secondary indexes of a table ("Secondary indexes per table").
pub const GLOBAL_INDEXES: usize = 20;

/// Local secondary indexes of a table ("Secondary indexes per table").
pub const LOCAL_INDEXES: usize = 5;

/// Attributes in each half of the key of a global index (developer guide, "Multi-attribute keys").
pub const INDEX_KEY_ATTRIBUTES: usize = 4;

/// Attributes that one index carries by name (API reference, `Projection`).
pub const INDEX_PROJECTED_ATTRIBUTES: usize = 20;

/// Attributes that all indexes of a table carry by name ("Projected Secondary Index attributes per
/// table").
pub const PROJECTED_ATTRIBUTES: usize = 100;

/// Capacity units of a table or index, unless an account has more ("Read/write throughput").
pub const TABLE_CAPACITY_UNITS: i64 = 40_000;

/// Capacity units that no account can have (observed on AWS).
pub const CAPACITY_UNITS_EVER: i64 = 1_000_000_000_000;

/// Names in one page of a list of tables (API reference, `ListTables`).
pub const LIST_TABLES: usize = 100;

/// Tags of a table ("Tagging restrictions in DynamoDB").
pub const TAGS: usize = 50;

/// Characters in the name of a tag ("Tagging restrictions in DynamoDB").
pub const TAG_KEY_CHARS: usize = 128;

/// Characters in the value of a tag ("Tagging restrictions in DynamoDB").
pub const TAG_VALUE_CHARS: usize = 256;

/// The time between two changes of a table's expiry settings (API reference, `UpdateTimeToLive`:
/// up to one hour).
pub const TIME_TO_LIVE_CHANGES: Duration = Duration::from_secs(60 * 60);

/// How long change records, and disabled streams, can be read (developer guide, "Change data
/// capture for DynamoDB Streams").
pub const STREAM_RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

/// Records that one read of a shard returns (API reference, GetRecords).
pub const RECORDS_LIMIT: i32 = 1000;
