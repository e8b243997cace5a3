//! The table definition that an engine stores in its catalogue.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::name::{index_arn, strip_arn, table_arn};
use super::ttl::TimeToLive;
use super::{IndexKind, IndexSchema, TableSchema, TableStream};
use super::{settings, shape, stream, tags, throughput};
use crate::env::Timestamp;
use crate::error::{Error, ErrorKind, Result};
use crate::ops::{
    AttributeDefinition, BillingMode, CreateTable, IndexDescription, ProvisionedThroughput,
    SseSpecification, StreamSpecification, TableDescription, TableStatus, Tags,
};

/// Definition, settings and state of a table: everything but its items.
///
/// [`Table::create`] creates it. Each change returns a new one: [`Table::apply_update`],
/// [`Table::with_time_to_live`], [`Table::with_tags`], [`Table::without_tags`],
/// [`Table::with_index_filled`].
///
/// An engine stores it as JSON, and reads it back without validation. Fields may be added to the
/// JSON form, each with a default; none is renamed or removed. Times are milliseconds since
/// the epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Table {
    /// Name of the table.
    pub name: String,
    /// Id of the table. A table that is deleted and created again has another id.
    pub id: String,
    /// Time at which the table was created.
    pub created_at: Timestamp,
    /// Key and indexes.
    pub schema: TableSchema,
    /// State of the global indexes, by name. Local indexes have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub global_indexes: BTreeMap<String, GlobalIndexState>,
    /// Billing mode.
    pub billing_mode: BillingMode,
    /// Provisioned throughput; zero while the table is on demand.
    pub provisioned_throughput: ProvisionedThroughput,
    /// Streams, oldest first. Only the last can be enabled; see [`Table::stream`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<TableStream>,
    /// Time of the latest stream label of earlier tables with this name. A stream of this table
    /// gets a later label, even if the clock was set back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams_after: Option<Timestamp>,
    /// Encryption settings; `None` for the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sse: Option<SseSpecification>,
    /// Whether deletion of the table is refused.
    #[serde(default)]
    pub deletion_protection: bool,
    /// Table class; `None` for the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_class: Option<String>,
    /// Tags of the table.
    #[serde(default, skip_serializing_if = "Tags::is_empty")]
    pub tags: Tags,
    /// Expiry settings.
    #[serde(default)]
    pub time_to_live: TimeToLive,
}

/// State of a global index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GlobalIndexState {
    /// Whether the index is being backfilled with the items that are older than it.
    #[serde(default)]
    pub backfilling: bool,
    /// Provisioned throughput; zero while the table is on demand.
    pub provisioned_throughput: ProvisionedThroughput,
}

/// Item counts of a table and its indexes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableCounts {
    /// Item count of the table.
    pub table: ItemCount,
    /// Item counts of the indexes, by name; a missing index is empty.
    pub indexes: BTreeMap<String, ItemCount>,
}

/// Number of items and their total size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ItemCount {
    /// Number of items.
    pub items: u64,
    /// Total size of the items in bytes.
    pub bytes: u64,
}

impl Table {
    /// Validates a request and creates the table with this id.
    ///
    /// The engine checks afterwards whether the name exists, as DynamoDB does, and returns
    /// [`table_exists_error`](super::table_exists_error).
    ///
    /// # Errors
    /// A validation error with DynamoDB's message, mostly in DynamoDB's order of checks.
    pub fn create(request: &CreateTable, now: Timestamp, id: String) -> Result<Table> {
        let CreateTable {
            table,
            attribute_definitions: _,
            key_schema: _,
            global_secondary_indexes,
            local_secondary_indexes: _,
            billing_mode: _,
            provisioned_throughput: _,
            stream,
            sse,
            deletion_protection,
            table_class,
            tags,
        } = request;
        shape::create_table(request)?;
        let (billing_mode, provisioned_throughput) = throughput::of_new_table(request)?;
        let schema = TableSchema::of_checked_shape(request)?;
        let mut global_indexes = BTreeMap::new();
        for index in global_secondary_indexes {
            let given = index.provisioned_throughput;
            let provisioned_throughput =
                throughput::of_new_table_index(billing_mode, &index.name, given)?;
            let state = GlobalIndexState { backfilling: false, provisioned_throughput };
            global_indexes.insert(index.name.clone(), state);
        }
        let view_type = stream::of_new_table(*stream)?;
        settings::table_class(table_class.as_deref())?;
        tags::check(tags)?;
        let now = now.to_millis();
        let mut table = Table {
            name: strip_arn(table).to_owned(),
            id,
            created_at: now,
            schema,
            global_indexes,
            billing_mode,
            provisioned_throughput,
            streams: Vec::new(),
            streams_after: None,
            sse: settings::sse(sse.as_ref())?,
            deletion_protection: *deletion_protection,
            table_class: table_class.clone(),
            tags: tags.clone(),
            time_to_live: TimeToLive::default(),
        };
        if let Some(view_type) = view_type {
            table.enable_stream(view_type, now);
        }
        Ok(table)
    }

    /// ARN of the table.
    pub fn arn(&self) -> String {
        table_arn(&self.name)
    }

    /// Types of all key attributes of table and indexes, sorted by name.
    pub fn attribute_definitions(&self) -> Vec<AttributeDefinition> {
        self.schema.attribute_definitions()
    }

    /// Indexes that are being backfilled: at most one. An engine resumes it when it opens
    /// the store.
    pub fn backfilling(&self) -> impl Iterator<Item = &IndexSchema> {
        self.schema.indexes.iter().filter(|index| self.is_backfilling(&index.name))
    }

    fn is_backfilling(&self, index: &str) -> bool {
        self.global_indexes.get(index).is_some_and(|state| state.backfilling)
    }

    /// Returns the table with the backfill of an index complete, so that the index can be read.
    #[must_use]
    pub fn with_index_filled(&self, index: &str) -> Table {
        let mut table = self.clone();
        if let Some(state) = table.global_indexes.get_mut(index) {
            state.backfilling = false;
        }
        table
    }

    /// Looks up the index that a query or scan names.
    ///
    /// # Errors
    /// A validation error if it does not exist or is being backfilled.
    pub fn index_to_read(&self, name: &str) -> Result<&IndexSchema> {
        let Some(index) = self.schema.index(name) else {
            return Err(Error::validation(format!(
                "The table does not have the specified index: {name}"
            )));
        };
        if self.is_backfilling(name) {
            return Err(Error::validation(format!(
                "Cannot read from backfilling global secondary index: {name}"
            )));
        }
        Ok(index)
    }

    /// Checks that the table may be deleted.
    ///
    /// # Errors
    /// A validation error if the table has deletion protection, and one of kind
    /// [`ErrorKind::InUse`] while an index is being backfilled.
    pub fn check_delete(&self) -> Result<()> {
        if self.deletion_protection {
            return Err(Error::validation(
                "Resource cannot be deleted as it is currently protected against deletion. \
                 Disable deletion protection first.",
            ));
        }
        if self.backfilling().next().is_some() {
            return Err(Error::new(
                ErrorKind::InUse,
                "Attempt to change a resource which is still in use: Cannot delete table while \
                 indexes are being created, updated, or deleted.",
            ));
        }
        Ok(())
    }

    /// Describes the table, with the engine's item counts.
    pub fn describe(&self, counts: &TableCounts) -> TableDescription {
        let of_kind = |kind| {
            self.schema
                .indexes
                .iter()
                .filter(move |index| index.kind == kind)
                .map(|index| self.describe_index(index, counts))
                .collect()
        };
        TableDescription {
            table: self.name.clone(),
            status: TableStatus::Active,
            attribute_definitions: self.attribute_definitions(),
            key_schema: self.schema.key_schema(),
            global_secondary_indexes: of_kind(IndexKind::Global),
            local_secondary_indexes: of_kind(IndexKind::Local),
            billing_mode: self.billing_mode,
            provisioned_throughput: self.provisioned_throughput,
            stream: self.stream().map(|stream| StreamSpecification {
                enabled: true,
                view_type: Some(stream.view_type),
            }),
            latest_stream_arn: self.latest_stream().map(|stream| stream.arn(&self.name).0),
            latest_stream_label: self.latest_stream().map(TableStream::label),
            sse: self.sse.clone(),
            deletion_protection: self.deletion_protection,
            table_class: self.table_class.clone(),
            created_at: self.created_at,
            item_count: counts.table.items,
            size_bytes: counts.table.bytes,
            arn: self.arn(),
            id: Some(self.id.clone()),
        }
    }

    fn describe_index(&self, index: &IndexSchema, counts: &TableCounts) -> IndexDescription {
        let state = self.global_indexes.get(&index.name);
        let backfilling = state.is_some_and(|state| state.backfilling);
        let count = counts.indexes.get(&index.name).copied().unwrap_or_default();
        IndexDescription {
            name: index.name.clone(),
            key_schema: index.key_schema(),
            projection: index.projection.clone(),
            status: if backfilling { TableStatus::Creating } else { TableStatus::Active },
            backfilling,
            provisioned_throughput: state
                .map_or(throughput::NONE, |state| state.provisioned_throughput),
            item_count: count.items,
            size_bytes: count.bytes,
            arn: index_arn(&self.name, &index.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyType;
    use crate::ops::{IndexProjection, SecondaryIndex, StreamViewType, UpdateTable};

    const NOW: Timestamp = Timestamp::from_millis(1_794_801_850_643);

    fn request() -> CreateTable {
        CreateTable::new("tab")
            .partition_key("pk", KeyType::S)
            .sort_key("sk", KeyType::N)
            .attribute("g", KeyType::B)
            .local_index(
                SecondaryIndex::new("lsi")
                    .partition_key("pk")
                    .sort_key("g")
                    .projection(IndexProjection::include(["x"])),
            )
            .global_index(SecondaryIndex::new("gsi").partition_key("g").sort_key("sk"))
    }

    fn table() -> Table {
        let mut request = request().stream(StreamViewType::NewAndOldImages);
        request.sse = Some(SseSpecification {
            enabled: true,
            sse_type: Some("KMS".to_owned()),
            kms_master_key_id: None,
        });
        request.tags.insert("team".to_owned(), "blue".to_owned());
        request.table_class = Some("STANDARD".to_owned());
        Table::create(&request, NOW, "an-id".to_owned()).unwrap()
    }

    /// Files contain this form: a change breaks existing files.
    #[test]
    fn stored_form_of_a_table_is_stable() {
        let stored = serde_json::json!({
            "name": "tab",
            "id": "an-id",
            "created_at": 1_794_801_850_643_u64,
            "schema": {
                "partition": {"name": "pk", "kind": "S"},
                "sort": {"name": "sk", "kind": "N"},
                "indexes": [
                    {
                        "name": "lsi",
                        "kind": "LOCAL",
                        "partition": [{"name": "pk", "kind": "S"}],
                        "sort": [{"name": "g", "kind": "B"}],
                        "projection": {"kind": "INCLUDE", "non_key_attributes": ["x"]},
                    },
                    {
                        "name": "gsi",
                        "kind": "GLOBAL",
                        "partition": [{"name": "g", "kind": "B"}],
                        "sort": [{"name": "sk", "kind": "N"}],
                        "projection": {"kind": "ALL"},
                    },
                ],
            },
            "global_indexes": {
                "gsi": {
                    "backfilling": false,
                    "provisioned_throughput":
                        {"read_capacity_units": 0, "write_capacity_units": 0},
                },
            },
            "billing_mode": "PAY_PER_REQUEST",
            "provisioned_throughput": {"read_capacity_units": 0, "write_capacity_units": 0},
            "streams": [{"view_type": "NEW_AND_OLD_IMAGES", "created_at": 1_794_801_850_643_u64}],
            "sse": {"enabled": true, "sse_type": "KMS"},
            "deletion_protection": false,
            "table_class": "STANDARD",
            "tags": {"team": "blue"},
            "time_to_live": {},
        });
        assert_eq!(serde_json::to_value(table()).unwrap(), stored);
        assert_eq!(serde_json::from_value::<Table>(stored).unwrap(), table());
    }

    #[test]
    fn stored_table_without_later_fields_is_readable() {
        let stored = serde_json::json!({
            "name": "tab", "id": "an-id", "created_at": 0, "billing_mode": "PROVISIONED",
            "schema": {"partition": {"name": "pk", "kind": "S"}},
            "provisioned_throughput": {"read_capacity_units": 1, "write_capacity_units": 2},
            "a member of a later version": 1,
        });
        let table: Table = serde_json::from_value(stored).unwrap();
        assert!(table.schema.indexes.is_empty() && table.streams.is_empty());
    }

    #[test]
    fn stored_table_with_any_creation_time_reads_back() {
        let now = NOW + std::time::Duration::from_nanos(1234);
        let table = Table::create(&request(), now, "an-id".to_owned()).unwrap();
        let text = serde_json::to_string(&table).unwrap();
        assert_eq!(serde_json::from_str::<Table>(&text).unwrap(), table);
    }

    #[test]
    fn create_accepts_an_arn_as_name() {
        let mut request = request();
        request.table = "arn:aws:dynamodb:eu-west-1:123456789012:table/tab".to_owned();
        let table = Table::create(&request, NOW, String::new()).unwrap();
        assert_eq!(table.name, "tab");
        assert_eq!(table.arn(), "arn:aws:dynamodb:local:000000000000:table/tab");
    }

    #[test]
    fn create_checks_shape_before_meaning() {
        let mut request = request();
        request.table = "a!".to_owned();
        request.key_schema.clear();
        request.table_class = Some("FOO".to_owned());
        let error = Table::create(&request, NOW, String::new()).unwrap_err();
        assert!(error.message().starts_with("3 validation errors detected: "), "{error}");
        let mut request = CreateTable::new("tab").partition_key("a", KeyType::S);
        request.sse = Some(SseSpecification {
            enabled: true,
            sse_type: Some("FOO".to_owned()),
            kms_master_key_id: None,
        });
        assert_eq!(
            Table::create(&request, NOW, String::new()).unwrap_err().message(),
            "1 validation error detected: Value 'FOO' at 'sSESpecification.sSEType' failed to \
             satisfy constraint: Member must satisfy enum value set: [AES256, KMS]"
        );
    }

    #[test]
    fn description_has_the_settings_of_the_request() {
        let count = |items, bytes| ItemCount { items, bytes };
        let counts = TableCounts {
            table: count(3, 300),
            indexes: BTreeMap::from([("gsi".to_owned(), count(2, 20))]),
        };
        let table = table();
        let description = table.describe(&counts);
        assert_eq!(description.status, TableStatus::Active);
        assert_eq!((description.item_count, description.size_bytes), (3, 300));
        let names: Vec<&str> =
            description.attribute_definitions.iter().map(|d| d.name.as_str()).collect();
        assert_eq!(names, ["g", "pk", "sk"]);
        assert_eq!(description.key_schema, request().key_schema);
        let [gsi] = &description.global_secondary_indexes[..] else { panic!("{description:?}") };
        assert_eq!(gsi.key_schema, request().global_secondary_indexes[0].key_schema);
        assert_eq!((gsi.item_count, gsi.size_bytes), (2, 20));
        assert_eq!((gsi.status, gsi.backfilling), (TableStatus::Active, false));
        assert_eq!(gsi.arn, "arn:aws:dynamodb:local:000000000000:table/tab/index/gsi");
        let [lsi] = &description.local_secondary_indexes[..] else { panic!("{description:?}") };
        assert_eq!(lsi.projection, IndexProjection::include(["x"]));
        assert_eq!((lsi.item_count, lsi.status), (0, TableStatus::Active));
        let view_type = Some(StreamViewType::NewAndOldImages);
        assert_eq!(description.stream, Some(StreamSpecification { enabled: true, view_type }));
        assert_eq!(description.latest_stream_label.as_deref(), Some("2026-11-16T04:04:10.643"));
        assert_eq!(
            description.latest_stream_arn,
            Some(format!("{}/stream/2026-11-16T04:04:10.643", table.arn()))
        );
        let disabled = table.with_stream_disabled(NOW).describe(&counts);
        assert_eq!(disabled.stream, None);
        assert_eq!(disabled.latest_stream_arn, description.latest_stream_arn);
    }

    #[test]
    fn table_with_deletion_protection_cannot_be_deleted() {
        let mut table = table();
        table.check_delete().unwrap();
        table.deletion_protection = true;
        let error = table.check_delete().unwrap_err();
        assert_eq!(error.code(), "ValidationException");
        assert_eq!(
            error.message(),
            "Resource cannot be deleted as it is currently protected against deletion. Disable \
             deletion protection first."
        );
    }

    #[test]
    fn index_cannot_be_read_while_it_is_back_filled() {
        let request = UpdateTable::new("tab")
            .attribute("h", KeyType::S)
            .create_index(SecondaryIndex::new("new").partition_key("h"));
        let filling = table().apply_update(&request, NOW).unwrap().table;
        assert_eq!(filling.backfilling().map(|index| &index.name).collect::<Vec<_>>(), ["new"]);
        assert_eq!(
            filling.index_to_read("new").unwrap_err().message(),
            "Cannot read from backfilling global secondary index: new"
        );
        let error = filling.check_delete().unwrap_err();
        assert_eq!(error.code(), "ResourceInUseException");
        let described = filling.describe(&TableCounts::default());
        let index = &described.global_secondary_indexes[1];
        assert_eq!((index.status, index.backfilling), (TableStatus::Creating, true));

        let filled = filling.with_index_filled("new");
        assert_eq!(filled.index_to_read("new").unwrap().name, "new");
        assert_eq!(filled.backfilling().count(), 0);
        filled.check_delete().unwrap();
        assert_eq!(
            filled.index_to_read("none").unwrap_err().message(),
            "The table does not have the specified index: none"
        );
        filled.index_to_read("lsi").unwrap();
    }
}
