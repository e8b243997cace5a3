//! Operations on tables, time to live and tags.
//!
//! The polling for the end of a change is in `wait`.

use std::future::Future;
use std::time::Duration;

use aws_sdk_dynamodb::types as sdk;
use tabla_core::ops::{
    CreateTable, DeleteTable, DescribeTimeToLive, IndexDescription, IndexProjection, IndexUpdate,
    KeyRole, ListTableTags, ListTables, ListTablesOutput, SecondaryIndex, TableDescription,
    TableStatus, TagTable, Tags, TimeToLiveDescription, UntagTable, UpdateTable, UpdateTimeToLive,
};
use tabla_core::{Applied, Error, Requirement, Result, Retry};

use crate::convert::*;
use crate::error::{Access, from_sdk};
use crate::streams::empty_output_error;
use crate::wait::StatusPoll;
use crate::{DynamoStore, Engine, alternator};

impl DynamoStore {
    pub(crate) async fn create_table_and_wait(
        &self,
        request: CreateTable,
    ) -> Result<TableDescription> {
        let CreateTable {
            table,
            attribute_definitions,
            key_schema,
            global_secondary_indexes,
            local_secondary_indexes,
            billing_mode,
            provisioned_throughput,
            stream,
            sse,
            deletion_protection,
            table_class,
            mut tags,
            ..
        } = request;
        const OPERATION: &str = "create_table";
        self.require_indexes(OPERATION, &global_secondary_indexes, &local_secondary_indexes)?;
        if stream.is_some_and(|stream| stream.enabled) {
            self.require(Requirement::Streams, OPERATION, "stream")?;
        }
        if !tags.is_empty() {
            self.require(Requirement::Tags, OPERATION, "tags")?;
        }
        if self.engine == Engine::Alternator {
            alternator::ask_for_isolation(&mut tags);
        }
        let tags = (!tags.is_empty()).then(|| tags_to_sdk(tags)).transpose()?;
        let request = self
            .client
            .create_table()
            .table_name(self.prefix.add(table.clone()))
            .set_attribute_definitions(Some(definitions_to_sdk(attribute_definitions)?))
            .set_key_schema(Some(key_schema_to_sdk(key_schema)?))
            .set_global_secondary_indexes(global_indexes_to_sdk(global_secondary_indexes)?)
            .set_local_secondary_indexes(local_indexes_to_sdk(local_secondary_indexes)?)
            .set_billing_mode(billing_mode.map(billing_mode_to_sdk))
            .set_provisioned_throughput(throughput_to_sdk(provisioned_throughput)?)
            .set_stream_specification(stream_to_sdk(stream)?)
            .set_sse_specification(sse.map(sse_to_sdk))
            .set_deletion_protection_enabled(true_or_absent(deletion_protection))
            .set_table_class(table_class.map(|class| class.as_str().into()))
            .set_tags(tags);
        let send = || async {
            request.clone().send().await.map_err(|error| from_sdk(Access::Write, error))
        };
        let output = self.retry_during_deletions(send).await?;
        let description = self.described("create_table", output.table_description)?;
        let description = self.wait_until_ready(table, description, &[], &[]).await?;
        if self.engine == Engine::Alternator {
            self.check_isolation_of(&description.arn, &description.table).await?;
        }
        Ok(description)
    }

    pub(crate) async fn describe(&self, table: String) -> Result<TableDescription> {
        let output = self
            .client
            .describe_table()
            .table_name(self.prefix.add(table))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Read, error))?;
        self.described("describe_table", output.table)
    }

    pub(crate) async fn update_table_and_wait(
        &self,
        request: UpdateTable,
    ) -> Result<TableDescription> {
        let UpdateTable {
            table,
            attribute_definitions,
            index_updates,
            billing_mode,
            provisioned_throughput,
            stream,
            sse,
            deletion_protection,
            table_class,
            ..
        } = request;
        const OPERATION: &str = "update_table";
        let mut created = Vec::new();
        let mut deleted = Vec::new();
        for update in &index_updates {
            match update {
                IndexUpdate::Create(index) => {
                    self.require_index(OPERATION, "index_updates", index)?;
                    created.push(index.name.clone());
                }
                IndexUpdate::Delete { name } => deleted.push(name.clone()),
                IndexUpdate::Update { .. } => {}
            }
        }
        if stream.is_some_and(|stream| stream.enabled) {
            self.require(Requirement::Streams, OPERATION, "stream")?;
        }
        let definitions = definitions_to_sdk(attribute_definitions)?;
        let request = self
            .client
            .update_table()
            .table_name(self.prefix.add(table.clone()))
            .set_attribute_definitions((!definitions.is_empty()).then_some(definitions))
            .set_global_secondary_index_updates(index_updates_to_sdk(index_updates)?)
            .set_billing_mode(billing_mode.map(billing_mode_to_sdk))
            .set_provisioned_throughput(throughput_to_sdk(provisioned_throughput)?)
            .set_stream_specification(stream_to_sdk(stream)?)
            .set_sse_specification(sse.map(sse_to_sdk))
            .set_deletion_protection_enabled(deletion_protection)
            .set_table_class(table_class.map(|class| class.as_str().into()));
        let send = || async {
            request.clone().send().await.map_err(|error| from_sdk(Access::Write, error))
        };
        let output = self.retry_during_deletions(send).await?;
        let description = self.described("update_table", output.table_description)?;
        self.wait_until_ready(table, description, &created, &deleted).await
    }

    /// Sends the creation or change of a table; on DynamoDB Local up to 10 times, 25 ms apart.
    ///
    /// DynamoDB Local 2.6.1 sums the throughput of all tables for it. If one of them is deleted
    /// meanwhile, it fails with `InternalFailure` and has changed nothing.
    async fn retry_during_deletions<T, F>(&self, send: impl Fn() -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        const ATTEMPTS: usize = 10;
        const PAUSE: Duration = Duration::from_millis(25);
        let is_local = self.engine == Engine::Local;
        for _ in 1..ATTEMPTS {
            match send().await {
                Err(error) if is_local && error.code() == "InternalFailure" => {
                    self.clock().sleep(PAUSE).await;
                }
                result => return result,
            }
        }
        send().await
    }

    pub(crate) async fn delete_table_and_wait(
        &self,
        request: DeleteTable,
    ) -> Result<TableDescription> {
        let DeleteTable { table, .. } = request;
        let output = self
            .client
            .delete_table()
            .table_name(self.prefix.add(table.clone()))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Write, error))?;
        let last = self.described("delete_table", output.table_description)?;
        let mut wait = StatusPoll::new(self.clock(), self.table_timeout);
        loop {
            match self.describe(table.clone()).await {
                // Another caller has created a table with this name meanwhile.
                Ok(now) if now.id.is_some() && now.id != last.id => return Ok(last),
                Ok(now) => wait.pause(&state(&now)).await?,
                Err(error) if error.is_not_found() => return Ok(last),
                Err(error) => wait.pause(&ignore_transient(error)?).await?,
            }
        }
    }

    /// Polls until the table and all its indexes are active, `created` exist and `deleted` do not.
    async fn wait_until_ready(
        &self,
        table: String,
        mut description: TableDescription,
        created: &[String],
        deleted: &[String],
    ) -> Result<TableDescription> {
        let mut wait = StatusPoll::new(self.clock(), self.table_timeout);
        loop {
            if is_ready(&description, created, deleted) {
                return Ok(description);
            }
            wait.pause(&state(&description)).await?;
            match self.describe(table.clone()).await {
                Ok(now) => description = now,
                // DescribeTable is eventually consistent: it may not find a new table yet (API
                // reference, DescribeTable).
                Err(error) if error.is_not_found() => {}
                Err(error) => {
                    ignore_transient(error)?;
                }
            }
        }
    }

    pub(crate) async fn list_own_tables(&self, request: ListTables) -> Result<ListTablesOutput> {
        let ListTables { exclusive_start_table_name, limit, .. } = request;
        let start = exclusive_start_table_name.map(|table| self.prefix.add(table));
        if self.prefix.is_empty() {
            let page = self.table_names(start, limit).await?;
            return Ok(page);
        }
        // Tables of other prefixes are left out, so a page reads pages of the service until it is
        // full. The service refuses an invalid limit.
        let wanted = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(PAGE);
        let mut ask = limit.filter(|limit| !(1..=PAGE as i32).contains(limit));
        let mut start = start;
        let mut table_names: Vec<String> = Vec::new();
        loop {
            let page = self.table_names(start.take(), ask.take()).await?;
            for name in &page.table_names {
                let Some(own) = self.prefix.strip(name) else { continue };
                if table_names.len() == wanted {
                    let last = table_names.last().cloned();
                    return Ok(ListTablesOutput::new(table_names).last_evaluated_table_name(last));
                }
                table_names.push(own.to_owned());
            }
            start = page.last_evaluated_table_name;
            if start.is_none() {
                return Ok(ListTablesOutput::new(table_names));
            }
        }
    }

    /// Returns one page of the service's table names, of all prefixes.
    pub(crate) async fn table_names(
        &self,
        start: Option<String>,
        limit: Option<i32>,
    ) -> Result<ListTablesOutput> {
        let output = self
            .client
            .list_tables()
            .set_exclusive_start_table_name(start)
            .set_limit(limit)
            .send()
            .await
            .map_err(|error| from_sdk(Access::Read, error))?;
        Ok(ListTablesOutput::new(output.table_names.unwrap_or_default())
            .last_evaluated_table_name(output.last_evaluated_table_name))
    }

    pub(crate) async fn set_time_to_live(
        &self,
        request: UpdateTimeToLive,
    ) -> Result<UpdateTimeToLive> {
        let UpdateTimeToLive { table, attribute, enabled, .. } = request;
        self.require(Requirement::TimeToLive, "update_time_to_live", "")?;
        let specification = sdk::TimeToLiveSpecification::builder()
            .attribute_name(attribute)
            .enabled(enabled)
            .build()
            .map_err(build_error)?;
        let output = self
            .client
            .update_time_to_live()
            .table_name(self.prefix.add(table.clone()))
            .time_to_live_specification(specification)
            .send()
            .await
            .map_err(|error| from_sdk(Access::Write, error))?;
        let set = output
            .time_to_live_specification
            .ok_or_else(|| empty_output_error("update_time_to_live"))?;
        Ok(UpdateTimeToLive::new(table, set.attribute_name, set.enabled))
    }

    pub(crate) async fn time_to_live(
        &self,
        request: DescribeTimeToLive,
    ) -> Result<TimeToLiveDescription> {
        let DescribeTimeToLive { table, .. } = request;
        self.require(Requirement::TimeToLive, "describe_time_to_live", "")?;
        let output = self
            .client
            .describe_time_to_live()
            .table_name(self.prefix.add(table))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Read, error))?;
        time_to_live_from_sdk(output.time_to_live_description)
    }

    pub(crate) async fn add_tags(&self, request: TagTable) -> Result<()> {
        let TagTable { table, tags, .. } = request;
        self.require(Requirement::Tags, "tag_table", "")?;
        let arn = self.table_arn(table).await?;
        self.client
            .tag_resource()
            .resource_arn(arn)
            .set_tags(Some(tags_to_sdk(tags)?))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Write, error))?;
        Ok(())
    }

    pub(crate) async fn remove_tags(&self, request: UntagTable) -> Result<()> {
        let UntagTable { table, keys, .. } = request;
        self.require(Requirement::Tags, "untag_table", "")?;
        let arn = self.table_arn(table).await?;
        self.client
            .untag_resource()
            .resource_arn(arn)
            .set_tag_keys(Some(keys))
            .send()
            .await
            .map_err(|error| from_sdk(Access::Write, error))?;
        Ok(())
    }

    pub(crate) async fn tags(&self, request: ListTableTags) -> Result<Tags> {
        let ListTableTags { table, .. } = request;
        self.require(Requirement::Tags, "list_table_tags", "")?;
        let arn = self.table_arn(table).await?;
        let mut tags = self.tags_of(&arn).await?;
        if self.engine == Engine::Alternator {
            alternator::hide_isolation(&mut tags);
        }
        Ok(tags)
    }

    /// Returns all tags of a resource, including Alternator's isolation tag.
    pub(crate) async fn tags_of(&self, arn: &str) -> Result<Tags> {
        let mut tags = Tags::new();
        let mut next = None;
        loop {
            let output = self
                .client
                .list_tags_of_resource()
                .resource_arn(arn)
                .set_next_token(next)
                .send()
                .await
                .map_err(|error| from_sdk(Access::Read, error))?;
            tags.extend(output.tags.into_iter().flatten().map(|tag| (tag.key, tag.value)));
            next = output.next_token;
            if next.is_none() {
                return Ok(tags);
            }
        }
    }

    /// Returns the resource name of a table, which requests for tags need. Asks the service, unless
    /// `table` is one.
    async fn table_arn(&self, table: String) -> Result<String> {
        if table.starts_with("arn:") {
            return Ok(table);
        }
        Ok(self.describe(table).await?.arn)
    }

    fn described(
        &self,
        operation: &str,
        table: Option<sdk::TableDescription>,
    ) -> Result<TableDescription> {
        table_from_sdk(&self.prefix, table.ok_or_else(|| empty_output_error(operation))?)
    }

    fn require_indexes(
        &self,
        operation: &str,
        global: &[SecondaryIndex],
        local: &[SecondaryIndex],
    ) -> Result<()> {
        for index in global {
            self.require_index(operation, "global_secondary_indexes", index)?;
        }
        if !local.is_empty() {
            self.require(Requirement::LocalIndexes, operation, "local_secondary_indexes")?;
        }
        for index in local {
            self.require_projection(operation, "local_secondary_indexes", index)?;
        }
        Ok(())
    }

    fn require_index(&self, operation: &str, argument: &str, index: &SecondaryIndex) -> Result<()> {
        let count =
            |role: KeyRole| index.key_schema.iter().filter(|element| element.role == role).count();
        if count(KeyRole::Partition) > 1 || count(KeyRole::Sort) > 1 {
            self.require(Requirement::MultiAttributeIndexKeys, operation, argument)?;
        }
        self.require_projection(operation, argument, index)
    }

    fn require_projection(
        &self,
        operation: &str,
        argument: &str,
        index: &SecondaryIndex,
    ) -> Result<()> {
        if index.projection == IndexProjection::all() {
            return Ok(());
        }
        self.require(Requirement::IndexProjections, operation, argument)
    }
}

/// Maximum number of names on a page of ListTables.
const PAGE: usize = 100;

fn is_ready(table: &TableDescription, created: &[String], deleted: &[String]) -> bool {
    let indexes = &table.global_secondary_indexes;
    let has = |name: &String| indexes.iter().any(|index| index.name == *name);
    let active = |index: &IndexDescription| index.status == TableStatus::Active;
    table.status == TableStatus::Active
        && indexes.iter().all(active)
        && created.iter().all(has)
        && !deleted.iter().any(has)
}

/// Returns the status of a table and its indexes as text, for the error at the end of a wait.
fn state(table: &TableDescription) -> String {
    let mut text = format!("table `{}` is {}", table.table, table.status.as_str());
    for index in &table.global_secondary_indexes {
        if index.status != TableStatus::Active {
            text.push_str(&format!(", its index `{}` {}", index.name, index.status.as_str()));
        }
    }
    text
}

/// Returns the text of a transient error, after which the poll continues.
///
/// # Errors
/// The error is not transient. It has [`Applied::Maybe`], because the service accepted the change.
fn ignore_transient(error: Error) -> Result<String> {
    match error.retry() {
        Retry::Later => Ok(format!("cannot describe the table ({error})")),
        // The service has accepted the change before.
        _ => Err(error.with_applied(Applied::Maybe)),
    }
}
