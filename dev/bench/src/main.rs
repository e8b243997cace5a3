//! Side-by-side measurements: tabla beside what it stands on or is compared with, in one run, on
//! one machine, turn by turn.

mod activity_log;
mod dynamo_overhead;
mod embedded;
mod entity_overhead;
mod growth;
mod http;
mod instructions;
mod median;
mod memory;
mod process;
mod service;
mod streams;
mod sweep;
mod syncs;

use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask bench <measurement> [-- <options>]

Measurements:
  activity-log [--events <n>] [--users <n>] [--durability full|normal] [--folder <path>]
      the activity log of Esencia Fest at its full size: 1000000 events of 7000 visitors unless
      told, written, read, and swept after their ninety days, by a clock that is moved
  dynamo-overhead [calls]
      get, put and query through DynamoStore beside the SDK's own calls, against an HTTP service
      in this process; `calls` of each kind, 10000 unless told
  embedded [options]
      ten operations on the SQLite engine, on SQLite by hand, on Dynoxide and on DynamoDB Local
      (the server that TABLA_DYNAMODB_ENDPOINT names)
        --quick              a tenth of the work
        --rounds <n>         repetitions, of which the middle one counts; 15 unless told
        --places <a,b>       of memory, durable, relaxed
        --callers <a,b>      numbers of concurrent callers; 1,16,64 unless told
        --operations <a,b>   get, put, update-if, delete, query-50, index-query-50,
                             filter-query-50, batch-write-25, batch-get-100, transact-4
        --without <a,b>      of limit, dynoxide, dynamodb
        --folder <path>      where the files are made, in a folder of their own; the system's
                             folder for temporary files unless told
        --json <file>        writes all rows
  entity-overhead [calls]
      get and put of a typed entity beside the same calls written by hand, on SQLite in memory;
      `calls` of each kind, 20000 unless told; fails if a goal is missed
  growth [--items <a,b>] [--folder <path>]
      pages that a get and a query of 50 read from files of these many items; 10000,100000 unless
      told (Linux only)
  http [options]
      get, put, conditional update, query of 50 and transact of 4 by HTTP on `tabla serve`, on
      Dynoxide, on DynamoDB Local and on dynalite, in memory and durable; how long each takes to its
      first answer, and its memory at rest and when it is full (Linux only)
        --quick              5 rounds, shorter turns, 20000 items of a full server
        --rounds <n>         repetitions, of which the middle one counts; 9 unless told
        --servers <a,b>      of tabla, dynoxide, dynamodb, dynalite
        --places <a,b>       of memory, durable
        --connections <a,b>  numbers of concurrent connections; 1,16,64 unless told
        --operations <a,b>   of get, put, update-if, query-50, transact-4
        --items <n>          items of a full server; 1000000 unless told, none with 0
        --folder <path>      as for embedded
        --json <file>        writes all rows
        --tabla <program>, --dynoxide <program>, --dynamodb <folder of jars>,
        --dynalite <folder>  where the servers are; `cargo xtask bench` says it
  sweep [--items <n>] [--places <a,b>] [--callers <a,b>] [--folder <path>]
      how long puts take while the store deletes this many expired items, beside the same puts
      while nothing has expired, in turns; 100000 items, in memory, durable and relaxed, by 1,16
      callers unless told, without a stream and with one; fails if a goal is missed
  streams [options]
      put, conditional update, delete and transact of 4 on the SQLite engine with a stream of keys
      and with one of both images, beside the same without one; how long records take to read
      back; fails if a goal is missed
        --rounds <n>         repetitions, of which the middle ratio counts; three times 9 unless told
        --places <a,b>       of memory, durable, relaxed
        --callers <a,b>      numbers of concurrent callers; 1,16 unless told
        --operations <a,b>   of put, update-if, delete, transact-4
        --folder <path>      as for embedded
  syncs [--callers <a,b>] [--writes <n>] [--rounds <n>] [--folder <path>]
      syncs per durable write: put, update-if and transact-4 at 1,16,64 callers unless told, 50
      writes of each caller, 5 rounds, of which the middle one counts; fails if a goal is missed
      (needs perf or strace)
  instructions [--operations <a,b>]
      instructions of the processor per operation, of the SQLite engine and of SQLite by hand, in
      memory, one caller (needs valgrind)
  memory [--items <a,b>] [--folder <path>]
      memory of a process that holds these many items in one store, 1000,10000,100000 unless told,
      and of one more store (Linux only)";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let measurement = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let outcome = match measurement.as_str() {
        "dynamo-overhead" => match rest.first().map_or(Ok(10_000), |calls| calls.parse()) {
            Ok(calls) if calls > 0 && rest.len() < 2 => return dynamo_overhead::run(calls),
            _ => Err(format!("`calls` is one number\n\n{USAGE}").into()),
        },
        "entity-overhead" => match rest.first().map_or(Ok(20_000), |calls| calls.parse()) {
            Ok(calls) if calls > 0 && rest.len() < 2 => entity_overhead::run(calls),
            _ => Err(format!("`calls` is one number\n\n{USAGE}").into()),
        },
        "activity-log" => activity_log::run(&rest),
        "embedded" => embedded::run(&rest),
        embedded::FOOTPRINT => embedded::footprint(&rest),
        "growth" => growth::run(&rest),
        "http" => http::run(&rest),
        "streams" => streams::run(&rest),
        "syncs" => syncs::run(&rest),
        syncs::CHILD => syncs::child(&rest),
        "sweep" => sweep::run(&rest),
        "instructions" => instructions::run(&rest),
        instructions::CHILD => instructions::child(&rest),
        "memory" => memory::run(&rest),
        memory::CHILD => memory::child(&rest),
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
