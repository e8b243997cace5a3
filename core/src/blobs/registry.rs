//! Registry of the schemes of blobs.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use super::{Blobs, BlobsExt};
use crate::address::{Address, OpenContext, SchemeOpener, Schemes};
use crate::env::Env;
use crate::error::Result;
use crate::store::RetryPolicy;

/// Opens the blobs of one scheme. A backend implements it; a program registers it in a
/// [`BlobRegistry`].
#[async_trait]
pub trait BlobOpener: Send + Sync {
    /// Scheme of the addresses, without the colon.
    fn scheme(&self) -> &'static str;

    /// Example addresses for help texts, each with a description of what it opens.
    fn examples(&self) -> &'static [(&'static str, &'static str)];

    /// Opens the blobs at an address of this scheme.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Config`] for an invalid path or option, before anything is created; and
    /// the errors of the backend.
    async fn open(&self, address: Address, context: &OpenContext) -> Result<Arc<dyn Blobs>>;

    /// Whether the blobs of this opener never need retries, as those on a local disk.
    /// Default: no.
    fn implements_retries(&self) -> bool {
        false
    }
}

impl SchemeOpener for dyn BlobOpener {
    const OPENS: &'static str = "backend of blobs";

    fn scheme(&self) -> &'static str {
        BlobOpener::scheme(self)
    }

    fn examples(&self) -> &'static [(&'static str, &'static str)] {
        BlobOpener::examples(self)
    }
}

/// Address schemes of blobs that a program supports; opens blobs by their addresses.
///
/// Opened blobs retry throttling, unavailability and conflicts under [`RetryPolicy::default`]. The
/// option `?retries=off` of an address turns that off, and [`BlobRegistry::with_retries`] sets
/// another policy.
pub struct BlobRegistry {
    context: OpenContext,
    schemes: Schemes<dyn BlobOpener>,
}

impl BlobRegistry {
    /// Creates a registry without schemes, on the system clock and randomness.
    pub fn new() -> Self {
        Self::with_env(Env::system())
    }

    /// Creates a registry without schemes that opens blobs on this clock and randomness.
    pub fn with_env(env: Env) -> Self {
        Self { context: OpenContext::with_env(env), schemes: Schemes::default() }
    }

    /// Sets the retry policy of the blobs that it opens; [`RetryPolicy::none`] turns retries off.
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
    pub fn register(&mut self, opener: impl BlobOpener + 'static) -> &mut Self {
        self.schemes.add(Box::new(opener));
        self
    }

    /// Example addresses of all schemes, each with a description of what it opens.
    pub fn examples(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.schemes.examples()
    }

    /// Opens the blobs at this address.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Config`] for an invalid address, listing examples of valid ones; and the
    /// errors of the backend.
    pub async fn open(&self, address: &str) -> Result<Arc<dyn Blobs>> {
        let (opener, parsed, context) = self.schemes.find(address, &self.context)?;
        let blobs = opener
            .open(parsed, &context)
            .await
            .map_err(|error| Schemes::<dyn BlobOpener>::name_address(address, error))?;
        match opener.implements_retries() || context.retries.attempts <= 1 {
            true => Ok(blobs),
            false => Ok(Arc::new(blobs.with_retries(context.retries))),
        }
    }
}

impl Default for BlobRegistry {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for BlobRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlobRegistry").field("schemes", &self.schemes).finish_non_exhaustive()
    }
}
