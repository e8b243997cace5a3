//! Encoding of another library's values, such as an SDK's, without a tree in between.

use bytes::Bytes;

use super::{ItemHeader, ItemWriter, put_container, put_value, wire};
use crate::limits::ATTRIBUTE_DEPTH;
use crate::{Error, Number, Set, SetError, SetMember, ValueRef, number};

/// Encodes one value of another library directly into an item's bytes.
///
/// An [`EncodeValue`] function receives it and calls exactly one of its methods, the one for the
/// type of the value. The methods for lists and maps take such a function for their elements.
#[derive(Debug)]
pub struct ValueEncoder<'a> {
    out: &'a mut Vec<u8>,
    /// DynamoDB's size of the item so far, in bytes.
    size: &'a mut usize,
    levels: usize,
}

/// Function that encodes one value of another library.
pub type EncodeValue<V> = fn(&V, ValueEncoder<'_>) -> Result<(), Error>;

impl ValueEncoder<'_> {
    /// Encodes a string, `S`.
    pub fn string(self, text: &str) -> Result<(), Error> {
        self.leaf(ValueRef::S(text))
    }

    /// Encodes a number, `N`.
    pub fn number(self, number: Number) -> Result<(), Error> {
        self.leaf(ValueRef::N(number))
    }

    /// Encodes binary data, `B`.
    pub fn binary(self, bytes: &[u8]) -> Result<(), Error> {
        self.leaf(ValueRef::B(bytes))
    }

    /// Encodes a Boolean, `BOOL`.
    pub fn boolean(self, truth: bool) -> Result<(), Error> {
        self.leaf(ValueRef::Bool(truth))
    }

    /// Encodes the explicit null, `NULL`.
    pub fn null(self) -> Result<(), Error> {
        self.leaf(ValueRef::Null)
    }

    /// Encodes a list, `L`.
    ///
    /// # Errors
    /// More than 31 lists and maps are nested, or an element is invalid.
    pub fn list<V>(self, elements: &[V], describe: EncodeValue<V>) -> Result<(), Error> {
        let levels = self.inner_levels()?;
        let Self { out, size, .. } = self;
        *size += 3 + elements.len();
        put_container(out, wire::L, elements.len(), |out| {
            elements
                .iter()
                .try_for_each(|element| describe(element, ValueEncoder { out, size, levels }))
        })
    }

    /// Encodes a map, `M`. The entries may come in any order.
    ///
    /// # Errors
    /// More than 31 lists and maps are nested, a name occurs twice, or a value is invalid.
    pub fn map<'v, V: 'v>(
        self,
        entries: impl IntoIterator<Item = (&'v str, &'v V)>,
        describe: EncodeValue<V>,
    ) -> Result<(), Error> {
        let levels = self.inner_levels()?;
        let Self { out, size, .. } = self;
        let entries = in_order(entries)?;
        *size += 3 + entries.len();
        put_container(out, wire::M, entries.len(), |out| {
            put_sorted(out, size, levels, &entries, describe)
        })
    }

    /// Encodes a set of strings, `SS`. The members may come in any order.
    ///
    /// # Errors
    /// There is no member, or two are equal.
    pub fn string_set(self, members: impl IntoIterator<Item = String>) -> Result<(), Error> {
        self.set(Set::new(members), wire::SS, |out, member| {
            wire::put_block(out, member.as_bytes());
            member.len()
        })
    }

    /// Encodes a set of numbers, `NS`. The members may come in any order.
    ///
    /// # Errors
    /// There is no member, or two are equal.
    pub fn number_set(self, members: impl IntoIterator<Item = Number>) -> Result<(), Error> {
        self.set(Set::new(members), wire::NS, |out, member| {
            number::encode(*member, out);
            member.size()
        })
    }

    /// Encodes a set of binaries, `BS`. The members may come in any order.
    ///
    /// # Errors
    /// There is no member, or two are equal.
    pub fn binary_set(self, members: impl IntoIterator<Item = Bytes>) -> Result<(), Error> {
        self.set(Set::new(members), wire::BS, |out, member| {
            wire::put_block(out, member);
            member.len()
        })
    }

    fn set<T: SetMember>(
        self,
        set: Result<Set<T>, SetError>,
        tag: u8,
        put: impl Fn(&mut Vec<u8>, &T) -> usize,
    ) -> Result<(), Error> {
        let set = set?;
        put_container(self.out, tag, set.len(), |out| {
            *self.size += set.iter().map(|member| put(out, member)).sum::<usize>();
        });
        Ok(())
    }

    fn leaf(self, value: ValueRef<'_>) -> Result<(), Error> {
        *self.size += value.size();
        put_value(self.out, value);
        Ok(())
    }

    fn inner_levels(&self) -> Result<usize, Error> {
        self.levels.checked_sub(1).ok_or_else(crate::value::nesting_error)
    }
}

/// Encodes the attributes of an item, which may come in any order.
pub(crate) fn encode_external<'v, V: 'v>(
    attributes: impl IntoIterator<Item = (&'v str, &'v V)>,
    describe: EncodeValue<V>,
) -> Result<(Bytes, ItemHeader), Error> {
    let attributes = in_order(attributes)?;
    let mut bytes = ItemWriter::with_capacity(512);
    let mut size = 0;
    put_sorted(bytes.content(), &mut size, ATTRIBUTE_DEPTH, &attributes, describe)?;
    Ok(bytes.finish(size, attributes.len()))
}

fn in_order<'v, V: 'v>(
    entries: impl IntoIterator<Item = (&'v str, &'v V)>,
) -> Result<Vec<(&'v str, &'v V)>, Error> {
    let mut entries: Vec<_> = entries.into_iter().collect();
    entries.sort_unstable_by_key(|(name, _)| *name);
    match entries.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(Error::validation(format!(
            "attribute `{}` occurs twice; give each attribute name once",
            pair[0].0
        ))),
        None => Ok(entries),
    }
}

fn put_sorted<V>(
    out: &mut Vec<u8>,
    size: &mut usize,
    levels: usize,
    entries: &[(&str, &V)],
    describe: EncodeValue<V>,
) -> Result<(), Error> {
    for (name, value) in entries {
        *size += name.len();
        wire::put_block(out, name.as_bytes());
        describe(value, ValueEncoder { out, size, levels })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::value::arbitrary::item;
    use crate::{Item, Value, list};

    fn describe(value: &Value, encoder: ValueEncoder<'_>) -> Result<(), Error> {
        match value {
            Value::S(text) => encoder.string(text),
            Value::N(number) => encoder.number(*number),
            Value::B(bytes) => encoder.binary(bytes),
            Value::Bool(truth) => encoder.boolean(*truth),
            Value::Null => encoder.null(),
            // In reverse order, so that the test shows that the encoder sorts.
            Value::M(map) => {
                let entries = map.iter().rev().map(|(name, value)| (name.as_str(), value));
                encoder.map(entries, describe)
            }
            Value::L(list) => encoder.list(list, describe),
            Value::Ss(set) => encoder.string_set(backwards(set)),
            Value::Ns(set) => encoder.number_set(backwards(set)),
            Value::Bs(set) => encoder.binary_set(backwards(set)),
        }
    }

    fn backwards<T: SetMember>(set: &Set<T>) -> Vec<T> {
        let mut members: Vec<T> = set.iter().cloned().collect();
        members.reverse();
        members
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn external_values_encode_as_the_tree_does(item in item()) {
            let map = item.to_map();
            let attributes = map.iter().rev().map(|(name, value)| (name.as_str(), value));
            let encoded = Item::encode_from(attributes, describe).unwrap();
            prop_assert_eq!(encoded.encode(), Item::from(map).encode());
            prop_assert_eq!(encoded.size(), item.size());
            prop_assert_eq!(&Item::decode(encoded.encode()).unwrap(), &item);
        }
    }

    #[test]
    fn invalid_external_values_are_rejected() {
        let deep = (0..=ATTRIBUTE_DEPTH).fold(Value::Null, |inner, _| list![inner]);
        assert!(Item::encode_from([("a", &deep)], describe).is_err());
        let Value::L(allowed) = &deep else { unreachable!("`list!` makes a list") };
        assert!(Item::encode_from([("a", &allowed[0])], describe).is_ok());
        let null = Value::Null;
        let twice = [("a", &null), ("b", &null), ("a", &null)];
        let error = Item::encode_from(twice, describe).unwrap_err();
        assert_eq!(error.message(), "attribute `a` occurs twice; give each attribute name once");
    }
}
