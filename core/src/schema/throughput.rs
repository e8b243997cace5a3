//! Rules of billing modes and provisioned throughput.

use super::constraint::invalid;
use crate::error::{Error, Result};
use crate::limits;
use crate::ops::{BillingMode, CreateTable, ProvisionedThroughput};

/// Throughput of an on-demand table or index: zero.
pub(super) const NONE: ProvisionedThroughput =
    ProvisionedThroughput { read_capacity_units: 0, write_capacity_units: 0 };

/// Validates billing mode and throughput of a new table.
pub(super) fn of_new_table(request: &CreateTable) -> Result<(BillingMode, ProvisionedThroughput)> {
    let mode = request.billing_mode.unwrap_or(BillingMode::Provisioned);
    match (mode, request.provisioned_throughput) {
        (BillingMode::PayPerRequest, None) => Ok((mode, NONE)),
        (BillingMode::PayPerRequest, Some(_)) => Err(not_by_request()),
        (BillingMode::Provisioned, None) => Err(invalid(
            "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is \
             PROVISIONED",
        )),
        (BillingMode::Provisioned, Some(given)) => Ok((mode, within_bounds(None, given)?)),
    }
}

/// Validates the throughput of an index of a new table.
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
        (BillingMode::Provisioned, Some(given)) => within_bounds(Some(index), given),
    }
}

/// Validates the throughput of an index that is added to a table.
pub(super) fn of_added_index(
    mode: BillingMode,
    index: &str,
    given: Option<ProvisionedThroughput>,
) -> Result<ProvisionedThroughput> {
    match (mode, given) {
        (BillingMode::PayPerRequest, None) => Ok(NONE),
        (BillingMode::PayPerRequest, Some(_)) => Err(index_not_by_request(index)),
        (BillingMode::Provisioned, None) => Err(index_needs_throughput(index)),
        (BillingMode::Provisioned, Some(given)) => within_bounds(Some(index), given),
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

/// Error for a throughput that the table, or the index with this name, has already.
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

/// Checks the upper bound of a throughput. The shape of the request has the lower bound, 1.
pub(super) fn within_bounds(
    index: Option<&str>,
    given: ProvisionedThroughput,
) -> Result<ProvisionedThroughput> {
    let units = [
        ("ReadCapacityUnits", given.read_capacity_units),
        ("WriteCapacityUnits", given.write_capacity_units),
    ];
    for (name, value) in units {
        if value > limits::MAX_REQUESTED_CAPACITY_UNITS {
            let index = index.map(|index| format!(" for index {index}")).unwrap_or_default();
            return Err(Error::validation(format!(
                "Given value {value} for {name} is out of bounds{index}"
            )));
        }
    }
    if units.iter().any(|(_, value)| *value > limits::TABLE_CAPACITY_UNITS) {
        let whole = if index.is_some() { "global secondary index" } else { "table" };
        return Err(Error::validation(format!(
            "Cannot increase provisioned throughput to more than 40,000 units per {whole}"
        )));
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Timestamp;
    use crate::key::KeyType;
    use crate::ops::SecondaryIndex;
    use crate::schema::Table;

    const PREFIX: &str = "One or more parameter values were invalid: ";

    fn units(read: i64, write: i64) -> Option<ProvisionedThroughput> {
        Some(ProvisionedThroughput { read_capacity_units: read, write_capacity_units: write })
    }

    fn create(
        mode: Option<BillingMode>,
        table: Option<ProvisionedThroughput>,
        index: Option<ProvisionedThroughput>,
    ) -> Result<Table> {
        let gsi = SecondaryIndex::new("gsi").partition_key("a").provisioned_throughput(index);
        let request = CreateTable::new("tab")
            .partition_key("a", KeyType::S)
            .billing_mode(mode)
            .provisioned_throughput(table)
            .global_index(gsi);
        Table::create(&request, Timestamp::default(), "id".to_owned())
    }

    fn refusal(result: Result<Table>) -> String {
        result.unwrap_err().message().to_owned()
    }

    #[test]
    fn throughput_is_required_exactly_in_provisioned_mode() {
        let by_request = Some(BillingMode::PayPerRequest);
        let table = create(by_request, None, None).unwrap();
        assert_eq!(Some(table.billing_mode), by_request);
        assert_eq!(table.provisioned_throughput, NONE);
        assert_eq!(
            refusal(create(by_request, units(1, 1), None)),
            format!(
                "{PREFIX}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when \
                 BillingMode is PAY_PER_REQUEST"
            )
        );
        assert_eq!(
            refusal(create(by_request, None, units(1, 1))),
            format!(
                "{PREFIX}ProvisionedThroughput should not be specified for index: gsi when \
                 BillingMode is PAY_PER_REQUEST"
            )
        );
        for mode in [None, Some(BillingMode::Provisioned)] {
            let table = create(mode, units(5, 6), units(3, 4)).unwrap();
            assert_eq!(table.billing_mode, BillingMode::Provisioned);
            assert_eq!(Some(table.provisioned_throughput), units(5, 6));
            assert_eq!(Some(table.global_indexes["gsi"].provisioned_throughput), units(3, 4));
            assert_eq!(
                refusal(create(mode, None, units(3, 4))),
                format!(
                    "{PREFIX}ReadCapacityUnits and WriteCapacityUnits must both be specified when \
                     BillingMode is PROVISIONED"
                )
            );
            assert_eq!(
                refusal(create(mode, units(5, 6), None)),
                format!("{PREFIX}ProvisionedThroughput is not specified for index: gsi")
            );
        }
    }

    #[test]
    fn throughput_has_an_upper_bound() {
        let refusal = |table, index| refusal(create(None, table, index));
        assert_eq!(
            refusal(units(0, 1), units(1, -1)),
            "2 validation errors detected: Value '-1' at \
             'globalSecondaryIndexes.1.member.provisionedThroughput.writeCapacityUnits' failed to \
             satisfy constraint: Member must have value greater than or equal to 1; Value '0' at \
             'provisionedThroughput.readCapacityUnits' failed to satisfy constraint: Member must \
             have value greater than or equal to 1"
        );
        create(None, units(40_000, 40_000), units(40_000, 1)).unwrap();
        let text = "Cannot increase provisioned throughput to more than 40,000 units per";
        assert_eq!(refusal(units(40_001, 1), units(1, 1)), format!("{text} table"));
        let index = format!("{text} global secondary index");
        assert_eq!(refusal(units(1, 1), units(1, 40_001)), index);
        assert_eq!(
            refusal(units(1, 1_000_000_000_001), units(1, 1)),
            "Given value 1000000000001 for WriteCapacityUnits is out of bounds"
        );
        assert_eq!(
            refusal(units(1, 1), units(1_000_000_000_001, 1)),
            "Given value 1000000000001 for ReadCapacityUnits is out of bounds for index gsi"
        );
    }
}
