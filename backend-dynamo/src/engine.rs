//! The engines that speak DynamoDB's protocol, and what each of them cannot do.

use std::fmt;
use std::str::FromStr;

use tabla_core::{Capabilities, Error, Requirement, Result};

/// What answers at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// DynamoDB itself, or anything that has no deviation from it.
    DynamoDb,
    /// DynamoDB Local.
    Local,
    /// ScyllaDB's Alternator.
    Alternator,
    /// `tabla serve`.
    Tabla,
}

impl Engine {
    /// What a store on this engine can do.
    pub fn capabilities(self) -> Capabilities {
        let mut capabilities = Capabilities::full(self.name());
        // "Global secondary indexes … eventually consistent" holds for all but our own.
        capabilities.index_reads_lag = self != Self::Tabla;
        match self {
            Self::DynamoDb | Self::Tabla => {}
            Self::Local => {
                // "Tagging is not currently supported in DynamoDB Local."
                capabilities.tags = false;
                // 2.6.1 refuses a third key attribute: "Key Schema too big."
                capabilities.multi_attribute_index_keys = false;
                // 2.6.1 accepts ReturnItemCollectionMetrics and never answers it.
                capabilities.item_collection_metrics = false;
            }
            Self::Alternator => {
                // ScyllaDB documentation, "ScyllaDB Alternator for DynamoDB users": transactions
                // are not implemented, every index carries every attribute.
                capabilities.transactions = false;
                capabilities.index_projections = false;
                capabilities.multi_attribute_index_keys = false;
                capabilities.item_collection_metrics = false;
                // The same page: one put may appear in a stream as REMOVE and MODIFY, which is
                // not what a reader of DynamoDB's streams is written for.
                capabilities.streams = false;
                capabilities.batch_write_max = 100;
            }
        }
        capabilities
    }

    /// The name in [`Capabilities::engine`].
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
                "the engine is one of `dynamodb`, `local`, `alternator` and `tabla`: {other}"
            ))),
        }
    }
}

/// Refuses a request for something that the engine lacks, before anything is sent.
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
    fn a_name_finds_its_engine() {
        for engine in [Engine::DynamoDb, Engine::Local, Engine::Alternator, Engine::Tabla] {
            assert_eq!(engine.name().parse::<Engine>().unwrap(), engine);
        }
        assert!("dynalite".parse::<Engine>().is_err());
    }

    #[test]
    fn a_refusal_names_engine_operation_and_argument() {
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
