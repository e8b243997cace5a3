//! A handler that records its calls, and a worker that runs beside the case.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use tabla_consumer::{Consumer, Failure, Handler};
use tabla_core::Result;
use tabla_core::ops::Record;
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

/// A record as its handler saw it: key of the item and number of the change.
pub(super) type Seen = (String, i64);

/// Handler that records its calls. It fails for items whose key begins with `bad`, panics for
/// `panic`, stops the consumer for `stop`, and waits for the gate for `slow`.
#[derive(Default)]
pub(super) struct Notes {
    handled: Mutex<Vec<Seen>>,
    events: Mutex<BTreeSet<String>>,
    busy: Mutex<BTreeSet<String>>,
    pub(super) at_work: AtomicUsize,
    pub(super) gate: Notify,
}

/// Marks an item as being handled; dropping it, also with a canceled handler, removes the mark.
struct Busy<'n>(&'n Notes, String);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.busy.lock().expect("no thread panicked with the lock").remove(&self.1);
        self.0.at_work.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Notes {
    /// Returns all handled records, each once.
    pub(super) fn handled(&self) -> Vec<Seen> {
        self.handled.lock().expect("no thread panicked with the lock").clone()
    }

    /// Returns the changes of one item, in the order in which they were handled.
    pub(super) fn of(&self, pk: &str) -> Vec<i64> {
        self.handled().into_iter().filter(|(seen, _)| seen == pk).map(|(_, n)| n).collect()
    }
}

#[async_trait]
impl Handler for Notes {
    async fn handle(&self, record: &Record) -> Result<(), Failure> {
        let pk = record.keys.get("pk").and_then(|pk| pk.as_str()).ok_or("no key")?.to_owned();
        let image = record.new_image.as_ref().ok_or("no image")?;
        let n = image.get("n").ok_or("no number")?.to_struct()?;
        self.at_work.fetch_add(1, Ordering::SeqCst);
        let _busy = Busy(self, pk.clone());
        if !self.busy.lock().expect("no thread panicked with the lock").insert(pk.clone()) {
            return Err(Failure::stop(format!("two workers handle {pk}")));
        }
        match pk.as_str() {
            pk if pk.starts_with("bad") => return Err("a bad record".into()),
            pk if pk.starts_with("panic") => panic!("a panicking record"),
            pk if pk.starts_with("stop") => return Err(Failure::stop("no disk")),
            pk if pk.starts_with("slow") => self.gate.notified().await,
            _ => tokio::task::yield_now().await,
        }
        // The effect is idempotent: it is applied once per event id.
        if self
            .events
            .lock()
            .expect("no thread panicked with the lock")
            .insert(record.event_id.clone())
        {
            self.handled.lock().expect("no thread panicked with the lock").push((pk, n));
        }
        Ok(())
    }
}

/// Worker that runs beside the case and is stopped with it.
pub(super) struct Worker {
    task: JoinHandle<Result<()>>,
    stop: watch::Sender<bool>,
}

impl Worker {
    pub(super) fn start(consumer: Consumer, notes: &Arc<Notes>) -> Self {
        let (stop, mut stopped) = watch::channel(false);
        let notes = Arc::clone(notes);
        let task = tokio::spawn(async move {
            let stop = async move {
                let _ = stopped.wait_for(|stop| *stop).await;
            };
            consumer.run(&notes, stop).await
        });
        Self { task, stop }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.task.is_finished()
    }

    pub(super) fn request_stop(&self) {
        self.stop.send_replace(true);
    }

    /// Waits for the worker to finish and returns its result.
    pub(super) async fn end(&mut self) -> Result<()> {
        (&mut self.task).await.expect("the worker did not panic")
    }

    /// Aborts the worker, as a crash does.
    pub(super) async fn kill(mut self) {
        self.task.abort();
        let _ = (&mut self.task).await;
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.task.abort();
    }
}
