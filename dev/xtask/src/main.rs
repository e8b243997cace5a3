//! Set-up, tests and checks of this workspace: `cargo xtask <task>`.
//!
//! It depends on next to nothing, so that it is built in seconds and can then
//! say what it is doing while the rest is built.

mod aws;
mod bench;
mod check;
mod clients;
mod machine;
mod package;
mod prose;
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
  test [--without dynamodb|strace|clients]... [--no-install] [-- <test arguments>]
      Starts DynamoDB Local and runs every test and doctest of the workspace.
  check
      Format, prose, lints, documentation, dependency bans, packages for crates.io, licences.
  bench <measurement> [--without dynamodb] [--no-install] [-- <options>]
      Measures, in release: `embedded` puts the SQLite engine beside SQLite by hand, Dynoxide and
      DynamoDB Local; `syncs`, `instructions`, `memory` and `growth` tell what it takes.
      `cargo xtask bench help` lists the measurements and their options.
  aws estimate [--max-usd <dollars>]
      Prices the next two: runs them on `tabla serve` in memory and counts the requests.
  aws run conformance|apps --prefix <prefix> (--region <region> | --endpoint <url>)
      Runs the conformance suite, or the tests of the apps, on DynamoDB in your AWS account.
  aws clean --prefix <prefix> (--region <region> | --endpoint <url>)
      Deletes the tables with that prefix; needs the AWS CLI.
  dynamodb [--no-install]
      Starts DynamoDB Local in the same way and keeps it until Ctrl-C.
  clients [--no-install]
      Sets up what the tests with clients in other languages need, and prints their variables.

options:
  --without dynamodb  do without DynamoDB Local; what needs it is left out and says so
  --without strace    do without the tests that trace system calls
  --without clients   do without the tests that have clients in other languages meet the server
  --no-install        install nothing: use only what is on this machine
  --max-usd           fail if the run may cost more [default: 2.00]
  --prefix            start of the table names of the run, such as tabla-ci-17-
  --endpoint          URL of DynamoDB Local, to use instead of AWS

TABLA_DYNAMODB_ENDPOINT names a running server to use instead of starting one.
TABLA_CHROMIUM names a browser to use instead of one that is found.
";

enum Task {
    Test(test::Options),
    Bench(String, test::Options),
    Check,
    Aws(aws::Task),
    Dynamodb(Permission),
    Clients(Permission),
    Help,
}

fn main() -> ExitCode {
    let result = parse(Parser::from_env()).and_then(|task| {
        let steps = Steps::new();
        match task {
            Task::Test(options) => test::run(steps, &options),
            Task::Bench(measurement, options) => bench::run(steps, &measurement, &options),
            Task::Check => check::run(steps),
            Task::Aws(task) => aws::run(steps, &task),
            Task::Dynamodb(permission) => server::leak(steps, permission),
            Task::Clients(permission) => clients::prepare(steps, permission),
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
        "test" => parse_options(arguments).map(Task::Test),
        "bench" => {
            let measurement = match arguments.next()? {
                Some(Arg::Value(measurement)) => measurement.string()?,
                Some(other) => return Err(refuse(other)),
                None => return Err(format!("bench what?\n\n{USAGE}").into()),
            };
            parse_options(arguments).map(|options| Task::Bench(measurement, options))
        }
        "check" => match arguments.next()? {
            None => Ok(Task::Check),
            Some(other) => Err(refuse(other)),
        },
        "aws" => parse_aws(arguments).map(Task::Aws),
        "dynamodb" => parse_permission(arguments).map(Task::Dynamodb),
        "clients" => parse_permission(arguments).map(Task::Clients),
        other => Err(format!("no such task: {other}\n\n{USAGE}").into()),
    }
}

fn parse_aws(mut arguments: Parser) -> Result<aws::Task> {
    let mut words = Vec::new();
    let (mut limit, mut prefix, mut region, mut endpoint) = (None, None, None, None);
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Value(word) => words.push(word.string()?),
            Arg::Long("max-usd") => limit = Some(arguments.value()?.parse::<f64>()?),
            Arg::Long("prefix") => prefix = Some(arguments.value()?.string()?),
            Arg::Long("region") => region = Some(arguments.value()?.string()?),
            Arg::Long("endpoint") => endpoint = Some(arguments.value()?.string()?),
            other => return Err(refuse(other)),
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let has_target = prefix.is_some() || region.is_some() || endpoint.is_some();
    match (&words[..], limit) {
        (["estimate"], limit) if !has_target => {
            Ok(aws::Task::Estimate { limit: limit.unwrap_or(2.0) })
        }
        (["run", "conformance"], None) => {
            let target = aws::Target::new(prefix, region, endpoint)?;
            Ok(aws::Task::Run(aws::Part::Conformance, target))
        }
        (["run", "apps"], None) => {
            let target = aws::Target::new(prefix, region, endpoint)?;
            Ok(aws::Task::Run(aws::Part::Apps, target))
        }
        (["clean"], None) => Ok(aws::Task::Clean(aws::Target::new(prefix, region, endpoint)?)),
        _ => Err(format!("not a form of `cargo xtask aws`\n\n{USAGE}").into()),
    }
}

fn parse_permission(mut arguments: Parser) -> Result<Permission> {
    let mut permission = Permission::Install;
    while let Some(argument) = arguments.next()? {
        match argument {
            Arg::Long("no-install") => permission = Permission::UseOnly,
            other => return Err(refuse(other)),
        }
    }
    Ok(permission)
}

fn parse_options(mut arguments: Parser) -> Result<test::Options> {
    let mut options = test::Options {
        without_dynamodb: false,
        without_strace: false,
        without_clients: false,
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
                match server.as_str() {
                    "dynamodb" => options.without_dynamodb = true,
                    "strace" => options.without_strace = true,
                    "clients" => options.without_clients = true,
                    other => {
                        let message = format!(
                            "--without does not know this: {other} (known: dynamodb, strace, \
                             clients)"
                        );
                        return Err(message.into());
                    }
                }
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
    fn several_things_can_be_left_out() {
        let options = test_options(&["test", "--without", "clients", "--without=strace"])
            .expect("good arguments");
        assert!(options.without_clients && options.without_strace && !options.without_dynamodb);
    }

    #[test]
    fn tests_may_install_and_leave_nothing_out_unless_told() {
        let options = test_options(&["test"]).expect("good arguments");
        assert!(!options.without_dynamodb && !options.without_strace && !options.without_clients);
        assert_eq!(options.permission, Permission::Install);
        assert!(options.passed_on.is_empty());
    }

    #[test]
    fn a_measurement_has_the_options_of_tests() {
        let arguments = ["bench", "embedded", "--without", "dynamodb", "--", "--quick"];
        let Ok(Task::Bench(measurement, options)) = parse(Parser::from_args(arguments)) else {
            panic!("another task");
        };
        assert_eq!(measurement, "embedded");
        assert!(options.without_dynamodb);
        assert_eq!(options.passed_on, ["--quick"]);
    }

    #[test]
    fn aws_tasks_have_a_limit_or_a_target() {
        let target = ["--prefix=tabla-ci-7-", "--region=eu-west-1"];
        let task = |words: &[&str]| parse(Parser::from_args(words.iter().chain(&target)));
        let run = task(&["aws", "run", "apps"]);
        assert!(matches!(run, Ok(Task::Aws(aws::Task::Run(aws::Part::Apps, _)))));
        assert!(matches!(task(&["aws", "clean"]), Ok(Task::Aws(aws::Task::Clean(_)))));
        let estimate = parse(Parser::from_args(["aws", "estimate", "--max-usd", "2.5"]));
        assert!(matches!(estimate, Ok(Task::Aws(aws::Task::Estimate { limit: 2.5 }))));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for arguments in [
            &["test", "number"][..],
            &["test", "--without", "redis"],
            &["test", "--without"],
            &["check", "--fast"],
            &["dynamodb", "--without=dynamodb"],
            &["clients", "--without=clients"],
            &["aws"],
            &["aws", "run", "--prefix=tabla-ci-7-", "--region=eu-west-1"],
            &["aws", "run", "conformance", "--region=eu-west-1"],
            &["aws", "clean", "--prefix=tabla-ci-7-"],
            &["aws", "estimate", "--max-usd=much"],
            &["aws", "estimate", "--region=eu-west-1"],
            &["bench"],
            &["bench", "--quick"],
            &["bench", "embedded", "--quick"],
            &["measure"],
            &["--version"],
        ] {
            assert!(parse(Parser::from_args(arguments)).is_err(), "{arguments:?}");
        }
    }
}
