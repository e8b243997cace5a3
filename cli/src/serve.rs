//! `tabla serve`: options, start and shutdown of the server for DynamoDB's wire protocol, and of the
//! gateway for blobs.

use std::io::IsTerminal;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tabla::s3::gateway::{self, GatewayConfig};
use tabla::s3::open_buckets;
use tabla::{Error, OpenContext, Registry, Result};
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
  tabla serve --blobs file:assets               also the files of that folder, on 127.0.0.1:9000

Then, in another terminal:
  export AWS_ENDPOINT_URL=http://127.0.0.1:8000 AWS_DEFAULT_REGION=local AWS_REGION=local
  export AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any
  aws dynamodb list-tables

Without --auth, the server accepts requests of this machine only. The Host of a request must be
localhost, a loopback address, the address of --listen or a name of --host. The Origin of a browser
page must be on localhost or given with --cors. Other requests are refused with status 403.

Every request to --blobs must be signed: with the key that `tabla blobs key file:assets` prints, or
with a key of --auth. Browser pages read responses only if their origin is given with --cors.

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
    /// IP address and port; 0: a free port
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8000", value_parser = address)]
    listen: SocketAddr,
    /// Accept only requests signed with a key in FILE [default: signatures are not checked]
    #[arg(long, value_name = "FILE")]
    auth: Option<PathBuf>,
    /// Allow --listen on an address that other machines can reach, without --auth
    #[arg(long)]
    insecure: bool,
    /// Accept requests of browser pages of this origin, besides localhost; repeatable
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    cors: Vec<String>,
    /// Accept requests whose Host is this name, besides localhost; repeatable
    #[arg(long, value_name = "NAME", value_parser = host, conflicts_with = "auth")]
    host: Vec<String>,
    /// Serve the blobs of this address over S3's protocol, too; created if it does not exist
    #[arg(long, value_name = "ADDRESS")]
    blobs: Option<String>,
    /// The same for the blobs
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9000", value_parser = address)]
    #[arg(requires = "blobs")]
    blobs_listen: SocketAddr,
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
    let is_signed = arguments.auth.is_some();
    if !(arguments.listen.ip().is_loopback() || is_signed || arguments.insecure) {
        return Err(Error::config(format!(
            "cannot listen on {}: it can be reached from other machines, and anyone there could read \
             and write the store; check signatures with --auth FILE, listen on 127.0.0.1, or allow it \
             with --insecure",
            arguments.listen
        )));
    }
    if arguments.blobs.is_some() {
        if !(arguments.blobs_listen.ip().is_loopback() || is_signed) {
            return Err(Error::config(format!(
                "cannot serve blobs on {}: it can be reached from other machines; give keys for its \
                 clients with --auth FILE, or listen on 127.0.0.1",
                arguments.blobs_listen
            )));
        }
    } else if is_signed && !arguments.cors.is_empty() {
        return Err(Error::config(
            "--cors has no effect with --auth: pages of every origin may send signed requests, as on \
             AWS; leave it out, or serve blobs with --blobs",
        ));
    }
    let credentials =
        arguments.auth.as_deref().map(Credentials::from_file).transpose()?.map(Arc::new);
    let mut config = ServerConfig::new()
        .with_listen(arguments.listen)
        .with_table_delay(Duration::from_secs_f64(arguments.table_delay));
    if let Some(credentials) = &credentials {
        config = config.with_credentials(Arc::clone(credentials));
    }
    config.insecure = arguments.insecure;
    config.origins = arguments.cors.clone();
    config.hosts = arguments.host;
    open_files::raise_limit(&mut config);
    // Registered before the store is opened, so that a signal during the start is not missed.
    let mut terminate = listen_for(SignalKind::terminate())?;
    let mut interrupt = listen_for(SignalKind::interrupt())?;
    let address = arguments.store.as_deref().unwrap_or(IN_MEMORY);
    let mut listener = config.listener.clone().with_listen(arguments.blobs_listen);
    listener.insecure = false;
    let server = config.spawn_with(registry.open(address)).await?;
    let data = match address {
        IN_MEMORY | "memory:" => {
            "data in memory, lost on exit (keep it with --store sqlite:dev.db)".to_owned()
        }
        address => format!("data in {address}"),
    };
    let gateway = match &arguments.blobs {
        None => None,
        Some(blobs) => {
            let mut config = GatewayConfig::new().with_listener(listener);
            config.credentials = credentials;
            let buckets = open_buckets(blobs, &OpenContext::new()).await?;
            Some((gateway::spawn(buckets, config).await?, blobs))
        }
    };
    print_line!("tabla listens on {}; {data}", server.url());
    if let Some((gateway, blobs)) = &gateway {
        print_line!("blobs of {blobs} on {}", gateway.url());
    }
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    let shutdown = async {
        let gateway = async {
            if let Some((gateway, _)) = gateway {
                gateway.shutdown().await;
            }
        };
        tokio::join!(server.shutdown(), gateway);
    };
    // A second signal ends the program without waiting for in-flight requests.
    tokio::select! {
        () = shutdown => {}
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
