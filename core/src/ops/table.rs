//! Requests and outputs of operations on tables: definition, indexes, expiry and tags.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::setters;
use crate::env::Timestamp;
use crate::key::KeyType;

/// Tags of a table: values by keys. At most 50; keys of 1 to 128 characters, values of up to 256.
pub type Tags = BTreeMap<String, String>;

/// Name and type of a key attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttributeDefinition {
    /// Name of the attribute.
    pub name: String,
    /// Type of the attribute's values.
    pub kind: KeyType,
}

impl AttributeDefinition {
    /// Defines the type of an attribute.
    pub fn new(name: impl Into<String>, kind: KeyType) -> Self {
        Self { name: name.into(), kind }
    }
}

/// Attribute of a key schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeySchemaElement {
    /// Name of the attribute.
    pub name: String,
    /// Part of the key to which the attribute belongs.
    pub role: KeyRole,
}

impl KeySchemaElement {
    /// Creates an attribute of this part of the key.
    pub fn new(name: impl Into<String>, role: KeyRole) -> Self {
        Self { name: name.into(), role }
    }
}

/// Part of a key to which an attribute belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeyRole {
    /// Partition key (`HASH`).
    #[serde(rename = "HASH")]
    Partition,
    /// Sort key (`RANGE`).
    #[serde(rename = "RANGE")]
    Sort,
}

impl KeyRole {
    /// DynamoDB's name in requests and descriptions, in capitals.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Partition => "HASH",
            Self::Sort => "RANGE",
        }
    }
}

/// Projection of an index: the attributes that it holds besides the keys of index and table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct IndexProjection {
    /// Type of the projection.
    pub kind: ProjectionType,
    /// Attributes of a [`ProjectionType::Include`] projection, 1 to 20; empty for other types.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub non_key_attributes: Vec<String>,
}

/// Type of an index projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ProjectionType {
    /// All attributes of the item.
    All,
    /// Key attributes of index and table.
    KeysOnly,
    /// Key attributes and the named attributes.
    Include,
}

impl ProjectionType {
    /// DynamoDB's name in requests and descriptions, in capitals.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "ALL",
            Self::KeysOnly => "KEYS_ONLY",
            Self::Include => "INCLUDE",
        }
    }
}

impl IndexProjection {
    /// Creates a projection of this type, with these attributes besides the keys.
    pub fn new(kind: ProjectionType, non_key_attributes: Vec<String>) -> Self {
        Self { kind, non_key_attributes }
    }

    /// Projection of all attributes.
    pub fn all() -> Self {
        Self { kind: ProjectionType::All, non_key_attributes: Vec::new() }
    }

    /// Projection of the keys alone.
    pub fn keys_only() -> Self {
        Self { kind: ProjectionType::KeysOnly, non_key_attributes: Vec::new() }
    }

    /// Projection of the keys and these attributes.
    pub fn include(attributes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            kind: ProjectionType::Include,
            non_key_attributes: attributes.into_iter().map(Into::into).collect(),
        }
    }
}

/// Definition of a secondary index.
///
/// A global index has up to four partition attributes and up to four sort attributes. A local index
/// has the table's partition key and one sort attribute.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SecondaryIndex {
    /// Name of the index, 3 to 255 characters.
    pub name: String,
    /// Key schema, partition attributes first.
    pub key_schema: Vec<KeySchemaElement>,
    /// Attributes that the index holds. Default: all.
    pub projection: IndexProjection,
    /// Provisioned throughput. Required for a global index of a provisioned table,
    /// refused otherwise.
    pub provisioned_throughput: Option<ProvisionedThroughput>,
}

impl SecondaryIndex {
    /// Creates an index that projects all attributes, without a key.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            key_schema: Vec::new(),
            projection: IndexProjection::all(),
            provisioned_throughput: None,
        }
    }

    /// Adds an attribute to the partition key.
    #[must_use]
    pub fn partition_key(mut self, name: impl Into<String>) -> Self {
        self.key_schema.push(KeySchemaElement { name: name.into(), role: KeyRole::Partition });
        self
    }

    /// Adds an attribute to the sort key.
    #[must_use]
    pub fn sort_key(mut self, name: impl Into<String>) -> Self {
        self.key_schema.push(KeySchemaElement { name: name.into(), role: KeyRole::Sort });
        self
    }

    setters! {
        /// Sets the attributes that the index holds.
        projection: IndexProjection,
        /// Sets the provisioned throughput.
        provisioned_throughput: Option<ProvisionedThroughput>,
    }
}

/// Billing mode of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum BillingMode {
    /// On demand: billed by request.
    PayPerRequest,
    /// Provisioned: billed by provisioned throughput.
    Provisioned,
}

impl BillingMode {
    /// DynamoDB's name in requests and descriptions, in capitals.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PayPerRequest => "PAY_PER_REQUEST",
            Self::Provisioned => "PROVISIONED",
        }
    }
}

/// Provisioned throughput of a table or index, in capacity units per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProvisionedThroughput {
    /// Read capacity units per second, at least 1; 0 in the description of an on-demand table.
    pub read_capacity_units: i64,
    /// Write capacity units per second, at least 1; 0 in the description of an on-demand table.
    pub write_capacity_units: i64,
}

impl ProvisionedThroughput {
    /// Creates a throughput of these units.
    pub fn new(read_capacity_units: i64, write_capacity_units: i64) -> Self {
        Self { read_capacity_units, write_capacity_units }
    }
}

/// Images of the item that a stream record contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StreamViewType {
    /// Key attributes alone.
    KeysOnly,
    /// Key attributes and the item after the change.
    NewImage,
    /// Key attributes and the item before the change.
    OldImage,
    /// Key attributes and the item before and after the change.
    NewAndOldImages,
}

impl StreamViewType {
    /// DynamoDB's name in requests and descriptions, in capitals.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::KeysOnly => "KEYS_ONLY",
            Self::NewImage => "NEW_IMAGE",
            Self::OldImage => "OLD_IMAGE",
            Self::NewAndOldImages => "NEW_AND_OLD_IMAGES",
        }
    }
}

/// Stream settings of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamSpecification {
    /// Whether the stream is enabled.
    pub enabled: bool,
    /// Images that a record contains. Required if the stream is enabled, refused otherwise.
    pub view_type: Option<StreamViewType>,
}

impl StreamSpecification {
    /// Creates settings as a request has them. They are valid if `view_type` is set exactly when
    /// `enabled` is true.
    pub fn new(enabled: bool, view_type: Option<StreamViewType>) -> Self {
        Self { enabled, view_type }
    }

    /// Settings that enable a stream with this view type.
    pub fn enabled(view_type: StreamViewType) -> Self {
        Self { enabled: true, view_type: Some(view_type) }
    }

    /// Settings that disable the stream.
    pub fn disabled() -> Self {
        Self::default()
    }
}

/// Encryption settings of a table. The embedded stores keep them and do not encrypt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SseSpecification {
    /// Whether a KMS key of the account encrypts the table. Default: no, a key owned by DynamoDB.
    pub enabled: bool,
    /// Type of encryption: `KMS`. Required with a key id; `AES256` is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sse_type: Option<String>,
    /// Id, ARN or alias of the KMS key. Default: the key `alias/aws/dynamodb` of the account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kms_master_key_id: Option<String>,
}

impl SseSpecification {
    /// Encryption with the account's default KMS key.
    pub fn enabled() -> Self {
        Self { enabled: true, ..Self::default() }
    }

    setters! {
        /// Sets the type of encryption: `KMS`.
        sse_type: Option<String>,
        /// Sets the KMS key.
        kms_master_key_id: Option<String>,
    }
}

/// Request of [`Store::create_table`](crate::Store::create_table): defines a new table.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CreateTable {
    /// Name of the table, 3 to 255 characters out of `a-z`, `A-Z`, `0-9`, `_`, `.` and `-`.
    pub table: String,
    /// Types of the key attributes of table and indexes, and of no other attributes.
    pub attribute_definitions: Vec<AttributeDefinition>,
    /// Key schema of the table, partition attribute first.
    pub key_schema: Vec<KeySchemaElement>,
    /// Global secondary indexes, at most 20.
    pub global_secondary_indexes: Vec<SecondaryIndex>,
    /// Local secondary indexes, at most 5. They cannot be added later.
    pub local_secondary_indexes: Vec<SecondaryIndex>,
    /// Billing mode. [`CreateTable::new`] sets [`BillingMode::PayPerRequest`]; without one,
    /// DynamoDB takes [`BillingMode::Provisioned`].
    pub billing_mode: Option<BillingMode>,
    /// Throughput of the table. Required in provisioned mode, refused otherwise.
    pub provisioned_throughput: Option<ProvisionedThroughput>,
    /// Stream settings. Default: no stream.
    pub stream: Option<StreamSpecification>,
    /// Encryption settings. Default: a key owned by DynamoDB.
    pub sse: Option<SseSpecification>,
    /// Whether deletion of the table is refused. Default: no.
    pub deletion_protection: bool,
    /// Table class: `STANDARD` (default) or `STANDARD_INFREQUENT_ACCESS`.
    pub table_class: Option<String>,
    /// Tags, at most 50.
    pub tags: Tags,
}

impl CreateTable {
    /// Creates the definition of an on-demand table, without a key.
    pub fn new(table: impl Into<String>) -> Self {
        Self {
            table: table.into(),
            billing_mode: Some(BillingMode::PayPerRequest),
            ..Self::default()
        }
    }

    /// Sets the partition key of the table.
    #[must_use]
    pub fn partition_key(self, name: impl Into<String>, kind: KeyType) -> Self {
        self.key(name.into(), kind, KeyRole::Partition)
    }

    /// Sets the sort key of the table.
    #[must_use]
    pub fn sort_key(self, name: impl Into<String>, kind: KeyType) -> Self {
        self.key(name.into(), kind, KeyRole::Sort)
    }

    fn key(mut self, name: String, kind: KeyType, role: KeyRole) -> Self {
        self.key_schema.push(KeySchemaElement { name: name.clone(), role });
        self.attribute(name, kind)
    }

    /// Defines the type of a key attribute of an index. A repeated definition is ignored.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<String>, kind: KeyType) -> Self {
        let definition = AttributeDefinition { name: name.into(), kind };
        if !self.attribute_definitions.contains(&definition) {
            self.attribute_definitions.push(definition);
        }
        self
    }

    /// Adds a global secondary index.
    #[must_use]
    pub fn global_index(mut self, index: SecondaryIndex) -> Self {
        self.global_secondary_indexes.push(index);
        self
    }

    /// Adds a local secondary index.
    #[must_use]
    pub fn local_index(mut self, index: SecondaryIndex) -> Self {
        self.local_secondary_indexes.push(index);
        self
    }

    /// Enables a stream with this view type.
    #[must_use]
    pub fn stream(mut self, view_type: StreamViewType) -> Self {
        self.stream = Some(StreamSpecification { enabled: true, view_type: Some(view_type) });
        self
    }

    setters! {
        /// Sets the billing mode.
        billing_mode: Option<BillingMode>,
        /// Sets the throughput of a provisioned table.
        provisioned_throughput: Option<ProvisionedThroughput>,
        /// Sets the encryption settings.
        sse: Option<SseSpecification>,
        /// Sets whether deletion of the table is refused.
        deletion_protection: bool,
        /// Sets the table class: `STANDARD` or `STANDARD_INFREQUENT_ACCESS`.
        table_class: Option<String>,
        /// Sets the tags.
        tags: Tags,
    }
}

/// Request of [`Store::update_table`](crate::Store::update_table): changes a table. An absent field
/// stays as it is.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct UpdateTable {
    /// Name or ARN of the table.
    pub table: String,
    /// Types of the key attributes of a new index.
    pub attribute_definitions: Vec<AttributeDefinition>,
    /// Changes of global secondary indexes: at most one creation or deletion per call.
    pub index_updates: Vec<IndexUpdate>,
    /// New billing mode.
    pub billing_mode: Option<BillingMode>,
    /// New throughput of a provisioned table.
    pub provisioned_throughput: Option<ProvisionedThroughput>,
    /// New stream settings: enables or disables the stream.
    pub stream: Option<StreamSpecification>,
    /// New encryption settings.
    pub sse: Option<SseSpecification>,
    /// New deletion protection.
    pub deletion_protection: Option<bool>,
    /// New table class.
    pub table_class: Option<String>,
}

/// Change of one global secondary index.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexUpdate {
    /// Creates the index, and backfills it with the existing items.
    Create(SecondaryIndex),
    /// Changes the provisioned throughput of the index.
    Update {
        /// Name of the index.
        name: String,
        /// New throughput.
        provisioned_throughput: ProvisionedThroughput,
    },
    /// Deletes the index.
    Delete {
        /// Name of the index.
        name: String,
    },
}

impl UpdateTable {
    /// Creates a request without changes.
    pub fn new(table: impl Into<String>) -> Self {
        Self { table: table.into(), ..Self::default() }
    }

    /// Defines the type of a key attribute of a new index.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<String>, kind: KeyType) -> Self {
        self.attribute_definitions.push(AttributeDefinition { name: name.into(), kind });
        self
    }

    /// Adds the creation of an index.
    #[must_use]
    pub fn create_index(mut self, index: SecondaryIndex) -> Self {
        self.index_updates.push(IndexUpdate::Create(index));
        self
    }

    /// Adds the deletion of an index.
    #[must_use]
    pub fn delete_index(mut self, name: impl Into<String>) -> Self {
        self.index_updates.push(IndexUpdate::Delete { name: name.into() });
        self
    }

    setters! {
        /// Sets the new billing mode.
        billing_mode: Option<BillingMode>,
        /// Sets the new throughput of a provisioned table.
        provisioned_throughput: Option<ProvisionedThroughput>,
        /// Sets the new stream settings.
        stream: Option<StreamSpecification>,
        /// Sets the new encryption settings.
        sse: Option<SseSpecification>,
        /// Sets the new deletion protection.
        deletion_protection: Option<bool>,
        /// Sets the new table class.
        table_class: Option<String>,
    }
}

/// Request of [`Store::describe_table`](crate::Store::describe_table).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DescribeTable {
    /// Name or ARN of the table.
    pub table: String,
}

/// Request of [`Store::delete_table`](crate::Store::delete_table).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeleteTable {
    /// Name or ARN of the table.
    pub table: String,
}

impl DescribeTable {
    /// Creates a request for this table.
    pub fn new(table: impl Into<String>) -> Self {
        Self { table: table.into() }
    }
}

impl DeleteTable {
    /// Creates a request that deletes this table.
    pub fn new(table: impl Into<String>) -> Self {
        Self { table: table.into() }
    }
}

/// Request of [`Store::list_tables`](crate::Store::list_tables): lists table names, in
/// ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListTables {
    /// Position to resume after: `last_evaluated_table_name` of the previous page.
    pub exclusive_start_table_name: Option<String>,
    /// Largest number of names in the page, 1 to 100. Default: 100.
    pub limit: Option<i32>,
}

impl ListTables {
    /// Creates a request for the first page.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the position to resume after.
    #[must_use]
    pub fn exclusive_start_table_name(mut self, name: impl Into<String>) -> Self {
        self.exclusive_start_table_name = Some(name.into());
        self
    }

    /// Sets the largest number of names in the page, 1 to 100.
    #[must_use]
    pub fn limit(mut self, limit: impl Into<Option<i32>>) -> Self {
        self.limit = limit.into();
        self
    }
}

/// Output of [`Store::list_tables`](crate::Store::list_tables).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListTablesOutput {
    /// Names of the page, in ascending order.
    pub table_names: Vec<String>,
    /// Position after which the next page begins; `None` on the last page.
    pub last_evaluated_table_name: Option<String>,
}

impl ListTablesOutput {
    /// Creates a last page of these names.
    pub fn new(table_names: Vec<String>) -> Self {
        Self { table_names, last_evaluated_table_name: None }
    }

    setters! {
        /// Sets the position after which the next page begins.
        last_evaluated_table_name: Option<String>,
    }
}

/// Status of a table or of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableStatus {
    /// The table or index is being created and cannot be used yet.
    Creating,
    /// The table or index is being changed and can be used.
    Updating,
    /// The table or index is being deleted and cannot be used.
    Deleting,
    /// The table or index can be used.
    Active,
    /// Another status that a service reports, such as an archived table.
    Other,
}

impl TableStatus {
    /// DynamoDB's name in requests and descriptions, in capitals.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Creating => "CREATING",
            Self::Updating => "UPDATING",
            Self::Deleting => "DELETING",
            Self::Active => "ACTIVE",
            Self::Other => "OTHER",
        }
    }
}

/// Description of a table: definition, settings, status, item count.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TableDescription {
    /// Name of the table.
    pub table: String,
    /// Status of the table.
    pub status: TableStatus,
    /// Types of all key attributes of table and indexes.
    pub attribute_definitions: Vec<AttributeDefinition>,
    /// Key schema of the table, partition attribute first.
    pub key_schema: Vec<KeySchemaElement>,
    /// Global secondary indexes.
    pub global_secondary_indexes: Vec<IndexDescription>,
    /// Local secondary indexes.
    pub local_secondary_indexes: Vec<IndexDescription>,
    /// Billing mode.
    pub billing_mode: BillingMode,
    /// Provisioned throughput; zero for an on-demand table.
    pub provisioned_throughput: ProvisionedThroughput,
    /// Settings of the stream; `None` while it is disabled.
    pub stream: Option<StreamSpecification>,
    /// ARN of the latest stream, enabled or disabled.
    pub latest_stream_arn: Option<String>,
    /// Label of the latest stream: the time at which it was enabled.
    pub latest_stream_label: Option<String>,
    /// Encryption settings; `None` for the default, a key owned by DynamoDB.
    pub sse: Option<SseSpecification>,
    /// Whether deletion of the table is refused.
    pub deletion_protection: bool,
    /// Table class; `None` for the default.
    pub table_class: Option<String>,
    /// Time at which the table was created.
    pub created_at: Timestamp,
    /// Number of items: exact on the embedded stores, up to six hours old on DynamoDB.
    pub item_count: u64,
    /// Total size of the items in bytes; as current as `item_count`.
    pub size_bytes: u64,
    /// ARN of the table.
    pub arn: String,
    /// Id of the table. A table that is deleted and created again has another id.
    pub id: Option<String>,
}

impl TableDescription {
    /// Creates the description of an active, empty on-demand table without index, stream and ARN. A
    /// backend sets the rest.
    pub fn new(
        table: impl Into<String>,
        attribute_definitions: Vec<AttributeDefinition>,
        key_schema: Vec<KeySchemaElement>,
        created_at: Timestamp,
    ) -> Self {
        Self {
            table: table.into(),
            status: TableStatus::Active,
            attribute_definitions,
            key_schema,
            global_secondary_indexes: Vec::new(),
            local_secondary_indexes: Vec::new(),
            billing_mode: BillingMode::PayPerRequest,
            provisioned_throughput: ProvisionedThroughput::default(),
            stream: None,
            latest_stream_arn: None,
            latest_stream_label: None,
            sse: None,
            deletion_protection: false,
            table_class: None,
            created_at,
            item_count: 0,
            size_bytes: 0,
            arn: String::new(),
            id: None,
        }
    }

    setters! {
        /// Sets the status.
        status: TableStatus,
        /// Sets the global secondary indexes.
        global_secondary_indexes: Vec<IndexDescription>,
        /// Sets the local secondary indexes.
        local_secondary_indexes: Vec<IndexDescription>,
        /// Sets the billing mode.
        billing_mode: BillingMode,
        /// Sets the provisioned throughput.
        provisioned_throughput: ProvisionedThroughput,
        /// Sets the settings of the enabled stream.
        stream: Option<StreamSpecification>,
        /// Sets the ARN of the latest stream.
        latest_stream_arn: Option<String>,
        /// Sets the label of the latest stream.
        latest_stream_label: Option<String>,
        /// Sets the encryption settings.
        sse: Option<SseSpecification>,
        /// Sets whether deletion of the table is refused.
        deletion_protection: bool,
        /// Sets the table class.
        table_class: Option<String>,
        /// Sets the number of items.
        item_count: u64,
        /// Sets the total size of the items in bytes.
        size_bytes: u64,
        /// Sets the ARN.
        arn: String,
        /// Sets the id.
        id: Option<String>,
    }
}

/// Description of a secondary index.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct IndexDescription {
    /// Name of the index.
    pub name: String,
    /// Key schema, partition attributes first.
    pub key_schema: Vec<KeySchemaElement>,
    /// Attributes that the index holds.
    pub projection: IndexProjection,
    /// Status; always active for a local index.
    pub status: TableStatus,
    /// Whether the index is being backfilled. It cannot be read then.
    pub backfilling: bool,
    /// Provisioned throughput; zero if the table is on demand.
    pub provisioned_throughput: ProvisionedThroughput,
    /// Number of entries.
    pub item_count: u64,
    /// Total size of the entries in bytes.
    pub size_bytes: u64,
    /// ARN of the index.
    pub arn: String,
}

impl IndexDescription {
    /// Creates the description of an active, empty index without throughput and ARN. A backend sets
    /// the rest.
    pub fn new(
        name: impl Into<String>,
        key_schema: Vec<KeySchemaElement>,
        projection: IndexProjection,
    ) -> Self {
        Self {
            name: name.into(),
            key_schema,
            projection,
            status: TableStatus::Active,
            backfilling: false,
            provisioned_throughput: ProvisionedThroughput::default(),
            item_count: 0,
            size_bytes: 0,
            arn: String::new(),
        }
    }

    setters! {
        /// Sets the status.
        status: TableStatus,
        /// Sets whether the index is being backfilled.
        backfilling: bool,
        /// Sets the provisioned throughput.
        provisioned_throughput: ProvisionedThroughput,
        /// Sets the number of items.
        item_count: u64,
        /// Sets the total size of the entries in bytes.
        size_bytes: u64,
        /// Sets the ARN.
        arn: String,
    }
}

/// Request of [`Store::update_time_to_live`](crate::Store::update_time_to_live): enables or
/// disables the expiry of items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpdateTimeToLive {
    /// Name or ARN of the table.
    pub table: String,
    /// Attribute that holds the time of expiry in seconds since the epoch; name of 1 to 255 bytes.
    pub attribute: String,
    /// Whether items expire.
    pub enabled: bool,
}

impl UpdateTimeToLive {
    /// Creates a request that enables or disables expiry by an attribute.
    pub fn new(table: impl Into<String>, attribute: impl Into<String>, enabled: bool) -> Self {
        Self { table: table.into(), attribute: attribute.into(), enabled }
    }
}

/// Request of [`Store::describe_time_to_live`](crate::Store::describe_time_to_live).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DescribeTimeToLive {
    /// Name or ARN of the table.
    pub table: String,
}

impl DescribeTimeToLive {
    /// Creates a request for this table.
    pub fn new(table: impl Into<String>) -> Self {
        Self { table: table.into() }
    }
}

/// Expiry settings of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimeToLiveDescription {
    /// Whether items expire.
    pub status: TimeToLiveStatus,
    /// Attribute that holds the time of expiry; `None` if expiry is disabled.
    pub attribute: Option<String>,
}

impl TimeToLiveDescription {
    /// Creates settings with this status and attribute.
    pub fn new(status: TimeToLiveStatus, attribute: Option<String>) -> Self {
        Self { status, attribute }
    }

    /// Settings of a table whose items do not expire.
    pub fn disabled() -> Self {
        Self::new(TimeToLiveStatus::Disabled, None)
    }
}

/// Status of the expiry of a table's items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeToLiveStatus {
    /// Expiry is being enabled.
    Enabling,
    /// Items expire.
    Enabled,
    /// Expiry is being disabled.
    Disabling,
    /// Items do not expire.
    Disabled,
}

impl TimeToLiveStatus {
    /// DynamoDB's name in requests and descriptions, in capitals.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enabling => "ENABLING",
            Self::Enabled => "ENABLED",
            Self::Disabling => "DISABLING",
            Self::Disabled => "DISABLED",
        }
    }
}

/// Request of [`Store::tag_table`](crate::Store::tag_table): adds tags, or replaces their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TagTable {
    /// Name or ARN of the table.
    pub table: String,
    /// Tags to add or replace, 1 to 50.
    pub tags: Tags,
}

impl TagTable {
    /// Creates a request that adds these tags to this table.
    pub fn new(table: impl Into<String>, tags: Tags) -> Self {
        Self { table: table.into(), tags }
    }
}

/// Request of [`Store::untag_table`](crate::Store::untag_table): removes tags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UntagTable {
    /// Name or ARN of the table.
    pub table: String,
    /// Keys of the tags to remove, 1 to 50.
    pub keys: Vec<String>,
}

impl UntagTable {
    /// Creates a request that removes the tags with these keys.
    pub fn new(table: impl Into<String>, keys: Vec<String>) -> Self {
        Self { table: table.into(), keys }
    }
}

/// Request of [`Store::list_table_tags`](crate::Store::list_table_tags).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListTableTags {
    /// Name or ARN of the table.
    pub table: String,
}

impl ListTableTags {
    /// Creates a request for the tags of this table.
    pub fn new(table: impl Into<String>) -> Self {
        Self { table: table.into() }
    }
}
