//! Threads for requests that keep a processor busy: long bodies and their compression.
//!
//! The limits on requests in flight are in `admission`.

use std::sync::Arc;
use std::thread::available_parallelism;

use tokio::runtime::Handle;
use tokio::sync::Semaphore;

/// Size from which a body is parsed or compressed on a worker thread, in bytes. For such a body,
/// either takes a millisecond or more.
pub(crate) const OFFLOAD_BYTES: usize = 256 << 10;

/// Minimum of concurrent workers, on a machine with few processors.
const MIN_THREADS: usize = 4;

/// Limit on the blocking threads that process long bodies, so that the threads of the runtime stay
/// free for other requests. One thread per processor, and at least 4; further requests wait.
#[derive(Debug)]
pub(crate) struct BlockingPool(Arc<Semaphore>);

impl BlockingPool {
    pub(crate) fn new() -> Self {
        let processors = available_parallelism().map_or(MIN_THREADS, usize::from);
        Self(Arc::new(Semaphore::new(processors.max(MIN_THREADS))))
    }

    /// Runs work on a worker. Returns `None` if it panics. Work that has begun is completed even if
    /// the caller drops the future.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        let permit = Arc::clone(&self.0).acquire_owned().await.ok()?;
        let Ok(runtime) = Handle::try_current() else { return Some(work.await) };
        let work = move || {
            let _permit = permit;
            runtime.block_on(work)
        };
        tokio::task::spawn_blocking(work).await.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::thread::{self, ThreadId};

    use bytes::Bytes;
    use http::Request;
    use tabla_core::MemoryStore;
    use tabla_core::env::{Clock, Env, Monotonic, Sleep, SystemClock, Timestamp};

    use super::*;
    use crate::{Credentials, ServerConfig, Service};

    /// Clock that records which threads read it.
    #[derive(Debug, Default)]
    struct Asked(Mutex<Vec<ThreadId>>);

    impl Clock for Asked {
        fn now(&self) -> Timestamp {
            self.0.lock().unwrap().push(thread::current().id());
            SystemClock.now()
        }

        fn monotonic(&self) -> Monotonic {
            SystemClock.monotonic()
        }

        fn sleep(&self, time: std::time::Duration) -> Sleep<'_> {
            SystemClock.sleep(time)
        }
    }

    #[tokio::test]
    async fn long_bodies_are_processed_on_blocking_threads() {
        let asked = Arc::new(Asked::default());
        let clock: Arc<dyn Clock> = Arc::clone(&asked) as _;
        let keys = "[a]\naws_access_key_id = KEY\naws_secret_access_key = secret\n";
        let config = ServerConfig::new()
            .with_credentials(Credentials::parse(keys).unwrap())
            .with_env(Env::system().with_clock(clock));
        let service = Service::with_config(Arc::new(MemoryStore::new()), config);
        for (length, is_long) in [(OFFLOAD_BYTES - 1, false), (OFFLOAD_BYTES, true)] {
            let request = Request::post("/")
                .header("content-type", "application/x-amz-json-1.0")
                .header("x-amz-target", "DynamoDB_20120810.ListTables")
                .body(Bytes::from(" ".repeat(length)));
            service.call(request.unwrap()).await;
            let here = thread::current().id();
            let asked = std::mem::take(&mut *asked.0.lock().unwrap());
            assert_eq!(asked.iter().any(|thread| *thread != here), is_long, "{length} bytes");
        }
    }

    #[tokio::test]
    async fn panic_of_a_worker_is_reported() {
        let workers = BlockingPool::new();
        assert_eq!(workers.run(async { 1 }).await, Some(1));
        let panics = workers.run(async { panic!("deliberate") });
        assert_eq!(panics.await, None::<()>);
    }
}
