//! Borrowed views of values, over a tree or over encoded bytes.
//!
//! Conditions, projections, sizes, JSON and deserialization use these views, so an item that was
//! read from a store is not decoded into a tree. Most bytes behind a view have been checked (see
//! `codec`); those of [`Item::decode_trusted`](crate::Item::decode_trusted) have not. So readers
//! stop at the first byte that they cannot read. Owned values are in `value`.

mod containers;

use std::cmp::Ordering;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use crate::codec::wire;
use crate::{Number, Set, Value, ValueKind, number};

pub use self::containers::{
    BinarySetIter, BinarySetRef, ListIter, ListRef, MapIter, MapRef, NumberSetIter, NumberSetRef,
    StringSetIter, StringSetRef,
};

/// Borrowed view of an attribute value.
///
/// Equality is DynamoDB's: same type and same value. A tree and encoded bytes compare equal.
///
/// ```
/// use tabla::{Value, ValueRef};
///
/// let value = Value::from("a");
/// assert_eq!(value.as_ref(), ValueRef::S("a"));
/// ```
#[derive(Clone, Copy)]
pub enum ValueRef<'a> {
    /// String, `S`.
    S(&'a str),
    /// Number, `N`.
    N(Number),
    /// Binary data, `B`.
    B(&'a [u8]),
    /// Boolean, `BOOL`.
    Bool(bool),
    /// Explicit null, `NULL`.
    Null,
    /// Map of attributes by name, `M`.
    M(MapRef<'a>),
    /// List of values of any types, `L`.
    L(ListRef<'a>),
    /// Set of strings, `SS`.
    Ss(StringSetRef<'a>),
    /// Set of numbers, `NS`.
    Ns(NumberSetRef<'a>),
    /// Set of binaries, `BS`.
    Bs(BinarySetRef<'a>),
}

/// Size of a list or map without its elements, in bytes of DynamoDB's item size.
pub(crate) const CONTAINER_SIZE: usize = 3;

impl<'a> ValueRef<'a> {
    /// Type of the value.
    pub fn kind(self) -> ValueKind {
        match self {
            ValueRef::S(_) => ValueKind::S,
            ValueRef::N(_) => ValueKind::N,
            ValueRef::B(_) => ValueKind::B,
            ValueRef::Bool(_) => ValueKind::Bool,
            ValueRef::Null => ValueKind::Null,
            ValueRef::M(_) => ValueKind::M,
            ValueRef::L(_) => ValueKind::L,
            ValueRef::Ss(_) => ValueKind::Ss,
            ValueRef::Ns(_) => ValueKind::Ns,
            ValueRef::Bs(_) => ValueKind::Bs,
        }
    }

    /// DynamoDB's code of the type: `S`, `N`, `B`, `BOOL`, `NULL`, `M`, `L`, `SS`, `NS` or `BS`.
    pub fn type_code(self) -> &'static str {
        self.kind().code()
    }

    /// Compares two strings, two numbers or two binaries; `None` for other pairs.
    ///
    /// Strings compare by their UTF-8 bytes, binaries by unsigned bytes, numbers by value.
    pub fn compare(self, other: ValueRef<'_>) -> Option<Ordering> {
        match (self, other) {
            (ValueRef::S(one), ValueRef::S(other)) => Some(one.cmp(other)),
            (ValueRef::N(one), ValueRef::N(other)) => Some(one.cmp(&other)),
            (ValueRef::B(one), ValueRef::B(other)) => Some(one.cmp(other)),
            _ => None,
        }
    }

    /// Copies the value into an owned tree.
    pub fn to_value(self) -> Value {
        match self {
            ValueRef::S(value) => Value::S(value.to_owned()),
            ValueRef::N(value) => Value::N(value),
            ValueRef::B(value) => Value::B(Bytes::copy_from_slice(value)),
            ValueRef::Bool(value) => Value::Bool(value),
            ValueRef::Null => Value::Null,
            ValueRef::M(map) => Value::M(map.to_map()),
            ValueRef::L(list) => Value::L(list.iter().map(ValueRef::to_value).collect()),
            ValueRef::Ss(set) => Value::Ss(owned(set.iter().map(str::to_owned))),
            ValueRef::Ns(set) => Value::Ns(owned(set.iter())),
            ValueRef::Bs(set) => Value::Bs(owned(set.iter().map(Bytes::copy_from_slice))),
        }
    }

    /// Size of the value as DynamoDB counts it in an item, in bytes.
    ///
    /// A list or a map counts 3, plus 1 per element, plus its elements (developer guide, "DynamoDB
    /// item sizes and formats").
    pub fn size(self) -> usize {
        match self {
            ValueRef::S(value) => value.len(),
            ValueRef::N(value) => value.size(),
            ValueRef::B(value) => value.len(),
            ValueRef::Bool(_) | ValueRef::Null => 1,
            ValueRef::M(map) => CONTAINER_SIZE + map.len() + map.attributes_size(),
            ValueRef::L(list) => {
                CONTAINER_SIZE + list.len() + list.iter().map(ValueRef::size).sum::<usize>()
            }
            ValueRef::Ss(set) => set.iter().map(str::len).sum(),
            ValueRef::Ns(set) => set.iter().map(|member| member.size()).sum(),
            ValueRef::Bs(set) => set.iter().map(<[u8]>::len).sum(),
        }
    }

    /// Number of nested lists and maps, this value included; 0 for other types.
    pub fn depth(self) -> usize {
        match self {
            ValueRef::M(map) => 1 + map.iter().map(|(_, value)| value.depth()).max().unwrap_or(0),
            ValueRef::L(list) => 1 + list.iter().map(ValueRef::depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// Whether the value is the explicit null.
    pub fn is_null(self) -> bool {
        matches!(self, ValueRef::Null)
    }

    /// Text of a string; `None` for other types.
    pub fn as_str(self) -> Option<&'a str> {
        match self {
            ValueRef::S(value) => Some(value),
            _ => None,
        }
    }

    /// Value of a number; `None` for other types.
    pub fn as_number(self) -> Option<Number> {
        match self {
            ValueRef::N(value) => Some(value),
            _ => None,
        }
    }

    /// Bytes of binary data; `None` for other types.
    pub fn as_bytes(self) -> Option<&'a [u8]> {
        match self {
            ValueRef::B(value) => Some(value),
            _ => None,
        }
    }

    /// Value of a Boolean; `None` for other types.
    pub fn as_bool(self) -> Option<bool> {
        match self {
            ValueRef::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// View of a list; `None` for other types.
    pub fn as_list(self) -> Option<ListRef<'a>> {
        match self {
            ValueRef::L(value) => Some(value),
            _ => None,
        }
    }

    /// View of a map; `None` for other types.
    pub fn as_map(self) -> Option<MapRef<'a>> {
        match self {
            ValueRef::M(value) => Some(value),
            _ => None,
        }
    }

    /// Reads the encoded value at the start of the bytes; returns its view and the rest.
    pub(crate) fn read(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (tag, rest) = bytes.split_first()?;
        let scalar = |value| Some((value, rest));
        match *tag {
            wire::FALSE => return scalar(ValueRef::Bool(false)),
            wire::TRUE => return scalar(ValueRef::Bool(true)),
            wire::NULL => return scalar(ValueRef::Null),
            wire::N => {
                return number::decode(rest).map(|(value, rest)| (ValueRef::N(value), rest));
            }
            _ => {}
        }
        let (block, rest) = wire::take_block(rest)?;
        let value = match *tag {
            wire::S => ValueRef::S(std::str::from_utf8(block).ok()?),
            wire::B => ValueRef::B(block),
            wire::M => ValueRef::M(MapRef::content(block)?),
            wire::L => ValueRef::L(ListRef::content(block)?),
            wire::SS => ValueRef::Ss(StringSetRef::content(block)?),
            wire::NS => ValueRef::Ns(NumberSetRef::content(block)?),
            wire::BS => ValueRef::Bs(BinarySetRef::content(block)?),
            _ => return None,
        };
        Some((value, rest))
    }
}

fn owned<T: crate::SetMember>(members: impl Iterator<Item = T>) -> Set<T> {
    Set::merged(members).expect("a set view is never empty")
}

impl<'a> From<&'a Value> for ValueRef<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::S(value) => ValueRef::S(value),
            Value::N(value) => ValueRef::N(*value),
            Value::B(value) => ValueRef::B(value),
            Value::Bool(value) => ValueRef::Bool(*value),
            Value::Null => ValueRef::Null,
            Value::M(map) => ValueRef::M(MapRef::from(map)),
            Value::L(list) => ValueRef::L(ListRef::from(list.as_slice())),
            Value::Ss(set) => ValueRef::Ss(StringSetRef::from(set)),
            Value::Ns(set) => ValueRef::Ns(NumberSetRef::from(set)),
            Value::Bs(set) => ValueRef::Bs(BinarySetRef::from(set)),
        }
    }
}

impl PartialEq for ValueRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (ValueRef::S(one), ValueRef::S(other)) => one == other,
            (ValueRef::N(one), ValueRef::N(other)) => one == other,
            (ValueRef::B(one), ValueRef::B(other)) => one == other,
            (ValueRef::Bool(one), ValueRef::Bool(other)) => one == other,
            (ValueRef::Null, ValueRef::Null) => true,
            (ValueRef::M(one), ValueRef::M(other)) => one == other,
            (ValueRef::L(one), ValueRef::L(other)) => one == other,
            (ValueRef::Ss(one), ValueRef::Ss(other)) => one == other,
            (ValueRef::Ns(one), ValueRef::Ns(other)) => one == other,
            (ValueRef::Bs(one), ValueRef::Bs(other)) => one == other,
            _ => false,
        }
    }
}

impl Eq for ValueRef<'_> {}

impl PartialEq<Value> for ValueRef<'_> {
    fn eq(&self, other: &Value) -> bool {
        *self == other.as_ref()
    }
}

impl PartialEq<ValueRef<'_>> for Value {
    fn eq(&self, other: &ValueRef<'_>) -> bool {
        self.as_ref() == *other
    }
}

impl fmt::Debug for ValueRef<'_> {
    /// Writes the value as DynamoDB JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.type_code();
        write!(f, "{{\"{code}\":")?;
        match *self {
            ValueRef::S(value) => write!(f, "{value:?}")?,
            ValueRef::N(value) => write!(f, "\"{value}\"")?,
            ValueRef::B(value) => write!(f, "\"{}\"", STANDARD.encode(value))?,
            ValueRef::Bool(value) => write!(f, "{value}")?,
            ValueRef::Null => f.write_str("true")?,
            ValueRef::M(map) => map.fmt(f)?,
            ValueRef::L(list) => f.debug_list().entries(list.iter()).finish()?,
            ValueRef::Ss(set) => f.debug_list().entries(set.iter()).finish()?,
            ValueRef::Ns(set) => {
                f.debug_list().entries(set.iter().map(|member| member.to_string())).finish()?
            }
            ValueRef::Bs(set) => {
                f.debug_list().entries(set.iter().map(|member| STANDARD.encode(member))).finish()?
            }
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Item;
    use crate::value::arbitrary::{map, value};

    /// Returns two items with the value as their one attribute: a tree and an encoded item.
    fn both(value: &Value) -> [Item; 2] {
        let tree = crate::item! { "before" => 1, "v" => value, "x-after" => "s" };
        [tree.clone(), tree.into_encoded()]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn views_of_tree_and_bytes_are_equal(value in value()) {
            for item in both(&value) {
                let view = item.get("v").unwrap();
                prop_assert_eq!(view, value.as_ref());
                prop_assert_eq!(view.to_value(), value.clone());
                prop_assert_eq!(view.kind(), value.kind());
                prop_assert_eq!(view.size(), value.size());
                prop_assert_eq!(view.depth(), value.depth());
                prop_assert_eq!(format!("{view:?}"), format!("{value:?}"));
            }
        }

        #[test]
        fn views_are_equal_if_their_values_are(one in value(), other in value()) {
            for left in both(&one) {
                for right in both(&other) {
                    let (left, right) = (left.get("v").unwrap(), right.get("v").unwrap());
                    prop_assert_eq!(left == right, one == other);
                }
            }
        }

        #[test]
        fn elements_are_found_in_tree_and_bytes(map in map(), absent in "[a-d]{0,2}") {
            let item = Item::from(map.clone()).into_encoded();
            let view = item.view();
            prop_assert_eq!(view.len(), map.len());
            prop_assert_eq!(view.iter().len(), map.len());
            for (name, value) in &map {
                prop_assert_eq!(view.get(name), Some(value.as_ref()));
                if let (Some(view), Value::L(list)) = (view.get(name).unwrap().as_list(), value) {
                    for (index, element) in list.iter().enumerate() {
                        prop_assert_eq!(view.get(index), Some(element.as_ref()));
                        prop_assert!(view.contains(element.as_ref()));
                    }
                    prop_assert_eq!(view.get(list.len()), None);
                }
                match view.get(name).unwrap() {
                    ValueRef::Ss(set) => prop_assert!(set.iter().all(|one| set.contains(one))),
                    ValueRef::Ns(set) => prop_assert!(set.iter().all(|one| set.contains(one))),
                    ValueRef::Bs(set) => prop_assert!(set.iter().all(|one| set.contains(one))),
                    _ => {}
                }
            }
            prop_assert_eq!(view.get(&absent).is_some(), map.contains_key(&absent));
            prop_assert!(view.iter().map(|(name, _)| name).is_sorted());
        }
    }

    #[test]
    fn values_of_different_types_do_not_compare() {
        let (one, two) = (Value::from(1), Value::from(2));
        assert_eq!(one.as_ref().compare(two.as_ref()), Some(Ordering::Less));
        // UTF-16 order would sort U+10000 and above before U+FFFF.
        assert_eq!(
            ValueRef::S("\u{1F600}").compare(ValueRef::S("\u{FFFF}")),
            Some(Ordering::Greater)
        );
        assert_eq!(
            ValueRef::B(&[0x80]).compare(ValueRef::B(&[0x7F, 0xFF])),
            Some(Ordering::Greater)
        );
        assert_eq!(ValueRef::S("1").compare(one.as_ref()), None);
        assert_eq!(ValueRef::Bool(true).compare(ValueRef::Bool(true)), None);
    }
}
