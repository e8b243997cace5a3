//! Writers of responses on tables.

use tabla_core::ops::{
    BillingMode, IndexDescription, ListTablesOutput, ProvisionedThroughput, SseSpecification,
    TableDescription, TableStatus,
};

use super::{Object, key_schema, object, seconds};

pub(crate) fn tables(output: &ListTablesOutput) -> Vec<u8> {
    object(|answer| {
        answer.array("TableNames", |array| {
            for name in &output.table_names {
                array.text(name);
            }
        });
        if let Some(last) = &output.last_evaluated_table_name {
            answer.text("LastEvaluatedTableName", last);
        }
    })
}

/// Returns a table description in the member `name`.
pub(crate) fn described(name: &str, table: &TableDescription) -> Vec<u8> {
    object(|answer| answer.object(name, |object| description(object, table)))
}

fn description(object: &mut Object<'_>, table: &TableDescription) {
    object.array("AttributeDefinitions", |array| {
        for definition in &table.attribute_definitions {
            array.object(|object| {
                object.text("AttributeName", &definition.name);
                object.text("AttributeType", definition.kind.code());
            });
        }
    });
    object.text("TableName", &table.table);
    key_schema(object, &table.key_schema);
    object.text("TableStatus", table.status.as_str());
    object.decimal("CreationDateTime", seconds(table.created_at));
    throughput(object, table.provisioned_throughput);
    object.number("TableSizeBytes", table.size_bytes);
    object.number("ItemCount", table.item_count);
    object.text("TableArn", &table.arn);
    if let Some(id) = &table.id {
        object.text("TableId", id);
    }
    if table.billing_mode == BillingMode::PayPerRequest {
        object.object("BillingModeSummary", |object| {
            object.text("BillingMode", table.billing_mode.as_str());
            let since = seconds(table.created_at);
            object.decimal("LastUpdateToPayPerRequestDateTime", since);
        });
    }
    if !table.local_secondary_indexes.is_empty() {
        object.array("LocalSecondaryIndexes", |array| {
            for one in &table.local_secondary_indexes {
                array.object(|object| index(object, one));
            }
        });
    }
    if !table.global_secondary_indexes.is_empty() {
        object.array("GlobalSecondaryIndexes", |array| {
            for one in &table.global_secondary_indexes {
                array.object(|object| {
                    index(object, one);
                    global(object, one, table.status);
                });
            }
        });
    }
    if let Some(stream) = &table.stream {
        object.object("StreamSpecification", |object| {
            object.flag("StreamEnabled", stream.enabled);
            if let Some(view) = stream.view_type {
                object.text("StreamViewType", view.as_str());
            }
        });
    }
    if let Some(label) = &table.latest_stream_label {
        object.text("LatestStreamLabel", label);
    }
    if let Some(arn) = &table.latest_stream_arn {
        object.text("LatestStreamArn", arn);
    }
    if let Some(sse) = table.sse.as_ref().filter(|sse| sse.enabled) {
        object.object("SSEDescription", |object| encryption(object, sse));
    }
    if let Some(class) = &table.table_class {
        object.object("TableClassSummary", |object| object.text("TableClass", class));
    }
    object.flag("DeletionProtectionEnabled", table.deletion_protection);
}

fn encryption(object: &mut Object<'_>, sse: &SseSpecification) {
    object.text("Status", "ENABLED");
    if let Some(kind) = &sse.sse_type {
        object.text("SSEType", kind);
    }
    if let Some(key) = &sse.kms_master_key_id {
        object.text("KMSMasterKeyArn", key);
    }
}

fn throughput(object: &mut Object<'_>, throughput: ProvisionedThroughput) {
    object.object("ProvisionedThroughput", |object| {
        object.number("NumberOfDecreasesToday", 0);
        object.number("ReadCapacityUnits", throughput.read_capacity_units);
        object.number("WriteCapacityUnits", throughput.write_capacity_units);
    });
}

fn index(object: &mut Object<'_>, index: &IndexDescription) {
    object.text("IndexName", &index.name);
    key_schema(object, &index.key_schema);
    object.object("Projection", |object| {
        object.text("ProjectionType", index.projection.kind.as_str());
        if !index.projection.non_key_attributes.is_empty() {
            object.array("NonKeyAttributes", |array| {
                for attribute in &index.projection.non_key_attributes {
                    array.text(attribute);
                }
            });
        }
    });
    object.number("IndexSizeBytes", index.size_bytes);
    object.number("ItemCount", index.item_count);
    object.text("IndexArn", &index.arn);
}

/// Writes the members that only global indexes have. An index that is created with its table is not
/// backfilled, and DynamoDB does not report it as such (API reference,
/// `GlobalSecondaryIndexDescription`).
fn global(object: &mut Object<'_>, index: &IndexDescription, table: TableStatus) {
    object.text("IndexStatus", index.status.as_str());
    if index.status == TableStatus::Creating && table != TableStatus::Creating {
        object.flag("Backfilling", index.backfilling);
    }
    throughput(object, index.provisioned_throughput);
}
