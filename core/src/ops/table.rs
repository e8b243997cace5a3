//! Creating, describing, changing and deleting tables.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::setters;
use crate::env::Timestamp;
use crate::key::KeyType;

/// The tags of a table, by name.
pub type Tags = BTreeMap<String, String>;

/// The type of a key attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttributeDefinition {
    /// The attribute.
    pub name: String,
    /// Its type.
    pub kind: KeyType,
}

impl AttributeDefinition {
    /// The attribute of this name has this type.
    pub fn new(name: impl Into<String>, kind: KeyType) -> Self {
        Self { name: name.into(), kind }
    }
}

/// One attribute of a key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct KeySchemaElement {
    /// The attribute.
    pub name: String,
    /// Whether it belongs to the partition key or to the sort key.
    pub role: KeyRole,
}

impl KeySchemaElement {
    /// The attribute of this name in this half of the key.
    pub fn new(name: impl Into<String>, role: KeyRole) -> Self {
        Self { name: name.into(), role }
    }
}

/// Which half of a key an attribute belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum KeyRole {
    /// The partition key: DynamoDB's `HASH`.
    #[serde(rename = "HASH")]
    Partition,
    /// The sort key: DynamoDB's `RANGE`.
    #[serde(rename = "RANGE")]
    Sort,
}

impl KeyRole {
    /// DynamoDB's name for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Partition => "HASH",
            Self::Sort => "RANGE",
        }
    }
}

/// Which attributes an index carries besides the keys of index and table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct IndexProjection {
    /// All, none, or some.
    pub kind: ProjectionType,
    /// The attributes of an [`ProjectionType::Include`] projection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub non_key_attributes: Vec<String>,
}

/// How much an index carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ProjectionType {
    /// Every attribute.
    All,
    /// The keys only.
    KeysOnly,
    /// The keys and some named attributes.
    Include,
}

impl ProjectionType {
    /// DynamoDB's name for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::All => "ALL",
            Self::KeysOnly => "KEYS_ONLY",
            Self::Include => "INCLUDE",
        }
    }
}

impl IndexProjection {
    /// A projection of this kind, with these attributes besides the keys.
    pub fn new(kind: ProjectionType, non_key_attributes: Vec<String>) -> Self {
        Self { kind, non_key_attributes }
    }

    /// Every attribute.
    pub fn all() -> Self {
        Self { kind: ProjectionType::All, non_key_attributes: Vec::new() }
    }

    /// The keys only.
    pub fn keys_only() -> Self {
        Self { kind: ProjectionType::KeysOnly, non_key_attributes: Vec::new() }
    }

    /// The keys and these attributes.
    pub fn include(attributes: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            kind: ProjectionType::Include,
            non_key_attributes: attributes.into_iter().map(Into::into).collect(),
        }
    }
}

/// A secondary index to be created. Global ones may have up to four attributes in each half of
/// their key; local ones share the table's partition key.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SecondaryIndex {
    /// The index.
    pub name: String,
    /// Its key, partition attributes first.
    pub key_schema: Vec<KeySchemaElement>,
    /// What it carries.
    pub projection: IndexProjection,
    /// Its throughput, where the table's is provisioned. Global indexes only.
    pub provisioned_throughput: Option<ProvisionedThroughput>,
}

impl SecondaryIndex {
    /// An index that carries every attribute, its key still to be named.
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
        /// What the index carries.
        projection: IndexProjection,
        /// Its throughput, where the table's is provisioned.
        provisioned_throughput: Option<ProvisionedThroughput>,
    }
}

/// How a table is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum BillingMode {
    /// By request.
    PayPerRequest,
    /// By provisioned throughput.
    Provisioned,
}

impl BillingMode {
    /// DynamoDB's name for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PayPerRequest => "PAY_PER_REQUEST",
            Self::Provisioned => "PROVISIONED",
        }
    }
}

/// Capacity units per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProvisionedThroughput {
    /// For reading.
    pub read_capacity_units: i64,
    /// For writing.
    pub write_capacity_units: i64,
}

impl ProvisionedThroughput {
    /// These units for reading and writing.
    pub fn new(read_capacity_units: i64, write_capacity_units: i64) -> Self {
        Self { read_capacity_units, write_capacity_units }
    }
}

/// What a stream record carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StreamViewType {
    /// The keys.
    KeysOnly,
    /// The keys and the item after the change.
    NewImage,
    /// The keys and the item before the change.
    OldImage,
    /// The keys and both.
    NewAndOldImages,
}

impl StreamViewType {
    /// DynamoDB's name for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::KeysOnly => "KEYS_ONLY",
            Self::NewImage => "NEW_IMAGE",
            Self::OldImage => "OLD_IMAGE",
            Self::NewAndOldImages => "NEW_AND_OLD_IMAGES",
        }
    }
}

/// Turns a table's stream on or off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamSpecification {
    /// Whether changes are recorded.
    pub enabled: bool,
    /// What a record carries; given exactly when the stream is enabled.
    pub view_type: Option<StreamViewType>,
}

impl StreamSpecification {
    /// These settings, as a request gives them: valid only if there is a view type exactly when the
    /// stream is enabled.
    pub fn new(enabled: bool, view_type: Option<StreamViewType>) -> Self {
        Self { enabled, view_type }
    }

    /// A stream whose records have this view.
    pub fn enabled(view_type: StreamViewType) -> Self {
        Self { enabled: true, view_type: Some(view_type) }
    }

    /// No stream.
    pub fn disabled() -> Self {
        Self::default()
    }
}

/// Encryption at rest, passed through to DynamoDB.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SseSpecification {
    /// Whether a key of the account encrypts the table, instead of one of DynamoDB's own.
    pub enabled: bool,
    /// `KMS` or `AES256`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sse_type: Option<String>,
    /// The key, if not the account's default one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kms_master_key_id: Option<String>,
}

impl SseSpecification {
    /// Encryption with a key of the account, its default one unless another is set.
    pub fn enabled() -> Self {
        Self { enabled: true, ..Self::default() }
    }

    setters! {
        /// `KMS` or `AES256`.
        sse_type: Option<String>,
        /// The key, if not the account's default one.
        kms_master_key_id: Option<String>,
    }
}

/// Creates a table and waits until it can be used.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CreateTable {
    /// The table.
    pub table: String,
    /// The types of all key attributes, of the table and of its indexes, and of no other.
    pub attribute_definitions: Vec<AttributeDefinition>,
    /// The table's key, partition attribute first.
    pub key_schema: Vec<KeySchemaElement>,
    /// Global secondary indexes.
    pub global_secondary_indexes: Vec<SecondaryIndex>,
    /// Local secondary indexes.
    pub local_secondary_indexes: Vec<SecondaryIndex>,
    /// How the table is paid for. [`CreateTable::new`] says by request, which is what people want
    /// of a table today; DynamoDB's own default is provisioned throughput.
    pub billing_mode: Option<BillingMode>,
    /// The table's throughput, if it is provisioned.
    pub provisioned_throughput: Option<ProvisionedThroughput>,
    /// The table's stream.
    pub stream: Option<StreamSpecification>,
    /// Encryption settings.
    pub sse: Option<SseSpecification>,
    /// Whether the table refuses to be deleted.
    pub deletion_protection: bool,
    /// `STANDARD` or `STANDARD_INFREQUENT_ACCESS`.
    pub table_class: Option<String>,
    /// Tags.
    pub tags: Tags,
}

impl CreateTable {
    /// A table paid by request, its key still to be named.
    pub fn new(table: impl Into<String>) -> Self {
        Self {
            table: table.into(),
            billing_mode: Some(BillingMode::PayPerRequest),
            ..Self::default()
        }
    }

    /// The table's partition key.
    #[must_use]
    pub fn partition_key(self, name: impl Into<String>, kind: KeyType) -> Self {
        self.key(name.into(), kind, KeyRole::Partition)
    }

    /// The table's sort key.
    #[must_use]
    pub fn sort_key(self, name: impl Into<String>, kind: KeyType) -> Self {
        self.key(name.into(), kind, KeyRole::Sort)
    }

    fn key(mut self, name: String, kind: KeyType, role: KeyRole) -> Self {
        self.key_schema.push(KeySchemaElement { name: name.clone(), role });
        self.attribute(name, kind)
    }

    /// Gives the type of an index key attribute. Naming it twice is the same as once.
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

    /// Records changes with this view.
    #[must_use]
    pub fn stream(mut self, view_type: StreamViewType) -> Self {
        self.stream = Some(StreamSpecification { enabled: true, view_type: Some(view_type) });
        self
    }

    setters! {
        /// How the table is paid for.
        billing_mode: Option<BillingMode>,
        /// The table's throughput, if it is provisioned.
        provisioned_throughput: Option<ProvisionedThroughput>,
        /// Encryption settings.
        sse: Option<SseSpecification>,
        /// Whether the table refuses to be deleted.
        deletion_protection: bool,
        /// `STANDARD` or `STANDARD_INFREQUENT_ACCESS`.
        table_class: Option<String>,
        /// Tags.
        tags: Tags,
    }
}

/// Changes a table, and waits until the change is complete.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct UpdateTable {
    /// The table.
    pub table: String,
    /// The types of the key attributes of an index to be created.
    pub attribute_definitions: Vec<AttributeDefinition>,
    /// Creates, changes and deletes global secondary indexes; one creation or deletion per call.
    pub index_updates: Vec<IndexUpdate>,
    /// How the table is paid for from now on.
    pub billing_mode: Option<BillingMode>,
    /// The table's throughput from now on.
    pub provisioned_throughput: Option<ProvisionedThroughput>,
    /// Turns the stream on or off.
    pub stream: Option<StreamSpecification>,
    /// Encryption settings from now on.
    pub sse: Option<SseSpecification>,
    /// Whether the table refuses to be deleted from now on.
    pub deletion_protection: Option<bool>,
    /// The table's class from now on.
    pub table_class: Option<String>,
}

/// A change of one global secondary index.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexUpdate {
    /// Creates it, and fills it from the items that are there.
    Create(SecondaryIndex),
    /// Changes its throughput.
    Update {
        /// The index.
        name: String,
        /// Its throughput from now on.
        provisioned_throughput: ProvisionedThroughput,
    },
    /// Deletes it.
    Delete {
        /// The index.
        name: String,
    },
}

impl UpdateTable {
    /// Changes nothing of this table yet.
    pub fn new(table: impl Into<String>) -> Self {
        Self { table: table.into(), ..Self::default() }
    }

    /// Gives the type of a key attribute of an index to be created.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<String>, kind: KeyType) -> Self {
        self.attribute_definitions.push(AttributeDefinition { name: name.into(), kind });
        self
    }

    /// Creates this index.
    #[must_use]
    pub fn create_index(mut self, index: SecondaryIndex) -> Self {
        self.index_updates.push(IndexUpdate::Create(index));
        self
    }

    /// Deletes this index.
    #[must_use]
    pub fn delete_index(mut self, name: impl Into<String>) -> Self {
        self.index_updates.push(IndexUpdate::Delete { name: name.into() });
        self
    }

    setters! {
        /// How the table is paid for from now on.
        billing_mode: Option<BillingMode>,
        /// The table's throughput from now on.
        provisioned_throughput: Option<ProvisionedThroughput>,
        /// Turns the stream on or off.
        stream: Option<StreamSpecification>,
        /// Encryption settings from now on.
        sse: Option<SseSpecification>,
        /// Whether the table refuses to be deleted from now on.
        deletion_protection: Option<bool>,
        /// The table's class from now on.
        table_class: Option<String>,
    }
}

/// Describes a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DescribeTable {
    /// The table.
    pub table: String,
}

/// Deletes a table with all its items, and waits until it is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeleteTable {
    /// The table.
    pub table: String,
}

impl DescribeTable {
    /// Describes this table.
    pub fn new(table: impl Into<String>) -> Self {
        Self { table: table.into() }
    }
}

impl DeleteTable {
    /// Deletes this table.
    pub fn new(table: impl Into<String>) -> Self {
        Self { table: table.into() }
    }
}

/// Lists the names of the tables, in order, a page at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListTables {
    /// Where to go on: the last name of the page before.
    pub exclusive_start_table_name: Option<String>,
    /// How many names a page has, at most 100.
    pub limit: Option<i32>,
}

impl ListTables {
    /// Lists the tables from the first on.
    pub fn new() -> Self {
        Self::default()
    }

    /// Continues after this name.
    #[must_use]
    pub fn exclusive_start_table_name(mut self, name: impl Into<String>) -> Self {
        self.exclusive_start_table_name = Some(name.into());
        self
    }

    /// Returns at most this many names.
    #[must_use]
    pub fn limit(mut self, limit: impl Into<Option<i32>>) -> Self {
        self.limit = limit.into();
        self
    }
}

/// The answer to [`ListTables`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListTablesOutput {
    /// The names.
    pub table_names: Vec<String>,
    /// Where the next page begins; absent on the last page.
    pub last_evaluated_table_name: Option<String>,
}

impl ListTablesOutput {
    /// A last page of these names.
    pub fn new(table_names: Vec<String>) -> Self {
        Self { table_names, last_evaluated_table_name: None }
    }

    setters! {
        /// Where the next page begins; absent on the last page.
        last_evaluated_table_name: Option<String>,
    }
}

/// Whether a table or an index can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableStatus {
    /// Not yet.
    Creating,
    /// Yes, and it is being changed.
    Updating,
    /// No longer.
    Deleting,
    /// Yes.
    Active,
    /// Any other state that a service may report.
    Other,
}

impl TableStatus {
    /// DynamoDB's name for it.
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

/// What a table is, and how it stands.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TableDescription {
    /// The table.
    pub table: String,
    /// Whether it can be used.
    pub status: TableStatus,
    /// The types of all key attributes.
    pub attribute_definitions: Vec<AttributeDefinition>,
    /// The table's key.
    pub key_schema: Vec<KeySchemaElement>,
    /// Global secondary indexes.
    pub global_secondary_indexes: Vec<IndexDescription>,
    /// Local secondary indexes.
    pub local_secondary_indexes: Vec<IndexDescription>,
    /// How the table is paid for.
    pub billing_mode: BillingMode,
    /// The table's throughput; zero if it is paid by request.
    pub provisioned_throughput: ProvisionedThroughput,
    /// The stream's settings, while it is enabled.
    pub stream: Option<StreamSpecification>,
    /// The stream of this table, also after it was disabled.
    pub latest_stream_arn: Option<String>,
    /// When that stream was enabled.
    pub latest_stream_label: Option<String>,
    /// Encryption settings.
    pub sse: Option<SseSpecification>,
    /// Whether the table refuses to be deleted.
    pub deletion_protection: bool,
    /// The table's class, if one was asked for.
    pub table_class: Option<String>,
    /// When the table was created.
    pub created_at: Timestamp,
    /// How many items it has. DynamoDB counts every six hours; the embedded engines count.
    pub item_count: u64,
    /// How large its items are together, in bytes.
    pub size_bytes: u64,
    /// The table's resource name.
    pub arn: String,
    /// The table's own id: a table that is deleted and created again has another.
    pub id: Option<String>,
}

impl TableDescription {
    /// An active, empty table that is paid by request, with no index, stream or resource name.
    /// Whoever describes a real one sets the rest.
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
        /// Whether it can be used.
        status: TableStatus,
        /// Global secondary indexes.
        global_secondary_indexes: Vec<IndexDescription>,
        /// Local secondary indexes.
        local_secondary_indexes: Vec<IndexDescription>,
        /// How the table is paid for.
        billing_mode: BillingMode,
        /// The table's throughput; zero if it is paid by request.
        provisioned_throughput: ProvisionedThroughput,
        /// The stream's settings, while it is enabled.
        stream: Option<StreamSpecification>,
        /// The stream of this table, also after it was disabled.
        latest_stream_arn: Option<String>,
        /// When that stream was enabled.
        latest_stream_label: Option<String>,
        /// Encryption settings.
        sse: Option<SseSpecification>,
        /// Whether the table refuses to be deleted.
        deletion_protection: bool,
        /// The table's class, if one was asked for.
        table_class: Option<String>,
        /// How many items it has.
        item_count: u64,
        /// How large its items are together, in bytes.
        size_bytes: u64,
        /// The table's resource name.
        arn: String,
        /// The table's own id.
        id: Option<String>,
    }
}

/// What an index is, and how it stands.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct IndexDescription {
    /// The index.
    pub name: String,
    /// Its key.
    pub key_schema: Vec<KeySchemaElement>,
    /// What it carries.
    pub projection: IndexProjection,
    /// Whether it can be used; local indexes always can.
    pub status: TableStatus,
    /// Whether it is being filled from the items that were there before it.
    pub backfilling: bool,
    /// Its throughput; zero if the table is paid by request.
    pub provisioned_throughput: ProvisionedThroughput,
    /// How many items it has.
    pub item_count: u64,
    /// How large they are together, in bytes.
    pub size_bytes: u64,
    /// The index's resource name.
    pub arn: String,
}

impl IndexDescription {
    /// An active, empty index without throughput or resource name. Whoever describes a real one
    /// sets the rest.
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
        /// Whether it can be used.
        status: TableStatus,
        /// Whether it is being filled from the items that were there before it.
        backfilling: bool,
        /// Its throughput; zero if the table is paid by request.
        provisioned_throughput: ProvisionedThroughput,
        /// How many items it has.
        item_count: u64,
        /// How large they are together, in bytes.
        size_bytes: u64,
        /// The index's resource name.
        arn: String,
    }
}

/// Turns the expiry of a table's items on or off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpdateTimeToLive {
    /// The table.
    pub table: String,
    /// The attribute that holds the time, in seconds since the epoch.
    pub attribute: String,
    /// Whether items expire.
    pub enabled: bool,
}

impl UpdateTimeToLive {
    /// Lets items of this table expire at the time in this attribute, or stops it.
    pub fn new(table: impl Into<String>, attribute: impl Into<String>, enabled: bool) -> Self {
        Self { table: table.into(), attribute: attribute.into(), enabled }
    }
}

/// Asks for a table's expiry settings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DescribeTimeToLive {
    /// The table.
    pub table: String,
}

impl DescribeTimeToLive {
    /// Asks for this table's expiry settings.
    pub fn new(table: impl Into<String>) -> Self {
        Self { table: table.into() }
    }
}

/// A table's expiry settings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TimeToLiveDescription {
    /// Whether items expire.
    pub status: TimeToLiveStatus,
    /// The attribute that holds the time, while there is one.
    pub attribute: Option<String>,
}

impl TimeToLiveDescription {
    /// Settings with this status; `attribute` holds the time.
    pub fn new(status: TimeToLiveStatus, attribute: Option<String>) -> Self {
        Self { status, attribute }
    }

    /// Items do not expire.
    pub fn disabled() -> Self {
        Self::new(TimeToLiveStatus::Disabled, None)
    }
}

/// Whether items expire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeToLiveStatus {
    /// Soon.
    Enabling,
    /// Yes.
    Enabled,
    /// Soon no longer.
    Disabling,
    /// No.
    Disabled,
}

impl TimeToLiveStatus {
    /// DynamoDB's name for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Enabling => "ENABLING",
            Self::Enabled => "ENABLED",
            Self::Disabling => "DISABLING",
            Self::Disabled => "DISABLED",
        }
    }
}

/// Adds tags to a table, or changes their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TagTable {
    /// The table.
    pub table: String,
    /// The tags.
    pub tags: Tags,
}

impl TagTable {
    /// Adds these tags to this table.
    pub fn new(table: impl Into<String>, tags: Tags) -> Self {
        Self { table: table.into(), tags }
    }
}

/// Takes tags from a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UntagTable {
    /// The table.
    pub table: String,
    /// The names of the tags.
    pub keys: Vec<String>,
}

impl UntagTable {
    /// Takes the tags of these names from this table.
    pub fn new(table: impl Into<String>, keys: Vec<String>) -> Self {
        Self { table: table.into(), keys }
    }
}

/// Asks for a table's tags.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListTableTags {
    /// The table.
    pub table: String,
}

impl ListTableTags {
    /// Asks for the tags of this table.
    pub fn new(table: impl Into<String>) -> Self {
        Self { table: table.into() }
    }
}
