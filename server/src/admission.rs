//! How much is taken at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use tabla_core::{Error, Result};

use crate::error_response::{TOO_LARGE, throttled};

/// Answers of fewer bytes are not counted: there are at most as many as requests.
const COUNTED_ANSWER: usize = 64 << 10;

/// The trees of a body of fewer bytes are not counted.
const COUNTED_TREES: usize = 16 << 10;

/// Bytes that the trees of a request may take for each byte of its body, and in any case. A value that
/// fits into an item takes less than the latter.
const TREES_PER_BYTE: usize = 16;
const TREES_AT_LEAST: usize = 64 << 20;

/// What the server holds, beside what it may hold.
#[derive(Debug)]
pub(crate) struct AdmissionControl {
    bytes: Arc<AtomicUsize>,
    most_bytes: usize,
    requests: AtomicUsize,
    most_requests: usize,
}

/// One of the requests that are worked on.
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

    /// How many requests are worked on.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    /// Begins to work on a request.
    pub(crate) fn admit(&self) -> Result<RequestPermit<'_>> {
        let before = self.requests.fetch_add(1, Ordering::Relaxed);
        let place = RequestPermit(self);
        match before < self.most_requests {
            true => Ok(place),
            false => Err(throttled("too many requests at once")),
        }
    }

    /// Holds so many bytes, until what is returned is dropped.
    pub(crate) fn reserve(&self, bytes: usize) -> Result<Reservation> {
        let (before, hold) = self.reserve_over_limit(bytes);
        match before.saturating_add(bytes) <= self.most_bytes {
            true => Ok(hold),
            false => Err(throttled("too many bytes at once")),
        }
    }

    /// Holds the bytes that the trees of a request take, whose body has this length. The trees of a
    /// short one are not counted: there are at most as many as requests.
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
                "the values of the request take {cost} bytes of memory: the limit for a request of \
                 this size is {limit} bytes"
            ))
            .with_code(TOO_LARGE));
        }
        self.reserve(cost).map(Some)
    }

    /// Holds bytes that cannot be refused any more; how many there were before. If they are too
    /// many, others are refused until they are gone.
    fn reserve_over_limit(&self, bytes: usize) -> (usize, Reservation) {
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        (before, Reservation { held: Arc::clone(&self.bytes), bytes })
    }

    /// An answer, counted until it is sent if it is large.
    pub(crate) fn reserved_body(&self, body: Vec<u8>) -> Result<Bytes> {
        if body.len() < COUNTED_ANSWER {
            return Ok(body.into());
        }
        Ok(Bytes::from_owner(ReservedBody { _hold: self.reserve(body.len())?, body }))
    }

    /// The same for the answer to a write that was done: a client that is throttled sends it again.
    pub(crate) fn reserved_body_over_limit(&self, body: Vec<u8>) -> Bytes {
        if body.len() < COUNTED_ANSWER {
            return body.into();
        }
        let (_, hold) = self.reserve_over_limit(body.len());
        Bytes::from_owner(ReservedBody { _hold: hold, body })
    }
}

/// Bytes that are counted as long as this is there.
#[derive(Debug)]
pub(crate) struct Reservation {
    held: Arc<AtomicUsize>,
    bytes: usize,
}

impl Reservation {
    /// Counts those of another, too, from then on.
    pub(crate) fn merge(&mut self, mut other: Reservation) {
        self.bytes += std::mem::take(&mut other.bytes);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Bytes that are counted as long as somebody has them.
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
    fn what_is_too_much_is_throttled_until_there_is_room() {
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
        assert!(load.reserve(100 << 10).is_err(), "a part of it is still there");
        drop(part);
        drop(load.reserve(200 << 10).unwrap());
        load.reserved_body(vec![0; 10]).unwrap();
    }

    #[test]
    fn trees_are_bounded_by_the_length_of_the_body() {
        let load = AdmissionControl::new(256 << 20, 2);
        assert!(load.reserve_parsed(1000, || unreachable!("it is short")).unwrap().is_none());
        let body = 1 << 20;
        let held = load.reserve_parsed(body, || 80 << 20).unwrap();
        assert!(load.reserve(177 << 20).is_err(), "they are counted");
        drop(held);
        let error = load.reserve_parsed(body, || (80 << 20) + 1).unwrap_err();
        assert_eq!(error.code(), TOO_LARGE);
        let error = load.reserve_parsed(16 << 20, || (256 << 20) + 1).unwrap_err();
        assert_eq!(error.code(), TOO_LARGE, "it would never fit");
    }

    #[test]
    fn the_answer_to_what_was_done_is_held_anyway() {
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
