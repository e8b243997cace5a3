//! The service behind a listener: request bodies, read into reserved memory.
//!
//! What follows is in [`service`](crate::service).

use bytes::{Bytes, BytesMut};
use http::header::CONTENT_LENGTH;
use http::request::Parts;
use http::{HeaderMap, Request, Response};
use http_body_util::BodyExt;
use tabla_core::{Error, ErrorKind, Result};

use crate::admission::Reservation;
use crate::content_coding::too_large;
use crate::listener::{BodyMode, Protocol, RequestBody, RequestBodyError, ResponseBody};
use crate::request::SERIALIZATION;
use crate::service::Service;

/// Initial buffer for a body that arrives in parts, in bytes.
const BODY_BUFFER: usize = 32 << 10;

impl Protocol for Service {
    async fn respond(&self, request: Request<RequestBody>) -> Response<ResponseBody> {
        let (parts, body) = request.into_parts();
        let (body, held) = match read_body(self, &parts.headers, body).await {
            Ok((body, held)) => (Ok(body), held),
            Err(error) => (Err(error), None),
        };
        let response = self.answer(&parts, body).await;
        drop(held);
        response.map(ResponseBody::new)
    }

    fn body_mode(&self, _head: &Parts) -> BodyMode {
        BodyMode::Whole
    }

    fn connection_opened(&self) {
        self.count_opened();
    }

    fn connection_closed(&self) {
        self.count_closed();
    }
}

/// Reads the body of a request up to the size limit, and reserves memory for it as it arrives.
/// Returns the body with its memory reservation.
async fn read_body(
    service: &Service,
    headers: &HeaderMap,
    mut body: RequestBody,
) -> Result<(Bytes, Option<Reservation>)> {
    let limit = service.config().request_bytes;
    let announced =
        headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: usize| length > limit) {
        return Err(too_large(limit));
    }
    let mut held: Option<Reservation> = None;
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(incomplete)?.into_data() else { continue };
        if data.is_empty() {
            continue;
        }
        let length = first.len().max(whole.len()) + data.len();
        if length > limit {
            return Err(too_large(limit));
        }
        if first.is_empty() && whole.is_empty() {
            // Most bodies arrive as one piece, which is used without copying.
            held = Some(service.load().reserve(data.len())?);
            first = data;
            continue;
        }
        if whole.capacity() < length {
            // Memory is reserved before it is allocated. Beyond BODY_BUFFER it is at most twice
            // what has arrived, because a client may announce more than it sends.
            let room =
                announced.unwrap_or(limit).clamp(length, BODY_BUFFER.max(2 * length)).min(limit);
            let more = room - whole.capacity();
            let hold = service.load().reserve(more)?;
            whole.reserve(room - whole.len());
            match &mut held {
                Some(held) => held.merge(hold),
                None => held = Some(hold),
            }
        }
        whole.extend_from_slice(&std::mem::take(&mut first));
        whole.extend_from_slice(&data);
    }
    let body = if whole.is_empty() { first } else { whole.freeze() };
    Ok((body, held))
}

/// Returns DynamoDB's error for a body that cannot be read. SDKs retry `RequestTimeoutException`.
fn incomplete(error: RequestBodyError) -> Error {
    match error {
        RequestBodyError::Incomplete(_) => {
            Error::validation(error.to_string()).with_code(SERIALIZATION)
        }
        late => {
            let message = format!("{late}; the request was not executed");
            Error::new(ErrorKind::Validation, message).with_code("RequestTimeoutException")
        }
    }
}
