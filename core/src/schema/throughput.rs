//! Billing modes and provisioned throughput.

use super::constraint::invalid;
use crate::error::{Error, Result};
use crate::limits;
use crate::ops::{BillingMode, CreateTable, ProvisionedThroughput};

/// What a table or an index has while it is paid by request.
pub(super) const NONE: ProvisionedThroughput =
    ProvisionedThroughput { read_capacity_units: 0, write_capacity_units: 0 };

/// The billing mode and throughput of a new table.
pub(super) fn of_new_table(request: &CreateTable) -> Result<(BillingMode, ProvisionedThroughput)> {
    let mode = request.billing_mode.unwrap_or(BillingMode::Provisioned);
    match (mode, request.provisioned_throughput) {
        (BillingMode::PayPerRequest, None) => Ok((mode, NONE)),
        (BillingMode::PayPerRequest, Some(_)) => Err(not_by_request()),
        (BillingMode::Provisioned, None) => Err(invalid(
            "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is \
             PROVISIONED",
        )),
        (BillingMode::Provisioned, Some(given)) => Ok((mode, within_bounds(given)?)),
    }
}

/// The throughput of an index of a new table.
pub(super) fn of_new_table_index(
    mode: BillingMode,
    index: &str,
    given: Option<ProvisionedThroughput>,
) -> Result<ProvisionedThroughput> {
    match (mode, given) {
        (BillingMode::PayPerRequest, None) => Ok(NONE),
        (BillingMode::PayPerRequest, Some(_)) => Err(invalid(format_args!(
            "ProvisionedThroughput should not be specified for index: {index} when BillingMode is \
             PAY_PER_REQUEST"
        ))),
        (BillingMode::Provisioned, None) => {
            Err(invalid(format_args!("ProvisionedThroughput is not specified for index: {index}")))
        }
        (BillingMode::Provisioned, Some(given)) => within_bounds(given),
    }
}

/// The throughput of an index that is added to a table.
pub(super) fn of_added_index(
    mode: BillingMode,
    index: &str,
    given: Option<ProvisionedThroughput>,
) -> Result<ProvisionedThroughput> {
    match (mode, given) {
        (BillingMode::PayPerRequest, None) => Ok(NONE),
        (BillingMode::PayPerRequest, Some(_)) => Err(index_not_by_request(index)),
        (BillingMode::Provisioned, None) => Err(index_needs_throughput(index)),
        (BillingMode::Provisioned, Some(given)) => within_bounds(given),
    }
}

pub(super) fn not_by_request() -> Error {
    invalid(
        "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is \
         PAY_PER_REQUEST",
    )
}

pub(super) fn index_not_by_request(index: &str) -> Error {
    invalid(format_args!(
        "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: {index} when \
         BillingMode is PAY_PER_REQUEST"
    ))
}

pub(super) fn index_needs_throughput(index: &str) -> Error {
    invalid(format_args!("ProvisionedThroughput must be specified for index: {index}"))
}

/// The error for asking for what a table, or the index with this name, has already.
pub(super) fn unchanged(
    index: Option<&str>,
    current: ProvisionedThroughput,
    requested: ProvisionedThroughput,
) -> Error {
    let (of, for_) = match index {
        None => ("the table".to_owned(), "the table".to_owned()),
        Some(index) => (format!("the index {index}"), format!("index {index}")),
    };
    Error::validation(format!(
        "The provisioned throughput for {of} will not change. The requested value equals the \
         current value. Current ReadCapacityUnits provisioned for {for_}: {}. Requested \
         ReadCapacityUnits: {}. Current WriteCapacityUnits provisioned for {for_}: {}. Requested \
         WriteCapacityUnits: {}. Refer to the Amazon DynamoDB Developer Guide for current limits \
         and how to request higher limits.",
        current.read_capacity_units,
        requested.read_capacity_units,
        current.write_capacity_units,
        requested.write_capacity_units,
    ))
}

/// Checks that a throughput is not too great; that it is at least 1 is a matter of shape.
pub(super) fn within_bounds(given: ProvisionedThroughput) -> Result<ProvisionedThroughput> {
    let units = [
        ("ReadCapacityUnits", given.read_capacity_units),
        ("WriteCapacityUnits", given.write_capacity_units),
    ];
    for (name, value) in units {
        if value > limits::CAPACITY_UNITS_EVER {
            return Err(Error::validation(format!(
                "Given value {value} for {name} is out of bounds"
            )));
        }
    }
    if units.iter().any(|(_, value)| *value > limits::TABLE_CAPACITY_UNITS) {
        return Err(Error::validation(
            "Cannot increase provisioned throughput to more than 40,000 units per table",
        ));
    }
    Ok(given)
}
