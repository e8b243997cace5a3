//! What a case is, and the table at the top of each family file.

use std::fmt;

use futures::future::BoxFuture;
use tabla_core::{Capabilities, Requirement};

use crate::ctx::Ctx;
use crate::family::Family;

/// A running case. It passes if it ends, and fails if it panics.
pub type CaseFuture = BoxFuture<'static, ()>;

/// One rule, and the function that proves it of a store.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The id: the clause's (`29a`), or a name (`last-operation-fails-condition`). Unique.
    pub id: &'static str,
    /// The clause that the case proves or belongs to; empty if there is none.
    pub clause: &'static str,
    /// Where it belongs.
    pub family: Family,
    /// The function's name.
    pub name: &'static str,
    /// The rule in one sentence.
    pub title: &'static str,
    /// What it needs besides [`Family::needs`].
    pub needs: &'static [Need],
    /// The function.
    pub run: fn(Ctx) -> CaseFuture,
}

/// Something that a case needs of the store or of the harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Need {
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
    /// A clock that the case can move.
    Clock,
    /// A way to have expired items deleted now.
    Sweep,
}

impl Need {
    /// The capability behind it; `None` for what the harness provides.
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
    /// The name of the test: `conformance::<family>::<id>_<name>`.
    pub fn test_name(&self) -> String {
        format!("conformance::{}::{}_{}", self.family, self.id, self.name)
    }

    /// Everything the case needs: what its family needs, then its own.
    pub fn all_needs(&self) -> impl Iterator<Item = Need> {
        self.family.needs().iter().chain(self.needs).copied()
    }

    /// The first capability that the store lacks.
    pub(crate) fn missing(&self, capabilities: &Capabilities) -> Option<Requirement> {
        self.all_needs()
            .filter_map(Need::requirement)
            .find(|requirement| !capabilities.supports(*requirement))
    }
}

/// The table at the top of a family file; see `cases.rs` for how to write one.
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
        /// The cases of this family, in reading order.
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
