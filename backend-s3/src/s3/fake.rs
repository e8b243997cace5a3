//! Fake HTTP service for tests: returns scripted responses and records requests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use aws_credential_types::Credentials;
use aws_sdk_s3::config::retry::RetryConfig;
use aws_sdk_s3::config::{
    BehaviorVersion, Region, RequestChecksumCalculation, ResponseChecksumValidation,
};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_runtime_api::http::StatusCode;
use aws_smithy_types::body::SdkBody;

use super::{S3Blobs, S3Config};

/// Scripted response to one request.
pub(super) enum FakeResponse {
    /// Status, headers and body.
    Answer(u16, Vec<(&'static str, String)>, String),
    /// Failure of the connection.
    Fails(fn() -> ConnectorError),
    /// No response, ever.
    Silence,
}

impl FakeResponse {
    /// Error of S3 with this code.
    pub(super) fn error(status: u16, code: &str) -> Self {
        Self::Answer(
            status,
            Vec::new(),
            format!("<Error><Code>{code}</Code><Message>as it is.</Message></Error>"),
        )
    }

    /// Response without headers.
    pub(super) fn body(status: u16, body: &str) -> Self {
        Self::Answer(status, Vec::new(), body.to_owned())
    }
}

/// Fake service. Clones share its script and its record.
#[derive(Clone)]
pub(super) struct FakeService(Arc<Mutex<State>>);

struct State {
    answers: VecDeque<FakeResponse>,
    requests: Vec<Request>,
}

/// Recorded request.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) uri: String,
    pub(super) headers: Vec<(String, String)>,
}

impl Request {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

impl FakeService {
    pub(super) fn new(answers: impl IntoIterator<Item = FakeResponse>) -> Self {
        let answers = answers.into_iter().collect();
        Self(Arc::new(Mutex::new(State { answers, requests: Vec::new() })))
    }

    /// Returns blobs on this service, in the bucket `assets`.
    pub(super) fn blobs(&self) -> S3Blobs {
        self.blobs_with(&S3Config::new("assets"))
    }

    pub(super) fn blobs_with(&self, config: &S3Config) -> S3Blobs {
        let timeouts = aws_sdk_s3::config::timeout::TimeoutConfig::builder()
            .operation_timeout(config.operation_timeout)
            .build();
        let client = aws_sdk_s3::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("us-east-1"))
            .endpoint_url("http://127.0.0.1:1")
            .force_path_style(true)
            .credentials_provider(Credentials::new("a", "b", None, None, "fake"))
            .retry_config(RetryConfig::disabled())
            .timeout_config(timeouts)
            .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
            .response_checksum_validation(ResponseChecksumValidation::WhenRequired)
            .http_client(self.clone())
            .build();
        S3Blobs::from_client(aws_sdk_s3::Client::from_conf(client), config).unwrap()
    }

    /// Returns the requests so far, in order.
    pub(super) fn requests(&self) -> Vec<Request> {
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
        let headers = request.headers().iter();
        let asked = Request {
            method: request.method().to_owned(),
            uri: request.uri().to_owned(),
            headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        };
        let mut state = self.0.lock().unwrap();
        state.requests.push(asked);
        match state.answers.pop_front().expect("the test scripts a response for every request") {
            FakeResponse::Answer(status, headers, body) => {
                let status = StatusCode::try_from(status).unwrap();
                let mut response = HttpResponse::new(status, SdkBody::from(body));
                response.headers_mut().insert("x-amz-request-id", "REQUEST-1");
                for (name, value) in headers {
                    response.headers_mut().insert(name, value);
                }
                HttpConnectorFuture::ready(Ok(response))
            }
            FakeResponse::Fails(error) => HttpConnectorFuture::ready(Err(error())),
            FakeResponse::Silence => HttpConnectorFuture::new(std::future::pending()),
        }
    }
}
