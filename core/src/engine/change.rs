//! Stream records: what a write leaves in the log of its table.

use super::Effect;
use super::position::key_of;
use crate::Item;
use crate::env::Timestamp;
use crate::ops::{EventName, Record, SequenceNumber, StreamViewType, UserIdentity};
use crate::schema::TableSchema;

/// The record of a write, `None` if it changed nothing.
///
/// The engine gives what only it knows: the record's place in the shard, an id that no other
/// record has or will have, the time, and who made the change if no caller did.
pub fn record(
    schema: &TableSchema,
    effect: &Effect,
    view_type: StreamViewType,
    sequence_number: SequenceNumber,
    event_id: String,
    now: Timestamp,
    user_identity: Option<UserIdentity>,
) -> Option<Record> {
    if !effect.is_change() {
        return None;
    }
    let (event_name, any) = match (&effect.old, &effect.new) {
        (None, Some(new)) => (EventName::Insert, new),
        (Some(_), Some(new)) => (EventName::Modify, new),
        (Some(old), None) => (EventName::Remove, old),
        (None, None) => return None,
    };
    use StreamViewType as View;
    let with_old = matches!(view_type, View::OldImage | View::NewAndOldImages);
    let with_new = matches!(view_type, View::NewImage | View::NewAndOldImages);
    let keys = key_of(schema, any);
    let old_image = effect.old.clone().filter(|_| with_old);
    let new_image = effect.new.clone().filter(|_| with_new);
    let size = |image: &Option<Item>| image.as_ref().map_or(0, Item::size);
    let size_bytes = (keys.size() + size(&old_image) + size(&new_image)) as u64;
    Some(Record {
        event_id,
        event_name,
        sequence_number,
        created_at: now,
        keys,
        old_image,
        new_image,
        view_type,
        size_bytes,
        user_identity,
    })
}
