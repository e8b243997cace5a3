//! Runs DynamoDB Local until standard input closes.
//!
//! ```text
//! dynamodb-local [--jars FOLDER]
//! ```
//!
//! The first line on standard output is the address of a server that responds to requests. The
//! server does not outlive the process that started this program: when that process ends, the pipe
//! closes.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use tabla_testkit::dynamodb;

fn main() -> ExitCode {
    match run(env::args_os().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            let mut cause = error.source();
            while let Some(error) = cause {
                eprintln!("  caused by: {error}");
                cause = error.source();
            }
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Vec<OsString>) -> Result<(), Box<dyn Error>> {
    let endpoint = match arguments.as_slice() {
        [] => dynamodb::endpoint()?,
        [option, folder] if option == "--jars" => dynamodb::run_jars(&PathBuf::from(folder))?,
        _ => return Err("usage: dynamodb-local [--jars FOLDER]".into()),
    };
    eprintln!("DynamoDB Local: {}", endpoint.origin());
    let mut output = io::stdout().lock();
    writeln!(output, "{}", endpoint.url())?;
    output.flush()?;
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    Ok(())
}
