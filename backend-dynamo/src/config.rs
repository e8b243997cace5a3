//! Where the service is, and how to talk to it.

use std::time::Duration;

use crate::Engine;

/// The settings of a [`DynamoStore`](crate::DynamoStore): plain data, no secrets.
///
/// ```
/// use std::time::Duration;
/// use tabla_dynamo::{DynamoConfig, Engine};
///
/// let config = DynamoConfig::at("http://127.0.0.1:8000")
///     .with_engine(Engine::Local)
///     .with_table_prefix("dev-")
///     .with_operation_timeout(Duration::from_secs(5));
/// assert_eq!(config.table_prefix, "dev-");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DynamoConfig {
    /// The URL of the service. Without one, the SDK finds AWS's by the region.
    ///
    /// With one and without a [profile](Self::profile), requests are signed with credentials that
    /// no one checks, in the region `us-east-1` unless another is given.
    pub endpoint: Option<String>,
    /// The region. Without one, the SDK's own chain decides.
    pub region: Option<String>,
    /// The profile of the AWS configuration files to take credentials and region from. Without
    /// one, the SDK's own chain decides.
    pub profile: Option<String>,
    /// What stands before every table name on the service: one account, many environments.
    pub table_prefix: String,
    /// What answers. Without this, an [endpoint](Self::endpoint) is asked at opening, and AWS is
    /// taken to be itself.
    pub engine: Option<Engine>,
    /// How long to wait for a connection.
    pub connect_timeout: Duration,
    /// How long to wait for the first byte of an answer.
    pub read_timeout: Duration,
    /// How long a call may take as a whole, finding credentials included.
    pub operation_timeout: Duration,
    /// How long to wait until a table is created, changed or gone. Filling an index of a large
    /// table may take DynamoDB hours.
    pub table_wait_limit: Duration,
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
            table_wait_limit: Duration::from_secs(600),
        }
    }
}

impl DynamoConfig {
    /// AWS, with the credentials and the region of the SDK's own chain.
    pub fn new() -> Self {
        Self::default()
    }

    /// The service at this URL.
    pub fn for_endpoint(endpoint: impl Into<String>) -> Self {
        Self { endpoint: Some(endpoint.into()), ..Self::default() }
    }

    /// In this region.
    #[must_use]
    pub fn with_region(mut self, region: impl Into<String>) -> Self {
        self.region = Some(region.into());
        self
    }

    /// With the credentials and the region of this profile.
    #[must_use]
    pub fn with_profile(mut self, profile: impl Into<String>) -> Self {
        self.profile = Some(profile.into());
        self
    }

    /// With this before every table name.
    #[must_use]
    pub fn with_table_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.table_prefix = prefix.into();
        self
    }

    /// With this engine at the other end.
    #[must_use]
    pub fn with_engine(mut self, engine: Engine) -> Self {
        self.engine = Some(engine);
        self
    }

    /// With this limit on a connection's making.
    #[must_use]
    pub fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// With this limit on the wait for an answer's first byte.
    #[must_use]
    pub fn with_read_timeout(mut self, timeout: Duration) -> Self {
        self.read_timeout = timeout;
        self
    }

    /// With this limit on a whole call.
    #[must_use]
    pub fn with_operation_timeout(mut self, timeout: Duration) -> Self {
        self.operation_timeout = timeout;
        self
    }

    /// With this limit on the wait for a table.
    #[must_use]
    pub fn with_table_wait_limit(mut self, limit: Duration) -> Self {
        self.table_wait_limit = limit;
        self
    }
}
