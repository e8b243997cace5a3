//! Clients of the AWS SDK whose HTTP layer is the service, without a socket.
//!
//! The protocol is in `service`.

use std::sync::Arc;

use aws_credential_types::Credentials;
use aws_sdk_dynamodb::config::{BehaviorVersion, Region};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use http_body_util::BodyExt;
use tabla_core::Store;

use crate::service::Service;

/// Endpoint of clients without a socket. The reserved domain `.invalid` never resolves.
const ENDPOINT: &str = "http://tabla.invalid";

/// Returns a client of the AWS SDK for a store. Its HTTP layer is the service in this process.
pub fn sdk_client(store: Arc<dyn Store>) -> aws_sdk_dynamodb::Client {
    aws_sdk_dynamodb::Client::from_conf(sdk_config(&Service::new(store)).build())
}

/// Returns a client of the AWS SDK for the streams of a store. To read what an [`sdk_client`]
/// writes, create both from one [`Store`].
pub fn sdk_streams_client(store: Arc<dyn Store>) -> aws_sdk_dynamodbstreams::Client {
    let config = aws_sdk_dynamodbstreams::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("local"))
        .credentials_provider(credentials())
        .endpoint_url(ENDPOINT)
        .http_client(InProcess(Service::new(store)));
    aws_sdk_dynamodbstreams::Client::from_conf(config.build())
}

/// Returns the configuration of a client for a service, so that its options can be changed first.
pub fn sdk_config(service: &Service) -> aws_sdk_dynamodb::config::Builder {
    aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::from_static("local"))
        .credentials_provider(credentials())
        .endpoint_url(ENDPOINT)
        .http_client(InProcess(service.clone()))
}

fn credentials() -> Credentials {
    Credentials::from_keys("local", "local", None)
}

/// HTTP client that passes every request to the service.
#[derive(Clone, Debug)]
struct InProcess(Service);

impl HttpClient for InProcess {
    fn http_connector(
        &self,
        _settings: &HttpConnectorSettings,
        _components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for InProcess {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let service = self.0.clone();
        HttpConnectorFuture::new(async move {
            let request =
                request.try_into_http1x().map_err(|error| ConnectorError::user(error.into()))?;
            let (parts, body) = request.into_parts();
            let body = match body.bytes() {
                Some(bytes) => Bytes::copy_from_slice(bytes),
                None => body.collect().await.map_err(ConnectorError::io)?.to_bytes(),
            };
            let response = service.call_in_process(http::Request::from_parts(parts, body)).await;
            HttpResponse::try_from(response.map(SdkBody::from))
                .map_err(|error| ConnectorError::other(error.into(), None))
        })
    }
}
