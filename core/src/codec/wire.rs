//! Building blocks of the item format: type tags, varints and length-prefixed blocks.
//!
//! Readers return `None` if the bytes do not start with the expected block.

use crate::number;

pub(crate) const S: u8 = 1;
pub(crate) const N: u8 = 2;
pub(crate) const B: u8 = 3;
pub(crate) const FALSE: u8 = 4;
pub(crate) const TRUE: u8 = 5;
pub(crate) const NULL: u8 = 6;
pub(crate) const M: u8 = 7;
pub(crate) const L: u8 = 8;
pub(crate) const SS: u8 = 9;
pub(crate) const NS: u8 = 10;
pub(crate) const BS: u8 = 11;

/// Largest length or count, which fits 32 bits, so that a varint has at most five bytes.
const MAX_VARINT: u64 = u32::MAX as u64;

/// Appends an unsigned LEB128 number: seven bits per byte, the lowest first.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads a varint; `None` if it is longer than necessary or over 32 bits.
pub(crate) fn take_varint(bytes: &[u8]) -> Option<(usize, &[u8])> {
    // Most lengths are below 128.
    if let [byte @ 0..0x80, rest @ ..] = bytes {
        return Some((usize::from(*byte), rest));
    }
    let mut value = 0u64;
    for (index, byte) in bytes.iter().enumerate().take(5) {
        value |= u64::from(byte & 0x7F) << (7 * index);
        if byte & 0x80 == 0 {
            let shortest = *byte != 0 && value <= MAX_VARINT;
            return shortest.then(|| (value as usize, &bytes[index + 1..]));
        }
    }
    None
}

/// Appends a varint length and the bytes.
pub(crate) fn put_block(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len());
    out.extend_from_slice(bytes);
}

/// Reads a length-prefixed block; returns its bytes and the rest.
pub(crate) fn take_block(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = take_varint(bytes)?;
    rest.split_at_checked(length)
}

/// Writes the length of everything after the byte at `start` to that byte. A length of more than
/// one byte moves the content.
pub(crate) fn set_length(out: &mut Vec<u8>, start: usize) {
    let length = out.len() - start - 1;
    if length < 0x80 {
        out[start] = length as u8;
        return;
    }
    let mut prefix = Vec::with_capacity(5);
    put_varint(&mut prefix, length);
    out.splice(start..=start, prefix);
}

/// Skips the encoded value at the start of the bytes; returns the rest.
pub(crate) fn skip_value(bytes: &[u8]) -> Option<&[u8]> {
    let (tag, rest) = bytes.split_first()?;
    match *tag {
        FALSE | TRUE | NULL => Some(rest),
        N => number::skip(rest),
        S | B | M | L | SS | NS | BS => take_block(rest).map(|(_, rest)| rest),
        _ => None,
    }
}
