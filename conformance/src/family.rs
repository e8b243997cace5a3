//! Families of cases, one file each.
//!
//! The cases of a family are in `cases`, the clauses that they prove in `clauses`.

use std::fmt;

use crate::case::Need;

macro_rules! families {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// Family of cases: one file in `cases/`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Family {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Family {
            /// All families, in the order of the clauses.
            pub const ALL: &[Family] = &[$(Family::$variant),+];

            /// Name in test names and reports, in snake_case.
            pub fn name(self) -> &'static str {
                match self {
                    $(Family::$variant => $name,)+
                }
            }

            /// Subject of the family, as a short text for reports.
            pub fn subject(self) -> &'static str {
                match self {
                    $(Family::$variant => concat!($($doc),+).trim_ascii(),)+
                }
            }
        }
    };
}

families! {
    /// Numbers, sets, sizes and key values (1-12).
    Values = "values",
    /// Conditions and filters: syntax, limits and evaluation (13-21).
    Conditions = "conditions",
    /// Projection expressions (22).
    Projections = "projections",
    /// Update expressions (23-27).
    Updates = "updates",
    /// Key conditions of queries (21b, 28).
    KeyConditions = "key_conditions",
    /// Put, update and delete of one item (29-34).
    Writes = "writes",
    /// Batch reads and writes (35).
    Batches = "batches",
    /// Transactions (36-39, 41-43).
    Transactions = "transactions",
    /// Client request tokens of transactions (40).
    Tokens = "tokens",
    /// Queries: limits, pages, `Select` and order (44, 45, 48-50, 52).
    Query = "query",
    /// Scans of whole tables and of segments (51).
    Scan = "scan",
    /// Pages, last evaluated keys and start keys (46, 47).
    Pagination = "pagination",
    /// Index entries: existence, projected attributes, and how they follow the item (34, 49, 54).
    Indexes = "indexes",
    /// Creation, update and deletion of tables (53, 54, 61).
    Tables = "tables",
    /// Expiry of items by TTL (55).
    Ttl = "ttl",
    /// Change streams (56, 57).
    Streams = "streams",
    /// Capacity units and item collection metrics (58-60).
    Capacity = "capacity",
    /// Requests from the design documents of the apps.
    Documents = "documents",
    /// Typed entities: `tabla_entity` on a store.
    Entities = "entities",
    /// Consumers of streams: `tabla_consumer` on a store.
    Consumers = "consumers",
    /// Invariants that hold in every interleaving of concurrent calls.
    Laws = "laws",
}

impl Family {
    /// Needs of every case of the family, in addition to those of the case itself.
    pub fn needs(self) -> &'static [Need] {
        match self {
            Family::Transactions | Family::Tokens => &[Need::Transactions],
            Family::Ttl => &[Need::TimeToLive],
            Family::Streams | Family::Consumers => &[Need::Streams],
            _ => &[],
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
