//! Counters of requests and connections, as text for Prometheus.
//!
//! The request `GET /metrics` is served in `service`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::operation::Operation;

/// Upper bounds of the histogram's buckets of durations, in microseconds.
const BOUNDS: [u64; 12] =
    [50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 50_000, 250_000, 1_000_000, 10_000_000];

/// Value of the label `code` for a request that succeeded.
pub(crate) const OK: &str = "OK";

/// Counters of requests, bytes and connections since the server started.
#[derive(Debug, Default)]
pub(crate) struct Metrics(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    outcomes: BTreeMap<(&'static str, &'static str), u64>,
    durations: BTreeMap<&'static str, Durations>,
    bytes: [u64; 2],
    connections: u64,
}

#[derive(Debug, Default)]
struct Durations {
    /// Number of requests in each bucket. The last one is for durations beyond all bounds.
    classes: [u64; BOUNDS.len() + 1],
    total: Duration,
}

impl Metrics {
    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request: its operation if the header names one, its outcome, its duration, and the
    /// bytes received and sent.
    pub(crate) fn request(
        &self,
        operation: Option<Operation>,
        outcome: &'static str,
        elapsed: Duration,
        bytes: [usize; 2],
    ) {
        let operation = operation.map_or("unknown", Operation::as_str);
        let mut counted = self.counted();
        *counted.outcomes.entry((operation, outcome)).or_default() += 1;
        let durations = counted.durations.entry(operation).or_default();
        let micros = elapsed.as_micros() as u64;
        let class = BOUNDS.iter().position(|bound| micros <= *bound).unwrap_or(BOUNDS.len());
        durations.classes[class] += 1;
        durations.total += elapsed;
        for (sum, more) in counted.bytes.iter_mut().zip(bytes) {
            *sum += more as u64;
        }
    }

    /// Counts an accepted connection.
    pub(crate) fn connection(&self) {
        self.counted().connections += 1;
    }

    /// Returns all counters, and the gauges with these current values, as text for Prometheus.
    pub(crate) fn text(&self, requests_now: usize, connections_now: usize) -> String {
        let counted = self.counted();
        let mut out = String::new();
        let mut family = |name: &str, kind: &str, help: &str, lines: &str| {
            let _ = write!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n{lines}");
        };
        let mut lines = String::new();
        for ((operation, code), count) in &counted.outcomes {
            let _ = writeln!(
                lines,
                "tabla_requests_total{{operation=\"{operation}\",code=\"{code}\"}} {count}"
            );
        }
        family(
            "tabla_requests_total",
            "counter",
            "Requests completed, by operation and outcome.",
            &lines,
        );
        lines.clear();
        for (operation, durations) in &counted.durations {
            durations.write(&mut lines, operation);
        }
        family(
            "tabla_request_duration_seconds",
            "histogram",
            "Time from the last byte of a request to its response.",
            &lines,
        );
        for (name, kind, help, value) in [
            ("tabla_request_bytes_total", "counter", "Bytes of request bodies.", counted.bytes[0]),
            (
                "tabla_response_bytes_total",
                "counter",
                "Bytes of response bodies.",
                counted.bytes[1],
            ),
            ("tabla_connections_total", "counter", "Connections accepted.", counted.connections),
            ("tabla_connections", "gauge", "Open connections.", connections_now as u64),
            ("tabla_requests", "gauge", "Requests in flight.", requests_now as u64),
        ] {
            family(name, kind, help, &format!("{name} {value}\n"));
        }
        out
    }
}

impl Durations {
    fn write(&self, out: &mut String, operation: &str) {
        const NAME: &str = "tabla_request_duration_seconds";
        let mut count = 0;
        for (class, found) in self.classes.iter().enumerate() {
            count += found;
            let bound = match BOUNDS.get(class) {
                Some(micros) => (*micros as f64 / 1e6).to_string(),
                None => "+Inf".to_owned(),
            };
            let _ =
                writeln!(out, "{NAME}_bucket{{operation=\"{operation}\",le=\"{bound}\"}} {count}");
        }
        let total = self.total.as_secs_f64();
        let _ = writeln!(out, "{NAME}_sum{{operation=\"{operation}\"}} {total}");
        let _ = writeln!(out, "{NAME}_count{{operation=\"{operation}\"}} {count}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histogram_buckets_are_cumulative() {
        let metrics = Metrics::default();
        let put = Some(Operation::PutItem);
        metrics.request(put, OK, Duration::from_micros(50), [10, 2]);
        metrics.request(put, "ValidationException", Duration::from_secs(100), [5, 30]);
        metrics.request(None, "UnknownOperationException", Duration::ZERO, [0, 0]);
        metrics.connection();
        let text = metrics.text(1, 2);
        for line in [
            "# TYPE tabla_requests_total counter",
            "tabla_requests_total{operation=\"PutItem\",code=\"OK\"} 1",
            "tabla_requests_total{operation=\"PutItem\",code=\"ValidationException\"} 1",
            "tabla_requests_total{operation=\"unknown\",code=\"UnknownOperationException\"} 1",
            "tabla_request_duration_seconds_bucket{operation=\"PutItem\",le=\"0.00005\"} 1",
            "tabla_request_duration_seconds_bucket{operation=\"PutItem\",le=\"10\"} 1",
            "tabla_request_duration_seconds_bucket{operation=\"PutItem\",le=\"+Inf\"} 2",
            "tabla_request_duration_seconds_sum{operation=\"PutItem\"} 100.00005",
            "tabla_request_duration_seconds_count{operation=\"PutItem\"} 2",
            "tabla_request_bytes_total 15",
            "tabla_response_bytes_total 32",
            "tabla_connections_total 1",
            "tabla_connections 2",
            "tabla_requests 1",
        ] {
            assert!(text.lines().any(|found| found == line), "{line}\nis not in\n{text}");
        }
    }
}
