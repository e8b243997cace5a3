//! Settings of a store, set in code or read from an `sqlite:` address.
//!
//! The settings of connections are applied in `connection`, the others in `writer` and `wal`.

use std::path::PathBuf;
use std::time::Duration;

use tabla_core::backend::ttl;
use tabla_core::{Address, Error, Result};

/// Settings of a [`SqliteStore`](crate::SqliteStore): location, durability, cache, waits, sweeps.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SqliteConfig {
    /// File of the store, or memory.
    pub location: Location,
    /// Fsync at every commit, or at checkpoints only; default: [`Durability::Durable`].
    pub durability: Durability,
    /// Size of each connection's page cache, in bytes; default: 64 MB. The writing connection uses
    /// at most 8 MB.
    pub cache_size: u64,
    /// Maximum time that a write waits while another process writes; default: 10 s. After that it
    /// fails with [`tabla_core::ErrorKind::Unavailable`].
    pub busy_timeout: Duration,
    /// Approximate length of the write-ahead log at which it is checkpointed, in pages of 4 KB;
    /// default: 4000.
    pub wal_pages: u32,
    /// Time between two sweeps, which delete expired items, by the store's clock; default: 60 s.
    /// `None` turns them off.
    pub sweep_every: Option<Duration>,
}

/// Location of a store's data: a file, or memory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Location {
    /// An SQLite file, which is created if it does not exist. Its folder must exist.
    File(PathBuf),
    /// Memory of this store alone, lost when the store is dropped.
    Memory,
}

/// Durability of a commit in a file. It has no effect on a store in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// Fsync at every commit: the write survives a power failure.
    #[default]
    Durable,
    /// Fsync at checkpoints only: the write survives the end of the process. A power failure can
    /// undo the last commits, each as a whole and the newest first. It does not damage the file.
    Relaxed,
}

const CACHE_SIZE: u64 = 64 << 20;
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// Four times SQLite's default, because a write with two indexes changes about a dozen pages.
const WAL_PAGES: u32 = 4000;

impl SqliteConfig {
    /// Default settings of a store in memory.
    pub fn in_memory() -> Self {
        Self::at(Location::Memory)
    }

    /// Default settings of a store in this file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::at(Location::File(path.into()))
    }

    fn at(location: Location) -> Self {
        let durability = Durability::default();
        Self {
            location,
            durability,
            cache_size: CACHE_SIZE,
            busy_timeout: BUSY_TIMEOUT,
            wal_pages: WAL_PAGES,
            sweep_every: Some(ttl::SWEEP_EVERY),
        }
    }

    /// Sets the durability of writes.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets the size of each connection's page cache, in bytes.
    #[must_use]
    pub fn with_cache_size(mut self, bytes: u64) -> Self {
        self.cache_size = bytes;
        self
    }

    /// Sets the maximum time that a write waits while another process writes.
    #[must_use]
    pub fn with_busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// Sets the length of the write-ahead log at which it is checkpointed, in pages of 4 KB. A
    /// shorter log takes less disk space, a longer one is checkpointed less often.
    #[must_use]
    pub fn with_wal_pages(mut self, pages: u32) -> Self {
        self.wal_pages = pages;
        self
    }

    /// Sets the time between two sweeps, which delete expired items, by the store's clock. The
    /// first sweep begins one period after the store was opened. `None` leaves deletion to
    /// [`SqliteStore::sweep_expired`](crate::SqliteStore::sweep_expired).
    #[must_use]
    pub fn with_sweep_every(mut self, period: Option<Duration>) -> Self {
        self.sweep_every = period;
        self
    }

    /// Reads the settings from an `sqlite:` address.
    ///
    /// # Errors
    /// [`tabla_core::ErrorKind::Config`] if the path is empty, or an option is unknown or has an
    /// invalid value.
    pub fn from_address(mut address: Address) -> Result<Self> {
        let mut config = match address.path.as_str() {
            "" => {
                return Err(Error::config(
                    "the `sqlite:` address has no path; it names a file, as in `sqlite:shop.db`, or \
                     `:memory:`",
                ));
            }
            ":memory:" => Self::in_memory(),
            path => Self::file(path),
        };
        if let Some(text) = address.take("durability") {
            config.durability = match text.as_str() {
                "durable" => Durability::Durable,
                "relaxed" => Durability::Relaxed,
                _ => {
                    return Err(Error::config(format!(
                        "the option `durability` is `durable` or `relaxed`, not `{text}`"
                    )));
                }
            };
        }
        if let Some(text) = address.take("cache") {
            let megabytes: u64 =
                text.parse().ok().filter(|size| (1..=1 << 20).contains(size)).ok_or_else(|| {
                    Error::config(format!(
                        "the option `cache` is a number of megabytes from 1 to 1048576, not `{text}`"
                    ))
                })?;
            config.cache_size = megabytes << 20;
        }
        if let Some(text) = address.take("busy") {
            // SQLite takes a C `int`. rusqlite and sqlx panic above its maximum.
            let millis: u32 = text.parse().ok().filter(|millis| *millis <= i32::MAX as u32).ok_or_else(|| {
                Error::config(format!(
                    "the option `busy` is a number of milliseconds from 0 to 2147483647, not `{text}`"
                ))
            })?;
            config.busy_timeout = Duration::from_millis(millis.into());
        }
        if let Some(text) = address.take("log") {
            config.wal_pages = text.parse().ok().filter(|pages| *pages > 0).ok_or_else(|| {
                Error::config(format!(
                    "the option `log` is a number of pages from 1 to 4294967295, not `{text}`"
                ))
            })?;
        }
        if let Some(text) = address.take("sweep") {
            config.sweep_every = ttl::sweep_period(&text)?;
        }
        address.finish(&["busy", "cache", "durability", "log", "sweep"])?;
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(address: &str) -> Result<SqliteConfig> {
        SqliteConfig::from_address(address.parse().expect("a well-formed address"))
    }

    #[test]
    fn address_sets_location_and_options() {
        assert_eq!(config("sqlite::memory:").unwrap(), SqliteConfig::in_memory());
        let parsed =
            config("sqlite:/var/shop.db?durability=relaxed&cache=8&busy=250&log=100&sweep=5")
                .unwrap();
        let expected = SqliteConfig::file("/var/shop.db")
            .with_durability(Durability::Relaxed)
            .with_cache_size(8 << 20)
            .with_busy_timeout(Duration::from_millis(250))
            .with_wal_pages(100)
            .with_sweep_every(Some(Duration::from_secs(5)));
        assert_eq!(parsed, expected);
        assert_eq!(config("sqlite:a.db").unwrap().sweep_every, Some(Duration::from_secs(60)));
        assert_eq!(config("sqlite:a.db?sweep=off").unwrap().sweep_every, None);
    }

    #[test]
    fn error_of_a_bad_address_names_the_option_and_its_values() {
        for (address, part) in [
            ("sqlite:", "names a file"),
            (
                "sqlite:a.db?durability=off",
                "the option `durability` is `durable` or `relaxed`, not `off`",
            ),
            (
                "sqlite:a.db?cache=0",
                "the option `cache` is a number of megabytes from 1 to 1048576, not `0`",
            ),
            ("sqlite:a.db?cache=8MB", "not `8MB`"),
            ("sqlite:a.db?busy=soon", "not `soon`"),
            ("sqlite:a.db?busy=2147483648", "milliseconds from 0 to 2147483647"),
            ("sqlite:a.db?log=0", "a number of pages from 1 to 4294967295, not `0`"),
            ("sqlite:a.db?sweep=0", "number of seconds, at least 1, or `off`, not `0`"),
            ("sqlite:a.db?sync=full", "unknown options"),
        ] {
            let error = config(address).expect_err(address);
            assert_eq!(error.kind(), &tabla_core::ErrorKind::Config);
            assert!(error.message().contains(part), "{address}: {error}");
        }
    }
}
