//! Refusals of requests whose bodies nobody reads, for clients that send everything before they read.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::signer::Signer;
use crate::support::{Answer, BUCKET, Gateway, Plain};

const LARGE: usize = 64 << 20;

/// Sends a head and 64 MB, and only then reads the response.
async fn send_then_read(gateway: &Gateway, head: &Plain, body: &[u8]) -> std::io::Result<Answer> {
    let mut socket = TcpStream::connect(gateway.server.address()).await?;
    socket.write_all(&head.bytes()).await?;
    socket.write_all(body).await?;
    let mut received = Vec::new();
    socket.read_to_end(&mut received).await?;
    Ok(Answer::parse(&received))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn client_that_reads_late_gets_the_refusal_of_a_large_body() {
    let gateway = Gateway::start().await;
    let mut signer = Signer::new(gateway.buckets.signing_key(), &gateway.amz_time());
    let put = Plain::new("PUT", &format!("http://{}/{BUCKET}/k", gateway.host()));
    let known = put.clone().header("content-length", &LARGE.to_string());
    let mut signed = |request: Plain| signer.header(request, "UNSIGNED-PAYLOAD", &[]);
    let chunked = put.clone().header("transfer-encoding", "chunked");
    let too_long = put.clone().header("content-length", &(5_u64 << 31).to_string());
    let missing = known.clone().replace(BUCKET, "missing");
    let wrong = signed(known.clone()).replace("/k", "/other");
    let bytes = vec![b'x'; LARGE];
    let mut chunk = format!("{LARGE:x}\r\n").into_bytes();
    chunk.extend_from_slice(&bytes);
    chunk.extend_from_slice(b"\r\n0\r\n\r\n");
    for (head, body, expected) in [
        (wrong, &bytes, "SignatureDoesNotMatch"),
        (known.clone(), &bytes, "AccessDenied"),
        (signed(chunked), &chunk, "MissingContentLength"),
        (signed(too_long), &bytes, "EntityTooLarge"),
        (signed(known.clone().header("content-md5", "x")), &bytes, "InvalidDigest"),
        (signed(known.header("x-amz-acl", "public-read")), &bytes, "NotImplemented"),
        (signed(missing), &bytes, "NoSuchBucket"),
    ] {
        let answer = send_then_read(&gateway, &head, body).await;
        let answer = answer.unwrap_or_else(|error| panic!("{expected}: {error}"));
        assert_eq!(answer.code(), expected);
        assert_eq!(answer.header("connection"), Some("close"), "{expected}");
    }
    assert!(gateway.keys().await.is_empty());
}
