//! Registry of the schemes of stores.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::{RetryPolicy, Store, StoreExt};
use crate::address::{Address, OpenContext, SchemeOpener, Schemes};
use crate::engine::ttl;
use crate::env::Env;
use crate::error::{Error, Result};
use crate::memory::MemoryStore;

/// Opens the stores of one scheme. A backend implements it; a program registers it in a
/// [`Registry`].
#[async_trait]
pub trait Opener: Send + Sync {
    /// Scheme of the addresses, without the colon.
    fn scheme(&self) -> &'static str;

    /// Example addresses for help texts, each with a description of what it opens.
    fn examples(&self) -> &'static [(&'static str, &'static str)];

    /// Opens the store at an address of this scheme.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Config`] for an invalid path or option, before anything is created; and
    /// the errors of the backend.
    async fn open(&self, address: Address, context: &OpenContext) -> Result<Arc<dyn Store>>;

    /// Whether the stores of this opener implement [`OpenContext::retries`] themselves.
    /// Default: no.
    ///
    /// Otherwise the registry wraps them in [`RetryingStore`](super::RetryingStore), which clones
    /// each request and gives transactions a token. A service needs that; an embedded engine
    /// does not.
    fn implements_retries(&self) -> bool {
        false
    }
}

/// Address schemes that a program supports; opens stores by their addresses.
///
/// An opened store retries throttling, transaction conflicts and unprocessed batch items under
/// [`RetryPolicy::default`]. The option `?retries=off` of an address turns that off, and
/// [`Registry::with_retries`] sets another policy.
///
/// ```
/// use tabla::Registry;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let registry = Registry::new();
/// let store = registry.open("memory:").await?;
/// assert_eq!(store.capabilities().engine, "memory");
/// # Ok::<(), tabla::Error>(()) }).unwrap();
/// ```
pub struct Registry {
    context: OpenContext,
    schemes: Schemes<dyn Opener>,
}

impl SchemeOpener for dyn Opener {
    const OPENS: &'static str = "store";

    fn scheme(&self) -> &'static str {
        Opener::scheme(self)
    }

    fn examples(&self) -> &'static [(&'static str, &'static str)] {
        Opener::examples(self)
    }
}

impl Registry {
    /// Creates a registry with the scheme `memory:`, on the system clock and randomness.
    pub fn new() -> Self {
        Self::with_env(Env::system())
    }

    /// Creates a registry with the scheme `memory:` that opens stores on this clock and randomness.
    pub fn with_env(env: Env) -> Self {
        let context = OpenContext::with_env(env);
        let mut registry = Self { context, schemes: Schemes::default() };
        registry.register(MemoryOpener);
        registry
    }

    /// Sets the retry policy of the stores that it opens; [`RetryPolicy::none`] turns retries off.
    #[must_use]
    pub fn with_retries(mut self, retries: RetryPolicy) -> Self {
        self.context.retries = retries;
        self
    }

    /// Adds a scheme that this build does not support, with the remedy that the error of
    /// [`open`](Self::open) names, such as a feature to enable.
    pub fn register_missing(&mut self, scheme: &'static str, remedy: &'static str) -> &mut Self {
        self.schemes.add_missing(scheme, remedy);
        self
    }

    /// Adds the scheme of an opener, and replaces an earlier opener of the same scheme.
    pub fn register(&mut self, opener: impl Opener + 'static) -> &mut Self {
        self.schemes.add(Box::new(opener));
        self
    }

    /// Example addresses of all schemes, each with a description of what it opens.
    pub fn examples(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.schemes.examples()
    }

    /// Opens the store at this address.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Config`] for an invalid address, listing examples of valid ones; and the
    /// errors of the backend.
    pub async fn open(&self, address: &str) -> Result<Arc<dyn Store>> {
        let (opener, parsed, context) = self.schemes.find(address, &self.context)?;
        let store = opener
            .open(parsed, &context)
            .await
            .map_err(|error| Schemes::<dyn Opener>::name_address(address, error))?;
        match opener.implements_retries() || context.retries.attempts <= 1 {
            true => Ok(store),
            false => Ok(Arc::new(store.with_retries(context.retries))),
        }
    }
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry").field("schemes", &self.schemes).finish_non_exhaustive()
    }
}

struct MemoryOpener;

#[async_trait]
impl Opener for MemoryOpener {
    fn scheme(&self) -> &'static str {
        "memory"
    }

    fn examples(&self) -> &'static [(&'static str, &'static str)] {
        &[("memory:", "a store in memory, lost when the program ends")]
    }

    /// True: the store never throttles, serializes transactions, and completes batch reads.
    fn implements_retries(&self) -> bool {
        true
    }

    async fn open(&self, mut address: Address, context: &OpenContext) -> Result<Arc<dyn Store>> {
        let sweep = address.take("sweep").map(|text| ttl::sweep_period(&text)).transpose()?;
        address.finish(&["sweep"])?;
        if !address.path.is_empty() {
            return Err(Error::config(format!(
                "`memory:` takes no name after the colon: `{}`; leave it out",
                address.path
            )));
        }
        let store = MemoryStore::with_env(context.env.clone());
        let store = match context.retries.attempts > 1 {
            true => store.with_complete_batches(),
            false => store,
        };
        Ok(Arc::new(match sweep {
            Some(period) => store.with_sweep_every(period),
            None => store,
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::env::{ManualClock, Timestamp};
    use crate::error::{ErrorKind, Retry};
    use crate::ops::*;
    use crate::{KeyType, item};

    /// Store that throttles its first operations; the path of its address is their number.
    #[derive(Debug)]
    struct Throttling {
        store: MemoryStore,
        left: AtomicU32,
    }

    macro_rules! throttled {
        ($self:ident, $method:ident, $request:ident) => {{
            let left = $self.left.load(Ordering::Relaxed);
            if left > 0 {
                $self.left.store(left - 1, Ordering::Relaxed);
                return Err(Error::new(ErrorKind::Throttled, "slow down"));
            }
            $self.store.$method($request).await
        }};
    }

    crate::wrap_store! {
        impl[] Store for Throttling, inner: store, call: throttled
    }

    struct ThrottlingOpener;

    #[async_trait]
    impl Opener for ThrottlingOpener {
        fn scheme(&self) -> &'static str {
            "throttling"
        }

        fn examples(&self) -> &'static [(&'static str, &'static str)] {
            &[("throttling:3", "a store that throttles three operations")]
        }

        async fn open(&self, address: Address, context: &OpenContext) -> Result<Arc<dyn Store>> {
            let left = address.path.parse().expect("a test gives a number");
            address.finish(&[])?;
            let store = MemoryStore::with_env(context.env.clone());
            Ok(Arc::new(Throttling { store, left: AtomicU32::new(left) }))
        }
    }

    fn test_env() -> Env {
        Env::test(ManualClock::new(Timestamp::from_secs(1_800_000_000)), 1)
    }

    fn throttling_registry() -> Registry {
        let mut registry = Registry::with_env(test_env());
        registry.register(ThrottlingOpener);
        registry
    }

    /// Opens the store and lists its tables.
    async fn list(registry: &Registry, address: &str) -> Result<ListTablesOutput> {
        registry.open(address).await.expect(address).list_tables(ListTables::default()).await
    }

    #[tokio::test]
    async fn opened_store_retries_throttling_under_the_default_policy() {
        let attempts = RetryPolicy::default().attempts;
        let registry = throttling_registry();
        list(&registry, &format!("throttling:{}", attempts - 1)).await.unwrap();
        let error = list(&registry, &format!("throttling:{attempts}")).await.unwrap_err();
        assert_eq!(error.retry(), Retry::Exhausted);
    }

    #[tokio::test]
    async fn retries_off_returns_the_first_error_with_its_own_advice() {
        let error = list(&throttling_registry(), "throttling:1?retries=off").await.unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::Throttled);
        assert_eq!(error.retry(), Retry::Later, "the caller may retry");
    }

    #[tokio::test]
    async fn address_overrides_the_policy_of_the_registry() {
        let once = throttling_registry().with_retries(RetryPolicy::none());
        assert!(list(&once, "throttling:1").await.is_err());
        list(&once, "throttling:1?retries=on").await.unwrap();
        let policy = RetryPolicy::default().with_attempts(2).with_env(test_env());
        let twice = throttling_registry().with_retries(policy);
        list(&twice, "throttling:1").await.unwrap();
        assert!(list(&twice, "throttling:2").await.is_err());
    }

    #[tokio::test]
    async fn option_retries_accepts_only_on_and_off() {
        let error = Registry::new().open("memory:?retries=5").await.unwrap_err();
        let text =
            "cannot open `memory:?retries=5`: the option `retries` is `on` or `off`, not `5`";
        assert_eq!(error.message(), text);
    }

    /// Opener of [`Throttling`] stores that claims to retry by itself.
    struct SelfRetryingOpener;

    #[async_trait]
    impl Opener for SelfRetryingOpener {
        fn scheme(&self) -> &'static str {
            "self-retrying"
        }

        fn examples(&self) -> &'static [(&'static str, &'static str)] {
            &[("self-retrying:3", "a store that throttles three operations")]
        }

        fn implements_retries(&self) -> bool {
            true
        }

        async fn open(&self, address: Address, context: &OpenContext) -> Result<Arc<dyn Store>> {
            ThrottlingOpener.open(address, context).await
        }
    }

    #[tokio::test]
    async fn store_of_an_opener_that_implements_retries_is_not_wrapped() {
        let mut registry = throttling_registry();
        registry.register(SelfRetryingOpener);
        list(&registry, "throttling:1").await.unwrap();
        let error = list(&registry, "self-retrying:1").await.unwrap_err();
        assert_eq!((error.kind(), error.retry()), (&ErrorKind::Throttled, Retry::Later));
    }

    #[tokio::test]
    async fn batch_read_over_16_mb_is_completed_unless_retries_are_off() {
        for (address, expected) in [("memory:", 45), ("memory:?retries=off", 41)] {
            let store = Registry::new().open(address).await.unwrap();
            let table = CreateTable::new("things").partition_key("pk", KeyType::N);
            store.create_table(table).await.unwrap();
            let text = "x".repeat(399 * 1024);
            for number in 0..45 {
                let item = item! { "pk" => number, "text" => text.as_str() };
                store.put(PutItem::new("things", item)).await.unwrap();
            }
            let keys = (0..45).map(|number| item! { "pk" => number });
            let request = BatchGetItem::new().keys("things", keys);
            let output = store.batch_get(request).await.unwrap();
            assert_eq!(output.responses["things"].len(), expected, "{address}");
            assert_eq!(output.unprocessed_keys.is_empty(), expected == 45, "{address}");
        }
    }

    #[tokio::test]
    async fn bad_address_error_lists_valid_addresses() {
        let registry = Registry::new();
        for (address, part) in
            [("mongo:x", "no store opens `mongo:` addresses"), ("nothing", "has no colon")]
        {
            let error = registry.open(address).await.expect_err(address);
            assert_eq!(error.kind(), &ErrorKind::Config);
            assert!(error.message().contains(part), "{error}");
            assert!(error.message().contains("  memory:  a store in memory"), "{error}");
        }
        for (address, part) in [
            (
                "memory:?durability=full",
                "unknown options of a `memory:` address (there are: sweep, retries)",
            ),
            ("memory:?sweep=soon", "a number of seconds, at least 1, or `off`, not `soon`"),
            ("memory:x.db", "leave it out"),
        ] {
            let error = registry.open(address).await.expect_err(address);
            assert!(error.message().contains(part), "{error}");
        }
    }
}
