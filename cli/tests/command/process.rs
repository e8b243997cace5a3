//! `tabla serve` as a process: started, spoken to, told to end.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::wire::{Answer, Connection};

/// Whatever takes longer than this has gone wrong.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A server that is ready. It is killed when it is dropped.
pub(crate) struct Served {
    child: Child,
    process: u32,
    /// The line by which it said that it is ready.
    pub(crate) line: String,
    pub(crate) address: SocketAddr,
    output: JoinHandle<String>,
    errors: JoinHandle<String>,
}

/// What is left of a server that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// `None` if it was killed.
    pub(crate) code: Option<i32>,
    /// What it said after the line by which it said that it is ready.
    pub(crate) output: String,
    pub(crate) errors: String,
}

/// The program that is tested. `TABLA_PROGRAM` is the path of another one, such as that of a
/// release build.
pub(crate) fn program() -> PathBuf {
    std::env::var_os("TABLA_PROGRAM")
        .map_or_else(|| env!("CARGO_BIN_EXE_tabla").into(), PathBuf::from)
}

/// How many clients there are at once, unless told.
const CONNECTIONS: u64 = 32;

/// How many clients there are at once.
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

    /// The same under limits that a shell sets, such as `ulimit -n 64`.
    pub(crate) async fn limited(limits: &str, arguments: &[&str]) -> Self {
        let mut shell = Command::new("sh");
        // The server takes the shell's place, and has its number.
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
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let errors = read(child.stderr.take().expect("it is piped"));
        let mut line = String::new();
        let first = timeout(PATIENCE, output.read_line(&mut line)).await;
        first.expect("it says something in time").expect("it says text");
        let Some(address) = address_in(&line) else {
            panic!("it is not ready: {line}{}", errors.await.expect("it says text"));
        };
        let process = child.id().expect("it runs");
        let line = line.trim_end().to_owned();
        Self { child, process, line, address, output: read(output), errors }
    }

    /// Starts a server whose data is in this file.
    pub(crate) async fn on(file: &std::path::Path) -> Self {
        Self::start(&["--store", &format!("sqlite:{}", file.display())]).await
    }

    /// A connection to it, from this machine wherever it listens.
    pub(crate) async fn connect(&self) -> Connection {
        Connection::open((std::net::Ipv4Addr::LOCALHOST, self.address.port()).into())
            .await
            .expect("it listens")
    }

    /// Asks one thing on a connection of its own.
    pub(crate) async fn ask(&self, operation: &str, body: &Value) -> Answer {
        let mut connection = self.connect().await;
        let answer = timeout(PATIENCE, connection.ask(operation, body)).await;
        answer.expect("it answers in time").expect("it answers")
    }

    /// Makes a table with the keys `pk` and `sk`.
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

    /// One of the numbers that it tells monitors; what has not happened is not told.
    pub(crate) async fn metric(&self, name: &str) -> u64 {
        let answer = self.connect().await.look("/metrics").await.expect("it answers").text();
        let line = answer.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map_or(0, |number| number.parse().expect("a number"))
    }

    /// How many bytes of memory it has, where the system tells.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.status("VmRSS:")
    }

    /// Bytes of memory that it had at the most, where the system tells.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        self.status("VmHWM:")
    }

    fn status(&self, name: &str) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|size| size << 10)
    }

    /// How many files it may open, and how far it may raise that, where the system tells.
    pub(crate) fn open_files(&self) -> Option<(u64, u64)> {
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", self.process)).ok()?;
        let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
        let mut numbers = line.split_whitespace().map(|text| text.parse().ok());
        Some((numbers.next()??, numbers.next()??))
    }

    /// Sends it a signal, such as `TERM`.
    pub(crate) async fn signal(&self, name: &str) {
        let process = self.process.to_string();
        let sent = Command::new("kill").args(["-s", name, &process]).status().await;
        assert!(sent.expect("there is such a program").success(), "it has ended before");
    }

    /// Ends it without a warning.
    pub(crate) fn kill(&mut self) {
        self.child.start_kill().expect("it runs");
    }

    /// Waits until it has ended.
    pub(crate) async fn ended(mut self) -> Ended {
        let status = timeout(PATIENCE, self.child.wait()).await.expect("it ends in time");
        Ended {
            code: status.expect("it is known how").code(),
            output: self.output.await.expect("it says text"),
            errors: self.errors.await.expect("it says text"),
        }
    }

    /// Asks it to end, which it does without a word.
    pub(crate) async fn stop(self) {
        self.signal("TERM").await;
        self.ended().await.check();
    }
}

impl Ended {
    /// It has ended as it should, and had nothing to say about it.
    pub(crate) fn check(&self) {
        assert_eq!((self.code, &*self.output, &*self.errors), (Some(0), "", ""));
    }
}

fn address_in(line: &str) -> Option<SocketAddr> {
    line.split_once("http://")?.1.split(';').next()?.parse().ok()
}

/// Reads to the end, so that the program is never kept waiting.
fn read(mut from: impl AsyncRead + Send + Unpin + 'static) -> JoinHandle<String> {
    tokio::spawn(async move {
        let mut text = String::new();
        from.read_to_string(&mut text).await.expect("it says text");
        text
    })
}
