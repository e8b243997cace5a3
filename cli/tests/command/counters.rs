//! Counters that all clients update. An update has the previous version as its condition, so
//! exactly one client writes each version.

use std::collections::BTreeSet;
use std::io;

use crate::things::{Name, get, version_of};
use crate::wire::Connection;
use crate::worker::Worker;

/// Number of counters.
pub(crate) const COUNTERS: u64 = 8;

/// Number of a counter, and one of its versions.
pub(crate) type Version = (u64, u64);

pub(crate) fn name(counter: u64) -> Name {
    ("shared".to_owned(), format!("counter-{counter}"))
}

/// Versions that are known to have been written.
#[derive(Default)]
pub(crate) struct Counters(BTreeSet<Version>);

impl Counters {
    /// Compares the stored versions with those that were acknowledged to these clients.
    pub(crate) async fn verify(
        &mut self,
        workers: &mut [Worker],
        connection: &mut Connection,
    ) -> io::Result<()> {
        let mut pending = BTreeSet::new();
        for worker in workers {
            for version in worker.counted.drain(..) {
                assert!(self.0.insert(version), "{version:?} was acknowledged to two clients");
            }
            pending.extend(worker.pending_count.take());
        }
        for counter in 0..COUNTERS {
            let name = name(counter);
            let response = connection.ask("GetItem", &get(&name)).await?.expect();
            let newest = response.get("Item").map_or(0, |item| version_of(&name, item));
            for version in (1..=newest).map(|version| (counter, version)) {
                // A client without a response may have written it.
                let is_known = !self.0.insert(version);
                assert!(
                    is_known || pending.contains(&version),
                    "no client has written {version:?}"
                );
            }
            let lost = self.0.range((counter, newest + 1)..(counter + 1, 0)).next();
            assert_eq!(
                lost, None,
                "an acknowledged version is lost; the newest stored is {newest}"
            );
        }
        Ok(())
    }
}
