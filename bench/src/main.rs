//! Side-by-side measurements: tabla beside what it stands on or is compared with, in one run, on
//! one machine, turn by turn.

mod dynamo_overhead;
mod embedded;
mod growth;
mod median;
mod service;

use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask bench <measurement> [-- <options>]

Measurements:
  dynamo-overhead [calls]
      get, put and query through DynamoStore beside the SDK's own calls, against an HTTP service
      in this process; `calls` of each kind, 10000 unless told
  embedded [options]
      ten operations on the SQLite engine, on SQLite by hand, on Dynoxide and on DynamoDB Local
      (the server that TABLA_DYNAMODB_ENDPOINT names)
        --quick              a tenth of the work
        --rounds <n>         repetitions, of which the middle one counts; 5 unless told
        --places <a,b>       of memory, durable, relaxed
        --callers <a,b>      numbers of concurrent callers; 1,16,64 unless told
        --operations <a,b>   get, put, update-if, delete, query-50, index-query-50,
                             filter-query-50, batch-write-25, batch-get-100, transact-4
        --without <a,b>      of limit, dynoxide, dynamodb
        --folder <path>      where the files are made, in a folder of their own; the system's
                             folder for temporary files unless told
        --json <file>        writes all rows
  growth [--items <a,b>] [--folder <path>]
      pages that a get and a query of 50 read from files of these many items; 10000,100000 unless
      told (Linux only)";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let measurement = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let outcome = match measurement.as_str() {
        "dynamo-overhead" => match rest.first().map_or(Ok(10_000), |calls| calls.parse()) {
            Ok(calls) if calls > 0 && rest.len() < 2 => return dynamo_overhead::run(calls),
            _ => Err(format!("`calls` is one number\n\n{USAGE}").into()),
        },
        "embedded" => embedded::run(&rest),
        embedded::FOOTPRINT => embedded::footprint(&rest),
        "growth" => growth::run(&rest),
        "help" => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(USAGE.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
