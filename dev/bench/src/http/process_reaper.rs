//! Helper process that kills the servers which this process could not end.

use std::cell::RefCell;
use std::io::{self, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::embedded::Failure;

/// Script that tracks the running processes, and kills exactly those when its input closes. That
/// happens when the measurement ends in any way, even if it is killed.
const SCRIPT: &str = r#"
trap '' INT TERM HUP
running=
while read -r sign process; do
    others=
    for one in $running; do
        [ "$one" = "$process" ] || others="$others $one"
    done
    running=$others
    [ "$sign" = ended ] || running="$running $process"
done
[ -z "$running" ] || kill -KILL $running
"#;

/// Running helper process.
pub(crate) struct ProcessReaper {
    child: Child,
    input: RefCell<Option<ChildStdin>>,
}

impl ProcessReaper {
    pub(crate) fn start() -> Result<Self, Failure> {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "keeper"]).stdin(Stdio::piped());
        // The helper must not get the terminal's signals, because it has to outlive this process.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let input = RefCell::new(child.stdin.take());
        Ok(Self { child, input })
    }

    /// Adds a server that has been started.
    pub(crate) fn started(&self, process: u32) -> io::Result<()> {
        self.send("started", process)
    }

    /// Removes a server that has ended, because its process id may be reused.
    pub(crate) fn ended(&self, process: u32) -> io::Result<()> {
        self.send("ended", process)
    }

    fn send(&self, what: &str, process: u32) -> io::Result<()> {
        match &mut *self.input.borrow_mut() {
            Some(input) => writeln!(input, "{what} {process}"),
            None => Ok(()),
        }
    }
}

impl Drop for ProcessReaper {
    fn drop(&mut self) {
        drop(self.input.take());
        // The helper ends after its input closes; an error means that it has ended already.
        let _ = self.child.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("60").spawn().expect("cannot start `sleep`")
    }

    #[test]
    fn only_running_tracked_processes_are_killed() {
        let keeper = ProcessReaper::start().unwrap();
        let (mut forgotten, mut ended, mut other) = (sleeper(), sleeper(), sleeper());
        keeper.started(ended.id()).unwrap();
        keeper.started(forgotten.id()).unwrap();
        keeper.ended(ended.id()).unwrap();
        drop(keeper);
        assert_eq!(forgotten.wait().unwrap().signal(), Some(9));
        for process in [&mut ended, &mut other] {
            assert!(process.try_wait().unwrap().is_none());
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }
}
