//! Requests of web pages.

use std::time::Duration;

use aws_sdk_s3::presigning::PresigningConfig;
use tabla_s3::MemoryBuckets;
use tabla_s3::gateway::{self, GatewayConfig};
use tabla_server::Credentials;
use tabla_server::listener::ListenerConfig;

use crate::support::{BUCKET, Gateway, Plain, client};

const PAGE: &str = "https://app.example";

fn preflight(gateway: &Gateway, origin: &str) -> Plain {
    Plain::new("OPTIONS", &format!("http://{}/{BUCKET}/k?x=y", gateway.host()))
        .header("origin", origin)
        .header("access-control-request-method", "PUT")
        .header("access-control-request-headers", "content-type,x-amz-meta-a")
}

#[tokio::test]
async fn preflight_is_answered_for_configured_origins() {
    let gateway = Gateway::with_origin(PAGE).await;
    let answer = gateway.send(&preflight(&gateway, PAGE)).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), Some(PAGE));
    assert_eq!(answer.header("access-control-allow-headers"), Some("content-type,x-amz-meta-a"));
    assert!(answer.header("access-control-allow-methods").unwrap().contains("PUT"));
    assert_eq!(answer.header("vary"), Some("Origin"));
    for other in ["https://evil.example", "http://localhost:3000", "null", "*"] {
        let answer = gateway.send(&preflight(&gateway, other)).await;
        assert_eq!((answer.status, answer.code().as_str()), (403, "AccessForbidden"), "{other}");
        assert_eq!(answer.header("access-control-allow-origin"), None);
        assert_eq!(answer.header("access-control-allow-methods"), None);
    }
}

#[tokio::test]
async fn page_of_a_configured_origin_may_read_the_response() {
    let gateway = Gateway::with_origin(PAGE).await;
    let expiry = PresigningConfig::expires_in(Duration::from_secs(60)).unwrap();
    let put = gateway.client.put_object().bucket(BUCKET).key("k").presigned(expiry).await;
    let put = Plain::from(put.unwrap()).body("hello");
    let answer = gateway.send(&put.clone().header("origin", PAGE)).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), Some(PAGE));
    assert!(answer.header("access-control-expose-headers").unwrap().contains("etag"));
    let answer = gateway.send(&put.clone().header("origin", "https://evil.example")).await;
    assert_eq!(answer.status, 200, "a signed request is executed");
    assert_eq!(answer.header("access-control-allow-origin"), None);
    let unsigned = Plain::new("GET", &format!("http://{}/{BUCKET}/k", gateway.host()));
    let answer = gateway.send(&unsigned.header("origin", PAGE)).await;
    assert_eq!(answer.status, 403);
    assert_eq!(answer.header("access-control-allow-origin"), Some(PAGE), "the page sees the error");
}

#[tokio::test]
async fn listening_beyond_loopback_needs_credentials() {
    let listener = || ListenerConfig::new().with_listen("0.0.0.0:0".parse().unwrap());
    let buckets = std::sync::Arc::new(MemoryBuckets::new());
    let config = GatewayConfig::new().with_listener(listener());
    let refused = gateway::spawn(buckets.clone(), config).await.unwrap_err();
    assert!(refused.message().contains("credentials"), "{refused}");
    let file = "[a]\naws_access_key_id=someone\naws_secret_access_key=secret\n";
    let config = GatewayConfig::new().with_listener(listener());
    let config = config.with_credentials(Credentials::parse(file).unwrap());
    let server = gateway::spawn(buckets.clone(), config).await.unwrap();
    let url = format!("http://127.0.0.1:{}", server.address().port());
    client(&url, "someone", "secret").list_buckets().send().await.unwrap();
    // The buckets' own key is accepted as well, for presigned URLs.
    let own = tabla_s3::Buckets::signing_key(&*buckets).clone();
    client(&url, own.id(), own.secret()).list_buckets().send().await.unwrap();
}
