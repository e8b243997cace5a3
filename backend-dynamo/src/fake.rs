//! Fake HTTP service for tests: returns scripted responses and records requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use aws_credential_types::Credentials;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Region};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;

use crate::{DynamoConfig, DynamoStore};

/// Scripted response to one request.
pub(crate) enum FakeResponse {
    /// Status and body.
    Body(u16, String),
    /// Header `Server`, status and body.
    From(&'static str, u16, String),
    /// Failure of the connection.
    Fails(fn() -> ConnectorError),
    /// No response, ever.
    Silence,
}

/// Fake service. Clones share its script and its record.
#[derive(Clone)]
pub(crate) struct FakeService(Arc<Mutex<State>>);

struct State {
    responses: VecDeque<FakeResponse>,
    requests: Vec<Request>,
}

/// Recorded request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) operation: String,
    pub(crate) body: serde_json::Value,
}

impl FakeService {
    pub(crate) fn new(responses: impl IntoIterator<Item = FakeResponse>) -> Self {
        let responses = responses.into_iter().collect();
        Self(Arc::new(Mutex::new(State { responses, requests: Vec::new() })))
    }

    /// Returns a service that responds to one request with this exception.
    pub(crate) fn exception(status: u16, code: &str, message: &str) -> Self {
        let body = serde_json::json!({
            "__type": format!("com.amazonaws.dynamodb.v20120810#{code}"),
            "message": message,
        });
        Self::new([FakeResponse::Body(status, body.to_string())])
    }

    /// Returns a store on this service.
    pub(crate) fn store(&self, config: &DynamoConfig) -> DynamoStore {
        let credentials = Credentials::new("a", "b", None, None, "fake");
        let timeouts = aws_sdk_dynamodb::config::timeout::TimeoutConfig::builder()
            .operation_timeout(config.operation_timeout)
            .build();
        let client = aws_sdk_dynamodb::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .credentials_provider(credentials.clone())
            .retry_config(RetryConfig::disabled())
            .timeout_config(timeouts)
            .http_client(self.clone())
            .build();
        let streams = aws_sdk_dynamodbstreams::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .credentials_provider(credentials)
            .retry_config(RetryConfig::disabled())
            .http_client(self.clone())
            .build();
        DynamoStore::from_client(
            aws_sdk_dynamodb::Client::from_conf(client),
            aws_sdk_dynamodbstreams::Client::from_conf(streams),
            config,
        )
        .unwrap()
    }

    /// Returns the requests so far, in order.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.0.lock().unwrap().requests.clone()
    }
}

impl std::fmt::Debug for FakeService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fake")
    }
}

impl HttpClient for FakeService {
    fn http_connector(
        &self,
        _settings: &HttpConnectorSettings,
        _components: &RuntimeComponents,
    ) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for FakeService {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let target = request.headers().get("x-amz-target").unwrap_or_default();
        let body = request.body().bytes().unwrap_or_default();
        let asked = Request {
            operation: target.rsplit('.').next().unwrap_or_default().to_owned(),
            body: serde_json::from_slice(body).unwrap(),
        };
        let mut state = self.0.lock().unwrap();
        state.requests.push(asked);
        match state.responses.pop_front().expect("the test scripts a response for every request") {
            FakeResponse::Body(status, body) => {
                HttpConnectorFuture::ready(Ok(response(status, body)))
            }
            FakeResponse::From(server, status, body) => {
                let mut response = response(status, body);
                response.headers_mut().insert("server", server);
                HttpConnectorFuture::ready(Ok(response))
            }
            FakeResponse::Fails(error) => HttpConnectorFuture::ready(Err(error())),
            FakeResponse::Silence => HttpConnectorFuture::new(std::future::pending()),
        }
    }
}

fn response(status: u16, body: String) -> HttpResponse {
    let mut response =
        HttpResponse::new(StatusCode::try_from(status).unwrap(), SdkBody::from(body));
    response.headers_mut().insert("x-amzn-requestid", "REQUEST-1");
    response.headers_mut().insert("content-type", "application/x-amz-json-1.0");
    response
}
