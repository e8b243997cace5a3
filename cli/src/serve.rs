//! `tabla serve`: DynamoDB's wire protocol on any store.

use std::io::IsTerminal;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use tabla::{Error, Registry, Result};
use tabla_server::{Credentials, ServerConfig, check_host, check_origin};
use tokio::signal::unix::{SignalKind, signal};

use crate::open_files;
use crate::output::print_line;

/// The store of a server that was told none.
const IN_MEMORY: &str = "sqlite::memory:";

const EXAMPLES: &str = "\
Examples:
  tabla serve                                   in memory, on 127.0.0.1:8000
  tabla serve --store sqlite:dev.db             in a file, which is made if it is not there
  tabla serve --listen 127.0.0.1:4000           on another port; port 0 is any free one
  tabla serve --listen 0.0.0.0:8000 --auth keys for other machines, that sign with these keys
  tabla serve --cors https://app.example        for pages of that origin in a browser, too

Then, in another terminal:
  export AWS_ENDPOINT_URL=http://127.0.0.1:8000 AWS_DEFAULT_REGION=local AWS_REGION=local
  export AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any
  aws dynamodb list-tables

Without --auth, only programs and pages of this machine are answered: the Host of a request must be
localhost, a loopback address, the address of --listen or a name of --host, and the Origin of a page
must be on localhost or given with --cors. Other requests are refused with status 403.

A file of keys has the form of ~/.aws/credentials:
  [somebody]
  aws_access_key_id = LOCALKEY
  aws_secret_access_key = a long secret";

/// What the server is told.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Where the data is; in memory, and gone when the server ends, unless told
    #[arg(long, value_name = "ADDRESS")]
    store: Option<String>,
    /// Where to listen
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8000", value_parser = address)]
    listen: SocketAddr,
    /// Take only requests that one of the keys in this file has signed; without it, anybody's
    #[arg(long, value_name = "FILE")]
    auth: Option<PathBuf>,
    /// Listen beyond this machine although anybody's requests are taken
    #[arg(long)]
    insecure: bool,
    /// Answer pages of this origin in a browser, besides those on localhost; may be repeated
    #[arg(long, value_name = "ORIGIN", value_parser = origin, conflicts_with = "auth")]
    cors: Vec<String>,
    /// Answer requests that address the server by this name, besides localhost; may be repeated
    #[arg(long, value_name = "NAME", value_parser = host, conflicts_with = "auth")]
    host: Vec<String>,
    /// Let tables be CREATING, UPDATING and DELETING for so long, to test programs that wait
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = seconds)]
    table_delay: f64,
    /// What to log, to the standard error
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    #[arg(value_parser = ["off", "error", "warn", "info", "debug", "trace"])]
    log: String,
}

pub(crate) async fn run(arguments: Arguments, registry: Registry) -> Result<()> {
    let level = arguments.log.parse().unwrap_or(tracing_subscriber::filter::LevelFilter::WARN);
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .init();
    if !arguments.listen.ip().is_loopback() && arguments.auth.is_none() && !arguments.insecure {
        return Err(Error::config(format!(
            "{} can be reached from other machines, and anybody could read and write the store: say \
             who may with --auth FILE, listen on 127.0.0.1, or say --insecure",
            arguments.listen
        )));
    }
    let mut config = ServerConfig::new()
        .with_listen(arguments.listen)
        .with_transition(Duration::from_secs_f64(arguments.table_delay));
    if let Some(file) = &arguments.auth {
        config = config.with_credentials(Credentials::from_file(file)?);
    }
    config.insecure = arguments.insecure;
    config.origins = arguments.cors;
    config.hosts = arguments.host;
    open_files::raise_limit(&mut config);
    // Before anything is opened: whoever asks the server to end while it starts is heard.
    let mut terminate = listen_for(SignalKind::terminate())?;
    let mut interrupt = listen_for(SignalKind::interrupt())?;
    let address = arguments.store.as_deref().unwrap_or(IN_MEMORY);
    let server = config.spawn_with(registry.open(address)).await?;
    let data = match address {
        IN_MEMORY | "memory:" => {
            "data in memory, gone when this ends (--store sqlite:dev.db keeps it)".to_owned()
        }
        address => format!("data in {address}"),
    };
    print_line!("tabla answers at {}; {data}", server.url());
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    // Whoever asks twice does not want to wait for clients that are slow.
    tokio::select! {
        () = server.shutdown() => {}
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

fn listen_for(kind: SignalKind) -> Result<tokio::signal::unix::Signal> {
    signal(kind).map_err(|error| Error::config(format!("signals cannot be heard: {error}")))
}

fn address(text: &str) -> Result<SocketAddr, String> {
    if let Some(port) = text.strip_prefix("localhost:") {
        let port = port.parse().map_err(|_| format!("{port} is no port"))?;
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    text.parse().map_err(|_| {
        "an address has the form 127.0.0.1:8000, [::1]:8000 or localhost:8000".to_owned()
    })
}

fn origin(text: &str) -> Result<String, String> {
    check_origin(text).map_err(|error| error.message().to_owned())?;
    Ok(text.to_owned())
}

fn host(text: &str) -> Result<String, String> {
    check_host(text).map_err(|error| error.message().to_owned())?;
    Ok(text.to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.0..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("a number of seconds, at most 3600".to_owned()),
    }
}
