//! DynamoDB Local 2.6.1.
//!
//! One list per family, so that rows are found and added next to their like.

use super::Deviation;

/// All rows.
pub(super) const ROWS: &[&[Deviation]] = &[
    VALUES,
    CONDITIONS,
    PROJECTIONS,
    UPDATES,
    KEY_CONDITIONS,
    WRITES,
    BATCHES,
    TRANSACTIONS,
    TOKENS,
    QUERY,
    SCAN,
    PAGINATION,
    INDEXES,
    TABLES,
    TTL,
    STREAMS,
    CAPACITY,
    DOCUMENTS,
    LAWS,
];

const VALUES: &[Deviation] = &[];

const CONDITIONS: &[Deviation] = &[];

const PROJECTIONS: &[Deviation] = &[];

const UPDATES: &[Deviation] = &[];

const KEY_CONDITIONS: &[Deviation] = &[];

const WRITES: &[Deviation] = &[];

const BATCHES: &[Deviation] = &[];

const TRANSACTIONS: &[Deviation] = &[];

const TOKENS: &[Deviation] = &[];

const QUERY: &[Deviation] = &[];

const SCAN: &[Deviation] = &[];

const PAGINATION: &[Deviation] = &[];

const INDEXES: &[Deviation] = &[];

const TABLES: &[Deviation] = &[];

const TTL: &[Deviation] = &[];

const STREAMS: &[Deviation] = &[];

const CAPACITY: &[Deviation] = &[];

const DOCUMENTS: &[Deviation] = &[];

const LAWS: &[Deviation] = &[];
