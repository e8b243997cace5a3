//! Memory of a server while a large blob goes up, as a multipart upload, and down.

use bytes::Bytes;
use futures::{StreamExt, stream};
use tabla_core::blobs::{BlobsExt, Upload};

use super::Contestant;
use super::content::pseudo_random;
use super::options::Options;
use super::server::{Server, ServerProgram};
use crate::embedded::Failure;
use crate::http::program::Host;
use crate::median::Stopwatch;
use crate::process;

/// Length of the pieces of the stream that is uploaded. Its parts have other limits.
const PIECE_BYTES: usize = 1_000_003;

const KEY: &str = "large";

/// Transfer of the large blob, with the resident memory of the server in bytes.
pub(crate) struct Transferred {
    pub(super) contestant: Contestant,
    pub(super) bytes: u64,
    pub(super) up_seconds: f64,
    pub(super) down_seconds: f64,
    pub(super) at_rest: u64,
    pub(super) peak_up: u64,
    pub(super) peak: u64,
}

/// Transfers the blob to and from each server, each in a new process.
pub(super) fn measure(
    options: &Options,
    host: &Host,
    programs: &[&ServerProgram],
) -> Result<Vec<Transferred>, Failure> {
    let mut found = Vec::new();
    for program in programs {
        let server = program.start(host)?;
        let transferred = host.runtime.block_on(transfer(&server, options.large));
        let name = program.contestant.name();
        found.push(transferred.map_err(|error| format!("{name}, large blob: {error}"))?);
        eprintln!("done: large blob of {name}");
    }
    Ok(found)
}

async fn transfer(server: &Server, bytes: u64) -> Result<Transferred, Failure> {
    let process = server.running.process();
    let at_rest = server.running.resident()?;
    let piece = pseudo_random(PIECE_BYTES);
    let watch = Stopwatch::start();
    let content = stream::iter(pieces(piece.clone(), bytes).map(Ok)).boxed();
    server.blobs.upload(Upload::new(KEY), content).await?;
    let up_seconds = watch.seconds();
    let peak_up = process::peak_of(process)?;
    let watch = Stopwatch::start();
    let mut at = 0;
    let mut is_same = true;
    let length = usize::try_from(bytes)?;
    server.read(KEY, length, |received| is_same &= is_at(&piece, &mut at, received)).await?;
    let down_seconds = watch.seconds();
    if !is_same {
        return Err("the downloaded bytes are not the uploaded ones".into());
    }
    let peak = process::peak_of(process)?;
    let contestant = server.contestant;
    Ok(Transferred { contestant, bytes, up_seconds, down_seconds, at_rest, peak_up, peak })
}

/// Repetitions of a piece, of this length together.
fn pieces(piece: Bytes, bytes: u64) -> impl Iterator<Item = Bytes> + Send + 'static {
    let length = piece.len() as u64;
    (0..bytes.div_ceil(length)).map(move |number| {
        let left = (bytes - number * length).min(length);
        piece.slice(..left as usize)
    })
}

/// Whether the received bytes are the repeated piece at this position, which moves behind them.
fn is_at(piece: &[u8], at: &mut usize, received: &[u8]) -> bool {
    let mut rest = received;
    while !rest.is_empty() {
        let begin = *at % piece.len();
        let count = rest.len().min(piece.len() - begin);
        if rest[..count] != piece[begin..begin + count] {
            return false;
        }
        *at += count;
        rest = &rest[count..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn received_bytes_are_compared_across_pieces() {
        let piece = Bytes::from_static(b"abc");
        let all: Vec<u8> = pieces(piece.clone(), 8).flatten().collect();
        assert_eq!(all, b"abcabcab");
        let mut at = 0;
        assert!(is_at(&piece, &mut at, b"ab") && is_at(&piece, &mut at, b"cabca"));
        assert_eq!(at, 7);
        assert!(!is_at(&piece, &mut at, b"c"));
    }
}
