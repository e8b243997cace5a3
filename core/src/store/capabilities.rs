//! What a store can do.

use std::fmt;

use crate::error::{Error, Result};

/// What a store, with the wrappers around it, can do.
///
/// A request for something that a field denies is refused before anything is sent, with
/// [`crate::ErrorKind::Unsupported`]. The conformance suite tests both directions: what is
/// declared works, and what is not declared is refused and changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// What answers: `memory`, `sqlite`, `dynamodb`, `dynamodb-local`, `alternator`, …
    pub engine: &'static str,
    /// Transactions of up to 100 operations, with client request tokens.
    pub transactions: bool,
    /// Indexes that carry only what their projection says.
    pub index_projections: bool,
    /// Local secondary indexes.
    pub local_indexes: bool,
    /// Index keys of up to four attributes in each half.
    pub multi_attribute_index_keys: bool,
    /// Expiry of items.
    pub time_to_live: bool,
    /// Streams of changes.
    pub streams: bool,
    /// Tags on tables.
    pub tags: bool,
    /// Item-collection metrics.
    pub item_collection_metrics: bool,
    /// Whether a read of a global index may miss a write that was just answered.
    pub index_reads_lag: bool,
    /// How many writes a batch may hold.
    pub batch_write_max: usize,
}

/// Something that an application needs of its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Requirement {
    /// [`Capabilities::transactions`].
    Transactions,
    /// [`Capabilities::index_projections`].
    IndexProjections,
    /// [`Capabilities::local_indexes`].
    LocalIndexes,
    /// [`Capabilities::multi_attribute_index_keys`].
    MultiAttributeIndexKeys,
    /// [`Capabilities::time_to_live`].
    TimeToLive,
    /// [`Capabilities::streams`].
    Streams,
    /// [`Capabilities::tags`].
    Tags,
    /// [`Capabilities::item_collection_metrics`].
    ItemCollectionMetrics,
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Transactions => "transactions",
            Self::IndexProjections => "index projections",
            Self::LocalIndexes => "local secondary indexes",
            Self::MultiAttributeIndexKeys => "multi-attribute index keys",
            Self::TimeToLive => "time to live",
            Self::Streams => "streams",
            Self::Tags => "tags",
            Self::ItemCollectionMetrics => "item-collection metrics",
        })
    }
}

impl Capabilities {
    /// All of DynamoDB, answered by this engine without lag.
    pub fn full(engine: &'static str) -> Self {
        Self {
            engine,
            transactions: true,
            index_projections: true,
            local_indexes: true,
            multi_attribute_index_keys: true,
            time_to_live: true,
            streams: true,
            tags: true,
            item_collection_metrics: true,
            index_reads_lag: false,
            batch_write_max: crate::limits::BATCH_WRITE_ITEMS,
        }
    }

    /// The same without this requirement.
    #[must_use]
    pub fn without(mut self, requirement: Requirement) -> Self {
        *match requirement {
            Requirement::Transactions => &mut self.transactions,
            Requirement::IndexProjections => &mut self.index_projections,
            Requirement::LocalIndexes => &mut self.local_indexes,
            Requirement::MultiAttributeIndexKeys => &mut self.multi_attribute_index_keys,
            Requirement::TimeToLive => &mut self.time_to_live,
            Requirement::Streams => &mut self.streams,
            Requirement::Tags => &mut self.tags,
            Requirement::ItemCollectionMetrics => &mut self.item_collection_metrics,
        } = false;
        self
    }

    /// The same with reads of global indexes that may miss a write that was just answered.
    #[must_use]
    pub fn with_index_reads_lag(mut self, lag: bool) -> Self {
        self.index_reads_lag = lag;
        self
    }

    /// The same with batches of at most this many writes.
    #[must_use]
    pub fn with_batch_write_max(mut self, writes: usize) -> Self {
        self.batch_write_max = writes;
        self
    }

    /// Whether the store has this.
    pub fn supports(&self, requirement: Requirement) -> bool {
        match requirement {
            Requirement::Transactions => self.transactions,
            Requirement::IndexProjections => self.index_projections,
            Requirement::LocalIndexes => self.local_indexes,
            Requirement::MultiAttributeIndexKeys => self.multi_attribute_index_keys,
            Requirement::TimeToLive => self.time_to_live,
            Requirement::Streams => self.streams,
            Requirement::Tags => self.tags,
            Requirement::ItemCollectionMetrics => self.item_collection_metrics,
        }
    }

    /// Refuses early if the store lacks any of these: apps call it when they start.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Unsupported`], naming the engine and everything that is missing.
    pub fn require(&self, requirements: &[Requirement]) -> Result<()> {
        let missing: Vec<String> = requirements
            .iter()
            .filter(|requirement| !self.supports(**requirement))
            .map(ToString::to_string)
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(Error::unsupported(format!(
            "the store `{}` does not support {}",
            self.engine,
            missing.join(", ")
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn everything_missing_is_named_at_once() {
        let capabilities = Capabilities::full("partial")
            .without(Requirement::Transactions)
            .without(Requirement::Streams);
        let error = capabilities
            .require(&[Requirement::Streams, Requirement::Tags, Requirement::Transactions])
            .expect_err("two are missing");
        assert_eq!(error.kind(), &ErrorKind::Unsupported);
        assert_eq!(error.message(), "the store `partial` does not support streams, transactions");
    }
}
