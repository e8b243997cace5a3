//! Set-up, tests and checks of this workspace: `cargo xtask <task>`.
//!
//! It depends on next to nothing, so that it is built in seconds and can then
//! say what it is doing while the rest is built.

mod check;
mod machine;
mod server;
mod steps;
mod test;
mod workspace;

use std::error::Error;
use std::ffi::OsString;
use std::process::ExitCode;

use lexopt::{Arg, Parser, ValueExt};

use server::Permission;
use steps::Steps;

/// What goes wrong here is told to a person and to an exit code.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

const USAGE: &str = "\
usage: cargo xtask <task>

tasks:
  test [--without dynamodb] [--no-install] [-- <test arguments>]
      Starts DynamoDB Local and runs every test and doctest of the workspace.
  check
      Format, lints, documentation, what core depends on, licences.
  dynamodb [--no-install]
      Starts DynamoDB Local in the same way and keeps it until Ctrl-C.

options:
  --without dynamodb  do without DynamoDB Local; the tests that need it say so
  --no-install        install nothing: use only what is on this machine

TABLA_DYNAMODB_ENDPOINT names a running server to use instead of starting one.
";

enum Task {
    Test(test::Options),
    Check,
    Dynamodb(Permission),
    Help,
}

fn main() -> ExitCode {
    let result = parse(Parser::from_env()).and_then(|task| {
        let steps = Steps::new();
        match task {
            Task::Test(options) => test::run(steps, &options),
            Task::Check => check::run(steps),
            Task::Dynamodb(permission) => server::keep(steps, permission),
            Task::Help => {
                print!("{USAGE}");
                Ok(())
            }
        }
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(mut arguments: Parser) -> Result<Task> {
    let task = match arguments.next()? {
        Some(Arg::Value(task)) => task.string()?,
        Some(Arg::Long("help") | Arg::Short('h')) | None => return Ok(Task::Help),
        Some(other) => return Err(refuse(other)),
    };
    match task.as_str() {
        "test" => parse_test(arguments).map(Task::Test),
        "check" => match arguments.next()? {
            None => Ok(Task::Check),
            Some(other) => Err(refuse(other)),
        },
        "dynamodb" => {
            let mut permission = Permission::Install;
            while let Some(argument) = arguments.next()? {
                match argument {
                    Arg::Long("no-install") => permission = Permission::UseOnly,
                    other => return Err(refuse(other)),
                }
            }
            Ok(Task::Dynamodb(permission))
        }
        other => Err(format!("no such task: {other}\n\n{USAGE}").into()),
    }
}

fn parse_test(mut arguments: Parser) -> Result<test::Options> {
    let mut options = test::Options {
        without_dynamodb: false,
        permission: Permission::Install,
        passed_on: Vec::new(),
    };
    // `--` ends the options; lexopt would hide where it stood.
    loop {
        if let Some(rest) = after_separator(&mut arguments) {
            options.passed_on = rest;
            return Ok(options);
        }
        match arguments.next()? {
            None => return Ok(options),
            Some(Arg::Long("no-install")) => options.permission = Permission::UseOnly,
            Some(Arg::Long("without")) => {
                let server = arguments.value()?.string()?;
                if server != "dynamodb" {
                    let message =
                        format!("--without knows no such server: {server} (known: dynamodb)");
                    return Err(message.into());
                }
                options.without_dynamodb = true;
            }
            Some(other) => return Err(refuse(other)),
        }
    }
}

/// Everything after `--`, when that is what comes next.
fn after_separator(arguments: &mut Parser) -> Option<Vec<OsString>> {
    let mut raw = arguments.try_raw_args()?;
    raw.next_if(|argument| argument == "--")?;
    Some(raw.collect())
}

fn refuse(argument: Arg<'_>) -> Box<dyn Error> {
    format!("{}\n\n{USAGE}", argument.unexpected()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_options(arguments: &[&str]) -> Result<test::Options> {
        match parse(Parser::from_args(arguments))? {
            Task::Test(options) => Ok(options),
            _ => Err("another task".into()),
        }
    }

    #[test]
    fn everything_after_the_separator_is_passed_on() {
        let options = test_options(&["test", "--without", "dynamodb", "--", "number", "--exact"])
            .expect("good arguments");
        assert!(options.without_dynamodb);
        assert_eq!(options.passed_on, ["number", "--exact"]);
    }

    #[test]
    fn tests_may_install_and_leave_nothing_out_unless_told() {
        let options = test_options(&["test"]).expect("good arguments");
        assert!(!options.without_dynamodb);
        assert_eq!(options.permission, Permission::Install);
        assert!(options.passed_on.is_empty());
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for arguments in [
            &["test", "number"][..],
            &["test", "--without", "redis"],
            &["test", "--without"],
            &["check", "--fast"],
            &["dynamodb", "--without=dynamodb"],
            &["bench"],
            &["--version"],
        ] {
            assert!(parse(Parser::from_args(arguments)).is_err(), "{arguments:?}");
        }
    }
}
