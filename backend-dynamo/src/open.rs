//! Opening of a store: creation of the SDK's clients, and detection of the engine.
//!
//! Addresses are parsed in `opener`.

use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{AppName, BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::query::QueryError;
use aws_sdk_dynamodb::types::AttributeValue;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use tabla_core::{Error, ErrorKind, Result};

use crate::alternator::{ISOLATION_SETTING, SETTINGS_TABLE, is_safe_default};
use crate::direct_read::DirectReadInterceptor;
use crate::error::{Access, from_sdk};
use crate::{DynamoConfig, DynamoStore, Engine};

/// Region in signatures for an endpoint, unless the configuration names one.
const NO_REGION: &str = "us-east-1";
/// Key id and secret for an endpoint, which does not check them. DynamoDB Local accepts only
/// letters and digits.
const NO_SECRET: &str = "tabla";

impl DynamoStore {
    /// Opens a store on the service that `config` describes.
    ///
    /// For AWS, no request is sent. An endpoint gets one request that detects the engine, unless
    /// `config` names it. On Alternator, the write isolation of every table is checked.
    ///
    /// # Errors
    /// A setting is invalid, no region is set, the endpoint cannot be reached, or a table on
    /// Alternator has another write isolation than `always_use_lwt`.
    pub async fn open(config: &DynamoConfig) -> Result<Self> {
        let sdk_config = sdk_config(config).await;
        if sdk_config.region().is_none() {
            return Err(Error::config(
                "no AWS region is set: name one in the address (`?region=eu-west-1`), in AWS_REGION \
                 or in the profile",
            ));
        }
        let client_config = aws_sdk_dynamodb::config::Builder::from(&sdk_config)
            .interceptor(DirectReadInterceptor)
            .build();
        let mut store = Self::from_client(
            aws_sdk_dynamodb::Client::from_conf(client_config),
            aws_sdk_dynamodbstreams::Client::new(&sdk_config),
            config,
        )?;
        if let Some(endpoint) = sdk_config.endpoint_url() {
            let detected = store.detect_engine(config.engine).await;
            detected.map_err(|error| with_endpoint(error, endpoint))?;
        }
        Ok(store)
    }

    /// Detects the engine of an endpoint unless it is named. Checks Alternator's write isolation.
    pub(crate) async fn detect_engine(&mut self, named: Option<Engine>) -> Result<()> {
        if named.is_some_and(|engine| engine != Engine::Alternator) {
            return Ok(());
        }
        let seen = self.probe().await?;
        self.engine = named.unwrap_or(seen.engine);
        match self.engine {
            Engine::Alternator => self.check_isolation(seen.isolated_by_default).await,
            _ => Ok(()),
        }
    }

    /// Reads a setting from a system table of ScyllaDB, and returns the engine.
    ///
    /// Only Alternator has the table. The others return an error, whose header `Server` identifies
    /// DynamoDB Local (`Jetty…`) and tabla (`tabla`).
    async fn probe(&self) -> Result<ProbeResult> {
        let response = self
            .client
            .query()
            .table_name(SETTINGS_TABLE)
            .key_condition_expression("#name = :name")
            .expression_attribute_names("#name", "name")
            .expression_attribute_values(":name", AttributeValue::S(ISOLATION_SETTING.to_owned()))
            .send()
            .await;
        match response {
            Ok(output) => {
                let value = output.items().first().and_then(|item| item.get("value"));
                let value = value.and_then(|value| value.as_s().ok());
                Ok(ProbeResult {
                    engine: Engine::Alternator,
                    isolated_by_default: value.is_some_and(|value| is_safe_default(value)),
                })
            }
            Err(error) => match server(&error) {
                Some(server) => {
                    let engine = match server {
                        server if server.starts_with("Jetty") => Engine::Local,
                        "tabla" => Engine::Tabla,
                        _ => Engine::DynamoDb,
                    };
                    Ok(ProbeResult { engine, isolated_by_default: false })
                }
                None => Err(from_sdk(Access::Read, error)),
            },
        }
    }
}

/// Result of [`DynamoStore::probe`].
struct ProbeResult {
    engine: Engine,
    /// Whether Alternator's default write isolation is safe for conditional writes.
    isolated_by_default: bool,
}

/// Adds the endpoint and a remedy to the error of an endpoint that could not be used.
///
/// A configuration error is unchanged: it has its remedy, and the registry adds the address.
fn with_endpoint(error: Error, endpoint: &str) -> Error {
    if *error.kind() == ErrorKind::Config {
        return error;
    }
    let message = format!(
        "cannot open `{endpoint}`: {}; check that a server with DynamoDB's protocol listens there",
        error.message()
    );
    error.with_message(message)
}

/// Returns the header `Server` of an error response, or an empty text; `None` without a response.
fn server(error: &SdkError<QueryError, HttpResponse>) -> Option<&str> {
    match error {
        SdkError::ServiceError(failure) => {
            Some(failure.raw().headers().get("server").unwrap_or_default())
        }
        _ => None,
    }
}

async fn sdk_config(config: &DynamoConfig) -> SdkConfig {
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(config.connect_timeout)
        .read_timeout(config.read_timeout)
        .operation_timeout(config.operation_timeout)
        .build();
    let mut loader = aws_config::defaults(BehaviorVersion::latest())
        // Core's policy retries. Two policies would multiply their attempts.
        .retry_config(RetryConfig::disabled())
        .timeout_config(timeouts)
        .app_name(AppName::new("tabla").expect("letters are valid in an application name"));
    if let Some(region) = &config.region {
        loader = loader.region(Region::new(region.clone()));
    } else if config.endpoint.is_some() && config.profile.is_none() {
        loader = loader.region(Region::new(NO_REGION));
    }
    if let Some(profile) = &config.profile {
        loader = loader.profile_name(profile);
    }
    if let Some(endpoint) = &config.endpoint {
        loader = loader.endpoint_url(endpoint);
        if config.profile.is_none() {
            loader = loader
                .credentials_provider(Credentials::new(NO_SECRET, NO_SECRET, None, None, "tabla"));
        }
    }
    loader.load().await
}
