//! A gateway on buckets in memory, a client of the AWS SDK, and a plain HTTP client.

use std::sync::Arc;
use std::time::Duration;

use aws_sdk_s3::Client;
use aws_sdk_s3::config::retry::RetryConfig;
use aws_sdk_s3::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use tabla_core::env::{Clock, Env, ManualClock, SystemClock, Timestamp};
use tabla_s3::gateway::{self, GatewayConfig};
use tabla_s3::{Buckets, MemoryBuckets};
use tabla_server::Server;
use tabla_server::listener::ListenerConfig;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) use crate::plain::Plain;

/// Bucket that exists from the start.
pub(crate) const BUCKET: &str = "default";

/// Running gateway.
pub(crate) struct Gateway {
    pub(crate) server: Server,
    pub(crate) buckets: Arc<dyn Buckets>,
    /// Clock of the gateway: the time of the machine at its start.
    pub(crate) clock: ManualClock,
    pub(crate) client: Client,
}

impl Gateway {
    pub(crate) async fn start() -> Self {
        Self::with(|config| config, None).await
    }

    pub(crate) async fn with_origin(origin: &str) -> Self {
        Self::with(|config| config.with_origin(origin), None).await
    }

    pub(crate) async fn with(
        configure: impl FnOnce(ListenerConfig) -> ListenerConfig,
        buckets: Option<Arc<dyn Buckets>>,
    ) -> Self {
        let clock = ManualClock::new(Timestamp::from_secs(SystemClock.now().as_secs()));
        let env = Env::test(clock.clone(), 1);
        let buckets =
            buckets.unwrap_or_else(|| Arc::new(MemoryBuckets::with_env(env.clone())) as _);
        let listener = configure(ListenerConfig::new().with_env(env));
        let config = GatewayConfig::new().with_listener(listener);
        let server = gateway::spawn(Arc::clone(&buckets), config).await.unwrap();
        let key = buckets.signing_key();
        let client = client(&server.url(), key.id(), key.secret());
        Self { server, buckets, clock, client }
    }

    /// Sends a request as it is, and reads the response.
    pub(crate) async fn send(&self, request: &Plain) -> Answer {
        self.try_send(request).await.expect("the gateway responds")
    }

    pub(crate) async fn try_send(&self, request: &Plain) -> std::io::Result<Answer> {
        let mut socket = TcpStream::connect(self.server.address()).await?;
        socket.write_all(&request.bytes()).await?;
        let mut received = Vec::new();
        socket.read_to_end(&mut received).await?;
        Ok(Answer::parse(&received))
    }

    /// Keys of the objects of a bucket.
    pub(crate) async fn keys(&self) -> Vec<String> {
        let list = self.client.list_objects_v2().bucket(BUCKET).send().await.unwrap();
        list.contents().iter().filter_map(|object| object.key().map(str::to_owned)).collect()
    }

    /// Time of the gateway's clock in the format of signatures.
    pub(crate) fn amz_time(&self) -> String {
        let seconds = i64::try_from(Clock::now(&self.clock).as_secs()).unwrap();
        let time = time::OffsetDateTime::from_unix_timestamp(seconds).unwrap();
        let (hour, minute, second) = time.to_hms();
        let (year, month, day) = time.to_calendar_date();
        format!("{year:04}{:02}{day:02}T{hour:02}{minute:02}{second:02}Z", u8::from(month))
    }

    /// Value of the header `Host` for this gateway.
    pub(crate) fn host(&self) -> String {
        self.server.address().to_string()
    }
}

pub(crate) fn client(url: &str, id: &str, secret: &str) -> Client {
    let config = aws_sdk_s3::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("eu-central-1"))
        .endpoint_url(url)
        .force_path_style(true)
        .credentials_provider(Credentials::new(id, secret, None, None, "test"))
        .retry_config(RetryConfig::disabled())
        .build();
    Client::from_conf(config)
}

/// S3's code of an error of the SDK, or the status of a response without one.
pub(crate) fn code<T: std::fmt::Debug, E: ProvideErrorMetadata>(
    result: Result<T, SdkError<E>>,
) -> String {
    match result {
        Ok(output) => panic!("not refused: {output:?}"),
        Err(error) => match error.code() {
            Some(code) => code.to_owned(),
            None => match error.raw_response() {
                Some(response) => response.status().to_string(),
                None => panic!("no response"),
            },
        },
    }
}

impl From<aws_sdk_s3::presigning::PresignedRequest> for Plain {
    fn from(request: aws_sdk_s3::presigning::PresignedRequest) -> Self {
        let mut plain = Self::new(request.method(), request.uri());
        for (name, value) in request.headers().filter(|(name, _)| *name != "host") {
            plain = plain.header(name, value);
        }
        plain
    }
}

/// HTTP response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n").unwrap_or_else(|| {
            panic!("no HTTP response: {:?}", String::from_utf8_lossy(bytes));
        });
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let headers = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        Self { status, headers, body: bytes[end + 4..].to_vec() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Text of an element of the XML; empty if there is none.
    pub(crate) fn element(&self, name: &str) -> String {
        let text = self.text();
        let start = text.split_once(&format!("<{name}>")).map(|(_, rest)| rest.to_owned());
        start
            .and_then(|rest| {
                rest.split_once(&format!("</{name}>")).map(|(text, _)| text.to_owned())
            })
            .unwrap_or_default()
    }

    /// S3's code; the status if there is none.
    pub(crate) fn code(&self) -> String {
        match self.element("Code") {
            code if code.is_empty() => self.status.to_string(),
            code => code,
        }
    }
}

/// Waits until a condition holds, at most 10 s.
pub(crate) async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    for _ in 0..1000 {
        if holds().await {
            return;
        }
        SystemClock.sleep(Duration::from_millis(10)).await;
    }
    panic!("not within 10 s: {what}");
}
