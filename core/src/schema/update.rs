//! Rules of UpdateTable, and the change that an engine makes for it.

use super::constraint::invalid;
use super::keys::Definitions;
use super::{GlobalIndexState, IndexKind, IndexSchema, StreamChange, Table};
use super::{indexes, settings, shape, throughput};
use crate::env::Timestamp;
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::ops::{BillingMode, IndexUpdate, ProvisionedThroughput, SecondaryIndex, UpdateTable};

/// Result of an update: the new table definition, and the engine's work.
#[derive(Clone, Debug, PartialEq)]
pub struct TableChange {
    /// Table after the update.
    pub table: Table,
    /// Index to backfill with the existing items. Writes maintain it at once; reads are refused
    /// until [`Table::with_index_filled`].
    pub added: Option<IndexSchema>,
    /// Index whose entries the engine deletes.
    pub removed: Option<IndexSchema>,
    /// Change of the stream.
    pub stream: Option<StreamChange>,
}

/// Validates a request without its table, as DynamoDB does before it looks up the table.
/// [`Table::apply_update`] includes this check.
///
/// # Errors
/// A validation error, or one of kind [`ErrorKind::LimitExceeded`] for more than one creation or
/// deletion of an index.
pub fn check_update(request: &UpdateTable) -> Result<()> {
    shape::update_table(request)?;
    let UpdateTable {
        table: _,
        attribute_definitions: _,
        index_updates,
        billing_mode,
        provisioned_throughput,
        stream,
        sse,
        deletion_protection,
        table_class,
    } = request;
    let concerns = [
        sse.is_some(),
        table_class.is_some(),
        deletion_protection.is_some(),
        billing_mode.is_some() || provisioned_throughput.is_some(),
        stream.is_some(),
        !index_updates.is_empty(),
    ];
    let concerns = concerns.into_iter().filter(|concern| *concern).count();
    if concerns == 0 {
        return Err(Error::validation(NOTHING));
    }
    if concerns > 1 {
        for (given, name) in [
            (sse.is_some(), "Server-Side Encryption"),
            (table_class.is_some(), "TableClass"),
            (deletion_protection.is_some(), "DeletionProtection"),
        ] {
            if given {
                return Err(invalid(format_args!(
                    "{name} modification must be the only operation in the request"
                )));
            }
        }
    }
    let online =
        index_updates.iter().filter(|update| !matches!(update, IndexUpdate::Update { .. })).count();
    let capacity =
        provisioned_throughput.is_some() || *billing_mode == Some(BillingMode::Provisioned);
    if capacity && stream.is_some() {
        return Err(invalid("You cannot modify stream status while updating table IOPS"));
    }
    if capacity && online > 0 {
        return Err(invalid("You cannot create or delete index while updating table IOPS"));
    }
    if stream.is_some() && online > 0 {
        return Err(invalid("You cannot create or delete index while changing stream status"));
    }
    let mut names: Vec<&str> = Vec::new();
    for update in index_updates {
        let (IndexUpdate::Create(SecondaryIndex { name, .. })
        | IndexUpdate::Update { name, .. }
        | IndexUpdate::Delete { name }) = update;
        if names.contains(&name.as_str()) {
            return Err(invalid(format_args!(
                "Only one global secondary index update per index is allowed simultaneously. \
                 Index: {name}"
            )));
        }
        names.push(name);
    }
    if online > 1 { Err(one_at_a_time()) } else { Ok(()) }
}

impl Table {
    /// Validates an update and computes the changed table.
    ///
    /// # Errors
    /// Those of [`check_update`]; validation errors for a request that does not fit the table;
    /// [`ErrorKind::NotFound`] for an index that does not exist; [`ErrorKind::LimitExceeded`] for a
    /// 21st global index, or for a creation or deletion while another index is being backfilled.
    pub fn apply_update(&self, request: &UpdateTable, now: Timestamp) -> Result<TableChange> {
        check_update(request)?;
        let now = now.to_millis();
        let mut change =
            TableChange { table: self.clone(), added: None, removed: None, stream: None };
        self.change_capacity(request, &mut change.table)?;
        for update in &request.index_updates {
            match update {
                IndexUpdate::Create(index) => {
                    change.added = Some(self.add_index(request, index, &mut change.table)?);
                }
                IndexUpdate::Delete { name } => {
                    change.removed = Some(self.remove_index(name, &mut change.table)?);
                }
                IndexUpdate::Update { name, provisioned_throughput } => {
                    self.change_index(request, name, *provisioned_throughput, &mut change.table)?;
                }
            }
        }
        let table = &mut change.table;
        if let Some(stream) = request.stream {
            change.stream = Some(table.change_stream(stream, now)?);
        }
        if request.sse.is_some() {
            table.sse = settings::sse(request.sse.as_ref())?;
            self.check_sse_changes(table)?;
        }
        if let Some(protected) = request.deletion_protection {
            table.deletion_protection = protected;
        }
        if let Some(class) = &request.table_class {
            settings::table_class(Some(class))?;
            table.table_class = Some(class.clone());
        }
        Ok(change)
    }

    fn change_capacity(&self, request: &UpdateTable, table: &mut Table) -> Result<()> {
        let mode = request.billing_mode.unwrap_or(self.billing_mode);
        match (mode, request.provisioned_throughput) {
            (BillingMode::PayPerRequest, Some(_)) => return Err(throughput::not_by_request()),
            (BillingMode::Provisioned, None) if request.billing_mode.is_some() => {
                return Err(invalid(
                    "ProvisionedThroughput must be specified when BillingMode is PROVISIONED",
                ));
            }
            (BillingMode::Provisioned, Some(given)) => {
                throughput::within_bounds(None, given)?;
                if given == self.provisioned_throughput {
                    return Err(throughput::unchanged(None, self.provisioned_throughput, given));
                }
                table.provisioned_throughput = given;
            }
            (_, None) => {}
        }
        if mode != self.billing_mode {
            table.billing_mode = mode;
            match mode {
                BillingMode::PayPerRequest => {
                    table.provisioned_throughput = throughput::NONE;
                    for state in table.global_indexes.values_mut() {
                        state.provisioned_throughput = throughput::NONE;
                    }
                }
                BillingMode::Provisioned => self.check_all_indexes_provisioned(request)?,
            }
        }
        Ok(())
    }

    /// Checks that a change to provisioned mode sets the throughput of every global index.
    fn check_all_indexes_provisioned(&self, request: &UpdateTable) -> Result<()> {
        let given = |index: &str| {
            request
                .index_updates
                .iter()
                .any(|update| matches!(update, IndexUpdate::Update { name, .. } if name == index))
        };
        match self.global_indexes.keys().find(|index| !given(index)) {
            Some(index) => Err(throughput::index_needs_throughput(index)),
            None => Ok(()),
        }
    }

    fn add_index(
        &self,
        request: &UpdateTable,
        index: &SecondaryIndex,
        table: &mut Table,
    ) -> Result<IndexSchema> {
        if self.schema.index(&index.name).is_some() {
            return Err(Error::validation("Attempting to create an index which already exists"));
        }
        if self.backfilling().next().is_some() {
            return Err(one_at_a_time());
        }
        if request.attribute_definitions.is_empty() {
            return Err(invalid(format_args!(
                "AttributeDefinitions is not specified for index: {}",
                index.name
            )));
        }
        let known = self.attribute_definitions();
        let definitions = Definitions::new(&request.attribute_definitions)?.with_known(&known)?;
        let schema = indexes::global(index, &definitions)?;
        let provisioned_throughput = throughput::of_added_index(
            table.billing_mode,
            &index.name,
            index.provisioned_throughput,
        )?;
        if self.global_indexes.len() >= limits::GLOBAL_INDEXES {
            return Err(Error::new(
                ErrorKind::LimitExceeded,
                format!(
                    "Subscriber limit exceeded: Number of global secondary indexes exceeds \
                     per-table limit of {}",
                    limits::GLOBAL_INDEXES
                ),
            ));
        }
        table.schema.indexes.push(schema.clone());
        indexes::check_projected(&table.schema.indexes)?;
        let state = GlobalIndexState { backfilling: true, provisioned_throughput };
        table.global_indexes.insert(index.name.clone(), state);
        Ok(schema)
    }

    fn remove_index(&self, name: &str, table: &mut Table) -> Result<IndexSchema> {
        let index = self.global_index(name, "delete")?;
        if self.backfilling().any(|other| other.name != name) {
            return Err(one_at_a_time());
        }
        table.schema.indexes.retain(|other| other.name != name);
        table.global_indexes.remove(name);
        Ok(index.clone())
    }

    fn change_index(
        &self,
        request: &UpdateTable,
        name: &str,
        given: ProvisionedThroughput,
        table: &mut Table,
    ) -> Result<()> {
        self.global_index(name, "update")?;
        if table.billing_mode == BillingMode::PayPerRequest {
            return Err(match request.billing_mode {
                Some(_) => throughput::index_not_by_request(name),
                None => invalid(format_args!(
                    "The only Updates for index: {name} when TableThroughputMode is \
                     PAY_PER_REQUEST can be to OnDemandThroughput, WarmThroughput"
                )),
            });
        }
        throughput::within_bounds(Some(name), given)?;
        if let Some(state) = table.global_indexes.get_mut(name) {
            if state.provisioned_throughput == given {
                let current = state.provisioned_throughput;
                return Err(throughput::unchanged(Some(name), current, given));
            }
            state.provisioned_throughput = given;
        }
        Ok(())
    }

    /// Looks up the global index that an update names.
    fn global_index(&self, name: &str, verb: &str) -> Result<&IndexSchema> {
        match self.schema.index(name) {
            Some(index) if index.kind == IndexKind::Global => Ok(index),
            Some(_) => Err(Error::validation(format!(
                "Cannot {verb} an index that is not a GlobalSecondaryIndex: {name}"
            ))),
            None => Err(Error::new(
                ErrorKind::NotFound,
                format!("Requested resource not found: Index {name} for table {}", self.name),
            )),
        }
    }

    /// Refuses encryption settings that the table has already. A repeated request for the account's
    /// default key is no error: DynamoDB encrypts again.
    fn check_sse_changes(&self, after: &Table) -> Result<()> {
        match (&self.sse, &after.sse) {
            (None, None) => Err(invalid("Table is already encrypted by default")),
            (Some(old), Some(new))
                if old.kms_master_key_id.is_some()
                    && old.kms_master_key_id == new.kms_master_key_id =>
            {
                Err(invalid(
                    "Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId \
                     parameter if you want to change Master Key",
                ))
            }
            _ => Ok(()),
        }
    }
}

const NOTHING: &str = "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, \
    GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, \
    ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, \
    WarmThroughput or TableClass is required";

fn one_at_a_time() -> Error {
    Error::new(
        ErrorKind::LimitExceeded,
        "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously \
         per table",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyType;
    use crate::ops::{
        CreateTable, IndexProjection, SseSpecification, StreamSpecification, StreamViewType,
    };

    const NOW: Timestamp = Timestamp::from_secs(1_794_801_850);
    const PREFIX: &str = "One or more parameter values were invalid: ";

    fn units(read: i64, write: i64) -> ProvisionedThroughput {
        ProvisionedThroughput { read_capacity_units: read, write_capacity_units: write }
    }

    fn gsi(name: &str, key: &str) -> SecondaryIndex {
        SecondaryIndex::new(name).partition_key(key)
    }

    fn request() -> CreateTable {
        let lsi = SecondaryIndex::new("lsi").partition_key("a").sort_key("g");
        CreateTable::new("tab")
            .partition_key("a", KeyType::S)
            .sort_key("b", KeyType::S)
            .attribute("g", KeyType::S)
            .local_index(lsi)
            .global_index(gsi("gsi", "g"))
    }

    fn by_request() -> Table {
        Table::create(&request(), NOW, "id".to_owned()).unwrap()
    }

    fn provisioned() -> Table {
        let mut request = request()
            .billing_mode(Some(BillingMode::Provisioned))
            .provisioned_throughput(Some(units(5, 6)));
        request.global_secondary_indexes[0].provisioned_throughput = Some(units(3, 4));
        Table::create(&request, NOW, "id".to_owned()).unwrap()
    }

    fn update() -> UpdateTable {
        UpdateTable::new("tab")
    }

    fn throughput_of(index: &str, given: ProvisionedThroughput) -> UpdateTable {
        let mut update = update();
        update
            .index_updates
            .push(IndexUpdate::Update { name: index.to_owned(), provisioned_throughput: given });
        update
    }

    fn enable_stream() -> Option<StreamSpecification> {
        Some(StreamSpecification { enabled: true, view_type: Some(StreamViewType::KeysOnly) })
    }

    fn sse(key: Option<&str>) -> SseSpecification {
        SseSpecification {
            enabled: true,
            sse_type: Some("KMS".to_owned()),
            kms_master_key_id: key.map(str::to_owned),
        }
    }

    #[track_caller]
    fn refused(table: &Table, request: &UpdateTable, code: &str, message: &str) {
        let error = table.apply_update(request, NOW).unwrap_err();
        assert_eq!((error.code(), error.message()), (code, message));
    }

    #[track_caller]
    fn invalid(table: &Table, request: &UpdateTable, message: &str) {
        refused(table, request, "ValidationException", &format!("{PREFIX}{message}"));
    }

    #[test]
    fn update_without_changes_is_refused() {
        for request in [update(), update().attribute("x", KeyType::S)] {
            refused(&by_request(), &request, "ValidationException", NOTHING);
        }
    }

    #[test]
    fn update_table_rejects_changes_that_must_be_separate() {
        let table = by_request();
        let mut request = update().deletion_protection(Some(true)).stream(enable_stream());
        let alone = "modification must be the only operation in the request";
        invalid(&table, &request, &format!("DeletionProtection {alone}"));
        request.table_class = Some("STANDARD".to_owned());
        invalid(&table, &request, &format!("TableClass {alone}"));
        request.sse = Some(sse(None));
        invalid(&table, &request, &format!("Server-Side Encryption {alone}"));

        let capacity = update().provisioned_throughput(Some(units(1, 1)));
        invalid(
            &table,
            &capacity.clone().stream(enable_stream()),
            "You cannot modify stream status while updating table IOPS",
        );
        invalid(
            &table,
            &capacity.delete_index("gsi"),
            "You cannot create or delete index while updating table IOPS",
        );
        invalid(
            &table,
            &update().stream(enable_stream()).delete_index("gsi"),
            "You cannot create or delete index while changing stream status",
        );
        let both = update().billing_mode(Some(BillingMode::PayPerRequest)).stream(enable_stream());
        assert!(table.apply_update(&both, NOW).unwrap().stream.is_some());
    }

    #[test]
    fn update_adds_an_index() {
        let request = update()
            .attribute("h", KeyType::N)
            .attribute("unused", KeyType::S)
            .create_index(gsi("new", "h").sort_key("a"));
        let change = by_request().apply_update(&request, NOW).unwrap();
        let added = change.added.unwrap();
        assert_eq!(added.partition[0].kind, KeyType::N);
        assert_eq!(added.sort[0].kind, KeyType::S, "the table's own key is known");
        assert_eq!(change.table.schema.index("new"), Some(&added));
        assert!(change.table.global_indexes["new"].backfilling);
        let names: Vec<String> =
            change.table.attribute_definitions().into_iter().map(|d| d.name).collect();
        assert_eq!(names, ["a", "b", "g", "h"], "unused definitions are not kept");
        assert_eq!((change.removed, change.stream), (None, None));
    }

    #[test]
    fn update_validates_an_added_index() {
        let table = by_request();
        let add = |index| update().attribute("h", KeyType::S).create_index(index);
        let validation = "ValidationException";
        for name in ["gsi", "lsi"] {
            refused(
                &table,
                &add(gsi(name, "h")),
                validation,
                "Attempting to create an index which already exists",
            );
        }
        invalid(
            &table,
            &update().create_index(gsi("new", "a")),
            "AttributeDefinitions is not specified for index: new",
        );
        invalid(
            &table,
            &add(gsi("new", "i")),
            "Some index key attributes are not defined in AttributeDefinitions. Keys: [i], \
             AttributeDefinitions: [h, a, b, g]",
        );
        refused(
            &table,
            &add(gsi("new", "h")).attribute("a", KeyType::N),
            validation,
            "invalid attribute, SchemaElement redefined should be of same type as previously \
             defined",
        );
        invalid(
            &table,
            &add(gsi("new", "h").provisioned_throughput(Some(units(1, 1)))),
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: new when \
             BillingMode is PAY_PER_REQUEST",
        );
        invalid(
            &provisioned(),
            &add(gsi("new", "h")),
            "ProvisionedThroughput must be specified for index: new",
        );
        let none: [&str; 0] = [];
        invalid(
            &table,
            &add(gsi("new", "h").projection(IndexProjection::include(none))),
            "ProjectionType is INCLUDE, but NonKeyAttributes is not specified",
        );
        refused(
            &table,
            &add(gsi("g!", "h")),
            validation,
            "2 validation errors detected: Value 'g!' at \
             'globalSecondaryIndexUpdates.1.member.create.indexName' failed to satisfy constraint: \
             Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; Value 'g!' at \
             'globalSecondaryIndexUpdates.1.member.create.indexName' failed to satisfy constraint: \
             Member must have length greater than or equal to 3",
        );
    }

    #[test]
    fn update_adds_up_to_20_global_indexes() {
        let mut table = by_request();
        let add = |number: usize| {
            update().attribute("h", KeyType::S).create_index(gsi(&format!("new{number}"), "h"))
        };
        for number in 1..20 {
            table = table.apply_update(&add(number), NOW).unwrap().table;
            table = table.with_index_filled(&format!("new{number}"));
        }
        refused(
            &table,
            &add(20),
            "LimitExceededException",
            "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit \
             of 20",
        );
    }

    #[test]
    fn update_removes_an_index_and_its_unused_definitions() {
        let create = CreateTable::new("tab")
            .partition_key("a", KeyType::S)
            .attribute("g", KeyType::S)
            .global_index(gsi("gsi", "g"));
        let table = Table::create(&create, NOW, "id".to_owned()).unwrap();
        let change = table.apply_update(&update().delete_index("gsi"), NOW).unwrap();
        assert_eq!(change.removed.as_ref(), table.schema.index("gsi"));
        assert!(change.table.schema.indexes.is_empty());
        assert!(change.table.global_indexes.is_empty());
        assert_eq!(change.table.attribute_definitions().len(), 1);

        refused(
            &change.table,
            &update().delete_index("gsi"),
            "ResourceNotFoundException",
            "Requested resource not found: Index gsi for table tab",
        );
        refused(
            &by_request(),
            &update().delete_index("lsi"),
            "ValidationException",
            "Cannot delete an index that is not a GlobalSecondaryIndex: lsi",
        );
    }

    #[test]
    fn update_creates_or_deletes_one_index_at_a_time() {
        let limit = "LimitExceededException";
        let message = "Subscriber limit exceeded: Only 1 online index can be created or deleted \
                       simultaneously per table";
        let table = by_request();
        let add = |name: &str| update().attribute("h", KeyType::S).create_index(gsi(name, "h"));
        refused(&table, &add("new").delete_index("gsi"), limit, message);
        refused(&table, &add("new").create_index(gsi("other", "h")), limit, message);
        let filling = table.apply_update(&add("new"), NOW).unwrap().table;
        refused(&filling, &add("other"), limit, message);
        refused(&filling, &update().delete_index("gsi"), limit, message);
        filling.apply_update(&update().delete_index("new"), NOW).unwrap();
        invalid(
            &table,
            &add("gsi").delete_index("gsi"),
            "Only one global secondary index update per index is allowed simultaneously. Index: gsi",
        );
    }

    #[test]
    fn update_changes_throughput() {
        let table = provisioned();
        let request = update().provisioned_throughput(Some(units(5, 7)));
        let change = table.apply_update(&request, NOW).unwrap();
        assert_eq!(change.table.provisioned_throughput, units(5, 7));
        let change = table.apply_update(&throughput_of("gsi", units(3, 3)), NOW).unwrap();
        assert_eq!(change.table.global_indexes["gsi"].provisioned_throughput, units(3, 3));

        let validation = "ValidationException";
        refused(
            &table,
            &update().provisioned_throughput(Some(units(5, 6))),
            validation,
            "The provisioned throughput for the table will not change. The requested value equals \
             the current value. Current ReadCapacityUnits provisioned for the table: 5. Requested \
             ReadCapacityUnits: 5. Current WriteCapacityUnits provisioned for the table: 6. \
             Requested WriteCapacityUnits: 6. Refer to the Amazon DynamoDB Developer Guide for \
             current limits and how to request higher limits.",
        );
        refused(
            &table,
            &throughput_of("gsi", units(3, 4)),
            validation,
            "The provisioned throughput for the index gsi will not change. The requested value \
             equals the current value. Current ReadCapacityUnits provisioned for index gsi: 3. \
             Requested ReadCapacityUnits: 3. Current WriteCapacityUnits provisioned for index gsi: \
             4. Requested WriteCapacityUnits: 4. Refer to the Amazon DynamoDB Developer Guide for \
             current limits and how to request higher limits.",
        );
        refused(
            &table,
            &throughput_of("none", units(1, 1)),
            "ResourceNotFoundException",
            "Requested resource not found: Index none for table tab",
        );
        refused(
            &table,
            &throughput_of("lsi", units(1, 1)),
            validation,
            "Cannot update an index that is not a GlobalSecondaryIndex: lsi",
        );
        refused(
            &table,
            &update().provisioned_throughput(Some(units(0, 1))),
            validation,
            "1 validation error detected: Value '0' at 'provisionedThroughput.readCapacityUnits' \
             failed to satisfy constraint: Member must have value greater than or equal to 1",
        );
    }

    #[test]
    fn throughput_of_an_on_demand_table_is_refused() {
        let table = by_request();
        invalid(
            &table,
            &update().provisioned_throughput(Some(units(1, 1))),
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is \
             PAY_PER_REQUEST",
        );
        let request = throughput_of("gsi", units(1, 1));
        invalid(
            &table,
            &request,
            "The only Updates for index: gsi when TableThroughputMode is PAY_PER_REQUEST can be to \
             OnDemandThroughput, WarmThroughput",
        );
        invalid(
            &provisioned(),
            &request.billing_mode(Some(BillingMode::PayPerRequest)),
            "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: gsi when \
             BillingMode is PAY_PER_REQUEST",
        );
    }

    #[test]
    fn update_changes_the_billing_mode() {
        let mode = |mode| update().billing_mode(Some(mode));
        let table = by_request();
        let same = table.apply_update(&mode(BillingMode::PayPerRequest), NOW).unwrap();
        assert_eq!(same.table, table);
        let to_provisioned = mode(BillingMode::Provisioned);
        for table in [by_request(), provisioned()] {
            invalid(
                &table,
                &to_provisioned,
                "ProvisionedThroughput must be specified when BillingMode is PROVISIONED",
            );
        }
        let to_provisioned = to_provisioned.provisioned_throughput(Some(units(5, 6)));
        invalid(&table, &to_provisioned, "ProvisionedThroughput must be specified for index: gsi");
        let complete = UpdateTable {
            index_updates: throughput_of("gsi", units(3, 4)).index_updates,
            ..to_provisioned
        };
        assert_eq!(table.apply_update(&complete, NOW).unwrap().table, provisioned());
        let back = provisioned().apply_update(&mode(BillingMode::PayPerRequest), NOW).unwrap();
        assert_eq!(back.table, by_request());
    }

    #[test]
    fn update_adds_an_index_and_changes_the_billing_mode() {
        let request = update()
            .attribute("h", KeyType::S)
            .create_index(gsi("new", "h"))
            .billing_mode(Some(BillingMode::PayPerRequest));
        let change = provisioned().apply_update(&request, NOW).unwrap();
        assert_eq!(change.table.billing_mode, BillingMode::PayPerRequest);
        assert!(change.added.is_some());
    }

    #[test]
    fn update_changes_deletion_protection_and_table_class() {
        let table = by_request();
        for protected in [true, true, false] {
            let change =
                table.apply_update(&update().deletion_protection(Some(protected)), NOW).unwrap();
            assert_eq!(change.table.deletion_protection, protected);
        }
        let class = |class: &str| UpdateTable { table_class: Some(class.to_owned()), ..update() };
        let change = table.apply_update(&class("STANDARD_INFREQUENT_ACCESS"), NOW).unwrap();
        assert_eq!(change.table.table_class.as_deref(), Some("STANDARD_INFREQUENT_ACCESS"));
        assert!(table.apply_update(&class("FOO"), NOW).is_err());
    }

    #[test]
    fn update_changes_encryption() {
        let set = |sse| UpdateTable { sse: Some(sse), ..update() };
        let off = SseSpecification::default();
        let table = by_request();
        invalid(&table, &set(off.clone()), "Table is already encrypted by default");
        let encrypted = table.apply_update(&set(sse(Some("key-1"))), NOW).unwrap().table;
        assert_eq!(encrypted.sse, Some(sse(Some("key-1"))));
        invalid(
            &encrypted,
            &set(sse(Some("key-1"))),
            "Table is already encrypted with given KMSMasterKeyId. Use KMSMasterKeyId parameter if \
             you want to change Master Key",
        );
        encrypted.apply_update(&set(sse(Some("key-2"))), NOW).unwrap();
        assert_eq!(encrypted.apply_update(&set(off), NOW).unwrap().table, table);
    }
}
