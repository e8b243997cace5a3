//! Engines that speak DynamoDB's protocol, and the capabilities that each of them lacks.
//!
//! The detection of an engine is in `open`.

use std::fmt;
use std::str::FromStr;

use tabla_core::{Capabilities, Error, Requirement, Result};

/// Engine behind a [`DynamoStore`](crate::DynamoStore): it decides the store's capabilities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// DynamoDB on AWS, or a service without known deviations from it.
    DynamoDb,
    /// DynamoDB Local, Amazon's Java server for development. It has no tags, item-collection
    /// metrics or index keys of several attributes.
    Local,
    /// ScyllaDB's Alternator. It has no transactions, index projections or compatible streams.
    Alternator,
    /// tabla's own server (`tabla serve`), with all capabilities.
    Tabla,
}

impl Engine {
    /// Returns the capabilities of a store on this engine.
    pub fn capabilities(self) -> Capabilities {
        let mut capabilities = Capabilities::full(self.name());
        // "Global secondary indexes … eventually consistent" applies to every engine except tabla.
        capabilities.index_reads_lag = self != Self::Tabla;
        capabilities.responses_can_be_lost = true;
        match self {
            Self::DynamoDb | Self::Tabla => {}
            Self::Local => {
                // "Tagging is not currently supported in DynamoDB Local."
                capabilities.tags = false;
                // Version 2.6.1 refuses a third key attribute: "Key Schema too big."
                capabilities.multi_attribute_index_keys = false;
                // Version 2.6.1 accepts ReturnItemCollectionMetrics and returns none.
                capabilities.item_collection_metrics = false;
            }
            Self::Alternator => {
                // ScyllaDB documentation, "ScyllaDB Alternator for DynamoDB users": transactions
                // are not implemented, and every index projects all attributes.
                capabilities.transactions = false;
                capabilities.index_projections = false;
                capabilities.multi_attribute_index_keys = false;
                capabilities.item_collection_metrics = false;
                // The same page: one put may appear in a stream as REMOVE and MODIFY, which a
                // reader of DynamoDB's streams does not expect.
                capabilities.streams = false;
                capabilities.batch_write_max = 100;
            }
        }
        capabilities
    }

    /// Returns the name, as in [`Capabilities::engine`].
    pub fn name(self) -> &'static str {
        match self {
            Self::DynamoDb => "dynamodb",
            Self::Local => "dynamodb-local",
            Self::Alternator => "alternator",
            Self::Tabla => "tabla",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Engine {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "dynamodb" => Ok(Self::DynamoDb),
            "local" | "dynamodb-local" => Ok(Self::Local),
            "alternator" => Ok(Self::Alternator),
            "tabla" => Ok(Self::Tabla),
            other => Err(Error::config(format!(
                "unknown engine `{other}`: use `dynamodb`, `local`, `alternator` or `tabla`"
            ))),
        }
    }
}

/// Checks that the engine has a capability, before the request is sent.
///
/// # Errors
/// [`tabla_core::ErrorKind::Unsupported`], with the operation and the argument if it is not empty.
pub(crate) fn require(
    capabilities: &Capabilities,
    requirement: Requirement,
    operation: &str,
    argument: &str,
) -> Result<()> {
    capabilities.require(&[requirement]).map_err(|error| {
        let place = match argument {
            "" => format!("operation `{operation}`"),
            _ => format!("operation `{operation}`, argument `{argument}`"),
        };
        Error::unsupported(format!("{} ({place})", error.message()))
    })
}

#[cfg(test)]
mod tests {
    use tabla_core::ErrorKind;

    use super::*;

    #[test]
    fn engine_name_parses_to_the_engine() {
        for engine in [Engine::DynamoDb, Engine::Local, Engine::Alternator, Engine::Tabla] {
            assert_eq!(engine.name().parse::<Engine>().unwrap(), engine);
        }
        assert!("dynalite".parse::<Engine>().is_err());
    }

    #[test]
    fn unsupported_error_names_engine_operation_and_argument() {
        let error =
            require(&Engine::Local.capabilities(), Requirement::Tags, "create_table", "tags")
                .unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Unsupported);
        assert_eq!(
            error.message(),
            "the store `dynamodb-local` does not support tags (operation `create_table`, \
             argument `tags`)"
        );
        require(&Engine::DynamoDb.capabilities(), Requirement::Tags, "tag_table", "").unwrap();
    }
}
