//! `tabla serve` as a child process: start, requests, signals and exit.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::wire::{Connection, Response};

/// Time limit of every step of a test.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Running server that accepts requests. Dropping it kills the process.
pub(crate) struct Served {
    child: Child,
    process: u32,
    /// First line of its output, which it prints when it is ready.
    pub(crate) line: String,
    pub(crate) address: SocketAddr,
    output: JoinHandle<String>,
    errors: JoinHandle<String>,
}

/// Exit code and output of a server that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Exit code; `None` if a signal killed the process.
    pub(crate) code: Option<i32>,
    /// Standard output after the first line.
    pub(crate) output: String,
    pub(crate) errors: String,
}

/// Returns the path of the tested program: `TABLA_PROGRAM`, or the build of this test.
pub(crate) fn program() -> PathBuf {
    std::env::var_os("TABLA_PROGRAM")
        .map_or_else(|| env!("CARGO_BIN_EXE_tabla").into(), PathBuf::from)
}

/// Default number of concurrent clients.
const CONNECTIONS: u64 = 32;

/// Returns the number of concurrent clients: `TABLA_CONNECTIONS`, or [`CONNECTIONS`].
pub(crate) fn connections() -> u64 {
    number("TABLA_CONNECTIONS").unwrap_or(CONNECTIONS)
}

/// Returns the number in an environment variable; `None` if it is not set.
pub(crate) fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(parse_number(variable, &text).unwrap_or_else(|error| panic!("{error}")))
}

/// Parses the value of an environment variable.
///
/// # Errors
/// It is not a whole number from 0 to 2^64 - 1.
pub(crate) fn parse_number(variable: &str, text: &str) -> Result<u64, String> {
    text.parse::<u64>().map_err(|error| {
        format!("{variable}={text}: {error}; set a whole number, such as {variable}=60")
    })
}

impl Served {
    /// Starts a server on a free port, unless these arguments name one.
    pub(crate) async fn start(arguments: &[&str]) -> Self {
        Self::launch(Command::new(program()), arguments).await
    }

    /// Starts a server under limits that a shell sets, such as `ulimit -n 64`.
    pub(crate) async fn limited(limits: &str, arguments: &[&str]) -> Self {
        let mut shell = Command::new("sh");
        // `exec` replaces the shell, so the server has the process id of the child.
        shell.args(["-c", &format!("{limits} && exec \"$0\" \"$@\"")]).arg(program());
        Self::launch(shell, arguments).await
    }

    async fn launch(mut command: Command, arguments: &[&str]) -> Self {
        command.arg("serve").args(arguments);
        if !arguments.contains(&"--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn().expect("the program starts");
        let mut output = BufReader::new(child.stdout.take().expect("the stream is piped"));
        let errors = read(child.stderr.take().expect("the stream is piped"));
        let mut line = String::new();
        let first = timeout(PATIENCE, output.read_line(&mut line)).await;
        first.expect("the server is ready in time").expect("the output is UTF-8");
        let Some(address) = address_in(&line) else {
            panic!(
                "no address in the first line: {line}{}",
                errors.await.expect("the output is UTF-8")
            );
        };
        let process = child.id().expect("the process runs");
        let line = line.trim_end().to_owned();
        Self { child, process, line, address, output: read(output), errors }
    }

    /// Starts a server whose data is in this file.
    pub(crate) async fn on(file: &std::path::Path) -> Self {
        Self::start(&["--store", &format!("sqlite:{}", file.display())]).await
    }

    /// Opens a connection over the loopback interface.
    pub(crate) async fn connect(&self) -> Connection {
        Connection::open((std::net::Ipv4Addr::LOCALHOST, self.address.port()).into())
            .await
            .expect("the server listens")
    }

    /// Sends a request on a new connection.
    pub(crate) async fn ask(&self, operation: &str, body: &Value) -> Response {
        let mut connection = self.connect().await;
        let response = timeout(PATIENCE, connection.ask(operation, body)).await;
        response.expect("a response in time").expect("a response")
    }

    /// Creates a table with the partition key `pk` and the sort key `sk`.
    pub(crate) async fn create(&self, table: &str) {
        let body = json!({
            "TableName": table,
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [
                { "AttributeName": "pk", "AttributeType": "S" },
                { "AttributeName": "sk", "AttributeType": "S" },
            ],
            "KeySchema": [
                { "AttributeName": "pk", "KeyType": "HASH" },
                { "AttributeName": "sk", "KeyType": "RANGE" },
            ],
        });
        self.ask("CreateTable", &body).await.expect();
    }

    /// Returns a value from `/metrics`, or 0 if the metric is not listed yet.
    pub(crate) async fn metric(&self, name: &str) -> u64 {
        let response = self.connect().await.look("/metrics").await.expect("a response").text();
        let line = response.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map_or(0, |number| number.parse().expect("a number"))
    }

    /// Returns the resident memory in bytes, if the system reports it.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.status("VmRSS:")
    }

    /// Returns the peak of the resident memory in bytes, if the system reports it.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        self.status("VmHWM:")
    }

    fn status(&self, name: &str) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|size| size << 10)
    }

    /// Returns the soft and the hard limit on open files, if the system reports them.
    pub(crate) fn open_files(&self) -> Option<(u64, u64)> {
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", self.process)).ok()?;
        let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
        let mut numbers = line.split_whitespace().map(|text| text.parse().ok());
        Some((numbers.next()??, numbers.next()??))
    }

    /// Sends a signal, such as `TERM`, to the server.
    pub(crate) async fn signal(&self, name: &str) {
        let process = self.process.to_string();
        let sent = Command::new("kill").args(["-s", name, &process]).status().await;
        assert!(sent.expect("the program `kill` exists").success(), "the server has ended");
    }

    /// Kills the process with SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.start_kill().expect("the process runs");
    }

    /// Waits for the end of the process.
    pub(crate) async fn ended(mut self) -> Ended {
        let status = timeout(PATIENCE, self.child.wait()).await.expect("the server ends in time");
        Ended {
            code: status.expect("the process has an exit status").code(),
            output: self.output.await.expect("the output is UTF-8"),
            errors: self.errors.await.expect("the output is UTF-8"),
        }
    }

    /// Ends the server with SIGTERM, and checks exit code and output.
    pub(crate) async fn stop(self) {
        self.signal("TERM").await;
        self.ended().await.check();
    }
}

impl Ended {
    /// Checks that the exit code is 0, and that nothing was printed after the first line.
    pub(crate) fn check(&self) {
        assert_eq!((self.code, &*self.output, &*self.errors), (Some(0), "", ""));
    }
}

fn address_in(line: &str) -> Option<SocketAddr> {
    line.split_once("http://")?.1.split(';').next()?.parse().ok()
}

/// Reads a pipe to its end in the background, so that the program never blocks on it.
fn read(mut from: impl AsyncRead + Send + Unpin + 'static) -> JoinHandle<String> {
    tokio::spawn(async move {
        let mut text = String::new();
        from.read_to_string(&mut text).await.expect("the output is UTF-8");
        text
    })
}
