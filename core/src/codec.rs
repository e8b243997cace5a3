//! Encoding of items as bytes, format 1, specified in `docs/item-format.md`.
//!
//! Encoding, checking, editing and deltas of whole items belong here. Order-preserving encodings of
//! key values belong in `key`.

mod check;
mod delta;
mod edit;
mod external;
pub(crate) mod wire;

use bytes::Bytes;

use crate::view::{MapRef, ValueRef};
use crate::{Error, number};

pub(crate) use self::check::check_item;
pub(crate) use self::delta::{apply_delta, encode_delta};
pub(crate) use self::edit::edit_item;
pub(crate) use self::external::encode_external;
pub use self::external::{EncodeValue, ValueEncoder};

/// Format version that this program writes: the first byte of every encoded item.
pub(crate) const VERSION: u8 = 1;

/// Fields at the start of an encoded item, decoded.
#[derive(Clone, Copy)]
pub(crate) struct ItemHeader {
    /// Item size as DynamoDB counts it, in bytes.
    pub(crate) size: usize,
    /// Number of attributes at the top level.
    pub(crate) count: usize,
    /// Offset of the first attribute in the encoded bytes.
    pub(crate) start: usize,
}

/// Encodes the attributes of an item; returns the bytes and their header.
pub(crate) fn encode_item(attributes: MapRef<'_>) -> (Bytes, ItemHeader) {
    let size = attributes.attributes_size();
    let count = attributes.len();
    // The format's overhead per attribute is close to what DynamoDB's size leaves out.
    let mut out = Vec::with_capacity(size + 4 * count + 8);
    out.push(VERSION);
    wire::put_varint(&mut out, size);
    wire::put_varint(&mut out, count);
    let start = out.len();
    put_entries(&mut out, attributes);
    (Bytes::from(out), ItemHeader { size, count, start })
}

/// Buffer for an item whose size and count are known only after its attributes are written.
pub(crate) struct ItemWriter(Vec<u8>);

impl ItemWriter {
    /// Length of the longest header, the version and two 32-bit varints, in bytes. The header is
    /// written last and ends where the attributes start.
    const ROOM: usize = 11;

    pub(crate) fn with_capacity(capacity: usize) -> Self {
        let mut bytes = Vec::with_capacity(Self::ROOM + capacity);
        bytes.resize(Self::ROOM, 0);
        Self(bytes)
    }

    /// Buffer for the attributes, which the caller appends in the order of their names.
    pub(crate) fn content(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }

    pub(crate) fn finish(self, size: usize, count: usize) -> (Bytes, ItemHeader) {
        let Self(mut bytes) = self;
        let mut head = Vec::with_capacity(Self::ROOM);
        head.push(VERSION);
        wire::put_varint(&mut head, size);
        wire::put_varint(&mut head, count);
        let unused = Self::ROOM - head.len();
        bytes[unused..Self::ROOM].copy_from_slice(&head);
        let bytes = Bytes::from(bytes).slice(unused..);
        (bytes, ItemHeader { size, count, start: head.len() })
    }
}

/// Decodes the header of an encoded item.
pub(crate) fn read_header(bytes: &[u8]) -> Result<ItemHeader, Error> {
    let (&version, rest) = bytes.split_first().ok_or_else(|| corrupt("no bytes"))?;
    if version != VERSION {
        return Err(corrupt(format!(
            "unknown format version {version}; this program reads version {VERSION}; upgrade tabla"
        )));
    }
    let (size, rest) =
        wire::take_varint(rest).ok_or_else(|| corrupt("the item size is not a valid varint"))?;
    let (count, rest) = wire::take_varint(rest)
        .ok_or_else(|| corrupt("the attribute count is not a valid varint"))?;
    let start = bytes.len() - rest.len();
    Ok(ItemHeader { size, count, start })
}

fn corrupt(what: impl std::fmt::Display) -> Error {
    Error::corrupt(format!("corrupt item: {what}"))
}

fn put_entries(out: &mut Vec<u8>, entries: MapRef<'_>) {
    for (name, value) in entries.iter() {
        wire::put_block(out, name.as_bytes());
        put_value(out, value);
    }
}

fn put_value(out: &mut Vec<u8>, value: ValueRef<'_>) {
    match value {
        ValueRef::S(text) => {
            out.push(wire::S);
            wire::put_block(out, text.as_bytes());
        }
        ValueRef::N(value) => {
            out.push(wire::N);
            number::encode(value, out);
        }
        ValueRef::B(bytes) => {
            out.push(wire::B);
            wire::put_block(out, bytes);
        }
        ValueRef::Bool(false) => out.push(wire::FALSE),
        ValueRef::Bool(true) => out.push(wire::TRUE),
        ValueRef::Null => out.push(wire::NULL),
        ValueRef::M(entries) => {
            put_container(out, wire::M, entries.len(), |out| put_entries(out, entries));
        }
        ValueRef::L(values) => put_container(out, wire::L, values.len(), |out| {
            for value in values.iter() {
                put_value(out, value);
            }
        }),
        ValueRef::Ss(members) => put_container(out, wire::SS, members.len(), |out| {
            for member in members.iter() {
                wire::put_block(out, member.as_bytes());
            }
        }),
        ValueRef::Ns(members) => put_container(out, wire::NS, members.len(), |out| {
            for member in members.iter() {
                number::encode(member, out);
            }
        }),
        ValueRef::Bs(members) => put_container(out, wire::BS, members.len(), |out| {
            for member in members.iter() {
                wire::put_block(out, member);
            }
        }),
    }
}

/// Writes a container: its tag, the length in bytes of the rest, the element count, the elements.
fn put_container<T>(
    out: &mut Vec<u8>,
    tag: u8,
    count: usize,
    content: impl FnOnce(&mut Vec<u8>) -> T,
) -> T {
    out.push(tag);
    let start = out.len();
    // One byte is reserved for the length, which is enough for most containers. A longer length
    // moves the content.
    out.push(0);
    wire::put_varint(out, count);
    let outcome = content(out);
    wire::set_length(out, start);
    outcome
}

#[cfg(test)]
mod tests;
