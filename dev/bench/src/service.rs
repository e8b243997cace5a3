//! HTTP service on loopback with a fixed response per operation, which costs as little as a service
//! can.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Responses by operation.
pub(crate) type Responses = BTreeMap<&'static str, String>;

/// Starts the service on its own thread, so that it shares only the socket with the callers. It
/// ends with the process.
pub(crate) fn start(responses: Responses) -> io::Result<SocketAddr> {
    let socket = std::net::TcpListener::bind("127.0.0.1:0")?;
    let address = socket.local_addr()?;
    socket.set_nonblocking(true)?;
    let responses = Arc::new(responses);
    std::thread::spawn(move || {
        if let Err(error) = listen(socket, responses) {
            eprintln!("the HTTP service failed: {error}");
        }
    });
    Ok(address)
}

fn listen(socket: std::net::TcpListener, responses: Arc<Responses>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let listener = TcpListener::from_std(socket)?;
        loop {
            let (connection, _) = listener.accept().await?;
            connection.set_nodelay(true)?;
            tokio::spawn(serve(connection, Arc::clone(&responses)));
        }
    })
}

/// Responds to requests one by one until the connection ends.
async fn serve(connection: TcpStream, responses: Arc<Responses>) -> io::Result<()> {
    let mut connection = BufReader::new(connection);
    let mut body = Vec::new();
    while let Some(request) = read_head(&mut connection).await? {
        body.resize(request.body_length, 0);
        connection.read_exact(&mut body).await?;
        let response = responses.get(request.operation.as_str()).map_or("{}", String::as_str);
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\n\
             x-amzn-RequestId: 1\r\nContent-Length: {}\r\n\r\n",
            response.len()
        );
        connection.write_all(&[head.as_bytes(), response.as_bytes()].concat()).await?;
        connection.flush().await?;
    }
    Ok(())
}

/// Fields of a request that the service needs.
#[derive(Default)]
struct Head {
    operation: String,
    body_length: usize,
}

/// Reads a request's head; `None` at the end of the connection.
async fn read_head(connection: &mut BufReader<TcpStream>) -> io::Result<Option<Head>> {
    let mut head = Head::default();
    let mut line = String::new();
    loop {
        line.clear();
        if connection.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        let text = line.trim_end();
        if text.is_empty() {
            return Ok(Some(head));
        }
        let Some((name, value)) = text.split_once(':') else { continue };
        if name.eq_ignore_ascii_case("content-length") {
            head.body_length = value.trim().parse().map_err(io::Error::other)?;
        } else if name.eq_ignore_ascii_case("x-amz-target") {
            head.operation = value.trim().rsplit('.').next().unwrap_or_default().to_owned();
        }
    }
}
