//! Stream records: what a write leaves in the log of its table.

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

/// What a write does to its item, as a stream tells it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewRecord<'e> {
    /// What happened.
    pub event_name: EventName,
    /// The item, after the change or before it: it has the key.
    item: &'e Item,
    /// The item before, if the view type has it and there was one.
    pub old_image: Option<&'e Item>,
    /// The item after, if the view type has it and there is one.
    pub new_image: Option<&'e Item>,
    /// What the record carries.
    pub view_type: StreamViewType,
}

impl<'e> NewRecord<'e> {
    /// What a write leaves in a stream, `None` if it changed nothing.
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

    /// The key of the item.
    pub fn keys(&self, schema: &TableSchema) -> Item {
        key_of(schema, self.item)
    }

    /// The record of this change, with what only the engine knows: its number, the
    /// [`event_id`], the time, and who made the change if no caller did.
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

/// The size of a record: that of its keys and its images.
pub fn size(keys: &Item, old_image: Option<&Item>, new_image: Option<&Item>) -> u64 {
    let images = [old_image, new_image].into_iter().flatten().map(Item::size);
    (keys.size() + images.sum::<usize>()) as u64
}

/// Whether a record of this event has the old image, and whether it has the new one, in a stream of
/// this view.
pub fn images(event: EventName, view: StreamViewType) -> (bool, bool) {
    use StreamViewType as View;
    let with_old = matches!(view, View::OldImage | View::NewAndOldImages);
    let with_new = matches!(view, View::NewImage | View::NewAndOldImages);
    (with_old && event != EventName::Insert, with_new && event != EventName::Remove)
}

/// What an item has differently from another, as `docs/item-format.md` describes it. Two images of
/// one item mostly have most in common: with this, the common part is kept once.
pub fn encode_delta(item: &Item, other: &Item) -> Vec<u8> {
    codec::encode_delta(&item.encode(), &other.encode())
}

/// The item that differs from another by this [`difference`].
///
/// # Errors
/// [`ErrorKind::Corrupt`] if it is none from that item.
pub fn apply_delta(other: &Item, difference: &[u8]) -> Result<Item> {
    let bytes = codec::apply_delta(&other.encode(), difference)
        .ok_or_else(|| Error::corrupt("this is not what an item has differently from another"))?;
    Item::decode(bytes.into())
}

/// The time of a record that is written now: rounded down to the second (API reference,
/// StreamRecord).
pub fn created_at(now: Timestamp) -> Timestamp {
    Timestamp::from_secs(now.as_secs())
}

/// The id of the record with this number.
///
/// A store draws an epoch at random whenever it is opened and never keeps it. So two records of one
/// opened store differ in their numbers, and those of two stores in their epochs, even if one store
/// is a copy of the other and gives the same numbers again.
pub fn event_id(epoch: u64, number: u64) -> String {
    format!("{epoch:016x}{number:016x}")
}

/// Whether a record is too old to be read. Its time is rounded down, so that it may be up to a
/// second younger than it says.
pub fn is_trimmed(record: &Record, now: Timestamp) -> bool {
    is_past_retention(record.created_at, now)
}

/// The same for a record of this time.
pub fn is_past_retention(created_at: Timestamp, now: Timestamp) -> bool {
    now.since(created_at) >= STREAM_RETENTION + Duration::from_secs(1)
}

/// How long an iterator can be used (API reference, GetShardIterator).
pub const ITERATOR_LIFETIME: Duration = Duration::from_secs(15 * 60);

/// Bytes that one read returns, unless its first record alone is larger (API reference,
/// GetRecords).
const RECORDS_SIZE: u64 = 1024 * 1024;

/// Takes as many of these records as one read returns: up to `limit` of them, up to 1 MB.
pub fn page(records: impl Iterator<Item = Record>, limit: usize) -> Vec<Record> {
    let mut size = 0;
    let fits = |record: &Record| {
        let is_first = size == 0;
        size += record.size_bytes;
        is_first || size <= RECORDS_SIZE
    };
    records.take(limit).take_while(fits).collect()
}

/// Checks the limit of a read of records.
///
/// # Errors
/// [`ErrorKind::Validation`] if it is out of range.
pub fn check_records_limit(request: &GetRecords) -> Result<usize> {
    // The iterator is read where the records are.
    let GetRecords { iterator: _, limit } = request;
    check_limit(*limit, RECORDS_LIMIT, "should be less than or equal to")
}

/// Streams or shards that one page of a list has (API reference, ListStreams, DescribeStream).
pub const LIST_LIMIT: i32 = 100;

/// What an iterator of an embedded engine stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IteratorState {
    /// The stream.
    pub arn: String,
    /// The shard.
    pub shard: String,
    /// The first sequence number that has not been read.
    pub next: u64,
    /// When the iterator was given out, in milliseconds.
    pub issued_at: u64,
}

impl IteratorState {
    /// The iterator that stands for this place.
    pub fn encode(&self) -> ShardIterator {
        let json = serde_json::to_vec(self).expect("a place has only text and numbers");
        ShardIterator(URL_SAFE_NO_PAD.encode(json))
    }

    /// The place that an iterator stands for.
    ///
    /// # Errors
    /// [`ErrorKind::Validation`] if it is no iterator of an embedded engine,
    /// [`ErrorKind::ExpiredIterator`] if it is too old.
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

/// The sequence number of the `number`th record: as many digits as the API asks for, so that
/// text order is the order of the records.
pub fn sequence_number(number: u64) -> SequenceNumber {
    SequenceNumber(format!("{number:021}"))
}

/// The number behind a sequence number of an embedded engine.
///
/// # Errors
/// [`ErrorKind::Validation`] if it is none.
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

/// Checks the limit of a stream operation, and fills in the largest if there is none; `refusal`
/// says that it is too large in the words of the operation.
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

/// Checks that a text has the form of a stream's resource name,
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

/// The error for a stream that does not exist, or whose name is none of a stream.
pub fn stream_missing_error(arn: &StreamArn) -> Error {
    if let Err(malformed) = check_stream_arn(arn) {
        return malformed;
    }
    Error::new(
        ErrorKind::NotFound,
        format!("Requested resource not found: Stream: {arn} not found"),
    )
}

/// The error for a shard that does not exist.
pub fn shard_missing_error() -> Error {
    Error::new(ErrorKind::NotFound, "Requested resource not found: Shard does not exist")
}

/// The error for reading what is no longer kept.
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
    fn a_stream_arn_has_all_its_parts() {
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
    fn a_page_ends_at_its_limit_or_at_1_mb() {
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
    fn a_record_is_kept_for_a_day_whatever_its_fraction_of_a_second() {
        let written = Timestamp::from_millis(100_999);
        let record = record(1);
        assert_eq!(record.created_at, Timestamp::from_secs(written.as_secs()));
        assert!(!is_trimmed(&record, written + STREAM_RETENTION));
        assert!(is_trimmed(&record, written + STREAM_RETENTION + Duration::from_secs(1)));
    }

    #[test]
    fn an_item_is_found_again_from_what_it_has_differently() {
        let old = item! { "pk" => "a", "n" => 1, "m" => "same", "gone" => true };
        let new = item! { "pk" => "a", "n" => 2, "m" => "same", "new" => 1 };
        assert_eq!(apply_delta(&new, &encode_delta(&old, &new)).unwrap(), old);
        for damaged in [&[200, 1, 0, 0][..], &[1], &[0, 1, 0], &[0, 0, 1, 9]] {
            let error = apply_delta(&new, damaged).unwrap_err();
            assert_eq!(error.kind(), &ErrorKind::Corrupt, "{damaged:?}");
        }
    }

    #[test]
    fn an_event_id_tells_the_epoch_and_the_number() {
        assert_eq!(event_id(0xABC, 17), "0000000000000abc0000000000000011");
        assert_eq!(event_id(u64::MAX, u64::MAX).len(), 32);
    }

    #[test]
    fn sequence_numbers_are_checked_by_length_and_digits() {
        assert_eq!(parse_sequence_number(&sequence_number(7)).unwrap(), 7);
        for text in ["", "7", &"x".repeat(21), &"9".repeat(40), &"9".repeat(41)] {
            let error = parse_sequence_number(&SequenceNumber(text.to_string())).unwrap_err();
            assert_eq!(error.kind(), &ErrorKind::Validation, "{text}");
        }
    }
}
