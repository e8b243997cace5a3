//! Conversion of SQLite's errors to [`tabla_core::Error`]: kind, retry and remedy.
//!
//! Errors of requests come from core; those of a full disk are in `wal`.

use rusqlite::ErrorCode;
use tabla_core::{Applied, Error, ErrorKind, Retry};

/// Converts an error of rusqlite.
pub(crate) fn from_sqlite(error: rusqlite::Error) -> Error {
    let code = error.sqlite_error_code();
    classify(code, error.to_string()).with_source(error)
}

/// Converts an error of sqlx.
pub(crate) fn from_sqlx(error: sqlx::Error) -> Error {
    let code = match &error {
        sqlx::Error::Database(error) => {
            let extended = error.code().and_then(|code| code.parse::<i32>().ok());
            extended.map(|code| rusqlite::ffi::Error::new(code).code)
        }
        _ => None,
    };
    classify(code, error.to_string()).with_source(error)
}

fn classify(code: Option<ErrorCode>, text: String) -> Error {
    let (kind, retry, what) = match code {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            (ErrorKind::Unavailable, Retry::Later, "another process is writing to the file; retry")
        }
        Some(ErrorCode::DiskFull) => {
            // A full disk seldom recovers within the time of a retry, so the error is final at
            // once.
            return Error::disk_full(format!("the disk is full; free some space there ({text})"));
        }
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => (
            ErrorKind::AccessDenied,
            Retry::Never,
            "the file, its log (-wal, -shm) or its folder is read-only; make all of them writable",
        ),
        Some(ErrorCode::CannotOpen) => (
            ErrorKind::Config,
            Retry::Never,
            "the file or its log (-wal, -shm) cannot be opened or created; check that its folder \
             exists, and make both writable",
        ),
        Some(ErrorCode::DatabaseCorrupt) => {
            (ErrorKind::Corrupt, Retry::Never, "the file is damaged; restore a backup")
        }
        Some(ErrorCode::NotADatabase) => (
            ErrorKind::Corrupt,
            Retry::Never,
            "the file is not an SQLite file, or is damaged; use another file, or restore a backup",
        ),
        Some(ErrorCode::SystemIoFailure) => (
            ErrorKind::Unavailable,
            Retry::Exhausted,
            "the file cannot be read or written; check its disk",
        ),
        _ => (
            ErrorKind::Unexpected,
            Retry::Never,
            "SQLite failed; if it happens again, report it as a defect of tabla",
        ),
    };
    Error::new(kind, format!("{what} ({text})")).with_retry(retry).with_applied(Applied::No)
}

/// Returns a copy of an error without its source, for another caller of a failed write group.
pub(crate) fn copy_error(error: &Error, applied: Applied) -> Error {
    error.without_source().with_applied(applied)
}

/// Returns the error of a damaged row or definition; `what` is the problem.
pub(crate) fn corrupt_error(what: impl std::fmt::Display) -> Error {
    Error::corrupt(format!("the file is damaged: {what}; restore a backup"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_of_sqlite_names_the_remedy() {
        use rusqlite::ffi;
        for (code, kind, retry, part) in [
            (ffi::SQLITE_BUSY, ErrorKind::Unavailable, Retry::Later, "another process"),
            (
                ffi::SQLITE_FULL,
                ErrorKind::Unavailable,
                Retry::Exhausted,
                "disk is full; free some space",
            ),
            (ffi::SQLITE_READONLY, ErrorKind::AccessDenied, Retry::Never, "is read-only; make"),
            (ffi::SQLITE_CANTOPEN, ErrorKind::Config, Retry::Never, "cannot be opened"),
            (ffi::SQLITE_CORRUPT, ErrorKind::Corrupt, Retry::Never, "damaged"),
            (ffi::SQLITE_NOTADB, ErrorKind::Corrupt, Retry::Never, "not an SQLite file"),
            (ffi::SQLITE_IOERR, ErrorKind::Unavailable, Retry::Exhausted, "read or written"),
            (ffi::SQLITE_MISUSE, ErrorKind::Unexpected, Retry::Never, "SQLite failed"),
        ] {
            let native = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let error = from_sqlite(native);
            assert_eq!((error.kind(), error.retry()), (&kind, retry), "{code}");
            assert!(error.message().contains(part), "{error}");
            assert_eq!(error.applied(), Applied::No);
            let copy = copy_error(&error, Applied::Maybe);
            assert_eq!((copy.kind(), copy.applied()), (&kind, Applied::Maybe));
            for error in [error, copy] {
                assert_eq!(error.is_disk_full(), code == ffi::SQLITE_FULL, "{code}");
            }
        }
    }
}
