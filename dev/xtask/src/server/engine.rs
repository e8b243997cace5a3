//! Docker engine for a run.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::rc::Rc;

use super::{Permission, own_process_group};
use crate::Result;
use crate::machine::{can_install, find, has, install, is_root, succeeds};
use crate::steps::pause;

/// Number of checks of an engine that is starting, 10 per second.
const STARTING: usize = 300;

/// File with the process id of a running engine.
const PID_FILE: &str = "/var/run/docker.pid";

/// Script that starts the engine, prints its process id, and stops exactly that process when its
/// input closes: the process that started this script cannot leave the engine behind, even if it is
/// killed. In that case the helper is still removing its container, so the script waits up to 5
/// seconds for containers to end.
const REAPER: &str = r#"
"$1" >"$2" 2>&1 &
engine=$!
echo "$engine"
cat >/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ -n "$(docker ps -q 2>/dev/null)" ] || break
    sleep 0.5
done
kill "$engine" 2>/dev/null
wait "$engine"
"#;

/// Engine that was started for this run; dropping it stops it.
pub(super) struct Engine {
    pid: u32,
    reaper: Child,
    input: Option<ChildStdin>,
}

impl Engine {
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        println!("stopping the Docker engine (process {})", self.pid);
        drop(self.input.take());
        // The script ends after the engine; an error means that it has ended already.
        let _ = self.reaper.wait();
    }
}

/// Container engine that all servers of a run share. It is looked for, installed or started when
/// the first server needs it, and never a second time.
///
/// An engine that was started is stopped when this value and all servers in it are dropped.
#[derive(Default)]
pub(crate) struct SharedEngine {
    found: Option<std::result::Result<Option<Rc<Engine>>, String>>,
}

impl SharedEngine {
    /// Returns when the engine responds. `None` stands for an engine that was running already.
    pub(super) fn ready(
        &mut self,
        folder: &Path,
        permission: Permission,
    ) -> Result<Option<Rc<Engine>>> {
        self.find_once(|| ready(folder, permission).map(|engine| engine.map(Rc::new)))
    }

    fn find_once(
        &mut self,
        find: impl FnOnce() -> Result<Option<Rc<Engine>>>,
    ) -> Result<Option<Rc<Engine>>> {
        let found = self.found.get_or_insert_with(|| find().map_err(|error| error.to_string()));
        Ok(found.clone()?)
    }
}

/// Returns when an engine responds: one that was running (`None`), or one started for this run.
fn ready(folder: &Path, permission: Permission) -> Result<Option<Engine>> {
    if answers() {
        return Ok(None);
    }
    if let Some(host) = env::var_os("DOCKER_HOST") {
        let message = format!("no Docker engine responds at DOCKER_HOST={}", host.display());
        return Err(message.into());
    }
    if !cfg!(target_os = "linux") || !is_root() {
        return Err("no Docker engine responds, and only root on Linux can start one here".into());
    }
    if find("dockerd").is_none() || !has("docker") {
        if permission == Permission::UseOnly || !can_install() {
            return Err("no Docker engine responds, and none may or can be installed here".into());
        }
        install(&["docker.io"])?;
    }
    // The installation may have started it as a service, or it is still starting. A second engine
    // would take over its network.
    if running().is_some() {
        println!("a Docker engine is starting");
        return wait_for_answer(|| running().is_some()).map(|()| None);
    }
    start(folder).map(Some)
}

/// Address of the engine that the Docker client uses by its context; `None` if `DOCKER_HOST`
/// is set.
pub(super) fn address() -> Option<String> {
    if env::var_os("DOCKER_HOST").is_some() {
        return None;
    }
    let output = Command::new("docker")
        .args(["context", "inspect", "--format", "{{.Endpoints.docker.Host}}"])
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let address = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (!address.is_empty()).then_some(address)
}

fn answers() -> bool {
    succeeds(Command::new("docker").arg("info"))
        // Without an engine, `docker info` of some clients reports only the client and succeeds.
        && succeeds(Command::new("docker").args(["ps", "--quiet"]))
}

/// Process id of an engine on this machine, even if it does not respond yet.
fn running() -> Option<u32> {
    let pid = fs::read_to_string(PID_FILE).ok()?.trim().parse().ok()?;
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    (name.trim() == "dockerd").then_some(pid)
}

fn start(folder: &Path) -> Result<Engine> {
    let dockerd = find("dockerd").ok_or("dockerd is not installed")?;
    fs::create_dir_all(folder)?;
    let log = folder.join("dockerd.log");
    let mut command = Command::new("sh");
    command.args(["-c", REAPER, "dockerd-keeper"]);
    command.arg(&dockerd).arg(&log);
    own_process_group(&mut command);
    let mut keeper = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let input = keeper.stdin.take();
    let mut first_line = String::new();
    if let Some(output) = keeper.stdout.take() {
        BufReader::new(output).read_line(&mut first_line)?;
    }
    let engine = Engine { pid: first_line.trim().parse()?, reaper: keeper, input };
    println!("started a Docker engine (process {}), log: {}", engine.pid, log.display());
    let lives = || Path::new(&format!("/proc/{}/exe", engine.pid)).exists();
    wait_for_answer(lives).map_err(|error| {
        let log = fs::read_to_string(&log).unwrap_or_default();
        let end: Vec<&str> = log.lines().rev().take(5).collect();
        let end: Vec<&str> = end.into_iter().rev().collect();
        format!("{error}; its log ends:\n{}", end.join("\n"))
    })?;
    Ok(engine)
}

fn wait_for_answer(lives: impl Fn() -> bool) -> Result<()> {
    for _ in 0..STARTING {
        if answers() {
            return Ok(());
        }
        if !lives() {
            return Err("the Docker engine ended while starting".into());
        }
        pause();
    }
    Err(format!("the Docker engine did not respond to {STARTING} checks").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engine_is_looked_for_once() {
        let mut engine = SharedEngine::default();
        assert!(engine.find_once(|| Ok(None)).expect("an engine is running").is_none());
        let again = engine.find_once(|| Err("a second search".into()));
        assert!(again.expect("the engine of the first search").is_none());
    }

    #[test]
    fn missing_engine_is_the_same_error_for_each_server() {
        let mut engine = SharedEngine::default();
        for _ in 0..2 {
            let error = engine.find_once(|| Err("no engine".into())).map(drop);
            assert_eq!(error.expect_err("no engine was found").to_string(), "no engine");
        }
    }
}
