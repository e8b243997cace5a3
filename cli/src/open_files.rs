//! How many files the system lets the server open, and how many connections that is enough for.
//!
//! A connection is an open file. A server that let in as many clients as it can open files would have
//! none left to answer them with: its store opens files to read.

#[cfg(unix)]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tabla_server::ServerConfig;

/// What is open whoever comes: the streams of the process, what the runtime waits with, the socket that
/// listens, and what a store has open to write. A server on a file has some twenty; whoever started it
/// may have left it others.
const RESERVED: usize = 32;

/// What a request has open while it is worked on: to read from SQLite, the file and its log; on a
/// service, a connection to it.
const PER_REQUEST: usize = 2;

/// Has the system allow as many open files as the server may need. Where it does not go so far, the
/// server takes fewer connections, and that is told.
pub(crate) fn raise_limit(config: &mut ServerConfig) {
    let needed = files_needed(config.connections, config.requests);
    let allowed = set_limit(needed);
    if allowed < needed {
        let fewer = max_connections(allowed, config.requests);
        tracing::warn!(
            "at most {fewer} connections at once: the system allows {allowed} open files (ulimit -n), \
             and {} connections may need {needed}",
            config.connections
        );
        config.connections = fewer;
    }
}

/// How many open files so many connections may need, of which so many have a request worked on.
fn files_needed(connections: usize, requests: usize) -> usize {
    RESERVED + connections + PER_REQUEST * connections.min(requests)
}

/// How many connections need no more open files than that; one is always taken.
fn max_connections(files: usize, requests: usize) -> usize {
    let left = files.saturating_sub(RESERVED);
    let all_ask = left / (1 + PER_REQUEST);
    let some_wait = left.saturating_sub(PER_REQUEST * requests);
    all_ask.max(some_wait).max(1)
}

/// Raises the limit of this process to so many open files, or as far as it goes; how many of them it
/// allows then.
#[cfg(unix)]
fn set_limit(files: usize) -> usize {
    let wanted = files as u64;
    let limit = getrlimit(Resource::Nofile);
    let possible = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    let allowed = match limit.current {
        Some(current) if current < possible => {
            let raised = Rlimit { current: Some(possible), maximum: limit.maximum };
            // Some systems have a lower limit than they tell.
            setrlimit(Resource::Nofile, raised).map_or(current, |()| possible)
        }
        Some(current) => current.min(wanted),
        None => wanted,
    };
    usize::try_from(allowed).unwrap_or(files)
}

/// Elsewhere there is no such limit.
#[cfg(not(unix))]
fn allow(files: usize) -> usize {
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_connections_are_taken_as_there_are_files_for() {
        for requests in [1, 10, 1024] {
            for connections in 1..5000 {
                let files = files_needed(connections, requests);
                assert_eq!(max_connections(files, requests), connections);
                assert!(files_needed(max_connections(files + 1, requests), requests) <= files + 1);
            }
        }
        assert_eq!(max_connections(0, 1024), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_limit_is_never_lowered() {
        let before = getrlimit(Resource::Nofile);
        assert_eq!(set_limit(1), 1);
        assert_eq!(getrlimit(Resource::Nofile), before);
    }
}
