//! Limit on open files: raised at start, or the limit on connections lowered to fit.
//!
//! A connection is an open file, and the store opens files to read. A server with as many
//! connections as open files could not serve them.

#[cfg(unix)]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tabla_server::ServerConfig;

/// Open files without a connection: standard streams, the runtime's pollers, the listening socket,
/// and the store's own files. A server on a file has about 20; it may inherit more from its parent.
const RESERVED: usize = 32;

/// Open files of an in-flight request: the database file and its WAL, or a connection to a service.
const PER_REQUEST: usize = 2;

/// Raises the limit on open files to what the server may need.
///
/// If the hard limit is lower, reduces `config.max_connections` to fit and logs a warning.
pub(crate) fn raise_limit(config: &mut ServerConfig) {
    let needed = files_needed(config.max_connections, config.max_requests);
    let allowed = set_limit(needed);
    if allowed < needed {
        let fewer = max_connections(allowed, config.max_requests);
        tracing::warn!(
            "connections limited to {fewer} instead of {}: they may need {needed} open files, and \
             the system allows {allowed}; raise `ulimit -n`",
            config.max_connections
        );
        config.max_connections = fewer;
    }
}

/// Returns the number of open files that `connections` may need, with at most `requests` in flight.
fn files_needed(connections: usize, requests: usize) -> usize {
    RESERVED + connections + PER_REQUEST * connections.min(requests)
}

/// Returns the number of connections that need at most `files` open files, and at least 1.
fn max_connections(files: usize, requests: usize) -> usize {
    let left = files.saturating_sub(RESERVED);
    let all_ask = left / (1 + PER_REQUEST);
    let some_wait = left.saturating_sub(PER_REQUEST * requests);
    all_ask.max(some_wait).max(1)
}

/// Raises the soft limit on open files to `files`, or to the hard limit if that is lower.
///
/// Returns the number of files that may then be open, at most `files`.
#[cfg(unix)]
fn set_limit(files: usize) -> usize {
    let wanted = files as u64;
    let limit = getrlimit(Resource::Nofile);
    let possible = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    let allowed = match limit.current {
        Some(current) if current < possible => {
            let raised = Rlimit { current: Some(possible), maximum: limit.maximum };
            // Some systems enforce a lower limit than the one that they report.
            setrlimit(Resource::Nofile, raised).map_or(current, |()| possible)
        }
        Some(current) => current.min(wanted),
        None => wanted,
    };
    usize::try_from(allowed).unwrap_or(files)
}

/// Returns `files`: other systems have no such limit.
#[cfg(not(unix))]
fn allow(files: usize) -> usize {
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn max_connections_is_the_inverse_of_files_needed() {
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
    fn limit_is_never_lowered() {
        let before = getrlimit(Resource::Nofile);
        assert_eq!(set_limit(1), 1);
        assert_eq!(getrlimit(Resource::Nofile), before);
    }
}
