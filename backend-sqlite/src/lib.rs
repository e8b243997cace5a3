//! tabla's embedded engine: DynamoDB's semantics in an SQLite file, or in memory.
//!
//! ```
//! use tabla_core::ops::{CreateTable, GetItem, PutItem};
//! use tabla_core::{KeyType, Store, item};
//! use tabla_sqlite::{SqliteConfig, SqliteStore};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let store = SqliteStore::open(&SqliteConfig::in_memory()).await?;
//! store.create_table(CreateTable::new("songs").partition_key("artist", KeyType::S)).await?;
//! store.put(PutItem::new("songs", item! { "artist" => "Nina", "plays" => 3 })).await?;
//! let answer = store.get(GetItem::new("songs", item! { "artist" => "Nina" })).await?;
//! assert_eq!(answer.item, Some(item! { "artist" => "Nina", "plays" => 3 }));
//! # Ok::<(), tabla_core::Error>(()) }).unwrap();
//! ```
//!
//! A write is answered after the sync of its commit, unless the store was opened with
//! [`Durability::Normal`]. Reads do not wait for writes. Several processes may open the same file.
//! `docs/sqlite-format.md` describes the file.
//!
//! The options of an address, as in `sqlite:shop.db?durability=normal&cache=8`:
//!
//! | option | means | otherwise |
//! |---|---|---|
//! | `durability` | `full`: an answered write survives a loss of power; `normal`: the end of the process | `full` |
//! | `cache` | how much of the file each connection may keep in memory, in megabytes; the one that writes keeps at most 8 | 64 |
//! | `busy` | how long a write waits for another process that is writing, in milliseconds | 10000 |
//! | `log` | how many pages of 4 KB the log may have before it is moved to the file | 4000 |
//! | `sweep` | how often expired items are deleted, in seconds, or `off` | 60 |

mod catalogue;
mod check;
mod collections;
mod config;
mod connection;
mod delta_chain;
mod error;
mod expiry;
mod format;
#[cfg(feature = "conformance")]
mod harness;
mod item_counts;
mod maintenance;
mod open;
mod opener;
mod read_pool;
mod record_log;
mod records;
mod rows;
mod sequence;
mod session;
mod store;
mod streams;
mod sweep;
mod sweeper;
mod tables;
mod wal;
mod writer;

pub use check::{CheckProgress, CheckReport, check};
pub use config::{Durability, Location, SqliteConfig};
pub use format::{APPLICATION_ID, FORMAT_VERSION};
#[cfg(feature = "conformance")]
pub use harness::SqliteHarness;
pub use opener::SqliteOpener;
pub use store::SqliteStore;
pub use sweeper::Sweeps;
