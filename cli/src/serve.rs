//! `tabla serve`: options, start and shutdown of the server for DynamoDB's wire protocol.

use std::io::IsTerminal;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use tabla::{Error, Registry, Result};
use tabla_server::{Credentials, ServerConfig, check_host, check_origin};
use tokio::signal::unix::{SignalKind, signal};

use crate::open_files;
use crate::output::print_line;

/// Default store address.
const IN_MEMORY: &str = "sqlite::memory:";

const EXAMPLES: &str = "\
Examples:
  tabla serve                                   data in memory, on 127.0.0.1:8000
  tabla serve --store sqlite:dev.db             data in a file, created if it does not exist
  tabla serve --listen 127.0.0.1:4000           another port; port 0 selects a free one
  tabla serve --listen 0.0.0.0:8000 --auth keys open to other machines, with signed requests
  tabla serve --cors https://app.example        also open to browser pages of that origin

Then, in another terminal:
  export AWS_ENDPOINT_URL=http://127.0.0.1:8000 AWS_DEFAULT_REGION=local AWS_REGION=local
  export AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any
  aws dynamodb list-tables

Without --auth, the server accepts requests of this machine only. The Host of a request must be
localhost, a loopback address, the address of --listen or a name of --host. The Origin of a browser
page must be on localhost or given with --cors. Other requests are refused with status 403.

The file of --auth has the format of ~/.aws/credentials:
  [somebody]
  aws_access_key_id = LOCALKEY
  aws_secret_access_key = a long secret";

// The description in the help is that of the variant in `main.rs`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Store address [default: in memory, lost on exit]
    #[arg(long, value_name = "ADDRESS")]
    store: Option<String>,
    /// IP address and port; 0 selects a free port
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8000", value_parser = address)]
    listen: SocketAddr,
    /// Accept only requests signed with a key in FILE [default: signatures are not checked]
    #[arg(long, value_name = "FILE")]
    auth: Option<PathBuf>,
    /// Allow --listen on an address that other machines can reach, without --auth
    #[arg(long)]
    insecure: bool,
    /// Accept requests of browser pages of this origin, besides localhost; repeatable
    #[arg(long, value_name = "ORIGIN", value_parser = origin, conflicts_with = "auth")]
    cors: Vec<String>,
    /// Accept requests whose Host is this name, besides localhost; repeatable
    #[arg(long, value_name = "NAME", value_parser = host, conflicts_with = "auth")]
    host: Vec<String>,
    /// Keep tables CREATING, UPDATING and DELETING for this time, to test programs that wait
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = seconds)]
    table_delay: f64,
    /// Lowest level of messages that are logged to standard error
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
            "cannot listen on {}: it can be reached from other machines, and anyone there could read \
             and write the store; check signatures with --auth FILE, listen on 127.0.0.1, or allow it \
             with --insecure",
            arguments.listen
        )));
    }
    let mut config = ServerConfig::new()
        .with_listen(arguments.listen)
        .with_table_delay(Duration::from_secs_f64(arguments.table_delay));
    if let Some(file) = &arguments.auth {
        config = config.with_credentials(Credentials::from_file(file)?);
    }
    config.insecure = arguments.insecure;
    config.origins = arguments.cors;
    config.hosts = arguments.host;
    open_files::raise_limit(&mut config);
    // Registered before the store is opened, so that a signal during the start is not missed.
    let mut terminate = listen_for(SignalKind::terminate())?;
    let mut interrupt = listen_for(SignalKind::interrupt())?;
    let address = arguments.store.as_deref().unwrap_or(IN_MEMORY);
    let server = config.spawn_with(registry.open(address)).await?;
    let data = match address {
        IN_MEMORY | "memory:" => {
            "data in memory, lost on exit (keep it with --store sqlite:dev.db)".to_owned()
        }
        address => format!("data in {address}"),
    };
    print_line!("tabla listens on {}; {data}", server.url());
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    // A second signal ends the program without waiting for in-flight requests.
    tokio::select! {
        () = server.shutdown() => {}
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

fn listen_for(kind: SignalKind) -> Result<tokio::signal::unix::Signal> {
    signal(kind).map_err(|error| Error::config(format!("cannot install a signal handler: {error}")))
}

fn address(text: &str) -> Result<SocketAddr, String> {
    if let Some(port) = text.strip_prefix("localhost:") {
        let port = port
            .parse()
            .map_err(|_| format!("`{port}` is not a port: give a number from 0 to 65535"))?;
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    text.parse().map_err(|_| {
        "expected an IP address and a port, such as 127.0.0.1:8000, [::1]:8000 or localhost:8000"
            .to_owned()
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
        _ => Err("expected a number of seconds from 0 to 3600".to_owned()),
    }
}
