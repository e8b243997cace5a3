//! Whether a request has the shape of its operation.

use tabla_core::{Error, Result};

use super::{Need, input, node};
use crate::operation::Operation;

/// Looks for what is wrong with the shape of a request, which the service tells before all else:
/// first text that is no JSON, or something of the wrong type, and then all constraints that are
/// broken.
///
/// # Errors
///
/// What the service answers to a request of this shape.
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
