//! Capabilities of a store, and the requirements that an application compares them with.

use std::fmt;

use crate::error::{Error, Result};

/// Optional features that a store, together with its wrappers, supports.
///
/// A request that needs a missing feature fails with [`crate::ErrorKind::Unsupported`] before
/// anything is sent. The conformance suite tests both directions: a declared feature works, and a
/// missing one is refused and changes nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Name of the engine: `memory`, `sqlite`, `dynamodb`, `dynamodb-local`, `alternator`
    /// or another.
    pub engine: &'static str,
    /// Support for transactions of up to 100 operations, with client request tokens.
    pub transactions: bool,
    /// Support for projections other than `ALL`. Without it, an index holds every attribute.
    pub index_projections: bool,
    /// Support for local secondary indexes.
    pub local_indexes: bool,
    /// Support for index keys of up to four partition and four sort attributes.
    pub multi_attribute_index_keys: bool,
    /// Support for expiry of items by a time-to-live attribute.
    pub time_to_live: bool,
    /// Support for change streams.
    pub streams: bool,
    /// Support for tags on tables.
    pub tags: bool,
    /// Support for item-collection metrics in the outputs of writes.
    pub item_collection_metrics: bool,
    /// Whether a read of a global index may miss a write that has returned.
    pub index_reads_lag: bool,
    /// Whether the response to a request that was executed can get lost: true for a service, false
    /// for an engine in the process.
    pub responses_can_be_lost: bool,
    /// Largest number of writes in one batch: 25 on DynamoDB.
    pub batch_write_max: usize,
}

/// Feature that an application needs; one for each boolean of [`Capabilities`] that can
/// be required.
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
    /// Capabilities of an engine in the process that supports all of DynamoDB, with global indexes
    /// that never lag.
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
            responses_can_be_lost: false,
            batch_write_max: crate::limits::BATCH_WRITE_ITEMS,
        }
    }

    /// Removes the feature that this requirement names.
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

    /// Sets whether a read of a global index may miss a write that has returned.
    #[must_use]
    pub fn with_index_reads_lag(mut self, lag: bool) -> Self {
        self.index_reads_lag = lag;
        self
    }

    /// Sets whether the response to a request that was executed can get lost.
    #[must_use]
    pub fn with_responses_can_be_lost(mut self, lost: bool) -> Self {
        self.responses_can_be_lost = lost;
        self
    }

    /// Sets the largest number of writes in one batch.
    #[must_use]
    pub fn with_batch_write_max(mut self, writes: usize) -> Self {
        self.batch_write_max = writes;
        self
    }

    /// Whether the store has the feature that this requirement names.
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

    /// Checks that the store has all of these features. Applications call it when they start.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Unsupported`], naming the engine and every missing feature.
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
    fn require_names_every_missing_feature() {
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
