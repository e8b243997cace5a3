//! Injected failures of blobs, and the plan that determines when they occur.

use tabla_core::blobs::codes;
use tabla_core::{Applied, Error, ErrorKind};

use crate::fault::{Failures, TransientFailure};

macro_rules! all_operations {
    ($($trait:ident { $($method:ident => $variant:ident $(= $write:ident)?,)+ })+) => {
        /// Operation of [`Blobs`](tabla_core::blobs::Blobs) or
        /// [`Versions`](tabla_core::blobs::Versions), as used in plans.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum BlobOperation {
            $($(
                #[doc = concat!(
                    "[`", stringify!($trait), "::", stringify!($method), "`](tabla_core::blobs::",
                    stringify!($trait), "::", stringify!($method), ")."
                )]
                $variant,
            )+)+
        }

        impl BlobOperation {
            /// Whether the operation can change data, so that a lost response leaves its
            /// outcome unknown.
            pub fn is_write(self) -> bool {
                match self {
                    $($(BlobOperation::$variant => all_operations!(@ $($write)?),)+)+
                }
            }
        }

        /// [`BlobOperation`] of a method, by its name.
        macro_rules! blob_operation {
            $($(($method) => { $crate::blobs::fault::BlobOperation::$variant };)+)+
        }
    };
    (@ write) => { true };
    (@) => { false };
}

all_operations! {
    Blobs {
        put => Put = write,
        get => Get,
        head => Head,
        delete => Delete = write,
        delete_many => DeleteMany = write,
        list => List,
        copy => Copy = write,
        create_upload => CreateUpload = write,
        upload_part => UploadPart = write,
        complete_upload => CompleteUpload = write,
        abort_upload => AbortUpload = write,
        list_parts => ListParts,
        list_uploads => ListUploads,
    }
    Versions {
        list_versions => ListVersions,
        get_version => GetVersion,
        head_version => HeadVersion,
        restore_version => RestoreVersion = write,
        delete_version => DeleteVersion = write,
    }
}

pub(super) use blob_operation;

/// Failure of a valid call on blobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlobFailure {
    /// The call is throttled and not executed.
    Throttled,
    /// The blobs cannot be reached; the call is not executed.
    Unavailable,
    /// The call is executed and its response lost: [`Applied::Maybe`] if it is a write.
    ResponseLost,
    /// The connection breaks before the call is executed, and the caller cannot know that:
    /// [`Applied::Maybe`] if it is a write.
    RequestLost,
    /// A concurrent conditional write is in flight. Affects conditional writes; other calls
    /// are executed.
    Conflict,
}

impl TransientFailure for BlobFailure {
    const TRANSIENT: &'static [Self] = &[
        BlobFailure::ResponseLost,
        BlobFailure::RequestLost,
        BlobFailure::Throttled,
        BlobFailure::Unavailable,
        BlobFailure::Conflict,
    ];
}

/// Plan of failures of blobs.
pub type BlobFailures = Failures<BlobOperation, BlobFailure>;

pub(super) fn throttled() -> Error {
    Error::new(ErrorKind::Throttled, "Please reduce your request rate.").with_code("SlowDown")
}

pub(super) fn unavailable() -> Error {
    let message = "the blobs cannot be reached";
    Error::new(ErrorKind::Unavailable, message).with_code("ServiceUnavailable")
}

pub(super) fn lost(operation: BlobOperation, message: &str) -> Error {
    let applied = if operation.is_write() { Applied::Maybe } else { Applied::No };
    Error::new(ErrorKind::Unavailable, message).with_code("InternalError").with_applied(applied)
}

pub(super) fn conflict() -> Error {
    let message = "a conflicting operation occurred during the request; retry it";
    Error::new(ErrorKind::TransactionConflict, message)
        .with_code(codes::CONDITIONAL_REQUEST_CONFLICT)
}
