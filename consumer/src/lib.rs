//! Consumers: workers that process the change streams of tables.
//!
//! A [`Consumer`] reads the streams of a table and passes each record to a [`Handler`]. It has a
//! name and stores its checkpoints in the store itself, so that it continues there after a restart.
//! Consumers with the same name, in any process, share the work. A consumer needs only a [`Store`],
//! and works on every backend that has streams.
//!
//! ```
//! use std::sync::Arc;
//! use tabla::consumer::{Consumer, Failure, each};
//! use tabla::ops::{CreateTable, PutItem, StreamViewType};
//! use tabla::{KeyType, MemoryStore, Store, item};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let store = Arc::new(MemoryStore::new());
//! let orders = CreateTable::new("orders").partition_key("number", KeyType::N);
//! store.create_table(orders.stream(StreamViewType::NewImage)).await?;
//! for number in 1..=3 {
//!     store.put(PutItem::new("orders", item! { "number" => number })).await?;
//! }
//!
//! let mailer = Consumer::new(store.clone(), "mailer", "orders").max_attempts(2);
//! let send = each(|record| async move {
//!     match record.keys == item! { "number" => 2 } {
//!         true => Err(Failure::from("no address")),
//!         false => Ok(()),
//!     }
//! });
//! // `mailer.run(&send, stop).await` runs until `stop`; a drain handles the changes that exist.
//! let drained = mailer.drain(&send).await?;
//! assert_eq!((drained.handled, drained.set_aside), (2, 1));
//!
//! // A record that fails at every attempt is set aside with its error, and can be retried.
//! let [aside] = &mailer.set_aside().await?[..] else { panic!("one record is set aside") };
//! assert_eq!((aside.error.as_str(), aside.attempts), ("no address", 2));
//! let repaired = each(|_| async { Ok(()) });
//! assert_eq!(mailer.retry_set_aside(&repaired).await?.handled, 1);
//! # Ok::<(), tabla::Error>(()) }).unwrap();
//! ```
//!
//! # Guarantees
//!
//! - **At least once.** A record is handled, or set aside with its error, before the checkpoint
//!   passes it. After a crash, up to a batch of records is repeated: make effects idempotent by the
//!   [event id](tabla_core::ops::Record::event_id).
//! - **In order for each item.** The records of a shard are handled one after the other. A shard is
//!   read after its parent is finished. If the stream of a table was disabled and enabled again,
//!   the older stream is read first. A record that is set aside does not delay later records.
//! - **One worker per shard.** A worker owns a shard by a lease with a counter that it increments.
//!   Another worker takes over if it has seen the counter unchanged for the whole lease duration by
//!   its own monotonic time. Clocks of different machines are never compared, and a clock that
//!   steps back delays nothing. A worker without its lease cannot move a checkpoint. A worker that
//!   cannot renew its lease stops before the lease expires, in the middle of a record if necessary.
//!   If a handler blocks its thread for longer, no further record is started before the lease is
//!   renewed.
//! - **A panic of a handler is a failed attempt.** The panics at a record are counted in the store,
//!   so that a restart does not reset the count. The record is set aside after the last attempt.
//! - **Balanced load.** The shards are divided among the workers; their numbers differ by at most
//!   one. A worker with too many shards releases some after the current record.
//! - **No read-ahead**, except one batch of each shard that is being handled.
//! - **No silent gaps.** Streams keep changes for 24 hours. A consumer that starts too late stops
//!   with an error, or [continues](OnTrimmed::Continue) and counts the gap. The same applies if no
//!   worker has run for 24 hours. It also applies if the stored time of the last run is an hour or
//!   more ahead of the present clock, because its age is then unknown.
//!
//! [`Consumer::metrics`] returns the lag of this process, [`Consumer::status`] that of all.
//!
//! # The checkpoint table
//!
//! An ordinary table, `tabla-consumers` unless [`Consumer::checkpoint_table`] names another, with a
//! few items per consumer. Its partition key is `consumer`, its sort key `entry`. Times are
//! milliseconds since the Unix epoch.
//!
//! | `entry` | attributes |
//! |---|---|
//! | `orders#consumer` | `start`, `registered_at`; `seen_at`, `seen_by`: last known worker and its time; `gaps`; `starting` |
//! | `orders#start#<id>#<label>#<shard>` | `begins`: the initial shard entry, while worker `id` registers the consumer |
//! | `orders#shard#<label>#<shard>` | `stream`, `shard`, `parent`; `owner`, `counter`, `lease_ms`; `position`, `start_at`, `panicked`, `finished`, `handled`, `set_aside`, `gaps`; `lag_ms`, `record_at`, `caught_up_at`, `written_at` |
//! | `orders#worker#<id>` | `worker`, `counter`, `lease_ms` |
//! | `orders#set-aside#<label>#<shard>#<number>` | the record: `event_id`, `event_name`, `sequence_number`, `created_at`, `keys`, `new_image`, `old_image`, …; `left_out`; `error`, `tries`, `set_aside_at` |
//!
//! To start a consumer from the beginning, stop all workers and delete its items.
//!
//! [`Store`]: tabla_core::Store

mod background_clock;
mod checkpoint_table;
mod drain;
mod drain_bound;
mod handler;
mod lease;
mod lineage;
mod metrics;
mod run;
mod set_aside;
mod settings;
mod shard;
mod start;
mod status;
mod worker;

#[cfg(test)]
mod tests;

pub use self::drain::DrainReport;
pub use self::handler::{Each, Failure, Handler, each};
pub use self::metrics::Metrics;
pub use self::set_aside::{RetryReport, SetAside};
pub use self::settings::{Consumer, OnTrimmed, Start};
pub use self::status::{ShardStatus, Status};
