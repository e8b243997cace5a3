//! Set-up, tests and checks of this workspace: `cargo xtask <task>`.
//!
//! It has few dependencies, so that it is built in seconds and can then report its progress while
//! the rest is built.

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

use server::{DYNAMODB_LOCAL, Permission, ServerKind, VERSITYGW};
use steps::Steps;

/// Result of a task. Errors are only printed, so a boxed error suffices.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

const USAGE: &str = "\
usage: cargo xtask <task>

tasks:
  test [--without dynamodb|s3|strace|clients]... [--no-install] [-- <test arguments>]
      Starts DynamoDB Local and versitygw, and runs every test and doctest of the workspace.
  check
      Format, prose, lints, documentation, dependency bans, packages for crates.io, licenses.
  bench <measurement> [--without dynamodb] [--no-install] [-- <options>]
      Measures a release build: `embedded` compares the SQLite engine with hand-written SQLite,
      Dynoxide and DynamoDB Local; `syncs`, `instructions`, `memory` and `growth` measure its costs.
      `cargo xtask bench help` lists the measurements and their options.
  aws estimate [--max-usd <dollars>]
      Estimates the price of `aws run`: runs both parts on `tabla serve` in memory, counts requests.
  aws run conformance|apps --prefix <prefix> (--region <region> | --endpoint <url>)
      Runs the conformance suite, or the tests of the apps, on DynamoDB in your AWS account.
  aws clean --prefix <prefix> (--region <region> | --endpoint <url>)
      Deletes the tables with that prefix; needs the AWS CLI.
  dynamodb [--no-install]
      Starts DynamoDB Local as `test` does and runs it until Ctrl-C.
  s3 [--no-install]
      Starts versitygw, an S3 server, as `test` does and runs it until Ctrl-C.
  clients [--no-install]
      Installs the clients in other languages for the tests, and prints the variables to set.

options:
  --without dynamodb  skip the tests that need DynamoDB Local, and report them
  --without s3        skip the tests that need versitygw, and report them
  --without strace    skip the tests that trace system calls
  --without clients   skip the tests of the servers with clients in other languages
  --no-install        install no programs or packages; use what is on this machine
  --max-usd           fail if the estimate is higher, in USD [default: 2.00]
  --prefix            prefix of the table names of the run, such as tabla-ci-17-
  --endpoint          URL of DynamoDB Local, to use instead of AWS

TABLA_DYNAMODB_ENDPOINT names a running DynamoDB Local to use instead of starting one.
TABLA_S3_ENDPOINT names a running S3 server to use instead of starting versitygw; its keys are in
TABLA_S3_ACCESS_KEY [default: test] and TABLA_S3_SECRET_KEY [default: testtest].
TABLA_CHROMIUM names a browser to use instead of one found on PATH.
";

enum Task {
    Test(test::Options),
    Bench(String, test::Options),
    Check,
    Aws(aws::Task),
    Serve(&'static ServerKind, Permission),
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
            Task::Serve(kind, permission) => server::leak(steps, kind, permission),
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
                None => return Err(format!("bench: the measurement is missing\n\n{USAGE}").into()),
            };
            parse_options(arguments).map(|options| Task::Bench(measurement, options))
        }
        "check" => match arguments.next()? {
            None => Ok(Task::Check),
            Some(other) => Err(refuse(other)),
        },
        "aws" => parse_aws(arguments).map(Task::Aws),
        "dynamodb" => parse_server(arguments, &DYNAMODB_LOCAL),
        "s3" => parse_server(arguments, &VERSITYGW),
        "clients" => parse_permission(arguments).map(Task::Clients),
        other => Err(format!("unknown task `{other}`\n\n{USAGE}").into()),
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
        _ => Err(format!("invalid arguments of `cargo xtask aws`\n\n{USAGE}").into()),
    }
}

fn parse_server(arguments: Parser, kind: &'static ServerKind) -> Result<Task> {
    parse_permission(arguments).map(|permission| Task::Serve(kind, permission))
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
        without: Vec::new(),
        permission: Permission::Install,
        passed_on: Vec::new(),
    };
    // `--` ends the options. lexopt would hide its position.
    loop {
        if let Some(rest) = after_separator(&mut arguments) {
            options.passed_on = rest;
            return Ok(options);
        }
        match arguments.next()? {
            None => return Ok(options),
            Some(Arg::Long("no-install")) => options.permission = Permission::UseOnly,
            Some(Arg::Long("without")) => {
                let value = arguments.value()?.string()?;
                let Some(what) = test::OPTIONAL.into_iter().find(|what| *what == value) else {
                    let possible = test::OPTIONAL.join(", ");
                    let message =
                        format!("--without: unknown value `{value}` (possible: {possible})");
                    return Err(message.into());
                };
                if !options.leaves_out(what) {
                    options.without.push(what);
                }
            }
            Some(other) => return Err(refuse(other)),
        }
    }
}

/// Arguments after `--`, if that is the next argument.
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
    fn arguments_after_separator_are_passed_on() {
        let options = test_options(&["test", "--without", "dynamodb", "--", "number", "--exact"])
            .expect("valid arguments");
        assert_eq!(options.without, ["dynamodb"]);
        assert_eq!(options.passed_on, ["number", "--exact"]);
    }

    #[test]
    fn without_can_be_repeated() {
        let options =
            test_options(&["test", "--without", "s3", "--without=strace", "--without=s3"])
                .expect("valid arguments");
        assert_eq!(options.without, ["s3", "strace"]);
        assert!(options.leaves_out("s3") && !options.leaves_out("dynamodb"));
    }

    #[test]
    fn test_installs_and_skips_nothing_by_default() {
        let options = test_options(&["test"]).expect("valid arguments");
        assert!(options.without.is_empty());
        assert_eq!(options.permission, Permission::Install);
        assert!(options.passed_on.is_empty());
    }

    #[test]
    fn bench_has_options_of_test() {
        let arguments = ["bench", "embedded", "--without", "dynamodb", "--", "--quick"];
        let Ok(Task::Bench(measurement, options)) = parse(Parser::from_args(arguments)) else {
            panic!("another task");
        };
        assert_eq!(measurement, "embedded");
        assert_eq!(options.without, ["dynamodb"]);
        assert_eq!(options.passed_on, ["--quick"]);
    }

    #[test]
    fn every_server_can_be_left_out_and_has_a_task() {
        for kind in server::SERVERS {
            assert!(test::OPTIONAL.contains(&kind.short_name), "{}", kind.name);
            let Ok(Task::Serve(served, Permission::UseOnly)) =
                parse(Parser::from_args([kind.short_name, "--no-install"]))
            else {
                panic!("another task");
            };
            assert_eq!(served.name, kind.name);
        }
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
    fn unknown_arguments_are_rejected() {
        for arguments in [
            &["test", "number"][..],
            &["test", "--without", "redis"],
            &["test", "--without"],
            &["check", "--fast"],
            &["dynamodb", "--without=dynamodb"],
            &["s3", "--without=s3"],
            &["versitygw"],
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
