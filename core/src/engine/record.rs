//! Stream records: their content, numbers, ids and iterators, as embedded engines make them.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use super::Effect;
use super::row_key::key_of;
use crate::Item;
use crate::codec;
use crate::env::Timestamp;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{RECORDS_LIMIT, STREAM_RETENTION};
use crate::ops::{
    EventName, GetRecords, Record, SequenceNumber, ShardIterator, StreamArn, StreamViewType,
    UserIdentity,
};
use crate::schema::TableSchema;

/// Change of an item as a stream records it, before the engine has numbered it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewRecord<'e> {
    /// Kind of the change.
    pub event_name: EventName,
    /// Item after the change, or before a deletion: it has the key.
    item: &'e Item,
    /// Item before the change, if the view type includes it and there was one.
    pub old_image: Option<&'e Item>,
    /// Item after the change, if the view type includes it and there is one.
    pub new_image: Option<&'e Item>,
    /// Images that the record contains.
    pub view_type: StreamViewType,
}

impl<'e> NewRecord<'e> {
    /// Creates the record of an effect; `None` if the item did not change.
    pub fn of(effect: &'e Effect, view_type: StreamViewType) -> Option<Self> {
        let (event_name, item) = match (&effect.old, &effect.new) {
            (Some(_), Some(_)) if !effect.is_change() => return None,
            (None, Some(new)) => (EventName::Insert, new),
            (Some(_), Some(new)) => (EventName::Modify, new),
            (Some(old), None) => (EventName::Remove, old),
            (None, None) => return None,
        };
        let (with_old, with_new) = images(event_name, view_type);
        let old_image = effect.old.as_ref().filter(|_| with_old);
        let new_image = effect.new.as_ref().filter(|_| with_new);
        Some(Self { event_name, item, old_image, new_image, view_type })
    }

    /// Key attributes of the item.
    pub fn keys(&self, schema: &TableSchema) -> Item {
        key_of(schema, self.item)
    }

    /// Completes the record with the engine's data: number, [`event_id`], time, and the identity of
    /// the service if no caller made the change.
    pub fn into_record(
        self,
        schema: &TableSchema,
        number: u64,
        event_id: String,
        now: Timestamp,
        user_identity: Option<UserIdentity>,
    ) -> Record {
        let keys = self.keys(schema);
        Record {
            event_id,
            event_name: self.event_name,
            sequence_number: sequence_number(number),
            created_at: created_at(now),
            size_bytes: size(&keys, self.old_image, self.new_image),
            keys,
            old_image: self.old_image.cloned(),
            new_image: self.new_image.cloned(),
            view_type: self.view_type,
            user_identity,
        }
    }
}

/// Computes the size of a record in bytes: keys and images.
pub fn size(keys: &Item, old_image: Option<&Item>, new_image: Option<&Item>) -> u64 {
    let images = [old_image, new_image].into_iter().flatten().map(Item::size);
    (keys.size() + images.sum::<usize>()) as u64
}

/// Whether a record of this event has the old image and the new image, in a stream of this
/// view type.
pub fn images(event: EventName, view: StreamViewType) -> (bool, bool) {
    use StreamViewType as View;
    let with_old = matches!(view, View::OldImage | View::NewAndOldImages);
    let with_new = matches!(view, View::NewImage | View::NewAndOldImages);
    (with_old && event != EventName::Insert, with_new && event != EventName::Remove)
}

/// Encodes an item as a delta against another one (`docs/item-format.md`). The attributes that two
/// images of an item have in common are then stored once.
pub fn encode_delta(item: &Item, other: &Item) -> Vec<u8> {
    codec::encode_delta(&item.encode(), &other.encode())
}

/// Computes the item of which `difference` is the delta against `other`: the inverse of
/// [`encode_delta`].
///
/// # Errors
/// [`ErrorKind::Corrupt`] if the bytes are not a delta against that item.
pub fn apply_delta(other: &Item, difference: &[u8]) -> Result<Item> {
    let bytes = codec::apply_delta(&other.encode(), difference)
        .ok_or_else(|| Error::corrupt("the bytes are not a delta against the base item"))?;
    Item::decode(bytes.into())
}

/// Computes the time of a record: rounded down to the second (API reference, StreamRecord).
pub fn created_at(now: Timestamp) -> Timestamp {
    Timestamp::from_secs(now.as_secs())
}

/// Computes the event id of the record with this number.
///
/// A store draws a random epoch when it is opened and never stores it. So records of one open store
/// differ in their numbers, and records of two stores in their epochs, even if one is a copy of the
/// other and repeats its numbers.
pub fn event_id(epoch: u64, number: u64) -> String {
    format!("{epoch:016x}{number:016x}")
}

/// Whether a record is past retention. Its time is rounded down, so the limit is 24 hours and
/// one second.
pub fn is_trimmed(record: &Record, now: Timestamp) -> bool {
    is_past_retention(record.created_at, now)
}

/// Whether a record of this time is past retention.
pub fn is_past_retention(created_at: Timestamp, now: Timestamp) -> bool {
    now.since(created_at) >= STREAM_RETENTION + Duration::from_secs(1)
}

/// Time for which an iterator can be used (API reference, GetShardIterator).
pub const ITERATOR_LIFETIME: Duration = Duration::from_secs(15 * 60);

/// Largest size of the records that one read returns, in bytes, unless the first one alone is
/// larger (API reference, GetRecords).
const RECORDS_SIZE: u64 = 1024 * 1024;

/// Takes the records that one read returns: at most `limit`, at most 1 MB, at least one.
pub fn page(records: impl Iterator<Item = Record>, limit: usize) -> Vec<Record> {
    let mut size = 0;
    let fits = |record: &Record| {
        let is_first = size == 0;
        size += record.size_bytes;
        is_first || size <= RECORDS_SIZE
    };
    records.take(limit).take_while(fits).collect()
}

/// Checks the limit of a read of records, and returns it or the default, 1000.
///
/// # Errors
/// [`ErrorKind::Validation`] if it is out of range.
pub fn check_records_limit(request: &GetRecords) -> Result<usize> {
    // The caller decodes the iterator.
    let GetRecords { iterator: _, limit } = request;
    check_limit(*limit, RECORDS_LIMIT, "should be less than or equal to")
}

/// Largest number of streams or shards in a page (API reference, ListStreams, DescribeStream).
pub const LIST_LIMIT: i32 = 100;

/// Decoded shard iterator of an embedded engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IteratorState {
    /// ARN of the stream.
    pub arn: String,
    /// Id of the shard.
    pub shard: String,
    /// First sequence number that was not read.
    pub next: u64,
    /// Time at which the iterator was created, in milliseconds since the epoch.
    pub issued_at: u64,
}

impl IteratorState {
    /// Encodes the iterator as text.
    pub fn encode(&self) -> ShardIterator {
        let json = serde_json::to_vec(self).expect("JSON can represent text and numbers");
        ShardIterator(URL_SAFE_NO_PAD.encode(json))
    }

    /// Decodes an iterator.
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] if it is not an iterator of an embedded engine,
    /// [`ErrorKind::ExpiredIterator`] if it is older than [`ITERATOR_LIFETIME`].
    pub fn decode(iterator: &ShardIterator, now: Timestamp) -> Result<Self> {
        let place: Self = URL_SAFE_NO_PAD
            .decode(&iterator.0)
            .ok()
            .and_then(|json| serde_json::from_slice(&json).ok())
            .ok_or_else(|| Error::validation("Invalid ShardIterator"))?;
        if now.since(Timestamp::from_millis(place.issued_at)) > ITERATOR_LIFETIME {
            return Err(Error::new(ErrorKind::ExpiredIterator, "Shard iterator has expired"));
        }
        Ok(place)
    }
}

/// Formats a sequence number with 21 digits, the minimum of the API, so that text order is the
/// order of the records.
pub fn sequence_number(number: u64) -> SequenceNumber {
    SequenceNumber(format!("{number:021}"))
}

/// Parses a sequence number of an embedded engine.
///
/// # Errors
/// [`ErrorKind::Validation`] if it does not have 21 to 40 digits, or is too large.
pub fn parse_sequence_number(text: &SequenceNumber) -> Result<u64> {
    let length = text.0.chars().count();
    let constraint = match length {
        ..21 => "greater than or equal to 21",
        21..=40 => {
            return text.0.parse().map_err(|_| {
                Error::validation(
                    "One or more parameter values were invalid: Invalid SequenceNumber",
                )
            });
        }
        _ => "less than or equal to 40",
    };
    Err(Error::validation(format!(
        "1 validation error detected: Value '{text}' at 'sequenceNumber' failed to satisfy \
         constraint: Member must have length {constraint}"
    )))
}

/// Checks the limit of a stream operation, and returns it or the default `largest`. `refusal` is
/// the operation's message for a limit that is too large.
///
/// # Errors
/// [`ErrorKind::Validation`] if it is out of range.
pub fn check_limit(limit: Option<i32>, largest: i32, refusal: &str) -> Result<usize> {
    let limit = limit.unwrap_or(largest);
    if limit < 1 {
        return Err(Error::validation(format!(
            "1 validation error detected: Value '{limit}' at 'limit' failed to satisfy \
             constraint: Member must have value greater than or equal to 1"
        )));
    }
    if limit > largest {
        return Err(Error::validation(format!(
            "One or more parameter values were invalid: Limit {refusal} {largest}"
        )));
    }
    Ok(limit as usize)
}

/// Checks that a text has the form of a stream's ARN,
/// `arn:<partition>:dynamodb:<region>:<account>:table/<table>/stream/<label>`.
///
/// # Errors
/// [`ErrorKind::Validation`] if it has another form.
pub fn check_stream_arn(arn: &StreamArn) -> Result<()> {
    let parts: Vec<&str> = arn.0.splitn(6, ':').collect();
    let is_named = match parts[..] {
        ["arn", partition, "dynamodb", region, account, resource] => {
            let names: Vec<&str> = resource.split('/').collect();
            let is_of_stream = matches!(names[..], ["table", _, "stream", _]);
            is_of_stream
                && [partition, region, account].iter().chain(&names).all(|part| !part.is_empty())
        }
        _ => false,
    };
    if is_named { Ok(()) } else { Err(Error::validation("Invalid StreamArn")) }
}

/// Error for a stream that does not exist, or an ARN that is not of a stream.
pub fn stream_missing_error(arn: &StreamArn) -> Error {
    if let Err(malformed) = check_stream_arn(arn) {
        return malformed;
    }
    Error::new(
        ErrorKind::NotFound,
        format!("Requested resource not found: Stream: {arn} not found"),
    )
}

/// Error for a shard that does not exist.
pub fn shard_missing_error() -> Error {
    Error::new(ErrorKind::NotFound, "Requested resource not found: Shard does not exist")
}

/// Error for reading records that were deleted after retention.
pub fn trimmed_error() -> Error {
    Error::new(ErrorKind::TrimmedData, "The data you are trying to access has been trimmed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item;

    fn record(size_bytes: u64) -> Record {
        Record {
            event_id: String::new(),
            event_name: EventName::Insert,
            sequence_number: sequence_number(1),
            created_at: Timestamp::from_secs(100),
            keys: item! { "pk" => "a" },
            old_image: None,
            new_image: None,
            view_type: StreamViewType::KeysOnly,
            size_bytes,
            user_identity: None,
        }
    }

    #[test]
    fn stream_arn_needs_all_its_parts() {
        for arn in [
            "arn:aws:dynamodb:local:000000000000:table/tab/stream/2026-11-16T04:04:10.643",
            "arn:aws-cn:dynamodb:cn-north-1:123456789012:table/a.b-c_d/stream/x",
        ] {
            check_stream_arn(&arn.into()).unwrap();
            assert_eq!(stream_missing_error(&arn.into()).kind(), &ErrorKind::NotFound, "{arn}");
        }
        for arn in [
            "",
            "arn",
            "arn:aws:dynamodb:local:0",
            "ARN:aws:dynamodb:local:0:table/tab/stream/x",
            "arn::dynamodb:local:0:table/tab/stream/x",
            "arn:aws:dynamodb::0:table/tab/stream/x",
            "arn:aws:dynamodb:local::table/tab/stream/x",
            "arn:aws:s3:local:0:table/tab/stream/x",
            "arn:aws:dynamodb:local:0:table/tab",
            "arn:aws:dynamodb:local:0:table/tab/stream",
            "arn:aws:dynamodb:local:0:table/tab/stream/",
            "arn:aws:dynamodb:local:0:table//stream/x",
            "arn:aws:dynamodb:local:0:table/tab/index/x",
            "arn:aws:dynamodb:local:0:table/tab/stream/x/y",
        ] {
            let error = stream_missing_error(&arn.into());
            assert_eq!(error.kind(), &ErrorKind::Validation, "{arn}");
            assert_eq!(error.message(), "Invalid StreamArn");
        }
    }

    #[test]
    fn page_of_records_ends_at_its_limit_or_at_1_mb() {
        let half = RECORDS_SIZE / 2;
        for (sizes, limit, expected) in [
            (vec![], 5, 0),
            (vec![1, 1, 1], 2, 2),
            (vec![half, half, 1], 5, 2),
            (vec![half, half + 1, 1], 5, 1),
            (vec![RECORDS_SIZE + 1, 1], 5, 1),
        ] {
            let records: Vec<Record> = sizes.iter().copied().map(record).collect();
            assert_eq!(page(records.into_iter(), limit).len(), expected, "{sizes:?}");
        }
    }

    #[test]
    fn record_with_a_rounded_time_is_readable_for_24_hours() {
        let written = Timestamp::from_millis(100_999);
        let record = record(1);
        assert_eq!(record.created_at, Timestamp::from_secs(written.as_secs()));
        assert!(!is_trimmed(&record, written + STREAM_RETENTION));
        assert!(is_trimmed(&record, written + STREAM_RETENTION + Duration::from_secs(1)));
    }

    #[test]
    fn apply_delta_inverts_encode_delta() {
        let old = item! { "pk" => "a", "n" => 1, "m" => "same", "old" => true };
        let new = item! { "pk" => "a", "n" => 2, "m" => "same", "new" => 1 };
        assert_eq!(apply_delta(&new, &encode_delta(&old, &new)).unwrap(), old);
        for damaged in [&[200, 1, 0, 0][..], &[1], &[0, 1, 0], &[0, 0, 1, 9]] {
            let error = apply_delta(&new, damaged).unwrap_err();
            assert_eq!(error.kind(), &ErrorKind::Corrupt, "{damaged:?}");
        }
    }

    #[test]
    fn event_id_has_epoch_and_number() {
        assert_eq!(event_id(0xABC, 17), "0000000000000abc0000000000000011");
        assert_eq!(event_id(u64::MAX, u64::MAX).len(), 32);
    }

    #[test]
    fn parse_sequence_number_checks_length_and_digits() {
        assert_eq!(parse_sequence_number(&sequence_number(7)).unwrap(), 7);
        for text in ["", "7", &"x".repeat(21), &"9".repeat(40), &"9".repeat(41)] {
            let error = parse_sequence_number(&SequenceNumber(text.to_string())).unwrap_err();
            assert_eq!(error.kind(), &ErrorKind::Validation, "{text}");
        }
    }
}
