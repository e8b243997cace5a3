//! Consumers: doing something with every change of a table.
//!
//! A [`Consumer`] reads the streams of a table and hands each record to a [`Handler`]. It has a
//! name, and keeps in the store itself how far it is, so that it goes on there after a restart;
//! whoever runs a consumer of the same name, in any process, shares the work. It needs a [`Store`]
//! and nothing else, and works on every backend that has streams.
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
//! let mailer = Consumer::new(store.clone(), "mailer", "orders").tries(2);
//! let send = each(|record| async move {
//!     match record.keys == item! { "number" => 2 } {
//!         true => Err(Failure::from("no address")),
//!         false => Ok(()),
//!     }
//! });
//! // Until it is told to stop: `mailer.run(&send, stop).await`. To the end of what is there:
//! let drained = mailer.drain(&send).await?;
//! assert_eq!((drained.handled, drained.set_aside), (2, 1));
//!
//! // What could not be handled is kept with its error, and tried again when that is repaired.
//! let [aside] = &mailer.set_aside().await?[..] else { panic!("it was set aside") };
//! assert_eq!((aside.error.as_str(), aside.tries), ("no address", 2));
//! let repaired = each(|_| async { Ok(()) });
//! assert_eq!(mailer.retry_set_aside(&repaired).await?.handled, 1);
//! # Ok::<(), tabla::Error>(()) }).unwrap();
//! ```
//!
//! # What it promises
//!
//! - **At least once.** A record is handled, or set aside with its error, before the checkpoint
//!   goes past it. After a crash, up to a batch of records comes again: make effects repeatable by
//!   the [event id](tabla_core::ops::Record::event_id).
//! - **In order for each item.** The records of a shard come one after the other. A shard is begun
//!   when its parent is finished, and a stream that was enabled again when the one before it is.
//!   A record that is set aside does not hold up those behind it.
//! - **One worker at a shard.** A worker has a shard by a lease, a counter that it raises. Others
//!   take the shard if they have seen the counter unchanged for the whole lease by their own
//!   monotonic time; no two machines' clocks are compared, and a clock that is set back delays
//!   nothing. A worker that has lost its lease can move no checkpoint, and one that could not renew
//!   it stops before it has lapsed, in the middle of a record if need be. If a handler has blocked
//!   its thread for longer, no further record is begun before the lease is renewed.
//! - **A handler that panics has failed.** The panics at a record are counted in the store, so that a
//!   restart does not begin the count anew; the record is set aside after the last try.
//! - **Equal parts.** Every worker has the same number of shards, give or take one. Who has too
//!   many leaves some after the record at hand.
//! - **Nothing is read ahead** but one batch of each shard that is being handled.
//! - **Nothing is skipped silently.** Streams keep changes for a day. A consumer that comes too
//!   late stops with an error, or [goes on](Trimmed::GoOn) and counts the gap. So does one that
//!   nobody has run for a day, or whose last run is an hour or more ahead of the present clock: nobody
//!   can tell then how long ago it was.
//!
//! [`Consumer::metrics`] has the lag of this process, [`Consumer::status`] that of all.
//!
//! # The table of checkpoints
//!
//! An ordinary table, `tabla-consumers` unless [said otherwise](Consumer::checkpoints), of a few
//! items for each consumer, with the partition key `consumer` and the sort key `entry`. Times are
//! milliseconds since the epoch.
//!
//! | `entry` | attributes |
//! |---|---|
//! | `orders#consumer` | `start`, `registered_at`; `seen_at`, `seen_by`: who was last known to run it; `gaps`; `starting` |
//! | `orders#start#<id>#<label>#<shard>` | `begins`: the entry that the shard is to have, while worker `id` registers the consumer |
//! | `orders#shard#<label>#<shard>` | `stream`, `shard`, `parent`; `owner`, `counter`, `lease_ms`; `position`, `start_at`, `panicked`, `finished`, `handled`, `set_aside`, `gaps`; `lag_ms`, `record_at`, `caught_up_at`, `written_at` |
//! | `orders#worker#<id>` | `worker`, `counter`, `lease_ms` |
//! | `orders#set-aside#<label>#<shard>#<number>` | the record: `event_id`, `event_name`, `sequence_number`, `created_at`, `keys`, `new_image`, `old_image`, …; `left_out`; `error`, `tries`, `set_aside_at` |
//!
//! To begin anew, stop all workers and delete the items of the consumer.
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
