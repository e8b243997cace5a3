//! Opening a store: the SDK's clients, and who answers at the other end.

use aws_config::retry::RetryConfig;
use aws_config::timeout::TimeoutConfig;
use aws_config::{AppName, BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::query::QueryError;
use aws_sdk_dynamodb::types::AttributeValue;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use tabla_core::{Error, Result};

use crate::alternator::{ISOLATION_SETTING, SETTINGS_TABLE, is_safe_default};
use crate::direct_read::DirectReadInterceptor;
use crate::error::{Access, from_sdk};
use crate::{DynamoConfig, DynamoStore, Engine};

/// The region for engines that have none.
const NO_REGION: &str = "us-east-1";
/// Signed with this, checked by no one. DynamoDB Local takes letters and digits only.
const NO_SECRET: &str = "tabla";

impl DynamoStore {
    /// Opens the service that `config` describes.
    ///
    /// AWS is not spoken to. An endpoint is asked once what it is, unless the engine is named; on
    /// Alternator the write isolation of the tables that are there is checked.
    ///
    /// # Errors
    /// A setting is wrong, no region is known, the endpoint cannot be reached, or a table on
    /// Alternator has another write isolation than `always_use_lwt`.
    pub async fn open(config: &DynamoConfig) -> Result<Self> {
        let sdk_config = sdk_config(config).await;
        if sdk_config.region().is_none() {
            return Err(Error::config(
                "no AWS region: name one in the address, in AWS_REGION or in the profile",
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
        if sdk_config.endpoint_url().is_some() {
            store.detect_engine(config.engine).await?;
        }
        Ok(store)
    }

    /// Finds out what answers at an endpoint, and whether it can be used.
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

    /// Asks for a setting of ScyllaDB's. Only Alternator has it; the others answer that there is
    /// no such table, DynamoDB Local names the Jetty server that it runs on, and tabla itself.
    async fn probe(&self) -> Result<ProbeResult> {
        let answer = self
            .client
            .query()
            .table_name(SETTINGS_TABLE)
            .key_condition_expression("#name = :name")
            .expression_attribute_names("#name", "name")
            .expression_attribute_values(":name", AttributeValue::S(ISOLATION_SETTING.to_owned()))
            .send()
            .await;
        match answer {
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

/// What a look at an endpoint has shown.
struct ProbeResult {
    engine: Engine,
    isolated_by_default: bool,
}

/// The `Server` header of an exception, empty if it has none; `None` if there was no answer.
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
        // Core's policy retries; two policies on top of each other would multiply.
        .retry_config(RetryConfig::disabled())
        .timeout_config(timeouts)
        .app_name(AppName::new("tabla").expect("letters make an application name"));
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
