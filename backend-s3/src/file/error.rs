//! Conversion of errors of SQLite and of the file system to [`tabla_core::Error`]: kind, retry and
//! remedy.

use std::error::Error as _;
use std::io;
use std::path::Path;

use rusqlite::ErrorCode;
use tabla_core::{Error, ErrorKind, Retry};

/// Cause of a failed access, reported by the system or by SQLite.
#[derive(Clone, Copy, Debug)]
enum Cause {
    Busy,
    DiskFull,
    ReadOnly,
    CannotOpen,
    Damaged,
    NotADatabase,
    Io,
    Other,
}

impl Cause {
    fn of_sqlite(code: Option<ErrorCode>) -> Self {
        match code {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Self::ReadOnly,
            Some(ErrorCode::CannotOpen) => Self::CannotOpen,
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged,
            Some(ErrorCode::NotADatabase) => Self::NotADatabase,
            Some(ErrorCode::SystemIoFailure) => Self::Io,
            _ => Self::Other,
        }
    }

    fn of_io(kind: io::ErrorKind) -> Self {
        use io::ErrorKind as Kind;
        match kind {
            // A file-size limit or a quota is a full disk for this process.
            Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge => Self::DiskFull,
            Kind::PermissionDenied | Kind::ReadOnlyFilesystem => Self::ReadOnly,
            Kind::NotFound | Kind::NotADirectory => Self::CannotOpen,
            _ => Self::Io,
        }
    }

    fn error(self, message: impl FnOnce(&str) -> String) -> Error {
        let (kind, retry, what) = match self {
            Self::Busy => (
                ErrorKind::Unavailable,
                Retry::Later,
                "another process is writing to the catalogue; retry",
            ),
            Self::DiskFull => {
                return Error::disk_full(message("the disk is full; free some space there"));
            }
            Self::ReadOnly => (
                ErrorKind::AccessDenied,
                Retry::Never,
                "no permission to write; make the folder and everything in it writable",
            ),
            Self::CannotOpen => (
                ErrorKind::Unavailable,
                Retry::Exhausted,
                "it cannot be opened or created; check that nobody moved or deleted the folder",
            ),
            Self::Damaged => {
                (ErrorKind::Corrupt, Retry::Never, "the catalogue is damaged; restore a backup")
            }
            Self::NotADatabase => (
                ErrorKind::Corrupt,
                Retry::Never,
                "it is not an SQLite file, or is damaged; use another folder, or restore a backup",
            ),
            Self::Io => (
                ErrorKind::Unavailable,
                Retry::Exhausted,
                "it cannot be read or written; check its disk",
            ),
            Self::Other => (
                ErrorKind::Unexpected,
                Retry::Never,
                "SQLite failed; if it happens again, report it as a defect of tabla",
            ),
        };
        Error::new(kind, message(what)).with_retry(retry)
    }
}

/// Converts an error of SQLite. [`with_path`] adds the path.
pub(super) fn from_sqlite(error: rusqlite::Error) -> Error {
    let cause = Cause::of_sqlite(error.sqlite_error_code());
    cause.error(|what| format!("{what} ({error})")).with_source(error)
}

/// Adds the path of the catalogue to an error of SQLite. Errors of operations stay.
pub(super) fn with_path(error: Error, path: &Path) -> Error {
    let is_of_sqlite = error.source().is_some_and(|source| source.is::<rusqlite::Error>());
    match is_of_sqlite {
        true => {
            let message = format!("cannot use `{}`: {}", path.display(), error.message());
            error.with_message(message)
        }
        false => error,
    }
}

/// Converts an error of the file system; `action` is a verb such as `write`.
pub(super) fn from_io(action: &str, path: &Path, error: io::Error) -> Error {
    Cause::of_io(error.kind())
        .error(|what| format!("cannot {action} `{}`: {what} ({error})", path.display()))
        .with_source(error)
}

/// Error for a damaged row of the catalogue.
pub(super) fn damaged_row(what: impl std::fmt::Display) -> Error {
    Error::corrupt(format!("the catalogue is damaged: {what}; restore a backup"))
}

/// Error for a file with too few bytes, or without any.
pub(super) fn damaged_file(key: &str, path: &Path, what: impl std::fmt::Display) -> Error {
    Error::corrupt(format!(
        "the blob `{key}` is damaged: its file `{}` {what}; restore it from a backup",
        path.display()
    ))
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn error_of_sqlite_names_path_and_remedy() {
        for (code, kind, retry, part) in [
            (ffi::SQLITE_BUSY, ErrorKind::Unavailable, Retry::Later, "another process"),
            (ffi::SQLITE_FULL, ErrorKind::Unavailable, Retry::Exhausted, "free some space"),
            (ffi::SQLITE_READONLY, ErrorKind::AccessDenied, Retry::Never, "writable"),
            (ffi::SQLITE_CANTOPEN, ErrorKind::Unavailable, Retry::Exhausted, "moved or deleted"),
            (ffi::SQLITE_CORRUPT, ErrorKind::Corrupt, Retry::Never, "restore a backup"),
            (ffi::SQLITE_NOTADB, ErrorKind::Corrupt, Retry::Never, "not an SQLite file"),
            (ffi::SQLITE_IOERR, ErrorKind::Unavailable, Retry::Exhausted, "check its disk"),
            (ffi::SQLITE_MISUSE, ErrorKind::Unexpected, Retry::Never, "SQLite failed"),
        ] {
            let native = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            let error = with_path(from_sqlite(native), Path::new("assets/catalogue.db"));
            assert_eq!((error.kind(), error.retry()), (&kind, retry), "{code}");
            assert!(error.message().starts_with("cannot use `assets/catalogue.db`: "), "{error}");
            assert!(error.message().contains(part), "{error}");
            assert_eq!(error.is_disk_full(), code == ffi::SQLITE_FULL);
        }
    }

    #[test]
    fn error_of_the_file_system_names_path_and_remedy() {
        use io::ErrorKind as Kind;
        for (cause, kind, retry, part) in [
            (Kind::StorageFull, ErrorKind::Unavailable, Retry::Exhausted, "free some space"),
            (Kind::QuotaExceeded, ErrorKind::Unavailable, Retry::Exhausted, "free some space"),
            (Kind::FileTooLarge, ErrorKind::Unavailable, Retry::Exhausted, "free some space"),
            (Kind::PermissionDenied, ErrorKind::AccessDenied, Retry::Never, "writable"),
            (Kind::NotFound, ErrorKind::Unavailable, Retry::Exhausted, "moved or deleted"),
            (Kind::Other, ErrorKind::Unavailable, Retry::Exhausted, "check its disk"),
        ] {
            let error = from_io("write", Path::new("assets/data/ab/x"), cause.into());
            assert_eq!((error.kind(), error.retry()), (&kind, retry), "{cause}");
            assert!(error.message().starts_with("cannot write `assets/data/ab/x`: "), "{error}");
            assert!(error.message().contains(part), "{error}");
            assert_eq!(error.is_disk_full(), part == "free some space");
        }
    }

    #[test]
    fn error_of_an_operation_has_no_path() {
        let error = with_path(tabla_core::blobs::no_such_key("a"), Path::new("catalogue.db"));
        assert_eq!(error.message(), "no blob has the key `a`");
    }
}
