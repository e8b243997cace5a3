//! The families of cases, one file each.

use std::fmt;

use crate::case::Need;

macro_rules! families {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// A family of cases: a file of `cases/`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Family {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Family {
            /// All families, in the order of the semantics.
            pub const ALL: &[Family] = &[$(Family::$variant),+];

            /// The name in test names and reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(Family::$variant => $name,)+
                }
            }

            /// What the family is about, in a few words.
            pub fn subject(self) -> &'static str {
                match self {
                    $(Family::$variant => concat!($($doc),+).trim_ascii(),)+
                }
            }
        }
    };
}

families! {
    /// Numbers, sets, sizes, key values (1-12).
    Values = "values",
    /// Conditions and filters, their text and their truth (13-21).
    Conditions = "conditions",
    /// Projection expressions (22).
    Projections = "projections",
    /// Update expressions (23-27).
    Updates = "updates",
    /// Key conditions (28).
    KeyConditions = "key_conditions",
    /// Put, update and delete of one item (29-34).
    Writes = "writes",
    /// Batches of reads and writes (35).
    Batches = "batches",
    /// Transactions (36-39, 41-43).
    Transactions = "transactions",
    /// Client request tokens (40).
    Tokens = "tokens",
    /// Queries (44, 45, 48-50, 52).
    Query = "query",
    /// Scans, whole and in segments (51).
    Scan = "scan",
    /// Pages and the keys between them (46, 47).
    Pagination = "pagination",
    /// Index entries: which there are, what they carry, how they follow the item (34, 49, 54).
    Indexes = "indexes",
    /// Creating, changing and deleting tables (53, 54, 61).
    Tables = "tables",
    /// Expiry of items (55).
    Ttl = "ttl",
    /// Streams of changes (56, 57).
    Streams = "streams",
    /// Capacity units and item-collection metrics (58-60).
    Capacity = "capacity",
    /// Requests that the design documents of the apps give.
    Documents = "documents",
    /// Typed entities: what `tabla_entity` makes of a store.
    Entities = "entities",
    /// Consumers of streams: what `tabla_consumer` makes of a store.
    Consumers = "consumers",
    /// What must hold however calls interleave.
    Laws = "laws",
}

impl Family {
    /// What every case of the family needs, besides what it names itself.
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
