//! Admission control: limits on the requests in flight, and on the memory of requests, of the items
//! that they read, and of responses.
//!
//! The limit on connections is in `listener`, threads for long bodies are in `workers`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use tabla_core::{Error, Result};
use tokio::sync::{Semaphore, SemaphorePermit};

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

/// Working memory of all requests in flight, as a divisor of the memory for requests and responses.
const WORKING_SHARE: usize = 2;
/// Unit in which working memory is counted, in bytes.
const WORKING_UNIT: usize = 1 << 10;

/// Requests and bytes in flight, with their limits.
#[derive(Debug)]
pub(crate) struct AdmissionControl {
    bytes: Arc<AtomicUsize>,
    most_bytes: usize,
    requests: AtomicUsize,
    most_requests: usize,
    /// Free working memory, in units of [`WORKING_UNIT`].
    working: Semaphore,
    most_working: u32,
}

/// Permit for one request in flight. Dropping it admits another request.
pub(crate) struct RequestPermit<'a>(&'a AdmissionControl);

impl Drop for RequestPermit<'_> {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Working memory of one operation. Dropping it frees it for others.
///
/// It is kept until the response is counted, or an error with items.
pub(crate) struct WorkingMemory<'a> {
    load: &'a AdmissionControl,
    permit: Option<SemaphorePermit<'a>>,
}

impl<'a> WorkingMemory<'a> {
    pub(crate) fn load(&self) -> &'a AdmissionControl {
        self.load
    }

    /// Takes the working memory of a request. If too little is free, waits for other operations. One
    /// that needs more than there is waits until it is alone.
    ///
    /// An operation that has its working memory must not wait for a resource that another one could
    /// hold while it waits here, such as a thread of the workers.
    ///
    /// # Errors
    /// While the request waited, the limit on memory was reached. It is throttled before it is
    /// executed, because the response to a committed write can no longer be refused.
    pub(crate) async fn take(&mut self, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let most = self.load.most_working;
        let units = u32::try_from(bytes.div_ceil(WORKING_UNIT)).map_or(most, |it| it.min(most));
        let permit = self.load.working.acquire_many(units).await;
        self.permit = Some(permit.expect("the semaphore is never closed"));
        self.load.reserve(0).map(drop)
    }
}

impl AdmissionControl {
    pub(crate) fn new(bytes: usize, requests: usize) -> Self {
        let working = (bytes / WORKING_SHARE / WORKING_UNIT).clamp(1, u32::MAX as usize);
        Self {
            bytes: Arc::default(),
            most_bytes: bytes,
            requests: AtomicUsize::new(0),
            most_requests: requests,
            working: Semaphore::new(working),
            most_working: working as u32,
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

    /// Returns the working memory of an operation, of which nothing is taken yet.
    pub(crate) fn working_memory(&self) -> WorkingMemory<'_> {
        WorkingMemory { load: self, permit: None }
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
    pub(crate) fn reserved_body(&self, mut body: Vec<u8>) -> Result<Bytes> {
        if body.len() < COUNTED_ANSWER {
            return Ok(body.into());
        }
        body.shrink_to_fit();
        Ok(Bytes::from_owner(ReservedBody { _hold: self.reserve(body.capacity())?, body }))
    }

    /// Like `reserved_body`, for a write that is committed: it is never throttled, because the
    /// client would repeat the write.
    pub(crate) fn reserved_body_over_limit(&self, mut body: Vec<u8>) -> Bytes {
        if body.len() < COUNTED_ANSWER {
            return body.into();
        }
        body.shrink_to_fit();
        let (_, hold) = self.reserve_over_limit(body.capacity());
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
    use futures::FutureExt;

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
    fn spare_capacity_of_a_response_is_released_before_it_is_counted() {
        let load = AdmissionControl::new(300 << 10, 2);
        let mut body = Vec::with_capacity(400 << 10);
        body.resize(100 << 10, 0);
        let answers = [
            load.reserved_body(body.clone()).unwrap(),
            load.reserved_body(body.clone()).unwrap(),
            load.reserved_body_over_limit(body),
        ];
        assert!(load.reserve(1).is_err());
        drop(answers);
        drop(load.reserve(300 << 10).unwrap());
    }

    #[test]
    fn request_waits_until_its_working_memory_is_free() {
        let load = AdmissionControl::new(200 << 10, 9);
        let [mut first, mut second, mut third, mut fourth] =
            std::array::from_fn(|_| load.working_memory());
        first.take(60 << 10).now_or_never().unwrap().unwrap();
        let mut waiting = Box::pin(second.take(1000 << 10));
        assert!(waiting.as_mut().now_or_never().is_none(), "it needs everything there is");
        let mut behind = Box::pin(third.take(1 << 10));
        assert!(behind.as_mut().now_or_never().is_none(), "small requests do not overtake it");
        assert!(fourth.take(0).now_or_never().is_some());
        drop(first);
        assert!(waiting.as_mut().now_or_never().is_some());
        drop(waiting);
        assert!(behind.as_mut().now_or_never().is_none());
        drop(second);
        assert!(behind.as_mut().now_or_never().is_some());
    }

    #[test]
    fn request_whose_wait_ends_at_the_memory_limit_is_throttled() {
        let load = AdmissionControl::new(200 << 10, 9);
        let [mut first, mut second] = std::array::from_fn(|_| load.working_memory());
        first.take(100 << 10).now_or_never().unwrap().unwrap();
        let mut waiting = Box::pin(second.take(100 << 10));
        assert!(waiting.as_mut().now_or_never().is_none());
        let answer = load.reserved_body_over_limit(vec![0; 201 << 10]);
        drop(first);
        let error = waiting.as_mut().now_or_never().unwrap().unwrap_err();
        assert_eq!(error.code(), "ThrottlingException");
        drop((waiting, answer));
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
