//! Side-by-side measurements: tabla beside what it stands on or is compared with, in one run, on
//! one machine, turn by turn.

mod dynamo_overhead;
mod median;
mod service;

use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo run --release -p tabla-bench -- <measurement> [calls]

Measurements:
  dynamo-overhead  get, put and query through DynamoStore beside the SDK's own calls, against an
                   HTTP service in this process; `calls` of each kind, 10000 unless told";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let measurement = arguments.next().unwrap_or_default();
    let calls = arguments.next().map_or(Ok(10_000), |calls| calls.parse::<usize>());
    match (measurement.as_str(), calls) {
        ("dynamo-overhead", Ok(calls)) if calls > 0 => dynamo_overhead::run(calls),
        _ => {
            eprintln!("{USAGE}");
            ExitCode::FAILURE
        }
    }
}
