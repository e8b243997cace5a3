//! Conformance cases and their needs, and the macro for the table at the top of each family file.
//!
//! The cases are in `cases`, their execution is in `run`.

use std::fmt;

use futures::future::BoxFuture;
use tabla_core::{Capabilities, Requirement};

use crate::ctx::Ctx;
use crate::family::Family;

/// Future of a running case. It passes if it completes, and fails if it panics.
pub type CaseFuture = BoxFuture<'static, ()>;

/// One rule of DynamoDB's semantics, with the function that tests it on a store.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Case {
    /// Unique id: that of the clause (`29a`), or a name (`last-operation-fails-condition`).
    pub id: &'static str,
    /// Id of the clause that the case proves or belongs to; empty if there is none.
    pub clause: &'static str,
    /// Family that the case is listed in.
    pub family: Family,
    /// Name of the function, and last part of the test name.
    pub name: &'static str,
    /// Rule in one sentence, as printed in reports.
    pub title: &'static str,
    /// Needs of this case besides [`Family::needs`].
    pub needs: &'static [Need],
    /// Function that runs the case, and panics if the store breaks the rule.
    pub run: fn(Ctx) -> CaseFuture,
}

/// Capability of the store, or ability of the harness, that a case requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    /// Transactions: [`Capabilities::transactions`].
    Transactions,
    /// Projections of indexes: [`Capabilities::index_projections`].
    IndexProjections,
    /// Local secondary indexes: [`Capabilities::local_indexes`].
    LocalIndexes,
    /// Index keys of several attributes: [`Capabilities::multi_attribute_index_keys`].
    MultiAttributeIndexKeys,
    /// Expiry of items: [`Capabilities::time_to_live`].
    TimeToLive,
    /// Change streams: [`Capabilities::streams`].
    Streams,
    /// Tags of tables: [`Capabilities::tags`].
    Tags,
    /// Sizes of item collections: [`Capabilities::item_collection_metrics`].
    ItemCollectionMetrics,
    /// Clock that the case can move: [`CaseStore::clock`](crate::CaseStore::clock).
    Clock,
    /// Sweep of expired items on demand: [`CaseStore::sweep`](crate::CaseStore::sweep).
    Sweep,
}

impl Need {
    /// Capability that the need corresponds to; `None` if the harness provides it.
    pub fn requirement(self) -> Option<Requirement> {
        Some(match self {
            Need::Transactions => Requirement::Transactions,
            Need::IndexProjections => Requirement::IndexProjections,
            Need::LocalIndexes => Requirement::LocalIndexes,
            Need::MultiAttributeIndexKeys => Requirement::MultiAttributeIndexKeys,
            Need::TimeToLive => Requirement::TimeToLive,
            Need::Streams => Requirement::Streams,
            Need::Tags => Requirement::Tags,
            Need::ItemCollectionMetrics => Requirement::ItemCollectionMetrics,
            Need::Clock | Need::Sweep => return None,
        })
    }
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.requirement()) {
            (_, Some(requirement)) => requirement.fmt(f),
            (Need::Clock, None) => f.write_str("a movable clock"),
            (_, None) => f.write_str("a sweep of expired items on demand"),
        }
    }
}

impl Case {
    /// Name of the test: `conformance::<family>::<id>_<name>`.
    pub fn test_name(&self) -> String {
        format!("conformance::{}::{}_{}", self.family, self.id, self.name)
    }

    /// Needs of the family, then those of the case.
    pub fn all_needs(&self) -> impl Iterator<Item = Need> {
        self.family.needs().iter().chain(self.needs).copied()
    }

    /// First needed capability that the store lacks.
    pub(crate) fn missing(&self, capabilities: &Capabilities) -> Option<Requirement> {
        self.all_needs()
            .filter_map(Need::requirement)
            .find(|requirement| !capabilities.supports(*requirement))
    }
}

/// Declares the table of cases at the top of a family file; `cases.rs` explains its syntax.
macro_rules! cases {
    (@clause clause $id:literal) => { $id };
    (@clause extra $id:literal) => { "" };
    (@clause extra $id:literal $clause:literal) => { $clause };
    (
        $family:ident;
        $(
            $kind:ident $id:literal $(of $clause:literal)?, $function:ident: $title:literal
            $(, needs [$($need:ident),+ $(,)?])?;
        )*
    ) => {
        /// Cases of this family, in the order of reports.
        pub(crate) const CASES: &[$crate::Case] = &[
            $($crate::Case {
                id: $id,
                clause: $crate::case::cases!(@clause $kind $id $($clause)?),
                family: $crate::Family::$family,
                name: stringify!($function),
                title: $title,
                needs: &[$($($crate::Need::$need),+)?],
                run: |ctx| Box::pin($function(ctx)),
            },)*
        ];
    };
}

pub(crate) use cases;
