//! Program `test-server`, by which `cargo xtask test` starts each server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::thread;

use tabla_testkit::{dynamodb, versitygw};

/// Server of which the tests know the request of its probe, and a valid response.
struct Known {
    command: &'static str,
    variable: &'static str,
    request_contains: &'static str,
    request_end: &'static str,
    response: &'static str,
}

const SERVERS: [Known; 2] = [
    Known {
        command: "dynamodb-local",
        variable: dynamodb::ENDPOINT_VARIABLE,
        request_contains: "DynamoDB_20120810.ListTables",
        request_end: "\r\n\r\n{}",
        response: "HTTP/1.1 200 OK\r\n\r\n{\"TableNames\":[]}",
    },
    Known {
        command: "versitygw",
        variable: versitygw::ENDPOINT_VARIABLE,
        request_contains: "GET / HTTP/1.1",
        request_end: "\r\n\r\n",
        response: "HTTP/1.1 403 Forbidden\r\n\r\n<Error><Code>AccessDenied</Code></Error>",
    },
];

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_test-server"))
}

/// `cargo xtask test` depends on this: the program prints the address, and runs until its
/// input closes.
#[test]
fn program_ends_when_its_input_closes() {
    for known in SERVERS {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut request = Vec::new();
            while !request.ends_with(known.request_end.as_bytes()) {
                let mut part = [0; 1024];
                let read = stream.read(&mut part).expect("a request");
                assert_ne!(read, 0, "the request was cut off");
                request.extend_from_slice(&part[..read]);
            }
            stream.write_all(known.response.as_bytes()).expect("a reader");
            String::from_utf8(request).expect("text")
        });
        let mut program = program()
            .arg(known.command)
            .env(known.variable, &url)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program");
        let mut line = String::new();
        BufReader::new(program.stdout.take().expect("its output"))
            .read_line(&mut line)
            .expect("an address");
        assert_eq!(line.trim_end(), url);
        assert!(server.join().expect("the server").contains(known.request_contains));
        assert!(program.try_wait().expect("a state").is_none());
        drop(program.stdin.take());
        assert!(program.wait().expect("an end").success());
    }
}

/// A wrong address is an error that contains it, not a silent fallback to a container.
#[test]
fn named_server_that_does_not_respond_is_an_error() {
    for known in SERVERS {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        drop(listener);
        let output = program()
            .arg(known.command)
            .env(known.variable, &url)
            .stdin(Stdio::null())
            .output()
            .expect("the program");
        assert!(!output.status.success());
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains(&url) && message.contains(known.variable), "{message}");
    }
}

#[test]
fn invalid_arguments_print_the_usage() {
    for arguments in [
        &[][..],
        &["redis"],
        &["dynamodb-local", "--binary", "file"],
        &["versitygw", "--jars", "folder"],
        &["versitygw", "--binary", "file"],
    ] {
        let output = program().args(arguments).stdin(Stdio::null()).output().expect("the program");
        assert!(!output.status.success(), "{arguments:?}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("usage: test-server dynamodb-local"), "{message}");
    }
}
