//! Settings of a store: endpoint, credentials, table prefix and time-outs.
//!
//! Addresses are parsed in `opener`.

use std::time::Duration;

use crate::Engine;

/// Settings of a [`DynamoStore`](crate::DynamoStore). They contain no secrets.
///
/// ```
/// use std::time::Duration;
/// use tabla_dynamo::{DynamoConfig, Engine};
///
/// let config = DynamoConfig::for_endpoint("http://127.0.0.1:8000")
///     .with_engine(Engine::Local)
///     .with_table_prefix("dev-")
///     .with_operation_timeout(Duration::from_secs(5));
/// assert_eq!(config.table_prefix, "dev-");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DynamoConfig {
    /// URL of the service. Default: AWS's own endpoint of the region.
    ///
    /// With an endpoint and without a [profile](Self::profile), requests are signed with fixed
    /// credentials (`tabla`, `tabla`), in the region `us-east-1` unless another is set.
    pub endpoint: Option<String>,
    /// AWS region. Default: from the SDK's region chain (`AWS_REGION`, profile, instance metadata).
    pub region: Option<String>,
    /// Profile of the AWS configuration files. Default: the SDK's chain, such as `AWS_PROFILE`.
    pub profile: Option<String>,
    /// Prefix of every table name on the service, such as `dev-`. Default: empty.
    pub table_prefix: String,
    /// Engine of the service. Default: detected by one request for an [endpoint](Self::endpoint),
    /// and [`Engine::DynamoDb`] for AWS.
    pub engine: Option<Engine>,
    /// Time limit for a connection. Default: 3 s.
    pub connect_timeout: Duration,
    /// Time limit for the first byte of a response. Default: 10 s.
    pub read_timeout: Duration,
    /// Time limit for a call as a whole, including the search for credentials. Default: 15 s.
    pub operation_timeout: Duration,
    /// Time limit for the creation, change or deletion of a table. Default: 600 s.
    ///
    /// At the limit the operation fails with [`Applied::Maybe`](tabla_core::Applied::Maybe), and
    /// the service continues. DynamoDB may need hours to backfill an index of a large table.
    pub table_timeout: Duration,
}

impl Default for DynamoConfig {
    fn default() -> Self {
        Self {
            endpoint: None,
            region: None,
            profile: None,
            table_prefix: String::new(),
            engine: None,
            connect_timeout: Duration::from_secs(3),
            read_timeout: Duration::from_secs(10),
            operation_timeout: Duration::from_secs(15),
            table_timeout: Duration::from_secs(600),
        }
    }
}

impl DynamoConfig {
    /// Returns settings for AWS, with credentials and region from the SDK's chain.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns settings for the service at this URL.
    pub fn for_endpoint(endpoint: impl Into<String>) -> Self {
        Self { endpoint: Some(endpoint.into()), ..Self::default() }
    }

    /// Sets the [region](Self::region).
    #[must_use]
    pub fn with_region(mut self, region: impl Into<String>) -> Self {
        self.region = Some(region.into());
        self
    }

    /// Sets the [profile](Self::profile) for credentials and region.
    #[must_use]
    pub fn with_profile(mut self, profile: impl Into<String>) -> Self {
        self.profile = Some(profile.into());
        self
    }

    /// Sets the [prefix](Self::table_prefix) of every table name.
    #[must_use]
    pub fn with_table_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.table_prefix = prefix.into();
        self
    }

    /// Sets the [engine](Self::engine), so that opening sends no request to detect it.
    #[must_use]
    pub fn with_engine(mut self, engine: Engine) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Sets the [time limit for a connection](Self::connect_timeout).
    #[must_use]
    pub fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets the [time limit for the first byte of a response](Self::read_timeout).
    #[must_use]
    pub fn with_read_timeout(mut self, timeout: Duration) -> Self {
        self.read_timeout = timeout;
        self
    }

    /// Sets the [time limit for a whole call](Self::operation_timeout).
    #[must_use]
    pub fn with_operation_timeout(mut self, timeout: Duration) -> Self {
        self.operation_timeout = timeout;
        self
    }

    /// Sets the [time limit for changes of tables](Self::table_timeout).
    #[must_use]
    pub fn with_table_timeout(mut self, limit: Duration) -> Self {
        self.table_timeout = limit;
        self
    }
}
