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
//! let found = store.get(GetItem::new("songs", item! { "artist" => "Nina" })).await?;
//! assert_eq!(found.item, Some(item! { "artist" => "Nina", "plays" => 3 }));
//! # Ok::<(), tabla_core::Error>(()) }).unwrap();
//! ```
//!
//! A write returns after the fsync of its commit, unless the store was opened with
//! [`Durability::Relaxed`]. In a file, reads do not wait for writes. Several processes may open the
//! same file. `docs/sqlite-format.md` specifies the file format.
//!
//! Options of an address, as in `sqlite:shop.db?durability=relaxed&cache=8`:
//!
//! | option | meaning | default |
//! |---|---|---|
//! | `durability` | `durable`: fsync at every commit, a write survives a power failure; `relaxed`: fsync at checkpoints only, a write survives the end of the process | `durable` |
//! | `cache` | page cache of each connection, in MB; the writing connection uses at most 8 | 64 |
//! | `busy` | busy timeout: maximum time that a write waits while another process writes, in ms | 10000 |
//! | `log` | length of the write-ahead log at which it is checkpointed, in pages of 4 KB | 4000 |
//! | `sweep` | time between two sweeps, which delete expired items, in seconds; `off`: no sweeps | 60 |
//! | `retries` | `on`: a transaction that conflicts is repeated by the policy of the registry, 10 attempts by default, and a batch of reads over 16 MB is completed; `off`: both are returned to the caller. Option of every address, read by [`Registry`](tabla_core::Registry) | `on` |

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
