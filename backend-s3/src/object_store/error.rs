//! Conversion of errors, in both directions.

use std::error::Error as StdError;
use std::io;

use ::object_store::Error as StoreError;
use tabla_core::blobs::{codes, no_such_key, not_modified, precondition_failed};
use tabla_core::{Applied, Error, ErrorKind};

/// Access of a call to an object store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Read: a failed call has changed nothing.
    Read,
    /// Unconditional write.
    Write,
    /// Write with a condition.
    ConditionalWrite,
}

/// Converts the error of a call to an object store.
pub(super) fn from_store(access: Access, key: &str, error: StoreError) -> Error {
    let error = match error {
        // An error of blobs that were an object store in between.
        StoreError::Generic { store, source } => match source.downcast::<Error>() {
            Ok(own) => return *own,
            Err(source) => StoreError::Generic { store, source },
        },
        error => error,
    };
    let mapped = match &error {
        StoreError::NotFound { .. } => no_such_key(key),
        StoreError::AlreadyExists { .. } | StoreError::Precondition { .. } => match access {
            Access::Read | Access::ConditionalWrite => precondition_failed(),
            // Services answer so to a write that meets another one.
            Access::Write => conflict(),
        },
        StoreError::NotModified { .. } => not_modified(),
        StoreError::NotSupported { .. } | StoreError::NotImplemented { .. } => {
            Error::unsupported(format!("the object store does not support this: {}", text(&error)))
        }
        StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => {
            Error::new(ErrorKind::AccessDenied, text(&error)).with_code("AccessDenied")
        }
        StoreError::InvalidPath { .. } => Error::unsupported(format!(
            "the object store has a key that is no path of the crate `object_store`: {}",
            text(&error)
        )),
        StoreError::UnknownConfigurationKey { .. } => Error::config(text(&error)),
        _ => unavailable(access, &error),
    };
    mapped.with_source(error)
}

/// Error for a write that met a concurrent one, which decides nothing.
pub(super) fn conflict() -> Error {
    let message = "a concurrent write of the same blob is in progress, or has just succeeded";
    Error::new(ErrorKind::TransactionConflict, message)
        .with_code(codes::CONDITIONAL_REQUEST_CONFLICT)
}

fn unavailable(access: Access, error: &StoreError) -> Error {
    let message = format!("the object store failed: {}", text(error));
    let mapped = match io_kind(error) {
        Some(io::ErrorKind::StorageFull) => return Error::disk_full(message),
        Some(io::ErrorKind::PermissionDenied) => {
            return Error::new(ErrorKind::AccessDenied, message).with_code("AccessDenied");
        }
        _ => Error::new(ErrorKind::Unavailable, message),
    };
    match access {
        Access::Read => mapped,
        Access::Write | Access::ConditionalWrite => mapped.with_applied(Applied::Maybe),
    }
}

/// Kind of the I/O error that is the cause, if one is.
fn io_kind(error: &StoreError) -> Option<io::ErrorKind> {
    let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return Some(error.kind());
        }
        cause = error.source();
    }
    None
}

/// Text of an error, which contains those of its causes.
fn text(error: &StoreError) -> String {
    error.to_string()
}

/// Condition of a call of an object store's caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// None, or one of a read.
    Read,
    /// Write only if there is no object.
    Create,
    /// Write only if the object has an ETag.
    Update,
}

/// Converts an error of blobs.
pub(super) fn to_store(condition: Condition, path: &str, error: Error) -> StoreError {
    let path = path.to_owned();
    match error.kind() {
        ErrorKind::ConditionFailed { .. } if condition == Condition::Create => {
            StoreError::AlreadyExists { path, source: error.into() }
        }
        ErrorKind::ConditionFailed { .. } => {
            StoreError::Precondition { path, source: error.into() }
        }
        // As other object stores: what is missing does not match. After a conflict the caller
        // reads again, too.
        ErrorKind::NotFound | ErrorKind::TransactionConflict
            if condition == Condition::Update && error.code() != codes::NO_SUCH_BUCKET =>
        {
            StoreError::Precondition { path, source: error.into() }
        }
        ErrorKind::NotFound => StoreError::NotFound { path, source: error.into() },
        ErrorKind::NotModified => StoreError::NotModified { path, source: error.into() },
        ErrorKind::AccessDenied => StoreError::PermissionDenied { path, source: error.into() },
        ErrorKind::Unsupported => not_implemented(error.message()),
        _ => StoreError::Generic { store: STORE, source: error.into() },
    }
}

/// Name of the object store in errors.
const STORE: &str = "BlobsObjectStore";

/// Error for an operation that blobs lack.
pub(super) fn not_implemented(operation: &str) -> StoreError {
    StoreError::NotImplemented { operation: operation.to_owned(), implementer: STORE.to_owned() }
}

/// Error for a call that breaks a rule of object stores.
pub(super) fn invalid(source: impl Into<Box<dyn StdError + Send + Sync>>) -> StoreError {
    StoreError::Generic { store: STORE, source: source.into() }
}

#[cfg(test)]
mod tests {
    use ::object_store::path::Path;
    use tabla_core::Retry;
    use tabla_core::blobs::{no_such_bucket, no_such_upload};

    use super::*;

    fn path() -> String {
        "a/b".to_owned()
    }

    #[test]
    fn store_errors_have_kinds_and_codes() {
        use Access::*;
        use StoreError as S;
        let generic = || S::Generic { store: "x", source: "broken".into() };
        let io = |kind| S::Generic { store: "x", source: Box::new(io::Error::from(kind)) };
        let exists = || S::AlreadyExists { path: path(), source: "x".into() };
        let differs = || S::Precondition { path: path(), source: "x".into() };
        let implementer = "x".to_owned();
        let rows: Vec<(Access, S, ErrorKind, &str, Applied)> = vec![
            (
                Read,
                S::NotFound { path: path(), source: "x".into() },
                ErrorKind::NotFound,
                "NoSuchKey",
                Applied::No,
            ),
            (ConditionalWrite, exists(), failed(), "PreconditionFailed", Applied::No),
            (ConditionalWrite, differs(), failed(), "PreconditionFailed", Applied::No),
            (
                Write,
                exists(),
                ErrorKind::TransactionConflict,
                "ConditionalRequestConflict",
                Applied::No,
            ),
            (
                Read,
                S::NotModified { path: path(), source: "x".into() },
                ErrorKind::NotModified,
                "NotModified",
                Applied::No,
            ),
            (
                Write,
                S::NotSupported { source: "x".into() },
                ErrorKind::Unsupported,
                "Unsupported",
                Applied::No,
            ),
            (
                Write,
                S::NotImplemented { operation: "tags".to_owned(), implementer },
                ErrorKind::Unsupported,
                "Unsupported",
                Applied::No,
            ),
            (
                Write,
                S::PermissionDenied { path: path(), source: "x".into() },
                ErrorKind::AccessDenied,
                "AccessDenied",
                Applied::No,
            ),
            (
                Write,
                S::Unauthenticated { path: path(), source: "x".into() },
                ErrorKind::AccessDenied,
                "AccessDenied",
                Applied::No,
            ),
            (
                Read,
                S::InvalidPath { source: Path::parse("a//b").unwrap_err() },
                ErrorKind::Unsupported,
                "Unsupported",
                Applied::No,
            ),
            (
                Read,
                S::UnknownConfigurationKey { store: "x", key: "k".to_owned() },
                ErrorKind::Config,
                "ConfigInvalid",
                Applied::No,
            ),
            (Read, generic(), ErrorKind::Unavailable, "InternalServerError", Applied::No),
            (Write, generic(), ErrorKind::Unavailable, "InternalServerError", Applied::Maybe),
            (
                ConditionalWrite,
                generic(),
                ErrorKind::Unavailable,
                "InternalServerError",
                Applied::Maybe,
            ),
            (
                Write,
                io(io::ErrorKind::StorageFull),
                ErrorKind::Unavailable,
                "InsufficientStorage",
                Applied::No,
            ),
            (
                Write,
                io(io::ErrorKind::PermissionDenied),
                ErrorKind::AccessDenied,
                "AccessDenied",
                Applied::No,
            ),
        ];
        for (access, error, kind, code, applied) in rows {
            let label = format!("{access:?} {error:?}");
            let mapped = from_store(access, "a/b", error);
            assert_eq!(mapped.kind(), &kind, "{label}");
            assert_eq!((mapped.code(), mapped.applied()), (code, applied), "{label}");
            assert!(StdError::source(&mapped).is_some(), "{label}");
        }
        assert_eq!(from_store(Write, "a", generic()).retry(), Retry::Later);
    }

    fn failed() -> ErrorKind {
        ErrorKind::ConditionFailed { item: None }
    }

    #[test]
    fn error_of_blobs_comes_back_unchanged() {
        let stored = to_store(Condition::Read, "a", tabla_core::blobs::incomplete_body(3));
        let back = from_store(Access::Write, "a", stored);
        assert_eq!((back.code(), back.applied()), ("IncompleteBody", Applied::No));
    }

    #[test]
    fn blob_errors_have_variants_of_object_store() {
        use Condition::*;
        let variant = |condition, error| match to_store(condition, "a", error) {
            StoreError::AlreadyExists { .. } => "exists",
            StoreError::Precondition { .. } => "precondition",
            StoreError::NotFound { .. } => "not found",
            StoreError::NotModified { .. } => "not modified",
            StoreError::PermissionDenied { .. } => "denied",
            StoreError::NotImplemented { .. } => "not implemented",
            StoreError::Generic { .. } => "generic",
            other => panic!("{other:?}"),
        };
        assert_eq!(variant(Create, precondition_failed()), "exists");
        assert_eq!(variant(Update, precondition_failed()), "precondition");
        assert_eq!(variant(Read, precondition_failed()), "precondition");
        assert_eq!(variant(Update, no_such_key("a")), "precondition");
        assert_eq!(variant(Update, no_such_bucket("a")), "not found");
        assert_eq!(variant(Read, no_such_key("a")), "not found");
        assert_eq!(variant(Read, no_such_upload("a")), "not found");
        assert_eq!(variant(Update, conflict()), "precondition");
        assert_eq!(variant(Create, conflict()), "generic");
        assert_eq!(variant(Read, not_modified()), "not modified");
        assert_eq!(variant(Read, Error::new(ErrorKind::AccessDenied, "x")), "denied");
        assert_eq!(variant(Update, Error::unsupported("x")), "not implemented");
        for kind in [ErrorKind::Validation, ErrorKind::Unavailable, ErrorKind::Corrupt] {
            assert_eq!(variant(Read, Error::new(kind, "x")), "generic");
        }
    }
}
