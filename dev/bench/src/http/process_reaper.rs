//! A process that outlasts this one by a moment, and ends the servers that this one could not.

use std::cell::RefCell;
use std::io::{self, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::embedded::Failure;

/// Notes which processes run, and ends exactly those when its input closes. That is when the
/// measurement has ended, in whatever way: not even a kill keeps the servers running.
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

/// The process that ends servers.
pub(crate) struct ProcessReaper {
    child: Child,
    input: RefCell<Option<ChildStdin>>,
}

impl ProcessReaper {
    pub(crate) fn start() -> Result<Self, Failure> {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "keeper"]).stdin(Stdio::piped());
        // The terminal's signals are for this process, which the keeper has to outlast.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let input = RefCell::new(child.stdin.take());
        Ok(Self { child, input })
    }

    /// Notes that a server has been started.
    pub(crate) fn started(&self, process: u32) -> io::Result<()> {
        self.tell("started", process)
    }

    /// Notes that a server has been ended, and so that its number may soon be another's.
    pub(crate) fn ended(&self, process: u32) -> io::Result<()> {
        self.tell("ended", process)
    }

    fn tell(&self, what: &str, process: u32) -> io::Result<()> {
        match &mut *self.input.borrow_mut() {
            Some(input) => writeln!(input, "{what} {process}"),
            None => Ok(()),
        }
    }
}

impl Drop for ProcessReaper {
    fn drop(&mut self) {
        drop(self.input.take());
        // It ends by itself now; an error means that it has ended already.
        let _ = self.child.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    fn sleeper() -> Child {
        Command::new("sleep").arg("60").spawn().expect("every machine has it")
    }

    #[test]
    fn exactly_the_processes_that_still_run_are_ended() {
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
