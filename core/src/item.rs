//! Items: the attributes of one row of a table.
//!
//! The tree and the encoded form of an item are hidden behind [`Item`]; the encoding itself is in
//! `codec`.

mod macros;

use std::collections::BTreeMap;
use std::fmt;

use bytes::Bytes;

use crate::codec::{self, EncodeValue, ItemHeader};
use crate::view::{MapIter, MapRef, ValueRef};
use crate::{Error, Map, Value};

/// Item of a table: attributes by name.
///
/// An item holds its attributes as a tree or as shared encoded bytes. An item that was read from a
/// store is usually encoded: it is cheap to clone, and views read it without decoding. It becomes a
/// tree when it is changed or when a caller asks for one. Two items are equal if their attributes
/// are, in either form.
///
/// ```
/// use tabla::{Item, ValueRef, item};
///
/// let item = item! { "pk" => "USER#1", "age" => 42 };
/// assert_eq!(item.get("age"), Some(ValueRef::N(42.into())));
/// assert_eq!(Item::decode(item.encode())?, item);
/// # Ok::<(), tabla::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Item {
    repr: Repr,
}

#[derive(Clone)]
enum Repr {
    Tree(Map),
    /// Bytes that `codec` has checked or written.
    Encoded {
        bytes: Bytes,
        head: ItemHeader,
    },
}

impl Item {
    /// Creates an item without attributes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets an attribute and returns its previous value, if there was one.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<Value>) -> Option<Value> {
        self.tree_mut().insert(name.into(), value.into())
    }

    /// Returns the item with an attribute set.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.insert(name, value);
        self
    }

    /// Removes an attribute and returns its value, if there was one.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        if !self.contains(name) {
            return None;
        }
        self.tree_mut().remove(name)
    }

    /// Value of the attribute with this name; `None` if there is none.
    pub fn get(&self, name: &str) -> Option<ValueRef<'_>> {
        self.view().get(name)
    }

    /// Whether an attribute of this name exists.
    pub fn contains(&self, name: &str) -> bool {
        self.view().contains(name)
    }

    /// Number of attributes.
    pub fn len(&self) -> usize {
        self.view().len()
    }

    /// Whether the item has no attributes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Iterates over the attributes, ordered by the bytes of their names.
    pub fn iter(&self) -> MapIter<'_> {
        self.view().iter()
    }

    /// Borrows the attributes as a view.
    pub fn view(&self) -> MapRef<'_> {
        match &self.repr {
            Repr::Tree(map) => MapRef::from(map),
            Repr::Encoded { bytes, head } => MapRef::encoded(head.count, &bytes[head.start..]),
        }
    }

    /// Item size as DynamoDB counts it, in bytes: names and values.
    ///
    /// Constant time on an encoded item; on a tree, it visits every value.
    pub fn size(&self) -> usize {
        match &self.repr {
            Repr::Tree(_) => self.view().attributes_size(),
            Repr::Encoded { head, .. } => head.size,
        }
    }

    /// Converts the item into a tree of its attributes.
    pub fn into_map(self) -> Map {
        match self.repr {
            Repr::Tree(map) => map,
            Repr::Encoded { .. } => self.view().to_map(),
        }
    }

    /// Copies the attributes into a tree.
    pub fn to_map(&self) -> Map {
        self.view().to_map()
    }

    /// Encodes the item in the format that `docs/item-format.md` specifies.
    ///
    /// Equal items have equal bytes. On an encoded item, this only clones a reference.
    pub fn encode(&self) -> Bytes {
        match &self.repr {
            Repr::Tree(map) => codec::encode_item(MapRef::from(map)).0,
            Repr::Encoded { bytes, .. } => bytes.clone(),
        }
    }

    /// Decodes bytes that [`encode`](Self::encode) has written; the item keeps them without a copy.
    ///
    /// The bytes are checked once and completely, so views of them cannot fail.
    ///
    /// # Errors
    ///
    /// The bytes have an unknown version or are not canonical: cut short, too long, out of order,
    /// nested too deeply.
    pub fn decode(bytes: Bytes) -> Result<Self, Error> {
        let head = codec::check_item(&bytes)?;
        let repr = Repr::Encoded { bytes, head };
        Ok(Item { repr })
    }

    /// Decodes bytes that [`encode`](Self::encode) has written, and checks only their header.
    ///
    /// For a store that knows by other means, such as a checksum, that it wrote these bytes. Views
    /// stop at the first byte that they cannot read. So corrupt bytes lead to wrong results, but
    /// never to a panic or to undefined behavior.
    ///
    /// # Errors
    ///
    /// The header is malformed or has an unknown version.
    pub fn decode_trusted(bytes: Bytes) -> Result<Self, Error> {
        let head = codec::read_header(&bytes)?;
        Ok(Self::of_bytes((bytes, head)))
    }

    /// Creates an encoded item from the values of another library, such as an SDK.
    ///
    /// The attributes may come in any order. `describe` encodes one value.
    ///
    /// # Errors
    ///
    /// A name occurs twice, a value is invalid, or more than 31 lists and maps are nested.
    pub fn encode_from<'v, V: 'v>(
        attributes: impl IntoIterator<Item = (&'v str, &'v V)>,
        describe: EncodeValue<V>,
    ) -> Result<Self, Error> {
        codec::encode_external(attributes, describe).map(Self::of_bytes)
    }

    /// Creates an item from bytes that an encoder of this crate has written.
    pub(crate) fn of_bytes((bytes, head): (Bytes, ItemHeader)) -> Self {
        Item { repr: Repr::Encoded { bytes, head } }
    }

    /// Converts the item to its encoded form, which is cheap to clone and to keep.
    #[must_use]
    pub fn into_encoded(self) -> Self {
        match self.repr {
            Repr::Tree(map) => Self::of_bytes(codec::encode_item(MapRef::from(&map))),
            Repr::Encoded { .. } => self,
        }
    }

    /// Copies the item in its encoded form.
    #[must_use]
    pub fn to_encoded(&self) -> Self {
        match &self.repr {
            Repr::Tree(map) => Self::of_bytes(codec::encode_item(MapRef::from(map))),
            Repr::Encoded { .. } => self.clone(),
        }
    }

    /// Returns the encoded item after these changes: `Some` sets an attribute, `None` removes it.
    pub(crate) fn edited(&self, edits: &BTreeMap<&str, Option<Value>>) -> Result<Self, Error> {
        match &self.repr {
            Repr::Encoded { bytes, head } => {
                codec::edit_item(bytes, *head, edits).map(Self::of_bytes).ok_or_else(|| {
                    Error::corrupt("corrupt item: its attributes do not match its header")
                })
            }
            Repr::Tree(_) => self.to_encoded().edited(edits),
        }
    }

    fn tree_mut(&mut self) -> &mut Map {
        if let Repr::Encoded { .. } = self.repr {
            self.repr = Repr::Tree(self.view().to_map());
        }
        match &mut self.repr {
            Repr::Tree(map) => map,
            Repr::Encoded { .. } => unreachable!("an encoded item was converted to a tree above"),
        }
    }
}

impl Default for Repr {
    fn default() -> Self {
        Repr::Tree(Map::new())
    }
}

impl From<Map> for Item {
    fn from(map: Map) -> Self {
        let repr = Repr::Tree(map);
        Item { repr }
    }
}

impl From<Item> for Map {
    fn from(item: Item) -> Self {
        item.into_map()
    }
}

impl From<MapRef<'_>> for Item {
    fn from(view: MapRef<'_>) -> Self {
        Item::from(view.to_map())
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Item {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(attributes: I) -> Self {
        let attributes = attributes.into_iter();
        Item::from(attributes.map(|(name, value)| (name.into(), value.into())).collect::<Map>())
    }
}

impl<K: Into<String>, V: Into<Value>, const N: usize> From<[(K, V); N]> for Item {
    fn from(attributes: [(K, V); N]) -> Self {
        attributes.into_iter().collect()
    }
}

impl<K: Into<String>, V: Into<Value>> Extend<(K, V)> for Item {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, attributes: I) {
        let attributes = attributes.into_iter();
        self.tree_mut().extend(attributes.map(|(name, value)| (name.into(), value.into())));
    }
}

impl<'a> IntoIterator for &'a Item {
    type Item = (&'a str, ValueRef<'a>);
    type IntoIter = MapIter<'a>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl PartialEq for Item {
    fn eq(&self, other: &Self) -> bool {
        match (&self.repr, &other.repr) {
            // The encoding is canonical.
            (Repr::Encoded { bytes, .. }, Repr::Encoded { bytes: other, .. }) => bytes == other,
            _ => self.view() == other.view(),
        }
    }
}

impl Eq for Item {}

impl fmt::Debug for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.view().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::item;
    use crate::value::arbitrary::{item, value};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn changes_to_tree_and_bytes_have_equal_results(
            item in item(), name in "[a-c]{0,2}", value in value(),
        ) {
            let mut expected = item.to_map();
            let mut changed = item.clone();
            prop_assert_eq!(changed.insert(&name, &value), expected.insert(name.clone(), value));
            prop_assert_eq!(&changed, &Item::from(expected.clone()));
            prop_assert_eq!(changed.remove(&name), expected.remove(&name));
            prop_assert_eq!(changed.remove(&name), None);
            prop_assert_eq!(changed.size(), Item::from(expected.clone()).size());
            prop_assert_eq!(changed.into_map(), expected);
        }
    }

    #[test]
    fn clone_of_encoded_item_shares_its_bytes() {
        let item = item! { "a" => 1 }.into_encoded();
        let clone = item.clone();
        assert_eq!(item.encode().as_ptr(), clone.encode().as_ptr());
        let mut changed = clone.into_encoded();
        changed.insert("a", 2);
        assert_eq!(item.get("a"), Some(ValueRef::N(1.into())));
        assert_eq!(changed.get("a"), Some(ValueRef::N(2.into())));
        assert_eq!(changed.remove("b"), None);
    }

    #[test]
    fn all_constructors_make_equal_items() {
        let expected = Item::new().with("a", 1).with("b", 2);
        assert_eq!(Item::from([("a", 1), ("b", 2)]), expected);
        assert_eq!([("b", 2), ("a", 1)].into_iter().collect::<Item>(), expected);
        assert_eq!(item! { "b" => 2, "a" => 1 }, expected);
        let mut extended = item! { "a" => 1 }.into_encoded();
        extended.extend([("b", 2)]);
        assert_eq!(extended, expected);
        assert_eq!(format!("{expected:?}"), r#"{"a": {"N":"1"}, "b": {"N":"2"}}"#);
        assert!(Item::default().is_empty() && item! {}.is_empty());
        assert_ne!(expected, item! { "a" => 1 });
    }
}
