//! Comparative measurements: tabla and the programs that it is compared with, in one run, on one
//! machine, in turns.

mod activity_log;
mod blobs;
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
  activity-log [--events <n>] [--users <n>] [--durability durable|relaxed] [--folder <path>]
      writes, consumes, reads and sweeps the activity log of Esencia Fest at full size, on a
      manual clock [default: 1000000 events of 7000 visitors, durability durable]
  blobs [options]
      compares put and get of blobs of 1 KB, 1 MB and 100 MB: `file:` beside plain synced files
      and object_store's LocalFileSystem, and the gateway of `tabla serve` beside versitygw;
      counts the fsyncs per put, and measures the memory of the servers while a large blob goes
      up and down (Linux only; needs strace)
        --quick              run 3 rounds with shorter turns, and a large blob of 64 MB
        --rounds <n>         repetitions, of which the median counts [default: 9]
        --parts <a,b>        of syncs, local, http, large
        --sizes <a,b>        of 1kb, 1mb, 100mb
        --operations <a,b>   of put, get
        --callers <a,b>      numbers of concurrent callers up to 1 MB [default: 1,16]
        --checksum <name>    checksum that the client sends with a put, such as crc64nvme, which
                             is stored and verified in a get [default: none; tabla then stores
                             SHA-256, versitygw CRC64NVME]
        --large <GB>         length of the large blob [default: 0.25]
        --folder <path>      as for embedded
        --json <file>        write all rows to this file
        --tabla <program>, --versitygw <program>
                             paths of the servers; set by `cargo xtask bench`
  dynamo-overhead [calls]
      compares get, put and query of DynamoStore with the SDK's own calls, on an HTTP service
      in this process; `calls` of each kind [default: 10000]
  embedded [options]
      compares ten operations on the SQLite engine, hand-written SQLite, Dynoxide and DynamoDB
      Local (the server that TABLA_DYNAMODB_ENDPOINT names)
        --quick              do a tenth of the work
        --rounds <n>         repetitions, of which the median counts [default: 15]
        --places <a,b>       storage modes: of memory, durable, relaxed
        --callers <a,b>      numbers of concurrent callers [default: 1,16,64]
        --operations <a,b>   get, put, update-if, delete, query-50, index-query-50,
                             filter-query-50, batch-write-25, batch-get-100, transact-4
        --without <a,b>      of limit, dynoxide, dynamodb
        --folder <path>      parent of the folder that the files are in [default: the
                             system's folder for temporary files]
        --json <file>        write all rows to this file
  entity-overhead [calls]
      compares get and put of a typed entity with hand-written calls, on SQLite in memory;
      `calls` of each kind [default: 20000]; fails if a goal is missed
  growth [--items <a,b>] [--folder <path>]
      counts the pages that a get and a query of 50 read from files of this many items
      [default: 10000,100000] (Linux only)
  http [options]
      compares get, put, conditional update, query of 50 and transact of 4 by HTTP on `tabla
      serve`, Dynoxide, DynamoDB Local and dynalite, in memory and durable; also the time to the
      first response, and the memory at rest and full (Linux only)
        --quick              run 5 rounds with shorter turns, and 20000 items of a full server
        --rounds <n>         repetitions, of which the median counts [default: 9]
        --servers <a,b>      of tabla, dynoxide, dynamodb, dynalite
        --places <a,b>       storage modes: of memory, durable
        --connections <a,b>  numbers of concurrent connections [default: 1,16,64]
        --operations <a,b>   of get, put, update-if, query-50, transact-4
        --items <n>          items of a full server; 0 skips it [default: 1000000]
        --folder <path>      as for embedded
        --json <file>        write all rows to this file
        --tabla <program>, --dynoxide <program>, --dynamodb <folder of jars>,
        --dynalite <folder>  paths of the servers; set by `cargo xtask bench`
  sweep [--items <n>] [--places <a,b>] [--callers <a,b>] [--folder <path>]
      compares puts while the store deletes this many expired items with puts while nothing
      has expired, in turns, without a stream and with one [default: 100000 items, all places,
      1,16 callers]; fails if a goal is missed
  streams [options]
      compares put, conditional update, delete and transact of 4 on the SQLite engine with a
      stream of keys, with one of both images, and without a stream; also the time to read the
      records back; fails if a goal is missed
        --rounds <n>         repetitions, of which the median ratio counts [default: 3 times 9]
        --places <a,b>       storage modes: of memory, durable, relaxed
        --callers <a,b>      numbers of concurrent callers [default: 1,16]
        --operations <a,b>   of put, update-if, delete, transact-4
        --folder <path>      as for embedded
  syncs [--callers <a,b>] [--writes <n>] [--rounds <n>] [--folder <path>]
      counts fsyncs per durable write of put, update-if and transact-4 [default: 1,16,64
      callers, 50 writes of each, 5 rounds, of which the median counts]; fails if a goal is
      missed (needs perf or strace)
  instructions [--operations <a,b>] [--processes <n>]
      counts processor instructions per operation of hand-written SQLite and of the SQLite
      engine in memory, one caller: with ?retries=off, with the default retries, and with a
      stream; the first two of the engine are medians of this many processes [default: 7];
      says whether the default needs at most 1.01 times as many as ?retries=off (needs
      valgrind)
  memory [--items <a,b>] [--folder <path>]
      measures the memory of a process with this many items in one store [default:
      1000,10000,100000], and of one more store (Linux only)";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let measurement = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let outcome = match measurement.as_str() {
        "dynamo-overhead" => match rest.first().map_or(Ok(10_000), |calls| calls.parse()) {
            Ok(calls) if calls > 0 && rest.len() < 2 => return dynamo_overhead::run(calls),
            _ => Err(format!("`calls` must be one number above 0\n\n{USAGE}").into()),
        },
        "entity-overhead" => match rest.first().map_or(Ok(20_000), |calls| calls.parse()) {
            Ok(calls) if calls > 0 && rest.len() < 2 => entity_overhead::run(calls),
            _ => Err(format!("`calls` must be one number above 0\n\n{USAGE}").into()),
        },
        "activity-log" => activity_log::run(&rest),
        "blobs" => blobs::run(&rest),
        blobs::SYNCS_CHILD => blobs::syncs_child(&rest),
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
