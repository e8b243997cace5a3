//! Validation of a request against the shape of its operation.

use tabla_core::{Error, Result};

use super::{Need, input, node};
use crate::operation::Operation;

/// Validates the structure of a request. DynamoDB reports structural errors before all others:
/// first text that is not JSON or a value of the wrong type, then all violated
/// constraints together.
///
/// # Errors
///
/// DynamoDB's error for the first of these.
pub(crate) fn validate(operation: Operation, body: &[u8]) -> Result<()> {
    let input = input(operation);
    let seen = node::read(input, body)?;
    for (number, member) in input.members.iter().enumerate() {
        if let Need::First(missing) = member.need
            && seen.given & (1 << number) == 0
        {
            return Err(Error::validation(missing));
        }
    }
    seen.found.finish()
}
