//! Files in the demo: an upload and a download through presigned URLs, by a plain HTTP client.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tabla::blobs::{Blobs, Checksum, ChecksumAlgorithm, PresignGet, PresignPut, PresignedRequest};
use tabla::s3::FileFolder;
use tabla::s3::gateway::{self, GatewayConfig};
use tabla::{Error, ErrorKind, Result};
use tokio::net::TcpStream;

use crate::output::print_line;
use crate::table::Table;

const KEY: &str = "logos/tabla.svg";
const CONTENT_TYPE: &str = "image/svg+xml";
const CONTENT: &[u8] = br##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 3 3"><path fill="#246" d="M0 0h3v1H2v2H1V1H0z"/></svg>"##;
const EXPIRY: Duration = Duration::from_secs(300);

/// Uploads a file, refuses an upload of other bytes, downloads the file, and prints each request.
pub(super) async fn show(folder: &Path) -> Result<()> {
    let folder = FileFolder::open(folder.join("assets")).await?;
    let gateway = gateway::spawn(Arc::new(folder.clone()), GatewayConfig::new()).await?;
    let files = folder.with_public(gateway.url()).blobs("default")?;
    let presign = files.presign().ok_or_else(|| unexpected("the files have no presigned URLs"))?;
    print_line!("files: a folder beside the tables, and presigned URLs at {}\n", gateway.url());
    let upload = PresignPut::new(KEY, EXPIRY)
        .content_type(CONTENT_TYPE)
        .length(Some(CONTENT.len() as u64))
        .checksum(Some(Checksum::of(ChecksumAlgorithm::Sha256, CONTENT)));
    let upload = presign.presign_put(upload).await?;
    let download = presign.presign_get(PresignGet::new(KEY, EXPIRY)).await?;
    let mut other = CONTENT.to_vec();
    other.reverse();
    let mut table = Table::new(["request", "status", ""], [22, 6, 60], 0);
    for (request, body, expected, note) in [
        (&upload, other, StatusCode::BAD_REQUEST, "other bytes of the same length: refused"),
        (&upload, CONTENT.to_vec(), StatusCode::OK, "type, length and SHA-256 are signed"),
        (&download, Vec::new(), StatusCode::OK, "the same bytes"),
    ] {
        let (status, response) = send(request, body).await?;
        if status != expected || request.method == "GET" && response != CONTENT {
            let text = String::from_utf8_lossy(&response);
            return Err(unexpected(&format!("{} {KEY} returned {status}: {text}", request.method)));
        }
        table.row([
            &format!("{} {KEY}", request.method),
            status.as_str(),
            &format!("{} bytes, {note}", CONTENT.len()),
        ]);
    }
    print_line!("{table}");
    gateway.shutdown().await;
    Ok(())
}

/// Sends a presigned request as it is, on a connection of its own.
async fn send(request: &PresignedRequest, body: Vec<u8>) -> Result<(StatusCode, Bytes)> {
    let uri: Uri = request.url.parse().map_err(|_| unexpected("a presigned URL is malformed"))?;
    let host = uri.authority().map(ToString::to_string).unwrap_or_default();
    let stream = TcpStream::connect(&host).await.map_err(failed)?;
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other).map_err(failed)?;
    let connection = tokio::spawn(connection);
    let mut http = Request::builder().method(request.method).uri(uri).header("host", host);
    for (name, value) in &request.headers {
        http = http.header(name, value);
    }
    let http = http.body(Full::new(Bytes::from(body))).map_err(io::Error::other).map_err(failed)?;
    let response = sender.send_request(http).await.map_err(io::Error::other).map_err(failed)?;
    let status = response.status();
    let body = response.into_body().collect().await.map_err(io::Error::other).map_err(failed)?;
    connection.abort();
    Ok((status, body.to_bytes()))
}

fn failed(error: io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("cannot send a request to the gateway: {error}"))
        .with_source(error)
}

fn unexpected(message: &str) -> Error {
    Error::new(ErrorKind::Unexpected, message)
}
