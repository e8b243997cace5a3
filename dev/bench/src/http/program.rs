//! Servers of the comparison, as child processes.

use std::fs::{self, File};
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use tokio::runtime::Runtime;

use super::client::Connection;
use super::process_reaper::ProcessReaper;
use super::request::{self, Expected};
use super::{Engine, StorageMode};
use crate::embedded::{Failure, Folder};
use crate::median::Stopwatch;
use crate::process;

/// Attempts with different ports: another program may take a port before the server does.
const ATTEMPTS: usize = 3;

/// Time limit of the first response in seconds.
const PATIENCE: f64 = 60.0;

/// Time limit of one probe of a server that is starting.
const RESPONSE_PATIENCE: Duration = Duration::from_secs(5);

/// Pause between two probes, which is the precision of the time to the first response.
const PAUSE: Duration = Duration::from_micros(200);

/// Number of log lines in the error of a server that failed.
const SHOWN: usize = 10;

/// Main class of DynamoDB Local.
const DYNAMODB_MAIN: &str = "com.amazonaws.services.dynamodbv2.local.main.ServerRunner";

/// Resources that servers share.
pub(crate) struct Host {
    pub(crate) runtime: Runtime,
    /// Folder of the servers' files.
    pub(crate) folder: Folder,
    keeper: Rc<ProcessReaper>,
}

impl Host {
    /// Makes a host with a new folder in `parent`.
    pub(crate) fn new(parent: &Path) -> Result<Self, Failure> {
        // One thread: the client uses at most one processor, for every server.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let keeper = Rc::new(ProcessReaper::start()?);
        Ok(Self { runtime, folder: Folder::make(parent)?, keeper })
    }
}

/// Server and its path: the program itself for `tabla` and `dynoxide`, the folder of the jars for
/// DynamoDB Local, the folder of the installation for dynalite.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Program {
    pub(crate) contestant: Engine,
    pub(crate) path: PathBuf,
}

impl Program {
    /// Command that starts the server with its defaults, as documented.
    fn command(&self, place: StorageMode, port: u16, folder: &Path) -> Command {
        let port = port.to_string();
        let is_memory = place == StorageMode::Memory;
        match self.contestant {
            Engine::Tabla => {
                let mut command = Command::new(&self.path);
                let store = match is_memory {
                    true => "sqlite::memory:".to_owned(),
                    false => format!("sqlite:{}", folder.join("tabla.db").display()),
                };
                command.args(["serve", "--store", &store]);
                command.args(["--listen", &format!("127.0.0.1:{port}")]);
                command
            }
            Engine::Dynoxide => {
                let mut command = Command::new(&self.path);
                command.args(["serve", "--host", "127.0.0.1", "--port", &port]);
                if !is_memory {
                    command.arg("--db-path").arg(folder.join("dynoxide.db"));
                }
                command
            }
            Engine::Dynamodb => {
                let mut command = Command::new("java");
                // `java` runs in the folder, so that the class path contains no path with a space
                // or a colon.
                command.current_dir(&self.path);
                command.args(["-Djava.library.path=.", "-cp", "*", DYNAMODB_MAIN]);
                command.args(["-disableTelemetry", "-port", &port]);
                match is_memory {
                    true => command.arg("-inMemory"),
                    false => command.arg("-dbPath").arg(folder),
                };
                command
            }
            Engine::Dynalite => {
                let mut command = Command::new("node");
                command.arg(self.path.join("node_modules/dynalite/cli.js"));
                command.args(["--host", "127.0.0.1", "--port", &port]);
                if !is_memory {
                    command.arg("--path").arg(folder.join("dynalite"));
                }
                command
            }
        }
    }

    /// Starts the server without data, and waits for its first response.
    pub(crate) fn start(&self, host: &Host, place: StorageMode) -> Result<Running, Failure> {
        let mut last: Failure = "the server was not started".into();
        for _ in 0..ATTEMPTS {
            match self.start_once(host, place) {
                Ok(running) => return Ok(running),
                Err(error) => last = error,
            }
        }
        Err(format!("{} did not start: {last}", self.contestant.name()).into())
    }

    fn start_once(&self, host: &Host, place: StorageMode) -> Result<Running, Failure> {
        let name = self.contestant.name();
        let folder = Folder::make(&host.folder.path().join(name).join(place.name()))?;
        // Some servers run in another working folder.
        let data = fs::canonicalize(folder.path())?.join("data");
        fs::create_dir_all(&data)?;
        let port = free_port()?;
        let command = self.command(place, port, &data);
        launch(host, folder, command, port, async || check_response(port).await)
    }
}

/// Starts a server, and waits until `check` succeeds. `folder` is deleted after the server
/// has ended.
pub(crate) fn launch(
    host: &Host,
    folder: Folder,
    mut command: Command,
    port: u16,
    check: impl AsyncFn() -> Result<(), Failure>,
) -> Result<Running, Failure> {
    let log = folder.path().join("log");
    let output = File::create(&log)?;
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    let watch = Stopwatch::start();
    let child =
        command.spawn().map_err(|error| format!("cannot run {}: {error}", program_of(&command)))?;
    let keeper = Rc::clone(&host.keeper);
    let mut running = Running { port, first_response: 0.0, child, log, keeper, _folder: folder };
    running.keeper.started(running.child.id())?;
    loop {
        running.ensure_alive()?;
        let checked = async { tokio::time::timeout(RESPONSE_PATIENCE, check()).await? };
        if host.runtime.block_on(checked).is_ok() {
            break;
        }
        if watch.seconds() > PATIENCE {
            return Err(format!(
                "no response within {PATIENCE} s; its log ends:\n{}",
                running.log()
            )
            .into());
        }
        pause();
    }
    running.first_response = watch.seconds();
    Ok(running)
}

fn program_of(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

/// Running server; dropping it kills the process and deletes its files.
pub(crate) struct Running {
    pub(crate) port: u16,
    /// Seconds from its start to its first response.
    pub(crate) first_response: f64,
    child: Child,
    log: PathBuf,
    keeper: Rc<ProcessReaper>,
    // Dropped after the process has ended, because the process writes to it.
    _folder: Folder,
}

impl Running {
    /// Resident memory in bytes.
    pub(crate) fn resident(&self) -> Result<u64, Failure> {
        process::resident_of(self.child.id())
    }

    /// Id of the process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Fails with the end of the log if the server has ended.
    fn ensure_alive(&mut self) -> Result<(), Failure> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => {
                Err(format!("the server ended ({status}); its log ends:\n{}", self.log()).into())
            }
        }
    }

    /// Returns the outcome, or why the server has ended: the error of a broken connection does not
    /// show that.
    pub(crate) fn or_its_end<T>(&mut self, outcome: Result<T, Failure>) -> Result<T, Failure> {
        if outcome.is_err() {
            self.ensure_alive()?;
        }
        outcome
    }

    fn log(&self) -> String {
        let log = fs::read(&self.log).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(SHOWN)..].join("\n")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The data is deleted too, so no orderly shutdown is needed. Both calls fail only if the
        // process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        // An error means that the helper has ended.
        let _ = self.keeper.ended(self.child.id());
    }
}

/// Checks that the server responds to a request.
async fn check_response(port: u16) -> Result<(), Failure> {
    let mut connection = Connection::open(port).await?;
    connection.expect(&request::list_tables(port), Expected::Tables).await
}

/// Port that is free at the moment.
pub(crate) fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

#[expect(
    clippy::disallowed_methods,
    reason = "another process starts in real time, which no test clock moves"
)]
fn pause() {
    std::thread::sleep(PAUSE);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(contestant: Engine, place: StorageMode) -> String {
        let program = Program { contestant, path: "/p".into() };
        let command = program.command(place, 7000, Path::new("/kept"));
        std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|word| word.to_string_lossy().into_owned())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn command_has_port_and_stores_data_only_if_durable() {
        for contestant in Engine::ALL {
            let (memory, durable) =
                (line(contestant, StorageMode::Memory), line(contestant, StorageMode::Durable));
            assert!(memory.contains("7000") && durable.contains("7000"), "{memory}, {durable}");
            assert!(!memory.contains("/kept") && durable.contains("/kept"), "{memory}, {durable}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn early_end_of_server_is_reported_with_its_log() {
        use std::os::unix::fs::PermissionsExt;
        let parent = std::env::temp_dir().join("tabla-bench-http-program");
        let host = Host::new(&parent).unwrap();
        let path = host.folder.path().join("program");
        fs::write(&path, "#!/bin/sh\necho no such store\nexit 3\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let program = Program { contestant: Engine::Tabla, path };
        let error = match program.start(&host, StorageMode::Memory) {
            Ok(_) => panic!("the program is no server"),
            Err(error) => error.to_string(),
        };
        assert!(
            error.contains("tabla did not start") && error.contains("no such store"),
            "{error}"
        );
    }
}
