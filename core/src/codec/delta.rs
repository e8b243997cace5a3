//! Deltas: encoded items stored as the difference to another encoded item.
//!
//! Two images of one item share most of their bytes, and a delta stores the shared part once. A
//! delta is a sequence of steps. Each step has three numbers and some bytes: how many bytes of the
//! base to copy, how many to skip, and the length of the bytes to insert. After the last step, the
//! rest of the base is copied.

use std::cmp::Ordering;

use super::{read_header, wire};

/// Encodes the delta from `other`, its base, to `item`. Bytes that are not those of items are
/// replaced as a whole.
pub(crate) fn encode_delta(item: &[u8], other: &[u8]) -> Vec<u8> {
    walk(item, other).unwrap_or_else(|| {
        // One of them is not an encoded item, so no shared part is known: replace everything.
        let mut steps = DeltaWriter::default();
        steps.replace(0, other.len(), item);
        steps.bytes
    })
}

fn walk(item: &[u8], other: &[u8]) -> Option<Vec<u8>> {
    let (start, other_start) = (read_header(item).ok()?.start, read_header(other).ok()?.start);
    let mut steps = DeltaWriter::default();
    if item[..start] != other[..other_start] {
        steps.replace(0, other_start, &item[..start]);
    }
    let (mut rest, mut other_rest) = (&item[start..], &other[other_start..]);
    // Offset in `other` at which its suffix `end` begins.
    let place = |end: &[u8]| other.len() - end.len();
    // The suffixes are compared only after a new step, so all bytes are compared at most twice.
    let mut steps_at_last = usize::MAX;
    loop {
        if steps.bytes.len() != steps_at_last {
            if rest == other_rest {
                return Some(steps.bytes);
            }
            steps_at_last = steps.bytes.len();
        }
        // Both encodings order attributes by name.
        let order = match (rest.is_empty(), other_rest.is_empty()) {
            (true, _) => Ordering::Greater,
            (_, true) => Ordering::Less,
            _ => wire::take_block(rest)?.0.cmp(wire::take_block(other_rest)?.0),
        };
        match order {
            Ordering::Less => {
                let after = skip_attribute(rest)?;
                let own = &rest[..rest.len() - after.len()];
                steps.replace(place(other_rest), place(other_rest), own);
                rest = after;
            }
            Ordering::Greater => {
                let after = skip_attribute(other_rest)?;
                steps.replace(place(other_rest), place(after), &[]);
                other_rest = after;
            }
            Ordering::Equal => {
                let (value, other_value) =
                    (wire::take_block(rest)?.1, wire::take_block(other_rest)?.1);
                (rest, other_rest) = (wire::skip_value(value)?, wire::skip_value(other_value)?);
                let own = &value[..value.len() - rest.len()];
                if *own != other_value[..other_value.len() - other_rest.len()] {
                    steps.replace(place(other_value), place(other_rest), own);
                }
            }
        }
    }
}

fn skip_attribute(bytes: &[u8]) -> Option<&[u8]> {
    wire::skip_value(wire::take_block(bytes)?.1)
}

#[derive(Default)]
struct DeltaWriter {
    bytes: Vec<u8>,
    /// Number of bytes of the base that the steps so far copy or skip.
    done: usize,
}

impl DeltaWriter {
    /// Appends a step that replaces the bytes of the base from `start` to `end`.
    fn replace(&mut self, start: usize, end: usize, with: &[u8]) {
        wire::put_varint(&mut self.bytes, start - self.done);
        wire::put_varint(&mut self.bytes, end - start);
        wire::put_block(&mut self.bytes, with);
        self.done = end;
    }
}

/// Applies a delta to `other`, its base. `None` if the delta is malformed or does not fit the base.
pub(crate) fn apply_delta(other: &[u8], mut delta: &[u8]) -> Option<Vec<u8>> {
    let mut made = Vec::with_capacity(other.len() + delta.len());
    let mut rest = other;
    while !delta.is_empty() {
        let (copied, after) = wire::take_varint(delta)?;
        let (left_out, after) = wire::take_varint(after)?;
        let (put_in, after) = wire::take_block(after)?;
        let (same, after_same) = rest.split_at_checked(copied)?;
        made.extend_from_slice(same);
        made.extend_from_slice(put_in);
        rest = after_same.get(left_out..)?;
        delta = after;
    }
    made.extend_from_slice(rest);
    Some(made)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::value::arbitrary::{item, value};
    use crate::{Item, item};

    #[test]
    fn delta_length_follows_the_changed_attributes() {
        let old = item! { "a" => 1, "m" => "x".repeat(500), "n" => 1, "z" => "y".repeat(500) };
        let with = |name: &str, value: i32| old.clone().with(name, value);
        let mut without = old.clone();
        without.remove("m");
        for (item, longest) in [
            (old.clone(), 0),
            (with("n", 2), 8),
            (with("a", 2).with("n", 2), 16),
            (with("b", 7).with("y", 7), 28),
            (without, 12),
        ] {
            let made = encode_delta(&item.encode(), &old.encode());
            assert!(made.len() <= longest, "{} bytes: {made:?}", made.len());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn item_delta_restores_the_item(
            other in item(),
            edits in prop::collection::btree_map("[a-d]{0,2}", prop::option::of(value()), 0..4),
        ) {
            let mut edited = other.to_map();
            for (name, value) in edits {
                match value {
                    Some(value) => edited.insert(name, value),
                    None => edited.remove(&name),
                };
            }
            let (item, other) = (Item::from(edited).encode(), other.encode());
            for (item, other) in [(&item, &other), (&other, &item)] {
                let made = encode_delta(item, other);
                prop_assert_eq!(apply_delta(other, &made).unwrap(), item.to_vec());
            }
        }

        #[test]
        fn delta_of_any_bytes_restores_them(one in any::<Vec<u8>>(), other in any::<Vec<u8>>()) {
            prop_assert_eq!(apply_delta(&other, &encode_delta(&one, &other)), Some(one));
        }

        /// The result is at most as long as base and delta together, for any bytes.
        #[test]
        fn malformed_delta_allocates_no_more_than_its_input(
            other in any::<Vec<u8>>(), steps in any::<Vec<u8>>(),
        ) {
            if let Some(made) = apply_delta(&other, &steps) {
                prop_assert!(made.len() <= other.len() + steps.len());
            }
        }
    }
}
