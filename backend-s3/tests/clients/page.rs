//! Server of the test page: the page itself, and the presigned URLs that it asks for.
//!
//! It is the part of an app that has the blobs. The page sends its requests for presigned URLs here,
//! and the bytes to the gateway.

use std::sync::Arc;
use std::time::Duration;

use http::{Method, Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tabla_core::Result;
use tabla_core::blobs::{Blobs, Checksum, ChecksumAlgorithm, PresignGet, PresignPut};
use tabla_server::Server;
use tabla_server::listener::{
    Authentication, Listener, ListenerConfig, Protocol, RequestBody, ResponseBody,
};

/// Validity of the presigned URLs.
const EXPIRY: Duration = Duration::from_secs(60);

/// Bound address of the page's server.
pub(crate) struct Page(Listener);

impl Page {
    pub(crate) async fn bind() -> Self {
        Self(ListenerConfig::new().bind(Authentication::None).await.expect("a free port"))
    }

    /// Origin that the gateway is configured with.
    pub(crate) fn origin(&self) -> String {
        format!("http://localhost:{}", self.0.address().port())
    }

    /// Origin of the same page at an address that the gateway is not configured with.
    pub(crate) fn other_origin(&self) -> String {
        format!("http://{}", self.0.address())
    }

    /// Starts the server, which signs URLs with these blobs.
    pub(crate) fn serve(self, blobs: Arc<dyn Blobs>) -> Server {
        self.0.serve(App(blobs))
    }
}

#[derive(Clone)]
struct App(Arc<dyn Blobs>);

impl Protocol for App {
    async fn respond(&self, request: Request<RequestBody>) -> Response<ResponseBody> {
        let (head, body) = request.into_parts();
        let (kind, text) = match (&head.method, head.uri.path()) {
            (&Method::GET, "/") => ("text/html", include_str!("browser/page.html").to_owned()),
            (&Method::POST, path) => {
                let bytes = body.collect().await.expect("the page sends its request").to_bytes();
                let wanted = serde_json::from_slice(&bytes).expect("the request is JSON");
                let signed = self.sign(path, &wanted).await.expect("the URL is signed");
                ("application/json", signed.to_string())
            }
            _ => ("text/plain", String::new()),
        };
        let status = if text.is_empty() { StatusCode::NOT_FOUND } else { StatusCode::OK };
        Response::builder()
            .status(status)
            .header(header::CONTENT_TYPE, kind)
            .body(ResponseBody::new(text))
            .expect("the response is valid")
    }
}

impl App {
    /// Signs an upload with exactly this type, length and content, or a download.
    async fn sign(&self, path: &str, wanted: &Value) -> Result<Value> {
        let text = |name: &str| wanted[name].as_str().expect(name);
        let presign = self.0.presign().expect("`file:` signs URLs");
        let signed = match path {
            "/uploads" => {
                let sha256 = Checksum::decode(ChecksumAlgorithm::Sha256, text("sha256"))?;
                let put = PresignPut::new(text("key"), EXPIRY)
                    .content_type(text("type"))
                    .length(wanted["length"].as_u64())
                    .checksum(Some(sha256));
                presign.presign_put(put).await?
            }
            _ => presign.presign_get(PresignGet::new(text("key"), EXPIRY)).await?,
        };
        let headers: serde_json::Map<String, Value> =
            signed.headers.into_iter().map(|(name, value)| (name, value.into())).collect();
        Ok(json!({ "method": signed.method, "url": signed.url, "headers": headers }))
    }
}
