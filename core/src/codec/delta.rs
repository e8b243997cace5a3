//! What an encoded item has differently from another.
//!
//! Two images of one item mostly have most in common: with a difference, the common part is kept
//! once. It is a row of steps, each of three numbers and some bytes: copy so many bytes of the
//! other, leave out so many, and put in as many as follow. After the last step, the rest of the
//! other is copied.

use std::cmp::Ordering;

use super::{read_header, wire};

/// What makes the bytes of an item out of those of another.
pub(crate) fn encode_delta(item: &[u8], other: &[u8]) -> Vec<u8> {
    walk(item, other).unwrap_or_else(|| {
        // They are not the bytes of items: nothing is known to be in common.
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
    // Where some bytes that the other ends with begin.
    let place = |end: &[u8]| other.len() - end.len();
    // The ends are compared anew after each step alone: so all of it is compared twice at most.
    let mut steps_at_last = usize::MAX;
    loop {
        if steps.bytes.len() != steps_at_last {
            if rest == other_rest {
                return Some(steps.bytes);
            }
            steps_at_last = steps.bytes.len();
        }
        // Both have their attributes in the order of the names.
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
    /// How much of the other has been copied or left out.
    done: usize,
}

impl DeltaWriter {
    /// Puts bytes in the place of those from `start` to `end`.
    fn replace(&mut self, start: usize, end: usize, with: &[u8]) {
        wire::put_varint(&mut self.bytes, start - self.done);
        wire::put_varint(&mut self.bytes, end - start);
        wire::put_block(&mut self.bytes, with);
        self.done = end;
    }
}

/// The bytes that differ from others by this [`difference`]; `None` if it is not one from those.
pub(crate) fn apply_delta(other: &[u8], mut difference: &[u8]) -> Option<Vec<u8>> {
    let mut made = Vec::with_capacity(other.len() + difference.len());
    let mut rest = other;
    while !difference.is_empty() {
        let (copied, after) = wire::take_varint(difference)?;
        let (left_out, after) = wire::take_varint(after)?;
        let (put_in, after) = wire::take_block(after)?;
        let (same, after_same) = rest.split_at_checked(copied)?;
        made.extend_from_slice(same);
        made.extend_from_slice(put_in);
        rest = after_same.get(left_out..)?;
        difference = after;
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
    fn only_what_is_different_is_in_it() {
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
        fn an_item_is_found_again(
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
        fn any_bytes_are_found_again(one in any::<Vec<u8>>(), other in any::<Vec<u8>>()) {
            prop_assert_eq!(apply_delta(&other, &encode_delta(&one, &other)), Some(one));
        }

        /// Whatever it is given, it ends, and takes no more than it is given.
        #[test]
        fn any_bytes_are_a_difference_or_none(other in any::<Vec<u8>>(), steps in any::<Vec<u8>>()) {
            if let Some(made) = apply_delta(&other, &steps) {
                prop_assert!(made.len() <= other.len() + steps.len());
            }
        }
    }
}
