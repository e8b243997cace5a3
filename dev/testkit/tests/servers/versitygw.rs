use std::io::{self, Read, Write};
use std::net::TcpStream;

use tabla_testkit::{Origin, versitygw};

/// Response to ListBuckets without a signature.
fn list_buckets(url: &str) -> io::Result<String> {
    let authority = url.strip_prefix("http://").expect("a server without TLS");
    let mut stream = TcpStream::connect(authority)?;
    write!(stream, "GET / HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n")?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    Ok(response)
}

fn check(url: &str) {
    let response = list_buckets(url).expect("a response");
    assert!(response.starts_with("HTTP/1.1 403 "), "{response}");
    assert!(response.contains("<Error><Code>AccessDenied</Code>"), "{response}");
}

/// One test, because a second one in this process would hold the shared container.
#[test]
fn endpoint_is_shared_and_its_container_is_removed_with_its_last_clone() {
    if versitygw::is_excluded() {
        println!("not run: needs versitygw");
        return;
    }
    let first = versitygw::endpoint().expect("a server");
    let second = versitygw::endpoint().expect("the same server");
    assert_eq!(first.url(), second.url());
    let (url, origin) = (first.url().to_owned(), first.origin().clone());
    check(&url);
    drop(first);
    check(&url);
    drop(second);
    match origin {
        Origin::Given { .. } => check(&url),
        _ => assert!(list_buckets(&url).is_err(), "{origin} still responds at {url}"),
    }
}
