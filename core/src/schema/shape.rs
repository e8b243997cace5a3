//! Rules on the shape of requests: lengths, patterns and ranges of their members.
//!
//! The bounds are those of the service's API model (API reference, data types
//! `AttributeDefinition`, `KeySchemaElement`, `Projection`, `ProvisionedThroughput`,
//! `TimeToLiveSpecification`); names that become keys or are projected are measured in bytes
//! (developer guide, "Quotas in Amazon DynamoDB", "Attribute names"). Members are checked in the
//! order in which the service reports them.

use std::fmt::{self, Display};

use super::constraint::Constraints;
use super::name::{check_table_name, strip_arn};
use crate::error::Result;
use crate::limits;
use crate::ops::{
    AttributeDefinition, CreateTable, IndexUpdate, KeySchemaElement, ProjectionType,
    ProvisionedThroughput, SecondaryIndex, SseSpecification, UpdateTable, UpdateTimeToLive,
};

pub(super) fn create_table(request: &CreateTable) -> Result<()> {
    let mut found = Constraints::default();
    for (number, index) in (1..).zip(&request.global_secondary_indexes) {
        let member = format!("globalSecondaryIndexes.{number}.member");
        secondary_index(&mut found, index, &member, usize::MAX);
    }
    sse(&mut found, request.sse.as_ref());
    key_schema(&mut found, &request.key_schema, "keySchema", SIMPLE_KEY);
    throughput(&mut found, request.provisioned_throughput, "provisionedThroughput");
    check_table_name(&mut found, strip_arn(&request.table), "tableName");
    definitions(&mut found, &request.attribute_definitions);
    for (number, index) in (1..).zip(&request.local_secondary_indexes) {
        let member = format!("localSecondaryIndexes.{number}.member");
        secondary_index(&mut found, index, &member, SIMPLE_KEY);
    }
    found.finish()
}

pub(super) fn update_table(request: &UpdateTable) -> Result<()> {
    let mut found = Constraints::default();
    sse(&mut found, request.sse.as_ref());
    throughput(&mut found, request.provisioned_throughput, "provisionedThroughput");
    check_table_name(&mut found, strip_arn(&request.table), "tableName");
    for (number, update) in (1..).zip(&request.index_updates) {
        let member = format!("globalSecondaryIndexUpdates.{number}.member");
        match update {
            IndexUpdate::Create(index) => {
                secondary_index(&mut found, index, &format!("{member}.create"), usize::MAX);
            }
            IndexUpdate::Update { name, provisioned_throughput } => {
                index_name(&mut found, name, &format!("{member}.update"));
                let member = format!("{member}.update.provisionedThroughput");
                throughput(&mut found, Some(*provisioned_throughput), &member);
            }
            IndexUpdate::Delete { name } => {
                index_name(&mut found, name, &format!("{member}.delete"));
            }
        }
    }
    definitions(&mut found, &request.attribute_definitions);
    found.finish()
}

pub(super) fn update_time_to_live(request: &UpdateTimeToLive) -> Result<()> {
    let mut found = Constraints::default();
    let member = "timeToLiveSpecification.attributeName";
    found.length(&request.attribute, member, 1, limits::KEY_NAME_BYTES);
    check_table_name(&mut found, strip_arn(&request.table), "tableName");
    found.finish()
}

/// Largest number of elements in the key of a table or a local index.
const SIMPLE_KEY: usize = 2;

fn definitions(found: &mut Constraints, definitions: &[AttributeDefinition]) {
    for (number, definition) in (1..).zip(definitions) {
        let member = format_args!("attributeDefinitions.{number}.member.attributeName");
        found.length(&definition.name, member, 1, limits::KEY_NAME_BYTES);
    }
}

fn key_schema(found: &mut Constraints, key: &[KeySchemaElement], member: &str, max: usize) {
    found.count(key.len(), Some(&ShownKey(key)), member, 1, max);
    for (number, element) in (1..).zip(key) {
        let member = format_args!("{member}.{number}.member.attributeName");
        found.length(&element.name, member, 1, limits::KEY_NAME_BYTES);
    }
}

fn secondary_index(found: &mut Constraints, index: &SecondaryIndex, member: &str, key_max: usize) {
    index_name(found, &index.name, member);
    key_schema(found, &index.key_schema, &format!("{member}.keySchema"), key_max);
    let attributes = &index.projection.non_key_attributes;
    let list = format!("{member}.projection.nonKeyAttributes");
    if index.projection.kind == ProjectionType::Include {
        let shown = format!("[{}]", attributes.join(", "));
        let max = limits::INDEX_PROJECTED_ATTRIBUTES;
        found.count(attributes.len(), Some(&shown), &list, 0, max);
    }
    for (number, attribute) in (1..).zip(attributes) {
        let member = format_args!("{list}.{number}.member");
        found.length(attribute, member, 1, limits::KEY_NAME_BYTES);
    }
    throughput(found, index.provisioned_throughput, &format!("{member}.provisionedThroughput"));
}

fn index_name(found: &mut Constraints, name: &str, member: &str) {
    found.name(name, format_args!("{member}.indexName"), limits::NAME_MIN, limits::NAME_MAX);
}

fn throughput(found: &mut Constraints, given: Option<ProvisionedThroughput>, member: &str) {
    if let Some(given) = given {
        found.at_least(given.write_capacity_units, format_args!("{member}.writeCapacityUnits"), 1);
        found.at_least(given.read_capacity_units, format_args!("{member}.readCapacityUnits"), 1);
    }
}

fn sse(found: &mut Constraints, sse: Option<&SseSpecification>) {
    if let Some(kind) = sse.and_then(|sse| sse.sse_type.as_deref()) {
        found.choice(kind, "sSESpecification.sSEType", &["AES256", "KMS"]);
    }
}

/// Key schema in the format of DynamoDB's messages.
struct ShownKey<'a>(&'a [KeySchemaElement]);

impl Display for ShownKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, element) in self.0.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            let (name, role) = (&element.name, element.role.as_str());
            write!(f, "{comma}KeySchemaElement(attributeName={name}, keyType={role})")?;
        }
        f.write_str("]")
    }
}
