//! Writers of responses, from core's output types to JSON text.
//!
//! Errors are in `error_response`.

mod capacity;
mod items;
mod json;
mod stream;
mod table;

use tabla_core::env::Timestamp;
use tabla_core::ops::{KeySchemaElement, Tags, TimeToLiveDescription, UpdateTimeToLive};

pub(crate) use items::{batch_get, batch_write, get, page, transact_get, transact_write, write};
pub(crate) use json::{Array, Object, object, object_with_items};
pub(crate) use stream::{records, shard_iterator, stream, streams};
pub(crate) use table::{described, tables};

/// Name of the response member with the table, for DescribeTable.
pub(crate) const TABLE: &str = "Table";
/// Name of the response member with the table, for operations that change it.
pub(crate) const TABLE_DESCRIPTION: &str = "TableDescription";

/// Returns a time as DynamoDB writes it: seconds since the epoch, with a fraction.
fn seconds(time: Timestamp) -> f64 {
    time.as_millis() as f64 / 1000.0
}

fn key_schema(object: &mut Object<'_>, elements: &[KeySchemaElement]) {
    object.array("KeySchema", |array| {
        for element in elements {
            array.object(|object| {
                object.text("AttributeName", &element.name);
                object.text("KeyType", element.role.as_str());
            });
        }
    });
}

pub(crate) fn tags(tags: &Tags) -> Vec<u8> {
    object(|answer| {
        answer.array("Tags", |array| {
            for (key, value) in tags {
                array.object(|tag| {
                    tag.text("Key", key);
                    tag.text("Value", value);
                });
            }
        });
    })
}

pub(crate) fn time_to_live(description: &TimeToLiveDescription) -> Vec<u8> {
    object(|answer| {
        answer.object("TimeToLiveDescription", |object| {
            object.text("TimeToLiveStatus", description.status.as_str());
            if let Some(attribute) = &description.attribute {
                object.text("AttributeName", attribute);
            }
        });
    })
}

pub(crate) fn time_to_live_set(request: &UpdateTimeToLive) -> Vec<u8> {
    object(|answer| {
        answer.object("TimeToLiveSpecification", |object| {
            object.flag("Enabled", request.enabled);
            object.text("AttributeName", &request.attribute);
        });
    })
}

/// Returns the response of DescribeLimits: the default quotas of an AWS account.
pub(crate) fn limits() -> Vec<u8> {
    object(|answer| {
        answer.number("AccountMaxReadCapacityUnits", 80_000);
        answer.number("AccountMaxWriteCapacityUnits", 80_000);
        answer.number("TableMaxReadCapacityUnits", 40_000);
        answer.number("TableMaxWriteCapacityUnits", 40_000);
    })
}

/// Returns the response of DescribeEndpoints, with `host` as the only endpoint.
pub(crate) fn endpoints(host: &str) -> Vec<u8> {
    object(|answer| {
        answer.array("Endpoints", |array| {
            array.object(|endpoint| {
                endpoint.text("Address", host);
                endpoint.number("CachePeriodInMinutes", 1440);
            });
        });
    })
}

/// Returns the response of operations on continuous backups. As for a new table of DynamoDB, they
/// are `ENABLED`, and point-in-time recovery is `DISABLED`.
pub(crate) fn continuous_backups() -> Vec<u8> {
    object(|answer| {
        answer.object("ContinuousBackupsDescription", |object| {
            object.text("ContinuousBackupsStatus", "ENABLED");
            object.object("PointInTimeRecoveryDescription", |object| {
                object.text("PointInTimeRecoveryStatus", "DISABLED");
            });
        });
    })
}
