//! Tables: definitions in requests, and descriptions in responses.

use aws_sdk_dynamodb::primitives::DateTime;
use aws_sdk_dynamodb::types as sdk;
use tabla_core::env::Timestamp;
use tabla_core::ops::{
    AttributeDefinition, BillingMode, IndexDescription, IndexProjection, IndexUpdate, KeyRole,
    KeySchemaElement, ProjectionType, ProvisionedThroughput, SecondaryIndex, SseSpecification,
    StreamSpecification, StreamViewType, TableDescription, TableStatus, Tags,
    TimeToLiveDescription, TimeToLiveStatus,
};
use tabla_core::{Error, ErrorKind, KeyType, Result, assign};

use super::build_error;
use crate::prefix::TablePrefix;

pub(crate) fn definitions_to_sdk(
    definitions: Vec<AttributeDefinition>,
) -> Result<Vec<sdk::AttributeDefinition>> {
    definitions
        .into_iter()
        .map(|definition| {
            sdk::AttributeDefinition::builder()
                .attribute_name(definition.name)
                .attribute_type(match definition.kind {
                    KeyType::S => sdk::ScalarAttributeType::S,
                    KeyType::N => sdk::ScalarAttributeType::N,
                    KeyType::B => sdk::ScalarAttributeType::B,
                })
                .build()
                .map_err(build_error)
        })
        .collect()
}

pub(crate) fn key_schema_to_sdk(
    key_schema: Vec<KeySchemaElement>,
) -> Result<Vec<sdk::KeySchemaElement>> {
    key_schema
        .into_iter()
        .map(|element| {
            sdk::KeySchemaElement::builder()
                .attribute_name(element.name)
                .key_type(match element.role {
                    KeyRole::Partition => sdk::KeyType::Hash,
                    KeyRole::Sort => sdk::KeyType::Range,
                })
                .build()
                .map_err(build_error)
        })
        .collect()
}

/// Converts the global indexes of a new table; `None` if the list is empty.
pub(crate) fn global_indexes_to_sdk(
    indexes: Vec<SecondaryIndex>,
) -> Result<Option<Vec<sdk::GlobalSecondaryIndex>>> {
    non_empty(indexes, |index| {
        sdk::GlobalSecondaryIndex::builder()
            .index_name(index.name)
            .set_key_schema(Some(key_schema_to_sdk(index.key_schema)?))
            .projection(projection_to_sdk(index.projection))
            .set_provisioned_throughput(throughput_to_sdk(index.provisioned_throughput)?)
            .build()
            .map_err(build_error)
    })
}

/// Converts the local indexes of a new table; `None` if the list is empty.
pub(crate) fn local_indexes_to_sdk(
    indexes: Vec<SecondaryIndex>,
) -> Result<Option<Vec<sdk::LocalSecondaryIndex>>> {
    non_empty(indexes, |index| {
        sdk::LocalSecondaryIndex::builder()
            .index_name(index.name)
            .set_key_schema(Some(key_schema_to_sdk(index.key_schema)?))
            .projection(projection_to_sdk(index.projection))
            .build()
            .map_err(build_error)
    })
}

pub(crate) fn index_updates_to_sdk(
    updates: Vec<IndexUpdate>,
) -> Result<Option<Vec<sdk::GlobalSecondaryIndexUpdate>>> {
    non_empty(updates, |update| {
        let builder = sdk::GlobalSecondaryIndexUpdate::builder();
        Ok(match update {
            IndexUpdate::Create(index) => {
                let create = sdk::CreateGlobalSecondaryIndexAction::builder()
                    .index_name(index.name)
                    .set_key_schema(Some(key_schema_to_sdk(index.key_schema)?))
                    .projection(projection_to_sdk(index.projection))
                    .set_provisioned_throughput(throughput_to_sdk(index.provisioned_throughput)?);
                builder.create(create.build().map_err(build_error)?)
            }
            IndexUpdate::Update { name, provisioned_throughput } => {
                let update = sdk::UpdateGlobalSecondaryIndexAction::builder()
                    .index_name(name)
                    .set_provisioned_throughput(throughput_to_sdk(Some(provisioned_throughput))?);
                builder.update(update.build().map_err(build_error)?)
            }
            IndexUpdate::Delete { name } => {
                let delete = sdk::DeleteGlobalSecondaryIndexAction::builder().index_name(name);
                builder.delete(delete.build().map_err(build_error)?)
            }
        }
        .build())
    })
}

pub(crate) fn throughput_to_sdk(
    throughput: Option<ProvisionedThroughput>,
) -> Result<Option<sdk::ProvisionedThroughput>> {
    throughput
        .map(|throughput| {
            sdk::ProvisionedThroughput::builder()
                .read_capacity_units(throughput.read_capacity_units)
                .write_capacity_units(throughput.write_capacity_units)
                .build()
                .map_err(build_error)
        })
        .transpose()
}

pub(crate) fn billing_mode_to_sdk(mode: BillingMode) -> sdk::BillingMode {
    match mode {
        BillingMode::PayPerRequest => sdk::BillingMode::PayPerRequest,
        BillingMode::Provisioned => sdk::BillingMode::Provisioned,
    }
}

pub(crate) fn stream_to_sdk(
    stream: Option<StreamSpecification>,
) -> Result<Option<sdk::StreamSpecification>> {
    stream
        .map(|stream| {
            let view_type = stream.view_type.map(|view| view.as_str().into());
            sdk::StreamSpecification::builder()
                .stream_enabled(stream.enabled)
                .set_stream_view_type(view_type)
                .build()
                .map_err(build_error)
        })
        .transpose()
}

pub(crate) fn sse_to_sdk(sse: SseSpecification) -> sdk::SseSpecification {
    sdk::SseSpecification::builder()
        .enabled(sse.enabled)
        .set_sse_type(sse.sse_type.map(|kind| kind.as_str().into()))
        .set_kms_master_key_id(sse.kms_master_key_id)
        .build()
}

pub(crate) fn tags_to_sdk(tags: Tags) -> Result<Vec<sdk::Tag>> {
    tags.into_iter()
        .map(|(key, value)| sdk::Tag::builder().key(key).value(value).build().map_err(build_error))
        .collect()
}

fn projection_to_sdk(projection: IndexProjection) -> sdk::Projection {
    let attributes = projection.non_key_attributes;
    sdk::Projection::builder()
        .projection_type(projection.kind.as_str().into())
        .set_non_key_attributes((!attributes.is_empty()).then_some(attributes))
        .build()
}

fn non_empty<T, U>(items: Vec<T>, convert: impl FnMut(T) -> Result<U>) -> Result<Option<Vec<U>>> {
    if items.is_empty() {
        return Ok(None);
    }
    items.into_iter().map(convert).collect::<Result<_>>().map(Some)
}

/// Converts a table description.
pub(crate) fn table_from_sdk(
    prefix: &TablePrefix,
    table: sdk::TableDescription,
) -> Result<TableDescription> {
    let billing_mode = table.billing_mode_summary.and_then(|summary| summary.billing_mode);
    // A table that was never on demand has no summary (API reference, BillingModeSummary).
    let billing_mode = match billing_mode {
        Some(sdk::BillingMode::PayPerRequest) => BillingMode::PayPerRequest,
        _ => BillingMode::Provisioned,
    };
    let global_indexes: Result<_> =
        table.global_secondary_indexes.into_iter().flatten().map(global_index_from_sdk).collect();
    let local_indexes: Result<_> =
        table.local_secondary_indexes.into_iter().flatten().map(local_index_from_sdk).collect();
    let class = table.table_class_summary.and_then(|summary| summary.table_class);
    let description = TableDescription::new(
        prefix.strip_own(table.table_name.unwrap_or_default()),
        definitions_from_sdk(table.attribute_definitions)?,
        key_schema_from_sdk(table.key_schema)?,
        timestamp(table.creation_date_time.as_ref()),
    );
    Ok(description
        .status(table_status_from_sdk(table.table_status.as_ref()))
        .global_secondary_indexes(global_indexes?)
        .local_secondary_indexes(local_indexes?)
        .billing_mode(billing_mode)
        .provisioned_throughput(throughput_from_sdk(table.provisioned_throughput.as_ref()))
        .stream(table.stream_specification.map(stream_from_sdk).transpose()?)
        .latest_stream_arn(table.latest_stream_arn)
        .latest_stream_label(table.latest_stream_label)
        .sse(table.sse_description.map(sse_from_sdk))
        .deletion_protection(table.deletion_protection_enabled.unwrap_or_default())
        .table_class(class.map(|class| class.as_str().to_owned()))
        .item_count(count(table.item_count))
        .size_bytes(count(table.table_size_bytes))
        .arn(table.table_arn.unwrap_or_default())
        .id(table.table_id))
}

fn table_status_from_sdk(status: Option<&sdk::TableStatus>) -> TableStatus {
    match status {
        Some(sdk::TableStatus::Creating) => TableStatus::Creating,
        Some(sdk::TableStatus::Updating) => TableStatus::Updating,
        Some(sdk::TableStatus::Deleting) => TableStatus::Deleting,
        Some(sdk::TableStatus::Active) => TableStatus::Active,
        _ => TableStatus::Other,
    }
}

fn index_status_from_sdk(status: Option<&sdk::IndexStatus>) -> TableStatus {
    match status {
        Some(sdk::IndexStatus::Creating) => TableStatus::Creating,
        Some(sdk::IndexStatus::Updating) => TableStatus::Updating,
        Some(sdk::IndexStatus::Deleting) => TableStatus::Deleting,
        Some(sdk::IndexStatus::Active) => TableStatus::Active,
        // Alternator returns no status for indexes.
        None => TableStatus::Active,
        _ => TableStatus::Other,
    }
}

fn definitions_from_sdk(
    definitions: Option<Vec<sdk::AttributeDefinition>>,
) -> Result<Vec<AttributeDefinition>> {
    definitions
        .into_iter()
        .flatten()
        .map(|definition| {
            let kind = match definition.attribute_type {
                sdk::ScalarAttributeType::S => KeyType::S,
                sdk::ScalarAttributeType::N => KeyType::N,
                sdk::ScalarAttributeType::B => KeyType::B,
                other => return Err(unknown("attribute type", other.as_str())),
            };
            Ok(AttributeDefinition::new(definition.attribute_name, kind))
        })
        .collect()
}

fn key_schema_from_sdk(
    key_schema: Option<Vec<sdk::KeySchemaElement>>,
) -> Result<Vec<KeySchemaElement>> {
    key_schema
        .into_iter()
        .flatten()
        .map(|element| key_element(element.attribute_name, element.key_type.as_str()))
        .collect()
}

/// Returns a key attribute with the role `HASH` or `RANGE`.
pub(crate) fn key_element(name: String, role: &str) -> Result<KeySchemaElement> {
    let role = [KeyRole::Partition, KeyRole::Sort]
        .into_iter()
        .find(|known| known.as_str() == role)
        .ok_or_else(|| unknown("key type", role))?;
    Ok(KeySchemaElement::new(name, role))
}

fn global_index_from_sdk(index: sdk::GlobalSecondaryIndexDescription) -> Result<IndexDescription> {
    let description = IndexDescription::new(
        index.index_name.unwrap_or_default(),
        key_schema_from_sdk(index.key_schema)?,
        projection_from_sdk(index.projection)?,
    );
    Ok(description
        .status(index_status_from_sdk(index.index_status.as_ref()))
        .backfilling(index.backfilling.unwrap_or_default())
        .provisioned_throughput(throughput_from_sdk(index.provisioned_throughput.as_ref()))
        .item_count(count(index.item_count))
        .size_bytes(count(index.index_size_bytes))
        .arn(index.index_arn.unwrap_or_default()))
}

fn local_index_from_sdk(index: sdk::LocalSecondaryIndexDescription) -> Result<IndexDescription> {
    let description = IndexDescription::new(
        index.index_name.unwrap_or_default(),
        key_schema_from_sdk(index.key_schema)?,
        projection_from_sdk(index.projection)?,
    );
    Ok(description
        .item_count(count(index.item_count))
        .size_bytes(count(index.index_size_bytes))
        .arn(index.index_arn.unwrap_or_default()))
}

fn projection_from_sdk(projection: Option<sdk::Projection>) -> Result<IndexProjection> {
    let Some(projection) = projection else {
        return Ok(IndexProjection::all());
    };
    let kind = match projection.projection_type {
        None | Some(sdk::ProjectionType::All) => ProjectionType::All,
        Some(sdk::ProjectionType::KeysOnly) => ProjectionType::KeysOnly,
        Some(sdk::ProjectionType::Include) => ProjectionType::Include,
        Some(other) => return Err(unknown("projection type", other.as_str())),
    };
    Ok(IndexProjection::new(kind, projection.non_key_attributes.unwrap_or_default()))
}

fn throughput_from_sdk(
    throughput: Option<&sdk::ProvisionedThroughputDescription>,
) -> ProvisionedThroughput {
    let units = |units: Option<i64>| units.unwrap_or_default();
    ProvisionedThroughput::new(
        units(throughput.and_then(|t| t.read_capacity_units)),
        units(throughput.and_then(|t| t.write_capacity_units)),
    )
}

fn stream_from_sdk(stream: sdk::StreamSpecification) -> Result<StreamSpecification> {
    let view_type = stream.stream_view_type.map(|view| view_type(view.as_str())).transpose()?;
    Ok(StreamSpecification::new(stream.stream_enabled, view_type))
}

/// Returns the stream view type with this DynamoDB name.
pub(crate) fn view_type(name: &str) -> Result<StreamViewType> {
    [
        StreamViewType::KeysOnly,
        StreamViewType::NewImage,
        StreamViewType::OldImage,
        StreamViewType::NewAndOldImages,
    ]
    .into_iter()
    .find(|view| view.as_str() == name)
    .ok_or_else(|| unknown("stream view type", name))
}

fn sse_from_sdk(sse: sdk::SseDescription) -> SseSpecification {
    assign!(SseSpecification::default(), {
        enabled: matches!(
            sse.status,
            Some(sdk::SseStatus::Enabled | sdk::SseStatus::Enabling | sdk::SseStatus::Updating)
        ),
        sse_type: sse.sse_type.map(|kind| kind.as_str().to_owned()),
        kms_master_key_id: sse.kms_master_key_arn,
    })
}

pub(crate) fn time_to_live_from_sdk(
    description: Option<sdk::TimeToLiveDescription>,
) -> Result<TimeToLiveDescription> {
    let Some(description) = description else {
        return Ok(TimeToLiveDescription::new(TimeToLiveStatus::Disabled, None));
    };
    let status = match description.time_to_live_status {
        Some(sdk::TimeToLiveStatus::Enabling) => TimeToLiveStatus::Enabling,
        Some(sdk::TimeToLiveStatus::Enabled) => TimeToLiveStatus::Enabled,
        Some(sdk::TimeToLiveStatus::Disabling) => TimeToLiveStatus::Disabling,
        None | Some(sdk::TimeToLiveStatus::Disabled) => TimeToLiveStatus::Disabled,
        Some(other) => return Err(unknown("time-to-live status", other.as_str())),
    };
    Ok(TimeToLiveDescription::new(status, description.attribute_name))
}

/// Converts a time; a missing one becomes the Unix epoch.
pub(crate) fn timestamp(moment: Option<&DateTime>) -> Timestamp {
    let millis = moment.and_then(|moment| moment.to_millis().ok()).unwrap_or_default();
    Timestamp::from_millis(u64::try_from(millis).unwrap_or_default())
}

/// Converts a count or a size; a missing or negative one becomes 0.
pub(crate) fn count(count: Option<i64>) -> u64 {
    u64::try_from(count.unwrap_or_default()).unwrap_or_default()
}

/// Returns the error of an enumeration value that this crate does not know.
pub(crate) fn unknown(what: &str, name: &str) -> Error {
    Error::new(
        ErrorKind::Unexpected,
        format!("the service returned the unknown {what} `{name}`; upgrade tabla"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(name: &str, role: sdk::KeyType) -> sdk::KeySchemaElement {
        sdk::KeySchemaElement::builder().attribute_name(name).key_type(role).build().unwrap()
    }

    #[test]
    fn table_description_keeps_all_its_parts() {
        let index = sdk::GlobalSecondaryIndexDescription::builder()
            .index_name("by-date")
            .key_schema(element("date", sdk::KeyType::Hash))
            .projection(
                sdk::Projection::builder()
                    .projection_type(sdk::ProjectionType::Include)
                    .non_key_attributes("total")
                    .build(),
            )
            .index_status(sdk::IndexStatus::Creating)
            .backfilling(true)
            .build();
        let table = sdk::TableDescription::builder()
            .table_name("dev-orders")
            .table_status(sdk::TableStatus::Updating)
            .key_schema(element("pk", sdk::KeyType::Hash))
            .key_schema(element("sk", sdk::KeyType::Range))
            .global_secondary_indexes(index)
            .billing_mode_summary(
                sdk::BillingModeSummary::builder()
                    .billing_mode(sdk::BillingMode::PayPerRequest)
                    .build(),
            )
            .creation_date_time(DateTime::from_millis(1_500))
            .item_count(7)
            .table_arn("arn:aws:dynamodb:us-east-1:000000000000:table/dev-orders")
            .build();
        let table = table_from_sdk(&TablePrefix::new("dev-").unwrap(), table).unwrap();
        assert_eq!(table.table, "orders");
        assert_eq!(table.status, TableStatus::Updating);
        assert_eq!(table.key_schema[1], key_element("sk".into(), "RANGE").unwrap());
        assert_eq!(table.billing_mode, BillingMode::PayPerRequest);
        assert_eq!(table.created_at, Timestamp::from_millis(1_500));
        assert_eq!(table.item_count, 7);
        assert!(table.arn.ends_with("/dev-orders"));
        let index = &table.global_secondary_indexes[0];
        assert_eq!((index.status, index.backfilling), (TableStatus::Creating, true));
        assert_eq!(index.projection, IndexProjection::include(["total"]));
    }

    #[test]
    fn time_to_live_keeps_status_and_attribute() {
        let described = |status: Option<&str>| {
            let status = status.map(sdk::TimeToLiveStatus::from);
            let builder = sdk::TimeToLiveDescription::builder().attribute_name("expires");
            time_to_live_from_sdk(Some(builder.set_time_to_live_status(status).build()))
        };
        for (name, status) in [
            (Some("ENABLING"), TimeToLiveStatus::Enabling),
            (Some("ENABLED"), TimeToLiveStatus::Enabled),
            (Some("DISABLING"), TimeToLiveStatus::Disabling),
            (Some("DISABLED"), TimeToLiveStatus::Disabled),
            (None, TimeToLiveStatus::Disabled),
        ] {
            let attribute = Some("expires".to_owned());
            assert_eq!(described(name).unwrap(), TimeToLiveDescription::new(status, attribute));
        }
        assert!(described(Some("SOMETIMES")).is_err());
        let none = TimeToLiveDescription::disabled();
        assert_eq!(time_to_live_from_sdk(None).unwrap(), none);
    }

    #[test]
    fn empty_lists_are_absent() {
        assert!(global_indexes_to_sdk(vec![]).unwrap().is_none());
        assert!(index_updates_to_sdk(vec![]).unwrap().is_none());
        assert!(projection_to_sdk(IndexProjection::all()).non_key_attributes.is_none());
    }

    #[test]
    fn unknown_enumeration_values_are_errors() {
        assert!(view_type("NEW_KIND").is_err());
        assert!(key_element("a".into(), "VECTOR").is_err());
    }
}
