//! A table as an engine's catalogue holds it.

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

/// Everything about a table but its items.
///
/// It is made by [`Table::create`], and each change makes another: [`Table::apply`],
/// [`Table::set_ttl`], [`Table::tag`], [`Table::untag`], [`Table::index_filled`]. An engine stores
/// it as JSON and takes it to be right: what serde reads is not checked again. Fields may be added
/// to the JSON form, each with a default; none is renamed or dropped. Times in it are milliseconds
/// since the epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Table {
    /// The table's name.
    pub name: String,
    /// The table's own id: a table that is deleted and created again has another.
    pub id: String,
    /// When it was created.
    pub created_at: Timestamp,
    /// Its key and its indexes.
    pub schema: TableSchema,
    /// How the global indexes stand, by name. Local ones are always as the table is.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub global_indexes: BTreeMap<String, GlobalIndexState>,
    /// How it is paid for.
    pub billing_mode: BillingMode,
    /// Its throughput; zero while it is paid by request.
    pub provisioned_throughput: ProvisionedThroughput,
    /// Its streams, oldest first. Only the last may be enabled; see [`Table::stream`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<TableStream>,
    /// When the newest stream of the earlier tables of this name was enabled: a stream of this one has
    /// a later label, also after a clock was set back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams_after: Option<Timestamp>,
    /// Encryption settings, if they are not the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sse: Option<SseSpecification>,
    /// Whether it refuses to be deleted.
    #[serde(default)]
    pub deletion_protection: bool,
    /// Its class, if one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table_class: Option<String>,
    /// Its tags.
    #[serde(default, skip_serializing_if = "Tags::is_empty")]
    pub tags: Tags,
    /// Whether and by which attribute its items expire.
    #[serde(default)]
    pub time_to_live: TimeToLive,
}

/// How a global index stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GlobalIndexState {
    /// Whether it is still being filled from the items that were there before it.
    #[serde(default)]
    pub backfilling: bool,
    /// Its throughput; zero while the table is paid by request.
    pub provisioned_throughput: ProvisionedThroughput,
}

/// How much a table and its indexes hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableCounts {
    /// The table.
    pub table: ItemCount,
    /// Its indexes, by name; one that is missing holds nothing.
    pub indexes: BTreeMap<String, ItemCount>,
}

/// How many items, and how large they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ItemCount {
    /// How many items.
    pub items: u64,
    /// How large they are together, in bytes.
    pub bytes: u64,
}

impl Table {
    /// A new table, with the id that it is to have. Whether its name is taken is for the engine to
    /// see, after this: the service looks at the request first. See
    /// [`table_exists`](super::table_exists).
    ///
    /// # Errors
    /// A validation error, in the service's words and mostly in its order.
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

    /// The table's resource name.
    pub fn arn(&self) -> String {
        table_arn(&self.name)
    }

    /// The types of all key attributes, of the table and of its indexes, by name.
    pub fn attribute_definitions(&self) -> Vec<AttributeDefinition> {
        self.schema.attribute_definitions()
    }

    /// The indexes that are still being filled: at most one, and it is to be taken up again when
    /// an engine opens.
    pub fn backfilling(&self) -> impl Iterator<Item = &IndexSchema> {
        self.schema.indexes.iter().filter(|index| self.is_backfilling(&index.name))
    }

    fn is_backfilling(&self, index: &str) -> bool {
        self.global_indexes.get(index).is_some_and(|state| state.backfilling)
    }

    /// The table with this index filled, so that it can be read.
    #[must_use]
    pub fn with_index_filled(&self, index: &str) -> Table {
        let mut table = self.clone();
        if let Some(state) = table.global_indexes.get_mut(index) {
            state.backfilling = false;
        }
        table
    }

    /// The index that a query or scan names.
    ///
    /// # Errors
    /// A validation error if there is none, or if it is still being filled.
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
    /// A validation error if the table is protected, and one of kind [`ErrorKind::InUse`] while an
    /// index is being filled.
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

    /// The table's description. Only the engine knows how much it holds.
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

    /// Stored catalogues have this form: a change here breaks the files that people have.
    #[test]
    fn the_stored_form_is_stable() {
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
    fn a_stored_table_needs_no_more_than_it_had_at_first() {
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
    fn what_is_stored_comes_back_the_same_at_any_moment() {
        let now = NOW + std::time::Duration::from_nanos(1234);
        let table = Table::create(&request(), now, "an-id".to_owned()).unwrap();
        let text = serde_json::to_string(&table).unwrap();
        assert_eq!(serde_json::from_str::<Table>(&text).unwrap(), table);
    }

    #[test]
    fn a_name_may_be_an_arn() {
        let mut request = request();
        request.table = "arn:aws:dynamodb:eu-west-1:123456789012:table/tab".to_owned();
        let table = Table::create(&request, NOW, String::new()).unwrap();
        assert_eq!(table.name, "tab");
        assert_eq!(table.arn(), "arn:aws:dynamodb:local:000000000000:table/tab");
    }

    #[test]
    fn shape_is_checked_before_meaning() {
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
    fn a_description_says_what_was_asked_for() {
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
    fn a_protected_table_is_not_deleted() {
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
    fn an_index_is_read_once_it_is_filled() {
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
