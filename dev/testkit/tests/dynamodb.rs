//! Lifetime of a server: from the return of `endpoint` to the end of the process that called it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::thread;

use tabla_testkit::dynamodb::{self, ENDPOINT_VARIABLE};

/// `endpoint` returns only after ListTables has succeeded.
#[test]
fn endpoint_returns_shared_running_server() {
    if dynamodb::is_excluded() {
        println!("not run: needs DynamoDB Local");
        return;
    }
    let first = dynamodb::endpoint().expect("a server");
    let second = dynamodb::endpoint().expect("the same server");
    assert_eq!(first.url(), second.url());
    assert!(first.url().starts_with("http"), "{}", first.url());
}

/// `cargo xtask test` depends on this: the program prints the address, and runs until its
/// input closes.
#[test]
fn program_ends_when_its_input_closes() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n{}") {
            let mut part = [0; 1024];
            let read = stream.read(&mut part).expect("a request");
            assert_ne!(read, 0, "the request was cut off");
            request.extend_from_slice(&part[..read]);
        }
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n{\"TableNames\":[]}").expect("a reader");
        String::from_utf8(request).expect("text")
    });
    let mut program = Command::new(env!("CARGO_BIN_EXE_dynamodb-local"))
        .env(ENDPOINT_VARIABLE, &url)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program");
    let mut line = String::new();
    BufReader::new(program.stdout.take().expect("its output"))
        .read_line(&mut line)
        .expect("an address");
    assert_eq!(line.trim_end(), url);
    assert!(server.join().expect("the server").contains("DynamoDB_20120810.ListTables"));
    assert!(program.try_wait().expect("a state").is_none());
    drop(program.stdin.take());
    assert!(program.wait().expect("an end").success());
}

/// A wrong address is an error that contains it, not a silent fallback to a container.
#[test]
fn named_server_that_does_not_respond_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let output = Command::new(env!("CARGO_BIN_EXE_dynamodb-local"))
        .env(ENDPOINT_VARIABLE, &url)
        .stdin(Stdio::null())
        .output()
        .expect("the program");
    assert!(!output.status.success());
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains(&url), "{message}");
}
