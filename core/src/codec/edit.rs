//! Changes of single attributes of an encoded item, without decoding the others.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use bytes::Bytes;

use super::{ItemHeader, ItemWriter, put_value, wire};
use crate::Value;
use crate::view::ValueRef;

/// Sets or removes the attributes that `edits` names: `Some` sets one, `None` removes it.
///
/// Other attributes are copied as bytes. Returns `None` if the bytes are not those of an item.
pub(crate) fn edit_item(
    bytes: &[u8],
    head: ItemHeader,
    edits: &BTreeMap<&str, Option<Value>>,
) -> Option<(Bytes, ItemHeader)> {
    let mut item = ItemWriter::with_capacity(bytes.len() + 64);
    let (mut size, mut count) = (head.size, head.count);
    let mut attributes = Attributes { bytes: bytes.get(head.start..)?, count };
    for (name, value) in edits {
        let (before, old) = attributes.take_through(name)?;
        item.content().extend_from_slice(before);
        if let Some(old) = old {
            size = size.checked_sub(name.len() + old.size())?;
            count -= 1;
        }
        if let Some(value) = value {
            wire::put_block(item.content(), name.as_bytes());
            put_value(item.content(), value.as_ref());
            size += name.len() + value.size();
            count += 1;
        }
    }
    item.content().extend_from_slice(attributes.bytes);
    Some(item.finish(size, count))
}

/// Attributes of the source that have not been copied yet.
struct Attributes<'a> {
    bytes: &'a [u8],
    count: usize,
}

impl<'a> Attributes<'a> {
    /// Advances past `name`; returns the bytes of the attributes before it, and its value if
    /// it exists.
    fn take_through(&mut self, name: &str) -> Option<(&'a [u8], Option<ValueRef<'a>>)> {
        let start = self.bytes;
        while self.count > 0 {
            let (found, rest) = wire::take_block(self.bytes)?;
            match found.cmp(name.as_bytes()) {
                Ordering::Less => self.bytes = wire::skip_value(rest)?,
                Ordering::Equal => {
                    let passed = start.len() - self.bytes.len();
                    let (value, rest) = ValueRef::read(rest)?;
                    self.bytes = rest;
                    self.count -= 1;
                    return Some((&start[..passed], Some(value)));
                }
                Ordering::Greater => break,
            }
            self.count -= 1;
        }
        Some((&start[..start.len() - self.bytes.len()], None))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::Item;
    use crate::value::arbitrary::{item, value};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn edited_bytes_equal_the_encoded_edited_tree(
            item in item(),
            edits in prop::collection::btree_map("[a-d]{0,2}", prop::option::of(value()), 0..4),
        ) {
            let mut expected = item.to_map();
            for (name, value) in &edits {
                match value {
                    Some(value) => expected.insert(name.clone(), value.clone()),
                    None => expected.remove(name),
                };
            }
            let edits = edits.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
            let edited = item.edited(&edits).unwrap();
            let expected = Item::from(expected);
            prop_assert_eq!(edited.size(), expected.size());
            prop_assert_eq!(edited.len(), expected.len());
            prop_assert_eq!(edited.encode(), expected.encode());
        }
    }
}
