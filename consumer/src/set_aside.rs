//! Records that were set aside: reading, retrying and discarding them.
//!
//! The decision to set a record aside is in `shard`.

use serde::{Deserialize, Serialize};

use super::checkpoint_table::{CheckpointTable, ENTRY, ShardEntry, parsed};
use super::handler::{Failure, FailureAction, Handler, attempt};
use super::settings::Consumer;
use tabla_core::backend::limits::ITEM_SIZE;
use tabla_core::env::Timestamp;
use tabla_core::ops::*;
use tabla_core::{Error, ErrorKind, Result};
use tabla_core::{Item, Store, StoreExt};

/// Largest stored length of an error text, in bytes; longer texts are truncated.
const ERROR_SIZE: usize = 4096;

/// Record that was set aside after its last failed attempt.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SetAside {
    /// Stream of the record.
    pub stream: StreamArn,
    /// Shard of the record.
    pub shard: ShardId,
    /// The record, without the images that are [left out](Self::left_out).
    pub record: Record,
    /// Error of the last attempt, truncated to 4096 bytes.
    pub error: String,
    /// Number of attempts, those of retries included.
    pub attempts: u32,
    /// Time at which the record was set aside or last retried.
    pub at: Timestamp,
    /// Names of the images that did not fit into an item, `new_image` or `old_image`.
    pub left_out: Vec<String>,
    entry: String,
}

/// Report of [`Consumer::retry_set_aside`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryReport {
    /// Number of records that were handled and are no longer set aside.
    pub handled: u64,
    /// Number of records that failed again.
    pub failed: u64,
    /// Number of records without an attempt: an image was left out, and the stream no longer has
    /// the record.
    pub incomplete: u64,
}

/// Item of a record that is set aside, without its key.
#[derive(Serialize, Deserialize)]
struct StoredRecord {
    stream: String,
    shard: String,
    sequence_number: String,
    event_id: String,
    event_name: EventName,
    created_at: Timestamp,
    view_type: StreamViewType,
    size_bytes: u64,
    keys: Item,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    new_image: Option<Item>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    old_image: Option<Item>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_identity: Option<UserIdentity>,
    error: String,
    tries: u32,
    set_aside_at: Timestamp,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
}

impl SetAside {
    pub(super) fn new(
        shard: &ShardEntry,
        record: &Record,
        failure: &Failure,
        attempts: u32,
        now: Timestamp,
    ) -> Self {
        Self {
            stream: StreamArn(shard.stream.clone()),
            shard: ShardId(shard.shard.clone()),
            record: record.clone(),
            error: shortened(failure.to_string()),
            attempts,
            at: now.to_millis(),
            left_out: Vec::new(),
            entry: String::new(),
        }
    }

    /// Converts to an item with this key, without the images that do not fit. An image can be as
    /// large and as deeply nested as an item.
    pub(super) fn to_item(&self, key: Item) -> Result<Item> {
        let Record { new_image, old_image, .. } = &self.record;
        let mut last = Error::validation(format!(
            "cannot set record {} of shard {} aside: its keys and its error do not fit into an \
                 item of 400 KB, even without its images",
            self.record.sequence_number, self.shard
        ));
        for (with_new, with_old) in [(true, true), (true, false), (false, true), (false, false)] {
            let mut left_out = self.left_out.clone();
            let left = [("new_image", new_image, with_new), ("old_image", old_image, with_old)];
            for (name, image, is_kept) in left {
                if image.is_some() && !is_kept {
                    left_out.push(name.to_owned());
                }
            }
            let stored = StoredRecord {
                stream: self.stream.0.clone(),
                shard: self.shard.0.clone(),
                sequence_number: self.record.sequence_number.0.clone(),
                event_id: self.record.event_id.clone(),
                event_name: self.record.event_name,
                created_at: self.record.created_at,
                view_type: self.record.view_type,
                size_bytes: self.record.size_bytes,
                keys: self.record.keys.clone(),
                new_image: new_image.clone().filter(|_| with_new),
                old_image: old_image.clone().filter(|_| with_old),
                user_identity: self.record.user_identity.clone(),
                error: self.error.clone(),
                tries: self.attempts,
                set_aside_at: self.at,
                left_out,
            };
            match Item::from_struct(&stored) {
                Ok(mut item) => {
                    for (name, value) in key.to_map() {
                        item.insert(name, value);
                    }
                    if item.size() <= ITEM_SIZE {
                        return Ok(item);
                    }
                }
                // The image is nested too deeply.
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn from_item(item: &Item) -> Result<Self> {
        let stored: StoredRecord = parsed(item)?;
        let entry = item.get(ENTRY).and_then(|entry| entry.as_str()).unwrap_or_default();
        Ok(Self {
            stream: StreamArn(stored.stream),
            shard: ShardId(stored.shard),
            record: Record::new(
                stored.event_id,
                stored.event_name,
                SequenceNumber(stored.sequence_number),
                stored.created_at,
                stored.keys,
                stored.view_type,
            )
            .old_image(stored.old_image)
            .new_image(stored.new_image)
            .size_bytes(stored.size_bytes)
            .user_identity(stored.user_identity),
            error: stored.error,
            attempts: stored.tries,
            at: stored.set_aside_at,
            left_out: stored.left_out,
            entry: entry.to_owned(),
        })
    }
}

/// Truncates an error text to the stored length.
fn shortened(mut text: String) -> String {
    if text.len() > ERROR_SIZE {
        text.truncate(text.floor_char_boundary(ERROR_SIZE));
        text.push('…');
    }
    text
}

impl Consumer {
    fn own_ledger(&self) -> CheckpointTable {
        self.open_checkpoint_table(self.settings.policy.clone())
    }

    /// Reads the records that were set aside, in the order of each shard.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn set_aside(&self) -> Result<Vec<SetAside>> {
        let items = self.own_ledger().items("set-aside#").await?;
        items.iter().map(SetAside::from_item).collect()
    }

    /// Retries all records that were set aside, with one attempt each.
    ///
    /// Records that are handled are no longer set aside. The handler must accept that later changes
    /// of the same items have been handled already.
    ///
    /// # Errors
    /// Errors of the store, and the error of a handler that [stops](Failure::stop).
    pub async fn retry_set_aside(&self, handler: &dyn Handler) -> Result<RetryReport> {
        let checkpoint_table = self.own_ledger();
        let mut retried = RetryReport::default();
        for aside in self.set_aside().await? {
            let whole = match aside.left_out.is_empty() {
                true => Some(aside.record.clone()),
                false => self.read_again(&aside).await?,
            };
            let Some(record) = whole else {
                retried.incomplete += 1;
                continue;
            };
            let Err(failure) = attempt(handler, &record).await else {
                checkpoint_table.delete(&aside.entry, None).await?;
                retried.handled += 1;
                continue;
            };
            let key = checkpoint_table.key(&aside.entry);
            let again = SetAside {
                error: shortened(failure.to_string()),
                attempts: aside.attempts.saturating_add(1),
                at: self.settings.policy.env.clock.now().to_millis(),
                ..aside
            };
            checkpoint_table.put(again.to_item(key)?).await?;
            retried.failed += 1;
            if failure.action() == FailureAction::Stop {
                let why = format!(
                    "the handler of consumer `{}` stopped the retry at record {}, which was set \
                     aside: {failure}",
                    self.name, record.sequence_number
                );
                return Err(
                    Error::new(ErrorKind::Unexpected, why).with_source(failure.into_error())
                );
            }
        }
        Ok(retried)
    }

    /// Deletes a record that was set aside.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn discard(&self, aside: &SetAside) -> Result<()> {
        self.own_ledger().delete(&aside.entry, None).await
    }

    /// Reads the record from its stream; `None` if the stream no longer has it.
    async fn read_again(&self, aside: &SetAside) -> Result<Option<Record>> {
        let store = (&self.store).with_retries(self.settings.policy.clone());
        let number = aside.record.sequence_number.clone();
        let (arn, shard) = (aside.stream.clone(), aside.shard.clone());
        let position = ShardPosition::At(number.clone());
        let read = async {
            let request = GetShardIterator::new(arn, shard, position);
            let iterator = store.get_shard_iterator(request).await?;
            store.get_records(GetRecords::new(iterator).limit(1)).await
        };
        match read.await {
            Ok(page) => {
                let found = page.records.into_iter().next();
                Ok(found.filter(|record| record.sequence_number == number))
            }
            Err(error) => match error.kind() {
                ErrorKind::TrimmedData | ErrorKind::NotFound | ErrorKind::Validation => Ok(None),
                _ => Err(error),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint_table::CONSUMER;
    use crate::lineage::ShardRef;
    use tabla_core::{Value, item};

    fn aside(new_image: Option<Item>, old_image: Option<Item>) -> SetAside {
        let record = Record::new(
            "e1",
            EventName::Modify,
            SequenceNumber::from("000000000000000000007"),
            Timestamp::from_secs(100),
            item! { "pk" => "a" },
            StreamViewType::NewAndOldImages,
        )
        .old_image(old_image)
        .new_image(new_image)
        .size_bytes(9)
        .user_identity(Some(UserIdentity::time_to_live()));
        let place = ShardRef {
            arn: StreamArn::from("arn"),
            label: "label".to_owned(),
            shard: ShardId::from("shard"),
            parent: None,
        };
        let shard = ShardEntry::new("c", "t", &place);
        let failure = Failure::from("no mail");
        SetAside::new(&shard, &record, &failure, 5, Timestamp::from_millis(123_456))
    }

    fn through_an_item(aside: &SetAside) -> SetAside {
        let item = aside.to_item(item! { CONSUMER => "c", ENTRY => "e" }).unwrap();
        assert!(item.size() <= ITEM_SIZE);
        SetAside::from_item(&item).unwrap()
    }

    fn image(bytes: usize) -> Option<Item> {
        Some(item! { "pk" => "a", "text" => "x".repeat(bytes) })
    }

    #[test]
    fn record_set_aside_reads_back() {
        let aside = aside(image(10), Some(item! { "pk" => "a", "n" => 1 }));
        let back = through_an_item(&aside);
        assert_eq!(back, SetAside { entry: "e".to_owned(), ..aside });
    }

    #[test]
    fn images_that_do_not_fit_are_left_out_and_named() {
        for (new, old, left_out) in [
            (150_000, 150_000, vec![]),
            (300_000, 300_000, vec!["old_image"]),
            (409_500, 300_000, vec!["new_image"]),
            (409_500, 409_500, vec!["new_image", "old_image"]),
        ] {
            let back = through_an_item(&aside(image(new), image(old)));
            assert_eq!(back.left_out, left_out, "{new} and {old}");
            assert_eq!(back.record.new_image.is_none(), left_out.contains(&"new_image"));
            assert_eq!(back.record.old_image.is_none(), left_out.contains(&"old_image"));
        }
    }

    #[test]
    fn image_nested_too_deeply_is_left_out() {
        let deepest = (0..31).fold(Value::from(1), |inner, _| Value::L(vec![inner]));
        let back =
            through_an_item(&aside(Some(item! { "pk" => "a", "deep" => deepest }), image(1)));
        assert!(back.left_out.is_empty() || back.left_out == ["new_image"]);
        let deepest = (0..32).fold(Value::from(1), |inner, _| Value::L(vec![inner]));
        let back =
            through_an_item(&aside(Some(item! { "pk" => "a", "deep" => deepest }), image(1)));
        assert_eq!(back.left_out, ["new_image"]);
        assert_eq!(back.record.old_image, image(1));
    }

    #[test]
    fn long_error_is_truncated_at_a_character() {
        assert_eq!(shortened("short".to_owned()), "short");
        let long = shortened("ä".repeat(4000));
        assert!(long.len() <= ERROR_SIZE + '…'.len_utf8() && long.ends_with("ä…"));
    }
}
