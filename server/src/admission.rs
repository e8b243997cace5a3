//! Admission control: limits on the requests in flight and on the memory of requests and responses.
//!
//! The limit on connections is in `listener`, threads for long bodies are in `workers`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use tabla_core::{Error, Result};

use crate::error_response::{TOO_LARGE, throttled};

/// Size below which a response is not counted, in bytes: the limit on requests bounds their number.
const COUNTED_ANSWER: usize = 64 << 10;

/// Size of a body below which its parsed values are not counted, in bytes.
const COUNTED_TREES: usize = 16 << 10;

/// Memory that the parsed values of a request may take for each byte of its body, in bytes.
const TREES_PER_BYTE: usize = 16;
/// Memory that the parsed values of any request may take besides, in bytes. A value that fits into
/// an item takes less.
const TREES_AT_LEAST: usize = 64 << 20;

/// Requests and bytes in flight, with their limits.
#[derive(Debug)]
pub(crate) struct AdmissionControl {
    bytes: Arc<AtomicUsize>,
    most_bytes: usize,
    requests: AtomicUsize,
    most_requests: usize,
}

/// Permit for one request in flight. Dropping it admits another request.
pub(crate) struct RequestPermit<'a>(&'a AdmissionControl);

impl Drop for RequestPermit<'_> {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

impl AdmissionControl {
    pub(crate) fn new(bytes: usize, requests: usize) -> Self {
        Self {
            bytes: Arc::default(),
            most_bytes: bytes,
            requests: AtomicUsize::new(0),
            most_requests: requests,
        }
    }

    /// Number of requests in flight.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    /// Admits a request, or throttles it if the limit is reached.
    pub(crate) fn admit(&self) -> Result<RequestPermit<'_>> {
        let before = self.requests.fetch_add(1, Ordering::Relaxed);
        let place = RequestPermit(self);
        match before < self.most_requests {
            true => Ok(place),
            false => Err(throttled(&format!(
                "the limit of {} requests in flight is reached; retry with back-off",
                self.most_requests
            ))),
        }
    }

    /// Reserves memory until the reservation is dropped, or throttles the request.
    pub(crate) fn reserve(&self, bytes: usize) -> Result<Reservation> {
        let (before, hold) = self.reserve_over_limit(bytes);
        match before.saturating_add(bytes) <= self.most_bytes {
            true => Ok(hold),
            false => Err(throttled(&format!(
                "{bytes} more bytes would exceed the limit of {} bytes of memory for requests in \
                 flight; retry with back-off",
                self.most_bytes
            ))),
        }
    }

    /// Reserves the memory that the parsed values of a request take, given the length of its body.
    /// Short bodies are not counted: the limit on requests bounds their number.
    pub(crate) fn reserve_parsed(
        &self,
        body: usize,
        cost: impl FnOnce() -> usize,
    ) -> Result<Option<Reservation>> {
        if body < COUNTED_TREES {
            return Ok(None);
        }
        let cost = cost();
        let limit = (TREES_PER_BYTE * body + TREES_AT_LEAST).min(self.most_bytes);
        if cost > limit {
            return Err(Error::validation(format!(
                "the values of the request would take {cost} bytes of memory, and the limit for a \
                 request of {body} bytes is {limit}; send fewer values in a request"
            ))
            .with_code(TOO_LARGE));
        }
        self.reserve(cost).map(Some)
    }

    /// Reserves memory that can no longer be refused, and returns the amount that was reserved
    /// before. While the total exceeds the limit, other requests are throttled.
    fn reserve_over_limit(&self, bytes: usize) -> (usize, Reservation) {
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        (before, Reservation { held: Arc::clone(&self.bytes), bytes })
    }

    /// Returns the body of a response. A large one is counted until it is sent. If that would
    /// exceed the limit, the request is throttled.
    pub(crate) fn reserved_body(&self, body: Vec<u8>) -> Result<Bytes> {
        if body.len() < COUNTED_ANSWER {
            return Ok(body.into());
        }
        Ok(Bytes::from_owner(ReservedBody { _hold: self.reserve(body.len())?, body }))
    }

    /// Like `reserved_body`, for a write that is committed: it is never throttled, because the
    /// client would repeat the write.
    pub(crate) fn reserved_body_over_limit(&self, body: Vec<u8>) -> Bytes {
        if body.len() < COUNTED_ANSWER {
            return body.into();
        }
        let (_, hold) = self.reserve_over_limit(body.len());
        Bytes::from_owner(ReservedBody { _hold: hold, body })
    }
}

/// Reserved memory, which is counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    held: Arc<AtomicUsize>,
    bytes: usize,
}

impl Reservation {
    /// Takes over the bytes of another reservation.
    pub(crate) fn merge(&mut self, mut other: Reservation) {
        self.bytes += std::mem::take(&mut other.bytes);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Body of a response that is counted until its last reference is dropped.
struct ReservedBody {
    body: Vec<u8>,
    _hold: Reservation,
}

impl AsRef<[u8]> for ReservedBody {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_over_a_limit_are_throttled_until_others_end() {
        let load = AdmissionControl::new(200 << 10, 2);
        let places = [load.admit().unwrap(), load.admit().unwrap()];
        assert_eq!(load.admit().map(drop).unwrap_err().code(), "ThrottlingException");
        assert_eq!(load.requests(), 2);
        drop(places);
        assert_eq!(load.requests(), 0);

        let answer = load.reserved_body(vec![0; 150 << 10]).unwrap();
        assert_eq!(load.reserve(100 << 10).map(drop).unwrap_err().code(), "ThrottlingException");
        let part = answer.slice(10..20);
        drop(answer);
        assert!(load.reserve(100 << 10).is_err(), "a part of the response is still referenced");
        drop(part);
        drop(load.reserve(200 << 10).unwrap());
        load.reserved_body(vec![0; 10]).unwrap();
    }

    #[test]
    fn memory_of_parsed_values_is_bounded_by_the_length_of_the_body() {
        let load = AdmissionControl::new(256 << 20, 2);
        assert!(
            load.reserve_parsed(1000, || unreachable!("a short body is not counted"))
                .unwrap()
                .is_none()
        );
        let body = 1 << 20;
        let held = load.reserve_parsed(body, || 80 << 20).unwrap();
        assert!(load.reserve(177 << 20).is_err(), "the parsed values are counted");
        drop(held);
        let error = load.reserve_parsed(body, || (80 << 20) + 1).unwrap_err();
        assert_eq!(error.code(), TOO_LARGE);
        let error = load.reserve_parsed(16 << 20, || (256 << 20) + 1).unwrap_err();
        assert_eq!(error.code(), TOO_LARGE, "the request could never be admitted");
    }

    #[test]
    fn response_to_a_committed_write_may_exceed_the_limit() {
        let load = AdmissionControl::new(200 << 10, 2);
        let answers = [
            load.reserved_body_over_limit(vec![0; 150 << 10]),
            load.reserved_body_over_limit(vec![0; 150 << 10]),
        ];
        assert_eq!(load.reserve(1).map(drop).unwrap_err().code(), "ThrottlingException");
        drop(answers);
        drop(load.reserve(200 << 10).unwrap());
    }
}
