//! What a store is opened with.

use std::path::PathBuf;
use std::time::Duration;

use tabla_core::backend::ttl;
use tabla_core::{Address, Error, Result};

/// How to open a store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SqliteConfig {
    /// Where the data is.
    pub location: Location,
    /// What a write's answer promises.
    pub durability: Durability,
    /// How much of the file each connection may keep in memory, in bytes; the one that writes keeps
    /// at most 8 MB.
    pub cache_size: u64,
    /// How long a write waits for another process that is writing.
    pub busy_timeout: Duration,
    /// About how many pages of 4 KB a log may have before it is moved to its file.
    pub wal_pages: u32,
    /// How often the store deletes expired items by itself; `None` is never.
    pub sweep_every: Option<Duration>,
}

/// Where the data is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Location {
    /// In a file, which is created if there is none.
    File(PathBuf),
    /// In memory, seen by this store alone and gone with it.
    Memory,
}

/// What a write's answer promises of a file. In memory there is nothing to promise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// The write has been synced to the disk: it survives a loss of power.
    #[default]
    Durable,
    /// The write survives the end of the process. A loss of power may take the last writes, whole
    /// and in order; it does not damage the file.
    Relaxed,
}

const CACHE_SIZE: u64 = 64 << 20;
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);
/// More than SQLite's own 1000, because a write with two indexes touches a dozen pages.
const WAL_PAGES: u32 = 4000;

impl SqliteConfig {
    /// A store in memory.
    pub fn in_memory() -> Self {
        Self::at(Location::Memory)
    }

    /// A store in this file.
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

    /// The same with another promise.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// The same with another size of each connection's cache.
    #[must_use]
    pub fn with_cache_size(mut self, bytes: u64) -> Self {
        self.cache_size = bytes;
        self
    }

    /// The same with another patience with other processes.
    #[must_use]
    pub fn with_busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// The same with another length of the log: a shorter one takes less of the disk, a longer
    /// one is moved less often.
    #[must_use]
    pub fn with_wal_pages(mut self, pages: u32) -> Self {
        self.wal_pages = pages;
        self
    }

    /// The same, deleting expired items this often by the store's clock, the first time so long after
    /// it was opened; or only when it is asked to.
    #[must_use]
    pub fn with_sweep_every(mut self, period: Option<Duration>) -> Self {
        self.sweep_every = period;
        self
    }

    /// What an address asks for.
    ///
    /// # Errors
    /// [`tabla_core::ErrorKind::Config`] for a path or an option that cannot be understood.
    pub fn from_address(mut address: Address) -> Result<Self> {
        let mut config = match address.path.as_str() {
            "" => {
                return Err(Error::config(
                    "an `sqlite:` address names a file, or `:memory:`: sqlite:shop.db",
                ));
            }
            ":memory:" => Self::in_memory(),
            path => Self::file(path),
        };
        if let Some(text) = address.take("durability") {
            config.durability = match text.as_str() {
                "full" => Durability::Durable,
                "normal" => Durability::Relaxed,
                _ => {
                    return Err(Error::config(format!(
                        "the durability of an `sqlite:` address is `full` or `normal`: {text}"
                    )));
                }
            };
        }
        if let Some(text) = address.take("cache") {
            let megabytes: u64 = text.parse().ok().filter(|size| (1..=1 << 20).contains(size)).ok_or_else(|| {
                Error::config(format!(
                    "the cache of an `sqlite:` address is a number of megabytes, at least 1: {text}"
                ))
            })?;
            config.cache_size = megabytes << 20;
        }
        if let Some(text) = address.take("busy") {
            let millis: u64 = text.parse().map_err(|_| {
                Error::config(format!(
                    "the busy time-out of an `sqlite:` address is a number of milliseconds: {text}"
                ))
            })?;
            config.busy_timeout = Duration::from_millis(millis);
        }
        if let Some(text) = address.take("log") {
            config.wal_pages = text.parse().ok().filter(|pages| *pages > 0).ok_or_else(|| {
                Error::config(format!(
                    "the log of an `sqlite:` address is a number of pages, at least 1: {text}"
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
        SqliteConfig::from_address(address.parse().expect("it is well formed"))
    }

    #[test]
    fn an_address_says_where_and_how() {
        assert_eq!(config("sqlite::memory:").unwrap(), SqliteConfig::in_memory());
        let asked =
            config("sqlite:/var/shop.db?durability=normal&cache=8&busy=250&log=100&sweep=5")
                .unwrap();
        let expected = SqliteConfig::file("/var/shop.db")
            .with_durability(Durability::Relaxed)
            .with_cache_size(8 << 20)
            .with_busy_timeout(Duration::from_millis(250))
            .with_wal_pages(100)
            .with_sweep_every(Some(Duration::from_secs(5)));
        assert_eq!(asked, expected);
        assert_eq!(config("sqlite:a.db").unwrap().sweep_every, Some(Duration::from_secs(60)));
        assert_eq!(config("sqlite:a.db?sweep=off").unwrap().sweep_every, None);
    }

    #[test]
    fn a_bad_address_says_what_is_wrong() {
        for (address, part) in [
            ("sqlite:", "names a file"),
            ("sqlite:a.db?durability=off", "`full` or `normal`: off"),
            ("sqlite:a.db?cache=0", "at least 1: 0"),
            ("sqlite:a.db?cache=8MB", "number of megabytes"),
            ("sqlite:a.db?busy=soon", "number of milliseconds: soon"),
            ("sqlite:a.db?log=0", "number of pages, at least 1: 0"),
            ("sqlite:a.db?sweep=0", "number of seconds, at least 1, or `off`: 0"),
            ("sqlite:a.db?sync=full", "unknown options"),
        ] {
            let error = config(address).expect_err(address);
            assert_eq!(error.kind(), &tabla_core::ErrorKind::Config);
            assert!(error.message().contains(part), "{address}: {error}");
        }
    }
}
