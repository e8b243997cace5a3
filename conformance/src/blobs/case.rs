//! Conformance cases of blobs and their needs, and the macro for the table at the top of each
//! family file.

use std::fmt;

use tabla_core::blobs::BlobCapabilities;

use super::ctx::BlobCtx;
use super::deviations;
use super::family::BlobFamily;
use super::harness::CaseBucket;
use crate::case::CaseFuture;
use crate::deviations::Deviation;
use crate::suite::SuiteCase;

/// One rule of S3's semantics, with the function that tests it on a bucket.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BlobCase {
    /// Unique id: the name of the function, subject and fact.
    pub id: &'static str,
    /// Family that the case is listed in.
    pub family: BlobFamily,
    /// Rule in one sentence, as printed in reports.
    pub title: &'static str,
    /// Needs of this case besides [`BlobFamily::needs`].
    pub needs: &'static [BlobNeed],
    /// Function that runs the case, and panics if the bucket breaks the rule.
    pub run: fn(BlobCtx) -> CaseFuture,
}

/// Capability of the blobs, or ability of the harness, that a case requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BlobNeed {
    /// [`BlobCapabilities::put_if_absent`].
    PutIfAbsent,
    /// [`BlobCapabilities::put_if_match`].
    PutIfMatch,
    /// [`BlobCapabilities::delete_if_match`].
    DeleteIfMatch,
    /// [`BlobCapabilities::copy_if_absent`].
    CopyIfAbsent,
    /// [`BlobCapabilities::multipart`].
    Multipart,
    /// [`BlobCapabilities::conditional_uploads`].
    ConditionalUploads,
    /// [`BlobCapabilities::any_parts`].
    AnyParts,
    /// [`BlobCapabilities::metadata`].
    Metadata,
    /// [`BlobCapabilities::stored_checksums`].
    StoredChecksums,
    /// [`BlobCapabilities::any_key`].
    AnyKey,
    /// Versions: [`Blobs::versions`](tabla_core::blobs::Blobs::versions).
    Versions,
    /// Presigned URLs: [`Blobs::presign`](tabla_core::blobs::Blobs::presign).
    Presign,
    /// Clock that the case can move: [`CaseBucket::clock`].
    Clock,
}

impl BlobNeed {
    /// Needs that are capabilities.
    pub const CAPABILITIES: &[BlobNeed] = &[
        BlobNeed::PutIfAbsent,
        BlobNeed::PutIfMatch,
        BlobNeed::DeleteIfMatch,
        BlobNeed::CopyIfAbsent,
        BlobNeed::Multipart,
        BlobNeed::ConditionalUploads,
        BlobNeed::AnyParts,
        BlobNeed::Metadata,
        BlobNeed::StoredChecksums,
        BlobNeed::AnyKey,
    ];

    /// Value of the capability; `None` if the need is not a capability.
    pub fn capability(self, capabilities: &BlobCapabilities) -> Option<bool> {
        Some(match self {
            BlobNeed::PutIfAbsent => capabilities.put_if_absent,
            BlobNeed::PutIfMatch => capabilities.put_if_match,
            BlobNeed::DeleteIfMatch => capabilities.delete_if_match,
            BlobNeed::CopyIfAbsent => capabilities.copy_if_absent,
            BlobNeed::Multipart => capabilities.multipart,
            BlobNeed::ConditionalUploads => capabilities.conditional_uploads,
            BlobNeed::AnyParts => capabilities.any_parts,
            BlobNeed::Metadata => capabilities.metadata,
            BlobNeed::StoredChecksums => capabilities.stored_checksums,
            BlobNeed::AnyKey => capabilities.any_key,
            BlobNeed::Versions | BlobNeed::Presign | BlobNeed::Clock => return None,
        })
    }

    /// Whether the bucket fulfills the need.
    fn is_met(self, bucket: &CaseBucket) -> bool {
        let is_capable = self.capability(&bucket.blobs.capabilities());
        is_capable.unwrap_or_else(|| match self {
            BlobNeed::Versions => bucket.blobs.versions().is_some(),
            BlobNeed::Presign => bucket.blobs.presign().is_some(),
            _ => bucket.clock.is_some(),
        })
    }
}

impl fmt::Display for BlobNeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BlobNeed::PutIfAbsent => "puts if absent",
            BlobNeed::PutIfMatch => "puts if match",
            BlobNeed::DeleteIfMatch => "deletes if match",
            BlobNeed::CopyIfAbsent => "copies if absent",
            BlobNeed::Multipart => "multipart uploads",
            BlobNeed::ConditionalUploads => "conditions of completed uploads",
            BlobNeed::AnyParts => "completions of any parts",
            BlobNeed::Metadata => "headers and metadata",
            BlobNeed::StoredChecksums => "stored checksums",
            BlobNeed::AnyKey => "all keys",
            BlobNeed::Versions => "versions",
            BlobNeed::Presign => "presigned URLs",
            BlobNeed::Clock => "a movable clock",
        })
    }
}

impl BlobCase {
    /// Needs of the family, then those of the case.
    pub fn all_needs(&self) -> impl Iterator<Item = BlobNeed> {
        self.family.needs().iter().chain(self.needs).copied()
    }

    /// First need that the bucket lacks.
    pub(super) fn missing(&self, bucket: &CaseBucket) -> Option<BlobNeed> {
        self.all_needs().find(|need| !need.is_met(bucket))
    }
}

impl SuiteCase for BlobCase {
    const SUITE: &'static str = "Conformance of blobs";
    const REFERENCE: &'static str = "S3";

    fn all() -> impl Iterator<Item = &'static Self> {
        super::cases()
    }

    fn deviation(engine: &str, id: &str) -> Option<&'static Deviation> {
        deviations::find(engine, id)
    }

    fn id(&self) -> &'static str {
        self.id
    }

    fn family(&self) -> (&'static str, &'static str) {
        (self.family.name(), self.family.subject())
    }

    fn name(&self) -> &'static str {
        self.id
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn label(&self) -> String {
        self.id.to_owned()
    }

    fn test_name(&self) -> String {
        format!("blobs::{}::{}", self.family, self.id)
    }
}

/// Declares the table of cases at the top of a family file; `cases.rs` explains its syntax.
macro_rules! blob_cases {
    (
        $family:ident;
        $(
            $function:ident: $title:literal $(, needs [$($need:ident),+ $(,)?])?;
        )*
    ) => {
        /// Cases of this family, in the order of reports.
        pub(crate) const CASES: &[$crate::blobs::BlobCase] = &[
            $($crate::blobs::BlobCase {
                id: stringify!($function),
                family: $crate::blobs::BlobFamily::$family,
                title: $title,
                needs: &[$($($crate::blobs::BlobNeed::$need),+)?],
                run: |ctx| Box::pin($function(ctx)),
            },)*
        ];
    };
}

pub(super) use blob_cases;
