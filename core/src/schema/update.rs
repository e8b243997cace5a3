//! Changing a table.

use super::constraint::invalid;
use super::keys::Definitions;
use super::{GlobalIndexState, IndexKind, IndexSchema, StreamChange, Table};
use super::{indexes, settings, shape, throughput};
use crate::env::Timestamp;
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::ops::{BillingMode, IndexUpdate, ProvisionedThroughput, SecondaryIndex, UpdateTable};

/// A change of a table: how it is afterwards, and what an engine has to do for it.
#[derive(Clone, Debug, PartialEq)]
pub struct TableChange {
    /// The table afterwards.
    pub table: Table,
    /// The index that is to be filled from the items that are there. It takes part in writes at
    /// once, and in reads after [`Table::index_filled`].
    pub added: Option<IndexSchema>,
    /// The index whose entries are to go.
    pub removed: Option<IndexSchema>,
    /// What happened to the stream.
    pub stream: Option<StreamChange>,
}

/// Checks what can be seen of a request without its table. The service does so before it looks
/// for the table; [`Table::apply`] does it too.
///
/// # Errors
/// A validation error, or one of kind [`ErrorKind::LimitExceeded`] for more than one index to be
/// created or deleted.
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
    /// Makes a change. The table is not changed by a request that fails.
    ///
    /// # Errors
    /// Those of [`check_update`], and validation errors for what does not fit the table;
    /// [`ErrorKind::NotFound`] for an index that does not exist; [`ErrorKind::LimitExceeded`] for a
    /// 21st global index, or for a second index to be created or deleted while one is being
    /// filled.
    pub fn apply(&self, request: &UpdateTable, now: Timestamp) -> Result<TableChange> {
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
                throughput::within_bounds(given)?;
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

    /// Checks that a change to provisioned throughput gives every global index one.
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
        throughput::within_bounds(given)?;
        if let Some(state) = table.global_indexes.get_mut(name) {
            if state.provisioned_throughput == given {
                let current = state.provisioned_throughput;
                return Err(throughput::unchanged(Some(name), current, given));
            }
            state.provisioned_throughput = given;
        }
        Ok(())
    }

    /// The global index that an update names.
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

    /// Checks that encryption settings are not what they were. Asking again for the account's own
    /// key, without naming it, is no error: the service encrypts again.
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
