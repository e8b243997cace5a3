//! Runs a server for tests until standard input closes.
//!
//! ```text
//! test-server dynamodb-local [--jars FOLDER]
//! test-server versitygw [--binary FILE --data FOLDER]
//! ```
//!
//! The first line on standard output is the address of a server that responds to requests. The
//! server does not outlive the process that started this program: when that process ends, the pipe
//! closes.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use tabla_testkit::{Endpoint, dynamodb, versitygw};

const USAGE: &str = "usage: test-server dynamodb-local [--jars FOLDER]
       test-server versitygw [--binary FILE --data FOLDER]";

fn main() -> ExitCode {
    match run(&env::args_os().skip(1).collect::<Vec<_>>()) {
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

fn run(arguments: &[OsString]) -> Result<(), Box<dyn Error>> {
    let [server, options @ ..] = arguments else {
        return Err(USAGE.into());
    };
    let endpoint = start(server, options)?;
    eprintln!("{}: {}", server.display(), endpoint.origin());
    let mut output = io::stdout().lock();
    writeln!(output, "{}", endpoint.url())?;
    output.flush()?;
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    Ok(())
}

fn start(server: &OsString, options: &[OsString]) -> Result<Endpoint, Box<dyn Error>> {
    let endpoint = match (server.to_str(), options) {
        (Some("dynamodb-local"), []) => dynamodb::endpoint()?,
        (Some("dynamodb-local"), [option, folder]) if option == "--jars" => {
            dynamodb::run_jars(Path::new(folder))?
        }
        (Some("versitygw"), []) => versitygw::endpoint()?,
        (Some("versitygw"), [first, program, second, data])
            if first == "--binary" && second == "--data" =>
        {
            versitygw::run_binary(Path::new(program), Path::new(data))?
        }
        _ => return Err(USAGE.into()),
    };
    Ok(endpoint)
}
